/* Live memory at the last peak is needed, but each peak may be the last, and copying all groups at
 * each peak is slow. So a group saves its count at a peak only when it changes for the first time
 * after the peak. If it did not change since, its current count is the count at the peak. */
#include "analyze/memory/alloc_sites.h"

#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

int gt_alloc_groups_init(struct gt_alloc_groups *g, size_t places, struct gt_err *err)
{
	g->peaks = calloc(places + 1, sizeof(*g->peaks));
	return g->peaks ? 0 : gt_err_set(err, -ENOMEM, "out of memory (list of allocations)");
}

int64_t gt_alloc_group(
	struct gt_alloc_groups *g, const struct gt_alloc_group *like, struct gt_err *err)
{
	const size_t key = offsetof(struct gt_alloc_group, live);
	uint32_t i = gt_map_find_item(&g->map, g->list, sizeof(*like), like, key);

	if (i != UINT32_MAX)
		return i;
	if (g->n == GT_ALLOC_GROUPS_MAX) {
		g->beyond++;
		return UINT32_MAX;
	}
	i = gt_map_add_item(&g->map, &g->list, &g->n, &g->cap, sizeof(*like), like, key);
	return i == UINT32_MAX ? gt_err_set(err, -ENOMEM, "out of memory (list of allocations)")
			       : (int64_t)i;
}

/* Saves the count of a group before it changes. */
static struct gt_alloc_group *save_peak_count(struct gt_alloc_groups *g, uint32_t group)
{
	struct gt_alloc_group *one = group < g->n ? &g->list[group] : NULL;

	if (one && one->peak != g->peaks[one->place]) {
		one->peak = g->peaks[one->place];
		one->saved = one->live;
	}
	return one;
}

/* It is unknown which of several spare blocks is allocated again: the mean time of their frees
 * counts. */
void gt_alloc_group_add(struct gt_alloc_groups *g, uint32_t group, uint64_t ns)
{
	struct gt_alloc_group *one = save_peak_count(g, group);
	uint64_t free_ns;

	if (!one)
		return;
	one->live++;
	one->allocs++;
	if (!one->spare)
		return;
	free_ns = one->spare_ns / one->spare;
	one->spare_ns -= free_ns;
	one->spare--;
	one->again++;
	one->again_ns = gt_sat_add(one->again_ns, ns);
	one->free_ns = gt_sat_add(one->free_ns, free_ns);
}

void gt_alloc_group_remove(struct gt_alloc_groups *g, uint32_t group, bool freed, uint64_t ns)
{
	struct gt_alloc_group *one = save_peak_count(g, group);

	if (!one)
		return;
	one->live -= one->live > 0;
	if (!freed)
		return;
	one->frees++;
	one->spare++;
	one->spare_ns = gt_sat_add(one->spare_ns, ns);
}

/* ---- the tables ---- */

#define GROUP_COLUMNS                                                                              \
	GT_WHERE_PROCESS, { "call", "Call", GT_C_TEXT }, { "kind", "Kind", GT_C_TEXT },            \
	{                                                                                          \
		"size_bytes", "Size", GT_C_BYTES                                                   \
	}
#define NGROUP 6
static const struct gt_column peak_columns[] = {
	GROUP_COLUMNS,
	{ "count", "Blocks", GT_C_COUNT },
	{ "bytes", "Together", GT_C_BYTES },
	{ "share_percent", "Of the peak %", GT_C_PERCENT },
};
static const struct gt_column live_columns[] = {
	GROUP_COLUMNS,
	{ "count", "Blocks", GT_C_COUNT },
	{ "bytes", "Together", GT_C_BYTES },
	{ "allocations", "Of allocations", GT_C_COUNT },
};
static const struct gt_column churn_columns[] = {
	GROUP_COLUMNS,
	{ "again", "Again", GT_C_COUNT },
	{ "allocations", "Of allocations", GT_C_COUNT },
	{ "again_per_step", "Per step", GT_C_REAL },
	{ "again_per_s", "Per second", GT_C_REAL },
	{ "again_ns", "Allocating again", GT_C_NS },
	{ "free_ns", "Freeing", GT_C_NS },
	{ "cost_ns", "Both", GT_C_NS },
};

/* A group with its sort key. share: of the peak of its process, in hundredths of a percent. */
struct ranked {
	const struct gt_alloc_group *g;
	uint64_t count, weight;
	int64_t share;
};

static int by_weight(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	return GT_COMPARE(b->weight, a->weight) ?: GT_COMPARE(a->g, b->g);
}

static int by_place(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	return GT_COMPARE(a->g->place, b->g->place) ?: by_weight(pa, pb);
}

