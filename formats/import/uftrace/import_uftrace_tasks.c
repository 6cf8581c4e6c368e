/* The text files of a folder of uftrace: the command line, tasks, sessions and names of threads. */
#define _GNU_SOURCE
#include "formats/import/uftrace/import_uftrace.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/base/sorted.h"
#include "formats/io/json_build.h"
#include "formats/io/stream_in.h"
#include "formats/io/text_lines.h"

#define SESSIONS_MAX (1u << 14)
#define OPENED_MAX (1u << 12)
#define MAGIC "Ftrace!"
#define VERSION 4u
#define CPUS_MAX 4096u
#define NS 1000000000ll

/* ---- files ---- */

int gt_uftrace_open(const struct gt_uftrace *u, const char *name)
{
	/* O_NONBLOCK: a pipe of that name must not block */
	int fd = openat(u->folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		return -EINVAL;
	}
	return fd < 0 ? -errno : fd;
}

int gt_uftrace_cannot_open(const struct gt_uftrace *u, const char *name, int code)
{
	return gt_err_set(u->err, code, "%s: cannot open: %s", name,
		code == -EINVAL ? "not a regular file" : strerror(-code));
}

int gt_uftrace_lines(struct gt_uftrace *u, const char *name,
	int (*fn)(struct gt_uftrace *u, const char *line, void *arg), void *arg)
{
	struct gt_err *err = u->err, why = GT_ERR_INIT;
	int fd = gt_uftrace_open(u, name), more = 0, e;
	struct gt_in *in = fd < 0 ? NULL : gt_in_open_fd(fd, &why);
	struct gt_text_lines lines = { 0 };
	char *line;
	size_t len;

	if (fd < 0)
		return fd == -ENOENT ? fd : gt_uftrace_cannot_open(u, name, fd);
	e = in ? gt_text_lines_init(&lines, in, &why) : why.code;
	u->err = &why;
	while (!e && (more = gt_text_lines_next(&lines, &line, &len, &why)) > 0)
		e = fn(u, line, arg);
	u->err = err;
	e = e ? e : more;
	if (e < 0 && lines.number)
		gt_err_set(err, e, "%s: line %" PRIu64 ": %s", name, lines.number, why.text);
	else if (e < 0)
		gt_err_set(err, e, "%s: %s", name, why.text);
	gt_text_lines_release(&lines);
	gt_in_close(in);
	return e < 0 ? e : 0;
}

static int no_memory(const struct gt_uftrace *u)
{
	return gt_err_set(u->err, -ENOMEM, "out of memory (import of uftrace's folder)");
}

/* ---- info ---- */

/* The first 40 bytes of info. */
struct header {
	char magic[8];
	uint32_t version;
	uint16_t size;
	uint8_t endian, class; /* 1: little endian; 2: 64 bits */
	uint64_t features, info;
	uint16_t max_stack, unused[3];
};

static int read_header(struct gt_uftrace *u)
{
	int fd = gt_uftrace_open(u, "info");
	struct header h;
	ssize_t n = fd < 0 ? -1 : pread(fd, &h, sizeof(h), 0);

	if (fd >= 0)
		close(fd);
	if (n != sizeof(h) || memcmp(h.magic, MAGIC, sizeof(MAGIC)))
		return gt_err_set(u->err, -EILSEQ, "info: not a file of uftrace");
	if (h.endian != 1)
		return gt_err_set(u->err, -EILSEQ, "info: the recording is big endian");
	if (h.version != VERSION)
		return gt_err_set(u->err, -EILSEQ,
			"info: version %u of uftrace's format, but only version %u is read",
			h.version, VERSION);
	return 0;
}

static int on_info(struct gt_uftrace *u, const char *line, void *arg)
{
	json_t *text;

	if (strncmp(line, "cmdline:", 8) || u->command)
		return 0;
	text = gt_json_text(line + 8, strlen(line + 8));
	u->command = text ? gt_json_dump(text, JSON_ENCODE_ANY) : NULL;
	json_decref(text);
	return u->command ? 0 : no_memory(u);
}

/* ---- task.txt ---- */

/* The value of "key=" in a line. NULL: there is none. */
static const char *value_of(const char *line, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = line; (p = strstr(p, key)); p += n)
		if (p > line && p[-1] == ' ' && p[n] == '=')
			return p + n + 1;
	return NULL;
}

