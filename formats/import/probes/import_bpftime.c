/* The output of bpftime's examples for GPUs (eunomia-bpf/bpftime: example/gpu), whose programs run
 * in each block or thread of a kernel. The lines of each example:
 *
 *      kernel_trace     [kernel_trace] ts=809635273301344 block=(0,0,0) thread=(1,0,0)
 *      kernelretsnoop   Thread (1, 0, 0) timestamp: 1749147474550023136
 *      cuda-counter     Entered _Z9vectorAddPKfS0_Pf x=0, ts=1749147474550023136
 *                       Exited (with tsp) _Z9vectorAddPKfS0_Pf x=0 duration=6437888
 * tsp=1749147474550023136ns cuda-counter,    10:15:30 launchlate          pid=4711  calls: 40
 *      threadhist       10:15:30
 *                       Thread 3: 40
 *      launchlate       10:15:30  Launch Latency Distribution:
 *                       1-10us          : 12       |****
 *
 * "Exited" has start and duration: it is GPU work with the name of its kernel, one row for each
 * block that a probe timed, and the metadata count them. The lines of the first two examples are
 * instants on the GPU, when a thread entered or left the kernel. No line has the number of the GPU.
 * The others are counters at a second of the day; they print the sums so far again every second,
 * and only changes are kept.
 *
 * The GPU's global timer and the time of day have no relation. If a file has both, the clock of the
 * first line with a time counts, and lines of the other one are skipped. All lines that are not
 * understood are counted: those of the program, too, which often writes to the same terminal.
 * mem_trace prints a counter without a time, which is skipped, too.
 *
 * Memory: COUNTERS_MAX counters. */
#define _GNU_SOURCE
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/map.h"
#include "formats/import/probes/import_gpu_probes.h"
#include "formats/import/importers.h"
#include "formats/io/text_lines.h"

#define COUNTERS_MAX 65536u
#define SNIFF_LINES 60
#define DAY_NS ((int64_t)24 * 3600 * 1000000000)

enum clock { CLOCK_UNKNOWN, CLOCK_GPU, CLOCK_DAY };

struct bpftime {
	struct gt_import_rows *rows;
	struct gt_writer *w;
	enum clock clock;
	int64_t second; /* ns: the last time of day, -1: none */
	struct gt_map counter_map;
	struct bpftime_counter {
		uint64_t pid, name; /* the key; name: of gt_rows_name */
		uint64_t value;
	} * counters;
	size_t ncounters, counters_cap;
	uint64_t blocks, skipped;
};

static const struct gt_rows_config config = {
	.importer = "bpftime",
	.mode = GT_PAIR_BY_ID,
	.classify = gt_probe_classify,
	.role = gt_probe_role,
	.notes_lines = true,
};

/* The first clock of the file counts. False: the line is of the other one. */
static bool is_clock(struct bpftime *b, enum clock clock)
{
	if (b->clock == CLOCK_UNKNOWN)
		b->clock = clock;
	return b->clock == clock;
}

static bool is_time(uint64_t ns) { return ns && ns <= GT_ROWS_TIME_MAX; }

/* ---- moments and blocks ---- */

/* "(1,0,0)" or "(1, 0, 0)" */
static const char *read_three(const char *p, uint64_t v[3])
{
	for (int i = 0; i < 3; i++) {
		if (*p != (i ? ',' : '('))
			return NULL;
		p++;
		p += *p == ' ';
		if (!gt_text_number(p, "", &v[i], &p))
			return NULL;
	}
	return *p == ')' ? p + 1 : NULL;
}

static void add_three(struct bpftime *b, const char *const keys[3], const uint64_t v[3])
{
	for (int i = 0; i < 3; i++)
		gt_rows_number(b->rows, keys[i], v[i]);
}

static int put_moment(struct bpftime *b, const char *name, uint64_t at, const uint64_t *block,
	const uint64_t thread[3], struct gt_err *err)
{
	static const char *const blocks[] = { "block_x", "block_y", "block_z" },
				 *const threads[] = { "thread_x", "thread_y", "thread_z" };
	int64_t track, n;

	if (!is_time(at) || !is_clock(b, CLOCK_GPU))
		return 0;
	track = gt_probe_gpu(b->rows, err);
	n = track < 0 ? track : gt_rows_name(b->rows, name, strlen(name), GT_PROBE_MOMENT, err);
	if (n < 0)
		return (int)n;
	gt_rows_no_args(b->rows);
	if (block)
		add_three(b, blocks, block);
	add_three(b, threads, thread);
	return gt_rows_row(b->rows, GT_INSTANT, (uint32_t)track, (uint32_t)n,
		       &(struct gt_row){ .start = (int64_t)at, .end = (int64_t)at }, err)
		?: 1;
}

/* Each reads a form of line: 1: it has that form; 0: another one, or a time that has no use; or
 * negative. */
