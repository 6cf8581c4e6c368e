/* The output of perf script: samples of threads with their call stacks.
 *
 *      perf record -e task-clock -g python3 train.py; perf script > samples.txt
 *
 * A sample is a line with the command, the thread, the time and the event (any of the fields cpu,
 * period, ip, sym, dso, symoff and srcline may be there or not), and with a call chain one line for
 * each frame, the innermost first; an empty line ends it. perf-script(1) lists the fields;
 * the command script of tools/perf of Linux prints them.
 *
 * A sample of cpu-clock or task-clock stands for its period, which is in ns. A sample of another
 * event (cycles, page faults) counts it: it has the name of the event and its period as the
 * argument count, and no time. A tracepoint is an instant with its text as an argument; so are
 * sched_switch and other events of the scheduler: their text lacks the reasons of waits.
 *
 * By default perf prints thread ids only. Then the process of a thread is known if the output has
 * the records of tasks (--show-task-events) or the field pid; other threads belong to a process
 * without a number.
 *
 * Memory is bounded: GT_TEXT_LINE_MAX bytes of a line, THREADS_MAX threads, FRAMES_MAX frames of a
 * stack, and the limits of import_rows.h. */
#define _GNU_SOURCE
#include "formats/import/perf/import_perf_script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/import/import_profile.h"
#include "formats/import/importers.h"
#include "formats/io/json_build.h"
#include "formats/io/text_lines.h"

#define THREADS_MAX GT_ROWS_TRACKS
#define FRAMES_MAX 4096u /* the innermost ones of a stack are read */
#define NAME_BYTES 64u
#define SNIFF_LINES 100u

typedef struct gt_perf_text text;

struct perf_thread {
	int64_t tid;      /* the key */
	int64_t pid;      /* 0: unknown */
	uint32_t command; /* string of the writer; GT_NONE: unknown */
};
/* What a sample needs of its first line until its frames are read. */
struct perf_sample {
	bool is_open;
	uint32_t track;
	int64_t time;
	char event[128]; /* "": its period is a time */
	uint64_t weight;
	bool is_mark;
	uint32_t text; /* of a tracepoint: string of the writer, or GT_NONE */
};
struct perf_import {
	struct gt_import_rows *rows;
	struct gt_writer *w;
	struct gt_err *err;
	struct gt_map thread_map;
	struct perf_thread *threads;
	size_t nthreads, threads_cap;
	struct perf_sample sample;
	struct gt_frame frame; /* the last one of the sample: its source may follow */
	bool has_frame;
	uint32_t frame_text;
	uint32_t stack[FRAMES_MAX]; /* from the end, so that the outermost frame comes first */
	size_t nframes;
	char *command_line;
	uint64_t unknown, untimed, stacks_left_out;
};

static int no_memory(struct gt_err *err)
{
	return gt_err_set(err, -ENOMEM, "out of memory (import of perf script's output)");
}

/* ---- stacks ---- */

/* GT_NONE: there is no text, or names have used up their memory. */
static uint32_t intern(struct perf_import *s, text t)
{
	return t.p && gt_writer_has_name_space(s->w) ? gt_writer_string_n(s->w, t.p, t.len)
						     : GT_NONE;
}

static text last_part(text path)
{
	const char *slash = path.p ? memrchr(path.p, '/', path.len) : NULL;

	return slash ? (text){ slash + 1, (size_t)(path.p + path.len - slash - 1) } : path;
}

/* The text of a native frame must tell it from other lines of the function. */
static uint32_t text_with_source(struct perf_import *s)
{
	struct gt_buf whole = { 0 };
	uint32_t id = s->frame_text;

	if (id == GT_NONE || !s->frame.line || !gt_writer_has_name_space(s->w))
		return id;
	gt_buf_printf(&whole, "%s (%s:%u)", gt_writer_text(s->w, id),
		gt_writer_text(s->w, s->frame.file), s->frame.line);
	id = whole.failed ? GT_NONE : gt_writer_string_n(s->w, (const char *)whole.data, whole.len);
	gt_buf_release(&whole);
	return id;
}

/* Adds the last frame to the stack, now that all is known of it. */
static void end_frame(struct perf_import *s)
{
	uint32_t id, name;

	if (!s->has_frame)
		return;
	s->has_frame = false;
	name = text_with_source(s);
	id = name == GT_NONE ? GT_NONE : gt_writer_place(s->w, name, &s->frame);
	id = id == GT_NONE ? name : id;
	if (id != GT_NONE && s->nframes < FRAMES_MAX)
		s->stack[FRAMES_MAX - ++s->nframes] = id;
}

