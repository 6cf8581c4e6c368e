/* Search in the items of a view: the rows of a report, the frames of a flame graph. Each item is
 * tried once, in steps. A view shows its items at places, in an order that may change. The search
 * also keeps the request for the next match until it can be answered. */
#ifndef GT_ITEM_SEARCH_H
#define GT_ITEM_SEARCH_H
#include "viewer/search/search_regex.h"
#include "viewer/view/scene.h"

struct gt_items {
	const char *what; /* the word for an item */
	/* the message if items match, but no place has one of them; NULL: each item has a place */
	const char *hidden;
	size_t n, nplaces;
	/* 1, 0 or -ENOMEM */
	int (*matches)(const void *arg, size_t item, const struct gt_search_regex *e);
	size_t (*item_at)(const void *arg, size_t place); /* SIZE_MAX: no item */
	const void *arg;
};
struct gt_item_search;
/* Replaces the search *f (NULL: none) by another one, which requests the first match from the
 * current place on; "" only ends it. Returns the status message, as of an invalid expression. */
const char *gt_item_search_start(
	struct gt_item_search **f, struct gt_scene *s, const char *expression);
/* NULL is fine */
void gt_item_search_free(struct gt_item_search *f);
/* forgets all matches: the view has other items */
void gt_item_search_restart(struct gt_item_search *f);
/* Tries items that it has not tried yet; NULL has none to try. 1: there is more to do, 0,
 * negative */
int gt_item_search_step(
	struct gt_item_search *f, const struct gt_items *of, uint64_t us, struct gt_err *err);
/* Requests the next match after the current place (by: 1), or the previous one (-1). false: there
 * is no search, as the status message says. */
bool gt_item_search_request(struct gt_item_search *f, struct gt_scene *s, int by);
/* The place of the requested match, as seen from `place`; after the last match comes the first,
 * with a status message. SIZE_MAX: no request, or no match so far. If `last`, more steps find no
 * others, and the request ends with a message. */
size_t gt_item_search_next(struct gt_item_search *f, const struct gt_items *of, size_t place,
	struct gt_scene *s, bool last);
/* does this item match? false for SIZE_MAX and without a search */
bool gt_item_search_has(const struct gt_item_search *f, size_t item);
/* The number of this place's match, from 1; 0: it has none. */
size_t gt_item_search_rank(const struct gt_item_search *f, const struct gt_items *of, size_t place);
size_t gt_item_search_count_tried(const struct gt_item_search *f); /* number of tried items */
size_t gt_item_search_count(const struct gt_item_search *f);       /* ... and of their matches */
const struct gt_search_regex *gt_item_search_regex(const struct gt_item_search *f);
#endif
