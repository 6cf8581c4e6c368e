#define _GNU_SOURCE
#include "collect/bpf/links/probe_link.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "collect/bpf/bpf_state.h"
#include "formats/base/buf.h"

#define PROBE_FILES 65536u /* descriptors that a recording may have */
#define TRIES_MAX 1024u    /* to find refused places */
#define MULTI_AT_RETURN 1u /* flag of the kernel's interface */

/* ---- places ---- */

int gt_probe_places_add(struct gt_probe_places *p, uint64_t offset, uint64_t cookie)
{
	size_t cap = p->cap;

	if (gt_map_find_item(&p->map, p->offsets, sizeof(offset), &offset, sizeof(offset)) !=
		UINT32_MAX)
		return 0;
	if (gt_grow(&p->offsets, &cap, p->n + 1ul, sizeof(*p->offsets)))
		return -ENOMEM;
	cap = p->cap; /* both arrays grow alike */
	if (gt_grow(&p->cookies, &cap, p->n + 1ul, sizeof(*p->cookies)))
		return -ENOMEM;
	p->cap = (uint32_t)cap;
	if (gt_map_add(&p->map, gt_hash(&offset, sizeof(offset)), p->n))
		return -ENOMEM;
	p->offsets[p->n] = offset;
	p->cookies[p->n++] = cookie;
	return 0;
}

int gt_probe_places_add_counted(
	struct gt_probe_places *p, uint64_t offset, uint64_t cookie, uint64_t counter)
{
	size_t cap = p->cap;
	uint32_t n = p->n;

	if (gt_grow(&p->counters, &cap, n + 1ul, sizeof(*p->counters)) ||
		gt_probe_places_add(p, offset, cookie))
		return -ENOMEM;
	if (p->n > n)
		p->counters[n] = counter;
	return 0;
}

int gt_probe_places_copy(
	struct gt_probe_places *to, const struct gt_probe_places *from, uint32_t place)
{
	return from->counters ? gt_probe_places_add_counted(to, from->offsets[place],
					from->cookies[place], from->counters[place])
			      : gt_probe_places_add(to, from->offsets[place], from->cookies[place]);
}

void gt_probe_places_release(struct gt_probe_places *p)
{
	gt_map_release(&p->map);
	free(p->counters);
	free(p->offsets);
	free(p->cookies);
	*p = (struct gt_probe_places){ NULL };
}

/* ---- links ---- */

/* The part of union bpf_attr that makes a multi link: headers before Linux 6.6 lack it. */
struct multi_link {
	uint32_t program, target, type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t count, multi_flags, pid, unused;
};

int gt_multi_link(int program, unsigned type, unsigned flags, const char *path, pid_t pid,
	const struct gt_probe_places *p)
{
	struct multi_link a = { .program = (uint32_t)program,
		.type = type,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)p->offsets,
		.cookies = (uintptr_t)p->cookies,
		.ref_ctr_offsets = (uintptr_t)p->counters,
		.count = p->n,
		.multi_flags = flags,
		.pid = (uint32_t)pid };
	int link = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &a, sizeof(a));

	return link < 0 ? -errno : link;
}

static int link_multi(const struct bpf_program *program, unsigned type, unsigned flags,
	const char *path, pid_t pid, const struct gt_probe_places *p)
{
	return gt_multi_link(bpf_program__fd(program), type, flags, path, pid, p);
}

/* A link for one process sees only its first thread where the kernel has no `of_process`: then
 * links are for all, and the programs choose the processes. */
static int link_pair(struct gt_probe_link *l, const struct gt_probe_programs *programs,
	const char *path, pid_t pid, const struct gt_probe_places *p)
{
	pid_t of = programs->kernel.of_process ? pid : 0;
	int rc;

	l->is_of_all = !of;
	rc = l->multi[0] = link_multi(programs->entry, GT_UPROBE_MULTI, 0, path, of, p);

	if (rc >= 0 && !programs->is_point)
		rc = l->multi[1] =
			link_multi(programs->ret, GT_UPROBE_MULTI, MULTI_AT_RETURN, path, of, p);
	return rc;
}

