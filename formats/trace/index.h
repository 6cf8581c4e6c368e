/* A segment's index: the positions and heads of its blocks. The index of a small
 * file is in memory. The index of a large file is read from the file on demand, or from
 * an unnamed temporary file if it had to be rebuilt. */
#ifndef GT_INDEX_H
#define GT_INDEX_H
#include <stdbool.h>
#include <stddef.h>
#include "formats/trace/wire.h"

struct gt_err;

/* Shared by the indices of one reader. */
struct gt_index_store {
	size_t in_memory; /* entries in memory, of all indices */
	size_t limit;     /* of in_memory, if the temporary file cannot be written */
	bool full;        /* the temporary file cannot be written */
	int fd;           /* of the temporary file; -1: it does not exist yet */
	uint64_t end;
};

/* The last ntail of n entries are in memory; those before them are in fd from `at` on. */
struct gt_index {
	uint32_t n, ntail;
	struct gt_wire_entry *tail;
	size_t tail_cap;
	int fd;
	uint64_t at;
	/* no block ends behind this offset in the segment; set it before reading */
	uint64_t bytes;
};

/* Are a head's numbers within the limits of the format? Does not check the checksum. */
bool gt_index_is_within_limits(const struct gt_wire_block *head);

/* Reads the n entries in fd at `at` and the checksum behind them; crc: the checksum of the bytes
 * before them. ix->bytes must be set. -EBADMSG: the index is damaged, and ix is empty. */
int gt_index_load(struct gt_index *ix, struct gt_index_store *store, int fd, uint64_t at,
	uint32_t n, uint32_t crc);
/* Adds one block. */
int gt_index_add(struct gt_index *ix, struct gt_index_store *store, const struct gt_wire_entry *e,
	struct gt_err *err);
/* Call it after the last gt_index_add. */
void gt_index_end(struct gt_index *ix, struct gt_index_store *store);
void gt_index_release(struct gt_index *ix);

/* Reads entry i. 0, or -EBADMSG if it cannot be read any more. */
int gt_index_get(
	const struct gt_index *ix, uint32_t i, struct gt_wire_entry *e, struct gt_err *err);

/* Reads the entries from `next` on, one after another; *e is valid until the next
 * call. 1, 0 at the end, -EBADMSG. */
struct gt_index_walk {
	uint32_t next, first, n;
	struct gt_wire_entry page[128];
};
int gt_index_next(const struct gt_index *ix, struct gt_index_walk *w,
	const struct gt_wire_entry **e, struct gt_err *err);
#endif
