/* External merge sort: any number of records of one size, in bounded memory.
 *
 *	gt_sorter_init(&s, sizeof(struct record), 32768, before, &err);
 *	memcpy(gt_sorter_add(&s, &err), &record, sizeof(record));	... each
 *	while (gt_sorter_next(&s, &record, &err) > 0) ...		in order
 *
 * Memory: the buffer's records, 8 bytes more for each, and 128 KiB. Further records are in
 * temporary files (gt_temporary), where a record needs few bytes if it differs little from the one
 * before. If all records fit into the buffer, there is no file. Records that come in order, or
 * nearly so, are written and read once. */
#ifndef GT_SORTER_H
#define GT_SORTER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

#define GT_SORTER_FAN_IN 64u /* runs that one merge reads */
#define GT_SORTER_LEVELS                                                                           \
	8u /* a run of level n holds 64^n buffers or more: the last is never full */

typedef bool gt_sorter_before(const void *a, const void *b); /* a strict order */

struct gt_sorter_level {
	int fd;
	unsigned nruns;
	uint64_t ends[GT_SORTER_FAN_IN]; /* bytes */
};
struct gt_sorter_source {
	int fd;
	uint64_t at, end;         /* bytes of the file that are still to be read */
	uint8_t *next, *last;     /* bytes that were read and are not decoded */
	uint8_t *buffer, *record; /* record: the next one */
};
struct gt_sorter {
	size_t size, most; /* bytes of a record; and in a file, at most */
	gt_sorter_before *before;
	uint8_t *buffer, *out; /* out: bytes to be written to a file */
	uint8_t *written;      /* the record that was written last to the run */
	uint8_t *last;         /* the last record of the last run of level 0 */
	size_t nout, chunk;    /* chunk: bytes that a merge reads of a run at a time */
	uint32_t *order, capacity, n;
	uint64_t added; /* number of records so far */
	struct gt_sorter_level levels[GT_SORTER_LEVELS];
	struct gt_sorter_source sources[GT_SORTER_FAN_IN];
	unsigned heap[GT_SORTER_FAN_IN], nheap;
	uint32_t next; /* index in `order` of the next record to return, if there is no file */
	bool reading;
};

/* size: a multiple of 8. capacity: of the buffer, in records. 0 or negative; release it in both
 * cases. */
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
