/* Call stacks in Chrome JSON: an event has the number of its innermost frame as "sf", and the
 * object stackFrames has each frame with its name, category and outer frame ("parent"). It may
 * stand before the events or behind them.
 *
 * Rows need numbers of stacks before the frames are known. So stacks are numbered in the order in
 * which events name them, and defined in that order when all is read.
 *
 * gtexport --chrome writes names as gt shows them; function, file, line and library are read out of
 * them again. */
#include "formats/import/kineto/import_kineto.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/trace/record.h"

#define STACKS_MAX (1u << 20) /* and frames: 40 MiB */
#define DEEPEST 4096u         /* frames of a stack; also ends a cycle */
#define TOTAL_MAX (8u << 20)  /* frames of all stacks: 32 MiB */

struct gt_kineto_frame {
	uint64_t id, parent; /* parent: id, if it has one */
	uint32_t text;       /* string id, or GT_NONE */
	uint32_t place;      /* the string id for stacks plus 1; 0: not described yet */
	uint8_t kind;
	bool has_parent;
};

uint32_t gt_kineto_stack(struct gt_kineto *k, uint64_t frame)
{
	struct gt_kineto_stacks *s = &k->stacks;
	uint32_t i =
		gt_map_find_item(&s->leaf_map, s->leaves, sizeof(frame), &frame, sizeof(frame));

	if (i == GT_NONE && s->nleaves < STACKS_MAX)
		i = gt_map_add_item(&s->leaf_map, &s->leaves, &s->nleaves, &s->leaves_cap,
			sizeof(frame), &frame, sizeof(frame));
	return i + 1;
}

/* ---- frames ---- */

uint64_t gt_kineto_frame_id(const struct gt_json *j, int token)
{
	uint64_t v;
	bool negative;

	if ((token == GT_JSON_INT || token == GT_JSON_STRING || token == GT_JSON_KEY) &&
		!gt_json_magnitude(j->text, j->len, 0, &negative, &v) && !negative)
		return v;
	return gt_hash(j->text, j->len) | 1ull << 63;
}

static void read_member(
	struct gt_kineto *k, struct gt_json *j, const char *key, int t, struct gt_kineto_frame *to)
{
	char word[16] = "";

	if (!strcmp(key, "name") && t == GT_JSON_STRING && gt_writer_has_name_space(k->w))
		to->text = gt_writer_string_n(k->w, j->text, j->len);
	if (!strcmp(key, "category") && t == GT_JSON_STRING && j->len < sizeof(word)) {
		memcpy(word, j->text, j->len);
		to->kind = (uint8_t)(gt_word_find(gt_frame_kind_word, word) > 0
				? gt_word_find(gt_frame_kind_word, word)
				: GT_FRAME_UNKNOWN);
	}
	if (!strcmp(key, "parent") && (t == GT_JSON_STRING || t == GT_JSON_INT)) {
		to->parent = gt_kineto_frame_id(j, t);
		to->has_parent = true;
	}
}

/* Reads a frame, whose bracket the scanner has returned. */
static int read_frame(
	struct gt_kineto *k, struct gt_json *j, struct gt_kineto_frame *to, struct gt_err *err)
{
	int t, e = 0;

	while (!e && (t = gt_json_next(j, err)) != GT_JSON_OBJECT_END) {
		char key[16] = "";

		if (t < 0)
			return t;
		if (j->len < sizeof(key))
			memcpy(key, j->text, j->len);
		t = gt_json_next(j, err);
		if (t < 0)
			return t;
		read_member(k, j, key, t, to);
		e = gt_json_skip(j, err);
	}
	return e;
}

int gt_kineto_frames(struct gt_kineto *k, struct gt_json *j, int token, struct gt_err *err)
{
	struct gt_kineto_stacks *s = &k->stacks;
	int t, e = 0;

	if (token != GT_JSON_OBJECT)
		return gt_json_skip(j, err);
	while (!e && (t = gt_json_next(j, err)) != GT_JSON_OBJECT_END) {
		struct gt_kineto_frame one = { .text = GT_NONE };

		if (t < 0)
			return t;
		one.id = gt_kineto_frame_id(j, t);
		t = gt_json_next(j, err);
		if (t != GT_JSON_OBJECT) {
			e = t < 0 ? t : gt_json_skip(j, err);
			continue;
		}
		e = read_frame(k, j, &one, err);
		if (!e && s->nframes < STACKS_MAX &&
			gt_map_find_item(&s->frame_map, s->frames, sizeof(one), &one.id,
				sizeof(one.id)) == GT_NONE &&
			gt_map_add_item(&s->frame_map, &s->frames, &s->nframes, &s->frames_cap,
				sizeof(one), &one, sizeof(one.id)) == GT_NONE)
			e = gt_kineto_no_memory(err);
	}
	return e;
}

uint64_t gt_kineto_add_frame(
	struct gt_kineto *k, uint64_t parent, uint32_t text, enum gt_frame_kind kind)
{
	struct gt_kineto_stacks *s = &k->stacks;
	uint64_t key[] = { parent, (uint64_t)text << 8 | kind };
	struct gt_kineto_frame one = { .id = gt_hash(key, sizeof(key)) | 1,
		.parent = parent,
		.text = text,
		.kind = (uint8_t)kind,
		.has_parent = parent != 0 };
	uint32_t i =
		gt_map_find_item(&s->frame_map, s->frames, sizeof(one), &one.id, sizeof(one.id));

