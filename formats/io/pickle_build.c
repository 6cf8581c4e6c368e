/* Fills the arrays of a pickle: the stack of values, which opcodes push and collect, lists and
 * dicts, texts and the memo.
 *
 * A value is 32 bits: the kind, and an index in the array of that kind, or a small integer itself.
 * The items of a list, and the keys and values of a dict in turn, are chunks in one array: a chunk
 * is its number of values, the index of the next chunk of the same list (0: none), and the values.
 * Python writes a list in chunks of 1000. Texts are interned. */
#include "formats/io/pickle_internal.h"

int gt_pickle_no_memory(struct gt_err *err)
{
	return gt_err_set(err, -ENOMEM, "out of memory (pickle)");
}

int gt_pickle_bad(const struct gt_pickle *p, struct gt_err *err, const char *what)
{
	return gt_err_at(err, p->opcode, -EBADMSG, "pickle: %s", what);
}

/* ---- arrays ---- */

/* Space for n more elements behind the first `used` of an array. The memory of all arrays is
 * limited. */
static int grow(struct gt_pickle *p, void *array, size_t *cap, size_t used, size_t n, size_t size,
	struct gt_err *err)
{
	size_t old = *cap;
	uint64_t more;

	if (used + n <= old)
		return 0;
	if (used + n > GT_PICKLE_NUMBERS)
		return gt_err_at(err, p->opcode, -E2BIG, "pickle: more than %u values of one kind",
			GT_PICKLE_NUMBERS);
	if (p->memory + (used + n - old) * size > GT_PICKLE_MEMORY)
		return gt_err_at(err, p->opcode, -E2BIG,
			"pickle: it needs more than %llu GiB of memory", GT_PICKLE_MEMORY >> 30);
	if (gt_grow(array, cap, used + n, size))
		return gt_pickle_no_memory(err);
	more = (*cap - old) * size;
	p->memory += more;
	return 0;
}

int gt_pickle_push(struct gt_pickle *p, gt_pickle_value v, struct gt_err *err)
{
	int e = grow(p, &p->stack, &p->stack_cap, p->nstack, 1, sizeof(*p->stack), err);

	if (!e)
		p->stack[p->nstack++] = v;
	return e;
}

size_t gt_pickle_above_mark(const struct gt_pickle *p)
{
	return p->nstack - (p->nmarks ? p->marks[p->nmarks - 1] : 0);
}

int gt_pickle_need_values(const struct gt_pickle *p, size_t n, struct gt_err *err)
{
	return gt_pickle_above_mark(p) < n ? gt_pickle_bad(p, err, "an opcode has too few values")
					   : 0;
}

int gt_pickle_pop_mark(struct gt_pickle *p, size_t *n, struct gt_err *err)
{
	if (!p->nmarks)
		return gt_pickle_bad(p, err, "an opcode has no mark");
	*n = gt_pickle_above_mark(p);
	p->nmarks--;
	return 0;
}

static int push_wide(struct gt_pickle *p, unsigned kind, uint64_t bits, struct gt_err *err)
{
	int e = grow(p, &p->wide, &p->wide_cap, p->nwide, 1, sizeof(*p->wide), err);

	if (e)
		return e;
	p->wide[p->nwide] = bits;
	return gt_pickle_push(p, VALUE(kind, p->nwide++), err);
}

int gt_pickle_push_int(struct gt_pickle *p, uint64_t magnitude, bool negative, struct gt_err *err)
{
	if (!negative && magnitude < GT_PICKLE_NUMBERS)
		return gt_pickle_push(p, VALUE(SMALL, magnitude), err);
	return push_wide(p, negative ? NEGATIVE : POSITIVE, magnitude, err);
}

int gt_pickle_push_real(struct gt_pickle *p, double d, struct gt_err *err)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return push_wide(p, REAL, bits, err);
}

static bool same_text(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_pickle *p = arg;

	return p->texts[value].len == len &&
		(!len || !memcmp(p->text.data + p->texts[value].at, key, len));
}

int gt_pickle_push_text(struct gt_pickle *p, struct gt_err *err)
{
	const struct gt_buf *s = &p->scratch;
	const void *bytes = s->len ? (const void *)s->data : "";
	uint64_t hash = gt_hash(bytes, s->len);
	uint32_t i = gt_map_get(&p->text_map, hash, same_text, p, bytes, s->len);
	int e = 0;

	if (i != UINT32_MAX)
		return gt_pickle_push(p, VALUE(TEXT, i), err);
	/* the map has up to 16 bytes for each text */
	e = grow(p, &p->texts, &p->texts_cap, p->ntexts, 1, sizeof(*p->texts) + 16, err);
	if (!e && p->memory + s->len > GT_PICKLE_MEMORY)
		e = gt_err_at(err, p->opcode, -E2BIG,
			"pickle: it needs more than %llu GiB of memory", GT_PICKLE_MEMORY >> 30);
	if (e)
		return e;
	i = (uint32_t)p->ntexts;
	p->texts[i] = (struct gt_pickle_text){ p->text.len, s->len };
	gt_buf_add(&p->text, bytes, s->len);
	p->memory += s->len;
	if (p->text.failed || gt_map_add(&p->text_map, hash, i))
		return gt_pickle_no_memory(err);
	p->ntexts++;
	return gt_pickle_push(p, VALUE(TEXT, i), err);
}

