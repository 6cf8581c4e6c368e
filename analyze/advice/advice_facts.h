/* The input of the rules (advice_rules.c). A first reading collects idle time by cause with an
 * example of each, long gaps, serialized streams, copies, sets and waits. A second reading, which
 * needs the window, collects utilisation and clocks of the GPUs over time, and memory. An event is
 * late if more than half of the GPU operations of the recording have begun before it, or if a range
 * is selected: a loop is running then. */
#ifndef GT_ADVICE_FACTS_H
#define GT_ADVICE_FACTS_H
#include "analyze/gpu/collectives.h"
#include "analyze/idle/idle.h"
#include "analyze/memory/leaks.h"
#include "analyze/advice/preemptions.h"
#include "analyze/steps/slow_lines.h"
#include "analyze/advice/stream_serialization.h"
#include "analyze/advice/utilisation.h"
#include "analyze/advice/waiting_lines.h"

/* bytes: the time of a smaller copy is mostly overhead */
#define GT_SMALL_COPY 65536u

#define GT_LARGE_GAP 500000000ll /* ns: the default, as in Nsight Systems */

struct gt_cause_facts {
	uint64_t ns, late_ns, slices, late_slices;
	struct gt_evidence longest, latest_longest;
};
struct gt_copy_facts {
	uint64_t n, ns, bytes;
	struct gt_evidence longest;
};
/* Gaps between two operations. Lost records and profiler overhead divide a gap, and are not part of
 * it. */
struct gt_gap_facts {
	uint64_t n, ns;
	struct gt_evidence longest;
	uint32_t cause; /* main cause of the longest */
};

struct gt_advice_facts {
	struct gt_idle *idle;
	struct gt_cause_facts causes[GT_IDLE_CAUSE_COUNT];
	struct gt_cause_facts launching; /* the part of GT_IDLE_CALL in calls that launch */
	struct gt_copy_facts copies, small, pageable, pageable_async, blocking, sets_blocking;
	uint64_t syncs; /* calls that synchronise */
	/* those in which a GPU is idle; the last of them */
	uint64_t idle_syncs;
	struct {
		uint32_t thread;
		int64_t start;
	} idle_sync;
	/* by type, numbered over all segments: calls that synchronise or launch; NULL: none yet */
	uint64_t *calls;
	uint64_t launches;        /* calls that launch */
	uint64_t graph_launches;  /* of these, whole graphs */
	uint64_t migrated_ns;     /* ns of migrations of managed memory */
	struct gt_gap_facts gaps; /* longer than --gap */
	/* ns of idle time in which a GPU may have worked, because its records were lost */
	uint64_t unsure;
	struct gt_serialization serial;
	struct gt_collectives collectives;
	struct gt_preemptions preemptions;
	struct gt_utilisation utilisation;
	struct gt_leaks leaks;
	struct gt_leaks_sum leak;       /* set by gt_advice_facts_finish */
	struct gt_host_waiting waiting; /* likewise */
	/* of the main loop; nslow 0: steady steps are not known, or none is slow */
	struct gt_slow_lines slow;
	struct gt_step_shares steps; /* likewise; initialised if is_by_step */
	bool is_by_step;
	int64_t least; /* ns: shorter gaps are not counted */
	/* the current gap up to `at.to`, if at.seg is not NULL; ns by cause, valid for the causes
	 * in `had` (bits) */
	struct {
		struct gt_evidence at;
		uint64_t nth, causes[GT_IDLE_CAUSE_COUNT];
		uint32_t had;
	} gap;
};

/* opt->idle is the engine; registers the callbacks */
void gt_advice_facts_init(struct gt_advice_facts *f, const struct gt_analysis_options *opt);
/* After the last row: reads the trace a second time. */
int gt_advice_facts_finish(struct gt_advice_facts *f, struct gt_err *err);
void gt_advice_facts_release(struct gt_advice_facts *f);
#endif
