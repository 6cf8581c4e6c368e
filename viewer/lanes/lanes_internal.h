/* What lanes.c, lane_order.c and lane_names.c know of each other. */
#ifndef GT_LANES_INTERNAL_H
#define GT_LANES_INTERNAL_H
#include "viewer/lanes/lanes.h"

enum {		/* of a track */
	GT_LANES_OPEN = 1, GT_LANES_OPEN_RANGES = 2,		/* unfolded */
	GT_LANES_MATCH = 4, GT_LANES_MATCH_BELOW = 8,		/* it has what is filtered by, or is beneath one; something beneath it has */
	GT_LANES_HIDDEN = 16,					/* << enum part: that of it */
	GT_LANES_HIDDEN_ANY = 0x3ff0,
	GT_LANES_OPEN_MORE = 0x4000,				/* its less busy threads are unfolded */
	GT_LANES_MINOR = 0x8000,				/* a less busy thread */
	GT_LANES_HAS_MINOR = 0x10000, GT_LANES_HAS_THREADS = 0x20000,	/* a process that has two or more such, or threads */
	GT_LANES_LONE = 0x40000,				/* a context that has no line: see gt_lone_contexts */
	GT_LANES_QUEUES = 0x80000				/* a GPU with streams, or a stream that is not the only one of its GPU */
};
struct gt_lanes_of {
	const struct gt_segment *seg;
	uint32_t *first;	/* [ntracks + 2]: what is beneath the line of track t is order[first[t + 1]] to order[first[t + 2]]; t = -1: the
				 * outermost */
	uint32_t *order;
	uint32_t *flags;	/* by track */
	char *gpu;		/* what its GPUs are, or NULL */
	bool open;
	uint32_t n;		/* tracks that there are */
	bool moved;		/* somebody has put some in another order */
};

/* Does it stand in the line of the less busy threads, unless these are unfolded? */
static inline bool gt_lanes_is_minor(const struct gt_lanes *l, const struct gt_lanes_of *o, uint32_t track)
{
	return l->threads_away ? o->seg->tracks[track].kind == GT_TRACK_THREAD : o->flags[track] & GT_LANES_MINOR;
}
/* Fills in all but `seg`, of a segment of which nothing is known yet. 0 or -ENOMEM; to be released in both cases. */
int gt_lanes_learn(struct gt_lanes *l, struct gt_lanes_of *o);
/* Marks the tracks that the filter leaves. */
void gt_lanes_match(struct gt_lanes *l);
#endif
