/* Samples of threads as rows: what a thread executed at a moment, while it ran.
 *
 * Rows: each is a GT_INSTANT on the track of the thread that has its calls, if there is one, layer
 * sched, op sample, with the fields period (ns of processor time that the sample stands for) and
 * stack. Without a stack, the type has no such field. */
#ifndef GT_SAMPLE_ROWS_H
#define GT_SAMPLE_ROWS_H
#include "formats/trace/write/writer.h"

/* The types of one writer. */
struct gt_sample_types {
	struct gt_writer *w;
	uint32_t plain, stacked;
};

/* Makes all types. 0 or -ENOMEM. */
int gt_sample_types_init(struct gt_sample_types *t, struct gt_writer *w, struct gt_err *err);
/* Writes a row on the track of a thread. at: ns. period: ns. stack: of the file, or GT_NONE. 0 or
 * negative. */
int gt_sample_put(const struct gt_sample_types *t, uint32_t track, int64_t at, uint64_t period,
	uint32_t stack, struct gt_err *err);
#endif
