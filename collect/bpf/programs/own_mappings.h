/* A BPF program that tells gtcollect the inodes of files that gtcollect has mapped
 * (links/file_identity.c). */
#ifndef GT_BPF_OWN_MAPPINGS_H
#define GT_BPF_OWN_MAPPINGS_H
#include "collect/bpf/programs/driver_requests.h"

struct seq_file;
struct bpf_iter_meta___own {
	struct seq_file *seq;
} __attribute__((preserve_access_index));
struct vm_area_struct {
	unsigned long vm_start;
	struct file *vm_file;
} __attribute__((preserve_access_index));
struct bpf_iter__task_vma {
	struct bpf_iter_meta___own *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
} __attribute__((preserve_access_index));

SEC("iter/task_vma")
int on_own_mapping(struct bpf_iter__task_vma *ctx)
{
	struct task_struct *task = ctx->task;
	struct vm_area_struct *vma = ctx->vma;
	struct gt_bpf_own_mapping to;

	/* before Linux 6.1 it comes here with all processes */
	if (!task || !vma || task->tgid != bpf_get_current_pid_tgid() >> 32)
		return 0;
	to.from = vma->vm_start;
	to.inode = (__u64)BPF_CORE_READ(vma, vm_file, f_inode);
	bpf_seq_write(ctx->meta->seq, &to, sizeof(to));
	return 0;
}
#endif