static bool read_id(const char *line, const char *key, int64_t *id)
{
	const char *p = value_of(line, key);
	char *end = NULL;
	long v = p ? strtol(p, &end, 10) : -1;

	*id = v;
	return p && end > p && v >= 0 && v <= INT32_MAX;
}

/* "timestamp=685.399332396" */
static bool read_time(const char *line, int64_t *ns)
{
	const char *p = value_of(line, "timestamp");
	unsigned long long seconds;
	unsigned fraction;
	int n = 0;

	if (!p || sscanf(p, "%10llu.%9u%n", &seconds, &fraction, &n) != 2 || seconds > 2000000000)
		return false;
	*ns = (int64_t)seconds * NS + fraction;
	return true;
}

/* The text in quotes behind key=. */
static bool read_quoted(const char *line, const char *key, char *to, size_t size)
{
	const char *p = value_of(line, key), *end = p && *p == '"' ? strchr(p + 1, '"') : NULL;

	if (!end)
		return false;
	snprintf(to, size, "%.*s", (int)(end - p - 1 < 4096 ? end - p - 1 : 4096), p + 1);
	return true;
}

static int add_task(struct gt_uftrace *u, int64_t tid, int64_t pid, int64_t parent, int64_t start)
{
	struct gt_uftrace_task t = {
		.tid = tid, .pid = pid, .parent = parent, .start = start, .named = INT64_MIN
	};

	if (gt_map_find_item(&u->task_map, u->tasks, sizeof(t), &tid, sizeof(tid)) != GT_NONE)
		return 0; /* a thread that runs another program */
	if (u->ntasks == GT_UFTRACE_TASKS_MAX)
		return gt_err_set(u->err, -E2BIG, "more than %u tasks", GT_UFTRACE_TASKS_MAX);
	return gt_map_add_item(&u->task_map, &u->tasks, &u->ntasks, &u->tasks_cap, sizeof(t), &t,
		       sizeof(tid)) == GT_NONE
		? no_memory(u)
		: 0;
}

static int add_session(struct gt_uftrace *u, int64_t pid, int64_t start, const char *line)
{
	struct gt_uftrace_session s = { .pid = pid, .start = start };
	const char *id = value_of(line, "sid");
	char path[4096], *slash;
	size_t n = id ? strspn(id, "0123456789abcdef") : 0;

	if (!n || n >= sizeof(s.id) || !read_quoted(line, "exename", path, sizeof(path)))
		return gt_err_set(u->err, -EILSEQ, "a session without sid or exename");
	memcpy(s.id, id, n);
	slash = strrchr(path, '/');
	snprintf(s.program, sizeof(s.program), "%.60s", slash ? slash + 1 : path);
	if (u->nsessions == SESSIONS_MAX)
		return gt_err_set(u->err, -E2BIG, "more than %u sessions", SESSIONS_MAX);
	if (gt_grow(&u->sessions, &u->sessions_cap, u->nsessions + 1, sizeof(s)))
		return no_memory(u);
	u->sessions[u->nsessions++] = s;
	return 0;
}

static int add_opened(struct gt_uftrace *u, int64_t time, const char *line)
{
	const char *id = value_of(line, "sid"), *base = value_of(line, "base");
	struct gt_uftrace_opened o = { .time = time, .session = GT_NONE };
	char path[4096];

	if (u->nopened == OPENED_MAX)
		return gt_err_set(u->err, -E2BIG, "more than %u opened libraries", OPENED_MAX);
	if (!id || !base || !read_quoted(line, "libname", path, sizeof(path)))
		return gt_err_set(
			u->err, -EILSEQ, "an opened library without sid, base or libname");
	for (size_t i = 0; i < u->nsessions; i++)
		if (!strncmp(u->sessions[i].id, id, strlen(u->sessions[i].id)))
			o.session = (uint32_t)i;
	o.mapping.start = strtoull(base, NULL, 16);
	o.mapping.module = gt_uftrace_module(u, path);
	if (o.mapping.module == GT_UFTRACE_NONE ||
		gt_grow(&u->opened, &u->opened_cap, u->nopened + 1, sizeof(o)))
		return no_memory(u);
	u->opened[u->nopened++] = o;
	return 0;
}

