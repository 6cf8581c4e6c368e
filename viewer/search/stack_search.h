/* Stack search: the rows of one kind (calls, GPU work, samples, waits) that have the same call
 * stack as a given one. Two frames are the same if function, file, line and module are, whatever
 * their addresses. It also counts the rows, in steps. */
#ifndef GT_STACK_SEARCH_H
#define GT_STACK_SEARCH_H
#include "viewer/model/event_lookup.h"

struct gt_stack_search;
/* Like `row`, whose stack (GT_NONE: none) is gt_event_stack(). new: free it. NULL: no memory. */
struct gt_stack_search *gt_stack_search_new(
	struct gt_archive *a, const struct gt_event_ref *row, uint64_t stack, struct gt_err *err);
void gt_stack_search_free(struct gt_stack_search *s); /* NULL is fine */
/* Is it the search that this row and stack would start? */
bool gt_stack_search_is_of(
	const struct gt_stack_search *s, const struct gt_event_ref *row, uint64_t stack);
/* Calls fn for each row of a run that matches, until it returns non-zero, which is returned. */
int gt_stack_search_each(const struct gt_stack_search *s, const struct gt_cols *c,
	int (*fn)(void *arg, const struct gt_cols *c, uint32_t row), void *arg);
enum gt_kind gt_stack_search_kind(const struct gt_stack_search *s);
uint32_t gt_stack_search_segment(const struct gt_stack_search *s);
/* 1: there is more to do, 0, negative */
int gt_stack_search_step(struct gt_stack_search *s, uint64_t us, struct gt_err *err);
uint64_t gt_stack_search_count(const struct gt_stack_search *s, bool *complete);
/* The name of the frame that the stack counts for: "step (app/train.py:88)". */
const char *gt_stack_search_name(const struct gt_stack_search *s);
#endif
