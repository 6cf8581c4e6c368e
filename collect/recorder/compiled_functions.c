#define _GNU_SOURCE
#include "collect/recorder/compiled_functions.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "collect/ipc/process_maps.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/trace/clock.h"

#define FUNCTIONS_MAX 262144  /* of a process */
#define MAP_MAX (64ll << 20)  /* bytes of a map that are read */
#define DUMP_MAX (1ll << 30)  /* bytes of a dump, which has the code, too */
#define READ_MAX (16ll << 20) /* bytes of a map that one look-up reads */
#define RECORDS_MAX 65536     /* of a dump, that one look-up reads */
#define READ_TIME 50000000ll  /* ns: in which one look-up reads a file; the next one continues */
#define SEARCH_SHARE 20       /* searching takes 1 / 20 of the time */
#define NAME_BYTES 400
#define START_ERROR 1000000000ll /* ns */

/* ---- files ---- */

/* ns of CLOCK_REALTIME */
static int64_t start_of(const struct gt_guest *guest)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec - (gt_clock_monotonic() - guest->start);
}

/* A file of the process's user, which was changed since the process began: an earlier process may
 * have had the same id. */
static bool is_of_process(int fd, const struct gt_guest *guest)
{
	char path[32];
	struct stat st, of;

	snprintf(path, sizeof(path), "/proc/%d", (int)guest->host_pid);
	return !fstat(fd, &st) && !stat(path, &of) && S_ISREG(st.st_mode) &&
		(st.st_uid == of.st_uid || !st.st_uid) &&
		st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec >=
		start_of(guest) - START_ERROR;
}

/* path: in the process's root. Plus 1; 0: it is not there, or not the process's. */
static int open_file(const struct gt_guest *guest, const char *path)
{
	char there[PATH_MAX + 32];
	int fd;

	snprintf(there, sizeof(there), "/proc/%d/root%s", (int)guest->host_pid, path);
	fd = open(there, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd >= 0 && !is_of_process(fd, guest)) {
		close(fd);
		fd = -1;
	}
	return fd + 1;
}

static int find_dump(void *arg, const struct gt_mapping *m, struct gt_err *err)
{
	const char *base = strrchr(m->name, '/');
	char *to = arg;

	(void)err;
	if (!base || strncmp(base, "/jit-", 5) || !strstr(base, ".dump"))
		return 0;
	snprintf(to, PATH_MAX, "%s", m->name);
	return 1;
}

/* The process's id in its own namespace is in a map's name. Searching for a dump takes longer, so
 * that it takes at most a part of the time. */
static void open_files(struct gt_compiled_functions *c, const struct gt_guest *guest)
{
	struct gt_err ignored = GT_ERR_INIT;
	const int64_t now = gt_clock_monotonic();
	char path[PATH_MAX];

	if (!c->map.fd) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)guest->ns_pid);
		c->map.fd = open_file(guest, path);
	}
	if (c->dump.fd || now < c->search_at)
		return;
	if (gt_mappings_each(guest->host_pid, find_dump, path, &ignored) == 1)
		c->dump.fd = open_file(guest, path);
	c->search_at = now + SEARCH_SHARE * (gt_clock_monotonic() - now);
}

/* ---- functions ---- */

static void add(struct gt_compiled_functions *c, uint64_t low, uint64_t size, const char *name)
{
	struct gt_compiled_function f = { .low = low, .high = low + size };

	if (!size || f.high < low || !*name || c->n >= FUNCTIONS_MAX ||
		gt_grow(&c->items, &c->cap, c->n + 1, sizeof(f)))
		return;
	f.number = c->count++;
	f.name = strndup(name, strcspn(name, "\n"));
	if (!f.name)
		return;
	c->items[c->n++] = f;
}

static int by_address(const void *pa, const void *pb)
{
	const struct gt_compiled_function *a = pa, *b = pb;

	return GT_COMPARE(a->low, b->low) ?: GT_COMPARE(a->number, b->number);
}

