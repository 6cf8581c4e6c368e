/* Event search: finds the first or last row that matches a condition. It may read many blocks,
 * so it works in steps and the screen stays responsive. */
#ifndef GT_EVENT_SEARCH_H
#define GT_EVENT_SEARCH_H
#include "viewer/search/stack_search.h"

enum gt_search_kind {
	GT_SEARCH_TYPE,     /* rows of given types */
	GT_SEARCH_ERROR,    /* calls that failed */
	GT_SEARCH_LAUNCHED, /* the first GPU work that a call launched */
	GT_SEARCH_STACK     /* rows of a call stack */
};
struct gt_search_spec {
	enum gt_search_kind what;
	/* GT_SEARCH_TYPE: returns whether the type matches; called once per block and type. */
	bool (*wants)(const struct gt_segment *seg, const struct gt_type *type, void *arg);
	void *arg;
	/* GT_SEARCH_LAUNCHED; borrowed until gt_event_search_new returns */
	const struct gt_event_ref *call;
	const struct gt_stack_search *stack; /* GT_SEARCH_STACK; borrowed during the search */
	/* searches only this strip; NULL: everywhere. Borrowed during the search */
	const struct gt_strip_key *strip;
	int64_t from, to; /* the viewer's time: only rows that start in [from, to) */
	/* finds the last such row instead of the first; not for GT_SEARCH_LAUNCHED */
	bool backward;
};
struct gt_event_search;
/* new: free it. NULL: no memory */
struct gt_event_search *gt_event_search_new(
	struct gt_archive *a, const struct gt_search_spec *what, struct gt_err *err);
void gt_event_search_free(struct gt_event_search *h); /* NULL is fine */
/* Works for at most `us` µs (0: until done). 1: there is more to do, 0: it is complete,
 * negative: error. */
int gt_event_search_step(struct gt_event_search *h, uint64_t us, struct gt_err *err);
/* when the search is complete; false: there is no such row */
bool gt_event_search_result(const struct gt_event_search *h, struct gt_event_ref *found);
unsigned gt_event_search_percent(const struct gt_event_search *h);
#endif
