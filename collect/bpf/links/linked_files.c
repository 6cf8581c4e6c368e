#include "collect/bpf/links/linked_files.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include "collect/bpf/links/file_identity.h"
#include "formats/base/buf.h"

static bool is_same_file(const struct gt_linked_file *a, const struct gt_linked_file *b)
{
	return (a->inode == b->inode && a->device == b->device) ||
		(a->identity && a->identity == b->identity);
}

bool gt_linked_files_have(const struct gt_linked_files *f, const struct gt_linked_file *which)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct gt_linked_file *l = &f->list[i];

		if (l->kind == which->kind && (!l->pid || l->pid == which->pid) &&
			is_same_file(l, which))
			return true;
	}
	return false;
}

bool gt_linked_files_have_any(
	const struct gt_linked_files *f, unsigned kind, dev_t device, ino_t inode)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->list[i].kind == kind && f->list[i].device == device &&
			f->list[i].inode == inode)
			return true;
	return false;
}

bool gt_linked_files_identify(const struct gt_linked_files *f, struct gt_linked_file *which, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	which->device = st.st_dev;
	which->inode = st.st_ino;
	if (gt_linked_files_have(f, which))
		return true;
	which->identity = f->own_mappings ? gt_file_identity(f->own_mappings, fd) : 0;
	return gt_linked_files_have(f, which);
}

/* ---- places that the kernel refuses ---- */

uint64_t gt_file_changed(const struct stat *st)
{
	return (uint64_t)st->st_ctim.tv_sec * 1000000000u + (uint64_t)st->st_ctim.tv_nsec;
}

/* The key of a place of the file. */
static struct gt_refused_place place_at(
	const struct gt_linked_file *which, const struct stat *st, uint64_t offset)
{
	return (struct gt_refused_place){ .device = which->device,
		.inode = which->inode,
		.changed = gt_file_changed(st),
		.offset = offset,
		.kind = which->kind };
}

static int note_refusals(struct gt_linked_files *f, const struct gt_linked_file *which,
	const struct stat *st, const struct gt_refusals *refusals)
{
	for (size_t i = 0; i < refusals->n; i++) {
		struct gt_refused_place r = place_at(which, st, refusals->list[i].offset);

		r.cookie = refusals->list[i].cookie;
		r.why = refusals->list[i].why;
		if (gt_map_add_item(&f->refused_map, &f->refused, &f->nrefused, &f->refused_cap,
			    sizeof(r), &r, GT_REFUSED_PLACE_KEY) == UINT32_MAX)
			return -ENOMEM;
	}
	return 0;
}

/* The places of which it is not known that the kernel refuses them. */
static int select_places(const struct gt_linked_files *f, const struct gt_linked_file *which,
	const struct stat *st, const struct gt_probe_places *all, struct gt_probe_places *some)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < all->n; i++) {
		const struct gt_refused_place r = place_at(which, st, all->offsets[i]);

		if (gt_map_find_item(&f->refused_map, f->refused, sizeof(r), &r,
			    GT_REFUSED_PLACE_KEY) == UINT32_MAX)
			rc = gt_probe_places_copy(some, all, i);
	}
	return rc;
}

/* ---- links ---- */

/* Returns the number of places that have probes, or negative. */
static int link_places(struct gt_linked_files *f, struct gt_linked_file *which,
	const struct gt_probe_programs *programs, const char *path, const struct stat *st,
	const struct gt_probe_places *places)
{
	struct gt_refusals refusals;
	int rc = gt_probe_link_open(&which->link, programs, path, which->pid, places, &refusals),
	    n = (int)(places->n - refusals.n);

	if (!rc)
		rc = note_refusals(f, which, st, &refusals);
	if (rc || !n)
		gt_probe_link_close(&which->link);
	gt_refusals_release(&refusals);
	return rc ? rc : n;
}

int gt_linked_files_add(struct gt_linked_files *f, struct gt_linked_file which,
	const struct gt_probe_programs *programs, int fd, const struct gt_probe_places *places)
{
	struct gt_probe_places some = { NULL };
	struct stat st;
	char path[32];
	int rc = 0;

	if (gt_grow(&f->list, &f->cap, f->n + 1, sizeof(*f->list)))
		return -ENOMEM;
	if (fstat(fd, &st))
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (f->nrefused) {
		rc = select_places(f, &which, &st, places, &some);
		places = &some;
	}
	if (!rc && places->n)
		rc = link_places(f, &which, programs, path, &st, places);
	gt_probe_places_release(&some);
	if (rc <= 0)
		return rc;
	if (which.link.is_of_all)
		which.pid = 0;
	f->list[f->n++] = which;
	return rc;
}

/* Closes the links for which `is_over` is true. Returns whether there were any. */
static bool remove_links(struct gt_linked_files *f,
	bool (*is_over)(void *arg, const struct gt_linked_file *l), void *arg)
{
	struct gt_descriptor_list closed = { NULL };
	size_t kept = 0, before = f->n;

	for (size_t i = 0; i < f->n; i++)
		if (is_over(arg, &f->list[i]))
			gt_probe_link_take(&f->list[i].link, &closed);
		else
			f->list[kept++] = f->list[i];
	f->n = kept;
	gt_descriptor_list_close(&closed);
	return kept < before;
}

static bool is_of_process(void *arg, const struct gt_linked_file *l)
{
	return l->pid == *(const pid_t *)arg;
}

static bool is_of_ended_process(void *arg, const struct gt_linked_file *l)
{
	return l->pid && kill(l->pid, 0) && errno == ESRCH;
}

bool gt_linked_files_remove(struct gt_linked_files *f, pid_t pid)
{
	return remove_links(f, is_of_process, &pid);
}

bool gt_linked_files_remove_ended(struct gt_linked_files *f)
{
	return remove_links(f, is_of_ended_process, NULL);
}

/* The oldest links come first. more: how many of existing files are still to be closed. */
static bool is_unneeded(void *more, const struct gt_linked_file *l)
{
	size_t *n = more;

	if (l->use == GT_FILE_IS_UNMAPPED && *n) {
		--*n;
		return true;
	}
	return l->use == GT_FILE_IS_DELETED;
}

bool gt_linked_files_remove_unmapped(struct gt_linked_files *f)
{
	size_t unmapped = 0;

	for (size_t i = 0; i < f->n; i++) {
		f->list[i].use = gt_file_use(f->file_use, f->list[i].identity);
		unmapped += f->list[i].use == GT_FILE_IS_UNMAPPED;
	}
	unmapped = unmapped > GT_UNMAPPED_LINKS ? unmapped - GT_UNMAPPED_LINKS : 0;
	return remove_links(f, is_unneeded, &unmapped);
}

void gt_linked_files_close(struct gt_linked_files *f)
{
	struct gt_descriptor_list all = { NULL };

	for (size_t i = 0; i < f->n; i++)
		gt_probe_link_take(&f->list[i].link, &all);
	f->n = 0;
	gt_descriptor_list_close(&all);
}

void gt_linked_files_release(struct gt_linked_files *f)
{
	gt_linked_files_close(f);
	gt_map_release(&f->refused_map);
	free(f->refused);
	free(f->list);
	*f = (struct gt_linked_files){ NULL };
}
