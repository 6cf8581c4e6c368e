/* BPF programs for calls of libraries. One program runs at the entry and at the return of each
 * function: as a uprobe session, or as two probes where the kernel has no sessions. The cookie of
 * an attachment is the function's number in the API table. */
#include "collect/bpf/programs/cookies.h"
#include "collect/bpf/programs/threads.h"

/* bpf_object.h says why */
#ifdef NO_SESSION
#define IS_RETURN(ctx) false
#elif defined(SESSION_OF_CONTEXT)
extern bool bpf_session_is_return(void *ctx) __ksym __weak;
#define IS_RETURN(ctx) bpf_session_is_return(ctx)
#else
extern bool bpf_session_is_return(void) __ksym __weak;
#define IS_RETURN(ctx) bpf_session_is_return()
#endif

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GT_BPF_FUNCTIONS);
	__type(key, __u32);
	__type(value, struct gt_bpf_plan);
} plans SEC(".maps");

/* ---- entry ---- */

/* 0: the call is open, and its return is needed. */
static __always_inline int enter(struct pt_regs *ctx, __u32 id)
{
	const struct gt_bpf_plan *plan = bpf_map_lookup_elem(&plans, &id);
	struct thread *t = make_thread();
	__u64 frame = frame_of_entry(ctx);
	struct open_call *c;
	__u32 depth;

	if (!plan || !t) {
		count_loss(bpf_ktime_get_ns());
		return 1;
	}
	if (!t->record.call.head.tid)
		name_thread(&t->record.call.head);
	if (!t->record.call.head.tid)
		return 1; /* of another pid namespace */
	depth = t->depth;
	/* calls that longjmp or an exception has left: their frames are below this one. A tail call
	 * of another function has the same frame. */
	for (int i = 0; i < GT_BPF_DEPTH; i++)
		if (depth && depth <= GT_BPF_DEPTH &&
			open_at(t, depth - 1)->frame < frame + (open_at(t, depth - 1)->id == id))
			depth--;
	t->depth = depth + 1;
	if (depth >= GT_BPF_DEPTH)
		return 0;
	c = open_at(t, depth);
	c->id = id;
	c->frame = frame;
	read_arguments(ctx, c->words);
	if (plan->words > 6)
		read_more_arguments(ctx, c->words, GT_BPF_WORDS);
	c->start = bpf_ktime_get_ns();
	return 0;
}

/* ---- return ---- */

/* Copies the memory that parameters point to, behind the words. Returns the bytes of both. */
static __always_inline __u32 fetch(struct gt_bpf_call_with_pieces *to,
	const struct gt_bpf_plan *plan, const struct open_call *c)
{
	__u32 at = 8 * to->call.words;

	/* Linux 6.1 takes no loop that is entered in its middle, as compilers make them */
#pragma unroll
	for (int i = 0; i < GT_BPF_FETCHES; i++) {
		const struct gt_bpf_fetch *f = &plan->fetch[i];
		__u32 param = f->param;
		__u64 bytes = f->bytes, place = at;
		const void *from;
		long n;

		/* the verifier must see what is compared in the register that is used */
		__asm__ volatile("" : "+r"(place));
		if (i >= plan->fetches || param >= GT_BPF_WORDS ||
			place > GT_BPF_DATA - GT_BPF_FETCH_MAX)
			break;
		from = (const void *)c->words[param];
		if (!from)
			continue;
		if (f->what == GT_BPF_TEXT)
			n = bpf_probe_read_user_str(to->data + place, GT_BPF_FETCH_MAX, from);
		else {
			/* the compiler must not undo what the verifier needs to see */
			__asm__ volatile("" : "+r"(bytes));
			if (bytes > GT_BPF_FETCH_MAX)
				continue;
			n = bpf_probe_read_user(to->data + place, bytes, from) ? 0 : bytes;
		}
		if (n <= 0 || n > GT_BPF_FETCH_MAX)
			continue;
		to->call.bytes[i] = n;
		at += (n + 7) & ~7u;
	}
	return at;
}

static __always_inline void fill(
	struct gt_bpf_call *to, const struct open_call *c, __u32 words, __u32 depth, int ret)
{
	to->head.start = c->start;
	to->head.end = bpf_ktime_get_ns();
	to->head.kind = GT_BPF_CALL;
	to->id = c->id;
	to->depth = depth;
	to->words = words;
	to->ret = ret;
	*(__u64 *)to->bytes = 0;
}

