/* Shared by the archive's files: archive.c has the segments and their blocks, archive_sums.c the
 * summaries, archive_rows.c the open blocks, archive_open_calls.c the unfinished calls. */
#ifndef GT_ARCHIVE_INTERNAL_H
#define GT_ARCHIVE_INTERNAL_H
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/trace/summary.h"
#include "viewer/model/archive.h"

struct gt_archive_seg {
	const struct gt_segment *pub;
	int64_t offset;
	/* by track, blocks of several tracks first; each list by start */
	struct gt_block *blocks;
	size_t nblocks;
	/* by track + 1 (GT_NONE: 0): index of its first block; one more at the end */
	size_t *first;
	bool uppers;
	/* blocks of level-0 summaries, by epoch */
	struct gt_epoch_sums {
		uint32_t epoch, entry, number;
	} * sums;
	size_t nsums, sums_cap;
	uint8_t (*depths)[GT_ASPECTS]; /* by track: bits */
	bool *communication;           /* by type; NULL: none is */
	int64_t calls_end;             /* set if the segment has unfinished calls */
};

/* Upper summaries, by a key of segment, track, aspect and depth. */
struct gt_sums {
	struct gt_upper *uppers;
	size_t n, cap;
	struct gt_map map;
	size_t nfinest; /* buckets of the finest levels */
};
/* The level-0 summaries of a few epochs. */
#define GT_EPOCHS_KEPT 64u
struct gt_epoch {
	uint32_t segment, epoch;
	uint64_t used; /* time of the last use */
	struct gt_block_summary *all;
	size_t n, cap;
	struct gt_bucket *buckets;
	size_t nbuckets, buckets_cap;
	bool is_loaded;
};
struct gt_block_slot { /* a cached open block */
	struct gt_open_block rows;
	uint64_t used;
	struct gt_buf memory; /* of its rows */
	bool is_open;
};
#define GT_ROWS_SLOTS 256u
/* limit of all open blocks: more than GT_ROWS_KEPT of the largest */
#define GT_ROWS_BYTES (96u << 20)

struct gt_archive {
	struct gt_reader *reader;
	struct gt_archive_seg *segs;
	uint32_t nsegs;
	unsigned widest;
	int64_t from, to;
	struct gt_sums sums;
	struct gt_epoch epochs[GT_EPOCHS_KEPT];
	struct gt_block_slot opened[GT_ROWS_SLOTS];
	size_t opened_bytes;
	uint64_t now;
	struct gt_unfinished_call *open_calls;
	size_t nopen, open_cap;
};

/* Reads all upper summaries. */
int gt_archive_read_uppers(struct gt_archive *a, struct gt_err *err);
/* Reads all calls that were open at the end. */
int gt_archive_read_unfinished(struct gt_archive *a, struct gt_err *err);
void gt_archive_release_sums(struct gt_archive *a);
void gt_archive_release_rows(struct gt_archive *a);
void gt_archive_note_depth(struct gt_archive *a, uint32_t segment, uint32_t track,
	enum gt_aspect aspect, unsigned depth);
#endif
