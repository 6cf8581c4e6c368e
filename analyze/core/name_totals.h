/* The sums of the fold by name: several types share one (other arguments, other recordings), readers think in names. */
#ifndef GT_NAME_TOTALS_H
#define GT_NAME_TOTALS_H
#include "analyze/core/analysis.h"

struct gt_name_total {
	const char *text;		/* borrowed from the reader */
	uint32_t len;
	uint8_t category, layer;	/* part of what tells two apart */
	uint32_t first;			/* its types, a chain in gt_name_totals.members */
	uint64_t total;			/* ns, of all of them */
};
struct gt_name_totals {
	struct gt_name_total *list;		/* those that took time at least once; by total time, longest first, then by name */
	size_t n, cap;
	struct gt_name_member { const struct gt_stat *stat; uint32_t next; } *members;
	size_t nmembers, members_cap;
};
typedef bool gt_name_totals_want(const struct gt_type *type);

int gt_name_totals_collect(struct gt_name_totals *names, const struct gt_aggregate *fold, gt_name_totals_want *want, struct gt_err *err);
/* All about one name, but the histogram: added up when it is asked for, as there may be very many names and few are shown. */
struct gt_stat gt_name_totals_sum(const struct gt_name_totals *names, const struct gt_name_total *name);
/* The histogram of one name, of all its types. `into` must be empty; the caller's to release. */
int gt_name_totals_hist(const struct gt_name_totals *names, const struct gt_name_total *name, struct gt_hist *into, struct gt_err *err);
void gt_name_totals_release(struct gt_name_totals *names);

/* The columns that every list of operations has, and one row of it; a share is of the sum of `total` of its side. */
#define GT_OPERATION_COLUMNS \
	{ "count", "Calls", GT_C_COUNT }, { "failed", "Failed", GT_C_COUNT }, { "total_ns", "Total", GT_C_NS }, \
	{ "mean_ns", "Mean", GT_C_NS }, { "p50_ns", "p50", GT_C_NS }, { "p99_ns", "p99", GT_C_NS }, { "max_ns", "Max", GT_C_NS }, \
	{ "share_percent", "Share %", GT_C_PERCENT }
#define GT_OPERATION_CELLS 8
int gt_name_totals_cells(const struct gt_name_totals *names, const struct gt_name_total *name, int64_t share, struct gt_cell cells[GT_OPERATION_CELLS],
		   struct gt_err *err);
/* What goes on at the same time, so that no sum of two of them is a time. */
enum gt_side { GT_SIDE_CALLS, GT_SIDE_GPU, GT_SIDE_WAITS /* for a GPU */, GT_SIDE_RANGES /* of the program */,
	       GT_SIDE_RUNTIME /* calls of the CUDA runtime, around those of the driver */, GT_SIDE_OVERHEAD, GT_SIDES };
enum gt_side gt_name_side(const struct gt_name_total *name);
/* Shares of the total time of its side, for all names: n of them, new, the caller frees. NULL: no memory. */
int64_t *gt_name_totals_shares(const struct gt_name_totals *names, struct gt_err *err);
#endif
