#define _GNU_SOURCE
#include "collect/bpf/usdt/usdt.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "collect/bpf/bpf_state.h"
#include "collect/bpf/records/bpf_records.h"
#include "collect/bpf/links/mapped_library.h"
#include "collect/bpf/processes/process_descriptor.h"
#include "collect/bpf/usdt/usdt_arguments.h"
#include "collect/bpf/usdt/usdt_notes.h"
#include "collect/ipc/process_maps.h"
#include "formats/base/buf.h"
#include "formats/trace/record.h"

#define SEEN_MAX 65536u  /* mappings that are remembered */
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

/* For gt_usdt_check. */
static void note_match(struct gt_bpf_way *b, const struct gt_usdt_pattern *pattern, uint32_t probe,
	unsigned arguments)
{
	struct gt_bpf_known_probe *p = &b->probes[probe];
	struct gt_usdt_match *m =
		b->usdt.matches ? &b->usdt.matches[pattern - b->opt.usdt->usdt] : NULL;

	p->is_usdt = true;
	if (arguments > p->arguments)
		p->arguments = arguments;
	if (!m)
		return;
	m->is_matched = true;
	if (arguments > m->arguments)
		m->arguments = arguments;
}

static uint32_t next_site(const struct gt_usdt *u)
{
	return u->nunused_sites ? u->unused_sites[u->nunused_sites - 1] : u->nsites;
}

/* Gives the site to the BPF program. */
static int add_site(struct gt_bpf_way *b, const struct gt_usdt_site *site,
	struct gt_probe_places *places, struct gt_err *err)
{
	const struct gt_usdt_pattern *pattern =
		gt_probe_selection_find(b->opt.usdt, site->provider, site->name);
	struct gt_bpf_usdt_site to = { .probe = gt_bpf_probe_add(b, site->provider, site->name) };
	int sites = bpf_object__find_map_fd_by_name(b->object, "usdt_sites");
	uint32_t number = next_site(&b->usdt);
	unsigned nunread;
	char bad[64];

	if (pattern && number == SITES_MAX)
		b->usdt.nleft_out++;
	if (!pattern || number == SITES_MAX)
		return 0;
	if (to.probe == GT_NONE ||
		gt_probe_places_add_counted(places, site->offset, number, site->semaphore))
		return gt_err_set(err, -ENOMEM, "out of memory (USDT probes)");
	nunread = gt_usdt_arguments_parse(site->arguments, site->machine, &to, bad);
	if (nunread && !b->usdt.nunread++)
		snprintf(b->usdt.unread, sizeof(b->usdt.unread), "%s of %.60s:%.60s", bad,
			site->provider, site->name);
	note_match(b, pattern, to.probe, to.fields.n + nunread);
	set_formats(&to.fields, pattern);
	if (gt_parcagpu_probe(site->provider, site->name) != GT_PARCAGPU_NONE)
		gt_parcagpu_set_text(&to.fields);
	if (bpf_map_update_elem(sites, &number, &to, BPF_ANY))
		return gt_bpf_why_not(-errno, err);
	if (number == b->usdt.nsites)
		b->usdt.nsites++;
	else
		b->usdt.nunused_sites--;
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

/* What distinguishes it from a later file with the same number. */
static struct gt_usdt_file file_of(const struct stat *st)
{
	return (struct gt_usdt_file){ .device = st->st_dev,
		.inode = st->st_ino,
		.size = (uint64_t)st->st_size,
		.changed = gt_file_changed(st) };
}

/* Reads the sites of a new file. One that is no ELF file has none. */
static int read_sites(struct gt_bpf_way *b, int fd, struct gt_usdt_file *file, struct gt_err *err)
{
	struct gt_usdt_sites sites;
	int rc = gt_usdt_sites_read(&sites, fd, wants, b, err);

	rc = rc == -EINVAL ? 0 : rc;
	for (size_t i = 0; !rc && i < sites.n; i++)
		rc = add_site(b, &sites.list[i], &file->places, err);
	b->usdt.nleft_out += sites.left_out;
	gt_usdt_sites_release(&sites);
	return rc;
}

/* The number of the file; negative: an error. */
static int64_t find_file(struct gt_bpf_way *b, int fd, const struct stat *st, struct gt_err *err)
{
	struct gt_usdt *u = &b->usdt;
	struct gt_usdt_file new;
	uint32_t i;
	int rc;

	new = file_of(st);
	i = gt_map_find_item(&u->files_map, u->files, sizeof(new), &new, GT_USDT_FILE_KEY);
	if (i != UINT32_MAX)
		return i;
	rc = read_sites(b, fd, &new, err);
	if (!rc)
		i = gt_map_add_item(&u->files_map, &u->files, &u->nfiles, &u->files_cap,
			sizeof(new), &new, GT_USDT_FILE_KEY);
	if (i != UINT32_MAX)
		return i;
	gt_probe_places_release(&new.places);
	return rc ? rc : gt_err_set(err, -ENOMEM, "out of memory (USDT probes)");
}

/* ---- links ---- */

static int link_file(struct gt_bpf_way *b, struct gt_linked_file *which, int fd, const char *name,
	uint32_t file, struct gt_err *err)
{
	const struct gt_probe_places *places = &b->usdt.files[file].places;
	int rc;

	if (!places->n || gt_linked_files_identify(&b->linked, which, fd))
		return 0;
	rc = gt_linked_files_add(&b->linked, *which, &b->usdt_programs, fd, places);
	if (rc < 0)
		return gt_err_set(err, rc, "%s: cannot set probes: %s", name, gt_refusal_text(rc));
	b->totals.usdt += (unsigned)rc;
	return 0;
}

static int open_file(const struct gt_mapped_library *l, pid_t pid)
{
	struct gt_err ignored = GT_ERR_INIT;
	int fd = gt_mapped_library_open(l, &ignored), copy;

	if (fd != -EACCES)
		return fd;
	copy = gt_process_descriptor(pid, l->inode);
	return copy >= 0 ? copy : fd;
}

/* The places of a new file, or of one that has changed, and its link. */
static int attach_opened(
	struct gt_bpf_way *b, int fd, const char *name, pid_t pid, struct gt_err *err)
{
	struct gt_linked_file which = { .kind = GT_LINKED_USDT,
		.pid = gt_bpf_process_of_probes(b, pid) };
	struct stat st;
	int64_t file;

