/* Rows of the reports that list single calls, from entries of top_n.h. */
#ifndef GT_CALL_LIST_H
#define GT_CALL_LIST_H
#include "analyze/columns/top_n.h"
#include "analyze/core/report.h"

#define GT_CALL_LIST_COLUMNS                                                                       \
	GT_WHERE_PROCESS, GT_WHERE_THREAD, { "start_ns", "Start", GT_C_TIME },                     \
		{ "duration_ns", "Duration", GT_C_NS }, { "operation", "Operation", GT_C_TEXT },   \
		{ "depth", "Depth", GT_C_COUNT },                                                  \
	{                                                                                          \
		"result", "Result", GT_C_COUNT                                                     \
	}
#define GT_CALL_LIST_CELLS 10

static inline void gt_call_list_cells(struct gt_cell cells[GT_CALL_LIST_CELLS],
	const struct gt_report_state *a, const struct gt_top_entry *one)
{
	gt_where_process(cells, one->seg, gt_track_process(one->seg, one->track));
	gt_where_thread(cells + 3, one->seg, one->track);
	cells[5] = gt_cell_time(a, one->seg, one->start);
	cells[6] = gt_cell_i(one->dur);
	cells[7] = gt_cell_text(gt_type_name(one->seg, one->type));
	cells[8] = gt_cell_u(one->depth);
	cells[9] = gt_cell_i(one->ret);
}
#endif