/* "f", or "libx.so+0x1f" without a function */
static uint32_t text_of_frame(struct perf_import *s, const struct gt_perf_frame *f)
{
	char name[300];
	text module = last_part(f->module);
	int n;

	if (f->function.p)
		return intern(s, f->function);
	n = module.p ? snprintf(name, sizeof(name), "%.*s+0x%" PRIx64,
			       (int)(module.len < 256 ? module.len : 256), module.p, f->address)
		     : snprintf(name, sizeof(name), "[unknown]");
	return intern(s, (text){ name, (size_t)n });
}

/* CPython names its functions "py::NAME:FILE" for perf (python3 -X perf). */
static bool begin_python_frame(struct perf_import *s, const struct gt_perf_frame *f)
{
	const char *name = f->function.p, *end = name ? name + f->function.len : NULL, *colon;
	char whole[300];
	text file;
	int n;

	if (!name || f->function.len < 7 || memcmp(name, "py::", 4))
		return false;
	name += 4;
	colon = memrchr(name, ':', (size_t)(end - name));
	if (!colon || colon == name || colon + 1 == end)
		return false;
	file = last_part((text){ colon + 1, (size_t)(end - colon - 1) });
	n = snprintf(whole, sizeof(whole), "%.*s (%.*s)",
		(int)(colon - name < 150 ? colon - name : 150), name,
		(int)(file.len < 140 ? file.len : 140), file.p);
	s->frame = (struct gt_frame){ .function = intern(s, (text){ name, (size_t)(colon - name) }),
		.file = intern(s, (text){ colon + 1, (size_t)(end - colon - 1) }),
		.module = GT_NONE,
		.kind = GT_FRAME_PYTHON };
	s->frame_text = intern(s, (text){ whole, (size_t)n });
	s->has_frame = true;
	return true;
}

static void begin_frame(struct perf_import *s, const struct gt_perf_frame *f)
{
	end_frame(s);
	if (begin_python_frame(s, f))
		return;
	s->frame = (struct gt_frame){ .function = intern(s, f->function),
		.file = GT_NONE,
		.module = f->kernel ? GT_NONE : intern(s, f->module),
		.kind = f->inlined                     ? GT_FRAME_INLINED
			: f->kernel                    ? GT_FRAME_KERNEL
			: f->function.p || f->module.p ? GT_FRAME_NATIVE
						       : GT_FRAME_UNKNOWN };
	s->frame_text = text_of_frame(s, f);
	s->has_frame = true;
}

/* "  train.c:88" belongs to the frame before it. False: the line is not such a place. */
static bool set_source(struct perf_import *s, const char *line, size_t len)
{
	const char *colon = memrchr(line, ':', len);
	size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
	unsigned long number = colon ? strtoul(colon + 1, NULL, 10) : 0;

	if (!s->has_frame || !digits || colon <= line + 2 || memcmp(line, "  ", 2) ||
		(colon[1 + digits] && strncmp(colon + 1 + digits, " (disc", 6)))
		return false;
	if (number && number <= UINT32_MAX && line[2] != '?') {
		s->frame.file = intern(s, (text){ line + 2, (size_t)(colon - line - 2) });
		s->frame.line = s->frame.file == GT_NONE ? 0 : (uint32_t)number;
	}
	return true;
}

/* The stack of the sample; GT_NONE: it has none, or the memory for names is used up. */
static uint32_t take_stack(struct perf_import *s)
{
	size_t n;
	uint32_t id;

	end_frame(s);
	n = s->nframes;
	s->nframes = 0;
	if (!n)
		return GT_NONE;
	id = gt_writer_has_name_space(s->w) ? gt_writer_stack(s->w, s->stack + FRAMES_MAX - n, n)
					    : GT_NONE;
	s->stacks_left_out += id == GT_NONE;
	return id;
}

/* ---- threads ---- */

static struct perf_thread *thread_of(struct perf_import *s, int64_t tid)
{
	struct perf_thread t = { .tid = tid, .command = GT_NONE };
	uint32_t at = gt_map_find_item(&s->thread_map, s->threads, sizeof(t), &tid, sizeof(tid));

	if (at == GT_NONE && s->nthreads >= THREADS_MAX) {
		gt_err_set(s->err, -E2BIG, "more than %u threads", THREADS_MAX);
		return NULL;
	}
	if (at == GT_NONE)
		at = gt_map_add_item(&s->thread_map, &s->threads, &s->nthreads, &s->threads_cap,
			sizeof(t), &t, sizeof(tid));
	if (at == GT_NONE)
		no_memory(s->err);
	return at == GT_NONE ? NULL : &s->threads[at];
}

static int name_process(struct perf_import *s, int64_t pid, text command)
{
	struct gt_rows_place at;
	int64_t track;

	memset(&at, 0, sizeof(at));
	at.pid = at.id = pid;
	at.kind = GT_TRACK_PROCESS;
	track = gt_rows_place(s->rows, &at, s->err);
	return track < 0 ? (int)track
			 : gt_profile_track_name(
				   s->rows, s->w, (uint32_t)track, command.p, command.len, s->err);
}

