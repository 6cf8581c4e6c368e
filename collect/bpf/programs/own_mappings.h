/* BPF programs that tell gtcollect the inodes of files that gtcollect has mapped, and whether a
 * process maps such an inode (links/file_identity.c). */
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

struct rb_root {
	void *rb_node;
} __attribute__((preserve_access_index));
struct rb_root_cached {
	struct rb_root rb_root;
} __attribute__((preserve_access_index));
struct address_space {
	struct rb_root_cached i_mmap; /* the file's mappings in all processes */
} __attribute__((preserve_access_index));
struct inode___mapped {
	struct address_space *i_mapping;
	unsigned i_nlink;
} __attribute__((preserve_access_index));

/* gtcollect runs it, with the address of the inode of a file that has probes. Returns enum
 * gt_file_use. */
SEC("raw_tp")
int on_file_use(struct bpf_raw_tracepoint_args *ctx)
{
	struct inode___mapped *inode = (void *)ctx->args[0];
	struct address_space *all = NULL;
	void *first = NULL;
	unsigned names = 1;

	if (bpf_core_read(&all, sizeof(all), &inode->i_mapping) || !all ||
		bpf_core_read(&first, sizeof(first), &all->i_mmap.rb_root.rb_node) || first)
		return GT_FILE_IS_MAPPED;
	bpf_core_read(&names, sizeof(names), &inode->i_nlink);
	return names ? GT_FILE_IS_UNMAPPED : GT_FILE_IS_DELETED;
}
#endif
