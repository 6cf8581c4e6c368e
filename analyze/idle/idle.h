/* Where the time of GPUs went: each moment of a window is computing, or communicating with nothing
 * computing, or copying with neither, or idle; and idle time has a cause. What the reports
 * `budget`, `gaps` and `advice` share: it is worked out once, by gt_idle_engine, which takes part
 * in a run where one of them does, and which they find in their options.
 *
 * The window of a recording is that of gpu_window.h. A GPU is one of the machine, which several
 * processes may share, as far as that is known (shared_gpus.h). A gap is a stretch in which a GPU
 * runs nothing. It is cut along the timeline of the thread that issued the next operation there (of
 * several that begin at once, the one that was launched first): up to the end of the call that
 * launched it, each slice is what that thread was doing; from then on the operation was launched
 * and had not started. Of a process that uses several GPUs the time before the first operation is
 * cut for the GPU that begins first; another one has no work yet until its own first one. */
#ifndef GT_IDLE_H
#define GT_IDLE_H
#include "analyze/core/analysis.h"
#include "analyze/gpu/gpu_window.h"
#include "analyze/launch/queue_stalls.h"
#include "analyze/gpu/gpu_time.h"
#include "analyze/idle/host_activity.h"
#include "analyze/columns/launch_fields.h"
#include "analyze/stats/name_interner.h"
#include "analyze/columns/process_slots.h"
#include "analyze/core/report.h"
#include "analyze/gpu/work_kind.h"

/* clang-format off */
#define GT_IDLE_CAUSES(X) /* enum, key in json, words */ \
	X(CALL, "call", "in a call") \
	X(SYNC, "sync", "synchronising") \
	X(IOCTL, "ioctl", "in the driver") \
	X(MEMORY, "memory", "allocating or freeing memory") \
	X(MODULE, "module", "loading a module") \
	X(PAGEABLE, "pageable", "copying pageable memory") \
	X(FULL, "full_queue", "launching into a full queue") \
	X(OUTSIDE, "outside", "outside CUDA") \
	X(OFF_CPU, "off_cpu", "off the processor") \
	X(QUEUED, "queued", "launched, not started") \
	X(WAITING, "waiting", "waiting for another stream or event") \
	X(OVERHEAD, "overhead", "held up by the profiler") \
	X(START, "start", "no work yet in the window") \
	X(SHORT, "short", "gaps shorter than --min") \
	X(END, "end", "no more work in the window") \
	X(UNJOINED, "unjoined", "unknown: the launch is not known") \
	X(UNSEEN, "unseen", "unknown: calls were not recorded") \
	X(LOST, "lost", "unknown: records were lost") \
	X(TOO_MUCH, "too_much", "unknown: more calls in a gap than are kept")
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
	bool waited;                /* behind an event that its stream had to wait for */
	bool graph;                 /* a node of one */
	uint32_t thread;            /* number of the track that launched it, or GT_NONE */
	int64_t launched, returned; /* the call that did */
};
struct gt_idle_gap {
	int64_t from, to;
	uint32_t device; /* track number */
	const struct gt_segment *seg;
	struct gt_idle_op next; /* start > to: there was none */
	uint32_t before;        /* type of the operation that ended last, or GT_NONE */
	/* of its longest slice; of several as long the first in the list above */
	enum gt_idle_cause cause;
	uint32_t type; /* of what went on in that slice, or GT_NONE */
	/* how long that was, ns: all slices of that cause and type */
	int64_t slice;
};
/* type: GT_NONE where it does not matter */
struct gt_idle_sum {
	uint32_t cause, type;
	uint64_t ns, gaps;
	int64_t longest;
};
struct gt_idle_time {
	int64_t from, to;
};
struct gt_idle_device {
	const struct gt_segment *seg;
	uint32_t track, number, process; /* number over all segments; slot of its process */
	uint64_t window, idle;
	/* ns, each moment once: the first kind of those that run */
	uint64_t kind[GT_WORK_KINDS];
	uint64_t cause[GT_IDLE_CAUSE_COUNT];
	uint64_t gaps;
	/* the longest: of communication while nothing computes, of its gaps; from == to: none */
	struct gt_idle_time talk, gap;
	/* the rest is private */
	struct gt_idle_time talking; /* the last of the former */
	bool first;                  /* of its process */
	bool shared;                 /* by other processes */
	struct gt_idle_running {
		int64_t at;                   /* up to where its time is in the figures */
		int64_t kinds[GT_WORK_KINDS]; /* the latest end of an operation of that kind */
		/* the latest end of all; of those with another name than that one has */
		int64_t last, others;
		uint32_t name; /* which is this */
	} running;
	/* a gap that `next` ends, unless another one begins at the same time */
	bool closing;
	int64_t gap_from, busy_to;
	uint32_t gap_before, before;
	struct gt_idle_op next;
};
struct gt_idle_name { /* of a kernel, copy or set: all types with one name */
	const char *text;
	uint32_t len;
	/* exposed: ns in which nothing of another name ran on its GPU */
	uint64_t count, total, exposed;
	enum gt_work_kind kind;
};
/* A part of a gap that had one cause. device: number of its track; thread: of the issuing thread's,
 * or GT_NONE; call: when what it was in began, where it was in something; gap: the how manieth gap
 * of its device it is of; inner: that lies between two operations, not at an end of the window;
 * unsure: records of the GPU were lost, it may have worked. */
