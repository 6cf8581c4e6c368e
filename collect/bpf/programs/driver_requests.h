/* BPF programs for requests to the kernel driver: system calls on files that are character devices,
 * or memory files of the simulated driver. gtcollect decides which devices are the driver's. */
#ifndef GT_BPF_DRIVER_REQUESTS_H
#define GT_BPF_DRIVER_REQUESTS_H
#include "collect/bpf/programs/scheduling.h"

struct qstr {
	const unsigned char *name;
} __attribute__((preserve_access_index));
struct dentry {
	struct qstr d_name;
} __attribute__((preserve_access_index));
struct path {
	struct dentry *dentry;
} __attribute__((preserve_access_index));
struct inode {
	unsigned short i_mode;
	__u32 i_rdev;
} __attribute__((preserve_access_index));
struct file {
	struct path f_path;
	struct inode *f_inode;
} __attribute__((preserve_access_index));
struct fdtable {
	unsigned max_fds;
	struct file **fd;
} __attribute__((preserve_access_index));
struct files_struct {
	struct fdtable *fdt;
} __attribute__((preserve_access_index));
struct task_struct___files {
	struct files_struct *files;
} __attribute__((preserve_access_index));

#define TYPE_OF_FILE 0170000
#define CHARACTER_DEVICE 0020000
#define REGULAR_FILE 0100000

/* An open file of the current process, or NULL. */
static __always_inline struct file *file_of(__u32 fd)
{
	struct task_struct___files *task = (void *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **list, *file;

	if (fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	list = BPF_CORE_READ(table, fd);
	return bpf_probe_read_kernel(&file, sizeof(file), list + fd) ? NULL : file;
}

/* Fills in what the file is. False: it cannot be the driver's. */
static __always_inline bool describe_file(struct gt_bpf_request *r, __u32 fd)
{
	struct file *file = file_of(fd);
	struct inode *inode;
	unsigned type;

	if (!file)
		return false;
	inode = BPF_CORE_READ(file, f_inode);
	type = BPF_CORE_READ(inode, i_mode) & TYPE_OF_FILE;
	r->device = BPF_CORE_READ(inode, i_rdev);
	r->is_memory_file = type == REGULAR_FILE;
	if (type == CHARACTER_DEVICE)
		return true;
	if (type != REGULAR_FILE ||
		bpf_probe_read_kernel_str(r->name, sizeof(r->name),
			BPF_CORE_READ(file, f_path.dentry, d_name.name)) < 17)
		return false;
	return r->name[0] == 'm' && r->name[5] == ':' && r->name[6] == 's' && r->name[7] == 'i' &&
		r->name[8] == 'm' && r->name[9] == ':';
}

static __always_inline bool may_be_request(__u32 number)
{
	return number == CALL_IOCTL || number == CALL_MMAP || number == CALL_CLOSE ||
		number == CALL_OPENAT || number == CALL_OPEN;
}

static __always_inline void begin_request(struct thread *t, struct pt_regs *regs, __u32 number)
{
	__u32 fd = number == CALL_MMAP ? BPF_CORE_READ(regs, CALL_ARGUMENT_5)
				       : BPF_CORE_READ(regs, CALL_ARGUMENT_1);
	struct gt_bpf_request *r = &t->request;

	__builtin_memset(r, 0, sizeof(*r));
	r->system_call = number;
	r->request = BPF_CORE_READ(regs, CALL_ARGUMENT_2);
	r->value = number == CALL_MMAP ? r->request
		: number == CALL_IOCTL ? BPF_CORE_READ(regs, CALL_ARGUMENT_3)
				       : fd;
	if (number != CALL_OPEN && number != CALL_OPENAT && !describe_file(r, fd))
		return;
	r->depth = t->depth;
	r->head.kind = GT_BPF_REQUEST;
	r->head.start = bpf_ktime_get_ns();
}

/* Copies the struct of an ioctl, after the driver has written it. */
static __always_inline void copy_argument(struct gt_bpf_request *r)
{
	__u64 pointer;

	if (!bpf_probe_read_user(r->argument, sizeof(r->argument), (void *)r->value))
		r->argument_bytes = sizeof(r->argument);
	else if (!bpf_probe_read_user(r->argument, 16, (void *)r->value))
		r->argument_bytes = 16;
	__builtin_memcpy(&pointer, r->argument + 8, 8);
	if (r->argument_bytes && (r->request & 0xff) == 211 &&
		!bpf_probe_read_user(r->body, sizeof(r->body), (void *)pointer))
		r->body_bytes = sizeof(r->body);
}

static __always_inline void end_request(struct gt_bpf_request *r, long long ret)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);

	r->head.end = bpf_ktime_get_ns();
	name_thread(&r->head);
	r->ret = ret;
	if (r->system_call == CALL_IOCTL)
		copy_argument(r);
	if (r->system_call == CALL_OPEN || r->system_call == CALL_OPENAT) {
		r->value = ret;
		if (ret < 0 || !describe_file(r, (__u32)ret))
			return;
	}
	if (!ring || bpf_ringbuf_output(ring, r, sizeof(*r), BPF_RB_NO_WAKEUP))
		count_loss(r->head.end);
}

/* sys_enter(struct pt_regs *regs, long number). Each system call of the machine runs it, also those
 * that return probes make, so the first question is the number. */
SEC("tp_btf/sys_enter")
int on_system_call(__u64 *ctx)
{
	__u32 number = ctx[1];
	struct thread *t;

	if ((!settings.system_calls && !may_be_request(number)) || !is_traced(current_ids()))
		return 0;
	t = make_thread();
	if (!t)
		return 0;
	t->system_call = number + 1;
	t->request.head.start = 0;
	if (settings.requests && may_be_request(number))
		begin_request(t, (struct pt_regs *)ctx[0], number);
	return 0;
}

/* sys_exit(struct pt_regs *regs, long ret) */
SEC("tp_btf/sys_exit")
int on_system_call_end(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	struct thread *t;

	if (!settings.system_calls && !may_be_request(regs->CALL_NUMBER))
		return 0;
	t = find_thread();
	if (!t || !t->system_call)
		return 0;
	t->system_call = 0;
	if (t->request.head.start)
		end_request(&t->request, ctx[1]);
	return 0;
}
#endif
