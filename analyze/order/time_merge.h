/* Merges the moments of many tracks into one sequence sorted by time.
 *
 * Under GT_BY_TIME blocks come in order of their earliest row, but rows of overlapping blocks
 * interleave. The merge stores the moments of those blocks in a heap, sorted per block. It hands
 * out, in order, all moments before the floor: no later block has a moment before it. A single
 * thread costs a copy; k busy tracks cost log k unpredictable comparisons per moment. If moments of
 * different places are independent, the owner sets `by_place`: while few tracks are busy, each is
 * then handed out alone up to the floor. Memory is bounded: beyond GT_TIME_MERGE_MAX moments the
 * oldest are handed out early. A moment that then comes too late is handed out out of order, and
 * counted.
 */
#ifndef GT_TIME_MERGE_H
#define GT_TIME_MERGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

/* 12 MiB; the blocks of an epoch, which may overlap, have fewer moments */
#define GT_TIME_MERGE_MAX (3u << 17)

struct gt_moment {
	int64_t at; /* sort key */
	union {
		int64_t end;
		uint64_t bytes;
	}; /* this and the following members belong to the
	    * owner */
	uint64_t addr;
	uint32_t place, what;
};
typedef int gt_time_merge_fn(void *arg, const struct gt_moment *m, struct gt_err *err);

struct gt_time_merge { /* zero-initialised: empty */
	/* Set by the owner before the first moment: only moments of one place must be in order
	 * among themselves. All moments of one gt_time_merge_commit() then have the same place. */
	bool by_place;
	struct gt_time_merge_run *batch; /* of the current block */
	struct gt_time_merge_place {
		int64_t at;
		uint64_t seq;
		struct gt_time_merge_run *run;
	} * heap;
	struct gt_time_merge_run *spare; /* finished runs, for reuse */
	const uint8_t *records; /* of the block whose moments are handed out, and their number */
	size_t nrecords;
	size_t nheap, cap, nspare, nmoments, record_size;
	uint64_t late; /* moments handed out after a later one */
	/* the largest `at` handed out; the same at the end of the last advance; valid if `begun` */
	int64_t last, before;
	bool begun;
	uint64_t seq;
};

/* Memory for n more moments of the current block; gt_time_merge_commit() takes the first of
 * them. They may be in any order, but not before the floor of the last gt_time_merge_advance.
 * NULL: no memory. */
struct gt_moment *gt_time_merge_reserve(struct gt_time_merge *t, size_t n, struct gt_err *err);
void gt_time_merge_commit(struct gt_time_merge *t, size_t n);
/* Extra data of moments: n records of `size` bytes, stored with the moments of the current
 * block. All records of a merge have one size. *first is the number of the first record, for a
 * moment's addr. They are valid until the last moment of the block was handed out. NULL: no
 * memory. */
void *gt_time_merge_reserve_records(
	struct gt_time_merge *t, size_t n, size_t size, uint64_t *first, struct gt_err *err);
/* The record of a moment, while the moment is handed out. */
static inline const void *gt_time_merge_record(const struct gt_time_merge *t, uint64_t number)
{
	return t->records + number * t->record_size;
}
/* A new block begins: hands out all moments before `floor`, or more if too many are stored.
 * Returns the first non-zero result of fn. */
int gt_time_merge_advance(struct gt_time_merge *t, int64_t floor, gt_time_merge_fn *fn, void *arg,
	struct gt_err *err);
/* hands out the rest */
int gt_time_merge_flush(
	struct gt_time_merge *t, gt_time_merge_fn *fn, void *arg, struct gt_err *err);
void gt_time_merge_release(struct gt_time_merge *t);
#endif
