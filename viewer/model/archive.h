/* Archive: the data of an open trace that a viewer keeps in memory: the position of each track's
 * blocks, the upper summaries, the level-0 summaries used last and the blocks opened last. All
 * of it is bounded. Only requested parts of the file are read.
 *
 * The viewer's time is the time of the first segment's clock. Segments of other clocks are
 * shifted so that all begin at about the same time. The shift is a multiple of the widest cell
 * (gt_archive_widest_cell), so the viewer's cells match the grid of every segment. */
#ifndef GT_ARCHIVE_H
#define GT_ARCHIVE_H
#include "formats/trace/read/reader.h"

struct gt_block {           /* of rows */
	int64_t start, end; /* of its rows, in the segment's time */
	int64_t reach;      /* latest end of it and of those before it in its list */
	uint32_t entry, number, epoch, rows;
	uint32_t kind; /* enum gt_kind */
};
struct gt_block_list {
	const struct gt_block *blocks;
	size_t n;
}; /* by start */

/* Buckets of one width, by start; empty ones are left out. */
struct gt_level {
	unsigned shift;
	uint32_t n;
	struct gt_bucket *buckets;
};
#define GT_LEVELS 16u
/* of one depth of one aspect of a track; finest level first */
struct gt_upper {
	uint64_t key;
	unsigned nlevels;
	struct gt_level levels[GT_LEVELS];
};
struct gt_block_summary { /* a level-0 summary */
	uint32_t number, track, n;
	uint8_t aspect, depth;
	const struct gt_bucket *buckets;
};

/* An open block: its rows, one run after another. Other properties of a row are those of its
 * type. */
struct gt_open_block {
	uint32_t segment, entry;
	enum gt_kind kind;
	uint32_t nruns, n;
	const struct gt_rows_run {
		uint32_t track, first, n;
	} * runs;
	/* ns, in the segment's time; each run by start, parents before children */
	const int64_t *start, *dur;
	const uint32_t *type; /* type id, or GT_NONE: losses */
	/* enum gt_aspect; of a copy its direction's; 0: it is not drawn in a strip */
	const uint8_t *depth, *aspect;
	/* of a counter: its value, the bits of its field; of a sample: its period, ns. NULL: none
	 * has any */
	const uint64_t *bytes;
	const int32_t *ret; /* NULL: all 0 */
	/* it cannot be read: there are no rows, and `why` has the reason */
	bool damaged;
	char why[120];
};

struct gt_archive;
/* The reader is borrowed and must live longer. 0 or negative. new: close it. */
struct gt_archive *gt_archive_open(struct gt_reader *r, struct gt_err *err);
void gt_archive_close(struct gt_archive *a); /* NULL is fine */
struct gt_reader *gt_archive_reader(const struct gt_archive *a);
/* The viewer's time is the segment's time minus this offset, a multiple of the widest cell. */
int64_t gt_archive_offset(const struct gt_archive *a, uint32_t segment);
/* Limits a filter to a range of the viewer's time; INT64_MIN, INT64_MAX: everything, no limit.
 * *ranges: new: free it after the filter; NULL: no limit. 0 or -ENOMEM. */
int gt_archive_limit(const struct gt_archive *a, struct gt_range to, struct gt_filter *f,
	struct gt_range **ranges, struct gt_err *err);
/* log2 of the widest cell in ns: 16 to 32 such cells cover the trace */
unsigned gt_archive_widest_cell(const struct gt_archive *a);
/* of all rows, in the viewer's time */
void gt_archive_extent(const struct gt_archive *a, int64_t *from, int64_t *to);

/* Blocks with rows of only this track; GT_NONE: blocks with rows of several tracks. Valid until the
 * archive is closed. */
struct gt_block_list gt_archive_blocks(
	const struct gt_archive *a, uint32_t segment, uint32_t track);
/* All blocks with rows of a segment: those of several tracks, then by track. */
struct gt_block_list gt_archive_all_blocks(const struct gt_archive *a, uint32_t segment);
/* gt_scan() of one block; args: with argument columns. */
int gt_archive_scan(const struct gt_archive *a, uint32_t segment, const struct gt_block *block,
	bool args, gt_scan_fn *fn, void *arg, struct gt_err *err);
/* The block that is the same as `was`, a block of an earlier archive of this growing trace, or
 * NULL. */
