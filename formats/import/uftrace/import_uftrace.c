/* Folders of uftrace (uftrace record, version 4 of its format): functions as nested spans.
 *
 * The sources of uftrace (github.com/namhyung/uftrace) define the format: its header, libmcount and
 * utils. TID.dat has a thread's records in order of time, 16 bytes each:
 *
 *      u64 time (ns, CLOCK_MONOTONIC)
 *      u64 type: 2 bits, more: 1, magic: 3 (5), depth: 10, address: 48
 *
 * type is 0 entry, 1 exit, 2 loss (the address is the number of lost records), 3 event. After a
 * record with `more` there are arguments, a result, or data of an event, up to a multiple of 8
 * bytes. Their form follows from options and debug data of the recorded program, so they are
 * skipped: the next record is the first place whose magic, time, depth and address can be those of
 * one. They are counted.
 *
 * A function without an exit (longjmp, exit, a loss) has no end. Records of the kernel
 * (kernel-cpu*.dat) are not read; of perf's (perf-cpu*.dat) only the names of threads. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/import/importers.h"
#include "formats/import/uftrace/import_uftrace.h"
#include "formats/io/stream_in.h"

#define RECORD 16u
#define MAGIC 5u
#define DEPTHS 1024u
#define DATA_MAX 4096u /* bytes of arguments; uftrace has at most 1024 */
#define BUFFER (64u << 10)
#define NO_RECORD (INT64_MIN / 2) /* as time of the last record */
#define PAUSE_MAX (1ll << 51)     /* ns between two records: 26 days */

enum { ENTRY, EXIT, LOST, EVENT };
struct record {
	int64_t time;
	unsigned type, magic, depth;
	bool more;
	uint64_t address;
};
struct open_function {
	int64_t start;
	uint64_t address;
	unsigned depth;
	struct gt_uftrace_function function;
};
/* Reading of a thread. */
struct thread {
	struct gt_uftrace *u;
	const struct gt_uftrace_task *task;
	struct gt_in *in;
	uint8_t *buffer;
	size_t at, end;
	uint64_t before; /* bytes of the file before the buffer */
	bool ended;
	uint32_t track, session;
	int64_t now, session_until;
	uint64_t lost; /* records since `now`; 0: none */
	struct open_function open[DEPTHS];
	size_t nopen;
};

/* ---- records ---- */

static struct record record_at(const uint8_t *p)
{
	uint64_t word;
	struct record r;

	memcpy(&word, p, sizeof(word));
	r.time = word > INT64_MAX ? -1 : (int64_t)word;
	memcpy(&word, p + 8, sizeof(word));
	r.type = word & 3;
	r.more = word >> 2 & 1;
	r.magic = word >> 3 & 7;
	r.depth = word >> 6 & 1023;
	r.address = word >> 16;
	return r;
}

/* Reads until n bytes are in the buffer, or the file ends. The number of bytes there, or negative.
 */
static ssize_t fill(struct thread *t, size_t n)
{
	while (t->end - t->at < n && !t->ended) {
		ssize_t got;

		memmove(t->buffer, t->buffer + t->at, t->end - t->at);
		t->before += t->at;
		t->end -= t->at;
		t->at = 0;
		/* a time may begin like a gz file, so nothing is decompressed */
		got = gt_in_read_raw(t->in, t->buffer + t->end, BUFFER - t->end, t->u->err);
		if (got < 0)
			return got;
		t->ended = !got;
		t->end += (size_t)got;
	}
	return (ssize_t)(t->end - t->at);
}

static bool is_time(const struct thread *t, int64_t time)
{
	return time >= t->now && time - t->now < PAUSE_MAX && time < GT_ROWS_TIME_MAX;
}

/* Can a record behind data be this one? It must fit to the functions that are open. */
static bool fits(const struct thread *t, const struct record *r)
{
	const struct open_function *top = t->nopen ? &t->open[t->nopen - 1] : NULL;

	if (r->magic != MAGIC)
		return false;
	if (r->type == LOST)
		return !r->time && r->address && !r->more;
	if (!is_time(t, r->time))
		return false;
	if (r->type == EVENT)
		return r->address >= 100000 && r->address < 1u << 24;
	if (r->type == EXIT && top && r->depth == top->depth)
		return r->address == top->address;
	return r->depth <= (top ? top->depth + 1 : DEPTHS) &&
		gt_uftrace_is_code(t->u, t->session, r->address);
}

