/* Busy times of GPUs: unions of intervals, never sums. Two kernels that run at once keep their
 * device busy as long as both together. A device is a GPU (shared_gpus.h merges devices of several
 * processes), rows lie on streams, and work is the GT_GPU rows; waits are not work. The owner may
 * mark rows (with a kernel name, a kind of copy). Then the union of the rows of each mark is
 * computed too, per device, and added over devices. */
#ifndef GT_GPU_TIME_H
#define GT_GPU_TIME_H
#include "analyze/gpu/gpu_window.h"
#include "analyze/order/time_ordered.h"
#include "analyze/core/report.h"
#include "formats/base/map.h"

/* The union of intervals, which are added in order of their start. */
struct gt_union {
	uint64_t ns;
	int64_t end;
	bool any;
};
static inline void gt_union_add(struct gt_union *u, int64_t start, int64_t end)
{
	int64_t from = u->any && u->end > start ? u->end : start;

	if (end > from)
		u->ns = gt_sat_add(u->ns, (uint64_t)end - (uint64_t)from);
	if (!u->any || end > u->end)
		u->end = end;
	u->any = true;
}

/* ns of the union before `at`, which is not before the start of the last added interval. */
static inline uint64_t gt_union_before(const struct gt_union *u, int64_t at)
{
	uint64_t after = u->any && u->end > at ? (uint64_t)u->end - (uint64_t)at : 0;

	return after < u->ns ? u->ns - after : 0;
}

struct gt_gpu_place { /* one per track: a stream, or a device with all its streams */
	const struct gt_segment *seg;
	uint32_t track;
	/* the track of its device; `track` itself if it has no device */
	uint32_t device;
	uint64_t kernels, copies, sets, others;
	struct gt_union busy; /* cut to --from and --to */
	/* start of the first row, end of the last one; not cut */
	int64_t first, last;
	/* For the owner, 0 at first: 1 + an index for this track as a device, and as a stream. A
	 * stream without a device is both. */
	uint32_t as_device, as_stream;
};
enum gt_gpu_what { GT_GPU_KERNEL, GT_GPU_COPY, GT_GPU_SET, GT_GPU_OTHER };
/* A row in order of time. m->addr: 1 + its mark, or 0. stream, device: the places of its track and
 * its device, borrowed until the next row.
 * start and end are cut to --from and --to. */
struct gt_gpu_row {
	const struct gt_moment *m;
	enum gt_gpu_what what;
	struct gt_gpu_place *stream, *device;
	int64_t start, end;
};
struct gt_gpu_time {
	struct gt_report_state report;
	/* set by the owner after init, or NULL: gets all rows in order of their start */
	int (*each)(void *arg, const struct gt_gpu_row *row, struct gt_err *err);
	void *each_arg;
	bool rows_only; /* nothing but `each` is needed: places and windows have no figures */
	struct gt_time_ordered order;
	struct gt_gpu_place *places; /* of tracks with rows, in no order */
	size_t nplaces, places_cap;
	/* By track, numbered over all segments: 1 + its place or 0; the number of its device's
	 * track. Allocated by the first run. */
	uint32_t *slot, *device;
	/* by segment; allocated by the first run */
	struct gt_gpu_window *windows;
	bool whole; /* rows of marks count whole, also if a range cuts them */
	struct gt_marked {
		uint64_t key;
		struct gt_union busy;
	} * marked;
	size_t nmarked, marked_cap;
	bool crowded; /* too many marks: their busy times are unknown */
	struct gt_map map;
};
enum gt_gpu_what gt_gpu_what(const struct gt_type *type); /* of a GT_GPU row */

int gt_gpu_time_init(struct gt_gpu_time *t, struct gt_reader *r,
	const struct gt_analysis_options *opt, struct gt_err *err);
/* The rows of a run, borrowed until the next run. To mark row i, set m[i].addr = 1 + mark. NULL
 * with err filled in. */
struct gt_moment *gt_gpu_time_run(
	struct gt_gpu_time *t, const struct gt_cols *cols, struct gt_err *err);
/* After the last run: figures are complete, and places are in the order of the trace. */
int gt_gpu_time_finish(struct gt_gpu_time *t, struct gt_err *err);
/* ns: the sum over devices */
uint64_t gt_gpu_time_busy(const struct gt_gpu_time *t);
/* ns: the window of a recording (gpu_window.h), the whole of busy shares. 0: unknown, because
 * --match or --exclude leaves out operations. */
uint64_t gt_gpu_time_window(const struct gt_gpu_time *t, const struct gt_segment *seg);
/* busy[mark] += ns, for n marks. Not valid if t->crowded. */
void gt_gpu_time_add_marks(const struct gt_gpu_time *t, uint64_t *busy, size_t n);
/* By track: the number of its device's track, or its own. gt_gpu_process_devices: each process has
 * its own devices. gt_gpu_devices: devices of several processes that are the same GPU are one
 * (shared_gpus.h). The caller frees the result. NULL: no memory. */
uint32_t *gt_gpu_process_devices(const struct gt_time_ordered *order, struct gt_reader *r);
uint32_t *gt_gpu_devices(const struct gt_time_ordered *order, struct gt_reader *r);
/* Notes rows that came too late. If the table is empty because no GPU work was recorded, names the
 * report of the `calls` instead (NULL: none). */
void gt_gpu_time_notes(const struct gt_gpu_time *t, struct gt_table *table, const char *calls);
/* notes the window that busy % is of */
void gt_gpu_time_note_window(const struct gt_gpu_time *t, struct gt_table *table);
/* notes why there is no busy %, if there is none */
void gt_gpu_time_note_match(const struct gt_gpu_time *t, struct gt_table *table);
void gt_gpu_time_release(struct gt_gpu_time *t);
#endif
