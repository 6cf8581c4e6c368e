#define _GNU_SOURCE
#include "collect/bpf/usdt.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "collect/bpf/bpf_internal.h"
#include "collect/bpf/mapped_library.h"
#include "collect/bpf/usdt_arguments.h"
#include "collect/bpf/usdt_notes.h"
#include "collect/ipc/process_maps.h"
#include "formats/trace/record.h"

#define SITES_MAX 65536u /* of the map `usdt_sites` */

/* ---- sites ---- */

/* What -e says about the arguments. */
static void set_formats(struct gt_bpf_probe_fields *f, const struct gt_usdt_pattern *pattern)
{
	for (unsigned i = 0; i < f->n; i++) {
		unsigned which = GT_PROBE_FIELD_WHICH(f->fields[i]);

		if (pattern->kinds[which] != GT_PROBE_KINDS)
			f->fields[i] = (uint8_t)GT_PROBE_FIELD(pattern->kinds[which], which);
	}
	gt_bpf_set_texts(f);
}

/* Gives the site to the BPF program. */
static int add_site(struct gt_bpf_way *b, const struct gt_usdt_site *site,
	struct gt_probe_places *places, struct gt_err *err)
{
	const struct gt_usdt_pattern *pattern =
		gt_probe_selection_find(b->opt.usdt, site->provider, site->name);
	struct gt_bpf_usdt_site to = { .probe = gt_bpf_probe_add(b, site->provider, site->name) };
	int sites = bpf_object__find_map_fd_by_name(b->object, "usdt_sites");
	uint32_t number = b->usdt.nsites;
	char bad[64];

	if (!pattern || number == SITES_MAX)
		return 0;
	if (to.probe == GT_NONE ||
		gt_probe_places_add_counted(places, site->offset, number, site->semaphore))
		return gt_err_set(err, -ENOMEM, "out of memory (USDT probes)");
	if (gt_usdt_arguments_parse(site->arguments, &to, bad) && !b->usdt.nunread++)
		snprintf(b->usdt.unread, sizeof(b->usdt.unread), "%s of %.60s:%.60s", bad,
			site->provider, site->name);
	set_formats(&to.fields, pattern);
	if (gt_parcagpu_probe(site->provider, site->name) != GT_PARCAGPU_NONE)
		gt_parcagpu_set_text(&to.fields);
	if (bpf_map_update_elem(sites, &number, &to, BPF_ANY))
		return gt_bpf_why_not(-errno, err);
	b->usdt.nsites++;
	if (b->usdt.matched)
		b->usdt.matched[pattern - b->opt.usdt->usdt] = true;
	return 0;
}

static int wants(void *arg, const char *provider, const char *name)
{
	const struct gt_bpf_way *b = arg;
	const struct gt_usdt_pattern *p = gt_probe_selection_find(b->opt.usdt, provider, name);

	/* the same kernels in other forms: only by their full names */
	return p &&
		(gt_parcagpu_probe(provider, name) != GT_PARCAGPU_OTHER || !strcmp(p->name, name));
}

/* ---- files ---- */

static bool is_known(const struct gt_usdt *u, const struct gt_mapping *m, pid_t pid)
{
	for (size_t i = 0; i < u->nfiles; i++)
		if (u->files[i].inode == m->inode &&
			u->files[i].device == makedev(m->major, m->minor) &&
			(!u->files[i].pid || u->files[i].pid == pid))
			return true;
	return false;
}

static int link_sites(struct gt_bpf_way *b, const struct gt_mapped_library *l,
	struct gt_usdt_file *file, const struct gt_usdt_sites *sites, struct gt_err *err)
{
	struct gt_probe_places places = { NULL };
	int rc = 0;

	for (size_t i = 0; !rc && i < sites->n; i++)
		rc = add_site(b, &sites->list[i], &places, err);
	if (!rc && places.n) {
		rc = gt_probe_link_open(
			&file->link, &b->usdt_programs, l->path, file->pid, &places);
		if (rc)
			gt_err_set(err, rc, "%s: cannot set probes: %s", l->name, strerror(-rc));
		else
			b->totals.usdt += places.n;
	}
	gt_probe_places_release(&places);
	return rc;
}

/* A file that cannot be opened or is no ELF file has no probes. */
static int attach_file(
	struct gt_bpf_way *b, const struct gt_mapped_library *l, pid_t pid, struct gt_err *err)
{
	struct gt_usdt *u = &b->usdt;
	struct gt_usdt_file *file;
	struct gt_usdt_sites sites = { NULL };
	int fd = open(l->path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return 0;
	if (gt_grow(&u->files, &u->files_cap, u->nfiles + 1, sizeof(*u->files))) {
		close(fd);
		return gt_err_set(err, -ENOMEM, "out of memory (USDT probes)");
	}
	file = &u->files[u->nfiles++];
	*file = (struct gt_usdt_file){
		.device = l->device, .inode = l->inode, .pid = pid, .link = GT_PROBE_NO_LINK
	};
	rc = gt_usdt_sites_read(&sites, fd, wants, b, err);
	rc = rc == -EINVAL ? 0 : rc ? rc : link_sites(b, l, file, &sites, err);
	gt_usdt_sites_release(&sites);
	close(fd);
	return rc;
}

struct search {
	struct gt_bpf_way *b;
	pid_t pid;
};

static int look_at(void *arg, const struct gt_mapping *m, struct gt_err *err)
{
	struct search *s = arg;
	pid_t pid = s->b->opt.all_processes ? 0 : s->pid;
	struct gt_mapped_library l;

	if (!m->inode || m->flags[2] != 'x' || is_known(&s->b->usdt, m, pid))
		return 0;
	gt_mapped_library_set(&l, s->pid, m);
	return attach_file(s->b, &l, pid, err);
}

/* ---- processes ---- */

/* Processes that have ended: their ids may belong to others soon. */
static void forget_ended(struct gt_usdt *u)
{
	size_t kept = 0;

	for (size_t i = 0; i < u->nfiles; i++)
		if (u->files[i].pid && kill(u->files[i].pid, 0) && errno == ESRCH)
			gt_probe_link_close(&u->files[i].link);
		else
			u->files[kept++] = u->files[i];
	u->nfiles = kept;
}

int gt_usdt_attach(struct gt_bpf_way *b, pid_t pid, struct gt_err *err)
{
	struct search s = { b, pid };

	if (!b->opt.usdt->nusdt)
		return 0;
	if (!b->usdt.matched)
		b->usdt.matched = calloc(b->opt.usdt->nusdt, sizeof(*b->usdt.matched));
	forget_ended(&b->usdt);
	return gt_mappings_each(pid, look_at, &s, err);
}

const struct gt_usdt_pattern *gt_usdt_first_unmatched(const struct gt_bpf_way *b)
{
	for (size_t i = 0; b->usdt.matched && i < b->opt.usdt->nusdt; i++)
		if (!b->usdt.matched[i])
			return &b->opt.usdt->usdt[i];
	return NULL;
}

void gt_usdt_detach_all(struct gt_bpf_way *b)
{
	for (size_t i = 0; i < b->usdt.nfiles; i++)
		gt_probe_link_close(&b->usdt.files[i].link);
	b->usdt.nfiles = 0;
}

void gt_usdt_release(struct gt_usdt *u)
{
	free(u->files);
	free(u->matched);
}
