/* A segment's index: where its blocks are and what their heads say. That of a small file is held in
 * memory. Of a large one it stays in the file, or goes to one without a name where it had to be
 * made anew, and is read as it is needed. */
#ifndef GT_INDEX_H
#define GT_INDEX_H
#include <stdbool.h>
#include <stddef.h>
#include "formats/trace/wire.h"

struct gt_err;

/* What the indices of one reader share. */
struct gt_index_store {
	size_t held; /* entries in memory, of all */
	size_t most; /* so many when nothing can be put into the unnamed file */
	bool full;   /* that is so */
	int fd;      /* of the unnamed file; -1: there is none yet */
	uint64_t end;
};

/* The last `nheld` of n entries are in memory, those before in fd from `at` on. */
struct gt_index {
	uint32_t n, nheld;
	struct gt_wire_entry *held;
	size_t held_cap;
	int fd;
	uint64_t at;
	/* no block reaches farther into the segment; to be set before something is read */
	uint64_t bytes;
};

/* Is what a head says within the limits of the format? The checksum is not looked at. */
bool gt_index_sane(const struct gt_wire_block *head);

/* Takes the n entries that stand in fd at `at`, a checksum behind them; crc: of what stands before
 * them. ix->bytes must be set. -EBADMSG: something is damaged, and the index is empty. */
int gt_index_load(struct gt_index *ix, struct gt_index_store *store, int fd, uint64_t at,
	uint32_t n, uint32_t crc);
/* One block more. */
int gt_index_add(struct gt_index *ix, struct gt_index_store *store, const struct gt_wire_entry *e,
	struct gt_err *err);
/* No more will come. */
void gt_index_end(struct gt_index *ix, struct gt_index_store *store);
void gt_index_release(struct gt_index *ix);

/* Entry i. 0, or -EBADMSG when it cannot be read any more. */
int gt_index_get(
	const struct gt_index *ix, uint32_t i, struct gt_wire_entry *e, struct gt_err *err);

/* Entries from `next` on, one after another; *e is good until the next call. 1, 0 at the end,
 * -EBADMSG. */
struct gt_index_walk {
	uint32_t next, first, n;
	struct gt_wire_entry page[128];
};
int gt_index_next(const struct gt_index *ix, struct gt_index_walk *w,
	const struct gt_wire_entry **e, struct gt_err *err);
#endif
