/* Probes in the dynamic loader of processes: it calls _dl_debug_state, for debuggers, when it has
 * mapped a library. A tracepoint at all system calls, which sees that too (on_new_code), would make
 * each probed call slower, because the return of a probe is a system call. So it is attached only
 * if something else needs it, or if a process has no such loader. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>
#include "collect/bpf/bpf_state.h"
#include "collect/bpf/processes/new_code.h"
#include "collect/bpf/links/mapped_library.h"

bool gt_loader_is_enough(const struct gt_bpf_way *b)
{
	return !b->opt.all_processes && !b->opt.stops && !b->opt.requests && !b->opt.scheduling;
}

static int link_loader(struct gt_bpf_way *b, const struct gt_linked_file *which, int fd,
	const char *name, struct gt_err *err)
{
	struct gt_probe_places places = { NULL };
	struct gt_library_functions f;
	int rc = gt_library_functions_read(&f, fd, name, "_dl_debug_state", false, err);

	if (!rc)
		rc = f.n ? gt_probe_places_add(&places, f.list[0].offset, 0) : -ENOENT;
	if (!rc)
		rc = gt_linked_files_add(&b->linked, *which, &b->loader_programs, fd, &places);
	gt_library_functions_release(&f);
	gt_probe_places_release(&places);
	return rc > 0 ? 0 : rc ? rc : -ENOENT;
}

static bool is_loader(const void *arg, const char *name)
{
	(void)arg;
	return gt_mapped_file_has_prefix(name, "ld-");
}

static int watch(struct gt_bpf_way *b, pid_t pid)
{
	struct gt_linked_file which = { .kind = GT_LINKED_LOADER, .pid = pid };
	struct gt_err err = GT_ERR_INIT;
	struct gt_mapped_library l;
	int fd, rc;

	if (gt_mapped_libraries(pid, is_loader, NULL, &l, 1, &err) < 1)
		return -ENOENT;
	fd = rc = gt_mapped_library_open(&l, &err);
	if (fd < 0)
		return rc;
	rc = gt_linked_files_identify(&b->linked, &which, fd)
		? 0
		: link_loader(b, &which, fd, l.name, &err);
	close(fd);
	return rc;
}

int gt_loader_watch(struct gt_bpf_way *b, pid_t pid)
{
	struct bpf_program *each = bpf_object__find_program_by_name(b->object, "on_new_code");

	if (!gt_loader_is_enough(b) || b->new_code || !watch(b, pid))
		return 0;
	b->new_code = bpf_program__attach(each);
	return b->new_code ? 0 : -errno;
}
