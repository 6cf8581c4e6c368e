/* The idle time of GPUs by what the launching threads did, and by call stack. idle_causes.c divides
 * a gap into slices with one cause each; this divides the slices further:
 * - outside CUDA: by the samples of the thread in these slices (statistical). If switches of
 * threads were recorded, the thread ran all that time, and the samples divide all of it. Otherwise
 * a sample stands for its period, and the rest of the time is not known: the thread may have
 * waited.
 * - waits: exact, by the stack of the wait if it was read
 * - CUDA calls: exact, by the stack of the call
 * Besides it counts all samples of each stack, in a table of its own: the processor time of the
 * host.
 *
 * A moment that is idle on several GPUs counts once for each, and so do the samples in it. */
#ifndef GT_HOST_SHARES_H
#define GT_HOST_SHARES_H
#include "analyze/stats/group_table.h"
#include "formats/trace/read/reader.h"

/* clang-format off */
#define GT_HOST_DOINGS(X) /* enum, JSON key, text */ \
	X(PYTHON, "python", "running Python") \
	X(NATIVE, "native", "running native code") \
	X(RUNNING, "running", "running, without a stack") \
	X(OUTSIDE, "outside", "outside CUDA, not sampled") \
	X(GIL, "gil", "waiting for the GIL") \
	X(LOCK, "lock", "waiting for a lock") \
	X(IO, "io", "waiting for input or output") \
	X(PIPE, "pipe", "reading from a pipe") \
	X(SOCKET, "socket", "reading from a socket") \
	X(ASLEEP, "asleep", "asleep") \
	X(FAULT, "page_fault", "in a page fault") \
	X(RUNNABLE, "runnable", "runnable but not running") \
	X(OFF_CPU, "off_cpu", "off the processor") \
	X(IN_CUDA, "cuda", "in CUDA calls") \
	X(FURTHER, "further", "other") \
	X(NOTHING, "nothing", "not the host")
/* clang-format on */
enum gt_host_doing {
#define X(e, key, words) GT_DOES_##e,
	GT_HOST_DOINGS(X)
#undef X
		GT_HOST_DOING_COUNT
};
const char *gt_host_doing_key(unsigned doing);
const char *gt_host_doing_words(unsigned doing);

struct gt_host_share {
	/* the key. group: by group_of, else 0; thread: track number over all segments, or GT_NONE;
	 * cause: enum gt_idle_cause, or GT_HOST_ALL: all samples of the thread; stack: id in the
	 * segment or GT_NONE. After GT_HOST_SHARES_MOST shares of a table, all further ones are one
	 * with GT_NONE everywhere. */
	uint32_t group, segment, thread, cause, stack;
	uint64_t ns;      /* of idle time; of GT_HOST_ALL: of processor time, by samples */
	uint64_t samples; /* outside CUDA, and GT_HOST_ALL */
	uint8_t doing;    /* enum gt_host_doing */
	/* private: ns that the samples stand for */
	uint64_t weight;
};
#define GT_HOST_ALL 255u
#define GT_HOST_SHARES_MOST (1u << 18)

struct gt_idle_thread {
	uint32_t group, segment, thread; /* the key */
	uint64_t outside;                /* ns of slices outside CUDA */
	uint64_t unknown;                /* of these, in no share */
	uint64_t samples;                /* in these slices */
	/* private. further_weight: of samples beyond the limit of shares */
	uint64_t weight, further_weight, given_weight, given;
};

/* The time outside CUDA of all threads: members of struct gt_idle_thread. */
struct gt_outside {
	uint64_t outside, unknown, samples;
};

/* Idle time in which launching threads waited for the GIL, by the thread that had it. */
struct gt_gil_holder {
	uint32_t segment, tid; /* the key; tid 0: unknown */
	uint64_t ns;
};

struct gt_idle_slice;
struct gt_host_activity;
/* The group of the moment `at->from`: at most UINT32_MAX - 1. It lowers *until to the time where
 * the group ends. at->device is GT_NONE for a sample that counts as processor time. */
typedef uint32_t gt_host_group_fn(void *arg, const struct gt_idle_slice *at, int64_t *until);

struct gt_host_shares { /* zero-initialised: nothing is collected */
	/* Set before the first row. wanted: time outside CUDA and waits; all: also calls, causes
	 * that are not the host's, and GT_HOST_ALL. */
	bool wanted, all;
	bool by_thread;             /* processor time has no stacks */
	gt_host_group_fn *group_of; /* NULL: all shares are in group 0 */
	void *arg;
	/* complete after gt_host_shares_finish() */
	struct gt_group_table list;      /* struct gt_host_share of idle time */
	struct gt_group_table processor; /* struct gt_host_share of GT_HOST_ALL */
	struct gt_group_table threads, gil_holders;
	uint64_t left_out;     /* samples that were too late or too many */
	struct gt_outside sum; /* after gt_host_shares_finish(): of all groups */
	/* private */
	uint32_t last_thread, last_share, last_processor;
};

void gt_host_shares_init(struct gt_host_shares *h);
struct gt_idle_stack;
/* A sample of a thread. 0 or negative. */
int gt_host_shares_add_sample(struct gt_host_shares *h, const struct gt_segment *seg,
	uint32_t thread, const struct gt_idle_stack *sample, struct gt_err *err);
/* activity: of the slice's thread; NULL: none. 0 or negative. */
int gt_host_shares_add_slice(struct gt_host_shares *h, const struct gt_idle_slice *slice,
	struct gt_host_activity *activity, struct gt_err *err);
/* After the last slice: divides the time outside CUDA, of each group by itself, and sorts all
 * tables by group. states: switches of threads were recorded. 0 or negative. */
int gt_host_shares_finish(
	struct gt_host_shares *h, struct gt_reader *r, bool states, struct gt_err *err);
void gt_host_shares_reset(struct gt_host_shares *h); /* removes all shares */
void gt_host_shares_release(struct gt_host_shares *h);
/* Appends " BEFOREheld by thread 515 (loader) in 93 % of it" to a text of `size` bytes: the thread
 * that had the GIL most, if it had it in at least half of the time. */
void gt_host_put_gil_holder(const struct gt_host_shares *h, struct gt_reader *r, const char *before,
	char *text, size_t size);

/* Of one group. */
struct gt_outside gt_host_shares_outside(const struct gt_host_shares *h, uint32_t group);
/* Half the width of the 95 % confidence interval of a part of the time outside CUDA, in ns.
 * samples: those that the part is based on. */
uint64_t gt_outside_error(const struct gt_outside *o, uint64_t samples);
/* The first item of this group or a later one, in `list`, `processor` or `threads`. */
size_t gt_host_group_first(const struct gt_group_table *g, uint32_t group);
/* The share of all beyond GT_HOST_SHARES_MOST, or NULL. */
const struct gt_host_share *gt_host_shares_rest(const struct gt_group_table *g);
#endif