	if (fstat(fd, &st))
		return gt_err_set(err, -errno, "a mapped file: %s", strerror(errno));
	which.device = st.st_dev;
	which.inode = st.st_ino;
	/* a linked file remains the same one when its mode or its number of names changes */
	if (gt_linked_files_have(&b->linked, &which))
		return 0;
	file = find_file(b, fd, &st, err);
	return file < 0 ? (int)file : link_file(b, &which, fd, name, (uint32_t)file, err);
}

/* A file that cannot be opened gets no probes. */
static int attach_file(
	struct gt_bpf_way *b, struct gt_mapped_library *l, pid_t pid, struct gt_err *err)
{
	int fd = open_file(l, pid), rc = 0;

	if (fd == -EACCES && !b->usdt.nunreadable++)
		snprintf(b->usdt.unreadable, sizeof(b->usdt.unreadable), "%.199s", l->name);
	if (fd < 0)
		return 0;
	rc = attach_opened(b, fd, l->name, pid, err);
	close(fd);
	return rc;
}

/* ---- processes ---- */

struct search {
	struct gt_bpf_way *b;
	pid_t pid;
};

/* Was it looked at before? A process that maps many libraries is looked at as often. */
static bool is_seen(struct gt_usdt *u, pid_t pid, const struct gt_mapping *m)
{
	const struct gt_usdt_mapping key = { .pid = (uint64_t)pid,
		.from = m->from,
		.inode = m->inode,
		.device = makedev(m->major, m->minor) };

	if (gt_map_find_item(&u->seen_map, u->seen, sizeof(key), &key, sizeof(key)) != UINT32_MAX)
		return true;
	if (u->nseen == SEEN_MAX) {
		u->nseen = 0;
		gt_map_clear(&u->seen_map);
	}
	gt_map_add_item(
		&u->seen_map, &u->seen, &u->nseen, &u->seen_cap, sizeof(key), &key, sizeof(key));
	return false;
}

static int look_at(void *arg, const struct gt_mapping *m, struct gt_err *err)
{
	struct search *s = arg;
	struct gt_mapped_library l;

	if (!m->inode || m->flags[2] != 'x' || is_seen(&s->b->usdt, s->pid, m))
		return 0;
	gt_mapped_library_set(&l, s->pid, m);
	return attach_file(s->b, &l, s->pid, err);
}

void gt_usdt_forget_seen(struct gt_usdt *u)
{
	u->nseen = 0;
	gt_map_clear(&u->seen_map);
}

/* Such a place is named at the end, by its site. */
static bool is_refused(const struct gt_linked_files *f, uint64_t site)
{
	for (size_t i = 0; i < f->nrefused; i++)
		if (f->refused[i].kind == GT_LINKED_USDT && f->refused[i].cookie == site)
			return true;
	return false;
}

static void forget_file(struct gt_bpf_way *b, size_t i)
{
	struct gt_usdt *u = &b->usdt;
	struct gt_probe_places *p = &u->files[i].places;

	for (uint32_t k = 0; k < p->n; k++)
		if (!is_refused(&b->linked, p->cookies[k]) &&
			!gt_grow(&u->unused_sites, &u->unused_sites_cap, u->nunused_sites + 1,
				sizeof(*u->unused_sites)))
			u->unused_sites[u->nunused_sites++] = (uint32_t)p->cookies[k];
	gt_probe_places_release(p);
	gt_map_remove_item(&u->files_map, u->files, &u->nfiles, sizeof(*u->files), (uint32_t)i,
		GT_USDT_FILE_KEY);
}

void gt_usdt_forget_unlinked(struct gt_bpf_way *b)
{
	struct gt_usdt *u = &b->usdt;

	for (size_t i = u->nfiles; i-- > 0;)
		if (u->files[i].places.n &&
			!gt_linked_files_have_any(
				&b->linked, GT_LINKED_USDT, u->files[i].device, u->files[i].inode))
			forget_file(b, i);
	gt_usdt_forget_seen(u);
}

int gt_usdt_attach(struct gt_bpf_way *b, pid_t pid, struct gt_err *err)
{
	struct search s = { .b = b, .pid = pid };

	if (!b->opt.usdt->nusdt)
		return 0;
	if (!b->usdt.matches)
		b->usdt.matches = calloc(b->opt.usdt->nusdt, sizeof(*b->usdt.matches));
	return gt_mappings_each(pid, look_at, &s, err);
}

const struct gt_usdt_pattern *gt_usdt_first_unmatched(const struct gt_bpf_way *b)
{
	for (size_t i = 0; b->usdt.matches && i < b->opt.usdt->nusdt; i++)
		if (!b->usdt.matches[i].is_matched)
			return &b->opt.usdt->usdt[i];
	return NULL;
}

/* ---- what -e and --pair name ---- */

static int refuse_argument(
	const char *option, const char *name, unsigned number, unsigned has, struct gt_err *err)
{
	return gt_err_set(err, -EINVAL, "%s %.80s: arg%u is not there: the probe has %u argument%s",
		option, name, number, has, has == 1 ? "" : "s");
}

static int check_formats(const struct gt_bpf_way *b, size_t i, struct gt_err *err)
{
	const struct gt_usdt_pattern *p = &b->opt.usdt->usdt[i];
	const struct gt_usdt_match *m = &b->usdt.matches[i];
	char name[sizeof(p->provider) + sizeof(p->name) + 8];

	snprintf(name, sizeof(name), "usdt:%s:%s", p->provider, p->name);
	for (unsigned k = m->arguments; m->is_matched && k < GT_PROBE_VALUES; k++)
		if (p->kinds[k] != GT_PROBE_KINDS)
			return refuse_argument("-e", name, k, m->arguments, err);
	return 0;
}

/* One end of a pair. */
static int check_pair(const struct gt_bpf_way *b, uint16_t pair, bool is_start, struct gt_err *err)
{
	const struct gt_probe_pair *p = &b->opt.usdt->pairs[pair];
	const char *option = is_start ? "--pair start" : "--pair end",
		   *name = is_start ? p->start : p->end;

	for (size_t i = 0; i < b->nprobes; i++) {
		const struct gt_bpf_known_probe *one = &b->probes[i];

		if (!gt_probe_has_name(one->domain, one->name, name))
			continue;
		if (one->is_usdt && p->key >= one->arguments)
			return refuse_argument(option, name, p->key, one->arguments, err);
		return 0;
	}
	return gt_err_set(err, -ENOENT,
		"%s %.80s: no file of the processes has this probe (readelf -n FILE lists them)",
		option, name);
}

int gt_usdt_check(const struct gt_bpf_way *b, struct gt_err *err)
{
	const struct gt_probe_selection *s = b->opt.usdt;
	int rc = 0;

	for (size_t i = 0; !rc && b->usdt.matches && i < s->nusdt; i++)
		rc = check_formats(b, i, err);
	for (uint16_t i = 0; !rc && i < s->npairs; i++) {
		rc = check_pair(b, i, true, err);
		if (!rc)
			rc = check_pair(b, i, false, err);
	}
	return rc;
}

void gt_usdt_release(struct gt_usdt *u)
{
	for (size_t i = 0; i < u->nfiles; i++)
		gt_probe_places_release(&u->files[i].places);
	gt_map_release(&u->files_map);
	gt_map_release(&u->seen_map);
	free(u->files);
	free(u->unused_sites);
	free(u->seen);
	free(u->matches);
}
