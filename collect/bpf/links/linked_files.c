#include "collect/bpf/links/linked_files.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include "formats/base/buf.h"

bool gt_linked_files_have(const struct gt_linked_files *f, const struct gt_linked_file *which)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct gt_linked_file *l = &f->list[i];

		if (l->inode == which->inode && l->device == which->device &&
			l->kind == which->kind && (!l->pid || l->pid == which->pid))
			return true;
	}
	return false;
}

int gt_linked_files_add(struct gt_linked_files *f, struct gt_linked_file which,
	const struct gt_probe_programs *programs, const char *path,
	const struct gt_probe_places *places)
{
	int rc;

	if (gt_grow(&f->list, &f->cap, f->n + 1, sizeof(*f->list)))
		return -ENOMEM;
	rc = gt_probe_link_open(&which.link, programs, path, which.pid, places);
	if (rc)
		return rc;
	if (which.link.is_of_all)
		which.pid = 0;
	f->list[f->n++] = which;
	return 0;
}

static bool has_ended(pid_t pid) { return pid && kill(pid, 0) && errno == ESRCH; }

/* pid: 0: of all that have ended. */
static bool remove_links(struct gt_linked_files *f, pid_t pid)
{
	size_t kept = 0, before = f->n;

	for (size_t i = 0; i < f->n; i++)
		if (pid ? f->list[i].pid == pid : has_ended(f->list[i].pid))
			gt_probe_link_close(&f->list[i].link);
		else
			f->list[kept++] = f->list[i];
	f->n = kept;
	return kept < before;
}

bool gt_linked_files_remove(struct gt_linked_files *f, pid_t pid) { return remove_links(f, pid); }

bool gt_linked_files_remove_ended(struct gt_linked_files *f) { return remove_links(f, 0); }

void gt_linked_files_close(struct gt_linked_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		gt_probe_link_close(&f->list[i].link);
	free(f->list);
	*f = (struct gt_linked_files){ NULL };
}
