/* Call stacks of a memory snapshot: lists of frames, the innermost first, each a dict of name,
 * filename and line. Events share frames, and blocks share the stacks of their events: each object
 * of the pickle is read once. */
#define _GNU_SOURCE
#include <string.h>
#include "formats/base/buf.h"
#include "formats/import/torch/import_torch_memory.h"

#define FRAMES_MAX 1024u /* of a stack; outer ones are left out */

struct frame_parts {
	const char *name, *file;
	size_t name_len, file_len;
	int64_t line;
};

static int read_frame(struct gt_pickle_cursor *c, struct frame_parts *f, struct gt_err *err)
{
	const char *key;
	size_t len;
	int token;

	while ((token = gt_pickle_pair(c, &key, &len, err)) > 0) {
		if (gt_pickle_is(key, len, "name")) {
			gt_torch_text(token, c, &f->name, &f->name_len);
		} else if (gt_pickle_is(key, len, "filename")) {
			gt_torch_text(token, c, &f->file, &f->file_len);
		} else if (gt_pickle_is(key, len, "line")) {
			gt_torch_integer(token, c, &f->line);
		}
		gt_pickle_skip(c);
	}
	return token;
}

static bool ends_with(const char *s, size_t len, const char *end)
{
	return len >= strlen(end) && !memcmp(s + len - strlen(end), end, strlen(end));
}

/* Python's files end in .py, or have a name like <string>. */
static bool is_python(const struct frame_parts *f)
{
	return ends_with(f->file, f->file_len, ".py") || (f->file_len && f->file[0] == '<');
}

/* Does the frame belong to the recording of the stack, and not to the program? */
static bool is_recording(const struct frame_parts *f)
{
	static const char *const words[] = { "unwind::unwind", "CapturedTraceback::gather",
		"gather_with_cpp" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (memmem(f->name, f->name_len, words[i], strlen(words[i])))
			return true;
	return false;
}

/* The last two components of a path. */
static const char *end_of_path(const char *path, size_t len)
{
	const char *p = path + len;

	for (unsigned parts = 2; p > path && (p[-1] != '/' || --parts); p--)
		;
	return p;
}

/* The string id that stacks need for the frame: "step (app/train.py:88)". */
static uint32_t place_of(struct gt_torch_import *t, const struct frame_parts *f)
{
	bool known = f->file_len && !(f->file_len == 2 && !memcmp(f->file, "??", 2));
	const char *file = end_of_path(f->file, f->file_len);
	struct gt_frame frame = { .function = GT_NONE, .file = GT_NONE, .module = GT_NONE };
	struct gt_buf text = { 0 };
	uint32_t id = GT_NONE, place;

	gt_buf_add(&text, f->name, f->name_len);
	if (known)
		gt_buf_printf(&text, " (%.*s", (int)(f->file + f->file_len - file), file);
	if (known && f->line > 0)
		gt_buf_printf(&text, ":%lld", (long long)f->line);
	if (known)
		gt_buf_byte(&text, ')');
	if (!text.failed && text.len)
		id = gt_writer_string_n(t->w, (const char *)text.data, text.len);
	gt_buf_release(&text);
	if (id == GT_NONE || !f->name_len)
		return id;
	frame.kind = is_python(f) ? GT_FRAME_PYTHON : GT_FRAME_NATIVE;
	frame.function = gt_writer_string_n(t->w, f->name, f->name_len);
	frame.file = known ? gt_writer_string_n(t->w, f->file, f->file_len) : GT_NONE;
	frame.line = f->line > 0 && f->line < UINT32_MAX ? (uint32_t)f->line : 0;
	place = gt_writer_place(t->w, id, &frame);
	return place == GT_NONE ? id : place;
}

static int add_number(struct gt_map *map, struct gt_torch_number **list, size_t *n, size_t *cap,
	gt_pickle_value value, uint32_t id, struct gt_err *err)
{
	struct gt_torch_number new = { value, id };

	return gt_map_add_item(map, list, n, cap, sizeof(new), &new, sizeof(value)) == UINT32_MAX
		? gt_torch_no_memory(err)
		: 0;
}

/* The cursor is behind the bracket of a frame. *id: GT_NONE: the frame is left out. */
static int frame_id(
	struct gt_torch_import *t, struct gt_pickle_cursor *c, uint32_t *id, struct gt_err *err)
{
	gt_pickle_value value = c->value;
	uint32_t i = gt_map_find_item(
		&t->frame_map, t->frames, sizeof(*t->frames), &value, sizeof(value));
	struct frame_parts f = { .name = "", .file = "" };
	int e;

	if (i != UINT32_MAX) {
		*id = t->frames[i].id;
		gt_pickle_skip(c);
		return 0;
	}
	e = read_frame(c, &f, err);
	if (e)
		return e;
	*id = is_recording(&f) ? GT_NONE : place_of(t, &f);
	return add_number(&t->frame_map, &t->frames, &t->nframes, &t->frames_cap, value, *id, err);
}

static int read_stack(
	struct gt_torch_import *t, gt_pickle_value list, uint32_t *stack, struct gt_err *err)
{
	uint32_t frames[FRAMES_MAX], n = 0;
	struct gt_pickle_cursor c;
	int token, e = 0;

	gt_pickle_open(&c, t->pickle, list);
	token = gt_pickle_next(&c, err);
	if (token != GT_JSON_ARRAY)
		return token < 0 ? token : 0;
	while (!e && n < FRAMES_MAX && (token = gt_pickle_element(&c, err)) > 0) {
		uint32_t id = GT_NONE;

		if (token == GT_JSON_OBJECT)
			e = frame_id(t, &c, &id, err);
		gt_pickle_skip(&c);
		if (id != GT_NONE)
			frames[FRAMES_MAX - ++n] = id;
	}
	if (e || token < 0)
		return e ? e : token;
	*stack = n ? gt_writer_stack(t->w, frames + FRAMES_MAX - n, n) : GT_NONE;
	t->stacks_left_out += n && *stack == GT_NONE;
	return 0;
}

int gt_torch_stack(
	struct gt_torch_import *t, gt_pickle_value frames, uint32_t *stack, struct gt_err *err)
{
	uint32_t i;
	int e;

	*stack = GT_NONE;
	if (frames == GT_TORCH_NO_VALUE)
		return 0;
	i = gt_map_find_item(&t->stack_map, t->stacks, sizeof(*t->stacks), &frames, sizeof(frames));
	if (i != UINT32_MAX) {
		*stack = t->stacks[i].id;
		return 0;
	}
	e = read_stack(t, frames, stack, err);
	if (e)
		return e;
	return add_number(
		&t->stack_map, &t->stacks, &t->nstacks, &t->stacks_cap, frames, *stack, err);
}
