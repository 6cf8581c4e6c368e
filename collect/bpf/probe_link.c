#define _GNU_SOURCE
#include "collect/bpf/probe_link.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "collect/bpf/bpf_internal.h"
#include "formats/base/buf.h"

/* ---- places ---- */

int gt_probe_places_add(struct gt_probe_places *p, uint64_t offset, uint64_t cookie)
{
	size_t offsets_cap = p->cap, cookies_cap = p->cap;

	for (uint32_t i = 0; i < p->n; i++)
		if (p->offsets[i] == offset)
			return 0;
	if (gt_grow(&p->offsets, &offsets_cap, p->n + 1ul, sizeof(*p->offsets)) ||
		gt_grow(&p->cookies, &cookies_cap, p->n + 1ul, sizeof(*p->cookies)))
		return -ENOMEM;
	p->cap = (uint32_t)cookies_cap;
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

void gt_probe_places_release(struct gt_probe_places *p)
{
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

/* One link for all places. */
static int link_session(const struct gt_probe_programs *programs, const char *path, pid_t pid,
	const struct gt_probe_places *p)
{
	const struct bpf_program *program =
		programs->is_point ? programs->entry : programs->session;
	struct multi_link a = { .program = (uint32_t)bpf_program__fd(program),
		.type = programs->is_point ? GT_UPROBE_MULTI : GT_UPROBE_SESSION,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)p->offsets,
		.cookies = (uintptr_t)p->cookies,
		.ref_ctr_offsets = (uintptr_t)p->counters,
		.count = p->n,
		.pid = (uint32_t)pid };

	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &a, sizeof(a));
}

static int link_each(struct gt_probe_link *l, const struct gt_probe_programs *programs,
	const char *path, pid_t pid, const struct gt_probe_places *p)
{
	l->perf = calloc(2ul * p->n, sizeof(struct bpf_link *));
	if (!l->perf)
		return -ENOMEM;
	for (uint32_t i = 0; i < 2 * p->n; i += programs->is_point ? 2 : 1) {
		const struct bpf_uprobe_opts opt = { .sz = sizeof(opt),
			.retprobe = i % 2,
			.ref_ctr_offset = p->counters ? p->counters[i / 2] : 0,
			.bpf_cookie = p->cookies[i / 2] };
		struct bpf_link *link =
			bpf_program__attach_uprobe_opts(i % 2 ? programs->ret : programs->entry,
				pid ? pid : -1, path, p->offsets[i / 2], &opt);

		if (!link)
			return -errno;
		l->perf[l->nperf++] = link;
	}
	return 0;
}

int gt_probe_link_open(struct gt_probe_link *l, const struct gt_probe_programs *programs,
	const char *path, pid_t pid, const struct gt_probe_places *places)
{
	int rc = 0;

	*l = (struct gt_probe_link){ .session = -1 };
	if (programs->has_session || programs->is_point) {
		l->session = link_session(programs, path, pid, places);
		rc = l->session < 0 ? -errno : 0;
	}
	/* points need no sessions, but Linux 6.6 */
	if (programs->is_point ? rc == -EINVAL : !programs->has_session)
		rc = link_each(l, programs, path, pid, places);
	if (rc)
		gt_probe_link_close(l);
	return rc;
}

void gt_probe_link_close(struct gt_probe_link *l)
{
	if (l->session >= 0)
		close(l->session);
	for (size_t i = 0; i < l->nperf; i++)
		bpf_link__destroy(l->perf[i]);
	free(l->perf);
	*l = (struct gt_probe_link){ .session = -1 };
}
