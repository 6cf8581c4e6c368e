/* How long GPUs worked. Time is shared out as unions of intervals, never as sums: two kernels that
 * run at once keep their device busy for as long as the two together last. A device is a GPU
 * (shared_gpus.h says which are one), a stream is what rows lie on, and work is what GT_GPU rows
 * tell of; waits are none. Rows may be marked (a kernel name, a kind of copy), and the union of all
 * rows of one mark is known, too, per device and added over devices. */
#ifndef GT_GPU_TIME_H
#define GT_GPU_TIME_H
#include "analyze/gpu/gpu_window.h"
#include "analyze/order/time_ordered.h"
#include "analyze/core/report.h"
#include "formats/base/map.h"

/* of intervals that come in order of their start */
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

/* The part of it before a time that is no earlier than the start of what was added last. ns. */
static inline uint64_t gt_union_before(const struct gt_union *u, int64_t at)
{
	uint64_t after = u->any && u->end > at ? (uint64_t)u->end - (uint64_t)at : 0;

	return after < u->ns ? u->ns - after : 0;
}

struct gt_gpu_place { /* of a track: a stream, or a device with all its streams */
	const struct gt_segment *seg;
	uint32_t track;
	/* the track of its device; the same as `track` where there is none above it */
	uint32_t device;
	uint64_t kernels, copies, sets, others;
	struct gt_union busy; /* cut to the range that was asked for */
	/* start of the first row, end of the last one; whole rows */
	int64_t first, last;
};
enum gt_gpu_what { GT_GPU_KERNEL, GT_GPU_COPY, GT_GPU_SET, GT_GPU_OTHER };
/* A row as it is counted: m->addr has its mark, device is the index of its device's place, times
 * are cut to the range asked for. */
struct gt_gpu_row {
	const struct gt_moment *m;
	enum gt_gpu_what what;
	size_t device;
	int64_t start, end;
};
struct gt_gpu_time {
	struct gt_report_state asked;
	/* the caller's, set after init: gets all rows by start */
	int (*each)(void *arg, const struct gt_gpu_row *row, struct gt_err *err);
	void *each_arg;
	struct gt_time_ordered order;
	struct gt_gpu_place *places; /* those with rows, in no order */
	size_t nplaces, places_cap;
	/* By track, numbered over all segments: 1 + its place or 0, its device's number; made by
	 * the first run. */
	uint32_t *slot, *device;
	/* by segment: of what is looked at; made by the first run */
	struct gt_gpu_window *windows;
	/* marks: rows that a range cuts count whole, as their bytes do */
	bool whole;
	struct gt_marked {
		uint64_t key;
		struct gt_union busy;
	} * marked;
	size_t nmarked, marked_cap;
	/* there are too many marks: their busy times are not known */
	bool crowded;
	struct gt_map map;
};
enum gt_gpu_what gt_gpu_what(const struct gt_type *type); /* of a GT_GPU row */

int gt_gpu_time_init(struct gt_gpu_time *t, struct gt_reader *r,
	const struct gt_analysis_options *opt, struct gt_err *err);
/* The rows of a run, borrowed until the next one: mark row i by m[i].addr = 1 + mark. NULL with err
 * filled in. */
struct gt_moment *gt_gpu_time_run(
	struct gt_gpu_time *t, const struct gt_cols *cols, struct gt_err *err);
/* No more runs: figures may be read, and places are in the order of the trace. */
int gt_gpu_time_finish(struct gt_gpu_time *t, struct gt_err *err);
/* ns: of all devices, added */
uint64_t gt_gpu_time_busy(const struct gt_gpu_time *t);
/* ns: the window of a recording (extent.h), which shares of time are of. 0 where it is not known:
 * --match leaves work out. */
uint64_t gt_gpu_time_window(const struct gt_gpu_time *t, const struct gt_segment *seg);
/* busy[mark] += ns, for n marks. Of no use where t->crowded. */
void gt_gpu_time_marked(const struct gt_gpu_time *t, uint64_t *busy, size_t n);
/* For each track, by number, that of the device that it belongs to, or its own: as a process sees
 * devices; or GPUs, of which several processes may have a device each (shared_gpus.h). new: free
 * it. NULL: no memory. */
uint32_t *gt_gpu_devices_seen(const struct gt_time_ordered *order, struct gt_reader *r);
uint32_t *gt_gpu_devices(const struct gt_time_ordered *order, struct gt_reader *r);
/* Under a table of GPU work: rows that came too late, and, if it is empty because nothing was
 * recorded, what tells of calls. */
void gt_gpu_time_notes(const struct gt_gpu_time *t, struct gt_table *table, const char *calls);
/* what its busy % is of */
void gt_gpu_time_note_window(const struct gt_gpu_time *t, struct gt_table *table);
/* why there is no busy %, where there is none */
void gt_gpu_time_note_match(const struct gt_gpu_time *t, struct gt_table *table);
void gt_gpu_time_release(struct gt_gpu_time *t);
#endif