/* Moves behind the data of the record before. 0 or negative. */
static int skip_data(struct thread *t)
{
	ssize_t have = fill(t, DATA_MAX + RECORD);

	if (have < 0)
		return (int)have;
	t->u->arguments_skipped++;
	for (size_t n = 8; n <= DATA_MAX && n <= (size_t)have; n += 8) {
		struct record r;

		if (n == (size_t)have && t->ended) {
			t->at += n;
			return 0;
		}
		if (n + RECORD > (size_t)have)
			continue;
		r = record_at(t->buffer + t->at + n);
		if (fits(t, &r)) {
			t->at += n;
			return 0;
		}
	}
	if (t->ended && have <= (ssize_t)DATA_MAX) { /* the end of the data is missing */
		t->u->truncated = true;
		t->at = t->end;
		return 0;
	}
	return gt_err_set(t->u->err, -EBADMSG,
		"%" PRId64 ".dat: byte %" PRIu64 ": no record behind %u bytes of arguments",
		t->task->tid, t->before + t->at, DATA_MAX);
}

/* ---- rows ---- */

static int put(struct thread *t, const struct open_function *o, int64_t end, size_t depth)
{
	gt_rows_no_args(t->u->rows);
	if (o->function.domain != GT_NONE)
		gt_rows_set_arg(t->u->rows, 0, "domain", GT_F_STR, o->function.domain);
	return gt_profile_function(
		t->u->rows, t->track, o->function.name, o->start, end, depth, t->u->err);
}

/* Functions from this depth on have no exit. */
static int drop_from(struct thread *t, unsigned depth)
{
	int e = 0;

	while (!e && t->nopen && t->open[t->nopen - 1].depth >= depth) {
		t->nopen--;
		e = put(t, &t->open[t->nopen], INT64_MIN, t->nopen);
	}
	return e;
}

static int on_entry(struct thread *t, const struct record *r)
{
	struct open_function o = { .start = r->time, .address = r->address, .depth = r->depth };
	int e = drop_from(t, r->depth);

	e = e ? e : gt_uftrace_function_at(t->u, t->session, r->address, r->time, &o.function);
	if (!e)
		t->open[t->nopen++] = o; /* depths increase, so there are at most DEPTHS */
	return e;
}

/* An exit without its entry: of a fork in the new process, or after a loss. */
static int on_unmatched_exit(struct thread *t, const struct record *r)
{
	struct gt_row row = { .start = r->time, .end = r->time, .ret = 1 };
	struct gt_uftrace_function f;
	int e = gt_uftrace_function_at(t->u, t->session, r->address, r->time, &f);

	if (e)
		return e;
	gt_rows_no_args(t->u->rows);
	if (f.domain != GT_NONE)
		gt_rows_set_arg(t->u->rows, 0, "domain", GT_F_STR, f.domain);
	return gt_rows_row(t->u->rows, GT_UNMATCHED, t->track, f.name, &row, t->u->err);
}

static int on_exit_record(struct thread *t, const struct record *r)
{
	int e = drop_from(t, r->depth + 1);
	const struct open_function *top = t->nopen ? &t->open[t->nopen - 1] : NULL;

	if (e || !top || top->depth != r->depth || top->address != r->address)
		return e ? e : on_unmatched_exit(t, r);
	t->nopen--;
	return put(t, top, r->time, t->nopen);
}

static int on_event(struct thread *t, const struct record *r)
{
	const struct gt_row row = { .start = r->time, .end = r->time };
	char text[40];
	int64_t name;

	snprintf(text, sizeof(text), "uftrace event %" PRIu64, r->address);
	name = gt_rows_name(t->u->rows, text, strlen(text), GT_PROFILE_MARK, t->u->err);
	gt_rows_no_args(t->u->rows);
	return name < 0
		? (int)name
		: gt_rows_row(t->u->rows, GT_INSTANT, t->track, (uint32_t)name, &row, t->u->err);
}

/* Writes a loss between the record before it, if there is one, and the one behind it. */
static int put_loss(struct thread *t, int64_t until)
{
	int64_t from = t->now == NO_RECORD ? until : t->now;
	uint32_t id = t->lost ? gt_rows_track_id(t->u->rows, t->track) : GT_NONE;
	uint64_t n = t->lost;

	t->lost = 0;
	return n ? gt_writer_loss(t->u->w, GT_SCOPE_TRACK, id, from, until, n, t->u->err) : 0;
}

/* The session of the time `now`; until: when the next session of the process begins. */
static void find_session(struct thread *t)
{
	t->session = gt_uftrace_session_at(t->u, t->task, t->now);
	t->session_until = INT64_MAX;
	for (size_t i = 0; i < t->u->nsessions; i++)
		if (t->u->sessions[i].pid == t->task->pid && t->u->sessions[i].start > t->now &&
			t->u->sessions[i].start < t->session_until)
			t->session_until = t->u->sessions[i].start;
}

