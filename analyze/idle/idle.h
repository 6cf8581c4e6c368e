/* The use of GPU time: each moment of a window is compute, or communication without compute, or
 * copies without both, or idle; and idle time has a cause. gt_idle_engine computes it once for all
 * reports that use it (budget, gaps, advice, ...), which find it in their options.
 *
 * The window of a recording is that of gpu_window.h. A GPU is one of the machine, which several
 * processes may share, if the trace shows that (shared_gpus.h). A gap is a time span in which a GPU
 * runs no operation. The operation that ends the gap decides its causes (of several that begin at
 * once, the one that was launched first): up to the end of the launching call, the causes are what
 * the launching thread did; after it, the operation was launched and had not started. Of a GPU that
 * several processes use, the gap before the first operation of another process is its start. Where
 * managed memory migrates, that is the cause (migrations.h). If a
 * process uses several GPUs, the time before its first operation gets causes on the GPU that begins
 * first; the other GPUs have no work yet. */
#ifndef GT_IDLE_H
#define GT_IDLE_H
#include "analyze/core/analysis.h"
#include "analyze/gpu/gpu_window.h"
#include "analyze/launch/queue_stalls.h"
#include "analyze/gpu/gpu_time.h"
#include "analyze/idle/host_activity.h"
#include "analyze/idle/host_shares.h"
#include "analyze/idle/migrations.h"
#include "analyze/columns/launch_fields.h"
#include "analyze/stats/name_interner.h"
#include "analyze/columns/process_slots.h"
#include "analyze/core/report.h"
#include "analyze/gpu/work_kind.h"

/* clang-format off */
#define GT_IDLE_CAUSES(X) /* enum, JSON key, text */ \
	X(CALL, "call", "in a CUDA call") \
	X(SYNC, "sync", "synchronising") \
	X(IOCTL, "ioctl", "in the driver") \
	X(MEMORY, "memory", "allocating or freeing memory") \
	X(MODULE, "module", "loading a module") \
	X(PAGEABLE, "pageable", "copying pageable memory") \
	X(FULL, "full_queue", "launching into a full queue") \
	X(OUTSIDE, "outside", "outside CUDA") \
	X(STARTING, "starting", "starting a process") \
	X(OFF_CPU, "off_cpu", "off the processor") \
	X(RUNNABLE, "runnable", "runnable but not running") \
	X(LOCK, "lock", "waiting for a lock") \
	X(GIL, "gil", "waiting for the GIL") \
	X(IO, "io", "waiting for input or output") \
	X(PIPE, "pipe", "reading from a pipe") \
	X(SOCKET, "socket", "reading from a socket") \
	X(ASLEEP, "asleep", "asleep") \
	X(FAULT, "page_fault", "in a page fault") \
	X(QUEUED, "queued", "launched, not started") \
	X(WAITING, "waiting", "waiting for another stream or event") \
	X(MIGRATION, "migration", "migrating managed memory") \
	X(OVERHEAD, "overhead", "profiler overhead") \
	X(START, "start", "no work yet in the window") \
	X(SHORT, "short", "gaps shorter than --min") \
	X(END, "end", "no further GPU work") \
	X(UNJOINED, "unjoined", "unknown: its launch is not recorded") \
	X(UNSEEN, "unseen", "unknown: calls were not recorded") \
	X(LOST, "lost", "unknown: records were lost") \
	X(TOO_MUCH, "too_much", "unknown: too many calls in the gap")
/* clang-format on */
enum gt_idle_cause {
#define X(e, key, words) GT_IDLE_##e,
	GT_IDLE_CAUSES(X)
#undef X
		GT_IDLE_CAUSE_COUNT
};
const char *gt_idle_key(unsigned cause);
const char *gt_idle_words(unsigned cause);

