/* Nesting on one track: calls by their depth, ranges and calls by time. Rows come in order of their
 * start, a parent before its children; a stack holds the open rows. Each row becomes one or more
 * pieces. Two pieces of a track overlap only if one is within the other, so the pieces of a track
 * never cover more than its time.
 *
 * The depths of ranges and of calls are independent: a range or a call is a child of the row that
 * is around it in time. If there are ranges, rows of the same start wait until all of them have
 * come, and the longest comes first (files with coarse clocks have many of them). A row that ends
 * after its parent is split at the parent's end: the rest is a piece of its own below the rows that
 * are still open. Without ranges the depth decides, and a call that ends after its parent (only in
 * a damaged file) ends with it. */
#ifndef GT_NEST_H
#define GT_NEST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* nesting levels: rows below the last level become siblings */
#define GT_NEST_DEEPEST 256u
#define GT_NEST_PIECES 64u /* of a row: the time behind the last one is ignored */
/* rows that wait to be sorted: beyond it, the first one is processed at once */
#define GT_NEST_WAITING 4096u

struct gt_nest_row {
	int64_t start, end;   /* of a piece: of that piece */
	int64_t began, ended; /* of the row that it is a piece of */
	uint64_t what;        /* for the caller, as is cost */
	int64_t cost;
	uint8_t depth;
	bool range; /* nests by time: any row except a call */
	/* it has no children; time that two leaves cover belongs to the first one */
	bool leaf;
	uint8_t nth; /* 0-based index of the piece in its row */
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
	bool limited; /* some rows exceeded the limits above */
	/* rows that ended after their parents, if one of the two is a range */
	uint64_t cut;
	struct gt_nest_open *open;
	size_t nopen, open_cap;
	struct gt_nest_row *waiting; /* a heap */
	size_t nwaiting, waiting_cap;
	int64_t covered; /* end of the time that outermost pieces cover */
	bool started;
};
/* Called for each piece. parent: the node of its parent, or GT_NONE. Returns the
 * piece's node, or GT_NONE: no memory. */
typedef uint32_t gt_nest_fn(void *arg, uint32_t parent, const struct gt_nest_row *piece);
/* Sets began, ended and nth itself. 0 or -ENOMEM. */
int gt_nest_add(struct gt_nest *n, const struct gt_nest_row *row, gt_nest_fn *fn, void *arg);
int gt_nest_flush(struct gt_nest *n, gt_nest_fn *fn, void *arg); /* call it after the last row */
void gt_nest_release(struct gt_nest *n);
#endif