/* words: constant, because the kernel must know the size of a record. */
static __always_inline int put_call(void *ring, const struct thread *t, const struct open_call *c,
	const struct gt_bpf_plan *plan, __u32 depth, int ret, const int words)
{
	struct gt_bpf_call_with_pieces *to =
		bpf_ringbuf_reserve(ring, sizeof(to->call) + 8 * words + GT_BPF_SMALL_PIECE, 0);
	__u32 param = plan->fetch[0].param;
	__u64 bytes;

	if (!to)
		return -1;
	to->call.head = t->record.call.head;
	fill(&to->call, c, words, depth, ret);
	__builtin_memcpy(to->data, c->words, 8 * words);
	if (plan->fetches && param < GT_BPF_WORDS && c->words[param] && !(plan->success && ret)) {
		bytes = plan->fetch[0].bytes;
		/* Linux 5.10 knows the limit of a register, not of what is stored meanwhile */
		__asm__ volatile("" : "+r"(bytes));
		if (bytes <= GT_BPF_SMALL_PIECE &&
			!bpf_probe_read_user(to->data + 8 * words, bytes, (void *)c->words[param]))
			to->call.bytes[0] = bytes;
	}
	bpf_ringbuf_submit(to, BPF_RB_NO_WAKEUP);
	return 0;
}

/* A record of any size is made in the thread's storage first. */
static __always_inline int copy_call(void *ring, struct thread *t, const struct open_call *c,
	const struct gt_bpf_plan *plan, __u32 depth, int ret)
{
	__u32 bytes = 8 * plan->words;

	fill(&t->record.call, c, plan->words, depth, ret);
	__builtin_memcpy(t->record.data, c->words, sizeof(c->words));
	if (!plan->success || !ret)
		bytes = fetch(&t->record, plan, c);
	bytes += sizeof(t->record.call);
	if (bytes > sizeof(t->record))
		bytes = sizeof(t->record);
	return bpf_ringbuf_output(ring, &t->record, bytes, BPF_RB_NO_WAKEUP);
}

static __always_inline void write_call(
	struct thread *t, const struct open_call *c, __u32 depth, int ret)
{
	__u32 id = c->id, cpu = bpf_get_smp_processor_id();
	const struct gt_bpf_plan *plan = bpf_map_lookup_elem(&plans, &id);
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	int failed;

	if (!plan || !ring)
		return;
	if (plan->size == GT_BPF_SMALL)
		failed = put_call(ring, t, c, plan, depth, ret, GT_BPF_SMALL_WORDS);
	else if (plan->size == GT_BPF_WIDE)
		failed = put_call(ring, t, c, plan, depth, ret, GT_BPF_WORDS);
	else
		failed = copy_call(ring, t, c, plan, depth, ret);
	if (failed)
		count_loss(bpf_ktime_get_ns());
}

/* The frame tells which call returns. Calls inside it that are still open have been left. */
static __always_inline int leave(struct pt_regs *ctx)
{
	__u64 frame = frame_of_return(ctx);
	struct thread *t = find_thread();
	__u32 depth;

	if (!t || !t->depth)
		return 0;
	depth = t->depth;
	if (depth > GT_BPF_DEPTH) {
		t->depth = depth - 1;
		count_loss(bpf_ktime_get_ns());
		return 0;
	}
	for (int i = 0; i < GT_BPF_DEPTH; i++)
		if (depth && open_at(t, depth - 1)->frame < frame)
			depth--;
	if (!depth || open_at(t, depth - 1)->frame != frame)
		return 0;
	depth--;
	t->depth = depth;
	write_call(t, open_at(t, depth), depth, (int)ctx->RETURN_VALUE);
	return 0;
}

/* ---- programs ----
 * A session of a recording of some processes is for these processes only, but for those that a
 * filter selects. A call that was entered is recorded also if its process matches no longer. */

SEC("kprobe")
int on_session(struct pt_regs *ctx)
{
	if (IS_RETURN(ctx))
		return leave(ctx);
	if (is_ended || (settings.filters && !is_traced(current_ids())))
		return 1;
	return enter(ctx, cookie_of(ctx));
}

SEC("kprobe")
int on_entry(struct pt_regs *ctx)
{
	if (is_traced(current_ids()))
		enter(ctx, cookie_of_place(ctx));
	return 0;
}

SEC("kprobe")
int on_return(struct pt_regs *ctx) { return leave(ctx); }