static int read_entry(struct bpftime *b, const char *line, struct gt_err *err)
{
	uint64_t ts, block[3], thread[3];
	const char *p;

	if (!gt_text_number(line, "[kernel_trace] ts=", &ts, &p) || strncmp(p, " block=", 7))
		return 0;
	p = read_three(p + 7, block);
	if (!p || strncmp(p, " thread=", 8) || !read_three(p + 8, thread))
		return 0;
	return put_moment(b, "thread enters the kernel", ts, block, thread, err);
}

static int read_exit(struct bpftime *b, const char *line, struct gt_err *err)
{
	uint64_t ts, thread[3];
	const char *p;

	if (strncmp(line, "Thread (", 8) || !(p = read_three(line + 7, thread)) ||
		!gt_text_number(p, " timestamp: ", &ts, NULL))
		return 0;
	return put_moment(b, "thread leaves the kernel", ts, NULL, thread, err);
}

static int read_block(struct bpftime *b, char *line, struct gt_err *err)
{
	static const char before[] = "Exited (with tsp) ";
	char *name = strstr(line, before), *end;
	uint64_t x, duration, start;
	const char *p;
	int64_t track;

	name = name ? name + sizeof(before) - 1 : NULL;
	end = name ? strstr(name, " x=") : NULL;
	if (!end || end == name || !gt_text_number(end, " x=", &x, &p) ||
		!gt_text_number(p, " duration=", &duration, &p) ||
		!gt_text_number(p, " tsp=", &start, NULL) || !is_time(start) ||
		duration > GT_ROWS_TIME_MAX - start || !is_clock(b, CLOCK_GPU))
		return 0;
	*end = '\0';
	track = gt_probe_gpu(b->rows, err);
	if (track < 0)
		return (int)track;
	gt_rows_no_args(b->rows);
	gt_rows_number(b->rows, "block_x", x);
	b->blocks++;
	return gt_probe_work(b->rows, GT_PROBE_KERNEL, (uint32_t)track, name, (int64_t)start,
		       (int64_t)(start + duration), err)
		?: 1;
}

/* Of a block whose "Exited" has the same. */
static bool is_entered(const char *line)
{
	const char *at = strstr(line, "Entered "), *x = at ? strstr(at, " x=") : NULL;

	return x && strstr(x, ", ts=");
}

/* ---- counters ---- */

/* "10:15:30", blanks, and `rest`. */
static bool read_second(const char *line, const char *rest, int64_t *second)
{
	int v[3];

	for (int i = 0; i < 8; i++)
		if (i % 3 == 2 ? line[i] != ':' : !isdigit((unsigned char)line[i]))
			return false;
	for (int i = 0; i < 3; i++)
		v[i] = (line[3 * i] - '0') * 10 + line[3 * i + 1] - '0';
	*second = ((int64_t)v[0] * 3600 + v[1] * 60 + v[2]) * 1000000000;
	return !strcmp(line + 8 + strspn(line + 8, " "), rest);
}

static bool note_second(struct bpftime *b, const char *line)
{
	int64_t second;

	if (!read_second(line, "", &second) &&
		!read_second(line, "Launch Latency Distribution:", &second))
		return false;
	if (!is_clock(b, CLOCK_DAY))
		return false;
	if (b->second >= 0)
		second += b->second / DAY_NS * DAY_NS;
	second += second < b->second - DAY_NS / 2 ? DAY_NS : 0; /* midnight */
	if (second > GT_ROWS_TIME_MAX)
		return false;
	b->second = second;
	return true;
}

/* 1: the value is new, or has changed; 0; or negative. */
static int note_value(struct bpftime *b, const struct bpftime_counter *new, struct gt_err *err)
{
	const size_t key = offsetof(struct bpftime_counter, value);
	uint32_t i = gt_map_find_item(&b->counter_map, b->counters, sizeof(*new), new, key);
	bool same = i != UINT32_MAX && b->counters[i].value == new->value;

	if (i == UINT32_MAX && b->ncounters < COUNTERS_MAX) {
		i = gt_map_add_item(&b->counter_map, &b->counters, &b->ncounters, &b->counters_cap,
			sizeof(*new), new, key);
		if (i == UINT32_MAX)
			return gt_err_set(
				err, -ENOMEM, "out of memory (import of bpftime's output)");
	}
	if (i != UINT32_MAX)
		b->counters[i].value = new->value;
	return !same;
}

static int put_counter(
	struct bpftime *b, uint64_t pid, const char *name, uint64_t value, struct gt_err *err)
{
	struct bpftime_counter new = { .pid = pid & INT32_MAX, .value = value };
	struct gt_rows_place at;
	int64_t track, n;
	int rc;

