/* The kernel's perf events of programs and all their children: switches and samples of threads,
 * code that processes map. Each processor has one ring, to which all events of that processor
 * write. */
#ifndef GT_PERF_RINGS_H
#define GT_PERF_RINGS_H
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "collect/ipc/shared_memory.h"
#include "formats/base/map.h"

/* The registers of a sample, in the order of enum perf_event_x86_regs, or perf_event_arm_regs. */
#ifdef __x86_64__
#define GT_PERF_REGISTER_MASK 0xff01ffull /* ax to ip, r8 to r15 */
#define GT_PERF_REGISTERS 17
#else
#define GT_PERF_REGISTER_MASK 0x1ffffffffull /* x0 to x30, sp, pc */
#define GT_PERF_REGISTERS 33
#endif

/* Names of threads, their ends, their children and the code that processes map
 * are always recorded. */
struct gt_perf_options {
	bool switches;
	uint64_t period; /* ns of processor time between two samples of a thread; 0: none */
};
struct gt_perf_record {
	uint32_t kind, misc; /* PERF_RECORD_*, PERF_RECORD_MISC_* */
	uint32_t tgid, tid;
	uint64_t time;    /* ns of CLOCK_MONOTONIC */
	size_t at, bytes; /* of its body, see gt_perf_body */
};
/* The body of PERF_RECORD_SAMPLE. If `abi` is PERF_SAMPLE_REGS_ABI_NONE, the registers are not
 * there, and what follows begins in their place. */
struct gt_perf_sample {
	uint32_t tgid, tid;
	uint64_t time, period; /* ns */
	uint64_t abi, registers[GT_PERF_REGISTERS];
	uint64_t stack_bytes; /* that the kernel had space for; those of the stack follow */
};
/* The body of PERF_RECORD_MMAP2. */
struct gt_perf_mapping {
	uint32_t tgid, tid;
	uint64_t address, length, offset; /* offset: in the file */
	uint32_t device[2];
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[]; /* ends with a zero */
};
struct gt_perf_processor {
	int fd; /* of the event that owns the ring, and reports nothing itself */
	struct perf_event_mmap_page *page; /* then the ring */
	uint64_t last;                     /* ns: of the last record that was read */
	size_t mapped;                     /* bytes, from page on */
};
struct gt_perf_batch {
	struct gt_perf_record *records;
	size_t n, records_cap;
	uint8_t *bytes; /* bodies of the records */
	size_t nbytes, bytes_cap;
};
/* The events whose records are in the rings (perf_events.c). */
struct gt_perf_events {
	int *fds; /* of one thread: those of all processors; -1: none */
	size_t n, cap;
	/* threads of running processes */
	struct gt_map map;
	struct gt_perf_thread {
		uint32_t tid; /* the key */
		size_t first; /* of its own events in fds; SIZE_MAX: it inherits others */
	} * threads;
	size_t nthreads, threads_cap;
	bool is_attaching;
};
struct gt_perf_rings {
	struct gt_perf_processor *processors;
	unsigned n;
	struct gt_perf_options opt;
	struct gt_perf_events events;
	struct gt_rings *rings; /* losses are counted there */
	bool owns_losses;
	bool only_user;               /* the kernel permits samples outside the kernel only */
	struct gt_perf_batch taken;   /* by the last gt_perf_rings_read */
	struct gt_perf_batch arrived; /* of the kernel's rings since */
	struct gt_perf_record
		*fresh; /* of these, those that gt_perf_rings_look has yet to report */
	size_t nfresh, fresh_cap;
	pthread_mutex_t lock; /* of the kernel's rings, events, arrived and fresh */
};

/* Does the kernel permit them to this user? *only_user: samples outside the kernel only. */
bool gt_perf_is_allowed(const struct gt_perf_options *opt, bool *only_user);
/* Opens the rings, without events. 0 or negative: of perf_event_open. Close them also after an
 * error. */
int gt_perf_rings_open(
	struct gt_perf_rings *r, const struct gt_perf_options *opt, struct gt_rings *rings);
/* pid: a child that has yet to execute its program; from then on, its threads and their children's
 * are recorded. 0 or negative: of perf_event_open. */
int gt_perf_rings_start(struct gt_perf_rings *r, pid_t pid);
/* Records a running process: its threads, and those and the children that they start from now on.
 * Threads that wait are reported as if they stopped to run now. Returns how many threads there are,
 * or negative: -ESRCH the process has ended, -EMFILE, or of perf_event_open. */
int gt_perf_rings_attach(struct gt_perf_rings *r, pid_t pid);
void gt_perf_rings_close(struct gt_perf_rings *r);
/* Takes the records up to this time (ns): r->taken, in order of time, valid until the next call.
 * Losses are added to the session's. */
void gt_perf_rings_read(struct gt_perf_rings *r, uint64_t until);
static inline const void *gt_perf_body(
	const struct gt_perf_rings *r, const struct gt_perf_record *e)
{
	return r->taken.bytes + e->at;
}
/* ms in which samples fill a part of a ring, so that it may be emptied as seldom; 0: there are no
 * samples */
int gt_perf_rings_interval(const struct gt_perf_rings *r);
/* Nothing more is recorded. */
void gt_perf_rings_disable(struct gt_perf_rings *r);
/* Calls fn for each sample, switch, execution of a program (PERF_RECORD_COMM), mapping of an
 * interpreter of Python (PERF_RECORD_MMAP2) and end of a thread that arrived since the last call,
 * and empties the kernel's rings. The call may come from another thread than that of
 * gt_perf_rings_read. e: without a body. */
typedef void gt_perf_look_fn(void *arg, const struct gt_perf_record *e);
void gt_perf_rings_look(struct gt_perf_rings *r, gt_perf_look_fn *fn, void *arg);

/* ---- between perf_rings.c and perf_events.c. The lock is held. ---- */

/* The event that owns a processor's ring; negative: as of perf_event_open. */
int gt_perf_open_ring(int processor);
/* Bytes of the stack that a sample has. */
uint32_t gt_perf_stack_bytes(const struct gt_perf_options *opt);
void gt_perf_rings_empty(struct gt_perf_rings *r); /* takes what the kernel's rings have */
/* Adds a record that has no body. */
void gt_perf_rings_add(struct gt_perf_rings *r, const struct gt_perf_record *e);
/* A thread with events has started this one, which inherits them. */
void gt_perf_note_start(struct gt_perf_rings *r, uint32_t tid);
void gt_perf_note_end(struct gt_perf_rings *r, uint32_t tid);
void gt_perf_events_disable(struct gt_perf_events *e);
void gt_perf_events_close(struct gt_perf_events *e);
#endif
