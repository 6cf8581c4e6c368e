/* Time as a tree: all > process > thread > nested calls; or ranges with the calls in them; or, for
 * GPU work: launching call > kernel or copy. Or values by call stack, as an analysis computes them
 * (analyze/flame/stack_flame.h). The time of a node is that of its rows within the time
 * range. Rows of one thread nest, so for calls and ranges it is covered time. The time of a thread,
 * a process and "all" is the sum of their children, because threads and streams run concurrently.
 */
#ifndef GT_FLAME_H
#define GT_FLAME_H
#include "analyze/flame/stack_flame.h"
#include "viewer/model/archive.h"

enum gt_flame_of {
	GT_FLAME_CALLS,
	GT_FLAME_GPU,
	GT_FLAME_RANGES,
	GT_FLAME_STACKS, /* the first of GT_STACK_FLAMES kinds by call stack */
	GT_FLAMES = GT_FLAME_STACKS + GT_STACK_FLAMES
};
enum gt_flame_kind {
	GT_FLAME_ALL,
	GT_FLAME_PROCESS,
	GT_FLAME_THREAD,
	GT_FLAME_DEVICE,
	GT_FLAME_CALL,
	GT_FLAME_LAUNCH,
	GT_FLAME_WORK,
	GT_FLAME_RANGE,
	GT_FLAME_FRAME /* of a call stack */
};
struct gt_flame_node {
	/* rows: for a thread and above, the rows directly below a thread */
	uint64_t ns, rows;            /* of a call stack: ns or bytes; 0 rows */
	uint32_t parent, child, next; /* nodes; 0: none */
	/* id: track, type, for GT_FLAME_LAUNCH the string of the name, or for GT_FLAME_FRAME see
	 * gt_flame_label() */
	uint32_t segment, id;
	uint8_t kind; /* enum gt_flame_kind */
	/* of the longest row of a call, range or work: */
	uint8_t depth;
	uint32_t track;
	/* segment's time; an open call lasts until the end of the recording; -1: no rows of its own
	 */
	int64_t start, dur;
};
/* limit; further nodes count for their parents */
#define GT_FLAME_NODES (1u << 20)

struct gt_flame;
/* The range is in viewer's time (INT64_MIN, INT64_MAX: everything). The archive is borrowed. NULL:
 * err has the reason. new: free it. */
struct gt_flame *gt_flame_new(
	struct gt_archive *a, enum gt_flame_of of, struct gt_range range, struct gt_err *err);
/* The tree of a table of stack_flame.h, which is copied; NULL: an empty tree. Its root is "all".
 * NULL: no memory. new: free it. */
struct gt_flame *gt_flame_of_table(const struct gt_table *t);
const char *gt_flame_label(const struct gt_flame *f, const struct gt_flame_node *n);
void gt_flame_free(struct gt_flame *f); /* NULL is fine */
/* Reads more rows for at most `us` µs (0: to the end). 1: there is more to do, 0: done, negative.
 */
int gt_flame_step(struct gt_flame *f, uint64_t us, struct gt_err *err);
unsigned gt_flame_percent(const struct gt_flame *f);
/* Node 0 is "all". Borrowed until the next step; nodes keep their numbers. */
const struct gt_flame_node *gt_flame_nodes(const struct gt_flame *f, uint32_t *n);
bool gt_flame_is_cut(const struct gt_flame *f); /* were there too many nodes? */
/* Number of rows that end after their parent: the rest is drawn beside it. Complete when all rows
 * are read. */
uint64_t gt_flame_overlaps(const struct gt_flame *f);
/* Does the trace have ranges, so that such a tree differs from that of calls? */
bool gt_flame_has_ranges(struct gt_reader *r);

/* The longest row so far of a node, or of its nearest descendants that have rows, whether it is in
 * the range or not; the first of equals. NULL: none. */
const struct gt_flame_node *gt_flame_longest(const struct gt_flame *f, uint32_t node);
/* A box: columns [x, x + width) of line `line` (0: the zoomed node). */
struct gt_flame_box {
	uint32_t node;
	unsigned line, x, width;
};
/* The boxes of `top` and its descendants in `width` columns, without those narrower than one
 * column. A box begins in column floor(ns left of it * width / ns of top) and ends where the next
 * one begins. The longest sibling comes first. *n boxes, parents first, each branch line by line:
 * new, free it. NULL: no memory. */
struct gt_flame_box *gt_flame_boxes(
	const struct gt_flame *f, uint32_t top, unsigned width, size_t *n);
#endif