/* All places or none. 0 or negative; then *l is closed. */
static int link_all(struct gt_probe_link *l, const struct gt_probe_programs *programs,
	const char *path, pid_t pid, const struct gt_probe_places *places)
{
	int rc;

	*l = (struct gt_probe_link)GT_PROBE_NO_LINK;
	if (programs->kernel.session && !programs->is_point)
		rc = l->multi[0] =
			link_multi(programs->session, GT_UPROBE_SESSION, 0, path, pid, places);
	else
		rc = link_pair(l, programs, path, pid, places);
	if (rc < 0)
		gt_probe_link_close(l);
	return rc < 0 ? rc : 0;
}

/* ---- places that the kernel refuses ---- */

/* Does the error concern a place, and not the process, the rights or the memory? EINVAL: another
 * tracer has a probe there with another semaphore; EIO: the file is shorter. */
static bool is_refusal(int code)
{
	return code == -GT_ENOTSUPP || code == -EOPNOTSUPP || code == -EINVAL || code == -EIO;
}

static int note_refusal(
	struct gt_refusals *r, const struct gt_probe_places *p, uint32_t place, int why)
{
	if (gt_grow(&r->list, &r->cap, r->n + 1, sizeof(*r->list)))
		return -ENOMEM;
	r->list[r->n++] = (struct gt_refusal){ p->offsets[place], p->cookies[place], why };
	return 0;
}

const char *gt_refusal_text(int code)
{
	return code == -GT_ENOTSUPP ? "the kernel cannot probe the instruction"
		: code == -EACCES
		? "probes are perf events before Linux 6.6, and this kernel permits them to CAP_SYS_ADMIN only (or root)"
		: code == -EINVAL ? "invalid, or in use by another tracer"
		: code == -E2BIG  ? "the kernel refuses too many of them"
				  : strerror(-code);
}

void gt_refusals_release(struct gt_refusals *r)
{
	free(r->list);
	*r = (struct gt_refusals){ NULL };
}

/* The kernel sets all places of a link or none, and does not say which one it refuses. */
struct refusal_search {
	const struct gt_probe_programs *programs;
	const char *path;
	pid_t pid;
	const struct gt_probe_places *places;
	struct gt_refusals *refusals;
	unsigned tries;
};

static int try_part(struct refusal_search *s, uint32_t from, uint32_t n)
{
	const struct gt_probe_places *p = s->places,
				     part = { .offsets = p->offsets + from,
					     .cookies = p->cookies + from,
					     .counters = p->counters ? p->counters + from : NULL,
					     .n = n };
	struct gt_probe_link l;
	int rc;

	if (s->tries++ == TRIES_MAX)
		return -E2BIG;
	rc = link_all(&l, s->programs, s->path, s->pid, &part);
	gt_probe_link_close(&l);
	return rc;
}

/* Notes the refused places of a part that the kernel refuses as a whole, by trying its halves. */
static int search_refused(struct refusal_search *s, uint32_t from, uint32_t n)
{
	uint32_t half = n / 2;
	int rc = try_part(s, from, half ? half : n);
	bool is_good = !rc;

	if (!half)
		return is_refusal(rc) ? note_refusal(s->refusals, s->places, from, rc) : rc;
	if (is_refusal(rc))
		rc = search_refused(s, from, half);
	/* if the first half is good, the other one is refused */
	if (!rc && !is_good)
		rc = try_part(s, from + half, n - half);
	return is_good || is_refusal(rc) ? search_refused(s, from + half, n - half) : rc;
}

/* new: release it. The places that are not refused. */
static int select_good(
	const struct gt_probe_places *p, const struct gt_refusals *r, struct gt_probe_places *good)
{
	size_t k = 0;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < p->n; i++)
		if (k < r->n && r->list[k].offset == p->offsets[i])
			k++;
		else
			rc = gt_probe_places_copy(good, p, i);
	return rc;
}

static int link_rest(struct gt_probe_link *l, struct refusal_search *s)
{
	struct gt_probe_places good = { NULL };
	int rc = search_refused(s, 0, s->places->n);

	if (!rc && !s->refusals->n)
		return -EINVAL; /* each place is good by itself, and all of them are not */
	if (!rc)
		rc = select_good(s->places, s->refusals, &good);
	if (!rc && good.n)
		rc = link_all(l, s->programs, s->path, s->pid, &good);
	gt_probe_places_release(&good);
	return rc;
}

