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
#include "formats/trace/read/nest.h"

struct gt_stack_node {
	uint32_t parent, label; /* parent: a node before this one, or GT_NONE */
	int64_t cost;           /* without its children: ns, calls or bytes */
};
/* at: where its text begins. A label that is a frame of a call stack has the frame's text (string
 * id) in this segment; for others text is GT_NONE */
struct gt_stack_label {
	size_t at;
	uint32_t segment, text;
};
/* A row, or a piece of one (nest.h), on its track. track: its node. piece->what: the label of its
 * name, and in the upper 32 bits 1 + the label of its kernel, or 0. Further pieces of a row come
 * before rows that begin earlier. 0, or negative with an error in the tree's err. */
typedef int gt_stack_piece_fn(
	void *arg, const struct gt_segment *seg, uint32_t track, const struct gt_nest_row *piece);
struct gt_stack_tree {
	struct gt_reader *r;
	struct gt_err *err;
	const struct gt_export_options *opt; /* of gt_stack_tree_build */
	enum gt_cost cost;                   /* what costs are */
	/* in place of "Flame graph", and a line below it; NULL: none. new: freed with the tree */
	char *title, *note;
	struct gt_stack_segment *segs;
	struct gt_stack_node *nodes;
	size_t nnodes, nodes_cap;
	int64_t *
		before; /* by node: the same of an earlier trace (gt_stack_tree_compare); or NULL */
	struct gt_map by_place, by_label;
	struct gt_buf text; /* of labels, each with its NUL */
	struct gt_stack_label *labels;
	size_t nlabels, labels_cap;
	struct gt_kernel_names *names;
	bool hosts;               /* several machines: stacks have a frame for the host */
	gt_stack_piece_fn *piece; /* of gt_stack_tree_pieces */
	void *piece_arg;
};
/* Reads what opt selects. 0 or negative; release it in both cases. After an error it has the stacks
 * up to there. */
int gt_stack_tree_build(struct gt_stack_tree *f, struct gt_reader *r,
	const struct gt_export_options *opt, struct gt_err *err);
/* The same, but passes the pieces of each track to fn instead of adding them to the tree, which
 * then has the tracks only. */
int gt_stack_tree_pieces(struct gt_stack_tree *f, struct gt_reader *r,
	const struct gt_export_options *opt, gt_stack_piece_fn *fn, void *arg, struct gt_err *err);
void gt_stack_tree_release(struct gt_stack_tree *f);
/* Makes a tree of two: its costs are those of `after`, and it has those of `before`, for --baseline
 * (stack_tree_compare.c). names: of the two traces. 0 or negative; release it in both cases. */
int gt_stack_tree_compare(struct gt_stack_tree *to, const struct gt_stack_tree *before,
	const struct gt_stack_tree *after, const char *const names[2], struct gt_err *err);

/* Or: an empty tree, to which nodes are added. Reader and err are borrowed. 0 or -ENOMEM; release
 * it in both cases. A tree that is zero-initialised but for err takes labels and nodes, too, but no
 * tracks and frames. */
int gt_stack_tree_init(struct gt_stack_tree *f, struct gt_reader *r, struct gt_err *err);
/* These return a label or a node, made if missing; GT_NONE: f->err has the reason. `label` GT_NONE:
 * the result is GT_NONE, too; likewise `node`, while `parent` GT_NONE means a root. */
uint32_t gt_stack_tree_text(struct gt_stack_tree *f, const char *name); /* label: printable */
uint32_t gt_stack_tree_node(struct gt_stack_tree *f, uint32_t parent, uint32_t label);
/* The node of the track's host, if there are several, and process. */
uint32_t gt_stack_tree_process(
	struct gt_stack_tree *f, uint32_t node, const struct gt_segment *seg, uint32_t track);
/* The label of a track. */
uint32_t gt_stack_tree_track(struct gt_stack_tree *f, const struct gt_segment *seg, uint32_t track);
/* The node of the innermost frame of a stack below `node`. */
uint32_t gt_stack_tree_frames(
	struct gt_stack_tree *f, uint32_t node, const struct gt_segment *seg, uint64_t stack);
/* As gt_stack_tree_node. */
uint32_t gt_stack_tree_child(struct gt_stack_tree *f, uint32_t parent, const char *name);
void gt_stack_tree_add(struct gt_stack_tree *f, uint32_t node, int64_t cost);
/* The label of a frame: printable. */
static inline const char *gt_stack_tree_label(const struct gt_stack_tree *f, uint32_t label)
{
	return (const char *)f->text.data + f->labels[label].at;
}
#endif
