#include "analyze/memory/memory_by_stack.h"

#include <stdlib.h>
#include "analyze/stacks/by_stack.h"

#define FIGURES                                                                                    \
	{ "count", "Blocks", GT_C_COUNT }, { "bytes", "Together", GT_C_BYTES },                    \
	{                                                                                          \
		"share_percent", "Of the peak %", GT_C_PERCENT                                     \
	}
#define BY_CALLER(title)                                                                           \
	{                                                                                          \
		GT_WHERE_PROCESS, { "caller", title, GT_C_TEXT }, FIGURES,                         \
			{ "inclusive_bytes", "Inclusive", GT_C_BYTES },                            \
		{                                                                                  \
			"inclusive_percent", "Inclusive %", GT_C_PERCENT                           \
		}                                                                                  \
	}
#define NCALLER 9
#define NSTACK 7
static const struct gt_column caller_columns[3][NCALLER] = { BY_CALLER("Line"),
	BY_CALLER("Function"), BY_CALLER("Module") };
static const struct gt_column stack_columns[NSTACK] = { GT_WHERE_PROCESS, FIGURES,
	{ "caller", "Stack, innermost frame first", GT_C_WHOLE } };

/* The blocks at the peak of a process, by stack. */
static int collect(const struct gt_alloc_groups *g, const struct gt_segment *seg, uint32_t place,
	struct gt_stack_sums *sums, struct gt_err *err)
{
	for (size_t i = 0; i < g->n; i++) {
		const struct gt_alloc_group *one = &g->list[i];
		uint64_t blocks = gt_alloc_group_at_peak(g, one);
		struct gt_stack_figures f = { .count = blocks, .largest = one->bytes };

		if (one->place != place || !blocks)
			continue;
		if (__builtin_mul_overflow(blocks, one->bytes, &f.total))
			f.total = UINT64_MAX;
		if (gt_stack_sums_add_figures(sums, seg, one->stack ? one->stack - 1 : GT_NONE,
			    GT_STACK_CALLS, &f, err))
			return err->code;
	}
	return 0;
}

static void add_row(struct gt_table *t, const struct gt_process_slot *p,
	const struct gt_caller_sums *sums, const struct gt_caller_sum *one, uint64_t peak,
	int64_t share, bool whole)
{
	const struct gt_stack_figures *f = &one->self[GT_STACK_CALLS],
				      *in = &one->inclusive[GT_STACK_CALLS];
	struct gt_cell cells[NCALLER], name = gt_cell_text(gt_caller_name(sums, one)),
				       *to = cells + 3;

	gt_where_process(cells, p->seg, p->track);
	if (!whole)
		*to++ = name;
	*to++ = gt_cell_u(f->count);
	*to++ = gt_cell_u(f->total);
	*to++ = gt_cell_i(share);
	*to++ = whole ? name : gt_cell_u(in->total);
	if (!whole)
		*to = gt_cell_share(in->total, peak);
	gt_table_add(t, cells);
}

static int add_rows(struct gt_table *t, const struct gt_process_slot *p,
	struct gt_caller_sums *sums, const struct gt_report_state *a, bool whole,
	struct gt_err *err)
{
	size_t shown = gt_rows_shown(sums->n, a->opt->top);
	uint64_t peak = 0;
	int64_t *shares;

	gt_caller_sums_sort(sums, GT_STACK_CALLS);
	shares = GT_NEW_SHARES(sums->list, sums->n, self[GT_STACK_CALLS].total, err);
	if (!shares)
		return err->code;
	for (size_t i = 0; i < sums->n; i++)
		peak = gt_sat_add(peak, sums->list[i].self[GT_STACK_CALLS].total);
	for (size_t i = 0; i < shown; i++)
		add_row(t, p, sums, &sums->list[i], peak, shares[i], whole);
	free(shares);
	gt_table_note_cut(t, sums->n, shown);
	return 0;
}

static int add_process(struct gt_table *t, const struct gt_alloc_groups *g,
	const struct gt_report_state *a, const struct gt_process_slots *where, uint32_t place,
	unsigned by, struct gt_err *err)
{
	struct gt_caller_sums callers = { .list = NULL };
	struct gt_stack_sums sums;
	int rc;

	gt_stack_sums_init(&sums);
	rc = collect(g, where->list[place].seg, place, &sums, err);
	if (!rc)
		rc = gt_caller_sums_collect(&callers, &sums, a->reader, by, err);
	if (!rc)
		rc = add_rows(t, &where->list[place], &callers, a, by == GT_STACK_WHOLE, err);
	gt_caller_sums_release(&callers);
	gt_stack_sums_release(&sums);
	return rc;
}

struct gt_table *gt_memory_by_stack_table(const struct gt_alloc_groups *g,
	const struct gt_report_state *a, const struct gt_process_slots *where, unsigned by,
	struct gt_err *err)
{
	static const char *const titles[] = { "Live memory at the peak of its process, by line",
		"Live memory at the peak of its process, by function",
		"Live memory at the peak of its process, by module",
		"Live memory at the peak of its process, by call stack" };
	bool whole = by == GT_STACK_WHOLE;
	const char *why = gt_why_no_stacks(a->reader);
	struct gt_table *t = gt_report_table(a, "memory_by", titles[by],
		whole ? stack_columns : caller_columns[by], whole ? NSTACK : NCALLER,
		"process pid inclusive_bytes", err);
	int rc = 0;

	if (!t)
		return NULL;
	if (why)
		gt_table_set_unanswered(t, "%s", why);
	for (uint32_t i = 0; !rc && !why && i < where->n; i++)
		rc = add_process(t, g, a, where, i, by, err);
	gt_note_plural(t, g->beyond,
		"%llu {allocation|allocations} of groups beyond the first %u {is|are} in no row",
		(unsigned long long)g->beyond, GT_ALLOC_GROUPS_MAX);
	if (!rc)
		return t;
	gt_table_free(t);
	return NULL;
}
