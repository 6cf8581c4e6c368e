/* Busy threads: per thread, the union of its calls. The share is of the selected time (the
 * recording, cut to --from and --to). The depth says how far calls nest: 1 is no nesting. */
#include <stdlib.h>
#include "analyze/core/report.h"
#include "formats/base/sorted.h"

struct busy {
	const struct gt_segment *seg;
	const struct gt_track_sum *lane;
	uint32_t track;
};

static const struct gt_column columns[] = {
	GT_WHERE_PROCESS,
	GT_WHERE_THREAD,
	{ "calls", "Calls", GT_C_COUNT },
	{ "open", "Still open", GT_C_COUNT },
	{ "busy_ns", "Busy", GT_C_NS },
	{ "share_percent", "Busy %", GT_C_PERCENT },
	{ "max_depth", "Depth", GT_C_COUNT },
};

static int by_busy(const void *pa, const void *pb)
{
	const struct busy *a = pa, *b = pb;

	return GT_COMPARE(b->lane->busy, a->lane->busy)
		?: gt_by_place(a->seg, a->track, b->seg, b->track);
}

/* The caller frees the result. */
static struct busy *collect(const struct gt_report_state *a, size_t *n)
{
	struct busy *list;
	size_t all = 0;

	for (uint32_t i = 0; i < gt_reader_segments(a->reader); i++)
		all += gt_reader_segment(a->reader, i)->ntracks;
	list = calloc(all + 1, sizeof(*list));
	*n = 0;
	for (uint32_t i = 0; list && i < gt_reader_segments(a->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(a->reader, i);

		for (uint32_t t = 0; t < seg->ntracks; t++) {
			const struct gt_track_sum *lane =
				gt_aggregate_track(a->opt->aggregate, i, t);

			if (lane->calls || lane->open)
				list[(*n)++] = (struct busy){ seg, lane, t };
		}
	}
	if (list)
		GT_SORT(list, *n, by_busy);
	return list;
}

/* A thread cannot be in calls for longer than the recording lasts, even if its clock was wrong. */
static bool is_doubtful(const struct gt_report_state *a, const struct busy *b)
{
	return b->lane->overlaps || b->lane->busy > gt_span_of(a->opt, b->seg);
}

static void add(const struct gt_report_state *a, struct gt_table *t, const struct busy *b)
{
	uint64_t span = gt_span_of(a->opt, b->seg),
		 busy = b->lane->busy < span ? b->lane->busy : span;
	struct gt_cell cells[10];

	gt_where_process(cells, b->seg, gt_track_process(b->seg, b->track));
	gt_where_thread(cells + 3, b->seg, b->track);
	cells[5] = gt_cell_u(b->lane->calls);
	cells[6] = gt_cell_u(b->lane->open);
	cells[7] = gt_cell_u(busy);
	cells[8] = gt_cell_share(busy, span);
	cells[9] = gt_cell_u(b->lane->max_depth);
	gt_table_add(t, cells);
}

static int threads_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	const struct gt_report_state *a = state;
	size_t n, shown, doubtful = 0;
	struct busy *list = collect(a, &n);

	tables[0] = gt_report_table(
		a, "threads", "Threads", columns, 10, "max_depth process open calls thread", err);
	if (!list || !tables[0]) {
		free(list);
		return gt_err_set(err, -ENOMEM, "out of memory (threads)");
	}
	shown = gt_rows_shown(n, a->opt->top);
	for (size_t i = 0; i < shown; i++)
		add(a, tables[0], &list[i]);
	for (size_t i = 0; i < n; i++)
		doubtful += is_doubtful(a, &list[i]);
	gt_note_plural(tables[0], doubtful,
		"calls of %zu {thread|threads} overlap without being nested: their busy time is uncertain",
		doubtful);
	gt_table_note_cut(tables[0], n, shown);
	free(list);
	return 1;
}

const struct gt_analysis gt_threads_report = {
	.name = "threads",
	.help = "calls, busy time and nesting depth of each thread",
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN),
	.needs = GT_LAYERS_OF_CALLS | GT_BIT(GT_LAYER_IOCTL) | GT_BIT(GT_LAYER_USER) |
		GT_BIT(GT_LAYER_SYSCALL),
	.aggregates = GT_AGGREGATE_TRACKS,
	.splits = GT_BY_BLOCK,
	.in_default = GT_DEFAULT_CALLS,
	.state_size = sizeof(struct gt_report_state),
	.init = gt_report_state_init,
	.finish = threads_finish,
};
