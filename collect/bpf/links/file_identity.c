#include "collect/bpf/links/file_identity.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>
#include "collect/bpf/bpf_events.h"

/* Of union bpf_iter_link_info: one thread only (Linux 6.1). */
struct one_thread {
	uint32_t tid, pid, pid_fd;
};

static struct bpf_link *iterate(const struct bpf_program *program, const struct one_thread *which)
{
	/* libbpf refuses options whose padding is not zero; the macro clears it */
	LIBBPF_OPTS(bpf_iter_attach_opts, opt,
		.link_info = (union bpf_iter_link_info *)(uintptr_t)which,
		.link_info_len = which ? sizeof(*which) : 0);

	return bpf_program__attach_iter(program, &opt);
}

/* The inode of the mapping that begins there. */
static uint64_t find_inode(int iterator, uint64_t from)
{
	struct gt_bpf_own_mapping list[256];
	uint64_t found = 0;
	ssize_t n;

	/* it gives whole records */
	while (!found && (n = read(iterator, list, sizeof(list))) > 0)
		for (size_t i = 0; i < (size_t)n / sizeof(*list); i++)
			if (list[i].from == from)
				found = list[i].inode;
	return found;
}

uint64_t gt_file_identity(const struct bpf_program *own_mappings, int fd)
{
	const struct one_thread self = { .tid = (uint32_t)getpid() };
	void *p = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	struct bpf_link *link = p != MAP_FAILED ? iterate(own_mappings, &self) : NULL;
	int iterator;
	uint64_t inode = 0;

	if (!link && p != MAP_FAILED)
		link = iterate(own_mappings, NULL);
	iterator = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	if (iterator >= 0) {
		inode = find_inode(iterator, (uintptr_t)p);
		close(iterator);
	}
	bpf_link__destroy(link);
	if (p != MAP_FAILED)
		munmap(p, 1);
	return inode;
}

enum gt_file_use gt_file_use(const struct bpf_program *file_use, uint64_t identity)
{
	LIBBPF_OPTS(bpf_test_run_opts, opt, .ctx_in = &identity, .ctx_size_in = sizeof(identity));

	if (!file_use || !identity || bpf_prog_test_run_opts(bpf_program__fd(file_use), &opt))
		return GT_FILE_IS_MAPPED;
	return (enum gt_file_use)opt.retval;
}
