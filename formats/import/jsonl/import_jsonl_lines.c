/* Reads lines: keys in any order, by one table; unknown keys are skipped. A line
 * that is JSON but no event (no time, no name, a time in quotes) is an error with its
 * place, because dropping it would be a silent loss. Only the last line may be
 * incomplete (the logger was killed); the metadata say so.
 *
 * A line that does not begin with '{' is not the logger's: bpftrace, whose scripts print such logs,
 * adds "Attaching 3 probes..." and at its end the maps ("@count: 7"). Such lines are skipped and
 * counted in the metadata. bpftrace's "Lost 42 events" is a loss between the lines around it. */
#include "formats/import/jsonl/import_jsonl_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "formats/io/text_lines.h"

#define SNIFF_OBJECTS 100
#define SNIFF_OTHER_LINES 100
#define OTHER_LINE 64 /* bytes of a line that is not JSON; the rest is not read */

struct key;
struct reading {
	const struct gt_line_format *format;
	struct gt_import_rows *rows;
	struct gt_writer *w;
	struct gt_json *j;
	struct gt_import_line line;
	uint64_t others; /* lines that are not JSON */
	/* events that bpftrace lost behind the last line; and the time of that line, if there is
	 * one */
	uint64_t lost;
	int64_t last;
	bool has_last;
};

static int fail(const struct reading *r, struct gt_err *err, const char *what)
{
	return gt_json_set_error(r->j, gt_json_offset(r->j), err, what);
}

static bool is_number(int token) { return token == GT_JSON_INT || token == GT_JSON_REAL; }

/* Functions that read a value return 1, negative, or 0: the value is unusable, and
 * the key, which is optional, is ignored. */
static int read_ts(struct reading *r, const struct key *key, int token, struct gt_err *err)
{
	int64_t *t = &r->line.time;

	if (!is_number(token))
		return fail(r, err, "\"ts\" is not a number");
	if (gt_json_scale(r->j->text, r->j->len, 9, t) || *t > GT_ROWS_TIME_MAX ||
		*t < -GT_ROWS_TIME_MAX)
		return fail(r, err, "\"ts\" is out of range");
	return 1;
}

static int set_name(struct reading *r, int64_t name)
{
	r->line.name = (uint32_t)name;
	return name < 0 ? (int)name : 1;
}

static int read_name(struct reading *r, const struct key *key, int token, struct gt_err *err)
{
	if (token != GT_JSON_STRING)
		return fail(r, err, "\"name\" is not a string");
	return set_name(r, gt_rows_name(r->rows, r->j->text, r->j->len, r->line.group, err));
}

static int read_phase(struct reading *r, const struct key *key, int token, struct gt_err *err)
{
	const struct gt_json *j = r->j;

	if (token == GT_JSON_NULL ||
		(token == GT_JSON_STRING && (!j->len || gt_json_is(j, "i") || gt_json_is(j, "I"))))
		return 0;
	if (token != GT_JSON_STRING || j->len != 1 || (*j->text != 'B' && *j->text != 'E'))
		return fail(r, err, "\"phase\" is neither \"B\" nor \"E\"");
	r->line.phase = *j->text;
	return 1;
}

static int read_op_id(struct reading *r, const struct key *key, int token, struct gt_err *err)
{
	bool negative;

	if (token != GT_JSON_INT ||
		gt_json_magnitude(r->j->text, r->j->len, 0, &negative, &r->line.op_id))
		return fail(r, err, "\"op_id\" is not a whole number of 64 bits");
	r->line.op_id = negative ? 0 - r->line.op_id : r->line.op_id;
	return 1;
}

static int read_type(struct reading *r, const struct key *key, int token, struct gt_err *err)
{
	for (unsigned i = 0; token == GT_JSON_STRING && r->format->words && r->format->words[i];
		i++)
		if (gt_json_is(r->j, r->format->words[i]))
			r->line.group = i + 1;
	if (r->line.has & GT_LINE_NAME) /* the name came first */
		return set_name(r, gt_rows_regroup(r->rows, r->line.name, r->line.group, err));
	return 1;
}