struct gt_idle_op { /* of the GPU */
	int64_t start, end;
	uint32_t stream, type; /* numbered over all segments */
	bool joined;
	bool waited_for_event;      /* its stream waited for an event before it */
	bool graph;                 /* it is a graph node */
	bool first;                 /* of its process */
	uint32_t thread;            /* track number of the launching thread, or GT_NONE */
	int64_t launched, returned; /* start and end of the launching call */
	/* id of its call stack in its segment, plus 1; 0: none. Of a graph node: of the call that
	 * created it */
	uint32_t stack;
};
struct gt_idle_gap {
	int64_t from, to;
	uint32_t device; /* track number */
	const struct gt_segment *seg;
	struct gt_idle_op next; /* the operation that ends it; start > to: none */
	uint32_t before;        /* type of the operation that ended last, or GT_NONE */
	/* the cause and type (or GT_NONE) with the most time in the gap, and this time in ns; if
	 * several have the same time, the first of the list above */
	enum gt_idle_cause cause;
	uint32_t type;
	int64_t slice;
};
/* type: GT_NONE if the cause has none */
struct gt_idle_sum {
	uint32_t cause, type; /* the key in sums_map */
	uint64_t ns, gaps;
	int64_t longest;
};
struct gt_idle_time {
	int64_t from, to;
};
struct gt_idle_device {
	const struct gt_segment *seg;
	/* number: counted over all segments; process: slot of its process */
	uint32_t track, number, process;
	uint64_t window, idle;
	/* ns; a moment counts for the first kind that runs */
	uint64_t kind[GT_WORK_KINDS];
	uint64_t migrating; /* ns of compute in which managed memory migrates */
	uint64_t cause[GT_IDLE_CAUSE_COUNT];
	uint64_t gaps;
	/* the longest exposed communication, and the longest gap; from == to: none */
	struct gt_idle_time longest_exposed, gap;
	/* the rest is private */
	struct gt_idle_time exposed_communication; /* the last exposed communication */
	bool first;                                /* the first device of its process */
	bool shared;                               /* used by several processes */
	struct gt_idle_running {
		int64_t at;                   /* the figures include the time up to here */
		int64_t kinds[GT_WORK_KINDS]; /* the latest end of an operation of that kind */
		/* the latest end of all operations, the name of that operation, and the latest
		 * end of operations with another name */
		int64_t last, others;
		uint32_t name;
	} running;
	/* `next` ends a gap, unless another operation begins at the same time */
	bool closing;
	int64_t gap_from, busy_to;
	uint32_t gap_before, before;
	struct gt_idle_op next;
};
struct gt_idle_name { /* all kernels, copies or sets with one name */
	const char *text;
	uint32_t len;
	/* exposed: ns in which no operation of another name ran on the GPU */
	uint64_t count, total, exposed;
	enum gt_work_kind kind;
};
/* A part of a gap with one cause. device: its track number; thread: of the launching thread, or
 * GT_NONE; call: start of the call of the thread, or `from` outside calls; gap: 0-based index of
 * the gap on its device; inner: the gap is between two operations, not at an end of the window;
 * unsure: GPU records were lost, so the GPU may have worked. The cause is what the thread did, also
 * while managed memory migrates. */
struct gt_idle_slice {
	const struct gt_segment *seg;
	uint32_t device, thread, cause, type;
	int64_t from, to, call;
	uint64_t gap;
	bool inner, unsure;
};
typedef void gt_idle_slice_fn(void *arg, const struct gt_idle_slice *slice);
typedef int gt_idle_gap_fn(void *arg, const struct gt_idle_gap *gap, struct gt_err *err);
/* Called for each operation, in order of start; borrowed. */
typedef int gt_idle_op_fn(
	void *arg, const struct gt_idle_device *d, const struct gt_idle_op *op, struct gt_err *err);

/* Callbacks during the computation. Each may be NULL. */
struct gt_idle_listener {
	gt_idle_gap_fn *gap;
	gt_idle_slice_fn *slice;
	gt_idle_op_fn *op;
	/* rows in the order of the file, before they are sorted */
	int (*rows)(void *arg, const struct gt_cols *cols, struct gt_err *err);
	/* the file is read a second time (queue_stalls.h), without calls of `rows`: discard the
	 * results of the first three */
	void (*restart)(void *arg);
	void *arg;
};
#define GT_IDLE_LISTENERS 4
#define GT_IDLE_GROUPED 4
#define GT_IDLE_DEVICES (1u << 14) /* 24 MiB, with the memory that advice needs for each */
#define GT_IDLE_STREAMS (1u << 16) /* 16 MiB */

