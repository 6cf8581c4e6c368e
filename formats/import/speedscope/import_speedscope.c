/* Files of speedscope (www.speedscope.app), which also py-spy, rbspy, Austin and others write. The
 * format is src/lib/file-format-spec.ts of github.com/jlfwong/speedscope.
 *
 * Each profile is a thread. The functions of an evented profile are nested spans with file, line
 * and column as arguments. The samples of a sampled one have call stacks (file and line; a stack
 * has no place for the column) and stand for the time of their weight. A profile whose values are
 * no times (unit none or bytes) is not read; a note names it.
 *
 * The order of keys is free: frames may follow the profiles, and the unit the events. So the text
 * is read twice: first the frames and the units, then the rows. Input that is packed or a pipe is
 * copied to a temporary file for that. Memory is bounded: GT_SPEEDSCOPE_FRAMES_MAX frames, the
 * limits of import_speedscope_rows.c, and those of import_rows.h. */
#define _GNU_SOURCE
#include "formats/import/speedscope/import_speedscope.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "formats/import/importers.h"
#include "formats/io/json_build.h"
#include "formats/io/stream_in.h"

#define PROFILES_MAX (1u << 16)
#define UNREAD_MAX 300u /* bytes of the note that names profiles */
#define SNIFF_TOKENS 4000u
#define SCHEMA "speedscope.app/file-format-schema"

static int no_memory(struct gt_err *err)
{
	return gt_err_set(err, -ENOMEM, "out of memory (import of speedscope's file)");
}

/* ---- walking the text ---- */

/* Handles the value of a key, whose token the scanner has returned; brackets may remain unread. */
typedef int member_fn(struct gt_speedscope *s, struct gt_json *j, const char *key, int t, void *to);

/* Calls fn for the members of an object, whose bracket the scanner has returned. */
static int each_member(struct gt_speedscope *s, struct gt_json *j, member_fn *fn, void *to)
{
	int t, e = 0;

	while (!e && (t = gt_json_next(j, s->err)) != GT_JSON_OBJECT_END) {
		unsigned depth = j->depth;
		char key[16] = "";

		if (t < 0)
			return t;
		if (j->len < sizeof(key))
			memcpy(key, j->text, j->len);
		t = gt_json_next(j, s->err);
		if (t < 0)
			return t;
		e = fn(s, j, key, t, to);
		if (!e && j->depth > depth)
			e = gt_json_skip(j, s->err);
	}
	return e;
}

/* Calls fn for the objects of an array; *n counts its elements. */
static int each_object(struct gt_speedscope *s, struct gt_json *j,
	int (*fn)(struct gt_speedscope *s, struct gt_json *j, size_t n))
{
	int t, e = 0;

	for (size_t n = 0; !e && (t = gt_json_next(j, s->err)) != GT_JSON_ARRAY_END; n++) {
		if (t < 0)
			return t;
		e = t == GT_JSON_OBJECT ? fn(s, j, n)
					: gt_json_set_error(j, gt_json_offset(j), s->err,
						  "a profile or frame is no object");
	}
	return e;
}

/* ---- the first pass: frames, and the types and units of profiles ---- */

static uint32_t string_of(struct gt_speedscope *s, const struct gt_json *j)
{
	return gt_writer_has_name_space(s->w) ? gt_writer_string_n(s->w, j->text, j->len) : GT_NONE;
}

static int frame_member(
	struct gt_speedscope *s, struct gt_json *j, const char *key, int t, void *to)
{
	struct gt_speedscope_frame *f = to;
	int64_t n;

	if (t == GT_JSON_STRING && (!strcmp(key, "name") || !strcmp(key, "file"))) {
		uint32_t text = string_of(s, j);

		if (text == GT_NONE)
			return gt_err_set(s->err, -E2BIG, "names of frames need too much memory");
		*(*key == 'n' ? &f->name : &f->file) = text;
	} else if ((t == GT_JSON_INT || t == GT_JSON_REAL) &&
		(!strcmp(key, "line") || !strcmp(key, "col")) &&
		!gt_json_scale(j->text, j->len, 0, &n) && n > 0 && n <= UINT32_MAX) {
		*(*key == 'l' ? &f->line : &f->column) = (uint32_t)n;
	}
	return 0;
}

