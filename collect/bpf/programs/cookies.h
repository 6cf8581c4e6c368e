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
#endif
