/* One line: its keys in any order, unknown ones skipped. What a key means stands in one table. A
 * line that is JSON but cannot be an event (no time, no name, a time in quotes) is an error with
 * its place: dropping it would be a quiet loss. Only the last line may be cut short, as a killed
 * logger leaves it; that is noted in the metadata. */
#include "formats/import/import_lines.h"

#include <string.h>

#define SNIFF_OBJECTS 100

struct reading {
	const struct gt_line_format *format;
	struct gt_import_rows *rows;
	struct gt_json *j;
	struct gt_import_line line;
};

static int wrong(const struct reading *r, struct gt_err *err, const char *what)
{
	return gt_json_wrong(r->j, gt_json_offset(r->j), err, what);
}

static bool is_number(int token) { return token == GT_JSON_INT || token == GT_JSON_REAL; }

/* Readers of values return 1, negative, or 0: the value is odd, but the key only nice to have (as
 * though it were not there). */
static int read_ts(struct reading *r, int token, struct gt_err *err)
{
	int64_t *t = &r->line.time;

	if (!is_number(token))
		return wrong(r, err, "\"ts\" is not a number");
	if (gt_json_scaled(r->j->text, r->j->len, 9, t) || *t > GT_ROWS_TIME_MAX ||
		*t < -GT_ROWS_TIME_MAX)
		return wrong(r, err, "\"ts\" is out of range");
	return 1;
}

static int named(struct reading *r, int64_t name)
{
	r->line.name = (uint32_t)name;
	return name < 0 ? (int)name : 1;
}

static int read_name(struct reading *r, int token, struct gt_err *err)
{
	if (token != GT_JSON_STRING)
		return wrong(r, err, "\"name\" is not a string");
	return named(r, gt_rows_name(r->rows, r->j->text, r->j->len, r->line.group, err));
}

static int read_phase(struct reading *r, int token, struct gt_err *err)
{
	const struct gt_json *j = r->j;

	if (token == GT_JSON_NULL ||
		(token == GT_JSON_STRING && (!j->len || gt_json_is(j, "i") || gt_json_is(j, "I"))))
		return 0;
	if (token != GT_JSON_STRING || j->len != 1 || (*j->text != 'B' && *j->text != 'E'))
		return wrong(r, err, "\"phase\" is neither \"B\" nor \"E\"");
	r->line.phase = *j->text;
	return 1;
}

static int read_op_id(struct reading *r, int token, struct gt_err *err)
{
	bool negative;

	if (token != GT_JSON_INT ||
		gt_json_magnitude(r->j->text, r->j->len, 0, &negative, &r->line.op_id))
		return wrong(r, err, "\"op_id\" is not a whole number of 64 bits");
	r->line.op_id = negative ? 0 - r->line.op_id : r->line.op_id;
	return 1;
}

static int read_type(struct reading *r, int token, struct gt_err *err)
{
	for (unsigned i = 0; token == GT_JSON_STRING && r->format->words && r->format->words[i];
		i++)
		if (gt_json_is(r->j, r->format->words[i]))
			r->line.group = i + 1;
	if (r->line.has & GT_LINE_NAME) /* the name came first */
		return named(r, gt_rows_regroup(r->rows, r->line.name, r->line.group, err));
	return 1;
}

static int read_duration(struct reading *r, int token, struct gt_err *err)
{
	int64_t *d = &r->line.duration;

	return is_number(token) && !gt_json_scaled(r->j->text, r->j->len, 3, d) && *d >= 0 &&
		*d <= GT_ROWS_TIME_MAX;
}

static int read_size(struct reading *r, int token, struct gt_err *err)
{
	bool negative;

	return token == GT_JSON_INT &&
		!gt_json_magnitude(r->j->text, r->j->len, 0, &negative, &r->line.size) && !negative;
}

static int read_int(const struct reading *r, int token, int64_t *to)
{
	return token == GT_JSON_INT && !gt_json_scaled(r->j->text, r->j->len, 0, to);
}

/* The number plus 1 of a word, 0 if it is none. */
static unsigned word_of(const struct reading *r, int token, const char *(*word)(unsigned))
{
	char text[24];

	if (!r->format->classed || token != GT_JSON_STRING || r->j->len >= sizeof(text))
		return 0;
	memcpy(text, r->j->text, r->j->len);
	text[r->j->len] = '\0';
	return (unsigned)(gt_word_find(word, text) + 1);
}

static int read_part(struct reading *r, int token, const char *(*word)(unsigned), unsigned shift)
{
	unsigned n = word_of(r, token, word);

	r->line.group |= n ? GT_LINE_CLASSED | n << shift : 0;
	return 0;
}

static int read_kind(struct reading *r, int token, struct gt_err *err)
{
	unsigned n = word_of(r, token, gt_kind_word);

	r->line.kind = (uint8_t)(n ? n - 1 : 0);
	r->line.group |= n ? GT_LINE_CLASSED : 0;
	return 0;
}

static int read_track(struct reading *r, int token, struct gt_err *err)
{
	r->line.track = (uint8_t)word_of(r, token, gt_track_kind_word);
	return 0;
}

static int read_depth(struct reading *r, int token, struct gt_err *err)
{
	int64_t depth = 0;

	r->line.depth = token == GT_JSON_INT && !gt_json_scaled(r->j->text, r->j->len, 0, &depth) &&
			depth > 0 && depth < 256
		? (uint8_t)depth
		: 0;
	return 0;
}

