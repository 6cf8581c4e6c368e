/* Ids of processes and threads as gtcollect sees them: in its pid namespace, which may be that of a
 * container. Others than those of the first namespace lie in a list, the outermost first. */
#ifndef GT_BPF_PROCESS_IDS_H
#define GT_BPF_PROCESS_IDS_H
#include "collect/bpf/programs/maps.h"

struct pid_namespace {
	struct {
		unsigned inum;
	} ns;
} __attribute__((preserve_access_index));
struct upid {
	int nr;
	struct pid_namespace *ns;
};
struct pid {
	unsigned level;
	struct upid numbers[1];
} __attribute__((preserve_access_index));
struct signal_struct {
	struct {
		int counter;
	} live; /* threads */
} __attribute__((preserve_access_index));
struct cred {
	struct {
		unsigned val;
	} uid, euid, suid;
} __attribute__((preserve_access_index));
struct mm_struct {
	unsigned long flags;
} __attribute__((preserve_access_index));
struct mm_struct___linux_6_18 {
	struct {
		unsigned long __mm_flags[1];
	} flags;
} __attribute__((preserve_access_index));
struct task_struct {
	int pid, tgid; /* of its first thread both are equal */
	unsigned flags;
	int on_cpu; /* it runs, or is about to leave its processor */
	const struct cred *real_cred;
	struct signal_struct *signal;
	char comm[16];
	struct pid *thread_pid;
	struct task_struct *group_leader;
	void *mm;
} __attribute__((preserve_access_index));

struct bpf_iter_meta;
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __attribute__((preserve_access_index));

#define NAMESPACES 4 /* one in the other; a container in a container in a container has 4 */

/* 0: it is not in gtcollect's namespace. */
static __always_inline __u32 number_of(struct pid *pid)
{
	__u32 level = BPF_CORE_READ(pid, level);
	const char *numbers = (const char *)pid + bpf_core_field_offset(struct pid, numbers);

#pragma unroll
	for (int i = 1; i < NAMESPACES; i++) {
		struct upid u = { 0 };

		if (i > level || bpf_probe_read_kernel(&u, sizeof(u), numbers + i * sizeof(u)))
			return 0;
		if (BPF_CORE_READ(u.ns, ns.inum) == settings.pid_namespace)
			return u.nr;
	}
	return 0;
}

/* The process in the upper half, the thread in the lower. 0: as of number_of. */
static __always_inline __u64 ids_of(struct task_struct *task)
{
	if (!settings.pid_namespace)
		return (__u64)BPF_CORE_READ(task, tgid) << 32 | (__u32)BPF_CORE_READ(task, pid);
	return (__u64)number_of(BPF_CORE_READ(task, group_leader, thread_pid)) << 32 |
		number_of(BPF_CORE_READ(task, thread_pid));
}

static __always_inline __u64 current_ids(void)
{
	return settings.pid_namespace ? ids_of((struct task_struct *)bpf_get_current_task())
				      : bpf_get_current_pid_tgid();
}
#define DUMPABLE 3 /* bits of mm_struct.flags; the value of a process that its user may read: 1 */

static __always_inline bool is_dumpable(const char *mm)
{
	unsigned long flags = 0;
	int at;

	if (bpf_core_field_exists(struct mm_struct___linux_6_18, flags.__mm_flags))
		at = bpf_core_field_offset(struct mm_struct___linux_6_18, flags);
	else
		at = bpf_core_field_offset(struct mm_struct, flags);
	bpf_probe_read_kernel(&flags, sizeof(flags), mm + at);
	return (flags & DUMPABLE) == 1;
}

/* May the user of gtcollect see the data of the process? As the kernel decides of /proc/PID/maps.
 */
static __always_inline bool is_permitted(struct task_struct *task)
{
	const struct cred *c = BPF_CORE_READ(task, real_cred);

	return !settings.only_user ||
		(BPF_CORE_READ(c, uid.val) == settings.user &&
			BPF_CORE_READ(c, euid.val) == settings.user &&
			BPF_CORE_READ(c, suid.val) == settings.user &&
			is_dumpable(BPF_CORE_READ(task, mm)));
}
#endif
