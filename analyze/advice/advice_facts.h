/* What the rules of advice_rules.c are about: idle time by cause with an example of each, long
 * gaps, streams that took turns, and what copies, sets and waits there were, gathered in one pass
 * over the rows; and in a second one, for which the window must be known, how busy GPUs were along
 * it, their clocks, and memory. "Late" is what happened when more than half of the GPU operations
 * of the recording had begun, and all of a range that was asked for: a program that repeats itself
 * has long begun to do so then. */
#ifndef GT_ADVICE_FACTS_H
#define GT_ADVICE_FACTS_H
#include "analyze/idle/idle.h"
#include "analyze/memory/leaks.h"
#include "analyze/advice/stream_serialization.h"
#include "analyze/advice/utilisation.h"

/* bytes: below that a copy's own time is mostly the way to it */
#define GT_SMALL_COPY 65536u

#define GT_LARGE_GAP 500000000ll /* ns: Nsight's, unless told */

struct gt_cause_facts {
	uint64_t ns, late_ns, slices, late_slices;
	struct gt_evidence longest, latest_longest;
};
struct gt_copy_facts {
	uint64_t n, ns, bytes;
	struct gt_evidence longest;
};
/* Gaps between two operations. What was lost, and what the profiler did, divides them and is no
 * part. */
struct gt_gap_facts {
	uint64_t n, ns;
	struct gt_evidence longest;
	uint32_t cause; /* of most of the longest */
};

struct gt_advice_facts {
	struct gt_idle *idle;
	struct gt_cause_facts causes[GT_IDLE_CAUSE_COUNT];
	struct gt_cause_facts launching; /* of GT_IDLE_CALL, the calls that launch */
	struct gt_copy_facts copies, small, pageable, pageable_async, blocking, sets_blocking;
	uint64_t syncs;           /* calls that synchronise */
	struct gt_gap_facts gaps; /* longer than was asked for */
	/* ns of idle time in which a GPU may have worked: its records were lost */
	uint64_t unsure;
	struct gt_serial serial;
	struct gt_windowed windowed;
	struct gt_leaks leaks;
	struct gt_leaks_sum leak; /* when it is finished */
	int64_t least;            /* ns: gaps are not counted up to that */
	/* the gap at hand, if at.seg is not NULL: up to `at.to`, and for how long it had which
	 * cause, of those in `had` (bits) */
	struct {
		struct gt_evidence at;
		uint64_t nth, causes[GT_IDLE_CAUSE_COUNT];
		uint32_t had;
	} gap;
};

/* which have idle time; it listens from now on */
void gt_advice_facts_init(struct gt_advice_facts *f, const struct gt_analysis_options *opt);
/* No more rows: reads the trace again, if the report was asked for by its name. */
int gt_advice_facts_finish(struct gt_advice_facts *f, struct gt_err *err);
void gt_advice_facts_release(struct gt_advice_facts *f);
#endif