static int read_frame(struct gt_speedscope *s, struct gt_json *j, size_t n)
{
	struct gt_speedscope_frame f = { .name = GT_NONE, .file = GT_NONE };
	int e = each_member(s, j, frame_member, &f);

	if (e)
		return e;
	if (f.name == GT_NONE)
		f.name = gt_writer_string(s->w, "(no name)");
	if (n >= GT_SPEEDSCOPE_FRAMES_MAX)
		return gt_err_set(s->err, -E2BIG, "more than %u frames", GT_SPEEDSCOPE_FRAMES_MAX);
	if (gt_grow(&s->frames, &s->frames_cap, n + 1, sizeof(f)))
		return no_memory(s->err);
	s->frames[n] = f;
	s->nframes = n + 1;
	return 0;
}

static int shared_member(
	struct gt_speedscope *s, struct gt_json *j, const char *key, int t, void *to)
{
	if (strcmp(key, "frames") || t != GT_JSON_ARRAY)
		return 0;
	s->has_frames = true;
	s->nframes = 0;
	return each_object(s, j, read_frame);
}

static int8_t scale_of(const char *unit)
{
	return !strcmp(unit, "nanoseconds")     ? 0
		: !strcmp(unit, "microseconds") ? 3
		: !strcmp(unit, "milliseconds") ? 6
		: !strcmp(unit, "seconds")      ? 9
						: -1;
}

static int head_member(struct gt_speedscope *s, struct gt_json *j, const char *key, int t, void *to)
{
	struct gt_speedscope_profile *p = to;

	if (t != GT_JSON_STRING)
		return 0;
	if (!strcmp(key, "name"))
		p->name = string_of(s, j);
	else if (!strcmp(key, "type"))
		p->type = gt_json_is(j, "evented") ? GT_SPEEDSCOPE_EVENTED
			: gt_json_is(j, "sampled") ? GT_SPEEDSCOPE_SAMPLED
						   : GT_SPEEDSCOPE_OTHER;
	else if (!strcmp(key, "unit"))
		snprintf(p->unit, sizeof(p->unit), "%.*s", (int)(j->len < 15 ? j->len : 15),
			j->text);
	return 0;
}

/* A profile that the end of the file cuts has the members before that end. */
static int read_head(struct gt_speedscope *s, struct gt_json *j, size_t n)
{
	struct gt_speedscope_profile p = { .name = GT_NONE };
	int e = each_member(s, j, head_member, &p);

	if (e && e != -ENODATA)
		return e;
	p.scale = scale_of(p.unit);
	if (n >= PROFILES_MAX)
		return gt_err_set(s->err, -E2BIG, "more than %u profiles", PROFILES_MAX);
	if (gt_grow(&s->profiles, &s->profiles_cap, n + 1, sizeof(p)))
		return no_memory(s->err);
	s->profiles[n] = p;
	s->nprofiles = n + 1;
	return e;
}

static int first_pass(struct gt_speedscope *s, struct gt_json *j, const char *key, int t, void *to)
{
	if (!strcmp(key, "shared") && t == GT_JSON_OBJECT)
		return each_member(s, j, shared_member, NULL);
	if (strcmp(key, "profiles") || t != GT_JSON_ARRAY)
		return 0;
	s->nprofiles = 0;
	return each_object(s, j, read_head);
}

/* ---- the second pass: rows ---- */

struct reading {
	const struct gt_speedscope_profile *profile;
	int64_t start; /* ns */
	struct gt_sorter samples;
};

