/* Reads an entry of PyTorch's flight recorder: its keys may have any order, and unknown ones are
 * skipped. Sizes and types of tensors become arguments as the file writes them ("[[1024,8]]");
 * those of the inputs also give the bytes of the message. A stack has its innermost frame first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/import/nccl/import_flight_recorder.h"

#define FRAMES_MAX 4096u
#define SIZES_TEXT 256u /* bytes of an argument with sizes or types; longer ones are cut */

static int no_memory(struct gt_err *err)
{
	return gt_err_set(err, -ENOMEM, "out of memory (import of a flight recorder's file)");
}

/* ---- tensors ---- */

/* Bytes of an element, by the name of its type (c10::toString); 0: unknown. */
static uint8_t bytes_of(const struct gt_json *j)
{
	static const struct {
		const char *name;
		uint8_t bytes;
	} types[] = { { "Float", 4 }, { "BFloat16", 2 }, { "Half", 2 }, { "Long", 8 }, { "Int", 4 },
		{ "Byte", 1 }, { "Char", 1 }, { "Short", 2 }, { "Double", 8 }, { "Bool", 1 },
		{ "ComplexHalf", 4 }, { "ComplexFloat", 8 }, { "ComplexDouble", 16 },
		{ "UInt16", 2 }, { "UInt32", 4 }, { "UInt64", 8 }, { "Float8_e5m2", 1 },
		{ "Float8_e4m3fn", 1 }, { "Float8_e5m2fnuz", 1 }, { "Float8_e4m3fnuz", 1 } };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (gt_json_is(j, types[i].name))
			return types[i].bytes;
	return 0;
}

uint64_t gt_flight_bytes(const struct gt_flight_tensors *t)
{
	uint64_t sum = 0, one;

	if (t->unknown || t->nsizes != t->ntypes)
		return 0;
	for (unsigned i = 0; i < t->nsizes; i++)
		if (!t->bytes[i] || __builtin_mul_overflow(t->elements[i], t->bytes[i], &one) ||
			__builtin_add_overflow(sum, one, &sum))
			return 0;
	return sum;
}

/* A token of the array of sizes or types; depth: brackets around it in that array. */
static void note_tensor(
	struct gt_flight_tensors *t, const struct gt_json *j, int token, unsigned depth)
{
	bool negative;
	uint64_t n;

	if (token == GT_JSON_STRING && depth == 1) {
		t->unknown |= t->ntypes == GT_FLIGHT_TENSORS;
		if (t->ntypes < GT_FLIGHT_TENSORS)
			t->bytes[t->ntypes++] = bytes_of(j);
	} else if (token == GT_JSON_ARRAY && depth == 2) {
		t->unknown |= t->nsizes == GT_FLIGHT_TENSORS;
		if (t->nsizes < GT_FLIGHT_TENSORS)
			t->elements[t->nsizes++] = 1;
	} else if (token == GT_JSON_INT && depth == 2 && t->nsizes) {
		uint64_t *of = &t->elements[t->nsizes - 1];

		t->unknown |= gt_json_magnitude(j->text, j->len, 0, &negative, &n) || negative ||
			__builtin_mul_overflow(*of, n, of);
	}
}

static void add_token(struct gt_buf *b, const struct gt_json *j, int token, bool comma)
{
	if (b->len > SIZES_TEXT)
		return;
	if (comma && token != GT_JSON_ARRAY_END)
		gt_buf_byte(b, ',');
	if (token == GT_JSON_ARRAY || token == GT_JSON_ARRAY_END)
		gt_buf_byte(b, token == GT_JSON_ARRAY ? '[' : ']');
	else if (token >= GT_JSON_STRING && token <= GT_JSON_REAL)
		gt_buf_add(b, j->text, j->len < SIZES_TEXT ? j->len : SIZES_TEXT);
	if (b->len > SIZES_TEXT) {
		b->len = SIZES_TEXT;
		gt_buf_str(b, "...");
	}
}

/* An array of sizes or types becomes an argument. t: NULL, or notes them. */
static int read_tensors(struct gt_flight *f, struct gt_flight_tensors *t, const char *key,
	int token, struct gt_err *err)
{
	unsigned top = f->j->depth - 1;
	struct gt_buf text = { 0 };
	bool comma = false;

	if (token != GT_JSON_ARRAY)
		return gt_json_skip(f->j, err);
	for (int next = token;; next = gt_json_next(f->j, err)) {
		if (next < 0) {
			gt_buf_release(&text);
			return next;
		}
		add_token(&text, f->j, next, comma);
		comma = next != GT_JSON_ARRAY;
		if (t)
			note_tensor(t, f->j, next, f->j->depth - top);
		if (f->j->depth == top)
			break;
	}
	if (text.len > 2)
		gt_rows_text(f->rows, key, (const char *)text.data, text.len);
	gt_buf_release(&text);
	return 0;
}

