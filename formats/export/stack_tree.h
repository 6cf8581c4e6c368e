/* The stacks of a trace as one tree, for folded stacks and flame graphs.
 *
 * The frames are process, thread, and the rows that nest there by time (formats/trace/read/nest.h):
 * ranges of the program, and calls including ioctls. A launch whose kernel is known has a further
 * frame with the kernel's short name. GPU work is below a root of its own, with device and stream,
 * below the ranges of that stream: a program waits for a GPU while the GPU works, so the times of
 * both must not be added. Time of a track counts once, so the stacks of a track never add up to
 * more than its time. Waits of a stream are no work and are a track of their own. Profiler overhead
 * belongs to a process and concerns several threads at once, so it is not nested.
 *
 * With gt_export_options.by_stack the frames are those of the call stack that made a call, or that
 * launched GPU work, the outermost first, and below them the call or the GPU work. Only calls
 * outside other calls and GPU work count, each with its whole duration. */
#ifndef GT_STACK_TREE_H
#define GT_STACK_TREE_H
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/export/exporters.h"
#include "formats/names/kernel_names.h"

struct gt_stack_node {
	uint32_t parent, label; /* parent: a node before this one, or GT_NONE */
	int64_t cost;           /* without its children: ns, calls or bytes */
};
struct gt_stack_tree {
	struct gt_reader *r;
	struct gt_err *err;
	const struct gt_export_options *opt;
	struct gt_stack_segment *segs;
	struct gt_stack_node *nodes;
	size_t nnodes, nodes_cap;
	struct gt_map by_place, by_label;
	struct gt_buf text; /* of labels, each with its NUL */
	size_t *labels;     /* where each starts */
	size_t nlabels, labels_cap;
	struct gt_kernel_names *names;
	bool hosts; /* several machines: stacks have a frame for the host */
};
/* Reads what opt selects. 0 or negative; release it in both cases. After an error it has the stacks
 * up to there. */
int gt_stack_tree_build(struct gt_stack_tree *f, struct gt_reader *r,
	const struct gt_export_options *opt, struct gt_err *err);
void gt_stack_tree_release(struct gt_stack_tree *f);
/* The label of a frame: printable. */
static inline const char *gt_stack_tree_label(const struct gt_stack_tree *f, uint32_t label)
{
	return (const char *)f->text.data + f->labels[label];
}
#endif