/* A thread has the last command that perf printed of it, a process that of its first thread. */
static int set_command(struct perf_import *s, struct perf_thread *t, uint32_t track, text command)
{
	uint32_t name;
	int e;

	command.len = command.len < NAME_BYTES ? command.len : NAME_BYTES;
	name = command.len ? intern(s, command) : GT_NONE;
	if (name == t->command || name == GT_NONE)
		return 0;
	t->command = name;
	e = t->pid > 0 && t->pid == t->tid ? name_process(s, t->pid, command) : 0;
	return e ? e : gt_profile_track_name(s->rows, s->w, track, command.p, command.len, s->err);
}

/* The track of the thread in a line, or negative. */
static int64_t track_of(struct perf_import *s, const struct gt_perf_line *l)
{
	struct perf_thread *t = thread_of(s, l->tid);
	int64_t track;
	int e;

	if (!t)
		return s->err->code;
	t->pid = t->pid ? t->pid : l->pid;
	track = gt_rows_track(s->rows, t->pid, t->tid, NULL, s->err);
	e = track < 0 ? (int)track : set_command(s, t, (uint32_t)track, l->command);
	return e ? e : track;
}

/* ---- records of perf ---- */

static bool begins(text t, const char *word)
{
	return t.len >= strlen(word) && !memcmp(t.p, word, strlen(word));
}

/* "PERF_RECORD_COMM exec: python3:4711/4712" and "PERF_RECORD_FORK(4711:4712):(4711:4711)" name
 * the process of a thread; "PERF_RECORD_LOST lost 12" is a loss at some time before it. */
static int on_record(struct perf_import *s, const struct gt_perf_line *l, const char *record)
{
	const char *at;
	long long pid = 0, tid = 0;
	struct perf_thread *t;
	char *end = NULL;
	uint64_t n;

	if (!strncmp(record, "PERF_RECORD_LOST", 16)) {
		at = strstr(record, "lost ");
		n = at ? strtoull(at + 5, &end, 10) : 0;
		return gt_writer_loss(s->w, GT_SCOPE_ALL, GT_NONE, l->time, l->time,
			at && end > at + 5 ? n : GT_LOST_UNKNOWN, s->err);
	}
	at = strrchr(record, ':');
	if (!strncmp(record, "PERF_RECORD_FORK(", 17))
		sscanf(record + 17, "%9lld:%9lld", &pid, &tid);
	else if (!strncmp(record, "PERF_RECORD_COMM", 16) && at)
		sscanf(at + 1, "%9lld/%9lld", &pid, &tid);
	if (pid <= 0 || tid <= 0)
		return 0;
	t = thread_of(s, tid);
	if (!t)
		return s->err->code;
	t->pid = t->pid ? t->pid : pid;
	return 0;
}

/* ---- samples ---- */

/* Writes the sample whose lines were read. */
static int end_sample(struct perf_import *s)
{
	struct perf_sample *p = &s->sample;
	uint32_t stack = take_stack(s);
	int64_t name;

	if (!p->is_open)
		return 0;
	p->is_open = false;
	if (!p->is_mark)
		return gt_profile_sample(s->rows, p->track, p->time, *p->event ? p->event : NULL,
			p->weight, stack, s->err);
	name = gt_rows_name(s->rows, p->event, strlen(p->event), GT_PROFILE_MARK, s->err);
	if (name < 0)
		return (int)name;
	gt_rows_no_args(s->rows);
	if (p->text != GT_NONE)
		gt_rows_set_arg(s->rows, 0, "text", GT_F_STR, p->text);
	if (stack != GT_NONE)
		gt_rows_number(s->rows, "stack", stack);
	return gt_rows_row(s->rows, GT_INSTANT, p->track, (uint32_t)name,
		&(struct gt_row){ .start = p->time, .end = p->time }, s->err);
}

static int begin_sample(struct perf_import *s, const struct gt_perf_line *l)
{
	bool clock = gt_perf_is_clock(l->event) && l->has_period;
	struct perf_sample *p = &s->sample;
	int64_t track = track_of(s, l);
	struct gt_perf_frame f;

	if (track < 0)
		return (int)track;
	gt_rows_note_line(s->rows, l->time);
	*p = (struct perf_sample){ .is_open = true,
		.track = (uint32_t)track,
		.time = l->time,
		.weight = l->has_period ? l->period : GT_PROFILE_NO_WEIGHT,
		.is_mark = gt_perf_is_tracepoint(l->event),
		.text = GT_NONE };
	s->untimed += !clock && !p->is_mark;
	if (!clock && l->event.p)
		snprintf(p->event, sizeof(p->event), "%.*s",
			(int)(l->event.len < 127 ? l->event.len : 127), l->event.p);
	else if (!clock)
		strcpy(p->event, "(unknown event)");
	if (p->is_mark) {
		text t = l->rest;

		for (; t.len && *t.p == ' '; t.len--)
			t.p++;
		p->text = t.len ? intern(s, t) : GT_NONE;
	} else if (gt_perf_parse_frame(&f, l->rest.p, l->rest.len)) {
		begin_frame(s, &f);
	}
	return 0;
}

