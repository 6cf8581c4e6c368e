/* BPF programs for calls of libraries. One program runs at the entry and at the return of each
 * function: as a uprobe session, or as two probes where the kernel has no sessions. The cookie of
 * an attachment is the function's number in the API table. */
#include "collect/bpf/programs/maps.h"

extern bool bpf_session_is_return(void) __ksym __weak;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GT_BPF_FUNCTIONS);
	__type(key, __u32);
	__type(value, struct gt_bpf_plan);
} plans SEC(".maps");

/* The open calls of a thread, outermost first. */
struct open_call {
	__u64 start, frame, words[GT_BPF_WORDS];
	__u32 id;
};
struct thread {
	__u32 depth;
	struct open_call open[GT_BPF_DEPTH];
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct thread);
} threads SEC(".maps");

/* The initial value of a thread, which is too large for the stack of a program. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread);
} no_calls SEC(".maps");

/* ---- entry ---- */

static __always_inline struct thread *thread_of(__u32 tid)
{
	struct thread *t = bpf_map_lookup_elem(&threads, &tid);
	__u32 zero = 0;
	void *empty;

	if (t)
		return t;
	empty = bpf_map_lookup_elem(&no_calls, &zero);
	if (!empty)
		return NULL;
	bpf_map_update_elem(&threads, &tid, empty, BPF_NOEXIST);
	return bpf_map_lookup_elem(&threads, &tid);
}

static __always_inline int enter(struct pt_regs *ctx, __u32 id, __u32 tid)
{
	const struct gt_bpf_plan *plan = bpf_map_lookup_elem(&plans, &id);
	struct thread *t = thread_of(tid);
	__u64 frame = ctx->sp;
	struct open_call *c;
	__u32 depth;

	if (!plan || !t)
		return 0;
	depth = t->depth;
	/* calls that longjmp or an exception has left: their frames are below this one */
	for (int i = 0; i < GT_BPF_DEPTH; i++)
		if (depth && depth <= GT_BPF_DEPTH &&
			t->open[(depth - 1) & (GT_BPF_DEPTH - 1)].frame <= frame)
			depth--;
	t->depth = depth + 1;
	if (depth >= GT_BPF_DEPTH)
		return 0;
	c = &t->open[depth & (GT_BPF_DEPTH - 1)];
	c->id = id;
	c->frame = frame;
	c->words[0] = ctx->di;
	c->words[1] = ctx->si;
	c->words[2] = ctx->dx;
	c->words[3] = ctx->cx;
	c->words[4] = ctx->r8;
	c->words[5] = ctx->r9;
	if (plan->words > 6)
		bpf_probe_read_user(&c->words[6], 8 * (GT_BPF_WORDS - 6), (void *)(frame + 8));
	c->start = bpf_ktime_get_ns();
	return 0;
}

/* ---- return ---- */

static __always_inline void fill(struct gt_bpf_call *to, const struct open_call *c, __u64 end,
	__u32 depth, int ret, __u64 pid_tgid)
{
	to->head.start = c->start;
	to->head.end = end;
	to->head.tgid = pid_tgid >> 32;
	to->head.tid = (__u32)pid_tgid;
	to->head.kind = GT_BPF_CALL;
	to->head.unused = 0;
	to->id = c->id;
	to->depth = depth;
	to->ret = ret;
	to->fetched = 0;
	__builtin_memcpy(to->words, c->words, sizeof(to->words));
	bpf_get_current_comm(to->head.comm, sizeof(to->head.comm));
}

static __always_inline void fetch(struct gt_bpf_call_with_pieces *to,
	const struct gt_bpf_plan *plan, const struct open_call *c)
{
	for (int i = 0; i < GT_BPF_FETCHES; i++) {
		const struct gt_bpf_fetch *f = &plan->fetch[i];
		__u32 param = f->param;
		__u64 bytes = f->bytes;
		void *piece = to->pieces + i * GT_BPF_FETCH_MAX;
		const void *from;
		long n;

		to->bytes[i] = 0;
		if (i >= plan->fetches || param >= GT_BPF_WORDS)
			continue;
		from = (const void *)c->words[param];
		if (!from)
			continue;
		if (f->what == GT_BPF_TEXT) {
			n = bpf_probe_read_user_str(piece, GT_BPF_FETCH_MAX, from);
			to->bytes[i] = n > 0 ? n : 0;
		} else {
			/* the compiler must not undo what the verifier needs to see */
			__asm__ volatile("" : "+r"(bytes));
			if (bytes > GT_BPF_FETCH_MAX)
				continue;
			n = bpf_probe_read_user(piece, bytes, from);
			to->bytes[i] = n ? 0 : bytes;
		}
	}
}

static __always_inline int leave(struct pt_regs *ctx, __u32 id, __u64 pid_tgid)
{
	__u32 tid = (__u32)pid_tgid, depth, cpu;
	struct thread *t = bpf_map_lookup_elem(&threads, &tid);
	const struct gt_bpf_plan *plan;
	const struct open_call *c;
	int ret = (int)ctx->ax;
	__u64 end;
	void *ring;

	if (!t || !t->depth)
		return 0;
	depth = t->depth - 1;
	/* a call inside this one has been left, and does not return */
	for (int i = 0; i < GT_BPF_DEPTH; i++)
		if (depth && depth < GT_BPF_DEPTH && t->open[depth & (GT_BPF_DEPTH - 1)].id != id)
			depth--;
	t->depth = depth;
	if (depth >= GT_BPF_DEPTH) {
		count_loss(bpf_ktime_get_ns());
		return 0;
	}
	c = &t->open[depth & (GT_BPF_DEPTH - 1)];
	if (c->id != id)
		return 0;
	end = bpf_ktime_get_ns();
	plan = bpf_map_lookup_elem(&plans, &id);
	cpu = bpf_get_smp_processor_id();
	ring = bpf_map_lookup_elem(&rings, &cpu);
	if (!plan || !ring)
		return 0;
	if (!plan->fetches || (plan->success && ret)) {
		struct gt_bpf_call *to = bpf_ringbuf_reserve(ring, sizeof(*to), 0);

		if (!to) {
			count_loss(end);
			return 0;
		}
		fill(to, c, end, depth, ret, pid_tgid);
		bpf_ringbuf_submit(to, BPF_RB_NO_WAKEUP);
	} else {
		struct gt_bpf_call_with_pieces *to = bpf_ringbuf_reserve(ring, sizeof(*to), 0);

		if (!to) {
			count_loss(end);
			return 0;
		}
		fill(&to->call, c, end, depth, ret, pid_tgid);
		to->call.fetched = plan->fetches;
		fetch(to, plan, c);
		bpf_ringbuf_submit(to, BPF_RB_NO_WAKEUP);
	}
	return 0;
}

/* ---- programs ---- */

SEC("kprobe")
int on_session(struct pt_regs *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 id = bpf_get_attach_cookie(ctx);

	if (!is_traced(pid_tgid))
		return 1;
	return bpf_session_is_return() ? leave(ctx, id, pid_tgid) : enter(ctx, id, (__u32)pid_tgid);
}

SEC("kprobe")
int on_entry(struct pt_regs *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	return is_traced(pid_tgid) ? enter(ctx, bpf_get_attach_cookie(ctx), (__u32)pid_tgid) : 0;
}

SEC("kprobe")
int on_return(struct pt_regs *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	return is_traced(pid_tgid) ? leave(ctx, bpf_get_attach_cookie(ctx), pid_tgid) : 0;
}
