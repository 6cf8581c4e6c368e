/* Rows of the profiles of a file of speedscope. */
#include "formats/import/speedscope/import_speedscope.h"

#include <stdio.h>
#include <stdlib.h>

#define OPEN_MAX (1u << 20) /* functions that run at one time */
#define CLOSE_SEARCH 1024u  /* open functions among which the one that ends is searched */
#define STACK_MAX 4096u     /* frames of a stack: those around the others are read */
#define BUFFERED (1u << 16) /* records of samples in memory */

static int no_memory(const struct gt_speedscope *s)
{
	return gt_err_set(s->err, -ENOMEM, "out of memory (import of speedscope's file)");
}

bool gt_speedscope_time(const struct gt_json *j, int token, int scale, int64_t *ns)
{
	return (token == GT_JSON_INT || token == GT_JSON_REAL) &&
		!gt_json_scale(j->text, j->len, scale, ns) && *ns > -GT_ROWS_TIME_MAX &&
		*ns < GT_ROWS_TIME_MAX;
}

/* The number of a frame. False: there is no such frame. */
static bool read_frame(
	const struct gt_speedscope *s, const struct gt_json *j, int token, uint32_t *n)
{
	uint64_t v;
	bool negative;

	if (token != GT_JSON_INT || gt_json_magnitude(j->text, j->len, 0, &negative, &v) ||
		(negative && v) || v >= s->nframes)
		return false;
	*n = (uint32_t)v;
	return true;
}

/* ---- evented profiles ---- */

static int put_function(
	struct gt_speedscope *s, const struct gt_speedscope_open *o, int64_t end, size_t depth)
{
	struct gt_speedscope_frame *f = &s->frames[o->frame];
	unsigned n = 0;

	if (!f->row_name) {
		const char *text = gt_writer_text(s->w, f->name);
		int64_t name =
			gt_rows_name(s->rows, text, strlen(text), GT_PROFILE_FUNCTION, s->err);

		if (name < 0)
			return (int)name;
		f->row_name = (uint32_t)name + 1;
	}
	gt_rows_no_args(s->rows);
	if (f->file != GT_NONE)
		gt_rows_set_arg(s->rows, n++, "file", GT_F_STR, f->file);
	if (f->line)
		gt_rows_set_arg(s->rows, n++, "line", GT_F_U64, f->line);
	if (f->column)
		gt_rows_set_arg(s->rows, n++, "column", GT_F_U64, f->column);
	s->negative += end != INT64_MIN && end < o->at;
	if (end != INT64_MIN && end < o->at)
		end = o->at;
	return gt_profile_function(s->rows, s->track, f->row_name - 1, o->at, end, depth, s->err);
}

/* Ends the innermost function without a time. */
static int put_unended(struct gt_speedscope *s)
{
	s->nopen--;
	return put_function(s, &s->open[s->nopen], INT64_MIN, s->nopen);
}

/* speedscope wants the innermost function to end first. If another one ends, those within it have
 * no end. */
static int close_frame(struct gt_speedscope *s, uint32_t frame, int64_t at)
{
	size_t i = s->nopen, least = s->nopen > CLOSE_SEARCH ? s->nopen - CLOSE_SEARCH : 0;
	int e = 0;

	while (i > least && s->open[i - 1].frame != frame)
		i--;
	if (i == least) {
		s->not_understood++;
		return 0;
	}
	while (!e && s->nopen > i)
		e = put_unended(s);
	if (e)
		return e;
	s->nopen--;
	return put_function(s, &s->open[s->nopen], at, s->nopen);
}

static int open_frame(struct gt_speedscope *s, uint32_t frame, int64_t at)
{
	if (s->nopen == OPEN_MAX)
		return gt_err_set(
			s->err, -E2BIG, "more than %u functions run at one time", OPEN_MAX);
	if (gt_grow(&s->open, &s->open_cap, s->nopen + 1, sizeof(*s->open)))
		return no_memory(s);
	s->open[s->nopen++] = (struct gt_speedscope_open){ at, frame };
	return 0;
}

