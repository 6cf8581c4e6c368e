/* Scheduling of threads as rows: what a thread does while it does not run, whatever reports it.
 *
 * Rows: each is a GT_SPAN on the track of the thread that has its calls, if there is one (and not
 * on a second track of another source), layer sched, op off_cpu, and a category for colours and
 * --match; its type has the name of the state. A thread that waits has two rows: its reason (futex,
 * io, ...) from the switch-out to the wake-up, with the fields waker_pid, waker_tid and syscall;
 * then runnable, from the wake-up to the switch-in, without fields. A thread that is preempted has
 * one row, from the switch-out to the switch-in, with the fields by_pid and by_tid. So the rows of
 * a thread do not overlap, and between them it runs. A row may have one more field, stack: of the
 * thread while it waits. Before that, a row of the state gil has the field holder_tid. */
#ifndef GT_SCHED_ROWS_H
#define GT_SCHED_ROWS_H
#include "formats/trace/write/writer.h"

/* clang-format off */
#define GT_SCHED_STATE_NAMES(X) /* enum, name of the type, category */ \
	X(FUTEX, "futex", LOCK) \
	X(GIL, "gil", GIL) \
	X(IO, "io", IO) \
	X(PIPE, "pipe read", IO) \
	X(SOCKET, "socket read", IO) \
	X(POLL, "poll", IO) \
	X(SLEEP, "sleep", SLEEP) \
	X(FAULT, "page fault", FAULT) \
	X(CHILD, "wait", WAIT) \
	X(OTHER, "other wait", WAIT) \
	X(RUNNABLE, "runnable", RUNNABLE) \
	X(PREEMPTED, "preempted", RUNNABLE)
/* clang-format on */
/* GIL: a futex of CPython's global interpreter lock; IO: disk or network, in state D or in read,
 * write, recv; PIPE, SOCKET: IO that reads from one; POLL: also select, epoll_wait; SLEEP:
 * nanosleep, clock_nanosleep; CHILD: wait4, waitid */
enum gt_sched_state {
#define X(e, name, category) GT_SCHED_##e,
	GT_SCHED_STATE_NAMES(X)
#undef X
		GT_SCHED_STATE_COUNT
};
#define GT_SCHED_NO_SYSCALL (-1) /* as syscall: the number is unknown, or there is no call */

struct gt_sched_row {
	enum gt_sched_state state;
	int64_t start, end; /* ns */
	/* blocked: the thread that woke this one, 0: unknown, or an interrupt; preempted: the
	 * thread that runs instead. Not used by runnable. */
	uint32_t pid, tid;
	int64_t syscall; /* blocked: number of the system call, or GT_SCHED_NO_SYSCALL */
	uint32_t stack;  /* of the file plus one; 0: it has none */
	uint32_t holder; /* gil: the thread that held it during the wait; 0: unknown */
};
/* The types of one writer. */
struct gt_sched_types {
	struct gt_writer *w;
	uint32_t types[GT_SCHED_STATE_COUNT];
	uint32_t stacked[GT_SCHED_STATE_COUNT]; /* GT_NONE: not yet made */
};

/* Makes all types. 0 or -ENOMEM. */
int gt_sched_types_init(struct gt_sched_types *t, struct gt_writer *w, struct gt_err *err);
/* Writes a row on the track of a thread. 0 or negative. */
int gt_sched_put(struct gt_sched_types *t, uint32_t track, const struct gt_sched_row *row,
	struct gt_err *err);

const char *gt_sched_name(unsigned state); /* of its type; "?" if there is no such state */
uint8_t gt_sched_category(unsigned state); /* of its type */
/* The thread waits for something other than a processor. */
static inline bool gt_sched_is_blocked(unsigned state) { return state < GT_SCHED_RUNNABLE; }
/* The state that rows of this type are in: other wait if the name is unknown;
 * GT_SCHED_STATE_COUNT: the type is no state. name: the type's. */
unsigned gt_sched_state_of(const struct gt_type *type, const char *name);
/* Fields of a state, by position. GT_SCHED_BY_*: the waker, or the thread that preempts. */
enum gt_sched_field { GT_SCHED_BY_PID, GT_SCHED_BY_TID, GT_SCHED_SYSCALL, GT_SCHED_HOLDER };
#endif
