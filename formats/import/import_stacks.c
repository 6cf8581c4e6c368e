/* Call stacks in the lines of gtexport --jsonl (export_jsonl.c). */
#include "formats/import/import_rows_internal.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 4096u

struct frame_text {
	uint32_t text; /* GT_NONE: not read yet */
	struct gt_frame frame;
};

static uint32_t intern(struct gt_import_rows *r, const struct gt_json *j)
{
	return gt_rows_intern(r, j->text, j->len, GT_ROWS_TEXT);
}

static uint8_t kind_of(const struct gt_json *j)
{
	char word[24] = "";
	int kind;

	if (j->len < sizeof(word))
		memcpy(word, j->text, j->len);
	kind = gt_word_find(gt_frame_kind_word, word);
	return kind > 0 ? (uint8_t)kind : GT_FRAME_UNKNOWN;
}

static void set_string(
	struct gt_import_rows *r, struct gt_json *j, const char *key, struct frame_text *to)
{
	if (!strcmp(key, "text"))
		to->text = intern(r, j);
	else if (!strcmp(key, "kind"))
		to->frame.kind = kind_of(j);
	else if (!strcmp(key, "function"))
		to->frame.function = intern(r, j);
	else if (!strcmp(key, "file"))
		to->frame.file = intern(r, j);
	else if (!strcmp(key, "module"))
		to->frame.module = intern(r, j);
	else if (!strcmp(key, "address") && j->len > 2 && j->len < 20) {
		char text[20] = "";

		memcpy(text, j->text, j->len);
		to->frame.offset = strtoull(text, NULL, 16);
	}
}

/* Reads an object whose bracket the scanner has returned. 0 or negative. */
static int read_frame(
	struct gt_import_rows *r, struct gt_json *j, struct frame_text *to, struct gt_err *err)
{
	int token, e = 0;

	*to = (struct frame_text){ .text = GT_NONE,
		.frame = { .function = GT_NONE, .file = GT_NONE, .module = GT_NONE } };
	while (!e && (token = gt_json_next(j, err)) != GT_JSON_OBJECT_END) {
		char key[16] = "";
		int64_t line = 0;

		if (token < 0)
			return token;
		if (j->len < sizeof(key))
			memcpy(key, j->text, j->len);
		token = gt_json_next(j, err);
		if (token < 0)
			return token;
		if (token == GT_JSON_STRING)
			set_string(r, j, key, to);
		else if (token == GT_JSON_INT && !strcmp(key, "line") &&
			!gt_json_scale(j->text, j->len, 0, &line) && line > 0 && line <= UINT32_MAX)
			to->frame.line = (uint32_t)line;
		e = gt_json_skip(j, err);
	}
	return e;
}

/* The string id for stacks. */
static uint32_t id_of(struct gt_import_rows *r, const struct frame_text *f)
{
	uint32_t id = f->frame.kind ? gt_writer_place(r->w, f->text, &f->frame) : f->text;

	return id == GT_NONE ? f->text : id;
}

int gt_rows_frames(struct gt_import_rows *r, struct gt_json *j, uint32_t *stack, struct gt_err *err)
{
	uint32_t *frames = NULL;
	size_t n = 0, cap = 0;
	int token, e = 0;

	while (!e && (token = gt_json_next(j, err)) != GT_JSON_ARRAY_END) {
		struct frame_text one;

		e = token < 0 ? token : 0;
		if (!e && token != GT_JSON_OBJECT) {
			e = gt_json_skip(j, err);
			continue;
		}
		if (!e)
			e = read_frame(r, j, &one, err);
		if (e || one.text == GT_NONE || n == FRAMES_MAX)
			continue;
		if (gt_grow(&frames, &cap, n + 1, sizeof(*frames)))
			e = gt_rows_no_memory(err);
		else
			frames[n++] = id_of(r, &one);
	}
	*stack = e ? GT_NONE : gt_writer_stack(r->w, frames, n);
	free(frames);
	return e;
}

int gt_rows_define_stack(
	struct gt_import_rows *r, uint64_t number, uint32_t stack, struct gt_err *err)
{
	struct gt_import_stack new = { number, stack };

	if (gt_map_find_item(&r->stack_map, r->stacks, sizeof(new), &number, sizeof(number)) ==
			UINT32_MAX &&
		gt_map_add_item(&r->stack_map, &r->stacks, &r->nstacks, &r->stacks_cap, sizeof(new),
			&new, sizeof(number)) == UINT32_MAX)
		return gt_rows_no_memory(err);
	return 0;
}

void gt_rows_translate_stack(struct gt_import_rows *r)
{
	struct gt_rows_arg a;

	for (unsigned i = 0; r->nstacks && gt_rows_arg(r, i, &a); i++) {
		uint32_t at;

		if (a.kind != GT_F_U64 || strcmp(a.key, GT_ROWS_STACK))
			continue;
		at = gt_map_find_item(
			&r->stack_map, r->stacks, sizeof(*r->stacks), &a.value, sizeof(a.value));
		gt_rows_set_arg(r, i, GT_ROWS_STACK, GT_F_U64,
			at == UINT32_MAX ? GT_NONE : r->stacks[at].stack);
	}
}
