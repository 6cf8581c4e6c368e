/* A program whose GPU is idle while its main thread runs, waits and launches: samples and waits
 * with call stacks. The stacks are those of stack_program.h, and one of a wait for the GIL. */
#ifndef HOST_PROGRAM_H
#define HOST_PROGRAM_H
#include "formats/trace/write/sched_rows.h"
#include "tests/unit/stack_program.h"

#define PERIOD 1000 /* ns: a sample stands for this time */
#define WORKER_TID 101
enum { BY_GIL = STACKS + 1, BY_SEMAPHORE };

struct host_program {
	struct stack_program p;
	uint32_t sample, stackless, io, futex, for_gil, sleep, gil, semaphore;
};

static inline uint32_t host_wait_type(struct host_program *h, unsigned state)
{
	struct gt_writer *w = h->p.w;
	const struct gt_field fields[] = { { gt_writer_string(w, "waker_pid"), GT_F_U64, 0 },
		{ gt_writer_string(w, "waker_tid"), GT_F_U64, 0 },
		{ gt_writer_string(w, "syscall"), GT_F_I64, 0 },
		{ gt_writer_string(w, "holder_tid"), GT_F_U64, 0 } };

	return stack_type(&h->p, gt_sched_name(state),
		(struct gt_type){ .category = gt_sched_category(state),
			.op = GT_OP_OFF_CPU,
			.layer = GT_LAYER_SCHED },
		fields, state == GT_SCHED_GIL ? 4 : 3);
}

static inline void host_begin(struct host_program *h, bool samples, bool waits)
{
	const struct gt_type type = { .op = GT_OP_SAMPLE, .layer = GT_LAYER_SCHED };
	struct stack_program *p = &h->p;
	struct gt_field period;
	uint32_t top, step, gil, cond, lock;

	stack_program_begin_at(p, memfd_create("trace", 0));
	if (samples) {
		period =
			(struct gt_field){ gt_writer_string(p->w, "period"), GT_F_U64, GT_R_VALUE };
		h->sample = stack_type(p, "sample", type, &period, 1);
		h->stackless = gt_writer_type(p->w,
			&(struct gt_type){ .name = gt_writer_string(p->w, "sample"),
				.op = GT_OP_SAMPLE,
				.layer = GT_LAYER_SCHED,
				.nfields = 1,
				.fields = &period });
	}
	if (waits) {
		h->io = host_wait_type(h, GT_SCHED_IO);
		h->futex = host_wait_type(h, GT_SCHED_FUTEX);
		h->for_gil = host_wait_type(h, GT_SCHED_GIL);
		h->sleep = host_wait_type(h, GT_SCHED_SLEEP);
	}
	if (p->without_stacks)
		return;
	top = python_frame(p, "main (app/train.py:9)", "main", "/home/u/app/train.py", 9);
	step = python_frame(p, "step (app/train.py:88)", "step", "/home/u/app/train.py", 88);
	gil = native_frame(p, "libpython3.11.so.1.0+0x10", "take_gil.lto_priv.0",
		"/usr/lib/libpython3.11.so.1.0");
	lock = native_frame(p, "libpython3.11.so.1.0+0x20", "PyThread_acquire_lock_timed",
		"/usr/lib/libpython3.11.so.1.0");
	cond = native_frame(
		p, "libc.so.6+0x300", "pthread_cond_timedwait@@GLIBC_2.3.2", "/lib/libc.so.6");
	h->gil = gt_writer_stack(p->w, (uint32_t[]){ top, step, gil, cond }, 4);
	h->semaphore = gt_writer_stack(p->w,
		(uint32_t[]){ top, step, lock,
			native_frame(p, "libc.so.6+0x400", "sem_clockwait", "/lib/libc.so.6") },
		4);
}

static inline uint32_t host_stack(const struct host_program *h, int by)
{
	return by == BY_GIL ? h->gil : by == BY_SEMAPHORE ? h->semaphore : h->p.stack[by];
}

static inline void host_sample(struct host_program *h, int thread, int by, int64_t at)
{
	stack_row(&h->p, GT_INSTANT, h->p.thread[thread], h->sample, at, at, 0,
		(uint64_t[]){ PERIOD, host_stack(h, by) });
}

static inline void host_stackless(struct host_program *h, int thread, int64_t at)
{
	stack_row(&h->p, GT_INSTANT, h->p.thread[thread], h->stackless, at, at, 0,
		(uint64_t[]){ PERIOD });
}

static inline void host_wait(
	struct host_program *h, uint32_t type, int by, int64_t from, int64_t to)
{
	stack_row(&h->p, GT_SPAN, h->p.thread[0], type, from, to, 0,
		(uint64_t[]){ 0, 0, (uint64_t)-1, host_stack(h, by) });
}

/* holder: its thread has the GIL */
static inline void host_gil_wait(struct host_program *h, int holder, int64_t from, int64_t to)
{
	stack_row(&h->p, GT_SPAN, h->p.thread[0], h->for_gil, from, to, 0,
		(uint64_t[]){ 0, 0, (uint64_t)-1, (uint64_t)holder, h->gil });
}

/* One gap of 10,000 ns, from 1100 to 11100:
 *	1100 - 11000	outside CUDA: 3900 of it waits, and 6000 runs with 5 samples
 *	11000 - 11050	the launch in step
 *	11050 - 11100	launched, not started */
static inline void host_gap(struct host_program *h, bool samples, bool waits)
{
	struct stack_program *p = &h->p;

	stack_launch(p, BY_STEP, 0, 900, 10, 1000, 100);
	stack_launch(p, BY_STEP, 0, 11000, 50, 11100, 100);
	if (waits) {
		host_wait(h, h->io, BY_LOAD, 2000, 4000);
		host_gil_wait(h, WORKER_TID, 5000, 6000);
		host_wait(h, h->futex, BY_NONE, 6500, 6800);
		host_wait(h, h->futex, BY_SEMAPHORE, 8500, 8700);
		host_wait(h, h->sleep, BY_NONE, 9000, 9400);
	}
	if (!samples)
		return;
	host_sample(h, 0, BY_STEP, 950); /* not in a gap */
	host_sample(h, 0, BY_STEP, 1100);
	host_sample(h, 0, BY_STEP, 1600);
	host_sample(h, 0, BY_LOAD, 4500);
	host_sample(h, 0, BY_LOAD, 7000);
	host_stackless(h, 0, 8000);
	host_sample(h, 0, BY_STEP, 11010);  /* in the launch */
	host_sample(h, 0, BY_STEP, 11150);  /* not in a gap */
	host_sample(h, 1, BY_WORKER, 3000); /* it does not launch what ends the gap */
}
#endif