static int read_duration(struct reading *r, const struct key *key, int token, struct gt_err *err)
{
	int64_t *d = &r->line.duration;

	return is_number(token) && !gt_json_scale(r->j->text, r->j->len, 3, d) && *d >= 0 &&
		*d <= GT_ROWS_TIME_MAX;
}

static int read_size(struct reading *r, const struct key *key, int token, struct gt_err *err)
{
	bool negative;

	return token == GT_JSON_INT &&
		!gt_json_magnitude(r->j->text, r->j->len, 0, &negative, &r->line.size) && !negative;
}

/* 1 + the number of a word, 0: unknown. */
static unsigned word_of(const struct reading *r, int token, const char *(*word)(unsigned))
{
	char text[24];

	if (!r->format->classed || token != GT_JSON_STRING || r->j->len >= sizeof(text))
		return 0;
	memcpy(text, r->j->text, r->j->len);
	text[r->j->len] = '\0';
	return (unsigned)(gt_word_find(word, text) + 1);
}

static int read_kind(struct reading *r, const struct key *key, int token, struct gt_err *err)
{
	unsigned n = word_of(r, token, gt_kind_word);

	r->line.kind = (uint8_t)(n ? n - 1 : 0);
	r->line.group |= n ? GT_LINE_CLASSED : 0;
	return 0;
}

static int read_track(struct reading *r, const struct key *key, int token, struct gt_err *err)
{
	r->line.track = (uint8_t)word_of(r, token, gt_track_kind_word);
	return 0;
}

static int read_depth(struct reading *r, const struct key *key, int token, struct gt_err *err)
{
	int64_t depth = 0;

	r->line.depth = token == GT_JSON_INT && !gt_json_scale(r->j->text, r->j->len, 0, &depth) &&
			depth > 0 && depth < 256
		? (uint8_t)depth
		: 0;
	return 0;
}

static int read_nothing(struct reading *r, const struct key *key, int token, struct gt_err *err)
{
	return 1;
}

static int read_details(struct reading *r, const struct key *key, int token, struct gt_err *err)
{
	if (token != GT_JSON_OBJECT && token != GT_JSON_ARRAY)
		return 0;
	return gt_rows_details(r->rows, r->j, token == GT_JSON_ARRAY,
		       r->line.phase == 'B' ? NULL : &r->line.ret, err)
		?: 1;
}

static int read_frames(struct reading *r, const struct key *key, int token, struct gt_err *err)
{
	if (!r->format->classed || token != GT_JSON_ARRAY || !(r->line.has & GT_LINE_STACK))
		return 0;
	return gt_rows_frames(r->rows, r->j, &r->line.stack, err) ?: 1;
}

static int read_int(struct reading *r, const struct key *key, int token, struct gt_err *err);
static int read_class(struct reading *r, const struct key *key, int token, struct gt_err *err);

