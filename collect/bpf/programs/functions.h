/* BPF programs at functions that the user names: of libraries and programs, and of the kernel. The
 * cookie of an attachment is the probe's number, with how many arguments it records, and whether
 * the function is one of the kernel (GT_BPF_FUNCTION). */
#ifndef GT_BPF_FUNCTIONS_H
#define GT_BPF_FUNCTIONS_H
#include "collect/bpf/programs/cookies.h"
#include "collect/bpf/programs/probe_records.h"

#define FUNCTIONS_OPEN 16 /* nested calls of one thread */
struct open_function {
	__u64 start, frame;
	__u32 probe, narguments;
	__u64 arguments[GT_BPF_ARGUMENTS];
};
struct open_functions {
	__u32 depth, unused;
	struct open_function open[FUNCTIONS_OPEN];
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64); /* a thread; in the kernel | 1 << 32 */
	__type(value, struct open_functions);
} functions SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct open_functions);
} no_functions SEC(".maps");

static __always_inline __u64 functions_key(__u64 pid_tgid, __u64 cookie)
{
	return (__u32)pid_tgid | (GT_BPF_FUNCTION_IS_KERNEL(cookie) ? 1ull << 32 : 0);
}

static __always_inline struct open_functions *open_functions_of(__u64 key)
{
	struct open_functions *f = bpf_map_lookup_elem(&functions, &key);
	__u32 zero = 0;
	void *empty;

	if (f)
		return f;
	empty = bpf_map_lookup_elem(&no_functions, &zero);
	if (!empty)
		return NULL;
	bpf_map_update_elem(&functions, &key, empty, BPF_NOEXIST);
	return bpf_map_lookup_elem(&functions, &key);
}

/* The thread ends or executes a program. */
static __always_inline void forget_functions(__u32 tid)
{
	__u64 key = tid;

	bpf_map_delete_elem(&functions, &key);
	key |= 1ull << 32;
	bpf_map_delete_elem(&functions, &key);
}

/* The kernel permits no address in ctx that the compiler computes: registers are read before the
 * first branch. */
#define READ_NOW(variable) __asm__ volatile("" : "+r"(variable))

/* An open call. The kernel must see that the index is in bounds, so the compiler may not know it.
 */
static __always_inline struct open_function *open_function_at(struct open_functions *f, __u32 i)
{
	READ_NOW(i);
	return &f->open[i & (FUNCTIONS_OPEN - 1)];
}

static __always_inline int enter_function(struct pt_regs *ctx, __u64 cookie, __u64 pid_tgid)
{
	__u64 frame = frame_of_entry(ctx);
	struct open_functions *f;
	struct open_function *o;
	__u32 depth;

	READ_NOW(frame);
	f = open_functions_of(functions_key(pid_tgid, cookie));
	if (!f) {
		count_loss(bpf_ktime_get_ns());
		return 0;
	}
	depth = f->depth;
	/* calls that longjmp or an exception has left: their frames are below this one. A tail call
	 * of another function has the same frame. */
	for (int i = 0; i < FUNCTIONS_OPEN; i++)
		if (depth && depth <= FUNCTIONS_OPEN &&
			open_function_at(f, depth - 1)->frame <
				frame + (open_function_at(f, depth - 1)->probe == (__u32)cookie))
			depth--;
	f->depth = depth + 1;
	if (depth >= FUNCTIONS_OPEN)
		return 0;
	o = open_function_at(f, depth);
	o->probe = (__u32)cookie;
	o->narguments = GT_BPF_FUNCTION_ARGUMENTS(cookie);
	o->frame = frame;
	read_arguments(ctx, o->arguments);
	o->start = bpf_ktime_get_ns();
	return 0;
}

static __always_inline bool is_return_of(const struct open_function *o, __u64 cookie, __u64 frame)
{
	return cookie & GT_BPF_GROUP ? o->frame == frame
				     : o->probe == (__u32)cookie && o->frame <= frame;
}

