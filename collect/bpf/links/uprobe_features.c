#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <unistd.h>
#include "collect/bpf/links/probe_link.h"

/* The path is a folder, so no link is made: the kernel says EBADF, if it knows the type. */
static int error_of_link(int program, unsigned type, pid_t pid)
{
	const uint64_t place = 0;
	const struct gt_probe_places places = { .offsets = (uint64_t *)&place, .n = 1 };
	int link = gt_multi_link(program, type, 0, "/", pid, &places);

	if (link >= 0)
		close(link);
	return link;
}

/* A program of that type; negative: the kernel has none. */
static int load_empty(unsigned type)
{
	/* r0 = 0; exit */
	const struct bpf_insn code[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT } };
	struct bpf_prog_load_opts opt = { .sz = sizeof(opt),
		.expected_attach_type = (enum bpf_attach_type)type };

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "gt_try", "GPL", code, 2, &opt);
}

struct gt_uprobe_features gt_uprobe_features(void)
{
	struct gt_uprobe_features f = { false };
	int program = load_empty(GT_UPROBE_MULTI);

	if (program >= 0) {
		f.multi = error_of_link(program, GT_UPROBE_MULTI, 0) == -EBADF;
		/* since Linux 6.10, which looks for a process instead of a thread, it is checked
		 * before the path */
		f.of_process = f.multi && error_of_link(program, GT_UPROBE_MULTI, -1) == -EINVAL;
		close(program);
	}
	program = load_empty(GT_UPROBE_SESSION);
	if (program >= 0) {
		f.session = error_of_link(program, GT_UPROBE_SESSION, 0) == -EBADF;
		close(program);
	}
	return f;
}
