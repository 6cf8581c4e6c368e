/* The BPF program at places that fire USDT probes. The cookie of an attachment is the number of the
 * place in the map `usdt_sites`. */
#ifndef GT_BPF_USDT_SITES_H
#define GT_BPF_USDT_SITES_H
#include "collect/bpf/programs/cookies.h"
#include "collect/bpf/programs/probe_records.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct gt_bpf_usdt_site);
} usdt_sites SEC(".maps");

/* One read of the context for each register: the verifier refuses a computed offset. */
#define READ_REGISTER(number, name)                                                                \
	case number:                                                                               \
		value = ctx->name;                                                                 \
		__asm__ volatile("" : "+r"(value));                                                \
		break;

static __noinline __u64 register_value(struct pt_regs *ctx, __u32 number)
{
	__u64 value = 0;

	switch (number) {
		FOR_EACH_REGISTER(READ_REGISTER)
	}
	return value;
}

/* The 8 bytes at an address; only 4, 2 or 1 where the memory ends behind them. */
static __always_inline __u64 read_memory(__u64 address, __u32 bits)
{
	__u64 value = 0;

	if (bits == 64)
		bpf_probe_read_user(&value, 8, (void *)address);
	else if (bits == 32)
		bpf_probe_read_user(&value, 4, (void *)address);
	else if (bits == 16)
		bpf_probe_read_user(&value, 2, (void *)address);
	else
		bpf_probe_read_user(&value, 1, (void *)address);
	return value;
}

static __noinline __u64 argument_value(struct pt_regs *ctx, const struct gt_bpf_usdt_argument *a)
{
	__u64 value = a->constant;
	__u32 unused = 64 - a->bits;

	if (a->operand != GT_BPF_CONSTANT && a->base != GT_BPF_NO_REGISTER)
		value += register_value(ctx, a->base);
	if (a->operand == GT_BPF_MEMORY) {
		if (a->index != GT_BPF_NO_REGISTER)
			value += register_value(ctx, a->index) << (a->scale & 3);
		value = read_memory(value, a->bits);
	}
	value >>= a->shift & 63;
	value <<= unused & 63;
	return a->is_signed ? (__u64)((__s64)value >> (unused & 63)) : value >> (unused & 63);
}

SEC("kprobe")
int on_usdt(struct pt_regs *ctx)
{
	__u64 pid_tgid = current_ids();
	__u32 number = cookie_of_place(ctx);
	const struct gt_bpf_usdt_site *site;
	struct gt_bpf_probe p = { .head = { .start = bpf_ktime_get_ns() } };

	if (!is_traced(pid_tgid))
		return 0;
	site = bpf_map_lookup_elem(&usdt_sites, &number);
	if (!site)
		return 0;
	p.head.end = p.head.start;
	p.probe = site->probe;
	p.fields = site->fields;
	for (int i = 0; i < GT_PROBE_VALUES; i++)
		if (i < site->fields.n)
			p.values[i] = argument_value(ctx, &site->arguments[i]);
	write_probe(&p, pid_tgid);
	return 0;
}
#endif
