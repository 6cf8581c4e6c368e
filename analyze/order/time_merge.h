/* Puts a few moments of many tracks into one line of time.
 *
 * Under GT_BY_TIME blocks come by their earliest row, but the rows of blocks that overlap still interleave. The timeline
 * holds the moments of those blocks, each block's sorted, in a heap and hands out, in order, all that lie before the floor:
 * the time before which nothing can come any more. One thread alone costs a copy; k busy threads cost log k comparisons, and which of
 * them is next is anybody's guess, the processor's too. Whose places have nothing to do with one another says so (`by_place`): then, as
 * long as few are busy, each is handed out by itself up to the floor.
 * Memory is bounded: beyond GT_TIME_MERGE_MAX held moments the oldest are handed out early, and what comes too late for its
 * place is handed out late and counted.
 */
#ifndef GT_TIME_MERGE_H
#define GT_TIME_MERGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

#define GT_TIME_MERGE_MAX (3u << 17)	/* in 12 MiB; epochs, and so blocks that overlap, are smaller than that */

struct gt_moment {
	int64_t at;		/* what it is sorted by */
	union { int64_t end; uint64_t bytes; };	/* this and the rest are the owner's */
	uint64_t addr;
	uint32_t place, what;
};
typedef int gt_time_merge_fn(void *arg, const struct gt_moment *m, struct gt_err *err);

struct gt_time_merge {		/* zero-initialised is empty */
	/* The owner's, set before all else: only moments of one place need order among them. All that one gt_time_merge_commit() takes have the
	 * same one then. */
	bool by_place;
	struct gt_time_merge_run *batch;	/* of the block at hand */
	struct gt_time_merge_place { int64_t at; uint64_t seq; struct gt_time_merge_run *run; } *heap;
	struct gt_time_merge_run *spare;	/* a few that were handed out, for the blocks to come */
	const uint8_t *records;		/* of the block whose moments are being handed out, and how many there are */
	size_t nrecords;
	size_t nheap, cap, nspare, held, record_size;
	uint64_t late;		/* moments that were handed out after a later one */
	int64_t last, before;	/* the greatest `at` handed out, and by the end of the last advance, once it has begun */
	bool begun;
	uint64_t seq;
};

/* Room for n more moments of the block at hand, of which gt_time_merge_commit() takes the first; NULL: no memory. Any order; none
 * before the floor of the last gt_time_merge_advance. */
struct gt_moment *gt_time_merge_reserve(struct gt_time_merge *t, size_t n, struct gt_err *err);
void gt_time_merge_commit(struct gt_time_merge *t, size_t n);
/* What a moment has no room for: n records of the owner's, beside the moments of the block at hand. All of a timeline have one size.
 * *first is the number of the first one, for a moment's addr; NULL: no memory. They are there until the last moment of the block was
 * handed out. */
void *gt_time_merge_reserve_records(struct gt_time_merge *t, size_t n, size_t size, uint64_t *first, struct gt_err *err);
/* While a moment is handed out: a record of its block. */
static inline const void *gt_time_merge_record(const struct gt_time_merge *t, uint64_t number)
{
	return t->records + number * t->record_size;
}
/* A new block begins: hands out all moments before its floor, or more when too many are held. Returns the first non-zero fn
 * returned. */
int gt_time_merge_advance(struct gt_time_merge *t, int64_t floor, gt_time_merge_fn *fn, void *arg, struct gt_err *err);
int gt_time_merge_flush(struct gt_time_merge *t, gt_time_merge_fn *fn, void *arg, struct gt_err *err);	/* all that is left */
void gt_time_merge_release(struct gt_time_merge *t);
#endif
