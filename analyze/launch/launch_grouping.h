/* GPU operations in order of start, each with the call that launched it. The reports about launches
 * share this.
 *
 * The row of an operation has start and duration of its call. One call may launch several
 * operations (a graph launches all its nodes): operations with the same call (thread, start, end,
 * correlation id) are grouped. The last GT_RECENT_LAUNCHES launches are kept; the one without a new
 * operation for the longest time is done. If more calls than that come between two nodes of a
 * graph, its launch counts twice. */
#ifndef GT_LAUNCH_GROUPING_H
#define GT_LAUNCH_GROUPING_H
#include "analyze/gpu/gpu_window.h"
#include "analyze/gpu/gpu_time.h"

#define GT_RECENT_LAUNCHES (1u << 14)

struct gt_launch {                    /* one call */
	uint32_t track;               /* its thread, numbered over all segments */
	int64_t start, end;           /* ns: of the call */
	int64_t work_start, work_end; /* ns: of its operations so far */
	uint64_t ops;                 /* operations so far */
	uint64_t mark;                /* for the owner; 0 at first */
};
struct gt_grouped_op {
	const struct gt_segment *seg;
	const struct gt_type *type;
	uint32_t type_number, track, device; /* numbered over all segments */
	int64_t start, end;                  /* ns */
	enum gt_gpu_what what;
	bool in_graph; /* a graph node, or a graph as a whole */
	/* the call was inferred by the order in the stream */
	bool by_order;
	bool first;               /* the first operation of its call */
	uint64_t graph;           /* its id; 0: unknown or none */
	struct gt_launch *launch; /* NULL: unknown. Borrowed for the callback */
};
typedef int gt_grouped_op_fn(void *arg, const struct gt_grouped_op *op, struct gt_err *err);
typedef int gt_launch_done_fn(void *arg, const struct gt_launch *launch, struct gt_err *err);

struct gt_launch_grouping { /* the first member of a report's state; begins with gt_report_state */
	struct gt_report_state report;
	struct gt_time_ordered order;
	uint32_t *device; /* by track number; NULL: no row so far */
	gt_grouped_op_fn *fn;
	gt_launch_done_fn *done;           /* may be NULL */
	struct gt_launch_columns *columns; /* by code, of the current run */
	size_t columns_cap;
	struct gt_recent_launch *recent;
	struct gt_launch_hash_entry *entries; /* hash table of the known launches */
	uint32_t nknown, oldest, newest;
	struct gt_gpu_window *windows; /* by segment, with the operations so far */
	/* operations; without a known call; with an inferred one */
	uint64_t ops, unjoined, by_order;
};

/* The arg of fn and done is `l`. */
int gt_launch_grouping_init(struct gt_launch_grouping *l, struct gt_reader *r,
	const struct gt_analysis_options *opt, gt_grouped_op_fn *fn, gt_launch_done_fn *done,
	struct gt_err *err);
/* A run of GT_GPU rows, GT_BY_TIME and with arguments. */
int gt_launch_grouping_run(
	struct gt_launch_grouping *l, const struct gt_cols *cols, struct gt_err *err);
/* Call it after the last row: hands out the rest; all launches are done. */
int gt_launch_grouping_finish(struct gt_launch_grouping *l, struct gt_err *err);
/* ns of the window of a recording (gpu_window.h), up to the last operation that was handed out. */
uint64_t gt_launch_grouping_window_ns(
	const struct gt_launch_grouping *l, const struct gt_segment *seg);
/* Notes operations that are joined to no call or by order only, that came too late or were lost;
 * figures: as in gt_note_joins. */
void gt_launch_grouping_notes(
	const struct gt_launch_grouping *l, struct gt_table *t, const char *figures);
/* If the table is empty because no GPU work was recorded, adds a note that names the report based
 * on calls. */
void gt_launch_grouping_note_unrecorded(const struct gt_launch_grouping *l, struct gt_table *t);
/* If filter.match makes the figures wrong: notes `why`, and returns true. */
bool gt_launch_grouping_is_blocked(
	const struct gt_launch_grouping *l, struct gt_table *t, const char *why);
void gt_launch_grouping_release(struct gt_launch_grouping *l);
#endif
