/* What runs at once. Operations come in order of their start, each with an end, a kind and a name (small numbers of the caller's); the
 * sweep goes along time and hands out the stretches in between, in each of which the same operations run: how many of each kind, and
 * whether all that run have one name. Unions, exclusive times and idle times are sums over such stretches. Memory is one entry for each
 * operation that runs at the moment and one count for each name. */
#ifndef GT_CONCURRENCY_SWEEP_H
#define GT_CONCURRENCY_SWEEP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

#define GT_SWEEP_KINDS 4
struct gt_sweep {		/* zero-initialised: nothing runs, and `at` is 0 */
	int64_t at;		/* up to where it went */
	uint32_t active[GT_SWEEP_KINDS];
	size_t n;		/* operations that run */
	uint32_t distinct;	/* names among them */
	uint64_t ids;		/* the sum of those names: with one name, that name */
	struct gt_sweep_op { int64_t end; uint32_t name; uint32_t kind; } *ops;	/* the n operations, in no order */
	/* the rest is private */
	bool many;		/* see concurrency_sweep.c */
	struct gt_sweep_name { uint32_t name, n; } *names;	/* in a table of `room` (a power of two); n 0: free */
	uint32_t room;
	size_t cap;
};
/* from < to; the state is that between them. */
typedef void gt_sweep_fn(void *arg, const struct gt_sweep *s, int64_t from, int64_t to);

/* Goes on to `at`, which is not before s->at. */
void gt_sweep_advance(struct gt_sweep *s, int64_t at, gt_sweep_fn *fn, void *arg);
/* From s->at on an operation runs until `end`; one that ends there, or before, does not. 0 or -ENOMEM. */
int gt_sweep_add(struct gt_sweep *s, int64_t end, uint32_t kind, uint32_t name, struct gt_err *err);
/* Goes on until nothing runs any more. */
void gt_sweep_finish(struct gt_sweep *s, gt_sweep_fn *fn, void *arg);
void gt_sweep_release(struct gt_sweep *s);
#endif
