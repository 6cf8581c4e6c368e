/* In which system call a thread is: its registers tell it, or before Linux 5.15 what on_system_call
 * has noted. */
#ifndef GT_BPF_SYSTEM_CALLS_H
#define GT_BPF_SYSTEM_CALLS_H
#include "collect/bpf/programs/threads.h"

#define KERNEL_THREAD 0x200000 /* of its flags */

/* Needs has_registers. */
static __always_inline __u32 system_call_of(struct task_struct *task)
{
	/* in an exception or an interrupt, the number is -1 */
	return task->flags & KERNEL_THREAD
		? GT_BPF_NO_SYSTEM_CALL
		: (__u32)((struct pt_regs *)bpf_task_pt_regs(task))->CALL_NUMBER;
}

/* The first argument of the system call. */
static __always_inline __u64 call_argument_of(struct task_struct *task)
{
	return task->flags & KERNEL_THREAD
		? 0
		: ((struct pt_regs *)bpf_task_pt_regs(task))->CALL_ARGUMENT_1;
}

static __always_inline __u64 current_call_argument(void)
{
	return settings.has_registers ? call_argument_of(bpf_get_current_task_btf()) : 0;
}

static __always_inline __u32 current_system_call(void)
{
	struct thread *t;

	if (settings.has_registers)
		return system_call_of(bpf_get_current_task_btf());
	t = find_thread();
	return t && t->system_call ? t->system_call - 1 : GT_BPF_NO_SYSTEM_CALL;
}
#endif