/* ---- the stack ---- */

struct frame {
	uint32_t name, file;
	int64_t line;
};

/* An object with name, filename and line, whose bracket the scanner has returned. */
static int read_frame(struct gt_flight *f, struct frame *to, struct gt_err *err)
{
	int t, e = 0;

	*to = (struct frame){ GT_NONE, GT_NONE, 0 };
	while (!e && (t = gt_json_next(f->j, err)) != GT_JSON_OBJECT_END) {
		bool name, file, line;

		if (t < 0)
			return t;
		name = gt_json_is(f->j, "name");
		file = gt_json_is(f->j, "filename");
		line = gt_json_is(f->j, "line");
		t = gt_json_next(f->j, err);
		if (t < 0)
			return t;
		if (t == GT_JSON_STRING && (name || file) && gt_writer_has_name_space(f->w))
			*(name ? &to->name : &to->file) =
				gt_writer_string_n(f->w, f->j->text, f->j->len);
		if (t == GT_JSON_INT && line && gt_json_scale(f->j->text, f->j->len, 0, &to->line))
			to->line = 0;
		e = gt_json_skip(f->j, err);
	}
	return e;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* The string id that stacks need: "step (train.py:88)". GT_NONE: it is unknown. */
static uint32_t place_of(struct gt_flight *f, const struct frame *from)
{
	struct gt_frame frame = { .function = from->name,
		.file = from->file,
		.module = GT_NONE,
		.line = from->line > 0 && from->line <= UINT32_MAX ? (uint32_t)from->line : 0,
		.kind = GT_FRAME_NATIVE };
	const char *file, *base;
	char text[512];
	uint32_t id, place;

	if (from->name == GT_NONE || from->file == GT_NONE)
		return from->name;
	file = gt_writer_text(f->w, from->file);
	base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	if (ends_with(file, ".py") || *file == '<')
		frame.kind = GT_FRAME_PYTHON;
	snprintf(text, sizeof(text), "%.300s (%.150s:%u)", gt_writer_text(f->w, from->name), base,
		frame.line);
	id = gt_writer_string(f->w, text);
	place = id == GT_NONE ? id : gt_writer_place(f->w, id, &frame);
	return place == GT_NONE ? id : place;
}

static int read_frames(
	struct gt_flight *f, struct gt_flight_entry *e, int token, struct gt_err *err)
{
	struct gt_flight_frames *s = &f->frames;
	int t, rc = 0;

	s->n = 0;
	if (token != GT_JSON_ARRAY)
		return gt_json_skip(f->j, err);
	while (!rc && (t = gt_json_next(f->j, err)) != GT_JSON_ARRAY_END) {
		struct frame one;
		uint32_t id;

		if (t < 0)
			return t;
		if (t != GT_JSON_OBJECT) {
			rc = gt_json_skip(f->j, err);
			continue;
		}
		rc = read_frame(f, &one, err);
		id = rc ? GT_NONE : place_of(f, &one);
		if (id == GT_NONE || s->n == FRAMES_MAX)
			continue;
		if (gt_grow(&s->ids, &s->cap, s->n + 1, sizeof(*s->ids)))
			return no_memory(err);
		s->ids[s->n++] = id;
	}
	for (size_t i = 0; i < s->n / 2; i++) {
		uint32_t other = s->ids[s->n - 1 - i];

		s->ids[s->n - 1 - i] = s->ids[i];
		s->ids[i] = other;
	}
	e->stack = s->n && !rc ? gt_writer_stack(f->w, s->ids, s->n) : GT_NONE;
	return rc;
}

/* ---- the keys ---- */

static const struct {
	const char *key;
	enum gt_flight_int which;
} ints[] = {
	{ "record_id", GT_FLIGHT_RECORD },
	{ "pg_id", GT_FLIGHT_GROUP },
	{ "collective_seq_id", GT_FLIGHT_COLLECTIVE },
	{ "seq_id", GT_FLIGHT_COLLECTIVE }, /* of PyTorch 2.2 and 2.3 */
	{ "p2p_seq_id", GT_FLIGHT_P2P },
	{ "op_id", GT_FLIGHT_OP },
	{ "time_created_ns", GT_FLIGHT_CREATED },
	{ "time_discovered_started_ns", GT_FLIGHT_FOUND_STARTED },
	{ "time_discovered_completed_ns", GT_FLIGHT_FOUND_COMPLETED },
	{ "timeout_ms", GT_FLIGHT_TIMEOUT },
};

static void set_int(struct gt_flight_entry *e, enum gt_flight_int which, const struct gt_json *j)
{
	int64_t v;

	if (gt_json_scale(j->text, j->len, 0, &v))
		return;
	e->ints[which] = v;
	e->has |= 1u << which;
}

/* "nccl:send 0->1" is nccl:send for the GPU: names of kernels of several GPUs are compared. */
static int set_name(struct gt_flight *f, struct gt_flight_entry *e, struct gt_err *err)
{
	const char *space = memchr(f->j->text, ' ', f->j->len);
	size_t len = f->j->len, first = space ? (size_t)(space - f->j->text) : len;

	snprintf(e->text, sizeof(e->text), "%.*s", (int)(len < 95 ? len : 95), f->j->text);
	e->is_nccl = len > 5 && !memcmp(f->j->text, "nccl:", 5);
	e->name = gt_rows_name(f->rows, f->j->text, len, GT_IMPORT_NCCL_HOST, err);
	if (e->name >= 0)
		e->short_name = gt_rows_name(f->rows, f->j->text, first, GT_IMPORT_NCCL_GPU, err);
	return e->name < 0 || e->short_name < 0 ? err->code : 0;
}

static int set_string(
	struct gt_flight *f, struct gt_flight_entry *e, const char *key, struct gt_err *err)
{
	static const char *const states[] = { "", "scheduled", "started", "completed" };

	if (!strcmp(key, "profiling_name"))
		return set_name(f, e, err);
	if (!strcmp(key, "state")) {
		for (unsigned i = 1; i < sizeof(states) / sizeof(*states); i++)
			if (gt_json_is(f->j, states[i]))
				e->state = (enum gt_flight_state)i;
		gt_rows_text(f->rows, "state", f->j->text, f->j->len);
	} else if (!strcmp(key, "thread_name") && f->j->len) {
		gt_rows_text(f->rows, "thread_name", f->j->text, f->j->len);
	}
	return 0;
}

/* ["name", "description"]. */
static int read_group(struct gt_flight *f, struct gt_flight_entry *e, int token, struct gt_err *err)
{
	static const char *const keys[] = { "Process Group Name", "Process Group Description" };
	unsigned n = 0;
	int t, rc = 0;

	if (token != GT_JSON_ARRAY)
		return gt_json_skip(f->j, err);
	while (!rc && (t = gt_json_next(f->j, err)) != GT_JSON_ARRAY_END) {
		if (t < 0)
			return t;
		if (t == GT_JSON_STRING && n < 2) {
			snprintf(n ? e->description : e->group, sizeof(e->group), "%.*s",
				(int)(f->j->len < 100 ? f->j->len : 100), f->j->text);
			if (f->j->len)
				gt_rows_text(f->rows, keys[n], f->j->text, f->j->len);
		}
		n++;
		rc = gt_json_skip(f->j, err);
	}
	return rc;
}

/* token: the first one of the value. */
static int read_value(struct gt_flight *f, struct gt_flight_entry *e, const char *key, int token,
	struct gt_err *err)
{
	if (!strcmp(key, "frames"))
		return read_frames(f, e, token, err);
	if (!strcmp(key, "process_group"))
		return read_group(f, e, token, err);
	if (!strcmp(key, "input_sizes") || !strcmp(key, "input_dtypes"))
		return read_tensors(f, &e->inputs, key, token, err);
	if (!strcmp(key, "output_sizes") || !strcmp(key, "output_dtypes"))
		return read_tensors(f, NULL, key, token, err);
	if (token == GT_JSON_STRING)
		return set_string(f, e, key, err);
	if (token == GT_JSON_TRUE || token == GT_JSON_FALSE) {
		e->is_p2p |= !strcmp(key, "is_p2p") && token == GT_JSON_TRUE;
		if (!strcmp(key, "retired"))
			gt_rows_value(f->rows, key, GT_F_BOOL, token == GT_JSON_TRUE);
	}
	if ((token == GT_JSON_INT || token == GT_JSON_REAL) && !strcmp(key, "duration_ms") &&
		(gt_json_scale(f->j->text, f->j->len, 6, &e->duration) || e->duration < 0))
		e->duration = -1;
	for (size_t i = 0; token == GT_JSON_INT && i < sizeof(ints) / sizeof(*ints); i++)
		if (!strcmp(key, ints[i].key))
			set_int(e, ints[i].which, f->j);
	return gt_json_skip(f->j, err);
}

int gt_flight_read(struct gt_flight *f, struct gt_flight_entry *e, struct gt_err *err)
{
	int t, rc = 0;

	*e = (struct gt_flight_entry){
		.duration = -1, .name = -1, .short_name = -1, .stack = GT_NONE
	};
	gt_rows_no_args(f->rows);
	while (!rc && (t = gt_json_next(f->j, err)) != GT_JSON_OBJECT_END) {
		char key[40] = "";

		if (t < 0)
			return t;
		if (f->j->len < sizeof(key))
			memcpy(key, f->j->text, f->j->len);
		t = gt_json_next(f->j, err);
		if (t < 0)
			return t;
		rc = read_value(f, e, key, t, err);
	}
	return rc;
}
