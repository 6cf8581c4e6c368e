/* What every row of a trace is counted into, once for all reports: sums per type and per track.
 *
 * Types and tracks keep their ids, per segment. Everything here is a sum, a maximum or a histogram, so two folds over
 * different blocks merge into what one fold over both would have been, in any order.
 */
#ifndef GT_AGGREGATE_H
#define GT_AGGREGATE_H
#include "analyze/stats/hist.h"
#include "formats/trace/read/reader.h"

enum gt_aggregate_part {
	GT_AGGREGATE_TYPES = 1,	/* gt_stat, all but bytes and sized */
	GT_AGGREGATE_BYTES = 2,	/* gt_stat.bytes and sized: needs argument columns */
	GT_AGGREGATE_TRACKS = 4,	/* gt_lane */
};

/* Of one type. Times in ns; sums stop at UINT64_MAX instead of wrapping. */
struct gt_stat {
	uint64_t count;		/* rows that took time: finished calls, spans, GPU work */
	uint64_t total;		/* their durations */
	uint64_t outer_total;	/* of those at depth 0: not nested in another call */
	uint64_t outer;		/* how many those are */
	uint64_t failed;	/* rows with ret != 0 */
	uint64_t shortest, longest;	/* of count > 0 */
	uint64_t open;		/* calls still open at the end of the segment */
	uint64_t instants;	/* rows that are moments */
	uint64_t bytes;		/* sum of the GT_R_BYTES field over finished calls and instants that did not fail */
	uint64_t sized;		/* how many rows `bytes` is the sum of */
	bool coarse;		/* hist misses rows: the memory for histograms (8 MiB) was used up */
	struct gt_hist *hist;	/* of the durations of all types of this name, category and layer; NULL when there are none */
};
/* Of one track. */
struct gt_track_sum {
	uint64_t calls;		/* finished calls at any depth */
	uint64_t open;
	uint64_t busy;		/* ns: union of the calls (finished and open), cut to the range that was asked for. Calls of a track
				 * nest, so those of depth 0 are disjoint and their sum is the union */
	bool overlaps;		/* calls of depth 0 do overlap: `busy` is their union block by block, and may be too long */
	unsigned max_depth;	/* 1 where calls stand alone, 2 for a call within a call ...; 0 without calls */
};

struct gt_aggregate;
/* parts: enum gt_aggregate_part. filter: the one used for the scan. new: free it. */
struct gt_aggregate *gt_aggregate_new(struct gt_reader *r, unsigned parts, const struct gt_filter *filter, struct gt_err *err);
int gt_aggregate_add_block(struct gt_aggregate *f, const struct gt_cols *cols, struct gt_err *err);
/* Both folds must be of the same reader and parts; from is left as it was. */
int gt_aggregate_merge(struct gt_aggregate *into, struct gt_aggregate *from, struct gt_err *err);
void gt_aggregate_finish(struct gt_aggregate *f);				/* no more blocks: figures may be read */
void gt_aggregate_free(struct gt_aggregate *f);				/* NULL is fine */

struct gt_reader *gt_aggregate_reader(const struct gt_aggregate *f);
const struct gt_stat *gt_aggregate_stat(const struct gt_aggregate *f, uint32_t segment, uint32_t type);
const struct gt_track_sum *gt_aggregate_track(const struct gt_aggregate *f, uint32_t segment, uint32_t track);

void gt_stat_add(struct gt_stat *into, const struct gt_stat *from);	/* all but the histogram */
static inline uint64_t gt_sat_add(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }
#endif
