/* The output of strace: system calls as calls on their thread's track.
 *
 *      strace -f -ttt -T -y -o strace.txt python3 train.py
 *
 * Calls on the driver's files (open, close, mmap, ioctl) have the names and the layer that
 * gtcollect gives them; the class or command of RM_ALLOC and RM_CONTROL and the driver's status are
 * in memory that strace does not print. All other calls have the layer syscall. Signals and ends of
 * threads are instants.
 *
 * A call that another thread's line interrupted is in two lines, "unfinished" and "resumed", which
 * belong to one thread and name. Its end is its start plus its duration (-T). Without a duration,
 * the end of such a call is the time of the second line, and a call in one line lasts 0 ns and is
 * counted.
 *
 * strace prints thread ids only. A thread belongs to the process of the thread whose clone with
 * CLONE_THREAD returned its id, or is unfinished when the id first occurs.
 *
 * Without -y, the file of a descriptor is known if the trace has its open. A request of the
 * driver's own form on an unknown descriptor counts as one on /dev/nvidiactl or /dev/nvidia-uvm.
 *
 * Memory is bounded: LINE_HEAD + LINE_TAIL bytes of a line (the middle of a longer one is dropped),
 * THREADS_MAX threads, the open descriptors of import_strace_call.c, and the limits of
 * import_rows.h. */
#define _GNU_SOURCE
#include "formats/import/strace/import_strace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/cuda/ioctl_names.h"
#include "formats/import/import_rows.h"
#include "formats/import/importers.h"
#include "formats/io/json_build.h"
#include "formats/io/stream_in.h"

#define THREADS_MAX GT_ROWS_TRACKS
#define NAME_BYTES 64u
#define PATH_BYTES 512u
#define DAY_NS (24 * 3600 * 1000000000ll)
#define SNIFF_LINES 50
#define ARGV_MAX 100

typedef struct gt_strace_text text;

struct strace_thread {
	int64_t tid; /* the key */
	int64_t process;
	int64_t start;                            /* of the unfinished call */
	uint64_t file;                            /* of the driver, of the unfinished call */
	uint32_t name;                            /* of the unfinished call */
	char *command;                            /* its name; NULL: unknown */
	char word[44];                            /* its system call; "": there is none */
	bool clones_thread, on_driver, simulated; /* of the unfinished call */
};
struct strace_import {
	struct gt_import_rows *rows;
	struct gt_writer *w;
	struct gt_map thread_map;
	struct strace_thread *threads;
	size_t nthreads, threads_cap;
	struct gt_strace_files files;
	int64_t only_tid; /* of lines without a thread id */
	uint32_t cloner;  /* 1 + the thread with an unfinished clone; 0: none */
	int64_t now, offset, first;
	enum gt_strace_clock clock;
	char *command;
	uint64_t lines, unknown, untimed, timeless;
};

static int no_memory(struct gt_err *err)
{
	return gt_err_set(err, -ENOMEM, "out of memory (import of strace's output)");
}

static void classify(const char *name, unsigned group, struct gt_type *type)
{
	struct gt_strace_syscall is;

	type->layer = group == GT_STRACE_DRIVER_IOCTL || group == GT_STRACE_DRIVER_FILE
		? GT_LAYER_IOCTL
		: GT_LAYER_SYSCALL;
	type->category = group == GT_STRACE_DRIVER_IOCTL ? GT_CAT_IOCTL
		: group == GT_STRACE_DRIVER_FILE         ? GT_CAT_FILE
							 : GT_CAT_OTHER;
	type->op = group == GT_STRACE_DRIVER_IOCTL ? GT_OP_IOCTL : GT_OP_NONE;
	if (group == GT_STRACE_SYSCALL) {
		is = gt_strace_syscall_of(name, strcspn(name, " "));
		type->category = is.category;
	}
}

/* An argument has no role: a size of a file or of memory on the host is none of a GPU. */
static uint8_t role(unsigned group, const char *key, unsigned kind) { return GT_R_NONE; }

