/* A search over the frames of a flame graph, by what they are called: a portion of its nodes at a time, and on as the tree grows. */
#ifndef GT_FLAME_FINDS_H
#define GT_FLAME_FINDS_H
#include "viewer/flame/flame.h"

#define GT_FLAME_NAME 320
typedef const char *gt_flame_name_fn(const void *arg, const struct gt_flame_node *node, char room[GT_FLAME_NAME]);

struct gt_flame_finds;
struct gt_flame_finds *gt_flame_finds_new(const char *expression, struct gt_err *err);	/* new: free it. NULL: why not in err */
void gt_flame_finds_free(struct gt_flame_finds *f);					/* NULL is fine */
void gt_flame_finds_begin(struct gt_flame_finds *f);					/* from here on of another tree */
/* Goes on with the tree's nodes that it has not seen yet. 1: there are more by now, 0: none, negative. */
int gt_flame_finds_step(struct gt_flame_finds *f, const struct gt_flame *tree, gt_flame_name_fn *name, const void *arg, uint64_t us,
			struct gt_err *err);
bool gt_flame_finds_has(const struct gt_flame_finds *f, uint32_t node);
/* How many frames were found, and how much time they have, that of one within another counted once: as of the last step. */
uint32_t gt_flame_finds_count(const struct gt_flame_finds *f, uint64_t *ns);
const char *gt_flame_finds_expression(const struct gt_flame_finds *f);
#endif
