/* The number that a program gets from the probe at which it runs. Kernels before Linux 5.15 give
 * none: there a small program of each probe writes it here, and continues with the program proper
 * (links/cookie_wrapper.c). */
#ifndef GT_BPF_COOKIES_H
#define GT_BPF_COOKIES_H
#include "collect/bpf/programs/maps.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} cookies SEC(".maps");

static __always_inline __u64 cookie_of(void *ctx)
{
	__u32 zero = 0;
	const __u64 *value;

	if (settings.has_cookies)
		return bpf_get_attach_cookie(ctx);
	value = bpf_map_lookup_elem(&cookies, &zero);
	return value ? *value : 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32); /* number of the group << GT_BPF_PLACE_BITS | bits of the address */
	__type(value, __u64);
} group_cookies SEC(".maps");

/* At the entry of a function, or at a point in it. */
static __always_inline __u64 cookie_of_place(struct pt_regs *ctx)
{
	__u64 cookie, address = ctx->INSTRUCTION_POINTER;
	const __u64 *value;
	__u32 key;

	/* the kernel permits no address in ctx that the compiler computes */
	__asm__ volatile("" : "+r"(address));
	cookie = cookie_of(ctx);
	if (!(cookie & GT_BPF_GROUP))
		return cookie;
	key = (__u32)cookie << GT_BPF_PLACE_BITS | (address & ((1u << GT_BPF_PLACE_BITS) - 1));
	value = bpf_map_lookup_elem(&group_cookies, &key);
	return value ? *value : cookie;
}
#endif
