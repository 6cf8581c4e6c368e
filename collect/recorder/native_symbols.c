#include "collect/recorder/native_symbols.h"

#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/symbols/frame_places.h"
#include "formats/trace/clock.h"

/* ---- descriptions go into the file ---- */

static uint32_t add_string(void *to, const char *s)
{
	return gt_writer_has_name_space(to) ? gt_writer_string(to, s) : GT_NONE;
}

static int set_frame(void *to, uint32_t text, const struct gt_frame *f)
{
	return gt_writer_frame(to, text, f);
}

static uint32_t add_inlined_frame(void *to, uint32_t text, const struct gt_frame *f)
{
	return gt_writer_has_name_space(to) ? gt_writer_place(to, text, f) : GT_NONE;
}

static int set_inlined(void *to, uint32_t text, const uint32_t *frames, uint32_t n)
{
	return gt_writer_inlined(to, text, frames, n);
}

/* ---- libraries ---- */

static size_t list_frames(const struct gt_writer *w, bool lines, struct gt_native_frame **list)
{
	const struct gt_frame *f;
	size_t n = 0, cap = 0;
	uint32_t text;

	for (size_t i = 0; (f = gt_writer_frame_at(w, i, &text)); i++)
		if (gt_frame_has_unknowns(f) && (lines || f->function == GT_NONE) &&
			!gt_grow(list, &cap, n + 1, sizeof(**list)))
			(*list)[n++] = (struct gt_native_frame){ f->module, text, f->offset, *f };
	gt_native_frames_sort(*list, n);
	return n;
}

static void resolve(struct gt_writer *w, struct gt_debug_files *where,
	const struct gt_native_frame *list, size_t n, int64_t lines_ns,
	struct gt_native_symbols_missing *missing)
{
	const struct gt_frame_sink sink = { w, add_string, set_frame, add_inlined_frame,
		set_inlined };
	const struct gt_module *m = gt_writer_module_of(w, list[0].module);
	struct gt_library_files files = { .n = 0 };
	struct gt_code_places places = { .n = 0 };
	enum gt_lines_state state = GT_LINES_READ;

	if (m)
		gt_debug_files_find(
			where, gt_writer_string_text(w, m->path), m->id, m->nid, &files);
	if (files.n && !gt_native_frames_read(&places, where, &files, list, n, lines_ns, &state))
		gt_native_frames_describe(&sink, &places, list, n);
	missing->replaced += !files.n && files.other_build;
	missing->without_lines += state != GT_LINES_READ;
	gt_code_places_release(&places);
	gt_library_files_release(&files);
}

struct gt_native_symbols_missing gt_native_symbols_resolve(struct gt_writer *w, int64_t lines_ns)
{
	const int64_t until = gt_clock_monotonic() + lines_ns;
	struct gt_debug_files where = { .trust_paths = true };
	struct gt_native_frame *list = NULL;
	size_t n = list_frames(w, lines_ns > 0, &list), here;
	struct gt_native_symbols_missing missing = { 0, 0 };

	for (size_t i = 0; i < n; i += here) {
		int64_t left = lines_ns ? until - gt_clock_monotonic() : 0;

		here = gt_native_frames_of_module(list + i, n - i);
		resolve(w, &where, list + i, here, lines_ns && left <= 0 ? 1 : left, &missing);
	}
	gt_debug_files_release(&where);
	free(list);
	return missing;
}
