#define _GNU_SOURCE
#include "collect/host/jit_maps.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "collect/ipc/guest_server.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

#define FUNCTIONS_MAX 262144 /* of a process */
#define FILE_MAX (64 << 20)  /* bytes */
#define SKIPS 32             /* misses between two looks at the file */
#define LINE_MAX_ 4096
#define NAME_MAX_ 400

static struct gt_jit_process *process_of(struct gt_jit_maps *m, uint32_t tgid)
{
	const struct gt_jit_process new = { .tgid = tgid };
	uint32_t i = gt_map_find_item(&m->map, m->processes, sizeof(new), &tgid, sizeof(tgid));

	if (i == UINT32_MAX)
		i = gt_map_add_item(
			&m->map, &m->processes, &m->n, &m->cap, sizeof(new), &new, sizeof(tgid));
	return i == UINT32_MAX ? NULL : &m->processes[i];
}

/* The process's id in its own namespace is in the file's name. NULL: there is no file that a user
 * of the process's rights has written. */
static FILE *open_map(uint32_t tgid)
{
	struct gt_guest guest;
	struct stat st, of;
	char path[64];
	int fd;

	if (!gt_guest_read((int32_t)tgid, &guest))
		return NULL;
	snprintf(path, sizeof(path), "/proc/%u/root/tmp/perf-%d.map", tgid, (int)guest.ns_pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	snprintf(path, sizeof(path), "/proc/%u", tgid);
	if (fd >= 0 && !fstat(fd, &st) && !stat(path, &of) && S_ISREG(st.st_mode) &&
		(st.st_uid == of.st_uid || !st.st_uid))
		return fdopen(fd, "re");
	if (fd >= 0)
		close(fd);
	return NULL;
}

static void add_line(struct gt_jit_process *p, const char *line)
{
	struct gt_jit_function f = { 0 };
	uint64_t size;
	int at = 0;

	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &f.low, &size, &at) < 2 || !at ||
		!line[at] || !size || f.low + size < f.low || p->n >= FUNCTIONS_MAX ||
		gt_grow(&p->items, &p->cap, p->n + 1, sizeof(f)))
		return;
	f.high = f.low + size;
	f.name = strndup(line + at, strcspn(line + at, "\n"));
	if (!f.name)
		return;
	p->items[p->n++] = f;
	p->is_sorted = false;
}

/* Reads the lines that were added. The last one may have no end yet. */
static void read_more(struct gt_jit_process *p)
{
	FILE *file = open_map(p->tgid);
	char line[LINE_MAX_];

	if (!file || fseek(file, (long)p->bytes, SEEK_SET)) {
		if (file)
			fclose(file);
		return;
	}
	while (p->bytes < FILE_MAX && fgets(line, sizeof(line), file) && strchr(line, '\n')) {
		p->bytes += (int64_t)strlen(line);
		add_line(p, line);
	}
	fclose(file);
}

static int by_address(const void *pa, const void *pb)
{
	const struct gt_jit_function *a = pa, *b = pb;

	return GT_COMPARE(a->low, b->low);
}

static struct gt_jit_function *find(struct gt_jit_process *p, uint64_t address)
{
	size_t after;

	if (!p->is_sorted)
		GT_SORT(p->items, p->n, by_address);
	p->is_sorted = true;
	after = GT_LOWER_BOUND(i, 0, p->n, p->items[i].low <= address);
	return after && address < p->items[after - 1].high ? &p->items[after - 1] : NULL;
}

struct gt_jit_function *gt_jit_maps_find(struct gt_jit_maps *m, uint32_t tgid, uint64_t address)
{
	struct gt_jit_process *p = process_of(m, tgid);
	struct gt_jit_function *found = p ? find(p, address) : NULL;

	if (found || !p)
		return found;
	if (p->skips) {
		p->skips--;
		return NULL;
	}
	p->skips = SKIPS;
	read_more(p);
	return find(p, address);
}

static void release_process(struct gt_jit_process *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->items[i].name);
	free(p->items);
}

void gt_jit_maps_forget(struct gt_jit_maps *m, uint32_t tgid)
{
	uint32_t i =
		gt_map_find_item(&m->map, m->processes, sizeof(*m->processes), &tgid, sizeof(tgid));

	if (i == UINT32_MAX)
		return;
	release_process(&m->processes[i]);
	gt_map_remove_item(&m->map, m->processes, &m->n, sizeof(*m->processes), i, sizeof(tgid));
}

void gt_jit_maps_release(struct gt_jit_maps *m)
{
	for (size_t i = 0; i < m->n; i++)
		release_process(&m->processes[i]);
	free(m->processes);
	gt_map_release(&m->map);
	*m = (struct gt_jit_maps){ 0 };
}
