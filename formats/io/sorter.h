/* External merge sort: any number of records of one size, in bounded memory.
 *
 *	gt_sorter_init(&s, sizeof(struct record), 32768, before, &err);
 *	memcpy(gt_sorter_add(&s, &err), &record, sizeof(record));	... each
 *	while (gt_sorter_next(&s, &record, &err) > 0) ...		in order
 *
 * Memory: the buffer's records, and 8 bytes more for each. Further records are in temporary files
 * (gt_temporary). If all records fit into the buffer, there is no file. */
#ifndef GT_SORTER_H
#define GT_SORTER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

#define GT_SORTER_FAN_IN 64u /* runs that one merge reads */
#define GT_SORTER_LEVELS 8u  /* a run of level n holds 64^n buffers: the last is never full */

typedef bool gt_sorter_before(const void *a, const void *b); /* a strict order */

struct gt_sorter_level {
	int fd;
	unsigned nruns;
	uint64_t ends[GT_SORTER_FAN_IN]; /* bytes */
};
struct gt_sorter_source {
	int fd;
	uint64_t at, end;
	uint8_t *next, *last, *buffer;
};
struct gt_sorter {
	size_t size; /* bytes of a record */
	gt_sorter_before *before;
	uint8_t *buffer, *out; /* out: records to be written to a file */
	uint32_t *order, capacity, n, nout;
	uint64_t added; /* number of records so far */
	struct gt_sorter_level levels[GT_SORTER_LEVELS];
	struct gt_sorter_source sources[GT_SORTER_FAN_IN];
	unsigned heap[GT_SORTER_FAN_IN], nheap;
	uint32_t next; /* index in `order` of the next record to return, if there is no file */
	bool reading;
};

/* capacity: of the buffer, in records, more than GT_SORTER_FAN_IN. 0 or negative; release it in
 * both cases. */
int gt_sorter_init(struct gt_sorter *s, size_t size, uint32_t capacity, gt_sorter_before *before,
	struct gt_err *err);
/* Returns where the caller writes the next record, before the next call. NULL with err filled in.
 */
void *gt_sorter_add(struct gt_sorter *s, struct gt_err *err);
/* The record of this number (from 0) while it is in the buffer, else NULL. */
void *gt_sorter_find(const struct gt_sorter *s, uint64_t number);
/* After the last gt_sorter_add: copies the next record in order. 1, 0 at the end, or negative. */
int gt_sorter_next(struct gt_sorter *s, void *record, struct gt_err *err);
void gt_sorter_release(struct gt_sorter *s); /* a zeroed one is fine */
#endif
