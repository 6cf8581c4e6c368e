/* Walks the values of a pickle. */
#include <inttypes.h>
#include <stdio.h>
#include "formats/io/pickle_internal.h"

gt_pickle_value gt_pickle_root(const struct gt_pickle *p) { return p->root; }

void gt_pickle_open(struct gt_pickle_cursor *c, struct gt_pickle *p, gt_pickle_value from)
{
	c->pickle = p;
	c->value = from;
	c->depth = 0;
	c->begun = c->entered = false;
}

static int enter(struct gt_pickle_cursor *c, gt_pickle_value v, struct gt_err *err)
{
	bool dict = KIND(v) == DICT;

	if (c->depth == GT_PICKLE_DEPTH)
		return gt_err_set(err, -E2BIG,
			"pickle: values are nested in more than %u levels, or contain themselves",
			GT_PICKLE_DEPTH);
	c->entered = true;
	c->levels[c->depth++] =
		(struct gt_pickle_level){ .chunk = c->pickle->containers[INDEX(v)].first,
			.dict = dict };
	return dict ? GT_JSON_OBJECT : GT_JSON_ARRAY;
}

static void set_text(struct gt_pickle_cursor *c, gt_pickle_value v)
{
	const struct gt_pickle_text *t = &c->pickle->texts[INDEX(v)];

	c->text = t->len ? (const char *)c->pickle->text.data + t->at : "";
	c->len = t->len;
}

static int token_of(struct gt_pickle_cursor *c, gt_pickle_value v, struct gt_err *err)
{
	const struct gt_pickle *p = c->pickle;

	c->value = v;
	switch (KIND(v)) {
	case SMALL:
		c->magnitude = INDEX(v);
		c->negative = false;
		return GT_JSON_INT;
	case POSITIVE:
	case NEGATIVE:
		c->magnitude = p->wide[INDEX(v)];
		c->negative = KIND(v) == NEGATIVE;
		return GT_JSON_INT;
	case REAL: memcpy(&c->real, &p->wide[INDEX(v)], sizeof(c->real)); return GT_JSON_REAL;
	case TEXT: set_text(c, v); return GT_JSON_STRING;
	case CONSTANT: return (int)INDEX(v);
	default: return enter(c, v, err);
	}
}

static int key(struct gt_pickle_cursor *c, gt_pickle_value v)
{
	const struct gt_pickle *p = c->pickle;

	c->text = "";
	c->len = 0;
	if (KIND(v) == TEXT)
		set_text(c, v);
	if (KIND(v) > NEGATIVE)
		return GT_JSON_KEY;
	c->len = (size_t)snprintf(c->digits, sizeof(c->digits), "%s%" PRIu64,
		KIND(v) == NEGATIVE ? "-" : "", KIND(v) == SMALL ? INDEX(v) : p->wide[INDEX(v)]);
	c->text = c->digits;
	return GT_JSON_KEY;
}

int gt_pickle_next(struct gt_pickle_cursor *c, struct gt_err *err)
{
	const uint32_t *cells = c->pickle->cells;
	struct gt_pickle_level *l;
	gt_pickle_value v;

	if (!c->pickle->steps)
		return gt_err_set(err, -E2BIG,
			"pickle: its values refer to each other too often: they would be read more than %u times",
			GT_PICKLE_REPEATS);
	c->pickle->steps--;
	c->entered = false;
	if (!c->depth) {
		if (c->begun)
			return GT_JSON_END;
		c->begun = true;
		return token_of(c, c->value, err);
	}
	l = &c->levels[c->depth - 1];
	if (l->chunk && l->at == cells[l->chunk]) {
		l->chunk = cells[l->chunk + 1];
		l->at = 0;
	}
	if (!l->chunk) {
		c->depth--;
		return l->dict ? GT_JSON_OBJECT_END : GT_JSON_ARRAY_END;
	}
	v = cells[l->chunk + 2 + l->at++];
	l->has_key = l->dict && !l->has_key;
	return l->has_key ? key(c, v) : token_of(c, v, err);
}

int gt_pickle_pair(
	struct gt_pickle_cursor *c, const char **key, size_t *key_len, struct gt_err *err)
{
	int token = gt_pickle_next(c, err);

	if (token != GT_JSON_KEY)
		return token < 0 ? token : 0;
	*key = c->text;
	*key_len = c->len;
	return gt_pickle_next(c, err);
}

int gt_pickle_element(struct gt_pickle_cursor *c, struct gt_err *err)
{
	int token = gt_pickle_next(c, err);

	return token == GT_JSON_ARRAY_END ? 0 : token;
}

void gt_pickle_skip(struct gt_pickle_cursor *c)
{
	c->depth -= c->entered;
	c->entered = false;
}
