/* BPF programs that ask the filter of -a (process_filter.h): of each process at first, and again
 * when its name or its cgroup changes. So the other programs look into the map `traced` only. What
 * counts is the name and the cgroup of the process, which are those of its first thread.
 *
 * A child has the name of the thread that forks it, but it is the same program. So it matches if
 * its parent does, until it has another name or executes a program. */
#include "collect/bpf/programs/process_events.h"

/* ---- cgroups ---- */

struct kernfs_node {
	__u64 id;
	const char *name;
} __attribute__((preserve_access_index));
struct cgroup_root {
	int hierarchy_id; /* 0: of cgroup v2 */
} __attribute__((preserve_access_index));
struct cgroup {
	int level; /* of the root: 0 */
	struct kernfs_node *kn;
	struct cgroup_root *root;
	struct cgroup *ancestors[1]; /* by level; the last one is itself */
} __attribute__((preserve_access_index));
struct cgroup___before_linux_6_1 {
	__u64 ancestor_ids[1];
} __attribute__((preserve_access_index));
struct css_set {
	struct cgroup *dfl_cgrp; /* of cgroup v2 */
} __attribute__((preserve_access_index));
struct task_struct___cgroups {
	struct css_set *cgroups;
} __attribute__((preserve_access_index));

#define CGROUP_LEVELS 64 /* that are looked at */

/* The folder that took the place of the filter's cgroup; 0: none did. */
__u64 new_cgroup;

static __always_inline __u64 ancestor_id(struct cgroup *c, int level)
{
	struct cgroup___before_linux_6_1 *old = (void *)c;
	struct cgroup *ancestor = NULL;
	__u64 id = 0;

	if (bpf_core_field_exists(old->ancestor_ids)) {
		bpf_probe_read_kernel(&id, sizeof(id),
			(char *)c + bpf_core_field_offset(old->ancestor_ids) + level * sizeof(id));
		return id;
	}
	bpf_probe_read_kernel(&ancestor, sizeof(ancestor),
		(char *)c + bpf_core_field_offset(c->ancestors) + level * sizeof(ancestor));
	return BPF_CORE_READ(ancestor, kn, id);
}

/* Or below it. The filter does not know its level, if gtcollect is in a namespace of cgroups. */
static __always_inline bool is_in_cgroup(struct task_struct *task)
{
	struct task_struct___cgroups *with_cgroups = (void *)task;
	__u64 wanted = new_cgroup ? new_cgroup : settings.filter.cgroup;
	struct cgroup *c;
	int level;

	if (!wanted)
		return true;
	c = BPF_CORE_READ(with_cgroups, cgroups, dfl_cgrp);
	level = BPF_CORE_READ(c, level);
	for (int i = 0; i < CGROUP_LEVELS && i <= level; i++)
		if (ancestor_id(c, i) == wanted)
			return true;
	return false;
}

/* ---- processes ---- */

static __always_inline bool has_name(struct task_struct *first_thread)
{
	char name[GT_PROCESS_NAME];

	bpf_core_read(name, sizeof(name), &first_thread->comm);
	return !settings.filter.first || gt_process_filter_has_name(&settings.filter, name);
}

/* Of a process that the map has already. */
static __always_inline bool had_name(struct task_struct *first_thread)
{
	__u32 tgid = ids_of(first_thread) >> 32;
	const __u8 *value = bpf_map_lookup_elem(&traced, &tgid);

	return value && *value & GT_BPF_HAS_NAME;
}

/* matches: its name does; reports: gtcollect sets or removes the probes that are set for each
 * process, and looks which of its threads wait. */
static __always_inline void select_process(
	struct task_struct *first_thread, bool matches, bool reports)
{
	__u32 tgid = ids_of(first_thread) >> 32;
	const __u8 *value = bpf_map_lookup_elem(&traced, &tgid);
	__u8 old = value ? *value : 0, new = matches ? GT_BPF_HAS_NAME : 0;

	if (!tgid || tgid == settings.recorder)
		return;
	if (matches && is_permitted(first_thread) && is_in_cgroup(first_thread))
		new |= GT_BPF_TRACED;
	if (new == old || (!value && !(new &GT_BPF_TRACED)))
		return;
	trace_process(tgid, new);
	if (reports && (settings.any_file || settings.scheduling) && (new ^ old) & GT_BPF_TRACED)
		report_process(tgid, false);
}

/* ---- programs ---- */

/* For each thread of the machine, when gtcollect reads the iterator. */
SEC("iter/task")
int on_each_process(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && task->pid == task->tgid)
		select_process(task, has_name(task), false);
	return 0;
}

/* sched_process_fork(struct task_struct *parent, struct task_struct *child): a child of a traced
 * process is traced, too. */
SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0], *child = (void *)ctx->args[1];
	__u32 from = ids_of(parent) >> 32, to = ids_of(child) >> 32;
	const __u8 *value;

	if (from == to)
		return 0;
	value = bpf_map_lookup_elem(&traced, &from);
	if (settings.filters)
		select_process(child, (value && *value & GT_BPF_HAS_NAME) || has_name(child), true);
	else if (value)
		trace_process(to, *value);
	return 0;
}

/* sched_process_exec(struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm): the program
 * may run as another user. */
SEC("raw_tp/sched_process_exec")
int on_exec_as_user(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 tgid = ids_of(task) >> 32;

	if (settings.filters)
		select_process(task, has_name(task), true);
	else if (!is_permitted(task))
		bpf_map_delete_elem(&traced, &tgid);
	return 0;
}

/* task_rename(struct task_struct *task, const char *name): of its thread, or by exec */
SEC("raw_tp/task_rename")
int on_rename(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	char name[GT_PROCESS_NAME] = { 0 };

	if (BPF_CORE_READ(task, pid) != BPF_CORE_READ(task, tgid))
		return 0;
	bpf_probe_read_kernel_str(name, sizeof(name), (const void *)ctx->args[1]);
	select_process(task, gt_process_filter_has_name(&settings.filter, name), true);
	return 0;
}

/* cgroup_attach_task(struct cgroup *to, const char *path, struct task_struct *task, bool whole):
 * of any hierarchy, when the task is there */
SEC("raw_tp/cgroup_attach_task")
int on_cgroup_change(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[2];
	struct task_struct *first_thread = BPF_CORE_READ(task, group_leader);

	select_process(first_thread, had_name(first_thread) || has_name(first_thread), true);
	return 0;
}

/* cgroup_mkdir(struct cgroup *new, const char *path): does it take the place of the filter's, which
 * was removed? A unit that is started again has a new folder. No process is in it yet. */
SEC("raw_tp/cgroup_mkdir")
int on_new_cgroup(struct bpf_raw_tracepoint_args *ctx)
{
	struct cgroup *new = (void *)ctx->args[0];
	__u64 name[GT_CGROUP_NAME / 8] = { 0 };
	int level = BPF_CORE_READ(new, level);

	if (BPF_CORE_READ(new, root, hierarchy_id) || level < 1 ||
		ancestor_id(new, level - 1) != settings.filter.parent)
		return 0;
	bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(new, kn, name));
	for (int i = 0; i < GT_CGROUP_NAME / 8; i++)
		if (name[i] != settings.filter.name[i])
			return 0;
	new_cgroup = BPF_CORE_READ(new, kn, id);
	return 0;
}
