/* Does a program run in the work of an interrupt, which is not that of the current thread? The
 * kernel's tracepoints of interrupts tell it. */
#ifndef GT_BPF_INTERRUPT_WORK_H
#define GT_BPF_INTERRUPT_WORK_H
#include "collect/bpf/programs/system_calls.h"

#define NET_RX 3 /* number of a softirq */

/* A thread can be interrupted by all three, the last one first. */
struct interrupts {
	__u8 softirq; /* its number plus 1; 0: none */
	__u8 handler, timer;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct interrupts);
} interrupts SEC(".maps");

static __always_inline struct interrupts *interrupts_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&interrupts, &zero);
}

/* In none of them threads are switched. So this ends one whose end had no program, because it
 * began before gtcollect attached, or because the end interrupted the program itself. */
static __always_inline void end_interrupts(void)
{
	struct interrupts *in = interrupts_here();

	if (in)
		*in = (struct interrupts){ 0 };
}

/* A thread that sends to another one of this machine also receives for it, in a softirq inside its
 * system call. That is its own work. */
static __always_inline bool is_work_of_interrupt(void)
{
	struct interrupts *in = interrupts_here();

	if (!in)
		return false;
	return in->handler || in->timer ||
		(in->softirq &&
			!(in->softirq == NET_RX + 1 && may_use_socket(current_system_call())));
}

#define AT_INTERRUPT(tracepoint, field, value)                                                     \
	SEC("raw_tp/" #tracepoint)                                                                 \
	int on_##tracepoint(struct bpf_raw_tracepoint_args *ctx)                                   \
	{                                                                                          \
		struct interrupts *in = interrupts_here();                                         \
                                                                                                   \
		if (in)                                                                            \
			in->field = value;                                                         \
		return 0;                                                                          \
	}

AT_INTERRUPT(softirq_entry, softirq, ctx->args[0] + 1)
AT_INTERRUPT(softirq_exit, softirq, 0)
AT_INTERRUPT(irq_handler_entry, handler, 1)
AT_INTERRUPT(irq_handler_exit, handler, 0)
AT_INTERRUPT(hrtimer_expire_entry, timer, 1)
AT_INTERRUPT(hrtimer_expire_exit, timer, 0)
#endif