static const struct gt_rows_config config = {
	.importer = "strace",
	.mode = GT_PAIR_BY_ID,
	.classify = classify,
	.role = role,
	.notes_lines = true,
};

/* ---- threads ---- */

static uint32_t new_thread(struct strace_import *s, int64_t tid)
{
	struct strace_thread t = { .tid = tid, .process = tid };

	if (s->nthreads >= THREADS_MAX)
		return GT_NONE;
	if (s->cloner && s->threads[s->cloner - 1].clones_thread)
		t.process = s->threads[s->cloner - 1].process;
	return gt_map_add_item(&s->thread_map, &s->threads, &s->nthreads, &s->threads_cap,
		sizeof(t), &t, sizeof(t.tid));
}

/* The index of the thread, or negative. */
static int64_t thread_of(struct strace_import *s, int64_t tid, struct gt_err *err)
{
	uint32_t at = gt_map_find_item(
		&s->thread_map, s->threads, sizeof(*s->threads), &tid, sizeof(tid));

	if (at == UINT32_MAX)
		at = new_thread(s, tid);
	if (at != UINT32_MAX)
		return at;
	return s->nthreads >= THREADS_MAX
		? gt_err_set(err, -E2BIG, "more than %u threads", THREADS_MAX)
		: no_memory(err);
}

/* A clone returned the id of a thread. It counts only before the thread's first line. */
static int note_clone(struct strace_import *s, const struct strace_thread *by, bool thread,
	int64_t tid, struct gt_err *err)
{
	uint32_t at = gt_map_find_item(
		&s->thread_map, s->threads, sizeof(*s->threads), &tid, sizeof(tid));
	int64_t process = thread ? by->process : tid, n;

	if (at != UINT32_MAX)
		return 0;
	n = thread_of(s, tid, err);
	if (n < 0)
		return (int)n;
	s->threads[n].process = process;
	return 0;
}

/* ---- arguments of rows ---- */

/* The arguments that gtcollect records of the driver's files; of other calls the file. */
static void add_begin_args(struct strace_import *s, const struct gt_strace_call *c)
{
	if (c->group == GT_STRACE_SYSCALL) {
		if (c->fd >= 0)
			gt_rows_number(s->rows, "fd", (uint64_t)c->fd);
		if (c->path.p)
			gt_rows_text(s->rows, "path", c->path.p,
				c->path.len < PATH_BYTES ? c->path.len : PATH_BYTES);
		return;
	}
	gt_rows_number(s->rows, "minor", (uint32_t)c->file);
	if (c->group == GT_STRACE_DRIVER_FILE && c->fd >= 0 && !c->length)
		gt_rows_number(s->rows, "fd", (uint64_t)c->fd);
	if (c->length)
		gt_rows_number(s->rows, "length", c->length);
}

static bool is_address(text name)
{
	return gt_strace_syscall_of(name.p, name.len).flags & GT_STRACE_HEX;
}

static void add_end_args(struct strace_import *s, const struct gt_strace_line *l, bool driver)
{
	if (driver || !l->has_result || l->failed)
		return;
	gt_rows_set_arg(s->rows, 0, "result", is_address(l->name) ? GT_F_HEX : GT_F_I64,
		(uint64_t)l->result);
}

/* ---- effects of a call ---- */

static bool is_clone(text name)
{
	return gt_strace_is(name, "clone") || gt_strace_is(name, "clone3") ||
		gt_strace_is(name, "fork") || gt_strace_is(name, "vfork");
}

static bool has_word(text args, const char *word)
{
	return memmem(args.p, args.len, word, strlen(word)) != NULL;
}

/* The command line of the first execve: its file, which strace prints in full, and the strings of
 * its array. */
