/* BPF programs for the scheduling of threads: when a traced thread leaves a processor, who wakes
 * it, and when it runs again. The record is written when it runs again; gtcollect decides what the
 * thread waited for, from its system call and its state. */
#ifndef GT_BPF_SCHEDULING_H
#define GT_BPF_SCHEDULING_H
#include "collect/bpf/programs/functions.h"
#include "collect/bpf/programs/interrupt_work.h"
#include "collect/bpf/programs/system_calls.h"

/* A thread that does not run. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct gt_bpf_sched);
} waits SEC(".maps");

#define DEAD 0x80 /* state of a thread that has ended */

/* The wait has ended; its thread runs, or has run. */
static __always_inline void write_wait(const struct gt_bpf_sched *w, __u32 tid, __u64 end)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	struct gt_bpf_sched *to = ring ? bpf_ringbuf_reserve(ring, sizeof(*to), 0) : NULL;

	if (to) {
		*to = *w;
		to->head.end = end;
		bpf_ringbuf_submit(to, BPF_RB_NO_WAKEUP);
	} else
		count_loss(end);
	bpf_map_delete_elem(&waits, &tid);
}

/* The thread runs, but the kernel has not reported its switch-in, which happens to one of some
 * thousand. What is known is the wait until the wake-up. */
static __always_inline void end_unseen_wait(__u32 tid, __u64 now)
{
	const struct gt_bpf_sched *w = bpf_map_lookup_elem(&waits, &tid);

	if (w && w->woken)
		write_wait(w, tid, w->woken);
	else if (w && !bpf_map_delete_elem(&waits, &tid))
		count_unseen(now);
}

static __always_inline void switch_out(
	struct task_struct *prev, __u64 ids, __u64 next, bool preempted, __u64 state, __u64 now)
{
	struct gt_bpf_sched new = { .head = { .start = now, .kind = GT_BPF_SCHED } };
	__u32 tid = (__u32)ids;

	new.head.tid = tid;
	new.head.tgid = ids >> 32;
	bpf_core_read(&new.head.comm, sizeof(new.head.comm), &prev->comm);
	new.preempted = preempted;
	new.state = state;
	if (preempted) {
		new.by_tid = (__u32)next;
		new.by_tgid = next >> 32;
	}
	new.system_call = current_system_call(); /* prev is still the current thread */
	new.argument = current_call_argument();
	if (!bpf_map_update_elem(&waits, &tid, &new, BPF_NOEXIST))
		return;
	end_unseen_wait(tid, now);
	if (bpf_map_update_elem(&waits, &tid, &new, BPF_ANY))
		count_loss(now);
}

static __always_inline void switch_in(__u32 tid, __u64 now)
{
	const struct gt_bpf_sched *w = bpf_map_lookup_elem(&waits, &tid);

	if (w)
		write_wait(w, tid, now);
}

/* The current thread runs for the last time. */
static __always_inline void end_thread(__u32 tid, __u64 now)
{
	end_unseen_wait(tid, now);
	write_head(GT_BPF_THREAD_EXIT);
}

struct task_struct___before_5_14 {
	long state;
} __attribute__((preserve_access_index));
struct task_struct___since_5_14 {
	unsigned __state;
} __attribute__((preserve_access_index));

/* If the thread leaves its processor, another one that wakes it meanwhile may have changed the
 * state, but not to that of a running thread. */
static __always_inline __u64 state_of(struct task_struct *task)
{
	struct task_struct___before_5_14 *old = (void *)task;
	struct task_struct___since_5_14 *new = (void *)task;

	return bpf_core_field_exists(new->__state) ? BPF_CORE_READ(new, __state)
						   : BPF_CORE_READ(old, state);
}

/* sched_switch(bool preempt, struct task_struct *prev, struct task_struct *next, unsigned state) */
SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *prev = (void *)ctx->args[1], *next = (void *)ctx->args[2];
	__u64 now = bpf_ktime_get_ns(), out = ids_of(prev), in = ids_of(next);
	__u64 state = settings.has_switch_state ? ctx->args[3] : state_of(prev);

	end_interrupts();
	if (out && is_traced(out)) {
		if (state & DEAD)
			end_thread((__u32)out, now);
		else
			switch_out(prev, out, in, ctx->args[0] || !state, state, now);
	}
	/* only threads that were traced then are in the map */
	if (in)
		switch_in((__u32)in, now);
	return 0;
}

/* sched_waking(struct task_struct *task), in the thread that wakes it, or in an interrupt */
SEC("raw_tp/sched_waking")
int on_waking(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 tid = (__u32)ids_of(task);
	struct gt_bpf_sched *w = bpf_map_lookup_elem(&waits, &tid);
	__u64 by;

	if (!w || w->woken || w->preempted)
		return 0;
	by = is_work_of_interrupt() ? 0 : current_ids();
	w->woken = bpf_ktime_get_ns();
	w->by_tid = (__u32)by;
	w->by_tgid = by >> 32;
	return 0;
}

/* ---- threads that wait when gtcollect attaches ---- */

static __always_inline bool does_wait(struct task_struct *task)
{
	__u64 state = state_of(task);

	return state && !(state & DEAD) &&
		!(bpf_core_field_exists(task->on_cpu) && BPF_CORE_READ(task, on_cpu));
}

/* For each thread of the machine, when gtcollect reads the iterator: one that waits, and of which
 * nothing is known yet, waits from now on. */
SEC("iter/task")
int on_each_waiting_thread(struct bpf_iter__task *ctx)
{
	struct gt_bpf_sched new = { .head = { .kind = GT_BPF_SCHED } }, *w;
	struct task_struct *task = ctx->task;
	__u32 tid;
	__u64 ids;

	if (!task || task->flags & KERNEL_THREAD || !does_wait(task))
		return 0;
	ids = ids_of(task);
	tid = (__u32)ids;
	if (!is_traced(ids))
		return 0;
	new.head.start = bpf_ktime_get_ns();
	new.head.tid = tid;
	new.head.tgid = ids >> 32;
	bpf_core_read(&new.head.comm, sizeof(new.head.comm), &task->comm);
	new.state = state_of(task);
	new.system_call = system_call_of(task);
	new.argument = call_argument_of(task);
	if (bpf_map_update_elem(&waits, &tid, &new, BPF_NOEXIST) || does_wait(task))
		return 0;
	/* it ran before the map had the wait, so nothing else would end it */
	w = bpf_map_lookup_elem(&waits, &tid);
	if (w && w->head.start == new.head.start)
		bpf_map_delete_elem(&waits, &tid);
	return 0;
}

/* A thread that ends is forgotten. */
SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u64 pid_tgid = current_ids();
	__u32 tid = (__u32)pid_tgid, tgid = pid_tgid >> 32;

	if (settings.scheduling)
		end_unseen_wait(tid, bpf_ktime_get_ns());
	forget_thread();
	forget_functions(tid);
	if (BPF_CORE_READ(task, signal, live.counter) > 0)
		return 0; /* other threads of the process go on */
	if (has_records(pid_tgid))
		write_head(GT_BPF_EXIT);
	bpf_map_delete_elem(&traced, &tgid);
	return 0;
}
#endif
