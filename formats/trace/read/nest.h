/* Nesting on one track: calls by their depth, ranges and calls by time. Rows come in order of their
 * start, a parent before its children, and a stack holds the open ones. Each row becomes one piece
 * or several. Two pieces of a track do not overlap unless one is within the other, so the pieces of
 * a track never cover more than its time.
 *
 * Ranges and calls know nothing of each other's depth: a range or a call is beneath the row that is
 * around it in time. If there are ranges, rows of the same start wait until all of them are there,
 * and the longest comes first (files with coarse clocks have many of them). A row that ends after
 * its parent is split at the parent's end: the rest is a piece of its own beneath the rows that are
 * still open. Without ranges the depth decides, and a call that ends after its parent, which no
 * good file has, ends with it. */
#ifndef GT_NEST_H
#define GT_NEST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* rows within one another: those within the last one stand beside each other */
#define GT_NEST_DEEPEST 256u
#define GT_NEST_PIECES 64u /* of a row: the time behind the last one is left out */
/* rows that wait to be put in order: further ones are taken as they come */
#define GT_NEST_WAITING 4096u

struct gt_nest_row {
	int64_t start, end;   /* of a piece: of that piece */
	int64_t began, ended; /* of the row that it is a piece of */
	uint64_t what;        /* the caller's, as is cost */
	int64_t cost;
	uint8_t depth;
	bool range; /* nests by time: anything but a call */
	/* nothing stands beneath it; of leaves that overlap each moment is that of the first one */
	bool leaf;
	uint8_t nth; /* piece of its row, from 0 */
};
struct gt_nest_open {
	int64_t end, covered;
	uint32_t node;
	uint8_t depth;
	bool range;
};
/* Zero-initialised plus ranges is empty. */
struct gt_nest {
	bool ranges;  /* there may be ranges */
	bool limited; /* some rows were beyond the limits above */
	/* rows that ended after their parents, where one of the two is a range */
	uint64_t cut;
	struct gt_nest_open *open;
	size_t nopen, open_cap;
	struct gt_nest_row *waiting; /* a heap */
	size_t nwaiting, waiting_cap;
	int64_t covered; /* all before has been given to outermost pieces */
	bool begun;
};
/* A piece beneath `parent`, a node, or GT_NONE: beneath nothing. Returns the node that stands for
 * it, or GT_NONE: no memory. */
typedef uint32_t gt_nest_fn(void *arg, uint32_t parent, const struct gt_nest_row *piece);
/* began, ended and nth are set here. 0 or -ENOMEM. */
int gt_nest_add(struct gt_nest *n, const struct gt_nest_row *row, gt_nest_fn *fn, void *arg);
int gt_nest_flush(struct gt_nest *n, gt_nest_fn *fn, void *arg); /* no more rows come */
void gt_nest_release(struct gt_nest *n);
#endif
