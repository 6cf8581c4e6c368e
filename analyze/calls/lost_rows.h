/* What a recording lost: rows that the recorder dropped, GPU records that CUPTI did not deliver,
 * begins without an end. Counts rows of GT_LOST and GT_UNMATCHED, and notes them in the header. */
#ifndef GT_LOST_ROWS_H
#define GT_LOST_ROWS_H
#include "analyze/core/report.h"

#define GT_LOST_STREAMS_MOST 8 /* streams with losses that have a note of their own */
/* Zero-initialised: nothing is lost. */
struct gt_lost_rows {
	uint64_t rows, count, unknown; /* rows of losses; lost events; losses of unknown size */
	struct gt_lost_stream {        /* a GPU stream whose records were lost */
		uint32_t track;
		uint64_t count;
		int64_t from;
	} streams[GT_LOST_STREAMS_MOST];
	uint32_t nstreams; /* may exceed the number of stored streams */
	/* by type: begins without an end, and ends without a begin; NULL: none */
	struct gt_unmatched_count {
		uint64_t begins, ends;
	} * unmatched;
};
/* Counts the rows of a block. 0 or -ENOMEM. */
int gt_lost_rows_add(struct gt_lost_rows *l, const struct gt_cols *cols, struct gt_err *err);
/* The same for rows of the same segment that `from` has counted. */
int gt_lost_rows_merge(struct gt_lost_rows *into, const struct gt_lost_rows *from,
	const struct gt_segment *seg, struct gt_err *err);
/* Notes what makes figures of the recording unreliable. */
void gt_lost_rows_note(const struct gt_lost_rows *l, const struct gt_report_state *a,
	const struct gt_segment *seg, struct gt_table *t);
void gt_lost_rows_release(struct gt_lost_rows *l); /* empties it */
#endif
