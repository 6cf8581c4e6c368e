/* BPF programs that write the open calls of a thread: when it ends, and of all threads at the end
 * of the recording. */
#include "collect/bpf/programs/threads.h"

static __always_inline void write_open_calls(struct thread *t)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	__u64 now = bpf_ktime_get_ns();

	for (int i = 0; ring && i < GT_BPF_DEPTH; i++) {
		struct gt_bpf_open_call *to;

		if (i >= t->depth)
			break;
		to = bpf_ringbuf_reserve(ring, sizeof(*to), 0);
		if (!to) {
			count_loss(now);
			break;
		}
		__builtin_memset(&to->call, 0, sizeof(to->call));
		to->call.head = t->record.call.head;
		to->call.head.start = t->open[i].start;
		to->call.head.end = now;
		to->call.head.kind = GT_BPF_OPEN_CALL;
		to->call.id = t->open[i].id;
		to->call.depth = i;
		to->call.words = GT_BPF_WORDS;
		__builtin_memcpy(to->words, t->open[i].words, sizeof(to->words));
		bpf_ringbuf_submit(to, BPF_RB_NO_WAKEUP);
	}
}

SEC("raw_tp/sched_process_exit")
int on_exit_in_call(struct bpf_raw_tracepoint_args *ctx)
{
	struct thread *t = find_thread();

	if (t)
		write_open_calls(t);
	return 0;
}

/* For each thread of the machine, when gtcollect reads the iterator. */
SEC("iter/task")
int on_each_thread(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread *t = task ? thread_of(task) : NULL;

	if (t)
		write_open_calls(t);
	return 0;
}