/* The depth inside the innermost open call of the function that returns from this frame; 0: none is
 * open. Its callers have frames above. Functions of the kernel return with another stack pointer.
 * In a group of returns the frame alone tells the function. */
static __always_inline __u32 depth_of_return(struct open_functions *f, __u64 cookie, __u64 frame)
{
	__u32 depth = f->depth;

	if (GT_BPF_FUNCTION_IS_KERNEL(cookie))
		frame = ~0ull;
	for (int i = 0; i < FUNCTIONS_OPEN; i++)
		if (depth && depth <= FUNCTIONS_OPEN &&
			!is_return_of(open_function_at(f, depth - 1), cookie, frame))
			depth--;
	return depth;
}

static __always_inline int leave_function(struct pt_regs *ctx, __u64 cookie, __u64 pid_tgid)
{
	__u64 key = functions_key(pid_tgid, cookie), ret = ctx->RETURN_VALUE,
	      frame = frame_of_return(ctx);
	__u32 depth, n;
	struct gt_bpf_probe p = { .is_range = 1 };
	const struct open_function *o;
	struct open_functions *f;

	READ_NOW(ret);
	READ_NOW(frame);
	f = bpf_map_lookup_elem(&functions, &key);
	depth = f ? depth_of_return(f, cookie, frame) : 0;
	if (!f || !depth)
		return 0;
	/* calls inside this one have been left, and do not return */
	f->depth = --depth;
	if (depth >= FUNCTIONS_OPEN) {
		count_loss(bpf_ktime_get_ns());
		return 0;
	}
	o = open_function_at(f, depth);
	n = o->narguments;
	p.head.start = o->start;
	p.head.end = bpf_ktime_get_ns();
	p.probe = o->probe;
	p.depth = depth;
	for (__u32 i = 0; i < GT_BPF_ARGUMENTS; i++) {
		p.fields.fields[i] = i < n ? GT_PROBE_FIELD(GT_PROBE_HEX, i)
					   : GT_PROBE_FIELD(GT_PROBE_HEX, GT_PROBE_RETURN);
		p.values[i] = i < n ? o->arguments[i] : ret;
	}
	p.fields.fields[GT_BPF_ARGUMENTS] = GT_PROBE_FIELD(GT_PROBE_HEX, GT_PROBE_RETURN);
	p.values[GT_BPF_ARGUMENTS] = ret;
	p.fields.n = n < GT_BPF_ARGUMENTS ? n + 1 : GT_BPF_ARGUMENTS + 1;
	write_probe(&p, pid_tgid);
	return 0;
}

/* ---- programs ---- */

SEC("kprobe")
int on_function(struct pt_regs *ctx)
{
	__u64 pid_tgid = current_ids(), cookie = cookie_of(ctx);

	if (IS_RETURN(ctx))
		return leave_function(ctx, cookie, pid_tgid);
	return is_traced(pid_tgid) ? enter_function(ctx, cookie, pid_tgid) : 1;
}

static __always_inline int on_entry_of_function(struct pt_regs *ctx)
{
	__u64 pid_tgid = current_ids();

	return is_traced(pid_tgid) ? enter_function(ctx, cookie_of_place(ctx), pid_tgid) : 0;
}

static __always_inline int on_return_of_function(struct pt_regs *ctx)
{
	return leave_function(ctx, cookie_of(ctx), current_ids());
}

SEC("kprobe")
int on_function_entry(struct pt_regs *ctx) { return on_entry_of_function(ctx); }

SEC("kprobe")
int on_function_return(struct pt_regs *ctx) { return on_return_of_function(ctx); }

/* The same at functions of the kernel: loaded for another kind of link. */
SEC("kprobe")
int on_kernel_entry(struct pt_regs *ctx) { return on_entry_of_function(ctx); }

SEC("kprobe")
int on_kernel_return(struct pt_regs *ctx) { return on_return_of_function(ctx); }
#endif