struct gt_idle_slice {
	const struct gt_segment *seg;
	uint32_t device, thread, cause, type;
	int64_t from, to, call;
	uint64_t gap;
	bool inner, unsure;
};
typedef void gt_idle_slice_fn(void *arg, const struct gt_idle_slice *slice);
typedef int gt_idle_gap_fn(void *arg, const struct gt_idle_gap *gap, struct gt_err *err);
/* Each operation, by its start; borrowed. */
typedef int gt_idle_op_fn(
	void *arg, const struct gt_idle_device *d, const struct gt_idle_op *op, struct gt_err *err);

/* Who hears of it while it is worked out. Each may be NULL. */
struct gt_idle_listener {
	gt_idle_gap_fn *gap;
	gt_idle_slice_fn *slice;
	gt_idle_op_fn *op;
	/* as they come, before they are put in order */
	int (*rows)(void *arg, const struct gt_cols *cols, struct gt_err *err);
	/* all is read once more (full_queue.h), but for `rows`: forget what the first three said */
	void (*again)(void *arg);
	void *arg;
};
#define GT_IDLE_LISTENERS 4
#define GT_IDLE_DEVICES (1u << 14) /* with what advice keeps of each, in 24 MiB */
#define GT_IDLE_STREAMS (1u << 16) /* in 16 MiB */