static int note_command(struct strace_import *s, text args)
{
	text file = gt_strace_first_string(args), array, arg;
	struct gt_buf line = { 0 };
	json_t *all;

	if (s->command || !gt_strace_arg(args, 1, &array) || array.len < 3 || *array.p != '[')
		return 0;
	array = (text){ array.p + 1, array.len - 2 };
	gt_buf_add(&line, file.p ? file.p : "?", file.p ? file.len : 1);
	for (unsigned i = 1; i < ARGV_MAX && gt_strace_arg(array, i, &arg); i++) {
		size_t quoted = arg.len > 1 && *arg.p == '"' && arg.p[arg.len - 1] == '"';

		gt_buf_str(&line, " ");
		gt_buf_add(&line, arg.p + quoted, arg.len - 2 * quoted);
	}
	for (size_t i = 0; i < line.len; i++) /* strace writes none; JSON cannot have NUL */
		line.data[i] = line.data[i] < ' ' ? '?' : line.data[i];
	all = line.failed ? NULL : gt_json_text((const char *)line.data, line.len);
	gt_buf_release(&line);
	s->command = all ? gt_json_dump(all, JSON_ENCODE_ANY) : NULL;
	json_decref(all);
	return s->command ? 0 : -ENOMEM;
}

static int note_effects(struct strace_import *s, struct strace_thread *t,
	const struct gt_strace_line *l, const struct gt_strace_call *c, struct gt_err *err)
{
	if (!l->has_result || l->result < 0)
		return 0;
	if (gt_strace_is_open(l->name))
		gt_strace_set_fd(&s->files, t->process, l->result, c->file);
	else if (gt_strace_is(l->name, "close"))
		gt_strace_set_fd(&s->files, t->process, c->fd, 0);
	else if (c->fd >= 0 && l->name.len >= 3 && !memcmp(l->name.p, "dup", 3))
		gt_strace_set_fd(&s->files, t->process, l->result, c->file);
	else if (c->fd >= 0 && gt_strace_is(l->name, "fcntl") && has_word(l->args, "F_DUPFD"))
		gt_strace_set_fd(&s->files, t->process, l->result, c->file);
	else if (is_clone(l->name) && l->result)
		return note_clone(s, t, has_word(l->args, "CLONE_THREAD"), l->result, err);
	else if (gt_strace_is(l->name, "execve") && note_command(s, l->args))
		return no_memory(err);
	return 0;
}

/* ---- rows ---- */

static int64_t name_of(struct strace_import *s, const struct gt_strace_call *c, struct gt_err *err)
{
	return gt_rows_name(s->rows, c->name, strlen(c->name), c->group, err);
}

/* The simulated driver answers a request without the kernel, which knows no such request. */
static int32_t return_code(const struct gt_strace_line *l, bool simulated)
{
	if (!l->failed || (simulated && l->error == ENOTTY))
		return 0;
	return l->error == INT32_MIN ? INT32_MIN : -l->error;
}

static int end_call(struct strace_import *s, uint32_t track, const struct strace_thread *t,
	const struct gt_strace_line *l, uint32_t name, int64_t end, bool driver, bool simulated,
	struct gt_err *err)
{
	gt_rows_no_args(s->rows);
	add_end_args(s, l, driver);
	end = end < GT_ROWS_TIME_MAX ? end : GT_ROWS_TIME_MAX;
	return gt_rows_end(
		s->rows, track, name, end, (uint64_t)t->tid, return_code(l, simulated), err);
}

static int on_call(struct strace_import *s, uint32_t track, uint32_t n, struct gt_strace_line *l,
	struct gt_err *err)
{
	struct strace_thread *t = &s->threads[n];
	struct gt_strace_call c;
	int64_t name;
	int e;

