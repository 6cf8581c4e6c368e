/* Summaries: a viewer draws them instead of rows. Buckets of power-of-two ns on one
 * absolute grid, so that the buckets of different blocks, tracks and levels line up,
 * and their sums never count a moment twice (TRACE_FORMAT.md, Summaries). */
#ifndef GT_SUMMARY_H
#define GT_SUMMARY_H
#include "formats/base/buf.h"
#include "formats/base/edges.h"
#include "formats/trace/block.h"
#include "formats/trace/codec.h"
#include "formats/trace/segment.h"
#include "formats/trace/bucket.h"

#define GT_SUMMARY_BUCKETS 256 /* of one summary, at most */
/* a row at depth 7 covers the time of the deeper ones, which count there */
#define GT_SUMMARY_DEPTHS 8

/* Categories of rows in a grid: those of files, and one in which a viewer counts communication.
 */
#define GT_GRID_COMMUNICATION GT_CATEGORY_COUNT
#define GT_GRID_CATEGORIES (GT_CATEGORY_COUNT + 1)

struct gt_reader;

/* Buckets that are being filled in, for each depth. */
struct gt_grid {
	unsigned shift; /* log2 of the width */
	int64_t first;  /* number of the first bucket: start >> shift */
	/* n 0: buckets of 2^shift ns; else these buckets, without shift and first */
	struct gt_edges edges;
	size_t n;
	struct gt_tally {
		uint64_t busy, count, bytes, longest;
		int64_t longest_at;
		uint64_t by_category[GT_GRID_CATEGORIES];
		uint8_t longest_category;
	} * tally[GT_SUMMARY_DEPTHS];       /* n each, zeroed; NULL until the depth has a row */
	int64_t covered[GT_SUMMARY_DEPTHS]; /* by depth: end of the time that rows cover so far */
	/* completely covered buckets, not yet added to the tallies; NULL: there are none */
	struct gt_whole *whole;
};
/* A grid over [from, to] of at most `most` buckets (a power of two). */
void gt_grid_init(struct gt_grid *g, int64_t from, int64_t to, size_t most);
/* Adds one row. `overlapping`: other rows of its depth may cover the same time, which is counted
 * once; such rows must come in order of start. Parts outside the grid are ignored. 0 or -ENOMEM. */
int gt_grid_add(struct gt_grid *g, unsigned depth, int64_t start, int64_t end, unsigned category,
	uint64_t bytes, bool overlapping);
/* Halves the number of buckets `times` times. */
void gt_grid_coarsen(struct gt_grid *g, unsigned times);
void gt_grid_release(struct gt_grid *g);

/* A grid of n buckets of 2^shift ns, the first of which is number `first`. */
void gt_grid_place(struct gt_grid *g, int64_t first, unsigned shift, size_t n);
/* A grid of n buckets of any width between these times (n + 1; borrowed). It cannot be coarsened or
 * put. */
void gt_grid_place_between(struct gt_grid *g, const int64_t *edges, size_t n);
/* Adds a stored bucket. It must lie within one bucket of the grid, or outside the grid. 0 or
 * -ENOMEM. */
int gt_grid_add_bucket(struct gt_grid *g, unsigned depth, const struct gt_bucket *b);
/* Adds another, finished grid. Each of its buckets must lie within one bucket of this grid; those
 * outside this grid are ignored. Of equally long rows the later one counts as the longest. 0 or
 * -ENOMEM. */
int gt_grid_add_grid(struct gt_grid *g, const struct gt_grid *from);
/* Adds the completely covered buckets to the tallies. Call it before reading them. */
void gt_grid_finish(struct gt_grid *g);
unsigned gt_tally_category(const struct gt_tally *t); /* the category that covers most of it */

/* The subject of a summary. block: for level 0. */
struct gt_summary_key {
	uint32_t track, block;
	enum gt_aspect aspect;
	unsigned level;
	bool derived;
};
/* Appends the grid, in pieces of at most GT_SUMMARY_BUCKETS buckets without the empty ones, until
 * it is complete or out holds `limit` bytes. *at is the position to continue from (begin with 0),
 * or GT_GRID_DONE at the end. Returns the number of pieces. */
#define GT_GRID_DONE SIZE_MAX
uint32_t gt_grid_put(struct gt_grid *g, const struct gt_summary_key *about, size_t limit,
	size_t *at, struct gt_buf *out);

/* The aspect of a row of this kind and type; 0: it is not summarized. A call of the
 * layer ioctl is also in GT_ASPECT_IOCTLS. */
enum gt_aspect gt_aspect_of(enum gt_kind kind, const struct gt_type *type);
/* The depth of a row in an aspect: only calls and ranges nest. */
static inline unsigned gt_aspect_depth(enum gt_aspect aspect, unsigned depth)
{
	return aspect == GT_ASPECT_CALLS || aspect == GT_ASPECT_RANGES ? depth : 0;
}
/* Appends the level-0 summaries of a slice whose rows end by max_end to out. A slice
 * of less than GT_SUMMARY_ROWS rows has none. bytes_field: by type, see gt_bytes_field.
 * block: the number of the slice's block. Returns the number of summaries, or negative.
 * */
int gt_summary_of_slice(const struct gt_type *types, const int8_t *bytes_field, enum gt_kind kind,
	const struct gt_slice *slice, int64_t max_end, uint32_t block, struct gt_buf *out);
/* reading fewer rows is faster than reading a summary of them */
#define GT_SUMMARY_ROWS 64
/* The field of a type with its bytes, or with the direction of a copy; or -1. */
int gt_bytes_field(const struct gt_type *type);
int gt_direction_field(const struct gt_type *type);
/* the aspect of a device's copies in this enum gt_direction */
enum gt_aspect gt_aspect_of_direction(uint64_t direction);

/* Reads the next summary: 1 with *s and buckets (GT_SUMMARY_BUCKETS elements) filled
 * in, 0 at the end, -EBADMSG. */
int gt_summary_get(struct gt_span *in, const struct gt_segment *seg, struct gt_summary *s,
	struct gt_bucket *buckets);

/* The process or device at or above a track, whose unions include the track; or GT_NONE. */
uint32_t gt_summary_above(const struct gt_segment *seg, uint32_t track);
/* Do the unions of `in` (a process, device or context) include the track? A stream
 * is in the unions of its context and of its device. */
bool gt_summary_joins(const struct gt_segment *seg, uint32_t track, uint32_t in);
/* Makes the upper levels and unions of a complete segment that has just been
 * written: reads it through r and passes the summaries to put() in blocks of at most
 * GT_BLOCK_BYTES. Memory does not grow with the length of the trace. */
int gt_summary_upper(struct gt_reader *r, uint32_t segment,
	int (*put)(void *arg, struct gt_buf *content, uint32_t count), void *arg,
	struct gt_err *err);
#endif