/* Sorts the items that were added since, and puts each where it belongs among the others. */
static void merge(struct gt_compiled_functions *c)
{
	size_t old = c->nsorted, left = c->n - old, to = c->n;
	struct gt_compiled_function *new = malloc(left * sizeof(*new));

	if (!new) {
		GT_SORT(c->items, c->n, by_address);
		return;
	}
	memcpy(new, c->items + old, left * sizeof(*new));
	GT_SORT(new, left, by_address);
	while (left)
		c->items[--to] = old && by_address(&c->items[old - 1], &new[left - 1]) > 0
			? c->items[--old]
			: new[--left];
	free(new);
}

/* Memory is used again: of functions that overlap, the latest one is there. */
static void sort(struct gt_compiled_functions *c)
{
	size_t n = 0;

	if (c->nsorted == c->n)
		return;
	merge(c);
	for (size_t i = 0; i < c->n; i++) {
		struct gt_compiled_function *f = &c->items[i];

		while (n && c->items[n - 1].high > f->low && c->items[n - 1].number < f->number)
			free(c->items[--n].name);
		if (n && c->items[n - 1].high > f->low)
			free(f->name);
		else
			c->items[n++] = *f;
	}
	c->n = c->nsorted = c->nmapped = n;
	gt_map_release(&c->by_start);
}

/* Among the sorted ones. */
static const struct gt_compiled_function *find(
	const struct gt_compiled_functions *c, uint64_t address)
{
	size_t after = GT_LOWER_BOUND(i, 0, c->nsorted, c->items[i].low <= address);

	return after && address < c->items[after - 1].high ? &c->items[after - 1] : NULL;
}

static bool begins_at(const void *arg, uint32_t i, const void *start, size_t len)
{
	const struct gt_compiled_functions *c = arg;

	return c->items[i].low == *(const uint64_t *)start;
}

/* The latest function that begins there. Those that are not sorted are found by a map: a dump may
 * move many functions, and to sort at each move would take too long. */
static const struct gt_compiled_function *find_start(
	struct gt_compiled_functions *c, uint64_t start)
{
	const struct gt_compiled_function *f;
	uint32_t i;

	for (; c->nmapped < c->n; c->nmapped++) {
		const uint64_t *low = &c->items[c->nmapped].low, hash = gt_hash_u64(*low);

		i = gt_map_get(&c->by_start, hash, begins_at, c, low, sizeof(*low));
		if (i != UINT32_MAX)
			gt_map_set(&c->by_start, hash, i, (uint32_t)c->nmapped);
		else if (gt_map_add(&c->by_start, hash, (uint32_t)c->nmapped))
			return NULL;
	}
	i = gt_map_get(&c->by_start, gt_hash_u64(start), begins_at, c, &start, sizeof(start));
	if (i != UINT32_MAX)
		return &c->items[i];
	f = find(c, start);
	return f && f->low == start ? f : NULL;
}

/* ---- maps ---- */

static void add_line(struct gt_compiled_functions *c, const char *line)
{
	uint64_t low, size;
	int at = 0;

	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &low, &size, &at) >= 2 && at)
		add(c, low, size, line + at);
}

/* Reads the lines that begin in this text, and returns its bytes that were read. The last line may
 * have no end yet. Of a long one only the beginning counts; c->map_skips: its end is to come. */
static size_t read_lines(struct gt_compiled_functions *c, const char *text, size_t n, size_t most)
{
	char line[64 + NAME_BYTES];
	const char *from = text, *end;

	while (from < text + n) {
		end = memchr(from, '\n', (size_t)(text + n - from));
		if (!end && !c->map_skips && (from > text || n < most))
			break;
		if (!c->map_skips) {
			snprintf(line, sizeof(line), "%.*s", (int)((end ? end : text + n) - from),
				from);
			add_line(c, line);
		}
		c->map_skips = !end;
		from = end ? end + 1 : text + n;
	}
	return (size_t)(from - text);
}

