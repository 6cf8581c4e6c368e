/* Shared by lanes.c, lane_order.c and lane_names.c. */
#ifndef GT_LANES_INTERNAL_H
#define GT_LANES_INTERNAL_H
#include "viewer/lanes/lanes.h"

enum { /* of a track */
	GT_LANES_OPEN = 1,
	GT_LANES_OPEN_RANGES = 2, /* unfolded */
	/* it matches the filter or is below a match; a lane below it matches */
	GT_LANES_MATCH = 4,
	GT_LANES_MATCH_BELOW = 8,
	/* << enum part: this part is hidden */
	GT_LANES_HIDDEN = 16,
	GT_LANES_HIDDEN_ANY = 0x1fff0,
	/* its less busy threads, or idle streams, are unfolded */
	GT_LANES_OPEN_MORE = 0x20000,
	GT_LANES_MINOR = 0x40000, /* a less busy thread, or an idle stream */
	/* it has two or more of these below it; a process with threads */
	GT_LANES_HAS_MINOR = 0x80000,
	GT_LANES_HAS_THREADS = 0x100000,
	/* a context that has no line: see gt_lone_contexts */
	GT_LANES_LONE = 0x200000,
	/* a GPU with streams, or a stream that is not the only one of its GPU */
	GT_LANES_QUEUES = 0x400000
};
struct gt_lanes_of {
	const struct gt_segment *seg;
	/* [ntracks + 2]: the children of track t are order[first[t + 1]] to order[first[t + 2]]; t
	 * = -1: the top level */
	uint32_t *first;
	uint32_t *order;
	uint32_t *flags; /* by track */
	char *gpu;       /* the name of its GPUs, or NULL */
	bool open;
	uint32_t n; /* number of tracks */
	bool moved; /* the user moved some lanes */
};

/* True if the thread belongs below the line of the less busy threads. */
static inline bool gt_lanes_is_minor(
	const struct gt_lanes *l, const struct gt_lanes_of *o, uint32_t track)
{
	return l->threads_away && o->seg->tracks[track].kind != GT_TRACK_STREAM
		? o->seg->tracks[track].kind == GT_TRACK_THREAD
		: o->flags[track] & GT_LANES_MINOR;
}
/* Fills in everything except `seg`, for a new segment. 0 or -ENOMEM; release it in both cases. */
int gt_lanes_learn(struct gt_lanes *l, struct gt_lanes_of *o);
/* Marks the tracks that match the filter. */
void gt_lanes_match(struct gt_lanes *l);
#endif
