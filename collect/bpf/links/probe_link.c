#define _GNU_SOURCE
#include "collect/bpf/links/probe_link.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "collect/bpf/bpf_state.h"
#include "formats/base/buf.h"

#define PROBE_FILES 65536u /* descriptors that a recording may have */
#define CLOSERS 64u        /* threads */
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

static int link_multi(const struct bpf_program *program, unsigned type, unsigned flags,
	const char *path, pid_t pid, const struct gt_probe_places *p)
{
	struct multi_link a = { .program = (uint32_t)bpf_program__fd(program),
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

/* Before Linux 6.10 a link for one process sees only its first thread. So links of older kernels
 * are for all, and the programs choose the processes. */
static int link_pair(struct gt_probe_link *l, const struct gt_probe_programs *programs,
	const char *path, pid_t pid, const struct gt_probe_places *p)
{
	pid_t of = programs->has_session ? pid : 0;
	int rc;

	l->is_of_all = !of;
	rc = l->multi[0] = link_multi(programs->entry, GT_UPROBE_MULTI, 0, path, of, p);

	if (rc >= 0 && !programs->is_point)
		rc = l->multi[1] =
			link_multi(programs->ret, GT_UPROBE_MULTI, MULTI_AT_RETURN, path, of, p);
	return rc;
}

/* Each probe has two descriptors; the usual limit is 1024. */
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
	const char *path, pid_t pid, const struct gt_probe_places *p)
{
	l->perf = calloc(2ul * p->n, sizeof(struct bpf_link *));
	if (!l->perf)
		return -ENOMEM;
	raise_limit_of_files();
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
	int rc;

	*l = (struct gt_probe_link)GT_PROBE_NO_LINK;
	if (programs->has_session && !programs->is_point)
		rc = l->multi[0] =
			link_multi(programs->session, GT_UPROBE_SESSION, 0, path, pid, places);
	else
		rc = link_pair(l, programs, path, pid, places);
	/* also points: without functions no session was tried */
	if (rc == -EINVAL && (programs->is_point || !programs->has_session)) {
		l->is_of_all = !pid;
		rc = link_each(l, programs, path, pid, places);
	}
	if (rc < 0)
		gt_probe_link_close(l);
	return rc < 0 ? rc : 0;
}

/* ---- closing ---- */

struct part {
	struct bpf_link **links;
	size_t n;
	pthread_t thread;
	bool has_thread;
};

static void *close_part(void *arg)
{
	const struct part *p = arg;

	for (size_t i = 0; i < p->n; i++)
		bpf_link__destroy(p->links[i]);
	return NULL;
}

/* The kernel waits for all processors at the end of each perf event, so many threads close them:
 * their waits are the same ones. */
static void close_perf(struct gt_probe_link *l)
{
	struct part parts[CLOSERS] = { { NULL } };

	for (size_t i = 0; i < CLOSERS; i++) {
		struct part *p = &parts[i];
		size_t from = l->nperf * i / CLOSERS;

		p->links = l->perf + from;
		p->n = l->nperf * (i + 1) / CLOSERS - from;
		p->has_thread = p->n && !pthread_create(&p->thread, NULL, close_part, p);
		if (!p->has_thread)
			close_part(p);
	}
	for (size_t i = 0; i < CLOSERS; i++)
		if (parts[i].has_thread)
			pthread_join(parts[i].thread, NULL);
}

void gt_probe_link_close(struct gt_probe_link *l)
{
	for (unsigned i = 0; i < 2; i++)
		if (l->multi[i] >= 0)
			close(l->multi[i]);
	if (l->nperf)
		close_perf(l);
	free(l->perf);
	*l = (struct gt_probe_link)GT_PROBE_NO_LINK;
}