#define INT(name) .read = read_int, .member = offsetof(struct gt_import_line, name)
#define CLASS(list, bit) .read = read_class, .words = list, .shift = bit
static const struct key {
	const char *word;
	unsigned has;
	/* token: the first one of the value */
	int (*read)(struct reading *r, const struct key *key, int token, struct gt_err *err);
	size_t member;                  /* read_int: of gt_import_line */
	const char *(*words)(unsigned); /* read_class: the words, and the bits of the group */
	unsigned shift;
} keys[] = {
	{ "ts", GT_LINE_TS, .read = read_ts },
	{ "op_id", GT_LINE_OP_ID, .read = read_op_id },
	{ "phase", GT_LINE_PHASE, .read = read_phase },
	{ "name", GT_LINE_NAME, .read = read_name },
	{ "details", 0, .read = read_details },
	{ "pid", 0, INT(pid) },
	{ "tid", 0, INT(tid) },
	{ "type", GT_LINE_TYPE, .read = read_type },
	{ "event_id", GT_LINE_EVENT_ID, .read = read_nothing },
	{ "duration_us", GT_LINE_DURATION, .read = read_duration },
	{ "size", GT_LINE_SIZE, .read = read_size },
	{ "args", 0, .read = read_details },
	{ "kind", GT_LINE_KIND, .read = read_kind },
	{ "layer", GT_LINE_KIND, CLASS(gt_layer_word, 0) },
	{ "category", 0, CLASS(gt_category_word, 4) },
	{ "op", 0, CLASS(gt_op_word, 10) },
	{ "memkind", 0, CLASS(gt_memkind_word, 15) },
	{ "track", 0, .read = read_track },
	{ "device", GT_LINE_DEVICE, INT(device) },
	{ "context", GT_LINE_CONTEXT, INT(context) },
	{ "depth", 0, .read = read_depth },
	{ GT_ROWS_STACK, GT_LINE_STACK, INT(stack_number) },
	{ "frames", GT_LINE_FRAMES, .read = read_frames },
};

static int read_int(struct reading *r, const struct key *key, int token, struct gt_err *err)
{
	int64_t *to = (int64_t *)(void *)((char *)&r->line + key->member);

	return token == GT_JSON_INT && !gt_json_scale(r->j->text, r->j->len, 0, to);
}

static int read_class(struct reading *r, const struct key *key, int token, struct gt_err *err)
{
	unsigned n = word_of(r, token, key->words);

	r->line.group |= n ? GT_LINE_CLASSED | n << key->shift : 0;
	return 0;
}

static const struct key *find_key(const struct gt_json *j)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (gt_json_is(j, keys[i].word))
			return &keys[i];
	return NULL;
}

/* Reads the rest of an object whose opening bracket the scanner has returned. */
static int read_keys(struct reading *r, struct gt_err *err)
{
	for (;;) {
		int token = gt_json_next(r->j, err), e = 0;
		const struct key *key;

		if (token < 0 || token == GT_JSON_OBJECT_END)
			return token < 0 ? token : 0;
		key = find_key(r->j);
		token = gt_json_next(r->j, err);
		if (token < 0)
			return token;
		if (key)
			e = key->read(r, key, token, err);
		r->line.has |= e > 0 ? key->has : 0;
		if (e >= 0)
			e = gt_json_skip(r->j, err); /* an object or array that was not read */
		if (e)
			return e;
	}
}

/* ---- lines that are not JSON ---- */

static int skip_other_lines(struct reading *r, struct gt_err *err)
{
	char line[OTHER_LINE];
	int e;

	while ((e = gt_json_skip_other_line(r->j, line, sizeof(line), err)) > 0) {
		uint64_t lost = gt_text_lost_events(line);

		r->lost += lost;
		r->others += !lost;
	}
	return e;
}

/* Writes the loss before a line of this time. */
static int put_loss(struct reading *r, int64_t time, struct gt_err *err)
{
	uint64_t lost = r->lost;
	int64_t from = r->has_last && r->last < time ? r->last : time;

	r->lost = 0;
	return lost ? gt_writer_loss(r->w, GT_SCOPE_ALL, GT_NONE, from, time, lost, err) : 0;
}

static int put_metadata(const struct reading *r, struct gt_err *err)
{
	char json[64];

	snprintf(json, sizeof(json), "{\"lines_not_json\":%" PRIu64 "}", r->others);
	return r->others ? gt_writer_meta(r->w, json, err) : 0;
}

/* ---- the file ---- */