	if (b->clock != CLOCK_DAY || b->second < 0)
		return 0;
	n = gt_rows_name(b->rows, name, strlen(name), GT_PROBE_COUNTER, err);
	new.name = (uint64_t)n;
	rc = n < 0 ? (int)n : note_value(b, &new, err);
	if (rc <= 0)
		return rc < 0 ? rc : 1;
	memset(&at, 0, sizeof(at));
	at.pid = (int64_t) new.pid;
	at.kind = new.pid ? GT_TRACK_PROCESS : GT_TRACK_CUSTOM;
	track = gt_rows_place(b->rows, &at, err);
	if (track < 0)
		return (int)track;
	gt_rows_no_args(b->rows);
	gt_rows_number(b->rows, "value", value);
	return gt_rows_row(b->rows, GT_COUNTER, (uint32_t)track, (uint32_t)n,
		       &(struct gt_row){ .start = b->second, .end = b->second }, err)
		?: 1;
}

static int read_calls(struct bpftime *b, const char *line, struct gt_err *err)
{
	uint64_t pid, calls;
	const char *p;

	line += strspn(line, "\t ");
	if (!gt_text_number(line, "pid=", &pid, &p))
		return 0;
	p += strspn(p, "\t ");
	return gt_text_number(p, "calls: ", &calls, NULL) ? put_counter(b, pid, "calls", calls, err)
							  : 0;
}

static int read_thread(struct bpftime *b, const char *line, struct gt_err *err)
{
	uint64_t thread, calls;
	const char *p;
	char name[48];

	if (!gt_text_number(line, "Thread ", &thread, &p) || !gt_text_number(p, ": ", &calls, &p) ||
		*p)
		return 0;
	snprintf(name, sizeof(name), "calls of thread %" PRIu64, thread);
	return put_counter(b, 0, name, calls, err);
}

/* "1-10us          : 12       |****" */
static int read_bin(struct bpftime *b, const char *line, struct gt_err *err)
{
	size_t n = strcspn(line, " ");
	const char *p = line + n + strspn(line + n, " ");
	uint64_t count;
	char name[64];

	if (!n || n > 15 || p - line < 16 || !gt_text_number(p, ": ", &count, &p) ||
		p[strspn(p, " ")] != '|')
		return 0;
	snprintf(name, sizeof(name), "launch latency %.*s", (int)n, line);
	return put_counter(b, 0, name, count, err);
}

/* ---- the file ---- */

static int on_line(void *arg, char *line, size_t len, struct gt_err *err)
{
	struct bpftime *b = arg;
	int rc;

	if (!len || note_second(b, line) || is_entered(line))
		return 0;
	rc = read_entry(b, line, err);
	rc = rc ? rc : read_exit(b, line, err);
	rc = rc ? rc : read_block(b, line, err);
	rc = rc ? rc : read_calls(b, line, err);
	rc = rc ? rc : read_thread(b, line, err);
	rc = rc ? rc : read_bin(b, line, err);
	b->skipped += !rc;
	return rc < 0 ? rc : 0;
}

static int finish(struct bpftime *b, bool unfinished, struct gt_err *err)
{
	char json[128];
	int rc = gt_rows_finish(b->rows, unfinished, err);

	snprintf(json, sizeof(json),
		"{\"lines_skipped\":%" PRIu64 ",\"kernels_are_blocks\":%" PRIu64 "}", b->skipped,
		b->blocks);
	return rc ? rc : gt_writer_meta(b->w, json, err);
}

static int import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	struct bpftime b = { .w = w, .second = -1 };
	bool unfinished = false;
	int rc;

	b.rows = gt_rows_new(&config, w, err);
	rc = b.rows ? gt_text_each_line(in, on_line, &b, &unfinished, err) : -ENOMEM;
	if (!rc)
		rc = finish(&b, unfinished, err);
	gt_rows_free(b.rows);
	gt_map_release(&b.counter_map);
	free(b.counters);
	return rc;
}

/* arg: was the line before a second of the day? */
static int sniff_line(const char *line, void *arg)
{
	bool *second = arg;
	const char *after = line + strspn(line, "\t "), *thread;
	uint64_t n, three[3];
	int64_t at;

	if (gt_text_number(line, "[kernel_trace] ts=", &n, NULL) ||
		strstr(line, "Exited (with tsp) ") || strstr(line, " Launch Latency Distribution:"))
		return 80;
	thread = strncmp(line, "Thread (", 8) ? NULL : read_three(line + 7, three);
	if (thread)
		return strncmp(thread, " timestamp: ", 12) ? 0 : 80;
	if (*second &&
		((gt_text_number(after, "pid=", &n, NULL) && strstr(after, "calls: ")) ||
			(gt_text_number(line, "Thread ", &n, &after) && *after == ':')))
		return 70;
	*second = read_second(line, "", &at);
	return 0;
}

static int sniff(const char *head, size_t len)
{
	bool second = false;

	return gt_text_first_lines(head, len, SNIFF_LINES, sniff_line, &second);
}

const struct gt_importer gt_import_bpftime = {
	.name = "bpftime",
	.help = "the output of bpftime's examples for GPUs",
	.sniff = sniff,
	.import = import,
};