/* Reads an event, whose bracket the scanner has returned. */
static int read_event(
	struct gt_speedscope *s, struct gt_json *j, const struct gt_speedscope_profile *p)
{
	bool has_time = false, has_frame = false;
	uint32_t frame = 0;
	int64_t at = 0;
	char type = 0;
	int t;

	for (;;) {
		const char *key;
		char word[8] = "";
		size_t len;

		t = gt_json_pair(j, &key, &len);
		if (!t) {
			t = gt_json_next(j, s->err);
			if (t < 0 || t == GT_JSON_OBJECT_END)
				break;
			key = j->text;
			len = j->len;
			memcpy(word, key, len < sizeof(word) ? len : 0);
			t = gt_json_next(j, s->err);
		} else {
			memcpy(word, key, len < sizeof(word) ? len : 0);
		}
		if (!strcmp(word, "type") && t == GT_JSON_STRING && j->len == 1)
			type = *j->text;
		else if (!strcmp(word, "at"))
			has_time = gt_speedscope_time(j, t, p->scale, &at);
		else if (!strcmp(word, "frame"))
			has_frame = read_frame(s, j, t, &frame);
		t = t < 0 ? t : gt_json_skip(j, s->err);
		if (t < 0)
			break;
	}
	if (t < 0)
		return t;
	s->no_time += !has_time;
	s->not_understood += has_time && (!has_frame || (type != 'O' && type != 'C'));
	if (!has_time || !has_frame || (type != 'O' && type != 'C'))
		return 0;
	return type == 'O' ? open_frame(s, frame, at) : close_frame(s, frame, at);
}

int gt_speedscope_events(
	struct gt_speedscope *s, struct gt_json *j, const struct gt_speedscope_profile *p)
{
	int t, e = 0;

	while (!e && (t = gt_json_next(j, s->err)) != GT_JSON_ARRAY_END) {
		if (t < 0) {
			e = t;
		} else if (t == GT_JSON_OBJECT) {
			e = read_event(s, j, p);
		} else {
			s->not_understood++;
			e = gt_json_skip(j, s->err);
		}
	}
	while ((!e || e == -ENODATA) && s->nopen) {
		int rc = put_unended(s);

		e = rc ? rc : e;
	}
	s->nopen = 0;
	return e;
}

/* ---- sampled profiles ---- */

/* A sample or a weight. Both arrays can be first in the file, so they wait in a sorter. */
struct record {
	uint64_t number; /* in its array */
	bool is_weight;
	int64_t value; /* the stack, or ns */
};

static bool comes_before(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return x->number != y->number ? x->number < y->number : x->is_weight < y->is_weight;
}

int gt_speedscope_sorter_init(struct gt_sorter *to, struct gt_err *err)
{
	return gt_sorter_init(to, sizeof(struct record), BUFFERED, comes_before, err);
}

static int add_record(struct gt_speedscope *s, struct gt_sorter *to, uint64_t number,
	bool is_weight, int64_t value)
{
	struct record *r = gt_sorter_add(to, s->err);

	if (!r)
		return s->err->code;
	*r = (struct record){ number, is_weight, value };
	return 0;
}

/* The string of a frame for stacks; GT_NONE: no memory. */
static uint32_t place_of(struct gt_speedscope *s, uint32_t frame)
{
	struct gt_speedscope_frame *f = &s->frames[frame];
	struct gt_frame of = {
		.function = f->name, .file = f->file, .line = f->line, .module = GT_NONE
	};
	struct gt_buf text = { 0 };
	uint32_t id = f->name;

	if (f->place)
		return f->place - 1;
	if (f->file != GT_NONE) {
		const char *file = gt_writer_text(s->w, f->file), *slash = strrchr(file, '/');

		gt_buf_printf(
			&text, "%s (%s", gt_writer_text(s->w, f->name), slash ? slash + 1 : file);
		if (f->line)
			gt_buf_printf(&text, ":%u", f->line);
		gt_buf_byte(&text, ')');
		id = text.failed ? GT_NONE
				 : gt_writer_string_n(s->w, (const char *)text.data, text.len);
		gt_buf_release(&text);
	}
	if (id == GT_NONE)
		return GT_NONE;
	f->place = id + 1;
	id = gt_writer_place(s->w, id, &of);
	f->place = id == GT_NONE ? f->place : id + 1;
	return f->place - 1;
}

