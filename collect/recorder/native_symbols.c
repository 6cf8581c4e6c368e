#include "collect/recorder/native_symbols.h"

#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/symbols/elf_symbols.h"

struct unresolved {
	uint32_t module, text;
	uint64_t offset;
};

static int compare(const void *a, const void *b)
{
	const struct unresolved *x = a, *y = b;

	return GT_COMPARE(x->module, y->module) ?: GT_COMPARE(x->offset, y->offset);
}

/* The native frames without a function, by module. Returns their number. */
static size_t find_unresolved(const struct gt_writer *w, struct unresolved **list)
{
	const struct gt_frame *f;
	size_t n = 0, cap = 0;
	uint32_t text;

	for (size_t i = 0; (f = gt_writer_frame_at(w, i, &text)); i++)
		if (f->kind == GT_FRAME_NATIVE && f->function == GT_NONE && f->module != GT_NONE &&
			f->offset && !gt_grow(list, &cap, n + 1, sizeof(**list)))
			(*list)[n++] = (struct unresolved){ f->module, text, f->offset };
	GT_SORT(*list, n, compare);
	return n;
}

static void resolve(
	struct gt_writer *w, const struct gt_elf_symbols *symbols, const struct unresolved *u)
{
	/* a return address may be the first one behind its function */
	const char *name = gt_elf_symbols_find(symbols, u->offset - 1);
	struct gt_frame f = {
		.kind = GT_FRAME_NATIVE, .file = GT_NONE, .module = u->module, .offset = u->offset
	};

	if (!name || !gt_writer_has_name_space(w))
		return;
	f.function = gt_writer_string(w, name);
	gt_writer_frame(w, u->text, &f);
}

void gt_native_symbols_resolve(struct gt_writer *w)
{
	struct unresolved *list = NULL;
	size_t n = find_unresolved(w, &list), from = 0;

	for (size_t i = 0; i < n; i++) {
		const struct gt_module *m = gt_writer_module_of(w, list[i].module);
		struct gt_elf_symbols symbols;

		if (i + 1 < n && list[i + 1].module == list[i].module)
			continue;
		if (m &&
			!gt_elf_symbols_open(
				&symbols, gt_writer_string_text(w, m->path), m->id, m->nid, NULL))
			for (; from <= i; from++)
				resolve(w, &symbols, &list[from]);
		if (m)
			gt_elf_symbols_close(&symbols);
		from = i + 1;
	}
	free(list);
}
