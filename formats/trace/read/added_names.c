#include "formats/trace/read/added_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/trace/read/reader_internal.h"

#define DEPTH_MAX 4096u /* of a stack; one that would become deeper has no inlined functions */

static void (*add_names)(struct gt_seg *, void *);
static void *add_names_arg;

void gt_reader_set_names(void (*add)(struct gt_seg *seg, void *arg), void *arg)
{
	add_names = add;
	add_names_arg = arg;
}

const struct gt_segment *gt_seg_segment(const struct gt_seg *seg) { return &seg->pub; }

/* They have a limit of their own, so that they never keep names of the file from being read. 0 or
 * -E2BIG. */
static int charge(struct gt_added_names *a, uint64_t bytes)
{
	if (a->reader->added_memory + bytes > GT_NAME_MEMORY_MAX)
		return -E2BIG;
	a->reader->added_memory += bytes;
	a->memory += bytes;
	return 0;
}

/* ---- strings ---- */

uint32_t gt_seg_add_string(struct gt_seg *seg, const char *s)
{
	struct gt_added_names *a = seg->added;
	size_t len = strlen(s);
	char *copy;

	if (len > UINT16_MAX || seg->pub.nstrings >= GT_DICT_MAX ||
		charge(a, GT_NAME_MEMORY_STRING(len)) ||
		gt_grow(&seg->strings, &seg->strings_cap, seg->pub.nstrings + 1ul,
			sizeof(*seg->strings)) ||
		!(copy = malloc(len + 1)))
		return GT_NONE;
	memcpy(copy, s, len + 1);
	seg->strings[seg->pub.nstrings] = (struct gt_string){ copy, (uint32_t)len };
	seg->pub.strings = seg->strings;
	return seg->pub.nstrings++;
}

static void drop_strings(struct gt_seg *seg)
{
	while (seg->pub.nstrings > seg->added->nstrings)
		free((void *)seg->strings[--seg->pub.nstrings].ptr);
}

/* ---- frames ---- */

static const char *text_of(const void *arg, uint32_t id)
{
	return gt_str(&((const struct gt_seg *)arg)->pub, id);
}

/* Copies the frames of the file before the first change. */
static int save_frames(struct gt_seg *seg)
{
	struct gt_added_names *a = seg->added;

	if (a->frames)
		return 0;
	a->frames = malloc(seg->pub.nframes * sizeof(*a->frames) + 1);
	if (!a->frames)
		return -ENOMEM;
	a->nframes = seg->pub.nframes;
	if (a->nframes)
		memcpy(a->frames, seg->frames, a->nframes * sizeof(*a->frames));
	return 0;
}

int gt_seg_set_frame(struct gt_seg *seg, uint32_t text, const struct gt_frame *f)
{
	struct gt_text_frame new = { .text = text, .frame = *f };
	uint32_t i = gt_map_find_item(
		&seg->pub.frame_map, seg->frames, sizeof(new), &text, sizeof(text));
	size_t have = seg->pub.nframes;
	int rc = save_frames(seg);

	if (!rc)
		rc = gt_frame_files_add_frame(&seg->frame_files, f, text_of, seg);
	if (rc)
		return rc;
	if (i != GT_NONE) {
		seg->frames[i] = new;
		return 0;
	}
	if (charge(seg->added, GT_NAME_MEMORY_FRAME) ||
		gt_map_add_item(&seg->pub.frame_map, &seg->frames, &have, &seg->frames_cap,
			sizeof(new), &new, sizeof(text)) == GT_NONE)
		return -ENOMEM;
	seg->pub.nframes = (uint32_t)have;
	seg->pub.frames = seg->frames;
	seg->pub.frame_files = seg->frame_files;
	return 0;
}

/* Without memory for the map, frames of the file are missing from it: their texts remain. */
static void drop_frames(struct gt_seg *seg)
{
	struct gt_added_names *a = seg->added;
	size_t n = 0;

	if (!a->frames)
		return;
	gt_map_clear(&seg->pub.frame_map);
	gt_frame_files_free(seg->frame_files);
	seg->frame_files = NULL;
	for (uint32_t i = 0; i < a->nframes; i++) {
		gt_map_add_item(&seg->pub.frame_map, &seg->frames, &n, &seg->frames_cap,
			sizeof(*seg->frames), &a->frames[i], sizeof(a->frames[i].text));
		gt_frame_files_add_frame(&seg->frame_files, &a->frames[i].frame, text_of, seg);
	}
	seg->pub.nframes = (uint32_t)n;
	seg->pub.frame_files = seg->frame_files;
}

/* ---- inlined functions ---- */

