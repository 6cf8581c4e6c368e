/* Rows of a scan by blocks (GT_BY_TIME) as moments in order of their start. There is one
 * time_merge per recording, and tracks and types are numbered over all recordings. For reports
 * that compute unions of intervals, or values that hold until the next one. */
#ifndef GT_TIME_ORDERED_H
#define GT_TIME_ORDERED_H
#include "analyze/order/time_merge.h"
#include "formats/trace/read/reader.h"

struct gt_time_ordered {
	struct gt_time_merge *lines; /* one per segment */
	/* by segment: number of its first track or type; the last element is the total */
	uint32_t *tracks, *types;
	uint32_t nsegs;
	/* gets moments in order; `place` is a track and `what` a type, numbered over all segments
	 */
	gt_time_merge_fn *fn;
	void *arg;
	/* the segment of the last moment for which it was asked, and the numbers of its tracks */
	const struct gt_segment *place_seg;
	uint32_t first_place, nplaces;
	uint64_t block; /* current block */
	const struct gt_segment *seg;
};

int gt_time_ordered_init(struct gt_time_ordered *t, struct gt_reader *r, gt_time_merge_fn *fn,
	void *arg, struct gt_err *err);
/* A run of this block follows. If the block is new, hands out the moments before all of its
 * rows. gt_time_ordered_run calls it too. */
int gt_time_ordered_block(
	struct gt_time_ordered *t, const struct gt_cols *cols, struct gt_err *err);
/* The rows of a run as moments, borrowed until the next run. `addr` is 0; the caller may set it.
 * NULL with err filled in. */
struct gt_moment *gt_time_ordered_run(
	struct gt_time_ordered *t, const struct gt_cols *cols, struct gt_err *err);
int gt_time_ordered_flush(struct gt_time_ordered *t, struct gt_err *err); /* hands out the rest */
/* moments handed out after later ones */
uint64_t gt_time_ordered_late(const struct gt_time_ordered *t);
/* After a flush: prepares another scan, whose moments go to fn. */
void gt_time_ordered_rewind(struct gt_time_ordered *t, gt_time_merge_fn *fn, void *arg);
void gt_time_ordered_release(struct gt_time_ordered *t);
const struct gt_segment *gt_time_ordered_find_segment(
	struct gt_time_ordered *t, struct gt_reader *r, const struct gt_moment *m);
/* The segment of the moment that is handed out. Moments come segment by segment, so it is nearly
 * always that of the moment before. */
static inline const struct gt_segment *gt_time_ordered_segment(
	struct gt_time_ordered *t, struct gt_reader *r, const struct gt_moment *m)
{
	return m->place - t->first_place < t->nplaces ? t->place_seg
						      : gt_time_ordered_find_segment(t, r, m);
}
/* The segment of a track or type number; numbers: `tracks` or `types`. */
static inline const struct gt_segment *gt_segment_of_number(
	const uint32_t *numbers, struct gt_reader *r, uint32_t number)
{
	uint32_t i = 0;

	while (number >= numbers[i + 1])
		i++;
	return gt_reader_segment(r, i);
}
/* The number of a track (type). GT_NONE: out of range, as for losses. */
static inline uint32_t gt_time_ordered_track(
	const struct gt_time_ordered *t, const struct gt_segment *seg, uint32_t track)
{
	return track < seg->ntracks ? t->tracks[seg->index] + track : GT_NONE;
}
static inline uint32_t gt_time_ordered_type(
	const struct gt_time_ordered *t, const struct gt_segment *seg, uint32_t type)
{
	return type < seg->ntypes ? t->types[seg->index] + type : GT_NONE;
}
#endif