/* ---- a perf event for each probe ---- */

/* Each probe has a descriptor; the usual limit is 1024. */
static void raise_limit_of_files(void)
{
	struct rlimit old, new = { PROBE_FILES, PROBE_FILES };

	if (getrlimit(RLIMIT_NOFILE, &old) || old.rlim_cur >= PROBE_FILES)
		return;
	if (old.rlim_max > PROBE_FILES)
		new.rlim_max = old.rlim_max;
	if (!setrlimit(RLIMIT_NOFILE, &new))
		return;
	new.rlim_cur = new.rlim_max = old.rlim_max; /* without the right to raise it */
	setrlimit(RLIMIT_NOFILE, &new);
}

static int link_each(struct gt_probe_link *l, const struct gt_probe_programs *programs,
	const char *path, pid_t pid, const struct gt_probe_places *p, struct gt_refusals *refusals)
{
	struct gt_perf_probe probe = { .type = gt_perf_type("uprobe"), .name = path, .pid = pid };
	int rc = 0;

	raise_limit_of_files();
	for (uint32_t i = 0; !rc && i < 2 * p->n; i += programs->is_point ? 2 : 1) {
		uint32_t place = i / 2;
		int link;

		probe.at_return = i % 2;
		probe.offset = p->offsets[place];
		probe.counter = p->counters ? p->counters[place] : 0;
		link = gt_perf_link(programs->wrappers,
			probe.at_return ? programs->ret : programs->entry,
			gt_perf_probe_open(&probe), p->cookies[place]);
		if (link >= 0) {
			l->perf[l->nperf++] = link;
			continue;
		}
		rc = is_refusal(link) ? note_refusal(refusals, p, place, link) : link;
		i += !programs->is_point; /* no probe at its return */
	}
	return rc;
}

/* In groups; or if that fails, because the kernel refuses a place or has no tracefs, one by one. */
static int link_perf(struct gt_probe_link *l, const struct gt_probe_programs *programs,
	const char *path, pid_t pid, const struct gt_probe_places *p, struct gt_refusals *refusals)
{
	l->is_of_all = !pid;
	l->perf = calloc(2ul * p->n, sizeof(*l->perf));
	if (!l->perf)
		return -ENOMEM;
	if (gt_probe_groups_fit(programs->groups, p) &&
		!gt_probe_group_open(
			&l->group, programs->groups, programs, path, pid, p, l->perf, &l->nperf))
		return 0;
	return link_each(l, programs, path, pid, p, refusals);
}

int gt_probe_link_open(struct gt_probe_link *l, const struct gt_probe_programs *programs,
	const char *path, pid_t pid, const struct gt_probe_places *places,
	struct gt_refusals *refusals)
{
	struct refusal_search s = { programs, path, pid, places, refusals, 0 };
	int rc;

	*l = (struct gt_probe_link)GT_PROBE_NO_LINK;
	*refusals = (struct gt_refusals){ NULL };
	if (programs->kernel.multi) {
		rc = link_all(l, programs, path, pid, places);
		if (is_refusal(rc))
			rc = link_rest(l, &s);
	} else
		rc = link_perf(l, programs, path, pid, places, refusals);
	if (rc < 0)
		gt_probe_link_close(l);
	return rc;
}

/* ---- closing ---- */

void gt_probe_link_take(struct gt_probe_link *l, struct gt_descriptor_list *to)
{
	for (unsigned i = 0; i < 2; i++)
		if (l->multi[i] >= 0)
			gt_descriptor_list_add(to, l->multi[i]);
	for (size_t i = 0; i < l->nperf; i++)
		gt_descriptor_list_add(to, l->perf[i]);
	gt_probe_group_end(&l->group);
	free(l->perf);
	*l = (struct gt_probe_link)GT_PROBE_NO_LINK;
}

void gt_probe_link_close(struct gt_probe_link *l)
{
	struct gt_descriptor_list all = { NULL };

	gt_probe_link_take(l, &all);
	gt_descriptor_list_close(&all);
}
