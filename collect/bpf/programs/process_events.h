/* BPF programs for what changes the code of a traced process: exec, the start of a child, and the
 * mapping of a library. gtcollect learns of the last two at once, because a ring of their own wakes
 * it, and sets probes. With `stop` the process waits meanwhile, so that no call is missed. */
#include "collect/bpf/programs/driver_requests.h"

/* gtcollect has forked these, and they are traced as soon as they execute the program. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, __u8);
} starting SEC(".maps");

/* Processes that wait until gtcollect continues them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u8);
} stopped SEC(".maps");

#define EXECUTABLE 4    /* of mmap: PROT_EXEC */
#define ANONYMOUS 0x20  /* of mmap */
#define SHARES_VM 0x100 /* of clone */
#define STOP_SIGNAL 19  /* SIGSTOP */

/* Of the current process, which is marked before it may stop. */
static __always_inline bool stop_process(__u32 tgid)
{
	__u8 value = 1;

	if (bpf_map_update_elem(&stopped, &tgid, &value, BPF_ANY)) {
		__sync_fetch_and_add(&process_losses.unprobed, 1);
		return false;
	}
	if (!bpf_send_signal(STOP_SIGNAL))
		return true;
	bpf_map_delete_elem(&stopped, &tgid);
	return false;
}

/* gtcollect sets probes. is_current: the process may wait for them. */
static __always_inline void report_process(__u32 tgid, bool is_current)
{
	struct gt_bpf_process_event *to = bpf_ringbuf_reserve(&process_events, sizeof(*to), 0);

	if (!to) {
		__sync_fetch_and_add(&process_losses.unprobed, 1);
		return;
	}
	to->tgid = tgid;
	to->is_stopped = settings.stop && is_current && stop_process(tgid);
	bpf_ringbuf_submit(to, BPF_RB_FORCE_WAKEUP);
}

/* sched_process_exec(struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm): calls that
 * were open are gone, and the thread may have another id and name. */
SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 ids = current_ids();
	__u32 tgid = ids >> 32;
	struct thread *t = find_thread();

	if (t) {
		t->depth = 0;
		t->record.call.head.tid = 0;
	}
	forget_functions((__u32)ids);
	if (!settings.pid_namespace) /* a thread gets the id of its process */
		forget_functions((__u32)ctx->args[1]);
	if (bpf_map_lookup_elem(&starting, &tgid)) {
		trace_process(tgid, GT_BPF_TRACED);
		bpf_map_delete_elem(&starting, &tgid);
	}
	if (has_records(ids))
		write_head(GT_BPF_EXEC);
	/* any file may have USDT probes, also the program's own */
	if (tgid && (settings.any_file || settings.watches_loaders) && is_traced(ids))
		report_process(tgid, true);
	return 0;
}

static __always_inline bool has_prefix(const char name[GT_BPF_LIBRARY_PREFIX], int i)
{
	for (int k = 0; k < GT_BPF_LIBRARY_PREFIX; k++) {
		char c = settings.libraries[i][k];

		if (!c)
			return true;
		if (c != name[k])
			return false;
	}
	return true;
}

/* Does gtcollect look for functions in files of this name? */
static __always_inline bool is_library(__u32 fd)
{
	char name[GT_BPF_LIBRARY_PREFIX] = { 0 };
	struct file *file = file_of(fd);

	if (!file ||
		bpf_probe_read_kernel_str(
			name, sizeof(name), BPF_CORE_READ(file, f_path.dentry, d_name.name)) < 0)
		return false;
	for (int i = 0; i < GT_BPF_LIBRARIES; i++)
		if (i < settings.nlibraries && has_prefix(name, i))
			return true;
	return false;
}

static __always_inline bool has_mapped_library(struct pt_regs *regs, long ret, bool any)
{
	return (ret >= 0 || ret < -4095) && BPF_CORE_READ(regs, CALL_ARGUMENT_3) & EXECUTABLE &&
		!(BPF_CORE_READ(regs, CALL_ARGUMENT_4) & ANONYMOUS) &&
		(any || is_library(BPF_CORE_READ(regs, CALL_ARGUMENT_5)));
}

/* In a child: it has a copy of its parent's memory, but not yet the probes. */
static __always_inline bool is_child(struct pt_regs *regs, __u32 number, long ret, __u64 pid_tgid)
{
	return !ret && (__u32)pid_tgid == pid_tgid >> 32 &&
		(number != CALL_CLONE || !(BPF_CORE_READ(regs, CALL_ARGUMENT_1) & SHARES_VM));
}

/* _dl_debug_state of the dynamic loader, after it has mapped a library */
SEC("kprobe")
int on_loader(struct pt_regs *ctx)
{
	__u64 pid_tgid = current_ids();

	if (is_traced(pid_tgid))
		report_process(pid_tgid >> 32, true);
	return 0;
}

/* sched_process_fork(struct task_struct *parent, struct task_struct *child): the child has a copy
 * of its parent's memory, but not yet the probes. */
SEC("raw_tp/sched_process_fork")
int on_child(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0], *child = (void *)ctx->args[1];

	if (BPF_CORE_READ(parent, mm) != BPF_CORE_READ(child, mm) && is_traced(ids_of(parent)))
		report_process(ids_of(child) >> 32, false);
	return 0;
}

/* sys_exit(struct pt_regs *regs, long ret): the registers still are those of the arguments. Each
 * system call of the machine runs it, so the first question is the number. */
SEC("tp_btf/sys_exit")
int on_new_code(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	__u32 number = regs->CALL_NUMBER, tgid;
	bool is_recorded;
	long ret = ctx[1];
	__u64 pid_tgid;
	__u8 *value;

	if (number != CALL_MMAP && !is_first_call_of_child(number))
		return 0;
	pid_tgid = current_ids();
	tgid = pid_tgid >> 32;
	value = bpf_map_lookup_elem(&traced, &tgid);
	is_recorded = settings.all_processes || (value && *value & GT_BPF_TRACED);
	/* with a filter, the driver has probes in all processes: they may match it later */
	if (!is_recorded && !settings.filters)
		return 0;
	if (number == CALL_MMAP ? !has_mapped_library(regs, ret, settings.any_file && is_recorded)
				: !value || !(*value & GT_BPF_HAS_PROBES) ||
				!is_child(regs, number, ret, pid_tgid))
		return 0;
	report_process(tgid, true);
	return 0;
}
