/* The chain of calls, GPU work and waiting that bounds a process' run: what each of them waited
 * for, and, followed back from the end of the last GPU operation to the start of the first one, one
 * thing for each moment of that window. chain.c says how. */
#ifndef GT_CHAIN_H
#define GT_CHAIN_H
#include "analyze/gpu/gpu_window.h"
#include "analyze/order/time_ordered.h"
#include "analyze/critical/event_store.h"
#include "analyze/columns/process_slots.h"
#include "analyze/core/report.h"

enum gt_chain_kind {
	GT_CHAIN_COMPUTE,
	GT_CHAIN_COMMUNICATION,
	GT_CHAIN_COPY,    /* as enum gt_work_kind */
	GT_CHAIN_CALL,    /* in a call */
	GT_CHAIN_QUEUE,   /* launched, but not started */
	GT_CHAIN_OUTSIDE, /* between two calls of a thread */
	GT_CHAIN_UNKNOWN, /* work of no known launch, or rows were lost there */
	GT_CHAIN_KINDS
};
struct gt_chain_piece {
	enum gt_chain_kind kind;
	bool likely; /* that it is part of the chain is likely, not certain */
	/* numbers of gt_time_ordered: a thread or stream; the call or work, or, where it is
	 * neither, what came next */
	uint32_t track, type;
	int64_t start, end; /* ns; end > start */
};
typedef int gt_chain_fn(void *arg, const struct gt_chain_piece *piece, struct gt_err *err);
/* Many pieces at once: calls of a thread, one after the other, and what lies between them outside
 * CUDA. False: each for itself, please. */
typedef bool gt_chain_many_fn(void *arg, uint32_t track, const struct gt_link_gist *calls);

struct gt_chain_line {          /* a thread or a stream */
	uint32_t track, device; /* numbers; device: itself where there is none above it */
	uint32_t place;
	bool stream;
	struct gt_links rows; /* outermost calls, or work; by start */
	/* of a thread: what its calls waited for; of a stream: when it was told to wait for an
	 * event */
	struct gt_links waits;
	int64_t last, cover;   /* start of the last row, the latest end */
	struct gt_chain_held { /* calls before which others may still come; by their start */
		int64_t *start, *end;
		uint32_t *type, *by; /* by: that nothing launched them, as a store wants it */
		size_t n, cap;
	} held;
	/* while times without something are computed: rows that have begun */
	uint32_t done;
	bool settled; /* and the end of the last of these is known */
};
struct gt_chain_process {
	const struct gt_segment *seg;
	uint32_t track; /* GT_NONE: none */
	uint64_t ops, unjoined, by_order;
	int64_t from, to; /* the window; ops is 0: there is none */
	uint32_t *lines;  /* its threads and streams */
	size_t nlines, lines_cap;
};
struct gt_chain {
	struct gt_report_state asked;
	struct gt_time_ordered order;
	struct gt_process_slots where;
	struct gt_link_store store;
	struct gt_chain_process *processes; /* one for each of where's places */
	struct gt_chain_line *lines;
	size_t nlines, lines_cap;
	uint32_t *slot;                     /* by track number: 1 + line */
	uint8_t *roles;                     /* by type number; 0: not looked at yet */
	uint32_t *codes;                    /* of the block at hand */
	struct gt_chain_launches *launches; /* by code, of the run at hand */
	size_t codes_cap, launches_cap;
	/* reach: the latest end so far */
	struct gt_chain_lost {
		uint32_t segment, track;
		int64_t start, end, reach;
	} * lost;
	size_t nlost, lost_cap;
	/* of all lines: how many are, and how many there is room for */
	size_t nheld, held_room;
	const struct gt_segment *held_of;
	/* rows left out: too late for their place; calls that begin in one and end behind it */
	uint64_t late, crossing;
	bool too_many; /* threads and streams: there is no answer */
};

/* without: times without something will be asked for. */
int gt_chain_init(struct gt_chain *c, struct gt_reader *r, const struct gt_analysis_options *opt,
	bool without, struct gt_err *err);
/* GT_BY_TIME, with arguments */
int gt_chain_block(struct gt_chain *c, const struct gt_cols *cols, struct gt_err *err);
#define GT_CHAIN_WANTS                                                                             \
	(GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_GPU) | GT_BIT(GT_SPAN) | GT_BIT(GT_LOST))
/* No more blocks: windows are known, and the functions below may be called. */
int gt_chain_finish(struct gt_chain *c, struct gt_err *err);
/* Hands out the pieces of a process with a window, the last one first. They touch, and cover the
 * window. */
int gt_chain_walk(struct gt_chain *c, const struct gt_chain_process *p, gt_chain_fn *fn,
	gt_chain_many_fn *many, void *arg, struct gt_err *err);
/* ns[type number] += time of the process' outermost calls and work within its window: sums, not
 * unions. */
int gt_chain_sums(
	struct gt_chain *c, const struct gt_chain_process *p, uint64_t *ns, struct gt_err *err);
/* How long the window would be if rows of the types that are set took no time, and all else as long
 * as it did. */
int gt_chain_without(struct gt_chain *c, const struct gt_chain_process *p, const bool *types,
	uint64_t *ns, struct gt_err *err);
void gt_chain_release(struct gt_chain *c);

/* ---- what is waited for (chain.c, used by chain_without.c, too) ---- */

enum gt_chain_what {
	GT_CHAIN_NOTHING /* is known */,
	GT_CHAIN_BEFORE /* the time that was looked at */,
	GT_CHAIN_WORK,
	GT_CHAIN_RETURN /* of a call */,
	GT_CHAIN_WITHIN /* a call: what waits began in it */
};
struct gt_chain_source {
	enum gt_chain_what what;
	uint32_t line, index;
	int64_t at; /* ns: when it let go; WITHIN: when the call began */
	bool likely;
};
struct gt_chain_sources {
	struct gt_chain_source launch, before, other, last;
};
/* All that work waits for: its launch, the work before it on its stream, and work of another
 * stream; last: the one of them that let go last. */
void gt_chain_of_work(struct gt_chain *c, uint32_t line, uint32_t index, const struct gt_link *work,
	struct gt_chain_sources *s);
/* The start of a call: the call before it (RETURN), unless another thread's let it go
 * (last.likely). */
void gt_chain_of_call(struct gt_chain *c, uint32_t line, uint32_t index, const struct gt_link *call,
	struct gt_chain_sources *s);
/* How far a call waits: 0 not at all. */
struct gt_chain_waiting {
	bool waits, own, any_own, likely;
	uint32_t scope;
};
struct gt_chain_waiting gt_chain_waiting(
	struct gt_chain *c, const struct gt_chain_line *thread, const struct gt_link *call);
/* The last work of a stream that such a call waited for and that ended within it: WORK or NOTHING.
 */
struct gt_chain_source gt_chain_awaited(struct gt_chain *c, const struct gt_chain_line *thread,
	const struct gt_link *call, struct gt_chain_waiting w, uint32_t stream);
#endif
