/* The critical path of a process: calls, GPU work and waits, each waiting for the one before it,
 * from the end of the last GPU operation back to the start of the first one. It has exactly one
 * piece for each moment of this window. critical_graph.c describes the rules. */
#ifndef GT_CRITICAL_GRAPH_H
#define GT_CRITICAL_GRAPH_H
#include "analyze/gpu/gpu_window.h"
#include "analyze/order/time_ordered.h"
#include "analyze/critical/event_store.h"
#include "analyze/columns/process_slots.h"
#include "analyze/core/report.h"

enum gt_critical_kind {
	GT_CRITICAL_COMPUTE,
	GT_CRITICAL_COMMUNICATION,
	GT_CRITICAL_COPY,    /* as enum gt_work_kind */
	GT_CRITICAL_CALL,    /* a thread is in a call */
	GT_CRITICAL_QUEUE,   /* work is launched, but has not started */
	GT_CRITICAL_OUTSIDE, /* between two calls of a thread */
	GT_CRITICAL_UNKNOWN, /* before work without a known launch, or rows were lost */
	GT_CRITICAL_KINDS
};
struct gt_critical_piece {
	enum gt_critical_kind kind;
	bool likely; /* it is linked by an inferred dependency */
	/* numbers of gt_time_ordered: a thread or stream; the type of the call or work, or of the
	 * next one if the piece is a wait */
	uint32_t track, type;
	int64_t start, end; /* ns; end > start */
};
typedef int gt_critical_fn(void *arg, const struct gt_critical_piece *piece, struct gt_err *err);
/* Many pieces at once: consecutive calls of a thread, and the time outside CUDA between them.
 * False: the walk hands out each piece by itself. */
typedef bool gt_critical_calls_fn(void *arg, uint32_t track, const struct gt_event_digest *calls);

/* A thread or a stream. A line is identified by its index in gt_critical.lines. */
struct gt_critical_line {
	uint32_t track, device; /* track numbers; device: its own if it has no device */
	uint32_t place;
	bool stream;
	struct gt_event_list rows; /* outermost calls, or work; by start */
	/* of a thread: the waits of its calls; of a stream: the moments from which it waits for an
	 * event */
	struct gt_event_list waits;
	int64_t last, cover; /* start of the last row; latest end of all rows */
	/* calls by start, to which the next block of the thread may add earlier ones */
	struct gt_critical_pending {
		int64_t *start, *end;
		uint32_t *type, *by; /* by: always BY_NONE */
		size_t n, cap;
	} pending;
	/* state of gt_critical_time_without: the number of rows that have begun */
	uint32_t done;
	bool last_ended; /* the end of the last one is known */
};
struct gt_critical_process {
	const struct gt_segment *seg;
	uint32_t track; /* GT_NONE: none */
	uint64_t ops, unjoined, by_order;
	int64_t from, to; /* the window, if ops > 0 */
	uint32_t *lines;  /* its threads and streams */
	size_t nlines, lines_cap;
};
struct gt_critical {
	struct gt_report_state report;
	struct gt_time_ordered order;
	struct gt_process_slots where;
	struct gt_event_store store;
	struct gt_critical_process *processes; /* one for each of where's places */
	struct gt_critical_line *lines;
	size_t nlines, lines_cap;
	uint32_t *slot;                        /* by track number: 1 + line */
	uint8_t *roles;                        /* by type number; 0: not computed yet */
	uint32_t *codes;                       /* type numbers by code, of the current block */
	struct gt_critical_launches *launches; /* by code, of the current run */
	size_t codes_cap, launches_cap;
	/* reach: the latest end so far */
	struct gt_critical_loss {
		uint32_t segment, track;
		int64_t start, end, reach;
	} * lost;
	size_t nlost, lost_cap;
	/* pending calls of all lines: their number and capacity, and their segment */
	size_t npending, pending_cap;
	const struct gt_segment *pending_of;
	/* rows left out: they came too late to be sorted; calls that overlap the end of another */
	uint64_t late, crossing;
	bool too_many; /* threads and streams; there is no path */
};

int gt_critical_init(struct gt_critical *c, struct gt_reader *r,
	const struct gt_analysis_options *opt, struct gt_err *err);
/* GT_BY_TIME, with arguments */
int gt_critical_block(struct gt_critical *c, const struct gt_cols *cols, struct gt_err *err);
#define GT_CRITICAL_WANTS                                                                          \
	(GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_GPU) | GT_BIT(GT_SPAN) | GT_BIT(GT_LOST))
/* Call it after the last block; then the windows are known. The functions below need it. */
int gt_critical_finish(struct gt_critical *c, struct gt_err *err);
/* Hands out the pieces of a process with a window, the last one first. They cover the window
 * without gaps. */
int gt_critical_walk(struct gt_critical *c, const struct gt_critical_process *p, gt_critical_fn *fn,
	gt_critical_calls_fn *many, void *arg, struct gt_err *err);
/* ns[type number] += duration of the process' outermost calls and work in its window. Overlapping
 * rows count in full. */
int gt_critical_sum_types(struct gt_critical *c, const struct gt_critical_process *p, uint64_t *ns,
	struct gt_err *err);
/* The length of the window if rows of the types that are set took no time, and all other rows as
 * long as they did. */
int gt_critical_time_without(struct gt_critical *c, const struct gt_critical_process *p,
	const bool *types, uint64_t *ns, struct gt_err *err);
void gt_critical_release(struct gt_critical *c);

/* ---- dependencies ---- */

enum gt_dependency_kind {
	GT_DEPENDS_ON_NOTHING,   /* no dependency is known */
	GT_DEPENDS_ON_EARLIER,   /* it ended before the range */
	GT_DEPENDS_ON_WORK,      /* the end of work */
	GT_DEPENDS_ON_RETURN,    /* the end of a call */
	GT_DEPENDS_ON_CALL_START /* the start of a call that has not ended */
};
struct gt_dependency {
	enum gt_dependency_kind what;
	uint32_t line, index;
	int64_t at; /* ns: its end; CALL_START: the start of the call */
	bool likely;
};
struct gt_dependencies {
	struct gt_dependency launch, before, other, last;
};
/* What work depends on: its launch, the work before it on its stream, and work of another stream;
 * last: the one of them that ended last. */
void gt_dependencies_of_work(struct gt_critical *c, uint32_t line, uint32_t index,
	const struct gt_stored_event *work, struct gt_dependencies *s);
/* What the start of a call depends on: the call before it on its thread, or a call of another
 * thread (last.likely). */
void gt_dependencies_of_call(struct gt_critical *c, uint32_t line, uint32_t index,
	const struct gt_stored_event *call, struct gt_dependencies *s);
/* How a call waits. own: for the work that it launched, else for earlier work; any_own: for all
 * of it, else for copies to pageable memory only; likely: that it waits is likely, not certain;
 * scope: number of the track whose work it waits for, GT_NONE: of the process. */
struct gt_critical_wait {
	bool waits, own, any_own, likely;
	uint32_t scope;
};
struct gt_critical_wait gt_critical_wait_of(struct gt_critical *c,
	const struct gt_critical_line *thread, const struct gt_stored_event *call);
/* The last work of a stream for which the call waited and which ended during it: WORK or NOTHING.
 */
struct gt_dependency gt_critical_awaited_work(struct gt_critical *c,
	const struct gt_critical_line *thread, const struct gt_stored_event *call,
	struct gt_critical_wait w, uint32_t stream);
#endif