static int read_layer(struct reading *r, int token, struct gt_err *err)
{
	return read_part(r, token, gt_layer_word, 0);
}
static int read_category(struct reading *r, int token, struct gt_err *err)
{
	return read_part(r, token, gt_category_word, 4);
}
static int read_op(struct reading *r, int token, struct gt_err *err)
{
	return read_part(r, token, gt_op_word, 10);
}
static int read_memkind(struct reading *r, int token, struct gt_err *err)
{
	return read_part(r, token, gt_memkind_word, 15);
}
static int read_device(struct reading *r, int token, struct gt_err *err)
{
	return read_int(r, token, &r->line.device);
}
static int read_context(struct reading *r, int token, struct gt_err *err)
{
	return read_int(r, token, &r->line.context);
}
static int read_pid(struct reading *r, int token, struct gt_err *err)
{
	return read_int(r, token, &r->line.pid);
}
static int read_tid(struct reading *r, int token, struct gt_err *err)
{
	return read_int(r, token, &r->line.tid);
}
static int read_nothing(struct reading *r, int token, struct gt_err *err) { return 1; }

static int read_details(struct reading *r, int token, struct gt_err *err)
{
	if (token != GT_JSON_OBJECT && token != GT_JSON_ARRAY)
		return 0;
	return gt_rows_details(r->rows, r->j, token == GT_JSON_ARRAY,
		       r->line.phase == 'B' ? NULL : &r->line.ret, err)
		?: 1;
}

static const struct key {
	const char *word;
	unsigned has;
	/* token: the value's first */
	int (*read)(struct reading *r, int token, struct gt_err *err);
} keys[] = {
	{ "ts", GT_LINE_TS, read_ts },
	{ "op_id", GT_LINE_OP_ID, read_op_id },
	{ "phase", GT_LINE_PHASE, read_phase },
	{ "name", GT_LINE_NAME, read_name },
	{ "details", 0, read_details },
	{ "pid", 0, read_pid },
	{ "tid", 0, read_tid },
	{ "type", GT_LINE_TYPE, read_type },
	{ "event_id", GT_LINE_EVENT_ID, read_nothing },
	{ "duration_us", GT_LINE_DURATION, read_duration },
	{ "size", GT_LINE_SIZE, read_size },
	{ "args", 0, read_details },
	{ "kind", 0, read_kind },
	{ "layer", 0, read_layer },
	{ "category", 0, read_category },
	{ "op", 0, read_op },
	{ "memkind", 0, read_memkind },
	{ "track", 0, read_track },
	{ "device", GT_LINE_DEVICE, read_device },
	{ "context", GT_LINE_CONTEXT, read_context },
	{ "depth", 0, read_depth },
};

static const struct key *find_key(const struct gt_json *j)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (gt_json_is(j, keys[i].word))
			return &keys[i];
	return NULL;
}

/* The rest of an object of which the scanner has handed out the opening bracket. */
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
			e = key->read(r, token, err);
		r->line.has |= e > 0 ? key->has : 0;
		if (e >= 0)
			e = gt_json_skip(r->j, err); /* an object or array nobody wanted */
		if (e)
			return e;
	}
}

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
		token = gt_json_next(r->j, err);
		if (token <= 0)
			return token;
		*place = gt_json_offset(r->j) - 1;
		if (token != GT_JSON_OBJECT)
			return gt_json_wrong(
				r->j, *place, err, "expected a JSON object, one a line");
	}
	e = read_keys(r, err);
	if (e)
		return e;
	if (!(r->line.has & GT_LINE_TS))
		return gt_json_wrong(r->j, *place, err, "an event without \"ts\"");
	if (!(r->line.has & GT_LINE_NAME))
		return gt_json_wrong(r->j, *place, err, "an event without \"name\"");
	return r->line.group & GT_LINE_CLASSED
		? named(r, gt_rows_regroup(r->rows, r->line.name, r->line.group, err))
		: 1;
}

static int read_lines(struct reading *r, bool *truncated, struct gt_err *err)
{
	uint64_t place = 0;
	int e;

	while ((e = read_line(r, &place, err)) > 0) {
		e = r->format->row(r->rows, &r->line, err);
		if (e < 0)
			break;
	}
	*truncated = e == -ENODATA;
	if (e < 0 && err->offset == GT_NO_OFFSET && (e == -EBADMSG || e == -E2BIG))
		err->offset = place;
	return *truncated ? 0 : e;
}

int gt_import_lines(const struct gt_line_format *format, struct gt_in *in, struct gt_writer *w,
	struct gt_err *err)
{
	struct gt_err scan = GT_ERR_INIT; /* of its own: a cut last line is no error */
	struct gt_json j;
	struct reading r = { .format = format, .j = &j };
	bool truncated = false;
	int e = gt_json_init(&j, in, false, err);

	if (e)
		return e;
	r.rows = gt_rows_new(&format->rows, w, err);
	e = r.rows ? read_lines(&r, &truncated, &scan) : -ENOMEM;
	if (!e)
		e = gt_rows_finish(r.rows, truncated, err);
	else if (err && !err->code)
		*err = scan;
	gt_rows_free(r.rows);
	gt_json_release(&j);
	return e;
}

unsigned gt_lines_sniff(const char *head, size_t len)
{
	struct gt_in *in = gt_in_memory(head, len, NULL);
	const struct key *key;
	struct gt_json j;
	unsigned has = 0, objects = 0;
	int t;

	if (in && !gt_json_init(&j, in, false, NULL)) {
		/* the first lines may be moments, which have neither phase nor op_id */
		for (t = gt_json_next(&j, NULL); t > 0 && objects < SNIFF_OBJECTS;
			t = gt_json_next(&j, NULL)) {
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
