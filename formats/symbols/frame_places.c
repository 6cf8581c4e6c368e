#include "formats/symbols/frame_places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/sorted.h"
#include "formats/symbols/debug_lines.h"

#define NAME_SHOWN 400 /* bytes of a name in the text of a frame */

static int compare(const void *a, const void *b)
{
	const struct gt_native_frame *x = a, *y = b;

	return GT_COMPARE(x->module, y->module) ?: GT_COMPARE(x->offset, y->offset);
}

void gt_native_frames_sort(struct gt_native_frame *list, size_t n) { GT_SORT(list, n, compare); }

size_t gt_native_frames_of_module(const struct gt_native_frame *list, size_t n)
{
	size_t i = 0;

	while (i < n && list[i].module == list[0].module)
		i++;
	return i;
}

int gt_native_frames_read(struct gt_code_places *p, struct gt_debug_files *where,
	const struct gt_library_files *files, const struct gt_native_frame *list, size_t n,
	int64_t lines_ns, enum gt_lines_state *state)
{
	uint64_t *offsets = calloc(n + 1, sizeof(*offsets));
	size_t new = 0;
	int rc = -ENOMEM;

	for (size_t i = 0; offsets && i < n; i++)
		if ((!new || offsets[new - 1] != list[i].offset) &&
			!gt_code_places_find(p, list[i].offset))
			offsets[new ++] = list[i].offset;
	*state = GT_LINES_READ;
	if (offsets)
		rc = new ? gt_code_places_read(p, where, files, offsets, new, lines_ns, state) : 0;
	free(offsets);
	return rc;
}

static uint32_t string_of(const struct gt_frame_sink *to, const struct gt_code_places *p, size_t at)
{
	const char *s = gt_place_text(p, at);

	return s ? to->string(to->to, s) : GT_NONE;
}

/* The id of a frame of an inlined function. */
static uint32_t inlined_frame(const struct gt_frame_sink *to, const struct gt_code_places *p,
	const struct gt_place_level *l, uint32_t module)
{
	const char *name = gt_place_text(p, l->function);
	struct gt_frame f = { .kind = GT_FRAME_INLINED,
		.function = string_of(to, p, l->function),
		.file = string_of(to, p, l->file),
		.module = module,
		.line = l->line };
	char text[NAME_SHOWN + 16];

	snprintf(text, sizeof(text), "%.*s (inlined)", NAME_SHOWN, name ? name : "?");
	return to->inlined_frame(to->to, to->string(to->to, text), &f);
}

static void describe(const struct gt_frame_sink *to, const struct gt_code_places *p,
	const struct gt_code_place *place, const struct gt_native_frame *native)
{
	const struct gt_place_level *levels = p->levels + place->first, *outer;
	struct gt_frame f = native->known;
	uint32_t inlined[GT_CODE_LEVELS], n = 0;

	outer = place->n ? &levels[place->n - 1] : NULL;
	if (f.function == GT_NONE)
		f.function = string_of(to, p, place->symbol);
	if (f.function == GT_NONE && outer)
		f.function = string_of(to, p, outer->function);
	if (outer && outer->line) {
		f.file = string_of(to, p, outer->file);
		f.line = outer->line;
	}
	if (f.function == native->known.function && f.file == native->known.file)
		return;
	to->frame(to->to, native->text, &f);
	for (uint32_t i = place->n; i-- > 1;) {
		inlined[n] = inlined_frame(to, p, &levels[i - 1], f.module);
		n += inlined[n] != GT_NONE;
	}
	if (n)
		to->inlined(to->to, native->text, inlined, n);
}

void gt_native_frames_describe(const struct gt_frame_sink *to, const struct gt_code_places *p,
	const struct gt_native_frame *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct gt_code_place *place = gt_code_places_find(p, list[i].offset);

		if (place)
			describe(to, p, place, &list[i]);
	}
}