/* SESS, TASK, FORK and DLOP; other lines are of later versions. */
static int on_task(struct gt_uftrace *u, const char *line, void *arg)
{
	int64_t time = 0, pid = 0, tid = 0, parent = 0;
	bool valid = read_time(line, &time), has_pid = read_id(line, "pid", &pid),
	     has_tid = read_id(line, "tid", &tid), has_parent = read_id(line, "ppid", &parent);

	if (!strncmp(line, "SESS ", 5) && valid && has_pid)
		return add_session(u, pid, time, line);
	if (!strncmp(line, "TASK ", 5) && valid && has_pid && has_tid)
		return add_task(u, tid, pid, 0, time);
	if (!strncmp(line, "FORK ", 5) && valid && has_pid && has_parent)
		return add_task(u, pid, pid, parent, time);
	if (!strncmp(line, "DLOP ", 5) && valid && has_tid)
		return add_opened(u, time, line);
	return !strncmp(line, "SESS ", 5) || !strncmp(line, "TASK ", 5) ||
			!strncmp(line, "FORK ", 5) || !strncmp(line, "DLOP ", 5)
		? gt_err_set(u->err, -EILSEQ, "the line has no valid time, pid or tid")
		: 0;
}

/* ---- names of threads ---- */

/* A record of perf: u32 type, u16 misc, u16 size. Type 3 is a new name: u32 pid, u32 tid, the name
 * with its NUL and zeros up to 8 bytes, then u32 pid, u32 tid, u64 time. */
static void on_comm(struct gt_uftrace *u, const uint8_t *record, size_t size)
{
	uint32_t ids[2];
	int64_t tid, time;
	uint32_t i;

	if (size < 8 + 8 + 8 + 16)
		return;
	memcpy(ids, record + 8, sizeof(ids));
	memcpy(&time, record + size - 8, sizeof(time));
	tid = ids[1];
	i = gt_map_find_item(&u->task_map, u->tasks, sizeof(*u->tasks), &tid, sizeof(tid));
	if (i == GT_NONE || u->tasks[i].named > time)
		return;
	u->tasks[i].named = time;
	snprintf(u->tasks[i].name, sizeof(u->tasks[i].name), "%.*s",
		(int)strnlen((const char *)record + 16, size - 32), (const char *)record + 16);
}

/* False: there is no such file. Damage ends the reading: these are only names. */
static bool read_names(struct gt_uftrace *u, unsigned cpu)
{
	char file[32];
	uint8_t record[UINT16_MAX];
	uint64_t at = 0;
	uint16_t size;
	uint32_t type;
	int fd;

	snprintf(file, sizeof(file), "perf-cpu%u.dat", cpu);
	fd = gt_uftrace_open(u, file);
	if (fd < 0)
		return false;
	while (pread(fd, record, 8, (off_t)at) == 8) {
		memcpy(&type, record, sizeof(type));
		memcpy(&size, record + 6, sizeof(size));
		if (size < 8)
			break;
		if (type == 3 && pread(fd, record, size, (off_t)at) == size)
			on_comm(u, record, size);
		at += size;
	}
	close(fd);
	return true;
}

static int by_time(const void *pa, const void *pb)
{
	const struct gt_uftrace_opened *a = pa, *b = pb;

	return GT_COMPARE(a->time, b->time);
}

int gt_uftrace_read_tasks(struct gt_uftrace *u)
{
	int e = read_header(u);

	e = e ? e : gt_uftrace_lines(u, "info", on_info, NULL);
	e = e ? e : gt_uftrace_list_files(u);
	e = e ? e : gt_uftrace_lines(u, "task.txt", on_task, NULL);
	if (e == -ENOENT)
		return gt_err_set(u->err, e, "task.txt is missing");
	if (u->nopened)
		qsort(u->opened, u->nopened, sizeof(*u->opened), by_time);
	for (size_t i = 0; !e && i < u->nsessions; i++)
		e = gt_uftrace_read_map(u, &u->sessions[i]);
	for (unsigned cpu = 0; !e && cpu < CPUS_MAX && read_names(u, cpu); cpu++)
		;
	return e;
}
