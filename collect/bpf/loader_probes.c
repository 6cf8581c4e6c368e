/* Probes in the dynamic loader of processes: it calls _dl_debug_state, for debuggers, when it has
 * mapped a library. A tracepoint at all system calls, which sees that too (on_new_code), would make
 * each probed call slower, because the return of a probe is a system call. So it is attached only
 * if something else needs it, or if a process has no such loader. */
#include <bpf/libbpf.h>
#include <errno.h>
#include "collect/bpf/bpf_internal.h"
#include "collect/bpf/mapped_library.h"

bool gt_loader_is_enough(const struct gt_bpf_way *b)
{
	return !b->opt.all_processes && !b->opt.stops && !b->opt.requests && !b->opt.scheduling &&
		!b->filters;
}

static int link_loader(struct gt_bpf_way *b, const struct gt_mapped_library *l, pid_t pid,
	const struct gt_library_functions *f)
{
	struct gt_probe_places places = { NULL };
	struct gt_bpf_attached new = { .device = l->device, .inode = l->inode, .pid = pid };
	int rc = f->n ? gt_probe_places_add(&places, f->list[0].offset, 0) : -ENOENT;

	if (!rc && gt_grow(&b->attached, &b->attached_cap, b->nattached + 1, sizeof(new)))
		rc = -ENOMEM;
	if (!rc)
		rc = gt_probe_link_open(&new.link, &b->loader_programs, l->path, pid, &places);
	if (!rc)
		b->attached[b->nattached++] = new;
	gt_probe_places_release(&places);
	return rc;
}

static int watch(struct gt_bpf_way *b, pid_t pid)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_library_functions f;
	struct gt_mapped_library l;
	int rc;

	if (gt_mapped_libraries(pid, "ld-", &l, 1, &err) < 1)
		return -ENOENT;
	if (gt_bpf_is_attached(b, &l, pid))
		return 0;
	rc = gt_library_functions_read(&f, &l, "_dl_debug_state", false, &err);
	if (!rc)
		rc = link_loader(b, &l, pid, &f);
	gt_library_functions_release(&f);
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