static int on_record(struct thread *t, struct record *r)
{
	int e = 0;

	if (r->magic == MAGIC && r->type == LOST) {
		t->lost += r->address;
		return 0;
	}
	if (r->magic != MAGIC || r->time < 0 || r->time >= GT_ROWS_TIME_MAX)
		return gt_err_set(t->u->err, -EBADMSG,
			"%" PRId64 ".dat: byte %" PRIu64 ": not a record of uftrace", t->task->tid,
			t->before + t->at - RECORD);
	if (r->time < t->now)
		gt_rows_note_line(t->u->rows, r->time); /* counts it */
	else if (!(e = put_loss(t, r->time)))
		t->now = r->time;
	if (!e && t->now >= t->session_until) {
		e = drop_from(t, 0); /* execve ends all functions */
		find_session(t);
	}
	r->time = t->now;
	if (e)
		return e;
	return r->type == ENTRY   ? on_entry(t, r)
		: r->type == EXIT ? on_exit_record(t, r)
				  : on_event(t, r);
}

static int read_records(struct thread *t)
{
	int e = 0;
	ssize_t have;

	while (!e && (have = fill(t, RECORD)) >= (ssize_t)RECORD) {
		struct record r = record_at(t->buffer + t->at);

		t->at += RECORD;
		e = on_record(t, &r);
		if (!e && r.more && r.type != LOST)
			e = skip_data(t);
	}
	e = e ? e : have < 0 ? (int)have : 0;
	t->u->truncated |= !e && have > 0;
	e = e ? e : put_loss(t, t->now == NO_RECORD ? t->task->start : t->now);
	return e ? e : drop_from(t, 0);
}

/* ---- threads ---- */

static int begin_thread(struct thread *t)
{
	struct gt_uftrace *u = t->u;
	int64_t track;
	const char *program;
	int e = 0;

	t->now = t->task->start;
	find_session(t);
	if (t->session != GT_UFTRACE_NONE) {
		program = u->sessions[t->session].program;
		e = gt_rows_process(u->rows, t->task->pid, program, strlen(program), u->err);
	}
	track = e ? e : gt_rows_track(u->rows, t->task->pid, t->task->tid, NULL, u->err);
	if (track < 0)
		return (int)track;
	t->track = (uint32_t)track;
	t->now = NO_RECORD; /* the thread may have begun earlier than its line in task.txt */
	return t->task->named == INT64_MIN ? 0
					   : gt_profile_track_name(u->rows, u->w, t->track,
						     t->task->name, strlen(t->task->name), u->err);
}

static int read_thread(struct gt_uftrace *u, const struct gt_uftrace_task *task)
{
	struct thread *t;
	char file[32];
	int fd, e;

	snprintf(file, sizeof(file), "%" PRId64 ".dat", task->tid);
	fd = gt_uftrace_open(u, file);
	if (fd == -ENOENT)
		return 0; /* it called no function */
	if (fd < 0)
		return gt_uftrace_cannot_open(u, file, fd);
	t = calloc(1, sizeof(*t));
	if (!t) {
		close(fd);
		return gt_err_set(u->err, -ENOMEM, "out of memory (import of uftrace's folder)");
	}
	t->u = u;
	t->task = task;
	t->in = gt_in_open_fd(fd, u->err);
	t->buffer = malloc(BUFFER);
	e = t->in && t->buffer
		? begin_thread(t)
		: gt_err_set(u->err, -ENOMEM, "out of memory (import of uftrace's folder)");
	e = e ? e : read_records(t);
	gt_in_close(t->in);
	free(t->buffer);
	free(t);
	return e;
}

/* ---- the folder ---- */

static int put_metadata(struct gt_uftrace *u)
{
	char *json = NULL;
	int e;

	if (asprintf(&json,
		    "{\"arguments_not_read\":%" PRIu64 ",\"kernel_files_not_read\":%" PRIu64
		    "%s%s}",
		    u->arguments_skipped, u->kernel_files, u->command ? ",\"command\":" : "",
		    u->command ? u->command : "") < 0)
		return gt_err_set(u->err, -ENOMEM, "out of memory (import of uftrace's folder)");
	e = gt_writer_meta(u->w, json, u->err);
	free(json);
	return e;
}

static int import_folder(int folder, struct gt_writer *w, struct gt_err *err)
{
	struct gt_uftrace u = { .folder = folder, .w = w, .err = err };
	int e;

	u.rows = gt_profile_rows("uftrace", w, err);
	e = u.rows ? gt_uftrace_read_tasks(&u) : -ENOMEM;
	for (size_t i = 0; !e && i < u.ntasks; i++)
		e = read_thread(&u, &u.tasks[i]);
	e = e ? e : gt_rows_finish(u.rows, u.truncated, err);
	e = e ? e : put_metadata(&u);
	gt_rows_free(u.rows);
	gt_uftrace_release(&u);
	return e;
}

static bool is_folder(int folder)
{
	const struct gt_uftrace u = { .folder = folder };
	int fd = gt_uftrace_open(&u, "info");
	char magic[8] = "";
	bool is = fd >= 0 && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		!memcmp(magic, "Ftrace!", sizeof(magic));

	if (fd >= 0)
		close(fd);
	return is;
}

const struct gt_importer gt_import_uftrace = {
	.name = "uftrace",
	.help = "a folder of uftrace record",
	.is_folder = is_folder,
	.import_folder = import_folder,
};
