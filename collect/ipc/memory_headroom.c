/* Checks three limits: MemAvailable; memory.max of gtcollect's cgroup and of each one above it
 * (version 2); the same with other file names (version 1). Page cache counts as used in a cgroup
 * but can be reclaimed, so file pages are added back. */
#include "collect/ipc/memory_headroom.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct headroom_limit {
	uint64_t bytes;
	char *what;
	size_t size;
};

static void apply_limit(struct headroom_limit *t, uint64_t bytes, const char *what)
{
	if (bytes >= t->bytes)
		return;
	t->bytes = bytes;
	snprintf(t->what, t->size, "%s", what);
}

/* The number after `key` in a file of "key value" lines; key NULL: the file is one number.
 * UINT64_MAX: there is none. */
static uint64_t read_number(const char *path, const char *key)
{
	char line[256], *value;
	uint64_t n = UINT64_MAX;
	FILE *f = fopen(path, "re");

	if (!f)
		return n;
	while (n == UINT64_MAX && fgets(line, sizeof(line), f)) {
		value = line;
		if (key && (strncmp(line, key, strlen(key)) || !strchr(" :\t", line[strlen(key)])))
			continue;
		if (key)
			value += strcspn(line, " \t");
		value += strspn(value, " \t");
		if (*value >= '0' && *value <= '9')
			n = strtoull(value, NULL, 10);
		else if (!key)
			break;
	}
	fclose(f);
	return n;
}

struct cgroup_files {
	const char *max, *used, *file;
};
static const struct cgroup_files v2 = { "memory.max", "memory.current", "file" };
static const struct cgroup_files v1 = { "memory.limit_in_bytes", "memory.usage_in_bytes",
	"total_cache" };

static void apply_group(struct headroom_limit *t, const char *dir, const struct cgroup_files *n)
{
	char path[640], what[700];
	uint64_t max, used, cache, shm, reclaimable;

	snprintf(path, sizeof(path), "%s/%s", dir, n->max);
	max = read_number(path, NULL);
	snprintf(what, sizeof(what), "%s", path);
	snprintf(path, sizeof(path), "%s/%s", dir, n->used);
	used = read_number(path, NULL);
	if (max > UINT64_MAX / 4 || used == UINT64_MAX) /* no limit, or a limit without effect */
		return;
	snprintf(path, sizeof(path), "%s/memory.stat", dir);
	cache = read_number(path, n->file);
	shm = read_number(path, "shmem");
	if (cache != UINT64_MAX) {
		reclaimable = cache - (shm < cache ? shm : 0);
		used -= reclaimable < used ? reclaimable : used;
	}
	apply_limit(t, max > used ? max - used : 0, what);
}

/* Checks this cgroup and all above it, up to the mount's root. */
static void walk_up(
	struct headroom_limit *t, const char *mount, const char *path, const struct cgroup_files *n)
{
	char dir[600];
	char *slash;

	snprintf(dir, sizeof(dir), "%s%s", mount, path);
	for (;;) {
		apply_group(t, dir, n);
		slash = strrchr(dir, '/');
		if (!slash || slash < dir + strlen(mount))
			break;
		*slash = 0;
	}
}

uint64_t gt_memory_headroom(char *what, size_t size)
{
	struct headroom_limit t = { UINT64_MAX, what, size };
	uint64_t available = read_number("/proc/meminfo", "MemAvailable");
	char line[512], *path;
	FILE *f = fopen("/proc/self/cgroup", "re");

	if (size)
		what[0] = 0;
	if (available <= UINT64_MAX / 1024)
		apply_limit(&t, available * 1024, "MemAvailable");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		path = strchr(line, '/');
		if (!path)
			continue;
		if (!strncmp(line, "0::", 3))
			walk_up(&t, "/sys/fs/cgroup", path, &v2);
		else if (strstr(line, ":memory:"))
			walk_up(&t, "/sys/fs/cgroup/memory", path, &v1);
	}
	if (f)
		fclose(f);
	return t.bytes;
}