struct gt_idle {
	struct gt_report_state asked; /* first */
	struct gt_time_ordered order;
	struct gt_process_slots places;
	/* those with work; in order of the file when it is finished */
	struct gt_idle_device *devices;
	size_t ndevices, devices_cap;
	struct gt_idle_sum *sums; /* by cause and type, in no order */
	size_t nsums, sums_cap;
	struct gt_idle_name *names;
	size_t nnames, names_cap;
	struct gt_idle_listener listeners[GT_IDLE_LISTENERS];
	unsigned nlisteners;
	bool gaps_heard;               /* by one of them */
	struct gt_full_queue full;     /* its room may be set after init */
	uint64_t begun;                /* operations of the recording at hand, so far */
	uint64_t ops, unjoined;        /* operations; those that no known call launched */
	struct gt_gpu_window *windows; /* by segment; not opened: it has no rows */
	/* the rest is private */
	struct gt_map sums_map;
	uint32_t last_sum[GT_IDLE_CAUSE_COUNT]; /* in sums; to look at first */
	struct gt_name_interner ids;            /* of names */
	/* by track number: its device's; 1 + index into devices */
	uint32_t *device_of, *slot_of_device;
	/* by type number */
	struct gt_idle_type {
		uint32_t name;
		uint8_t kind;
		bool known, pageable, graph;
	} * types;
	struct gt_host_line **lines; /* by track number; NULL: nothing of it is kept */
	/* likewise; waits: when it was told to wait, by time, that no operation was launched behind
	 * so far; slot: its device's, or 0 */
	struct gt_idle_stream {
		int64_t last_launch, *waits;
		size_t first, nwaits, cap;
		struct gt_full_stream full;
		uint32_t slot;
	} * *streams;
	/* of the block at hand: levels by code, and which there are; numbers of types by code */
	uint8_t *levels;
	uint32_t present;
	uint32_t *numbers;
	size_t levels_cap, numbers_cap, kept, forget_at;
	struct gt_idle_columns { /* by code of the run at hand */
		struct gt_launch_fields launch;
		const uint64_t *tids; /* overhead: the threads that it held up */
		uint32_t ntids, nth;
	} * columns;
	size_t columns_cap;
	/* by slot: from when on its lines are; has a device */
	struct gt_idle_process {
		int64_t needed;
		bool works;
	} * processes;
	struct {
		uint32_t process;
		uint64_t tid;
		uint32_t track;
	} last_thread;
	/* a recording is longer than time is kept for: there is no answer */
	bool too_wide;
	/* likewise: there are more GPUs, or streams, than there is memory for */
	bool crowded;
	bool calls; /* were recorded in the segment at hand */
	/* of the segment at hand */
	struct gt_idle_loss {
		int64_t from, to, until;
		uint32_t track;
		uint8_t scope;
	} * losses;
	size_t nlosses, losses_cap;
	/* by their start; until: the last end of it and those before */
	bool losses_ordered;
	const struct gt_segment *seg;
	uint64_t block;
	size_t first_device;                  /* of the segment at hand */
	struct gt_gpu_window *window;         /* its own, among all */
	const struct gt_time_merge *timeline; /* likewise */
	/* the gap at hand */
	struct gt_idle_part {
		uint32_t cause, type;
		int64_t ns;
	} * parts;
	size_t nparts, parts_cap;
	struct gt_idle_device *cutting;
	bool cutting_inner, cutting_unsure; /* of its slices */
	const struct gt_host_line *cutting_line;
	int64_t cutting_to, cutting_call; /* the call that launched what ends it began then */
	/* likewise what the thread is in, where it is in something */
	int64_t cutting_in;
	uint32_t cutting_thread;
};

/* `wants` of an analysis that uses it. Who has one of its own asks for arguments, too, and for
 * GT_BY_TIME. */
#define GT_IDLE_WANTS                                                                              \
	(GT_BIT(GT_GPU) | GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) | GT_BIT(GT_LOST))
int gt_idle_init(struct gt_idle *s, struct gt_reader *r, const struct gt_analysis_options *opt,
	struct gt_err *err);
/* after init and before the first block; GT_IDLE_LISTENERS at most */
void gt_idle_listen(struct gt_idle *s, const struct gt_idle_listener *l);
int gt_idle_block(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err);
/* no more rows: figures may be read */
int gt_idle_finish(struct gt_idle *s, struct gt_err *err);
/* of two gt_idle_sum, for qsort: the longest first */
int gt_idle_by_time(const void *a, const void *b);
void gt_idle_release(struct gt_idle *s);
/* Why there is no answer, or NULL. After gt_idle_finish. */
const char *gt_idle_cannot(const struct gt_idle *s);
/* says so where rows could not be put in order */
void gt_idle_note_late(const struct gt_idle *s, struct gt_table *t);
/* how many there are, what they come to; and the same */
void gt_idle_note_gaps(const struct gt_idle *s, struct gt_table *t);
/* how much of the recording the window leaves out, if it does */
void gt_idle_note_outside(const struct gt_idle *s, struct gt_table *t);
/* that --to leaves causes unknown, where it may */
void gt_idle_note_cut(const struct gt_idle *s, struct gt_table *t);
extern const struct gt_analysis gt_idle_engine; /* makes no tables */
#endif
