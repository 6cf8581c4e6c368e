/* BPF programs for requests to the kernel driver: system calls on files that are character devices,
 * or memory files of the simulated driver. gtcollect decides which devices are the driver's. */
#ifndef GT_BPF_DRIVER_REQUESTS_H
#define GT_BPF_DRIVER_REQUESTS_H
#include "collect/bpf/programs/scheduling.h"

#if defined(__TARGET_ARCH_x86)
enum { CALL_MMAP = 9, CALL_CLOSE = 3, CALL_IOCTL = 16, CALL_OPEN = 2, CALL_OPENAT = 257 };
#define ARG(regs, x86, arm64) BPF_CORE_READ(regs, x86)
#else
enum { CALL_MMAP = 222, CALL_CLOSE = 57, CALL_IOCTL = 29, CALL_OPEN = -1, CALL_OPENAT = 56 };
#error "requests: registers of this architecture"
#endif

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

/* The request that a thread is in. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct gt_bpf_request);
} requests SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gt_bpf_request);
} scratch SEC(".maps");

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

static __always_inline void begin_request(struct pt_regs *regs, __u32 number, __u64 pid_tgid)
{
	__u32 zero = 0, tid = (__u32)pid_tgid, fd = BPF_CORE_READ(regs, di);
	struct gt_bpf_request *r = bpf_map_lookup_elem(&scratch, &zero);
	struct thread *t;

	if (!r)
		return;
	if (number == CALL_MMAP)
		fd = BPF_CORE_READ(regs, r8);
	else if (number != CALL_IOCTL && number != CALL_CLOSE && number != CALL_OPENAT &&
		number != CALL_OPEN)
		return;
	__builtin_memset(r, 0, sizeof(*r));
	r->system_call = number;
	r->request = BPF_CORE_READ(regs, si);
	r->value = number == CALL_MMAP ? r->request
		: number == CALL_IOCTL ? BPF_CORE_READ(regs, dx)
				       : fd;
	if (number != CALL_OPEN && number != CALL_OPENAT && !describe_file(r, fd))
		return;
	t = bpf_map_lookup_elem(&threads, &tid);
	r->depth = t ? t->depth : 0;
	r->head.kind = GT_BPF_REQUEST;
	r->head.start = bpf_ktime_get_ns();
	bpf_map_update_elem(&requests, &tid, r, BPF_ANY);
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

static __always_inline void end_request(long long ret, __u64 pid_tgid)
{
	__u32 tid = (__u32)pid_tgid, cpu = bpf_get_smp_processor_id();
	struct gt_bpf_request *r = bpf_map_lookup_elem(&requests, &tid);
	void *ring;

	if (!r)
		return;
	r->head.end = bpf_ktime_get_ns();
	r->head.tgid = pid_tgid >> 32;
	r->head.tid = tid;
	bpf_get_current_comm(r->head.comm, sizeof(r->head.comm));
	r->ret = ret;
	if (r->system_call == CALL_IOCTL)
		copy_argument(r);
	if (r->system_call == CALL_OPEN || r->system_call == CALL_OPENAT) {
		r->value = ret;
		if (ret < 0 || !describe_file(r, (__u32)ret))
			goto done;
	}
	ring = bpf_map_lookup_elem(&rings, &cpu);
	if (!ring || bpf_ringbuf_output(ring, r, sizeof(*r), BPF_RB_NO_WAKEUP))
		count_loss(r->head.end);
done:
	bpf_map_delete_elem(&requests, &tid);
}

/* sys_enter(struct pt_regs *regs, long number) */
SEC("raw_tp/sys_enter")
int on_system_call(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)pid_tgid, number = ctx->args[1];

	if (!is_traced(pid_tgid))
		return 0;
	bpf_map_update_elem(&system_calls, &tid, &number, BPF_ANY);
	if (settings.requests)
		begin_request((struct pt_regs *)ctx->args[0], number, pid_tgid);
	return 0;
}

/* sys_exit(struct pt_regs *regs, long ret) */
SEC("raw_tp/sys_exit")
int on_system_call_end(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)pid_tgid;

	if (!is_traced(pid_tgid))
		return 0;
	bpf_map_delete_elem(&system_calls, &tid);
	if (settings.requests)
		end_request(ctx->args[1], pid_tgid);
	return 0;
}
#endif
