/* Summaries: what a viewer draws instead of rows. Buckets of power-of-two ns on one absolute grid,
 * so that those of different blocks, tracks and levels line up, and adding them up never counts a
 * moment twice (TRACE_FORMAT.md, Summaries). */
#ifndef GT_SUMMARY_H
#define GT_SUMMARY_H
#include "formats/base/buf.h"
#include "formats/trace/block.h"
#include "formats/trace/codec.h"
#include "formats/trace/segment.h"
#include "formats/trace/bucket.h"

#define GT_SUMMARY_BUCKETS 256 /* of one summary, at most */
#define GT_SUMMARY_DEPTHS 8    /* deeper rows count at depth 7, whose rows cover what they cover */

struct gt_reader;

/* Buckets being filled in: a grid per depth. */
struct gt_grid {
	unsigned shift; /* log2 of the width */
	int64_t first;  /* number of the first bucket: start >> shift */
	size_t n;
	struct gt_tally {
		uint64_t busy, count, bytes, longest;
		int64_t longest_at;
		uint64_t by_category[GT_CATEGORY_COUNT];
		uint8_t longest_category;
	} * tally[GT_SUMMARY_DEPTHS];       /* n each, zeroed; NULL until the depth has a row */
	int64_t covered[GT_SUMMARY_DEPTHS]; /* end of what rows so far cover, per depth */
	/* buckets that rows cover whole, which are in no tally yet; NULL: there are none */
	struct gt_whole *whole;
};
/* A grid over [from, to] of at most `most` buckets (a power of two). */
void gt_grid_init(struct gt_grid *g, int64_t from, int64_t to, size_t most);
/* One row. `overlapping`: others of its depth may cover the same time, which then is busy once;
 * such rows must come in order of start. Parts outside the grid are left out. 0 or -ENOMEM. */
int gt_grid_add(struct gt_grid *g, unsigned depth, int64_t start, int64_t end, unsigned category,
	uint64_t bytes, bool overlapping);
/* Halves the number of buckets `times` times. */
void gt_grid_coarsen(struct gt_grid *g, unsigned times);
void gt_grid_release(struct gt_grid *g);

/* A grid of n buckets of 2^shift ns, the first of which is number `first`. */
void gt_grid_place(struct gt_grid *g, int64_t first, unsigned shift, size_t n);
/* What a bucket says, which lies within one of the grid's, or outside. 0 or -ENOMEM. */
int gt_grid_add_bucket(struct gt_grid *g, unsigned depth, const struct gt_bucket *b);
/* What the buckets of another grid say, which are as wide or narrower and are settled; outside of
 * this one they are left out. Of rows that are as long the later one is the longest. 0 or -ENOMEM.
 */
int gt_grid_add_grid(struct gt_grid *g, const struct gt_grid *from);
/* What rows said so far is in the tallies, all of it. */
void gt_grid_finish(struct gt_grid *g);
unsigned gt_tally_category(const struct gt_tally *t); /* that covers most of it */

/* Who a grid is about. block: of level 0. */
struct gt_summary_key {
	uint32_t track, block;
	enum gt_aspect aspect;
	unsigned level;
	bool derived;
};
/* Appends the grid, in pieces of at most GT_SUMMARY_BUCKETS buckets of time, empty ones left out,
 * until all is there or out holds `limit` bytes. *at is where to go on (begin with 0); GT_GRID_DONE
 * when all is there. Returns how many pieces. */
#define GT_GRID_DONE SIZE_MAX
uint32_t gt_grid_put(struct gt_grid *g, const struct gt_summary_key *about, size_t limit,
	size_t *at, struct gt_buf *out);

/* What a row of this kind and type is drawn as; 0: it is not. A call of the layer ioctl is one of
 * GT_ASPECT_IOCTLS besides. */
enum gt_aspect gt_aspect_of(enum gt_kind kind, const struct gt_type *type);
/* The depth of a row of an aspect: only calls and ranges nest. */
static inline unsigned gt_aspect_depth(enum gt_aspect aspect, unsigned depth)
{
	return aspect == GT_ASPECT_CALLS || aspect == GT_ASPECT_RANGES ? depth : 0;
}
/* The level-0 summaries of a slice whose rows end by max_end, appended to out; slices of few rows
 * get none. bytes_field: by type, see gt_bytes_field. block: the number of the slice's block.
 * Returns how many, or negative. */
int gt_summary_of_slice(const struct gt_type *types, const int8_t *bytes_field, enum gt_kind kind,
	const struct gt_slice *slice, int64_t max_end, uint32_t block, struct gt_buf *out);
/* a slice of fewer has none: it is read faster than a summary of it */
#define GT_SUMMARY_ROWS 64
/* Which field of a type counts as its bytes, or as the direction of a copy; or -1. */
int gt_bytes_field(const struct gt_type *type);
int gt_direction_field(const struct gt_type *type);
/* of a device's copies; enum gt_direction */
enum gt_aspect gt_aspect_of_direction(uint64_t direction);

/* Reads the next summary: 1 with *s and buckets (GT_SUMMARY_BUCKETS of room) filled in, 0 at the
 * end, -EBADMSG. */
int gt_summary_get(struct gt_span *in, const struct gt_segment *seg, struct gt_summary *s,
	struct gt_bucket *buckets);

/* The process or device that a track is or is below, whose unions it is part of; or GT_NONE. */
uint32_t gt_summary_above(const struct gt_segment *seg, uint32_t track);
/* Is it part of the unions of that process, device or context? What is below a context is part of
 * the context's and of the device's. */
bool gt_summary_joins(const struct gt_segment *seg, uint32_t track, uint32_t in);
/* Upper levels and unions of a whole segment that has just been written: read back through r,
 * handed to put() in contents of at most GT_BLOCK_BYTES. Memory is bounded however long the trace
 * is. */
int gt_summary_upper(struct gt_reader *r, uint32_t segment,
	int (*put)(void *arg, struct gt_buf *content, uint32_t count), void *arg,
	struct gt_err *err);
#endif