/* Reads lines that were added. */
static void read_map(struct gt_compiled_functions *c)
{
	const int64_t most = c->map.at + READ_MAX < MAP_MAX ? c->map.at + READ_MAX : MAP_MAX;
	const int64_t until = gt_clock_monotonic() + READ_TIME;
	char text[65536];
	ssize_t got;
	size_t done;

	while (c->map.at < most &&
		(got = pread(c->map.fd - 1, text, sizeof(text), c->map.at)) > 0) {
		done = read_lines(c, text, (size_t)got, sizeof(text));
		if (!done)
			return;
		c->map.at += (int64_t)done;
		if (gt_clock_monotonic() >= until)
			return;
	}
}

/* ---- dumps ---- */

#define DUMP_MAGIC 0x4a695444u
enum { CODE_LOAD, CODE_MOVE };
struct dump_head {
	uint32_t magic, version, bytes, machine, unused, pid;
	uint64_t time, flags;
};
struct dump_record {
	uint32_t kind, bytes;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t virtual_address, address;
	union {
		struct {
			uint64_t size, index;
			char name[NAME_BYTES];
		} load;
		struct {
			uint64_t new_address, size, index;
		} move;
	};
};

static void move(struct gt_compiled_functions *c, const struct dump_record *r)
{
	const struct gt_compiled_function *f = find_start(c, r->address);

	if (f)
		add(c, r->move.new_address, r->move.size, f->name);
}

/* Reads the record there, and goes to the next one. False: it is not complete, or damaged. */
static bool read_record(struct gt_compiled_functions *c, int64_t end)
{
	struct dump_record r;
	ssize_t got;

	memset(&r, 0, sizeof(r));
	got = pread(c->dump.fd - 1, &r, sizeof(r) - 1, c->dump.at);
	if (got < 16 || r.bytes < 16 || c->dump.at + r.bytes > end)
		return false;
	c->dump.at += r.bytes;
	if (r.bytes < sizeof(r))
		memset((char *)&r + r.bytes, 0, sizeof(r) - r.bytes);
	if (r.kind == CODE_LOAD)
		add(c, r.address, r.load.size, r.load.name);
	else if (r.kind == CODE_MOVE)
		move(c, &r);
	return true;
}

static void read_dump(struct gt_compiled_functions *c)
{
	const int64_t until = gt_clock_monotonic() + READ_TIME;
	struct dump_head head;
	struct stat st;

	if (fstat(c->dump.fd - 1, &st) || st.st_size <= c->dump.at)
		return;
	if (!c->dump.at) {
		if (pread(c->dump.fd - 1, &head, sizeof(head), 0) != sizeof(head) ||
			head.magic != DUMP_MAGIC || head.bytes < sizeof(head))
			return;
		c->dump.at = head.bytes;
	}
	for (unsigned i = 0; i < RECORDS_MAX && c->dump.at < DUMP_MAX; i++)
		if (!read_record(c, st.st_size) ||
			(i % 256 == 255 && gt_clock_monotonic() >= until))
			return;
}

/* ---- interface ---- */

const char *gt_compiled_function(
	struct gt_compiled_functions *c, const struct gt_guest *guest, uint64_t address)
{
	const struct gt_compiled_function *f;

	sort(c);
	f = find(c, address);
	if (!f) {
		if (!c->map.fd || !c->dump.fd)
			open_files(c, guest);
		if (c->map.fd)
			read_map(c);
		if (c->dump.fd)
			read_dump(c);
		sort(c);
		f = find(c, address);
	}
	return f ? f->name : NULL;
}

void gt_compiled_functions_release(struct gt_compiled_functions *c)
{
	if (c->map.fd)
		close(c->map.fd - 1);
	if (c->dump.fd)
		close(c->dump.fd - 1);
	for (size_t i = 0; i < c->n; i++)
		free(c->items[i].name);
	free(c->items);
	gt_map_release(&c->by_start);
	*c = (struct gt_compiled_functions){ 0 };
}