	gt_strace_describe(&s->files, t->process, l, &c);
	name = name_of(s, &c, err);
	if (name < 0)
		return (int)name;
	add_begin_args(s, &c);
	e = gt_rows_begin(s->rows, track, (uint32_t)name, s->now, (uint64_t)t->tid, err);
	t->word[0] = '\0';
	if (l->form == GT_STRACE_UNFINISHED) {
		t->start = s->now;
		t->name = (uint32_t)name;
		t->simulated = c.simulated;
		t->file = c.file;
		t->on_driver = c.group != GT_STRACE_SYSCALL;
		t->clones_thread = has_word(l->args, "CLONE_THREAD");
		snprintf(t->word, sizeof(t->word), "%.*s", (int)l->name.len, l->name.p);
		s->cloner = is_clone(l->name) ? n + 1 : s->cloner;
		return e;
	}
	s->untimed += !l->has_duration && l->has_result;
	if (!e)
		e = end_call(s, track, t, l, (uint32_t)name,
			s->now + (l->has_duration ? l->duration : 0), c.group != GT_STRACE_SYSCALL,
			c.simulated, err);
	return e ? e : note_effects(s, t, l, &c, err);
}

/* The first line of the call is not in the file: its arguments are unknown. */
static int on_lonely_end(struct strace_import *s, uint32_t track, const struct strace_thread *t,
	const struct gt_strace_line *l, struct gt_err *err)
{
	int64_t name = gt_rows_name(s->rows, l->name.p, l->name.len, GT_STRACE_SYSCALL, err);
	int e = name < 0 ? (int)name : 0;

	if (!e && l->has_duration) {
		gt_rows_no_args(s->rows);
		e = gt_rows_begin(s->rows, track, (uint32_t)name, s->now - l->duration,
			(uint64_t)t->tid, err);
	}
	return e ? e : end_call(s, track, t, l, (uint32_t)name, s->now, false, false, err);
}

static int on_resumed(struct strace_import *s, uint32_t track, uint32_t n,
	const struct gt_strace_line *l, struct gt_err *err)
{
	struct strace_thread *t = &s->threads[n];
	int64_t end = l->has_duration ? t->start + l->duration : s->now;
	int e;

	if (!gt_strace_is(l->name, t->word)) {
		t->word[0] = '\0';
		return on_lonely_end(s, track, t, l, err);
	}
	t->word[0] = '\0';
	if (is_clone(l->name) && l->has_result && l->result > 0) {
		s->cloner = s->cloner == n + 1 ? 0 : s->cloner;
		e = note_clone(s, t, t->clones_thread, l->result, err);
		t = &s->threads[n]; /* adding one moves them */
		if (e)
			return e;
	} else if (gt_strace_is_open(l->name) && l->has_result && l->result >= 0) {
		gt_strace_set_fd(&s->files, t->process, l->result,
			l->file.p ? gt_ioctl_file_of_path(l->file.p, l->file.len) : t->file);
	}
	return end_call(s, track, t, l, t->name, end, t->on_driver, t->simulated, err);
}

static int on_event(struct strace_import *s, uint32_t track, uint32_t n,
	const struct gt_strace_line *l, struct gt_err *err)
{
	struct strace_thread *t = &s->threads[n];
	bool signal = l->form == GT_STRACE_SIGNAL && !memcmp(l->name.p, "SIG", 3);
	char word[80];
	int64_t name;
	int e = 0;

	snprintf(
		word, sizeof(word), "%s%.*s", signal ? "signal " : "", (int)l->name.len, l->name.p);
	if (l->form == GT_STRACE_EXIT && t->word[0]) { /* its last call has no second line */
		e = gt_rows_end(s->rows, track, t->name, s->now, (uint64_t)t->tid, 0, err);
		t->word[0] = '\0';
	}
	name = e ? e : gt_rows_name(s->rows, word, strlen(word), GT_STRACE_EVENT, err);
	if (name < 0)
		return (int)name;
	return gt_rows_row(s->rows, GT_INSTANT, track, (uint32_t)name,
		&(struct gt_row){ .start = s->now, .end = s->now }, err);
}