int gt_seg_set_inlined(struct gt_seg *seg, uint32_t text, const uint32_t *frames, uint32_t n)
{
	return charge(seg->added, GT_NAME_MEMORY_STACK(n))
		? -ENOMEM
		: gt_inlined_table_add(&seg->added->inlined, text, frames, n);
}

int gt_inlined_table_add(
	struct gt_inlined_table *t, uint32_t text, const uint32_t *frames, uint32_t n)
{
	struct gt_inlined new = { text, n, t->ninner };

	if (gt_map_find_item(&t->map, t->items, sizeof(new), &text, sizeof(text)) != GT_NONE)
		return 0;
	if (gt_grow(&t->inner, &t->inner_cap, t->ninner + n, sizeof(*t->inner)) ||
		gt_map_add_item(&t->map, &t->items, &t->n, &t->cap, sizeof(new), &new,
			sizeof(text)) == GT_NONE)
		return -ENOMEM;
	memcpy(t->inner + t->ninner, frames, n * sizeof(*frames));
	t->ninner += n;
	return 0;
}

void gt_inlined_table_release(struct gt_inlined_table *t)
{
	free(t->items);
	free(t->inner);
	gt_map_release(&t->map);
}

/* The functions inlined into the frame with this text, and their number. */
static uint32_t inlined_in(const struct gt_seg *seg, uint32_t text, const uint32_t **frames)
{
	const struct gt_inlined_table *tables[] = { &seg->inlined, &seg->added->inlined };

	for (size_t k = 0; k < 2; k++) {
		const struct gt_inlined_table *t = tables[k];
		uint32_t i =
			gt_map_find_item(&t->map, t->items, sizeof(*t->items), &text, sizeof(text));

		if (i != GT_NONE) {
			*frames = t->inner + t->items[i].first;
			return t->items[i].n;
		}
	}
	return 0;
}

/* The stack with the inlined functions; its own frames if there is nothing to add. */
static struct gt_stack expand(const struct gt_seg *seg, struct gt_stack s)
{
	uint32_t n = s.n, *frames;
	const uint32_t *inner;

	for (uint32_t i = 0; i < s.n && n <= DEPTH_MAX; i++)
		n += inlined_in(seg, s.frames[i], &inner);
	if (n == s.n || n > DEPTH_MAX || charge(seg->added, GT_NAME_MEMORY_STACK(n)) ||
		!(frames = malloc(n * sizeof(*frames))))
		return s;
	n = 0;
	for (uint32_t i = 0; i < s.n; i++) {
		uint32_t more = inlined_in(seg, s.frames[i], &inner);

		frames[n++] = s.frames[i];
		if (more)
			memcpy(frames + n, inner, more * sizeof(*frames));
		n += more;
	}
	return (struct gt_stack){ frames, n };
}

static void expand_stacks(struct gt_seg *seg)
{
	struct gt_added_names *a = seg->added;
	size_t bytes = seg->pub.nstacks * sizeof(*a->stacks);

	if ((!a->inlined.n && !seg->inlined.n) || !(a->stacks = malloc(bytes + 1)))
		return;
	a->nstacks = seg->pub.nstacks;
	memcpy(a->stacks, seg->stacks, bytes);
	for (uint32_t i = 0; i < a->nstacks; i++)
		seg->stacks[i] = expand(seg, a->stacks[i]);
}

static void drop_stacks(struct gt_seg *seg)
{
	struct gt_added_names *a = seg->added;

	for (uint32_t i = 0; i < a->nstacks; i++) {
		if (seg->stacks[i].frames != a->stacks[i].frames)
			free((void *)seg->stacks[i].frames);
		seg->stacks[i] = a->stacks[i];
	}
}

/* ---- all of it ---- */

void gt_seg_add_names(struct gt_reader *r, struct gt_seg *seg)
{
	if ((!add_names && !seg->inlined.n) || !seg->pub.nstacks)
		return;
	seg->added = calloc(1, sizeof(*seg->added));
	if (!seg->added)
		return;
	seg->added->reader = r;
	seg->added->nstrings = seg->pub.nstrings;
	if (add_names)
		add_names(seg, add_names_arg);
	expand_stacks(seg);
}

void gt_seg_drop_names(struct gt_seg *seg)
{
	struct gt_added_names *a = seg->added;

	if (!a)
		return;
	drop_stacks(seg);
	drop_frames(seg);
	drop_strings(seg);
	a->reader->added_memory -= a->memory;
	free(a->frames);
	free(a->stacks);
	gt_inlined_table_release(&a->inlined);
	free(a);
	seg->added = NULL;
}