struct gt_idle {
	struct gt_report_state report; /* first */
	int64_t min_ns;                /* option --min */
	struct gt_time_ordered order;
	struct gt_process_slots places;
	/* those with work; sorted in the order of the file by gt_idle_finish */
	struct gt_idle_device *devices;
	size_t ndevices, devices_cap;
	struct gt_idle_sum *sums; /* by cause and type, not sorted */
	size_t nsums, sums_cap;
	struct gt_idle_name *names;
	size_t nnames, names_cap;
	struct gt_idle_listener listeners[GT_IDLE_LISTENERS];
	unsigned nlisteners;
	bool has_gap_listener;
	struct gt_host_shares shares;
	struct gt_host_shares *grouped[GT_IDLE_GROUPED]; /* borrowed */
	unsigned ngrouped;
	struct gt_queue_stalls full;   /* a test may set its capacity after init */
	uint64_t begun;                /* operations of the current recording so far */
	uint64_t ops, unjoined;        /* operations; those without a known launch */
	struct gt_gpu_window *windows; /* by segment; not opened: it has no rows */
	/* the rest is private */
	struct gt_map sums_map;
	uint32_t last_sum[GT_IDLE_CAUSE_COUNT]; /* index in sums of the last part of each cause */
	struct gt_name_interner ids;            /* of names */
	/* by track number: the number of its device; 1 + index into devices */
	uint32_t *device_of, *slot_of_device;
	/* by type number */
	struct gt_idle_type {
		uint32_t name;
		uint8_t kind;
		bool known, pageable, graph;
	} * types;
	struct gt_host_activity **lines;   /* by track number; NULL: empty */
	struct gt_migrations **migrations; /* by track number of the device; NULL: none */
	/* likewise; waits: sorted times of its waits for events, after which no operation was
	 * launched yet; slot: of its device, or 0 */
	struct gt_idle_stream {
		int64_t last_launch, *waits;
		size_t first, nwaits, cap;
		struct gt_stall_stream full;
		uint32_t slot;
	} * *streams;
	/* of the current block: levels by code, set of levels that occur, type numbers by code */
	uint8_t *levels;
	uint32_t present;
	uint32_t *numbers;
	size_t levels_cap, numbers_cap, nintervals, drop_at;
	struct gt_idle_columns { /* by code of the current run */
		struct gt_launch_fields launch;
		const uint64_t *tids; /* of overhead: the threads that it delayed */
		const uint64_t *stacks;
		const uint64_t *periods; /* of samples; NULL: the rows are none */
		const uint64_t *holders; /* of waits for the GIL; NULL: the rows are none */
		uint32_t ntids, nstacks, nperiods, nholders, nth;
	} * columns;
	size_t columns_cap;
	/* by process slot: the time from which activity of its threads is needed; it has a device
	 */
	struct gt_idle_process {
		int64_t needed;
		bool works;
	} * processes;
	struct {
		uint32_t process;
		uint64_t tid;
		uint32_t track;
	} last_thread;
	/* a recording is too long, or there are too many GPUs or streams: there are no figures */
	bool too_wide, crowded;
	bool calls; /* calls were recorded in the current segment */
	/* of the current segment */
	struct gt_idle_loss {
		int64_t from, to, until;
		uint32_t track;
		uint8_t scope;
	} * losses;
	size_t nlosses, losses_cap;
	/* sorted by start; until: the latest end of a loss and those before it */
	bool losses_sorted;
	const struct gt_segment *seg;
	uint64_t block;
	size_t first_device; /* of the current segment; likewise the next two */
	struct gt_gpu_window *window;
	const struct gt_time_merge *timeline;
	/* the current gap */
	struct gt_idle_part {
		uint32_t cause, type;
		int64_t ns;
	} * parts;
	size_t nparts, parts_cap;
	struct gt_idle_device *cut_device;
	bool cut_inner, cut_unsure; /* members of its slices */
	bool cut_starting;          /* a process starts */
	struct gt_host_activity *cut_thread_activity;
	int64_t cut_to, cut_call; /* its end; start of the call that launched `next` */
	int64_t cut_in;           /* start of the call in which the thread is */
	uint32_t cut_thread;
};

/* `wants` of an analysis that uses the engine */
#define GT_IDLE_WANTS                                                                              \
	(GT_BIT(GT_GPU) | GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) |                    \
		GT_BIT(GT_INSTANT) | GT_BIT(GT_LOST))
int gt_idle_init(struct gt_idle *s, struct gt_reader *r, const struct gt_analysis_options *opt,
	struct gt_err *err);
/* after init and before the first block; GT_IDLE_LISTENERS at most */
void gt_idle_listen(struct gt_idle *s, const struct gt_idle_listener *l);
/* Likewise: computes s->shares, if the trace has samples or `all`. */
void gt_idle_want_shares(struct gt_idle *s, bool all);
/* Likewise: computes further shares, by group. `h` is initialised, has group_of, and is valid until
 * gt_idle_finish(); GT_IDLE_GROUPED at most. */
void gt_idle_add_grouped(struct gt_idle *s, struct gt_host_shares *h);
/* The samples of the launching thread in a gap; of a listener, during the call. *n: their number.
 */
const struct gt_idle_stack *gt_idle_gap_samples(
	const struct gt_idle *s, const struct gt_idle_gap *gap, size_t *n);
int gt_idle_block(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err);
/* call it after the last row; then the figures are complete */
int gt_idle_finish(struct gt_idle *s, struct gt_err *err);
/* compares two gt_idle_sum for qsort: the longest first */
int gt_idle_by_time(const void *a, const void *b);
void gt_idle_release(struct gt_idle *s);
/* Why there are no figures, or NULL. Call it after gt_idle_finish. */
const char *gt_idle_why_unanswered(const struct gt_idle *s);
/* notes rows that could not be sorted by time */
void gt_idle_note_late(const struct gt_idle *s, struct gt_table *t);
/* notes the number of gaps and their time; and calls gt_idle_note_late */
void gt_idle_note_gaps(const struct gt_idle *s, struct gt_table *t);
/* notes how much of the recording is outside the window */
void gt_idle_note_outside(const struct gt_idle *s, struct gt_table *t);
/* notes that causes may be unknown because of --to */
void gt_idle_note_cut(const struct gt_idle *s, struct gt_table *t);
extern const struct gt_analysis gt_idle_engine; /* makes no tables */
#endif