/* The name of the program that an execve runs; "/proc/self/exe" does not tell it. */
static text program_of(text args)
{
	text file = gt_strace_first_string(args);
	const char *slash = file.p ? memrchr(file.p, '/', file.len) : NULL;

	if (file.len > 6 && !memcmp(file.p, "/proc/", 6))
		return (text){ NULL, 0 };
	return slash ? (text){ slash + 1, (size_t)(file.p + file.len - slash - 1) } : file;
}

/* A thread has the name of its first line (-Y). A process has that of its first thread, or of the
 * program, if its first line is the execve: the name in that line is still strace's. */
static int note_names(struct strace_import *s, struct strace_thread *t,
	const struct gt_strace_line *l, struct gt_err *err)
{
	bool exec = gt_strace_is(l->name, "execve"), first = l->command.p && !t->command;
	text name = exec ? program_of(l->args) : l->command;

	if (!name.len || (!exec && !first))
		return 0;
	name.len = name.len < NAME_BYTES ? name.len : NAME_BYTES;
	if (first)
		t->command = strndup(name.p, name.len);
	return t->tid == t->process ? gt_rows_process(s->rows, t->process, name.p, name.len, err)
				    : 0;
}

/* ---- lines ---- */

/* Sets s->now. */
static void read_clock(struct strace_import *s, const struct gt_strace_line *l)
{
	int64_t t = l->time;

	if (!s->clock)
		s->clock = l->clock;
	if (l->clock == GT_STRACE_RELATIVE)
		t = s->now + (t < DAY_NS ? t : 0);
	else if (l->clock == GT_STRACE_DAY) {
		if (t + s->offset < s->now - DAY_NS / 2 && s->offset < 1000 * DAY_NS)
			s->offset += DAY_NS; /* midnight */
		t += s->offset;
	}
	s->now = t < GT_ROWS_TIME_MAX ? t : GT_ROWS_TIME_MAX;
	if (!s->first)
		s->first = s->now;
	gt_rows_note_line(s->rows, s->now);
}

static int on_line(void *arg, const char *bytes, size_t len, struct gt_err *err)
{
	struct strace_import *s = arg;
	struct gt_strace_line l;
	int64_t n, track;

	s->lines++;
	gt_strace_parse(&l, bytes, len);
	if (l.form == GT_STRACE_MESSAGE || !len)
		return 0;
	if (l.form == GT_STRACE_OTHER || !l.clock) {
		s->timeless += l.form != GT_STRACE_OTHER;
		s->unknown += l.form == GT_STRACE_OTHER;
		return 0;
	}
	read_clock(s, &l);
	n = thread_of(s, l.tid ? l.tid : s->only_tid, err);
	if (n >= 0 && note_names(s, &s->threads[n], &l, err))
		return err->code;
	track = n < 0 ? n
		      : gt_rows_track(s->rows, s->threads[n].process, s->threads[n].tid,
				s->threads[n].command, err);
	if (track < 0)
		return (int)track;
	gt_rows_no_args(s->rows);
	if (l.form == GT_STRACE_RESUMED)
		return on_resumed(s, (uint32_t)track, (uint32_t)n, &l, err);
	if (l.form == GT_STRACE_CALL || l.form == GT_STRACE_UNFINISHED)
		return on_call(s, (uint32_t)track, (uint32_t)n, &l, err);
	return on_event(s, (uint32_t)track, (uint32_t)n, &l, err);
}

/* ---- the file ---- */

/* strace -ff -o NAME writes one file NAME.TID for each thread. */
static int64_t tid_of_name(const char *name)
{
	const char *point = name ? strrchr(name, '.') : NULL;
	char *end = NULL;
	long tid = point && point[1] >= '1' && point[1] <= '9' ? strtol(point + 1, &end, 10) : 0;

	return tid > 0 && tid <= INT32_MAX && !*end ? tid : 0;
}

/* The thread of lines without an id: "strace -f" prints ids only while there are several threads.
 * Each program begins with set_tid_address(), which returns its thread's id. */
