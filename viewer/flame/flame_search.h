/* Search in the names of a flame graph's frames; it works in steps, also while the tree grows. */
#ifndef GT_FLAME_SEARCH_H
#define GT_FLAME_SEARCH_H
#include "viewer/flame/flame.h"

#define GT_FLAME_NAME 320
typedef const char *gt_flame_name_fn(
	const void *arg, const struct gt_flame_node *node, char room[GT_FLAME_NAME]);

struct gt_flame_search;
/* new: free it. NULL: err has the reason */
struct gt_flame_search *gt_flame_search_new(const char *expression, struct gt_err *err);
/* NULL is fine */
void gt_flame_search_free(struct gt_flame_search *f);
/* restarts for another tree */
void gt_flame_search_begin(struct gt_flame_search *f);
/* Searches nodes that it has not seen yet. 1: there are more now, 0: none, negative. */
int gt_flame_search_step(struct gt_flame_search *f, const struct gt_flame *tree,
	gt_flame_name_fn *name, const void *arg, uint64_t us, struct gt_err *err);
bool gt_flame_search_has(const struct gt_flame_search *f, uint32_t node);
/* The number of matches and their time, that of nested matches counted once; as of the last step.
 */
uint32_t gt_flame_search_count(const struct gt_flame_search *f, uint64_t *ns);
const char *gt_flame_search_expression(const struct gt_flame_search *f);
#endif