/* Computes the shares of the groups in the peak of their process. */
static int compute_peak_shares(struct ranked *list, size_t n, struct gt_err *err)
{
	uint64_t *parts = malloc((n + 1) * sizeof(*parts));
	int64_t *shares = malloc((n + 1) * sizeof(*shares));
	int rc = parts && shares ? 0
				 : gt_err_set(err, -ENOMEM, "out of memory (list of allocations)");

	if (!rc)
		GT_SORT(list, n, by_place);
	for (size_t from = 0, to; !rc && from < n; from = to) {
		for (to = from; to < n && list[to].g->place == list[from].g->place; to++)
			parts[to - from] = list[to].weight;
		rc = gt_compute_shares(parts, to - from, shares, err);
		for (size_t i = from; !rc && i < to; i++)
			list[i].share = shares[i - from];
	}
	free(parts);
	free(shares);
	return rc;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

enum which { PEAK, LIVE, CHURN };

uint64_t gt_alloc_group_at_peak(const struct gt_alloc_groups *g, const struct gt_alloc_group *one)
{
	return one->peak == g->peaks[one->place] ? one->saved : one->live;
}

static struct ranked rank(
	const struct gt_alloc_groups *g, const struct gt_alloc_group *one, enum which which)
{
	uint64_t count = which == PEAK ? gt_alloc_group_at_peak(g, one) : one->live;

	if (which == CHURN)
		return (struct ranked){ one, one->again, gt_sat_add(one->again_ns, one->free_ns),
			0 };
	return (struct ranked){ one, count, times(count, one->bytes), 0 };
}

struct filling {
	struct gt_alloc_groups *g;
	const struct gt_report_state *a;
	const struct gt_process_slots *where;
};

static void cells_of(
	const struct filling *f, const struct gt_alloc_group *one, struct gt_cell cells[NGROUP])
{
	const struct gt_process_slot *p = &f->where->list[one->place];

	gt_where_process(cells, p->seg, p->track);
	cells[3] = gt_cell_text(gt_str(p->seg, one->name));
	cells[4] = gt_cell_text(gt_memkind_word(one->kind));
	cells[5] = gt_cell_u(one->bytes);
}

static void add(
	const struct filling *f, struct gt_table *t, const struct ranked *r, enum which which)
{
	uint64_t span = gt_span_of(f->a->opt, f->where->list[r->g->place].seg);
	struct gt_cell cells[NGROUP + 7];

	cells_of(f, r->g, cells);
	cells[6] = gt_cell_u(r->count);
	cells[7] = which == CHURN ? gt_cell_u(r->g->allocs) : gt_cell_u(r->weight);
	cells[8] = which == PEAK ? gt_cell_i(r->share) : gt_cell_u(r->g->allocs);
	if (which == CHURN) {
		cells[8] = r->g->steps
			? (struct gt_cell){ .d = (double)r->g->in_steps / (double)r->g->steps }
			: gt_cell_none();
		cells[9] = span ? (struct gt_cell){ .d = (double)r->count / ((double)span / 1e9) }
				: gt_cell_none();
		/* instants of a file of another tool have no duration */
		cells[10] = gt_cell_known(r->weight, r->g->again_ns);
		cells[11] = gt_cell_known(r->weight, r->g->free_ns);
		cells[12] = gt_cell_known(r->weight, r->weight);
	}
	gt_table_add(t, cells);
}

static void note_steps(struct gt_table *t, const struct ranked *list, size_t n)
{
	size_t without = 0;

	for (size_t i = 0; i < n; i++)
		without += !list[i].g->steps;
	if (n > without)
		gt_table_note(t, "per step: allocations in the steps that gtanalyze steps finds");
	if (n && without)
		gt_table_note(t,
			"the number per step%s is unknown: gtanalyze steps shows the reason",
			n > without ? " of other processes" : "");
}

static int fill(const struct filling *f, struct gt_table *t, enum which which, struct gt_err *err)
{
	struct ranked *list = calloc(f->g->n + 1, sizeof(*list));
	size_t n = 0, shown;

	if (!list)
		return gt_err_set(err, -ENOMEM, "out of memory (list of allocations)");
	for (size_t i = 0; i < f->g->n; i++) {
		list[n] = rank(f->g, &f->g->list[i], which);
		n += list[n].count > 0;
	}
	if (which == PEAK && compute_peak_shares(list, n, err)) {
		free(list);
		return err->code;
	}
	GT_SORT(list, n, by_weight);
	shown = gt_rows_shown(n, f->a->opt->top);
	for (size_t i = 0; i < shown; i++)
		add(f, t, &list[i], which);
	gt_table_note_cut(t, n, shown);
	if (which == CHURN)
		note_steps(t, list, n);
	gt_note_plural(t, f->g->beyond,
		"%llu {allocation|allocations} of groups beyond the first %u {is|are} in no row",
		(unsigned long long)f->g->beyond, GT_ALLOC_GROUPS_MAX);
	free(list);
	return 0;
}

int gt_alloc_groups_tables(struct gt_alloc_groups *g, const struct gt_report_state *a,
	const struct gt_process_slots *where, struct gt_table **tables, struct gt_err *err)
{
	struct filling f = { g, a, where };
	static const char hideable[] =
		"process kind again_ns free_ns again_per_s allocations share_percent pid call again_per_step";
	int rc = 0;

	tables[0] = gt_report_table(a, "memory_peak", "Live memory at the peak of its process",
		peak_columns, NGROUP + 3, hideable, err);
	tables[1] = gt_report_table(
		a, "memory_live", "Alive at the end", live_columns, NGROUP + 3, hideable, err);
	tables[2] =
		gt_report_table(a, "memory_churn", "Allocated again after a free of the same size",
			churn_columns, NGROUP + 7, hideable, err);
	for (unsigned i = 0; !rc && i < 3; i++)
		rc = tables[i] ? fill(&f, tables[i], (enum which)i, err) : err->code;
	return rc ? rc : 3;
}

void gt_alloc_groups_release(struct gt_alloc_groups *g)
{
	free(g->list);
	free(g->peaks);
	gt_map_release(&g->map);
}