const struct gt_block *gt_archive_same_block(
	const struct gt_archive *a, uint32_t segment, uint32_t track, const struct gt_block *was);
/* The first block that may have rows that end after `from`. Continue until a block starts at or
 * after the end of your range. */
size_t gt_blocks_from(struct gt_block_list l, int64_t from);

/* The only thread of a process; GT_NONE: it has several, or the segment has very many tracks. */
uint32_t gt_archive_only_caller(const struct gt_archive *a, uint32_t segment, uint32_t process);
/* NULL: there is none. The calls of a process with one thread are those of the thread. Valid until
 * the archive is closed. */
const struct gt_upper *gt_archive_upper(const struct gt_archive *a, uint32_t segment,
	uint32_t track, enum gt_aspect aspect, bool derived, unsigned depth);
/* log2 of the width of the finest buckets that all upper summaries have; 0: there are none */
unsigned gt_archive_finest_bucket(const struct gt_archive *a);
/* True if the segment has upper summaries. A track without one then has few rows, or the
 * summaries exceeded their limit. */
bool gt_archive_has_uppers(const struct gt_archive *a, uint32_t segment);
/* The level-0 summaries of a block, by track, aspect and depth; *n 0: there are none. Read from the
 * file, with those of its epoch, unless they are cached. Borrowed until the next call. */
int gt_archive_block_summaries(struct gt_archive *a, uint32_t segment, const struct gt_block *block,
	const struct gt_block_summary **list, size_t *n, struct gt_err *err);
/* True for kernels of communication libraries such as NCCL; and for a segment with such types. */
bool gt_archive_is_communication(const struct gt_archive *a, uint32_t segment, uint32_t type);
bool gt_archive_has_communication(const struct gt_archive *a, uint32_t segment);
/* The rows of a block. Read from the file unless they are cached. Borrowed until GT_ROWS_KEPT other
 * blocks were requested. NULL: no memory. */
const struct gt_open_block *gt_archive_rows(
	struct gt_archive *a, uint32_t segment, const struct gt_block *block, struct gt_err *err);
#define GT_ROWS_KEPT 64

/* A call that had not returned when the recording ended. */
struct gt_unfinished_call {
	int64_t start, end; /* segment's time; end: when the recording ended */
	uint32_t segment, track, type;
	uint32_t above;        /* gt_archive_above of the track */
	uint8_t depth, aspect; /* as in gt_rows */
};
#define GT_UNFINISHED_MAX 65536u
/* The readable ones, at most GT_UNFINISHED_MAX, by segment and track; the outermost call of a track
 * first. Valid until the archive is closed. */
const struct gt_unfinished_call *gt_archive_unfinished_calls(const struct gt_archive *a, size_t *n);
/* their number according to the index */
uint64_t gt_archive_unfinished_count(const struct gt_archive *a);
/* The end of the last call that returned, in a segment with unfinished calls; segment's time. */
int64_t gt_archive_calls_end(const struct gt_archive *a, uint32_t segment);

/* The process or device whose derived strips include the track, or GT_NONE. */
uint32_t gt_archive_above(const struct gt_archive *a, uint32_t segment, uint32_t track);
/* True if the derived strips of the process, device or context `in` include the track. */
bool gt_archive_joins(const struct gt_archive *a, uint32_t segment, uint32_t track, uint32_t in);
/* The known depths (bits) of an aspect of a track, from the upper summaries and the blocks
 * opened so far. Only its own rows count. */
unsigned gt_archive_depths(
	const struct gt_archive *a, uint32_t segment, uint32_t track, enum gt_aspect aspect);
/* Finds the tracks with samples or other instants, so that their depth is known. 0 or -ENOMEM. */
int gt_archive_find_instants(struct gt_archive *a, struct gt_err *err);
/* The known depths, passed from an archive to the next archive of the same growing trace, which may
 * not open the same blocks. take: moves them out of an archive that is closed next; add: copies
 * them to segments without upper summaries. Zero-initialised: empty. */
struct gt_depths {
	struct gt_depths_of {
		uint8_t (*bits)[GT_ASPECTS];
		uint32_t ntracks;
	} * of;
	uint32_t n;
};
void gt_archive_take_depths(struct gt_archive *a, struct gt_depths *to);
void gt_archive_add_depths(struct gt_archive *a, const struct gt_depths *from);
void gt_depths_release(struct gt_depths *d);
#endif
