#define _GNU_SOURCE
#include "collect/bpf/links/probe_group.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "collect/bpf/bpf_events.h"
#include "collect/bpf/links/probe_link.h"
#include "formats/base/buf.h"

#define PREFIX "gt_"
#define PLACES_MIN 8u /* fewer are a perf event each */
#define GROUPS_MAX (1u << 18)
#define LINES_BYTES 4000u   /* the kernel takes lines of less than 4 KiB */
#define LINE_MAX_BYTES 200u /* a path is that of a descriptor, so it is short */

/* ---- the list of events ---- */

/* Lines for uprobe_events, written together. */
struct lines {
	int to, error;
	size_t n;
	char text[LINES_BYTES];
};

static void lines_flush(struct lines *l)
{
	if (l->n && !l->error && write(l->to, l->text, l->n) < 0)
		l->error = -errno;
	l->n = 0;
}

static void lines_add(struct lines *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void lines_add(struct lines *l, const char *fmt, ...)
{
	va_list ap;

	if (l->n > LINES_BYTES - LINE_MAX_BYTES)
		lines_flush(l);
	va_start(ap, fmt);
	l->n += (size_t)vsnprintf(l->text + l->n, LINE_MAX_BYTES, fmt, ap);
	va_end(ap);
}

static bool remove_event(int list, const char *system, const char *event)
{
	struct lines l = { .to = list };

	lines_add(&l, "-:%.31s/%.31s\n", system, event);
	lines_flush(&l);
	return !l.error;
}

/* Events of processes that have ended. Those in use the kernel does not remove. Returns whether any
 * is removed: the list is shorter then while it is read, so some lines may have been skipped. */
static bool remove_some(const struct gt_probe_groups *g)
{
	int fd = openat(g->tracefs, "uprobe_events", O_RDONLY | O_CLOEXEC);
	char line[512], system[32], event[32];
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	bool any = false;
	int pid;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*[pr]:%31[^/]/%31s", system, event) == 2 &&
			sscanf(system, PREFIX "%d_", &pid) == 1 && kill(pid, 0) && errno == ESRCH)
			any |= remove_event(g->list, system, event);
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	return any;
}

