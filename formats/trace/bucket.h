/* Stored summaries of rows: intervals of a power-of-two grid (TRACE_FORMAT.md, Summaries). */
#ifndef GT_BUCKET_H
#define GT_BUCKET_H
#include <stdbool.h>
#include <stdint.h>

/* one interval [start, start + width) of the grid, one track, one nesting depth */
struct gt_bucket {
	int64_t start;
	uint64_t width;     /* a power of two */
	uint64_t busy;      /* ns covered by at least one row */
	uint64_t count;     /* rows that start in it */
	uint64_t bytes;     /* sum of GT_R_BYTES fields of rows that start in it */
	uint64_t longest;   /* ns: longest row that starts in it */
	int64_t longest_at; /* start of that row: with its track and depth this names it */
	uint8_t category;   /* the category that covers most of it */
	uint8_t share;      /* of the busy time, in 1/255 */
};
/* The rows of a track that one summary describes. Viewers draw them in one line, or nested in
 * several. */
enum gt_aspect {
	GT_ASPECT_CALLS = 1, /* by depth; derived, for a process: its threads' outermost calls */
	GT_ASPECT_RANGES,    /* spans of the layer user, by depth */
	GT_ASPECT_WORK,      /* GPU operations; derived, for a device: those of its streams */
	/* other spans: waits, overhead, events of managed memory; all at depth 0 */
	GT_ASPECT_OTHERS,
	GT_ASPECT_IOCTLS, /* the calls of the layer ioctl; all at depth 0 */
	/* derived, for a device: copies by direction */
	GT_ASPECT_HTOD,
	GT_ASPECT_DTOH,
	GT_ASPECT_COPIES /* all others */,
	GT_ASPECT_STATES, /* states of a thread off the processor; all at depth 0 */
	/* instants; all at depth 0; no file has summaries of them */
	GT_ASPECT_SAMPLES,  /* samples of a thread */
	GT_ASPECT_INSTANTS, /* all others */
	GT_ASPECTS
};
static inline bool gt_aspect_is_copies(unsigned aspect)
{
	return aspect >= GT_ASPECT_HTOD && aspect <= GT_ASPECT_COPIES;
}
struct gt_summary {
	uint32_t segment, track;
	uint8_t aspect, depth;
	/* level 0: one block's; higher levels cover more time in wider buckets */
	uint8_t level;
	bool derived;   /* the union of the tracks below `track` */
	uint32_t block; /* level 0: the number of its block (gt_wire_block.number) */
	int64_t from, to;
	/* the non-empty ones, by start */
	const struct gt_bucket *buckets;
	uint32_t n;
};
#endif
