/* Sums per type and per track over all rows of a trace, counted once for all reports.
 *
 * Types and tracks keep their ids, per segment. Each figure is a sum, a maximum or a histogram.
 * So two aggregates of different blocks can be merged in any order, and the result equals one
 * aggregate of all blocks. */
#ifndef GT_AGGREGATE_H
#define GT_AGGREGATE_H
#include "analyze/stats/hist.h"
#include "formats/base/numbers.h"
#include "formats/trace/read/reader.h"

enum gt_aggregate_part {
	GT_AGGREGATE_TYPES = 1,  /* all of gt_stat but bytes and sized */
	GT_AGGREGATE_BYTES = 2,  /* gt_stat.bytes and sized; needs argument columns */
	GT_AGGREGATE_TRACKS = 4, /* gt_track_sum */
};

/* Sums of one type. Times are in ns; sums stay at UINT64_MAX instead of wrapping. */
struct gt_stat {
	uint64_t count;       /* rows with a duration: finished calls, spans, GPU operations */
	uint64_t total;       /* sum of their durations */
	uint64_t outer_total; /* sum of the durations at depth 0: not nested in another call */
	uint64_t outer;       /* number of those rows */
	uint64_t failed;      /* rows with ret != 0 */
	uint64_t shortest, longest; /* valid if count > 0 */
	uint64_t open;              /* calls still open at the end of the segment */
	uint64_t instants;          /* rows without a duration */
	/* sum of the GT_R_BYTES field over finished calls and instants that did not fail */
	uint64_t bytes;
	uint64_t sized; /* number of rows that `bytes` sums up */
	bool coarse;    /* `hist` lacks rows: the histograms reached their memory limit (8 MiB) */
	/* durations of all types with this name, category and layer; NULL: none */
	struct gt_hist *hist;
};
/* Sums of one track. */
struct gt_track_sum {
	uint64_t calls; /* finished calls at any depth */
	uint64_t open;
	/* ns: union of the calls (finished and open), cut to the selected range. Calls of a track
	 * nest, so calls at depth 0 do not overlap, and their sum is the union */
	uint64_t busy;
	/* calls at depth 0 overlap: `busy` sums the union of each block, and may be too long */
	bool overlaps;
	unsigned max_depth; /* 1: no nested calls, 2: a call within a call, ...; 0: no calls */
};

struct gt_aggregate;
/* parts: enum gt_aggregate_part. filter: the filter of the scan. The caller frees the result. */
struct gt_aggregate *gt_aggregate_new(
	struct gt_reader *r, unsigned parts, const struct gt_filter *filter, struct gt_err *err);
int gt_aggregate_add_block(struct gt_aggregate *f, const struct gt_cols *cols, struct gt_err *err);
/* Both must have the same reader and parts. `from` stays unchanged. */
int gt_aggregate_merge(struct gt_aggregate *into, struct gt_aggregate *from, struct gt_err *err);
void gt_aggregate_finish(struct gt_aggregate *f); /* after the last block: figures may be read */
void gt_aggregate_free(struct gt_aggregate *f);   /* NULL is allowed */

struct gt_reader *gt_aggregate_reader(const struct gt_aggregate *f);
const struct gt_stat *gt_aggregate_stat(
	const struct gt_aggregate *f, uint32_t segment, uint32_t type);
const struct gt_track_sum *gt_aggregate_track(
	const struct gt_aggregate *f, uint32_t segment, uint32_t track);

/* all fields but the histogram */
void gt_stat_add(struct gt_stat *into, const struct gt_stat *from);
#endif
