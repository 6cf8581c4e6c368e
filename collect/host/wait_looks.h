/* Looks at threads that wait: in which system call, for what, and with which stack. /proc has the
 * system call and its arguments, and process_vm_readv the rest. So a wait that is shorter than
 * about a millisecond remains without a reason.
 *
 * gt_wait_looks_switch, _forget and _run are called by one thread, _take by another one. */
#ifndef GT_WAIT_LOOKS_H
#define GT_WAIT_LOOKS_H
#include <pthread.h>
#include "collect/host/perf_rings.h"
#include "collect/host/remote_python.h"
#include "formats/trace/write/sched_rows.h"

/* A look. */
struct gt_thread_look {
	uint32_t tgid, tid;
	uint64_t from, until; /* ns: it was in the wait all that time */
	enum gt_sched_state state;
	int32_t system_call;
	uint32_t holder;            /* of the state gil; 0: unknown */
	uint64_t stack_until;       /* ns: as until, while the stack was read; 0: it was not */
	bool is_expected;           /* nothing was read: the wait seems to go on after a timeout */
	bool repeats;               /* its stack is that of the look before */
	uint64_t stack_pointer, pc; /* pc: behind the instruction of the system call */
	uint8_t *memory;            /* of the stack, from the stack pointer on */
	size_t memory_bytes;
	struct gt_remote_stack *python; /* there is only space for the frames that it has */
};

struct gt_wait_looks;
struct gt_wait_looks *gt_wait_looks_new(void);    /* new: free it; NULL: no memory */
void gt_wait_looks_free(struct gt_wait_looks *l); /* NULL is fine */
/* A thread stops running, or runs again. */
void gt_wait_looks_switch(struct gt_wait_looks *l, const struct gt_perf_record *e);
void gt_wait_looks_forget(struct gt_wait_looks *l, uint32_t tid); /* the thread has ended */
/* Looks at threads that have waited long enough. lock: of python. Returns after how many ms
 * the next call is due. */
int gt_wait_looks_run(
	struct gt_wait_looks *l, struct gt_remote_python *python, pthread_mutex_t *lock);
/* The looks since the last call, by their time: *n of them, valid until the next call. Their code
 * objects are valid as those of gt_remote_python_stack. */
struct gt_thread_look *const *gt_wait_looks_take(struct gt_wait_looks *l, size_t *n);
#endif