/* ---- lists and dicts ---- */

int gt_pickle_begin(struct gt_pickle *p, struct gt_err *err)
{
	int e = grow(p, &p->cells, &p->cells_cap, 0, 2, sizeof(*p->cells), err);

	if (e)
		return e;
	p->ncells = 2; /* no chunk has the index 0 */
	p->cells[0] = p->cells[1] = 0;
	return 0;
}

int gt_pickle_push_container(struct gt_pickle *p, unsigned kind, struct gt_err *err)
{
	int e = grow(p, &p->containers, &p->containers_cap, p->ncontainers, 1,
		sizeof(*p->containers), err);

	if (e)
		return e;
	p->containers[p->ncontainers] = (struct gt_pickle_container){ 0, 0 };
	return gt_pickle_push(p, VALUE(kind, p->ncontainers++), err);
}

/* Removes the top n values and appends them to a container. */
static int append(struct gt_pickle *p, gt_pickle_value to, size_t n, struct gt_err *err)
{
	struct gt_pickle_container *c = &p->containers[INDEX(to)];
	uint32_t *last;
	int e;

	if (!n)
		return 0;
	e = grow(p, &p->cells, &p->cells_cap, p->ncells, n + 2, sizeof(*p->cells), err);
	if (e)
		return e;
	last = &p->cells[c->last];
	if (c->last && c->last + 2 + last[0] == p->ncells) {
		last[0] += (uint32_t)n;
	} else {
		if (c->last)
			last[1] = (uint32_t)p->ncells;
		else
			c->first = (uint32_t)p->ncells;
		c->last = (uint32_t)p->ncells;
		p->cells[p->ncells++] = (uint32_t)n;
		p->cells[p->ncells++] = 0;
	}
	p->nstack -= n;
	memcpy(p->cells + p->ncells, p->stack + p->nstack, n * sizeof(*p->cells));
	p->ncells += n;
	return 0;
}

int gt_pickle_build(struct gt_pickle *p, unsigned kind, size_t n, struct gt_err *err)
{
	int e = kind == DICT && n % 2 ? gt_pickle_bad(p, err, "a dict has a key without a value")
				      : gt_pickle_need_values(p, n, err);
	gt_pickle_value v;

	if (!e)
		e = gt_pickle_push_container(p, kind, err);
	if (e)
		return e;
	v = p->stack[--p->nstack];
	e = append(p, v, n, err);
	return e ? e : gt_pickle_push(p, v, err);
}

int gt_pickle_extend(struct gt_pickle *p, unsigned kind, size_t n, struct gt_err *err)
{
	int e = gt_pickle_need_values(p, n + 1, err);
	gt_pickle_value to;

	if (e)
		return e;
	to = p->stack[p->nstack - n - 1];
	if (KIND(to) != kind)
		return gt_pickle_bad(p, err,
			kind == DICT ? "items are set in a value that is no dict"
				     : "items are appended to a value that is no list");
	if (kind == DICT && n % 2)
		return gt_pickle_bad(p, err, "a dict has a key without a value");
	return append(p, to, n, err);
}

/* ---- memo ---- */

int gt_pickle_put(struct gt_pickle *p, uint64_t number, struct gt_err *err)
{
	int e = gt_pickle_need_values(p, 1, err);

	if (!e && number > p->before + p->at)
		e = gt_pickle_bad(p, err, "the number of a memo entry is too large");
	if (e)
		return e;
	if (number >= p->nmemo) {
		e = grow(p, &p->memo, &p->memo_cap, p->nmemo, number + 1 - p->nmemo,
			sizeof(*p->memo), err);
		for (; !e && p->nmemo <= number; p->nmemo++)
			p->memo[p->nmemo] = UNSET;
	}
	if (!e)
		p->memo[number] = p->stack[p->nstack - 1];
	return e;
}

int gt_pickle_get(struct gt_pickle *p, uint64_t number, struct gt_err *err)
{
	if (number >= p->nmemo || p->memo[number] == UNSET)
		return gt_pickle_bad(p, err, "a memo entry is not set");
	return gt_pickle_push(p, p->memo[number], err);
}

int gt_pickle_push_mark(struct gt_pickle *p, struct gt_err *err)
{
	int e = grow(p, &p->marks, &p->marks_cap, p->nmarks, 1, sizeof(*p->marks), err);

	if (!e)
		p->marks[p->nmarks++] = (uint32_t)p->nstack;
	return e;
}