/* ---- lines ---- */

/* "# cmdline : /usr/bin/perf record ./program", up to a NUL, which JSON cannot have */
static int on_header(struct perf_import *s, const char *line, size_t len)
{
	static const char key[] = "# cmdline : ";
	json_t *text_of;

	if (s->command_line || len < sizeof(key) || memcmp(line, key, sizeof(key) - 1))
		return 0;
	text_of = gt_json_text(line + sizeof(key) - 1, strlen(line + sizeof(key) - 1));
	s->command_line = text_of ? gt_json_dump(text_of, JSON_ENCODE_ANY) : NULL;
	json_decref(text_of);
	return s->command_line ? 0 : no_memory(s->err);
}

static int on_line(void *arg, char *line, size_t len, struct gt_err *err)
{
	struct perf_import *s = arg;
	struct gt_perf_line l;
	struct gt_perf_frame f;
	int e;

	if (!len || *line == '#') {
		e = end_sample(s);
		return e || !len ? e : on_header(s, line, len);
	}
	if (*line != '\t' && gt_perf_parse_sample(&l, line, len)) {
		e = end_sample(s);
		if (e)
			return e;
		if (begins(l.event, "PERF_RECORD_"))
			return on_record(s, &l, l.event.p);
		return begins(l.rest, " PERF_RECORD_") ? on_record(s, &l, l.rest.p + 1)
						       : begin_sample(s, &l);
	}
	if (s->sample.is_open && *line == '\t' && gt_perf_parse_frame(&f, line, len)) {
		begin_frame(s, &f);
		return 0;
	}
	s->unknown += !s->sample.is_open || !set_source(s, line, len);
	return 0;
}

/* ---- the file ---- */

static int put_metadata(struct perf_import *s)
{
	char *json = NULL;
	int e;

	if (asprintf(&json,
		    "{\"perf_lines_not_understood\":%" PRIu64 ",\"samples_without_time\":%" PRIu64
		    ",\"stacks_left_out\":%" PRIu64 "%s%s}",
		    s->unknown, s->untimed, s->stacks_left_out,
		    s->command_line ? ",\"command\":" : "",
		    s->command_line ? s->command_line : "") < 0)
		return no_memory(s->err);
	e = gt_writer_meta(s->w, json, s->err);
	free(json);
	return e;
}

static int import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	struct perf_import *s = calloc(1, sizeof(*s));
	bool truncated = false;
	int e;

	if (!s)
		return no_memory(err);
	s->w = w;
	s->err = err;
	s->rows = gt_profile_rows("perf-script", w, err);
	e = s->rows ? gt_text_each_line(in, on_line, s, &truncated, err) : -ENOMEM;
	e = e ? e : end_sample(s);
	e = e ? e : gt_rows_finish(s->rows, truncated, err);
	e = e ? e : put_metadata(s);
	gt_rows_free(s->rows);
	gt_map_release(&s->thread_map);
	free(s->threads);
	free(s->command_line);
	free(s);
	return e;
}

/* How many of the first lines are perf's? At least one must be a sample with an event or frame. */
static int sniff(const char *head, size_t len)
{
	unsigned lines = 0, fine = 0, samples = 0;
	struct gt_perf_line l;
	struct gt_perf_frame f;

	while (len && lines < SNIFF_LINES) {
		const char *newline = memchr(head, '\n', len);
		size_t n = newline ? (size_t)(newline - head) : len;
		bool sample = n && *head != '#' && *head != '\t' &&
			gt_perf_parse_sample(&l, head, n) &&
			(l.event.p || gt_perf_parse_frame(&f, l.rest.p, l.rest.len));

		if (n && *head != '#') {
			lines++;
			samples += sample;
			fine += sample || (*head == '\t' && gt_perf_parse_frame(&f, head, n)) ||
				(n > 2 && !memcmp(head, "  ", 2) && samples);
		}
		n += newline != NULL;
		head += n;
		len -= n;
	}
	return samples && fine * 4 >= lines * 3 ? 75 : 0;
}

const struct gt_importer gt_import_perf_script = {
	.name = "perf-script",
	.help = "the output of perf script: samples with call stacks",
	.sniff = sniff,
	.import = import,
};
