/* Searches for a row, which may have to go through many blocks: a portion at a time, so that the screen stays alive. */
#ifndef GT_HUNT_H
#define GT_HUNT_H
#include "viewer/model/event_lookup.h"

enum gt_hunt_what {
	GT_HUNT_TYPE,		/* rows of some types */
	GT_HUNT_ERROR,		/* calls that failed */
	GT_HUNT_LAUNCHED,	/* the first work of a GPU that a call launched */
};
struct gt_hunt_for {
	enum gt_hunt_what what;
	/* GT_HUNT_TYPE: is it one of them? Called once per segment and type. */
	bool (*wants)(const struct gt_segment *seg, const struct gt_type *type, void *arg);
	void *arg;
	const struct gt_found *call;	/* GT_HUNT_LAUNCHED; borrowed until gt_hunt_new returns */
	const struct gt_strip_of *strip; /* the only one where it may be; NULL: anywhere. Borrowed while the search goes on */
	int64_t from, to;		/* the viewer's time: rows that start in [from, to) */
	bool backward;			/* the last such row, in place of the first; not for GT_HUNT_LAUNCHED */
};
struct gt_hunt;
struct gt_hunt *gt_hunt_new(struct gt_archive *a, const struct gt_hunt_for *what, struct gt_err *err);	/* new: free it. NULL: no memory */
void gt_hunt_free(struct gt_hunt *h);				/* NULL is fine */
/* Goes on for some us at most (0: to its end). 1: there is more to do; 0: it is over; negative. */
int gt_hunt_step(struct gt_hunt *h, uint64_t us, struct gt_err *err);
bool gt_hunt_found(const struct gt_hunt *h, struct gt_found *found);	/* when it is over */
unsigned gt_hunt_percent(const struct gt_hunt *h);
#endif
