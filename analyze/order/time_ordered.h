/* Rows of a scan by blocks (GT_BY_TIME) as moments in order of their start: a timeline per recording, and the numbers that name
 * tracks and types over all recordings. For reports that count unions of intervals, or what holds until the next one. */
#ifndef GT_TIME_ORDERED_H
#define GT_TIME_ORDERED_H
#include "analyze/order/time_merge.h"
#include "formats/trace/read/reader.h"

struct gt_time_ordered {
	struct gt_time_merge *lines;	/* one per segment */
	uint32_t *tracks, *types;	/* by segment: the number of its first track and type; one more at the end: how many there are */
	uint32_t nsegs;
	gt_time_merge_fn *fn;		/* gets moments in order; `place` is a track and `what` a type, numbered over all segments */
	void *arg;
	uint32_t handed;		/* the segment of the moment handed out last */
	uint64_t block;			/* at hand */
	const struct gt_segment *seg;
};

int gt_time_ordered_init(struct gt_time_ordered *t, struct gt_reader *r, gt_time_merge_fn *fn, void *arg, struct gt_err *err);
/* A run of this block follows: if the block is a new one, hands out what came before all of its rows. gt_time_ordered_run does it, too. */
int gt_time_ordered_block(struct gt_time_ordered *t, const struct gt_cols *cols, struct gt_err *err);
/* The rows of a run as moments, borrowed until the next run; `addr` is 0, and the caller's to set. NULL
 * with err filled in. */
struct gt_moment *gt_time_ordered_run(struct gt_time_ordered *t, const struct gt_cols *cols, struct gt_err *err);
int gt_time_ordered_flush(struct gt_time_ordered *t, struct gt_err *err);	/* hands out the rest */
uint64_t gt_time_ordered_late(const struct gt_time_ordered *t);		/* moments that were handed out behind later ones */
/* After a flush: for one more scan, whose moments go elsewhere. */
void gt_time_ordered_rewind(struct gt_time_ordered *t, gt_time_merge_fn *fn, void *arg);
void gt_time_ordered_release(struct gt_time_ordered *t);
/* The segment of a moment that was handed out: they come segment by segment. */
const struct gt_segment *gt_time_ordered_segment(struct gt_time_ordered *t, struct gt_reader *r, const struct gt_moment *m);
/* The number of a track (type): losses and other things without one have GT_NONE. */
static inline uint32_t gt_time_ordered_track(const struct gt_time_ordered *t, const struct gt_segment *seg, uint32_t track)
{
	return track < seg->ntracks ? t->tracks[seg->index] + track : GT_NONE;
}
static inline uint32_t gt_time_ordered_type(const struct gt_time_ordered *t, const struct gt_segment *seg, uint32_t type)
{
	return type < seg->ntypes ? t->types[seg->index] + type : GT_NONE;
}
#endif