/* Reads a stack, whose bracket the scanner has returned. Its id; GT_NONE: unknown. */
static int read_stack(struct gt_speedscope *s, struct gt_json *j, uint32_t *stack)
{
	bool left_out = false;
	uint32_t frame;
	size_t n = 0;
	int t;

	while ((t = gt_json_next(j, s->err)) != GT_JSON_ARRAY_END) {
		if (t < 0)
			return t;
		if (!read_frame(s, j, t, &frame)) {
			s->not_understood++;
			t = gt_json_skip(j, s->err);
			if (t < 0)
				return t;
		} else if (n < STACK_MAX) {
			if (gt_grow(&s->stack, &s->stack_cap, n + 1, sizeof(*s->stack)))
				return no_memory(s);
			s->stack[n] = place_of(s, frame);
			if (s->stack[n++] == GT_NONE)
				return no_memory(s);
		} else {
			left_out = true;
		}
	}
	left_out |= n && !gt_writer_has_name_space(s->w);
	s->stacks_left_out += left_out;
	*stack = n && gt_writer_has_name_space(s->w) ? gt_writer_stack(s->w, s->stack, n) : GT_NONE;
	return 0;
}

int gt_speedscope_samples(struct gt_speedscope *s, struct gt_json *j, struct gt_sorter *to)
{
	int t, e = 0;

	for (uint64_t n = 0; !e && (t = gt_json_next(j, s->err)) != GT_JSON_ARRAY_END; n++) {
		uint32_t stack = GT_NONE;

		if (t < 0)
			return t;
		if (t == GT_JSON_ARRAY) {
			e = read_stack(s, j, &stack);
			e = e ? e : add_record(s, to, n, false, stack);
		} else {
			s->not_understood++;
			e = gt_json_skip(j, s->err);
		}
	}
	return e;
}

int gt_speedscope_weights(struct gt_speedscope *s, struct gt_json *j,
	const struct gt_speedscope_profile *p, struct gt_sorter *to)
{
	int t, e = 0;

	for (uint64_t n = 0; !e && (t = gt_json_next(j, s->err)) != GT_JSON_ARRAY_END; n++) {
		int64_t ns;

		if (t < 0)
			return t;
		if (gt_speedscope_time(j, t, p->scale, &ns) && ns >= 0)
			e = add_record(s, to, n, true, ns);
		else
			e = gt_json_skip(j, s->err);
	}
	return e;
}

/* The weights are the time between a sample and the next one. A sample without a weight has no
 * time. */
int gt_speedscope_put_samples(struct gt_speedscope *s, int64_t start, struct gt_sorter *from)
{
	int64_t at = start;
	bool is_of_sample;
	struct record r, sample = { .number = UINT64_MAX };
	int more, e = 0;

	while (!e && (more = gt_sorter_next(from, &r, s->err)) > 0) {
		if (!r.is_weight) {
			s->no_time += sample.number != UINT64_MAX;
			sample = r;
			continue;
		}
		/* false: of an entry that is no stack, which was counted before */
		is_of_sample = sample.number == r.number;
		if (is_of_sample)
			sample.number = UINT64_MAX;
		if (at > GT_ROWS_TIME_MAX - r.value) {
			s->no_time += is_of_sample;
			continue;
		}
		if (is_of_sample)
			e = gt_profile_sample(s->rows, s->track, at, NULL, (uint64_t)r.value,
				(uint32_t)sample.value, s->err);
		at += r.value;
	}
	s->no_time += sample.number != UINT64_MAX;
	return e ? e : more < 0 ? more : 0;
}
