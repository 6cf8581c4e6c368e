/* Finds operations that run at the same time. Operations come in order of their start, each with an
 * end, a kind and a name (small numbers that the caller chooses). The sweep moves along time and
 * reports intervals during which the same operations run: how many of each kind, and whether all
 * have one name. Unions, exclusive times and idle times are sums over such intervals. Memory:
 * one entry for each running operation, and one count for each of their names. */
#ifndef GT_CONCURRENCY_SWEEP_H
#define GT_CONCURRENCY_SWEEP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"
#include "formats/base/map.h"

#define GT_SWEEP_KINDS 4
struct gt_sweep {   /* zero-initialised: nothing runs, and `at` is 0 */
	int64_t at; /* current time */
	uint32_t active[GT_SWEEP_KINDS];
	size_t n;          /* running operations */
	uint32_t distinct; /* different names among them */
	uint64_t ids;      /* sum of those names; if there is one name, that name */
	/* the n operations, in no defined order */
	struct gt_sweep_op {
		int64_t end;
		uint32_t name;
		uint32_t kind;
	} * ops;
	/* private from here on */
	bool many;           /* ops is a heap; see concurrency_sweep.c */
	struct gt_map names; /* likewise: the number of operations of each name */
	size_t cap;
};
/* from < to; s is the state during that interval. */
typedef void gt_sweep_fn(void *arg, const struct gt_sweep *s, int64_t from, int64_t to);

/* Moves to time `at`, which must not be before s->at. */
void gt_sweep_advance(struct gt_sweep *s, int64_t at, gt_sweep_fn *fn, void *arg);
/* Adds an operation that runs from s->at until `end`; ignored if it ends at s->at or before.
 * Returns 0 or -ENOMEM. */
int gt_sweep_add(struct gt_sweep *s, int64_t end, uint32_t kind, uint32_t name, struct gt_err *err);
/* Moves on until nothing runs. */
void gt_sweep_finish(struct gt_sweep *s, gt_sweep_fn *fn, void *arg);
void gt_sweep_release(struct gt_sweep *s);
#endif
