/* What the programs remember of a thread between two events: its open calls, its request to the
 * driver, its system call. It lies in an array, of which a thread has a place of its own; if
 * another thread has the place, in the thread's own storage. Before Linux 5.12, which has no such
 * storage for these programs, it lies in a map by thread id. */
#ifndef GT_BPF_THREADS_H
#define GT_BPF_THREADS_H
#include "collect/bpf/programs/process_ids.h"

struct open_call {
	__u64 start, frame, words[GT_BPF_WORDS];
	__u32 id;
};
struct thread {
	__u32 depth;       /* open calls, outermost first; more than the array has are counted */
	__u32 system_call; /* its number plus 1; 0: none, or unknown */
	struct open_call open[GT_BPF_DEPTH];
	/* of the call that returns; the head names the thread from its first call on */
	struct gt_bpf_call_with_pieces record;
	struct gt_bpf_request request; /* end: 0 while it lasts; start: 0: none */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct thread);
} threads_by_id SEC(".maps");

/* The initial value of a thread, which is too large for the stack of a program. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread);
} new_thread SEC(".maps");

/* Threads that came first: the place is the last bits of the thread's number. It is found without a
 * call of the kernel, which the storage above needs. */
#define PLACES 1024
struct thread_place {
	__u32 owner;  /* a thread, as the kernel numbers it; 0: none, and the rest is zero */
	__u32 claims; /* 0: free */
	struct thread thread;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLACES);
	__type(key, __u32);
	__type(value, struct thread_place);
} thread_places SEC(".maps");

static __always_inline struct thread_place *place_of(__u32 number)
{
	__u32 i = number % PLACES;

	return bpf_map_lookup_elem(&thread_places, &i);
}

/* A thread of which something is known. NULL: nothing is. */
static __always_inline struct thread *thread_of(struct task_struct *task)
{
	struct thread_place *p;
	__u32 number;

	if (!settings.has_task_storage) {
		number = BPF_CORE_READ(task, pid);
		return bpf_map_lookup_elem(&threads_by_id, &number);
	}
	number = task->pid;
	p = place_of(number);
	if (p && p->owner == number)
		return &p->thread;
	return bpf_task_storage_get(&threads, task, NULL, 0);
}

static __always_inline struct task_struct *current_task(void)
{
	return settings.has_task_storage ? bpf_get_current_task_btf()
					 : (struct task_struct *)bpf_get_current_task();
}

static __always_inline struct thread *find_thread(void) { return thread_of(current_task()); }

static __always_inline struct thread *make_thread_by_id(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), zero = 0;
	void *empty = bpf_map_lookup_elem(&new_thread, &zero);

	if (empty)
		bpf_map_update_elem(&threads_by_id, &tid, empty, BPF_NOEXIST);
	return bpf_map_lookup_elem(&threads_by_id, &tid);
}

/* Of threads that claim a place at the same time at most one gets it. An atomic addition whose
 * result is not used is what Linux 5.11 and older know: they refuse programs that contain an
 * exchange, also where it is never reached. */
static __always_inline bool claim_place(struct thread_place *p)
{
	volatile __u32 *claims = &p->claims;

	if (*claims)
		return false;
	__sync_fetch_and_add(&p->claims, 1);
	return *claims == 1;
}

/* The same; makes it known. NULL: no memory. */
static __always_inline struct thread *make_thread(void)
{
	struct task_struct *task = current_task();
	struct thread *t = thread_of(task);
	struct thread_place *p;

	if (t)
		return t;
	if (!settings.has_task_storage)
		return make_thread_by_id();
	p = place_of(task->pid);
	if (p && claim_place(p)) {
		p->owner = task->pid;
		return &p->thread;
	}
	return bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* The current thread ends. */
static __always_inline void forget_thread(void)
{
	struct thread_place *p;
	__u32 number;

	if (!settings.has_task_storage) {
		number = (__u32)bpf_get_current_pid_tgid();
		bpf_map_delete_elem(&threads_by_id, &number);
		return;
	}
	number = current_task()->pid;
	p = place_of(number);
	if (!p || p->owner != number)
		return;
	__builtin_memset(&p->thread, 0, __builtin_offsetof(struct thread, record.data));
	__builtin_memset(&p->thread.request, 0, sizeof(p->thread.request));
	p->owner = 0;
	p->claims = 0;
}

/* The place of a call in `open`. A compiler that knows the depth to be below GT_BPF_DEPTH leaves
 * out the mask; but the verifier of Linux 6.1 knows the limit of the compared register only. */
static __always_inline struct open_call *open_at(struct thread *t, __u32 depth)
{
	__asm__ volatile("" : "+r"(depth));
	return &t->open[depth & (GT_BPF_DEPTH - 1)];
}

static __always_inline void name_thread(struct gt_bpf_head *head)
{
	__u64 pid_tgid = current_ids();

	head->tgid = pid_tgid >> 32;
	head->tid = (__u32)pid_tgid;
	bpf_get_current_comm(head->comm, sizeof(head->comm));
}

/* A record of the current thread without more. It is no call, so it is not counted as one: if the
 * ring of the CPU has no space for it, the one that wakes gtcollect has. */
static __always_inline void write_head(__u32 kind)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	struct gt_bpf_head head = { .kind = kind };

	head.start = head.end = bpf_ktime_get_ns();
	name_thread(&head);
	if (ring && !bpf_ringbuf_output(ring, &head, sizeof(head), BPF_RB_NO_WAKEUP))
		return;
	if (bpf_ringbuf_output(&process_events, &head, sizeof(head), BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&process_losses.events, 1);
}
#endif