void gt_probe_groups_open(struct gt_probe_groups *g, int tracefs, int cookies)
{
	struct timespec now;

	*g = (struct gt_probe_groups){ .tracefs = tracefs, .list = -1, .cookies = cookies };
	if (tracefs >= 0)
		g->list = openat(tracefs, "uprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	if (g->list < 0)
		return;
	/* process ids of containers are not unique */
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(g->system, sizeof(g->system), PREFIX "%d_%llx", (int)getpid(),
		(unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec);
	while (remove_some(g))
		;
}

static void release(struct gt_probe_group *group)
{
	char event[16];

	for (uint32_t i = 0; i < group->n; i++) {
		snprintf(event, sizeof(event), "e%u", group->first + i);
		remove_event(group->groups->list, group->groups->system, event);
	}
	for (uint32_t i = 0; i < group->nkeys; i++)
		bpf_map_delete_elem(group->groups->cookies, &group->keys[i]);
	free(group->keys);
	*group = (struct gt_probe_group){ NULL };
}

static void release_ended(struct gt_probe_groups *g)
{
	while (g->nended)
		release(&g->ended[--g->nended]);
}

void gt_probe_group_end(struct gt_probe_group *group)
{
	struct gt_probe_groups *g = group->groups;

	if (g && !gt_grow(&g->ended, &g->ended_cap, g->nended + 1, sizeof(*g->ended)))
		g->ended[g->nended++] = *group;
	else
		free(group->keys);
	*group = (struct gt_probe_group){ NULL };
}

void gt_probe_groups_close(struct gt_probe_groups *g)
{
	release_ended(g);
	free(g->ended);
	g->ended = NULL;
	if (g->list >= 0)
		close(g->list);
	if (g->tracefs >= 0)
		close(g->tracefs);
	g->list = g->tracefs = -1;
}

/* ---- one link ---- */

static uint32_t key_of(uint32_t group, uint64_t offset)
{
	return group << GT_BPF_PLACE_BITS | (offset & ((1u << GT_BPF_PLACE_BITS) - 1));
}

/* Numbers the groups of the places: of those with the same bits, each is in another one. Returns
 * how many groups there are, or 0: no memory. */
static uint32_t select_groups(const struct gt_probe_places *p, uint32_t *group)
{
	uint32_t *n = calloc(1u << GT_BPF_PLACE_BITS, sizeof(*n)), max = 0;

	for (uint32_t i = 0; n && i < p->n; i++) {
		group[i] = n[key_of(0, p->offsets[i])]++;
		if (group[i] >= max)
			max = group[i] + 1;
	}
	free(n);
	return max;
}

static int add_cookies(struct gt_probe_group *group, const struct gt_probe_places *p)
{
	for (; group->nkeys < p->n; group->nkeys++) {
		uint32_t *key = &group->keys[group->nkeys];

		*key = key_of(group->first + *key, p->offsets[group->nkeys]);
		if (bpf_map_update_elem(
			    group->groups->cookies, key, &p->cookies[group->nkeys], BPF_ANY))
			return -errno;
	}
	return 0;
}

/* The last group is that of the returns. */
static int define(const struct gt_probe_group *group, const char *path,
	const struct gt_probe_places *p, bool has_returns)
{
	const char *system = group->groups->system;
	struct lines l = { .to = group->groups->list };

	for (uint32_t i = 0; i < p->n; i++) {
		char counter[24] = "";

		if (p->counters && p->counters[i])
			snprintf(counter, sizeof(counter), "(0x%llx)",
				(unsigned long long)p->counters[i]);
		lines_add(&l, "p:%s/e%u %s:0x%llx%s\n", system, group->keys[i] >> GT_BPF_PLACE_BITS,
			path, (unsigned long long)p->offsets[i], counter);
	}
	for (uint32_t i = 0; has_returns && i < p->n; i++)
		lines_add(&l, "r:%s/e%u %s:0x%llx\n", system, group->first + group->n - 1, path,
			(unsigned long long)p->offsets[i]);
	lines_flush(&l);
	return l.error;
}

/* new: close it. A perf event of a group. */
static int open_event(const struct gt_probe_groups *g, uint32_t number, pid_t pid)
{
	struct perf_event_attr a = { .size = sizeof(a), .type = PERF_TYPE_TRACEPOINT };
	char path[96], text[24] = "";
	int fd;

	snprintf(path, sizeof(path), "events/%s/e%u/id", g->system, number);
	fd = openat(g->tracefs, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (read(fd, text, sizeof(text) - 1) > 0)
		a.config = strtoull(text, NULL, 10);
	close(fd);
	fd = (int)syscall(
		SYS_perf_event_open, &a, pid ? pid : -1, pid ? -1 : 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int link_events(const struct gt_probe_group *group, const struct gt_probe_programs *programs,
	pid_t pid, int *events, size_t *nevents)
{
	for (uint32_t i = 0; i < group->n; i++) {
		uint32_t number = group->first + i;
		bool is_return = !programs->is_point && i == group->n - 1;
		int link = gt_perf_link(programs->wrappers,
			is_return ? programs->ret : programs->entry,
			open_event(group->groups, number, pid), GT_BPF_GROUP | number);

		if (link < 0)
			return link;
		events[(*nevents)++] = link;
	}
	return 0;
}

bool gt_probe_groups_fit(const struct gt_probe_groups *g, const struct gt_probe_places *places)
{
	return g->list >= 0 && places->n >= PLACES_MIN && g->next < GROUPS_MAX;
}

int gt_probe_group_open(struct gt_probe_group *group, struct gt_probe_groups *g,
	const struct gt_probe_programs *programs, const char *path, pid_t pid,
	const struct gt_probe_places *places, int *events, size_t *nevents)
{
	int rc;

	release_ended(g);
	*nevents = 0;
	*group = (struct gt_probe_group){ .groups = g, .first = g->next };
	group->keys = calloc(places->n, sizeof(*group->keys));
	group->n = group->keys ? select_groups(places, group->keys) : 0;
	if (!group->n) {
		release(group);
		return -ENOMEM;
	}
	group->n += !programs->is_point;
	g->next += group->n;
	rc = add_cookies(group, places);
	if (!rc)
		rc = define(group, path, places, !programs->is_point);
	if (!rc)
		rc = link_events(group, programs, pid, events, nevents);
	if (!rc)
		return 0;
	while (*nevents)
		close(events[--*nevents]);
	release(group);
	return rc;
}
