/* The parts of a recording of the host's threads. */
#ifndef GT_HOST_INTERNAL_H
#define GT_HOST_INTERNAL_H
#include "collect/host/code_maps.h"
#include "collect/host/host_recording.h"
#include "collect/host/native_unwind.h"
#include "collect/host/perf_rings.h"
#include "collect/host/python_sampler.h"

/* Numbers that stand for stacks or code objects in the ring of a thread (ring.h). */
struct gt_ring_numbers {
	uint32_t count;
	struct gt_map map;
	struct gt_ring_number {
		uint64_t key; /* hash of the stack; number of the code object */
		uint32_t number;
	} * items;
	size_t n, cap;
};
/* A thread. Its key comes first. */
struct gt_host_thread {
	uint32_t tid, tgid;
	char comm[16];
	/* switches */
	uint64_t since; /* ns: it does not run; 0: it does */
	bool is_preempted;
	/* stacks */
	uint32_t slot, generation;                     /* of the ring that has the numbers */
	struct gt_ring_numbers stacks, codes, objects; /* objects: by numbers of mapped code */
	bool has_python;                               /* frames of Python have been read */
};
struct gt_host_recording {
	struct gt_host_options opt;
	struct gt_perf_rings perf;
	struct gt_rings *rings;
	struct gt_ring_writer *writer, own_writer;
	struct gt_map map;
	struct gt_host_thread *threads;
	size_t nthreads, threads_cap;
	struct gt_code_maps code;
	struct gt_native_unwinder *unwinder;
	struct gt_python_sampler *python;    /* NULL: frames of Python are not read */
	struct gt_thread_look *const *looks; /* those from next_look on have not been taken */
	size_t nlooks, next_look;
	uint64_t window_from, window_until;
	struct gt_host_totals totals;
	bool is_stopped;
};

/* The thread of this id, which may be new. NULL: no memory. */
struct gt_host_thread *gt_host_thread_of(struct gt_host_recording *h, uint32_t tgid, uint32_t tid);
/* Its ring; NULL: no slot is free. at: ns, when it was first seen. */
struct gt_written_thread *gt_host_ring(
	struct gt_host_recording *h, const struct gt_host_thread *t, uint64_t at);
static inline bool gt_host_in_window(const struct gt_host_recording *h, uint64_t at)
{
	return at >= h->window_from && at < h->window_until;
}

/* ---- thread_switches.c ---- */

/* The thread stops running, or runs again. */
void gt_thread_switch(
	struct gt_host_recording *h, struct gt_host_thread *t, const struct gt_perf_record *e);
/* Takes the looks at waiting threads up to this time, ns. */
void gt_thread_switches_take_looks(struct gt_host_recording *h, uint64_t until);
/* Waits end now. */
void gt_thread_switches_end(struct gt_host_recording *h, uint64_t now);

/* ---- thread_samples.c ---- */

void gt_thread_sample(
	struct gt_host_recording *h, struct gt_host_thread *t, const struct gt_perf_record *e);

/* ---- host_stacks.c: stacks and their definitions in rings ---- */

struct gt_host_stack {
	const struct gt_native_stack *native;
	const struct gt_remote_stack *python; /* NULL: it was not read */
	bool python_unknown;                  /* it should have been */
};
/* Unwinds up to the interpreter, if frames of Python are there to go on with. */
void gt_host_unwind(struct gt_host_recording *h, struct gt_native_thread *at,
	const struct gt_remote_stack *python, struct gt_native_stack *to);
/* The number of a stack in the thread's ring; 0: it is empty, or the ring is full. */
uint32_t gt_host_stack_number(struct gt_host_recording *h, struct gt_host_thread *t,
	struct gt_written_thread *to, const struct gt_host_stack *s);
void gt_host_stacks_release(struct gt_host_thread *t);
#endif
