/* Where time went, as a tree: all > process > thread > calls by nesting; or ranges of the program
 * with the calls within them; or, of what GPUs did, the call that launched it > the kernel or copy.
 * A node's time is that of its rows within the range; of calls and ranges of one thread that is
 * covered time, for they nest. Of the thread, the process and all it is the sum of what stands
 * beneath them: threads and streams run side by side. */
#ifndef GT_FLAME_H
#define GT_FLAME_H
#include "viewer/model/archive.h"

enum gt_flame_of { GT_FLAME_CALLS, GT_FLAME_GPU, GT_FLAME_RANGES, GT_FLAMES };
enum gt_flame_kind {
	GT_FLAME_ALL,
	GT_FLAME_PROCESS,
	GT_FLAME_THREAD,
	GT_FLAME_DEVICE,
	GT_FLAME_CALL,
	GT_FLAME_LAUNCH,
	GT_FLAME_WORK,
	GT_FLAME_RANGE
};
struct gt_flame_node {
	/* rows: of a thread and above those that stand directly beneath a thread */
	uint64_t ns, rows;
	uint32_t parent, child, next; /* nodes; 0: there is none */
	/* id: track, type, or of GT_FLAME_LAUNCH the string of its name */
	uint32_t segment, id;
	uint8_t kind; /* enum gt_flame_kind */
	/* of a call, range or work: as its rows have it; of the longest one: */
	uint8_t depth;
	uint32_t track;
	/* segment's time; until the recording ended where it was open then; -1: it has no rows
	 * itself */
	int64_t start, dur;
};
/* at most: further ones count for what they stand beneath */
#define GT_FLAME_NODES (1u << 20)

struct gt_flame;
/* The range is the viewer's time (INT64_MIN, INT64_MAX: all of it). The archive is borrowed. NULL
 * with err filled in. new: free it. */
struct gt_flame *gt_flame_new(
	struct gt_archive *a, enum gt_flame_of of, struct gt_range range, struct gt_err *err);
void gt_flame_free(struct gt_flame *f); /* NULL is fine */
/* Goes through more rows, for some us at most (0: to the end). 1: there is more to do, 0: nothing,
 * negative. */
int gt_flame_step(struct gt_flame *f, uint64_t us, struct gt_err *err);
unsigned gt_flame_percent(const struct gt_flame *f);
/* Node 0 is all. Borrowed until the next step; nodes keep their numbers. */
const struct gt_flame_node *gt_flame_nodes(const struct gt_flame *f, uint32_t *n);
bool gt_flame_is_cut(const struct gt_flame *f); /* were there too many nodes? */
/* rows that end behind what they began in: the rest stands beside it. Once all is gone through */
uint64_t gt_flame_overlaps(const struct gt_flame *f);
/* Has the trace anything that such a tree has and that of its calls has not? */
bool gt_flame_has_ranges(struct gt_reader *r);

/* Of the rows of a node, or directly beneath it down to the first that has rows, the longest one so
 * far, all of it, in the range or not; the first of several. NULL: there is none. */
const struct gt_flame_node *gt_flame_longest(const struct gt_flame *f, uint32_t node);
/* A box of the picture: columns [x, x + width) of line `line` (0: the node that is zoomed to). */
struct gt_flame_box {
	uint32_t node;
	unsigned line, x, width;
};
/* The boxes of what is beneath `top`, that one included, over so many columns: those of one column
 * or more. A box begins in the column of all that stands left of it, floor(ns left of it * width /
 * ns of top), and ends where the next one begins. Siblings: the longest first. *n boxes, line by
 * line of each branch, parents first: new, free it. NULL: no memory. */
struct gt_flame_box *gt_flame_boxes(
	const struct gt_flame *f, uint32_t top, unsigned width, size_t *n);
#endif