/* 1 with r->line filled, 0 at the end, or negative. */
static int read_line(struct reading *r, uint64_t *place, struct gt_err *err)
{
	const char *usual;
	int token, e;

	gt_rows_no_args(r->rows);
	r->line = (struct gt_import_line){ 0 };
	usual = r->format->begin ? r->format->begin(r->rows, r->j, &r->line) : NULL;
	if (usual) {
		*place = gt_json_offset(r->j);
		gt_json_resume(r->j, usual);
	} else {
		r->line = (struct gt_import_line){ 0 };
		token = skip_other_lines(r, err) ?: gt_json_next(r->j, err);
		if (token <= 0)
			return token;
		*place = gt_json_offset(r->j) - 1;
		if (token != GT_JSON_OBJECT)
			return gt_json_set_error(
				r->j, *place, err, "expected one JSON object per line");
	}
	e = read_keys(r, err);
	if (e)
		return e;
	if (!(r->line.has & GT_LINE_TS))
		return gt_json_set_error(r->j, *place, err, "an event without \"ts\"");
	if (!(r->line.has & GT_LINE_NAME))
		return gt_json_set_error(r->j, *place, err, "an event without \"name\"");
	return r->line.group & GT_LINE_CLASSED
		? set_name(r, gt_rows_regroup(r->rows, r->line.name, r->line.group, err))
		: 1;
}

static int read_lines(struct reading *r, bool *truncated, struct gt_err *err)
{
	uint64_t place = 0;
	int e;

	while ((e = read_line(r, &place, err)) > 0) {
		e = put_loss(r, r->line.time, err);
		if (!e)
			e = r->format->row(r->rows, &r->line, err);
		if (e < 0)
			break;
		r->last = r->line.time;
		r->has_last = true;
	}
	*truncated = e == -ENODATA;
	if (e < 0 && err->offset == GT_NO_OFFSET && (e == -EBADMSG || e == -E2BIG))
		err->offset = place;
	return *truncated ? 0 : e;
}

int gt_import_lines(const struct gt_line_format *format, struct gt_in *in, struct gt_writer *w,
	struct gt_err *err)
{
	struct gt_err scan = GT_ERR_INIT; /* separate: an incomplete last line is no error */
	struct gt_json j;
	struct reading r = { .format = format, .j = &j, .w = w };
	bool truncated = false;
	int e = gt_json_init(&j, in, false, err);

	if (e)
		return e;
	r.rows = gt_rows_new(&format->rows, w, err);
	e = r.rows ? read_lines(&r, &truncated, &scan) : -ENOMEM;
	if (!e) {
		e = put_loss(&r, r.last, err);
		e = e ? e : gt_rows_finish(r.rows, truncated, err);
		e = e ? e : put_metadata(&r, err);
	} else if (err && !err->code) {
		*err = scan;
	}
	gt_rows_free(r.rows);
	gt_json_release(&j);
	return e;
}

/* The next token; between two lines, that of the next line that is JSON. */
static int next_token(struct gt_json *j, unsigned *others)
{
	char line[OTHER_LINE];

	while (!j->depth && *others < SNIFF_OTHER_LINES &&
		gt_json_skip_other_line(j, line, sizeof(line), NULL) > 0)
		++*others;
	return gt_json_next(j, NULL);
}

unsigned gt_lines_sniff(const char *head, size_t len)
{
	struct gt_in *in = gt_in_memory(head, len, NULL);
	const struct key *key;
	struct gt_json j;
	unsigned has = 0, objects = 0, others = 0;
	int t;

	if (in && !gt_json_init(&j, in, false, NULL)) {
		/* the first lines may be instants, which have neither phase nor op_id */
		for (t = next_token(&j, &others); t > 0 && objects < SNIFF_OBJECTS;
			t = next_token(&j, &others)) {
			objects += !j.depth;
			if (!j.depth && t != GT_JSON_OBJECT_END)
				break;
			key = t == GT_JSON_KEY && j.depth == 1 ? find_key(&j) : NULL;
			has |= key ? key->has : 0;
		}
		gt_json_release(&j);
	}
	gt_in_close(in);
	return has;
}
