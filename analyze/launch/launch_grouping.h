/* What GPUs did, in order of its start, each piece of work with the call that launched it: what the
 * reports about launching share.
 *
 * The row of a piece of work says when its call began and how long it took. One call may launch
 * many (a graph launches all its nodes), so pieces with the same call (thread, start, end,
 * correlation id) are put together again. The launches met last are remembered, GT_LAUNCHED_KNOWN
 * of them; one of which nothing came for so long is done. A graph that is so slow that more calls
 * than that lie between two of its nodes would count as two. */
#ifndef GT_LAUNCHED_H
#define GT_LAUNCHED_H
#include "analyze/gpu/gpu_window.h"
#include "analyze/gpu/gpu_time.h"

#define GT_LAUNCHED_KNOWN (1u << 14)

struct gt_launch {                    /* one call */
	uint32_t track;               /* its thread, numbered over all segments */
	int64_t start, end;           /* ns: of the call */
	int64_t work_start, work_end; /* ns: of what it launched, so far */
	uint64_t ops;                 /* pieces of work so far */
	uint64_t mark;                /* the owner's; 0 at first */
};
struct gt_launched_op {
	const struct gt_segment *seg;
	const struct gt_type *type;
	uint32_t type_number, track, device; /* numbered over all segments */
	int64_t start, end;                  /* ns */
	enum gt_gpu_what what;
	bool in_graph; /* one of a graph's nodes, or a graph as a whole */
	/* the call was told by the order in the stream: likely, not certain */
	bool by_order;
	bool first;               /* of what its call launched */
	uint64_t graph;           /* its id; 0: unknown or none */
	struct gt_launch *launch; /* NULL: not known. Borrowed for the callback */
};
typedef int gt_launched_fn(void *arg, const struct gt_launched_op *op, struct gt_err *err);
typedef int gt_launch_done_fn(void *arg, const struct gt_launch *launch, struct gt_err *err);

struct gt_launched { /* the head of a report's state: gt_asked is its head */
	struct gt_report_state asked;
	struct gt_time_ordered order;
	uint32_t *device; /* of each track; NULL: no row so far */
	gt_launched_fn *fn;
	gt_launch_done_fn *done;       /* NULL: nobody asks */
	struct gt_launched_from *from; /* by code, of the run at hand */
	size_t from_cap;
	struct gt_launched_known *known;
	struct gt_launched_seat *seats; /* where the known ones are found */
	uint32_t nknown, oldest, newest;
	struct gt_gpu_window *windows; /* per segment, with its work so far */
	/* handed out; of those without a known call; of those joined by order */
	uint64_t ops, unjoined, by_order;
};

/* fn and done get the launched itself as their arg. */
int gt_launched_init(struct gt_launched *l, struct gt_reader *r,
	const struct gt_analysis_options *opt, gt_launched_fn *fn, gt_launch_done_fn *done,
	struct gt_err *err);
/* A run of GT_GPU rows, scanned by time and with their arguments. */
int gt_launched_run(struct gt_launched *l, const struct gt_cols *cols, struct gt_err *err);
/* No more rows: the rest is handed out, and all launches are done. */
int gt_launched_finish(struct gt_launched *l, struct gt_err *err);
/* ns of the window of a recording (gpu_window.h), as far as its operations were handed out. */
uint64_t gt_launched_window_ns(const struct gt_launched *l, const struct gt_segment *seg);
/* Under a table: what is joined to no call, or by order only, came too late or got lost; `figures`:
 * as in gt_note_joins. */
void gt_launched_notes(const struct gt_launched *l, struct gt_table *t, const char *figures);
/* Under a table that is empty because nothing of the GPU was recorded: says so, and what tells of
 * the calls. */
void gt_launched_unrecorded(const struct gt_launched *l, struct gt_table *t);
/* Under a table that --match leaves unable to answer: says so, and returns true. */
bool gt_launched_cannot(const struct gt_launched *l, struct gt_table *t, const char *why);
void gt_launched_release(struct gt_launched *l);
#endif
