/* Searches for a row, which may have to go through many blocks: a portion at a time, so that the screen stays alive. */
#ifndef GT_EVENT_SEARCH_H
#define GT_EVENT_SEARCH_H
#include "viewer/model/event_lookup.h"

enum gt_search_kind {
	GT_SEARCH_TYPE,		/* rows of some types */
	GT_SEARCH_ERROR,		/* calls that failed */
	GT_SEARCH_LAUNCHED,	/* the first work of a GPU that a call launched */
};
struct gt_search_spec {
	enum gt_search_kind what;
	/* GT_SEARCH_TYPE: is it one of them? Called once per segment and type. */
	bool (*wants)(const struct gt_segment *seg, const struct gt_type *type, void *arg);
	void *arg;
	const struct gt_event_ref *call;	/* GT_SEARCH_LAUNCHED; borrowed until gt_event_search_new returns */
	const struct gt_strip_key *strip; /* the only one where it may be; NULL: anywhere. Borrowed while the search goes on */
	int64_t from, to;		/* the viewer's time: rows that start in [from, to) */
	bool backward;			/* the last such row, in place of the first; not for GT_SEARCH_LAUNCHED */
};
struct gt_event_search;
struct gt_event_search *gt_event_search_new(struct gt_archive *a, const struct gt_search_spec *what, struct gt_err *err);	/* new: free it. NULL: no memory */
void gt_event_search_free(struct gt_event_search *h);				/* NULL is fine */
/* Goes on for some us at most (0: to its end). 1: there is more to do; 0: it is over; negative. */
int gt_event_search_step(struct gt_event_search *h, uint64_t us, struct gt_err *err);
bool gt_event_search_result(const struct gt_event_search *h, struct gt_event_ref *found);	/* when it is over */
unsigned gt_event_search_percent(const struct gt_event_search *h);
#endif