static int64_t tid_of_head(const char *head, size_t len)
{
	struct gt_strace_line l;
	const char *newline;

	while (len && (newline = memchr(head, '\n', len))) {
		gt_strace_parse(&l, head, (size_t)(newline - head));
		if (gt_strace_is(l.name, "set_tid_address") && !l.tid && l.result > 0)
			return l.result;
		len -= (size_t)(newline + 1 - head);
		head = newline + 1;
	}
	return 0;
}

static int64_t find_only_tid(struct gt_in *in)
{
	int64_t tid = tid_of_name(gt_in_name(in));
	const char *head;
	ssize_t n = tid ? 0 : gt_in_peek(in, &head, NULL);

	return n > 0 ? tid_of_head(head, (size_t)n) : tid;
}

/* Times that count from 1970 are the time of day: several files have one clock. */
static int put_anchor(struct strace_import *s, struct gt_err *err)
{
	struct gt_anchor a = { s->first, s->first, (uint64_t)s->first, 0 };

	return s->clock == GT_STRACE_UNIX ? gt_writer_anchor(s->w, &a, err) : 0;
}

static int put_metadata(struct strace_import *s, struct gt_err *err)
{
	char text_of[200], start[40] = "", *json = NULL;
	time_t first = (time_t)(s->first / 1000000000);
	struct tm utc;
	int e;

	if (s->clock == GT_STRACE_UNIX && gmtime_r(&first, &utc))
		strftime(start, sizeof(start), "%Y-%m-%dT%H:%M:%SZ", &utc);
	snprintf(text_of, sizeof(text_of),
		"{\"lines_not_understood\":%" PRIu64 ",\"calls_without_duration\":%" PRIu64
		"%s%s%s",
		s->unknown, s->untimed, *start ? ",\"start_utc\":\"" : "", start,
		*start ? "\"" : "");
	if (asprintf(&json, "%s%s%s}", text_of, s->command ? ",\"command\":" : "",
		    s->command ? s->command : "") < 0)
		return no_memory(err);
	e = gt_writer_meta(s->w, json, err);
	free(json);
	return e;
}

static void release(struct strace_import *s)
{
	gt_rows_free(s->rows);
	gt_map_release(&s->thread_map);
	gt_strace_files_release(&s->files);
	for (size_t i = 0; i < s->nthreads; i++)
		free(s->threads[i].command);
	free(s->threads);
	free(s->command);
}

static int import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	struct strace_import s = { .w = w, .only_tid = find_only_tid(in) };
	bool truncated = false;
	int e;

	s.rows = gt_rows_new(&config, w, err);
	e = s.rows ? gt_strace_each_line(in, on_line, &s, &truncated, err) : -ENOMEM;
	if (!e && s.timeless && !s.clock)
		e = gt_err_set(err, -EILSEQ,
			"strace's output without times: record it with strace -f -ttt -T -y");
	if (!e)
		e = gt_rows_finish(s.rows, truncated, err);
	if (!e)
		e = put_metadata(&s, err);
	if (!e)
		e = put_anchor(&s, err);
	release(&s);
	return e;
}

/* How many of the first lines are strace's: all but the output of the program. */
static int sniff(const char *head, size_t len)
{
	struct gt_strace_line l;
	unsigned lines = 0, fine = 0, timed = 0;
	bool is; /* the head may end within a line */

	while (len && lines < SNIFF_LINES) {
		const char *newline = memchr(head, '\n', len);
		size_t n = newline ? (size_t)(newline - head) : len;

		gt_strace_parse(&l, head, n);
		lines++;
		is = l.form != GT_STRACE_OTHER || (!newline && l.clock && l.args.p);
		fine += is;
		timed += is && l.clock;
		n += newline != NULL;
		head += n;
		len -= n;
	}
	if (timed)
		return timed * 4 >= lines ? 80 : 40;
	return fine * 2 > lines ? 30 : 0;
}

const struct gt_importer gt_import_strace = {
	.name = "strace",
	.help = "the output of strace -f -ttt -T -y",
	.sniff = sniff,
	.import = import,
};