static int body_member(struct gt_speedscope *s, struct gt_json *j, const char *key, int t, void *to)
{
	struct reading *r = to;
	bool sampled = r->profile->type == GT_SPEEDSCOPE_SAMPLED, array = t == GT_JSON_ARRAY;

	if (!strcmp(key, "startValue"))
		s->no_time += !gt_speedscope_time(j, t, r->profile->scale, &r->start);
	else if (!strcmp(key, "events") && array && !sampled)
		return gt_speedscope_events(s, j, r->profile);
	else if (!strcmp(key, "samples") && array && sampled)
		return gt_speedscope_samples(s, j, &r->samples);
	else if (!strcmp(key, "weights") && array && sampled)
		return gt_speedscope_weights(s, j, r->profile, &r->samples);
	return 0;
}

static void note_unread(struct gt_speedscope *s, const struct gt_speedscope_profile *p)
{
	const char *why = p->type == GT_SPEEDSCOPE_OTHER ? "unknown type"
		: *p->unit                               ? p->unit
							 : "no unit";

	if (s->unread.len < UNREAD_MAX)
		gt_buf_printf(&s->unread, "%s%.60s (%s)", s->unread.len ? ", " : "",
			p->name == GT_NONE ? "?" : gt_writer_text(s->w, p->name), why);
	else if (s->unread.data[s->unread.len - 1] != '.')
		gt_buf_str(&s->unread, " ...");
}

static int begin_thread(struct gt_speedscope *s, size_t n)
{
	const struct gt_speedscope_profile *p = &s->profiles[n];
	int64_t track = gt_rows_track(s->rows, 0, (int64_t)n + 1, NULL, s->err);
	char *name;
	int e;

	if (track < 0)
		return (int)track;
	s->track = (uint32_t)track;
	if (p->name == GT_NONE)
		return 0;
	name = strdup(gt_writer_text(s->w, p->name)); /* other strings may move it */
	e = name ? gt_profile_track_name(s->rows, s->w, s->track, name, strlen(name), s->err)
		 : no_memory(s->err);
	free(name);
	return e;
}

static int read_profile(struct gt_speedscope *s, struct gt_json *j, size_t n)
{
	struct reading r = { .profile = n < s->nprofiles ? &s->profiles[n] : NULL };
	int e, rc = 0;

	if (!r.profile)
		return gt_json_skip(j, s->err);
	if (r.profile->type == GT_SPEEDSCOPE_OTHER || r.profile->scale < 0) {
		note_unread(s, r.profile);
		return gt_json_skip(j, s->err);
	}
	e = begin_thread(s, n);
	s->nread += !e;
	if (!e && r.profile->type == GT_SPEEDSCOPE_SAMPLED)
		e = gt_speedscope_sorter_init(&r.samples, s->err);
	e = e ? e : each_member(s, j, body_member, &r);
	if ((!e || e == -ENODATA) && r.profile->type == GT_SPEEDSCOPE_SAMPLED)
		rc = gt_speedscope_put_samples(s, r.start, &r.samples);
	gt_sorter_release(&r.samples);
	return rc ? rc : e;
}

static int second_pass(struct gt_speedscope *s, struct gt_json *j, const char *key, int t, void *to)
{
	return !strcmp(key, "profiles") && t == GT_JSON_ARRAY ? each_object(s, j, read_profile) : 0;
}

/* ---- the file ---- */

/* Reads the text from its beginning; an end in the middle is no error. */
static int read_text(struct gt_speedscope *s, int file, member_fn *fn)
{
	struct gt_err *err = s->err, scan = GT_ERR_INIT;
	struct gt_in *in;
	struct gt_json j;
	int fd = fcntl(file, F_DUPFD_CLOEXEC, 0), t, e;

	if (fd < 0)
		return gt_err_set(err, -errno, "no more descriptors");
	if (lseek(fd, 0, SEEK_SET)) {
		close(fd);
		return gt_err_set(err, -EIO, "cannot read the file again");
	}
	in = gt_in_open_fd(fd, err);
	e = in ? gt_json_init(&j, in, false, err) : err->code;
	if (e) {
		gt_in_close(in);
		return e;
	}
	j.controls = true;
	s->err = &scan;
	t = gt_json_next(&j, &scan);
	e = t < 0                     ? t
		: t == GT_JSON_OBJECT ? each_member(s, &j, fn, NULL)
				      : gt_json_set_error(&j, 0, &scan, "the file is no object");
	s->err = err;
	s->truncated |= e == -ENODATA;
	if (e && e != -ENODATA && !err->code)
		*err = scan;
	gt_json_release(&j);
	gt_in_close(in);
	return e == -ENODATA ? 0 : e;
}

