#include "analyze/core/name_totals.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/stats/name_interner.h"
#include "analyze/core/report.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

struct collect {
	struct gt_name_totals *names;
	struct gt_name_interner ids;   /* of names, or of templates in their place */
	struct gt_name_interner known; /* names that have a template */
	bool by_id;
};

/* The total of a type's name, created if needed. NULL: no memory. */
static struct gt_name_total *name_of(struct collect *c, const struct gt_segment *seg,
	const struct gt_type *type, struct gt_err *err)
{
	struct gt_name_totals *names = c->names;
	struct gt_name_interner *ids = &c->ids;
	struct gt_string original = gt_name_text(seg, type->name),
			 text = c->by_id ? original
					 : gt_name_templates_of(&names->templates, seg, type, err);
	uint32_t i = text.ptr ? gt_name_interner_find(ids, text, gt_name_tag(type), err) : GT_NONE;

	if (i == GT_NONE || gt_grow(&names->list, &names->cap, ids->n, sizeof(*names->list)))
		return NULL;
	if (i == names->n)
		names->list[names->n++] = (struct gt_name_total){ .text = text.ptr,
			.len = text.len,
			.original = original,
			.category = type->category,
			.layer = type->layer,
			.first = GT_NONE };
	else
		gt_name_templates_forget(&names->templates, text);
	return &names->list[i];
}

/* Was a type of this name added before? Only names with a template are looked up. -1: no memory. */
static int repeats(struct collect *c, const struct gt_name_total *name,
	const struct gt_segment *seg, const struct gt_type *type, struct gt_err *err)
{
	struct gt_string text = gt_name_text(seg, type->name);
	size_t before = c->known.n;

	if (text.len == name->len && !memcmp(text.ptr, name->text, text.len))
		return name->first != GT_NONE;
	if (gt_name_interner_find(&c->known, text, gt_name_tag(type), err) == GT_NONE)
		return -1;
	return c->known.n == before;
}

static int add_type(struct collect *c, const struct gt_segment *seg, const struct gt_type *type,
	const struct gt_stat *s, struct gt_err *err)
{
	struct gt_name_totals *names = c->names;
	struct gt_name_total *name = name_of(c, seg, type, err);
	int again = name ? repeats(c, name, seg, type, err) : -1;

	if (again < 0 ||
		gt_grow(&names->members, &names->members_cap, names->nmembers + 1,
			sizeof(*names->members)))
		return gt_err_set(err, -ENOMEM, "out of memory (names)");
	name->several |= !again && name->first != GT_NONE;
	names->members[names->nmembers] = (struct gt_name_member){ s, name->first, again };
	name->first = (uint32_t)names->nmembers++;
	name->total = gt_sat_add(name->total, s->total);
	return 0;
}

struct gt_stat gt_name_totals_sum(
	const struct gt_name_totals *names, const struct gt_name_total *name)
{
	struct gt_stat sum = { 0 };

	for (uint32_t m = name->first; m != GT_NONE; m = names->members[m].next)
		gt_stat_add(&sum, names->members[m].stat);
	return sum;
}

static int by_total(const void *a, const void *b)
{
	const struct gt_name_total *x = a, *y = b;

	return GT_COMPARE(y->total, x->total) ?: gt_compare_texts(x->text, x->len, y->text, y->len);
}

/* Releases unused memory. If realloc fails, the list stays as it is. */
static void trim(struct gt_name_totals *names)
{
	struct gt_name_total *list = realloc(names->list, names->n * sizeof(*list));
	struct gt_name_member *members =
		realloc(names->members, names->nmembers * sizeof(*members));

	names->list = list ? list : names->list;
	names->members = members ? members : names->members;
}

int gt_name_totals_collect(struct gt_name_totals *names, const struct gt_aggregate *fold,
	gt_name_totals_want *want, enum gt_numbered numbered, struct gt_err *err)
{
	struct gt_reader *r = gt_aggregate_reader(fold);
	struct collect c = { .names = names, .by_id = numbered == GT_NUMBERED_SEPARATE };
	int rc = 0;

	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);

		for (uint32_t t = 0; !rc && t < seg->ntypes; t++) {
			const struct gt_stat *s = gt_aggregate_stat(fold, i, t);

			if (s->count && (!want || want(&seg->types[t])))
				rc = add_type(&c, seg, &seg->types[t], s, err);
		}
	}
	gt_name_interner_release(&c.ids); /* its ids are indices before sorting */
	gt_name_interner_release(&c.known);
	/* a number says more than N if there is only one */
	for (size_t i = 0; i < names->n; i++)
		if (numbered != GT_NUMBERED_ALWAYS && !names->list[i].several) {
			names->list[i].text = names->list[i].original.ptr;
			names->list[i].len = names->list[i].original.len;
		}
	if (names->n) {
		trim(names);
		GT_SORT(names->list, names->n, by_total);
	}
	return rc;
}

