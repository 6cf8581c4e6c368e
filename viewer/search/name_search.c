/* Names are few where rows are many: the expression is tried on each name once, and rows are
 * counted by their types. */
#include "viewer/search/name_search.h"

#include <stdlib.h>
#include "viewer/util/deadline.h"
#include "viewer/search/search_regex.h"

struct gt_name_search {
	struct gt_archive *archive;
	struct gt_search_regex expression;
	uint8_t **has;    /* by segment and type */
	uint32_t *ntypes; /* that there were */
	uint32_t nsegments;
	bool any;
	uint32_t segment; /* the next block to count: its segment, and its number in the list */
	size_t at;
	uint64_t count;
};

static const uint32_t kinds = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU);

/* ---- names ---- */

static bool matches(const struct gt_search_regex *e, struct gt_display_name *spell,
	const struct gt_segment *seg, uint32_t type)
{
	const char *name = gt_type_name(seg, type),
		   *shown = gt_display_name_of_type(spell, seg, type);

	return gt_search_regex_matches(e, shown) ||
		(shown != name && gt_search_regex_matches(e, name));
}

static int try_names(struct gt_name_search *f, struct gt_display_name *spell)
{
	f->has = calloc(f->nsegments + 1ul, sizeof(*f->has));
	f->ntypes = calloc(f->nsegments + 1ul, sizeof(*f->ntypes));
	for (uint32_t s = 0; f->has && f->ntypes && s < f->nsegments; s++) {
		const struct gt_segment *seg = gt_reader_segment(gt_archive_reader(f->archive), s);

		f->has[s] = calloc(seg->ntypes + 1ul, 1);
		if (!f->has[s])
			return -ENOMEM;
		f->ntypes[s] = seg->ntypes;
		for (uint32_t t = 0; t < seg->ntypes; t++)
			f->any |= f->has[s][t] = matches(&f->expression, spell, seg, t);
	}
	return f->has && f->ntypes ? 0 : -ENOMEM;
}

/* ---- open and free ---- */

struct gt_name_search *gt_name_search_new(struct gt_archive *a, struct gt_display_name *spell,
	const char *expression, struct gt_err *err)
{
	struct gt_name_search *f = calloc(1, sizeof(*f));
	int rc = f ? gt_search_regex_init(&f->expression, expression, err) : 0;

	if (rc) {
		free(f);
		return NULL;
	}
	if (f) {
		f->archive = a;
		f->nsegments = gt_reader_segments(gt_archive_reader(a));
		rc = try_names(f, spell);
		f->segment = f->any ? 0 : f->nsegments;
	}
	if (!f || rc) {
		gt_err_set(err, -ENOMEM, "out of memory");
		gt_name_search_free(f);
		return NULL;
	}
	return f;
}

void gt_name_search_free(struct gt_name_search *f)
{
	for (uint32_t s = 0; f && f->has && s < f->nsegments; s++)
		free(f->has[s]);
	if (f) {
		gt_search_regex_release(&f->expression);
		free(f->has);
		free(f->ntypes);
	}
	free(f);
}

const char *gt_name_search_regex(const struct gt_name_search *f) { return f->expression.text; }
bool gt_name_search_has_names(const struct gt_name_search *f) { return f->any; }

bool gt_name_search_matches(const struct gt_name_search *f, uint32_t segment, uint32_t type)
{
	return segment < f->nsegments && type < f->ntypes[segment] && f->has[segment][type];
}

bool gt_name_search_matches_type(
	const struct gt_segment *seg, const struct gt_type *type, void *search)
{
	return gt_name_search_matches(search, seg->index, (uint32_t)(type - seg->types));
}

/* ---- counting ---- */

static int count(void *arg, unsigned worker, const struct gt_cols *c)
{
	struct gt_name_search *f = arg;
	uint64_t n = 0;
	bool any = false, all = true;

	for (uint32_t code = 0; code < c->ntypes; code++) {
		bool has = gt_name_search_matches(f, c->seg->index, c->types[code]);

		any |= has;
		all &= has;
	}
	for (uint32_t i = 0; any && !all && c->code && i < c->n; i++)
		n += gt_name_search_matches(f, c->seg->index, c->types[c->code[i]]);
	if (any && !c->code)
		all = gt_name_search_matches(f, c->seg->index, c->types[0]);
	f->count += all && any ? c->n : n;
	return 0;
}

int gt_name_search_step(struct gt_name_search *f, uint64_t us, struct gt_err *err)
{
	uint64_t deadline = gt_deadline(us);
	int code = 0;

	while (!code && f->segment < f->nsegments && !gt_deadline_is_over(deadline)) {
		struct gt_block_list l = gt_archive_all_blocks(f->archive, f->segment);
		const struct gt_block *block = f->at < l.n ? &l.blocks[f->at++] : NULL;

		if (!block) {
			f->segment++;
			f->at = 0;
		} else if (kinds & GT_BIT(block->kind)) {
			code = gt_archive_scan(f->archive, f->segment, block, false, count, f, err);
		}
	}
	return code ? code : f->segment < f->nsegments;
}

uint64_t gt_name_search_count(const struct gt_name_search *f, bool *complete)
{
	*complete = f->segment == f->nsegments;
	return f->count;
}