	if (i == GT_NONE && s->nframes < STACKS_MAX)
		i = gt_map_add_item(&s->frame_map, &s->frames, &s->nframes, &s->frames_cap,
			sizeof(one), &one, sizeof(one.id));
	return i == GT_NONE ? 0 : one.id;
}

/* ---- descriptions ---- */

static uint32_t part(struct gt_kineto *k, const char *from, size_t n)
{
	return gt_writer_string_n(k->w, from, n);
}

/* "step (app/train.py:88)", "gemm (libblas.so.3)", "gemm (src/blas.f:40)", "libblas.so.3+0x1f" */
static void describe(struct gt_kineto *k, const char *name, struct gt_frame *to)
{
	const char *open = strrchr(name, '('), *colon = strrchr(name, ':'), *plus;
	size_t n = strlen(name), line = 0;

	if (open && open > name + 1 && open[-1] == ' ' && name[n - 1] == ')') {
		to->function = part(k, name, (size_t)(open - 1 - name));
		if (colon > open)
			line = strspn(colon + 1, "0123456789");
		if (line && line < 10 && !strcmp(colon + 1 + line, ")")) {
			to->file = part(k, open + 1, (size_t)(colon - open - 1));
			to->line = (uint32_t)strtoul(colon + 1, NULL, 10);
		} else if (to->kind == GT_FRAME_NATIVE) {
			to->module = part(k, open + 1, (size_t)(name + n - 1 - open - 1));
		} else {
			to->file = part(k, open + 1, (size_t)(name + n - 1 - open - 1));
		}
		return;
	}
	plus = strstr(name, "+0x");
	if (to->kind == GT_FRAME_NATIVE && plus && plus > name) {
		to->module = part(k, name, (size_t)(plus - name));
		to->offset = strtoull(plus + 1, NULL, 16);
	}
}

/* The string id that stacks need for a frame. GT_NONE: no memory. */
static uint32_t place_of(struct gt_kineto *k, struct gt_kineto_frame *f)
{
	struct gt_frame frame = {
		.kind = f->kind, .function = GT_NONE, .file = GT_NONE, .module = GT_NONE
	};
	char *name;

	if (f->place)
		return f->place - 1;
	if (f->text == GT_NONE)
		f->text = k->nameless;
	/* a copy: new strings move the old ones */
	name = strdup(gt_writer_text(k->w, f->text));
	if (!name)
		return GT_NONE;
	f->place = f->text + 1;
	if (f->kind == GT_FRAME_PYTHON || f->kind == GT_FRAME_NATIVE)
		describe(k, name, &frame);
	if (f->kind != GT_FRAME_UNKNOWN) {
		uint32_t place = gt_writer_place(k->w, f->text, &frame);

		f->place = (place == GT_NONE ? f->text : place) + 1;
	}
	free(name);
	return f->place - 1;
}

/* ---- stacks ---- */

/* Puts the stack of this leaf at the end of `frames`. Returns its depth, or -ENOMEM. */
static int collect_frames(
	struct gt_kineto *k, uint64_t leaf, uint32_t frames[DEEPEST], struct gt_err *err)
{
	struct gt_kineto_stacks *s = &k->stacks;
	uint32_t n = 0;

	for (uint64_t id = leaf; n < DEEPEST;) {
		uint32_t i = gt_map_find_item(
			&s->frame_map, s->frames, sizeof(*s->frames), &id, sizeof(id));

		if (i == GT_NONE)
			break;
		frames[DEEPEST - ++n] = place_of(k, &s->frames[i]);
		if (frames[DEEPEST - n] == GT_NONE)
			return gt_kineto_no_memory(err);
		if (!s->frames[i].has_parent)
			break;
		id = s->frames[i].parent;
	}
	return (int)n;
}

/* At a limit of the frames or of the memory for names, this stack and all later ones stay unknown:
 * their numbers follow each other. */
int gt_kineto_stacks_finish(struct gt_kineto *k, struct gt_err *err)
{
	struct gt_kineto_stacks *s = &k->stacks;
	uint32_t *frames = s->nleaves ? malloc(DEEPEST * sizeof(*frames)) : NULL;
	int n = s->nleaves && !frames ? gt_kineto_no_memory(err) : 0;
	size_t i = 0, total = 0;

	for (; n >= 0 && i < s->nleaves; i++) {
		n = collect_frames(k, s->leaves[i], frames, err);
		if (n < 0)
			break;
		total += (size_t)n;
		if (total > TOTAL_MAX ||
			gt_writer_next_stack(k->w, frames + DEEPEST - n, (size_t)n) == GT_NONE)
			break;
	}
	k->counts.stacks_left_out = s->nleaves - i;
	free(frames);
	return n < 0 ? n : 0;
}

void gt_kineto_stacks_release(struct gt_kineto_stacks *s)
{
	gt_map_release(&s->leaf_map);
	gt_map_release(&s->frame_map);
	free(s->leaves);
	free(s->frames);
}