int gt_name_totals_hist(const struct gt_name_totals *names, const struct gt_name_total *name,
	struct gt_hist *into, struct gt_err *err)
{
	int rc = 0;

	/* all types of a name share one, which the first of them may lack */
	for (uint32_t m = name->first; !rc && m != GT_NONE; m = names->members[m].next) {
		const struct gt_hist *hist = names->members[m].stat->hist;

		if (!hist || (name->several && names->members[m].repeats))
			continue;
		if (gt_hist_merge(into, hist))
			return gt_err_set(err, -ENOMEM, "out of memory (histogram)");
		rc = !name->several;
	}
	return 0;
}

/* p50 and p99 of its durations as cells. Absent: no durations, or the histogram lacks values. */
static int quantiles(const struct gt_name_totals *names, const struct gt_name_total *name,
	const struct gt_stat *s, struct gt_cell *p50, struct gt_cell *p99, struct gt_err *err)
{
	struct gt_hist hist = { 0 };
	int rc;

	*p50 = *p99 = gt_cell_none();
	if (!s->count || s->coarse)
		return 0;
	rc = gt_name_totals_hist(names, name, &hist, err);
	if (!rc) {
		*p50 = gt_cell_i(
			gt_hist_quantile(&hist, 0.50, gt_clamp(s->shortest), gt_clamp(s->longest)));
		*p99 = gt_cell_i(
			gt_hist_quantile(&hist, 0.99, gt_clamp(s->shortest), gt_clamp(s->longest)));
	}
	gt_hist_release(&hist);
	return rc;
}

int gt_name_totals_cells(const struct gt_name_totals *names, const struct gt_name_total *name,
	int64_t share, struct gt_cell cells[GT_OPERATION_CELLS], struct gt_err *err)
{
	const struct gt_stat sum = gt_name_totals_sum(names, name), *s = &sum;

	cells[0] = gt_cell_u(s->count);
	cells[1] = gt_cell_faults(s->failed);
	cells[2] = gt_cell_u(s->total);
	cells[3] = gt_cell_known(s->count, s->count ? s->total / s->count : 0);
	cells[6] = gt_cell_known(s->count, s->longest);
	cells[7] = gt_cell_i(share);
	return quantiles(names, name, s, &cells[4], &cells[5], err);
}

enum gt_side gt_name_side(const struct gt_name_total *name)
{
	if (name->layer == GT_LAYER_GPU)
		return name->category == GT_CAT_SYNC ? GT_SIDE_WAITS : GT_SIDE_GPU;
	return name->layer == GT_LAYER_USER        ? GT_SIDE_RANGES
		: name->layer == GT_LAYER_RUNTIME  ? GT_SIDE_RUNTIME
		: name->layer == GT_LAYER_OVERHEAD ? GT_SIDE_OVERHEAD
						   : GT_SIDE_CALLS;
}

int64_t *gt_name_totals_shares(const struct gt_name_totals *names, struct gt_err *err)
{
	uint64_t *parts = calloc(names->n + 1, sizeof(*parts));
	int64_t *shares = calloc(names->n + 1, sizeof(*shares)),
		*of_side = calloc(names->n + 1, sizeof(*of_side));
	int rc =
		parts && shares && of_side ? 0 : gt_err_set(err, -ENOMEM, "out of memory (shares)");

	for (enum gt_side side = 0; !rc && side < GT_SIDES; side++) {
		for (size_t i = 0; i < names->n; i++)
			parts[i] = gt_name_side(&names->list[i]) == side ? names->list[i].total : 0;
		rc = gt_compute_shares(parts, names->n, of_side, err);
		for (size_t i = 0; !rc && i < names->n; i++)
			shares[i] += of_side[i];
	}
	free(parts);
	free(of_side);
	if (!rc)
		return shares;
	free(shares);
	return NULL;
}

void gt_name_totals_release(struct gt_name_totals *names)
{
	free(names->list);
	free(names->members);
	gt_name_templates_release(&names->templates);
	memset(names, 0, sizeof(*names));
}