static int put_metadata(struct gt_speedscope *s)
{
	json_t *unread =
		gt_json_text(s->unread.len ? (const char *)s->unread.data : "", s->unread.len);
	char *json = gt_json_finish(json_pack("{s:o, s:I, s:I, s:I, s:I}", "profiles_not_read",
		unread, "events_not_understood", (json_int_t)s->not_understood,
		"events_without_time", (json_int_t)s->no_time, "negative_durations",
		(json_int_t)s->negative, "stacks_left_out", (json_int_t)s->stacks_left_out));
	int e = json ? gt_writer_meta(s->w, json, s->err) : no_memory(s->err);

	free(json);
	return e;
}

static int check_profiles(struct gt_speedscope *s)
{
	if (!s->has_frames)
		return gt_err_set(s->err, -EILSEQ, "a file of speedscope without frames%s",
			s->truncated ? ": its end is missing" : " (shared.frames)");
	if (s->nprofiles && !s->nread)
		return gt_err_set(s->err, -EILSEQ, "no profile of the file has times: %.*s",
			(int)s->unread.len, (const char *)s->unread.data);
	return 0;
}

static int import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	struct gt_speedscope s = { .w = w, .err = err };
	int fd = gt_in_random_access(in, err), e = fd < 0 ? fd : 0;

	s.rows = e ? NULL : gt_profile_rows("speedscope", w, err);
	e = e ? e : s.rows ? read_text(&s, fd, first_pass) : -ENOMEM;
	if (!e && s.has_frames)
		e = read_text(&s, fd, second_pass);
	e = e ? e : check_profiles(&s);
	e = e ? e : gt_rows_finish(s.rows, s.truncated, err);
	e = e ? e : put_metadata(&s);
	if (fd >= 0)
		close(fd);
	gt_rows_free(s.rows);
	gt_buf_release(&s.unread);
	free(s.frames);
	free(s.profiles);
	free(s.open);
	free(s.stack);
	return e;
}

/* Is the schema's name among the first members, or are those members of such a file? */
static int sniff(const char *head, size_t len)
{
	struct gt_in *in = gt_in_memory(head, len, NULL);
	bool schema = false, shared = false, typed = false;
	struct gt_json j;
	int sure = 0, t;

	if (!in || gt_json_init(&j, in, false, NULL)) {
		gt_in_close(in);
		return 0;
	}
	for (unsigned n = 0; n < SNIFF_TOKENS && sure < 95 && (t = gt_json_next(&j, NULL)) > 0;
		n++) {
		if ((!n && t != GT_JSON_OBJECT) || !j.depth)
			break;
		if (t == GT_JSON_STRING && schema && memmem(j.text, j.len, SCHEMA, strlen(SCHEMA)))
			sure = 95;
		schema = t == GT_JSON_KEY && j.depth == 1 && gt_json_is(&j, "$schema");
		shared |= t == GT_JSON_KEY && j.depth == 1 &&
			(gt_json_is(&j, "shared") || gt_json_is(&j, "profiles"));
		typed |= t == GT_JSON_STRING && j.depth == 3 &&
			(gt_json_is(&j, "evented") || gt_json_is(&j, "sampled"));
		if (shared && typed && sure < 70)
			sure = 70;
	}
	gt_json_release(&j);
	gt_in_close(in);
	return sure;
}

const struct gt_importer gt_import_speedscope = {
	.name = "speedscope",
	.help = "profiles of speedscope, py-spy, gtexport --speedscope",
	.sniff = sniff,
	.import = import,
};
