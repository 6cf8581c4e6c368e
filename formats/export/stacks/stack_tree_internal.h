/* What the files stack_tree*.c share. */
#ifndef GT_STACK_TREE_INTERNAL_H
#define GT_STACK_TREE_INTERNAL_H
#include "formats/export/stacks/stack_tree.h"

/* A track, or the waits of a stream. node: of the track, plus 1 */
struct gt_stack_lane {
	uint32_t node;
	struct gt_nest nest;
};
/* types, kernels, frames: labels by type and by string, plus 1. lanes: work and waits, by track */
struct gt_stack_segment {
	uint32_t *types, *kernels, *frames;
	struct gt_stack_lane *lanes[2];
};

/* Sets the error; GT_NONE. */
uint32_t gt_stack_tree_no_memory(struct gt_stack_tree *f);
#endif
