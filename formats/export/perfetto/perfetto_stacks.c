/* Call stacks of a Perfetto trace. A stack, its frames, and the functions, files and libraries of
 * these are written once, before the first event that has the stack. */
#include "formats/export/perfetto/perfetto.h"

#include <stdlib.h>
#include "formats/names/stack_names.h"

#define FRAMES_MAX 4096u /* of a stack; the outermost ones beyond it are missing */

/* A message: its fields one behind another. */
struct message {
	char bytes[12 * GT_PROTO_FIELD_MAX], *p;
};

static uint32_t text_iid(
	struct gt_perfetto *x, uint32_t space, const struct gt_segment *seg, uint32_t string)
{
	return gt_perfetto_iid(x, space, seg->strings[string].ptr, seg->strings[string].len);
}

static const struct gt_module *module_of(const struct gt_segment *seg, uint32_t path)
{
	for (uint32_t i = 0; i < seg->nmodules; i++)
		if (seg->modules[i].path == path)
			return &seg->modules[i];
	return NULL;
}

/* The iid of the library of a frame. Two builds of a library are two strings. */
static uint32_t put_mapping(struct gt_perfetto *x, const struct gt_segment *seg, uint32_t path)
{
	uint32_t *mapping = &x->segs[seg->index].mappings[path];
	const struct gt_module *m = module_of(seg, path);
	struct message to = { .p = to.bytes };

	if (*mapping != 0)
		return *mapping;
	*mapping = ++x->nmappings;
	to.p = gt_proto_u64(to.p, GT_INTERNED_IID, *mapping);
	if (m && m->nid)
		to.p = gt_proto_u64(to.p, GT_MAPPING_BUILD_ID,
			gt_perfetto_iid(x, GT_INTERNED_BUILD_IDS, (const char *)m->id, m->nid));
	to.p = gt_proto_u64(to.p, GT_MAPPING_PATH, text_iid(x, GT_INTERNED_PATHS, seg, path));
	gt_perfetto_add_interned(x, GT_INTERNED_MAPPINGS, to.bytes, (size_t)(to.p - to.bytes));
	return *mapping;
}

static unsigned kind_of(const struct gt_frame *f)
{
	return f->kind == GT_FRAME_PYTHON                                   ? GT_FRAMES_INTERPRETED
		: f->kind == GT_FRAME_KERNEL                                ? GT_FRAMES_KERNEL
		: f->kind == GT_FRAME_NATIVE || f->kind == GT_FRAME_INLINED ? GT_FRAMES_NATIVE
									    : 0;
}

/* Removes " (libblas.so.3)" at the end: a frame has its library apart. */
static void remove_module(struct gt_buf *name)
{
	size_t n = name->len;

	if (!n || name->data[n - 1] != ')')
		return;
	while (n > 2 && memcmp(name->data + n - 2, " (", 2) != 0)
		n--;
	name->len = n > 2 ? n - 2 : name->len;
}

static uint32_t function_iid(struct gt_perfetto *x, const struct gt_segment *seg, uint32_t text)
{
	const struct gt_frame *f = gt_segment_frame(seg, text);
	struct gt_buf name = { 0 };
	uint32_t iid;

	if (f && f->function != GT_NONE && f->kind == GT_FRAME_PYTHON)
		return text_iid(x, GT_INTERNED_FUNCTIONS, seg, f->function);
	gt_frame_name(&name, seg, text, GT_STACK_FUNCTION); /* demangled */
	if (f && f->function != GT_NONE && f->module != GT_NONE)
		remove_module(&name);
	iid = gt_perfetto_iid(x, GT_INTERNED_FUNCTIONS, (char *)name.data, name.len);
	gt_buf_release(&name);
	return iid;
}

static uint32_t put_frame(struct gt_perfetto *x, const struct gt_segment *seg, uint32_t text)
{
	uint32_t *frame = &x->segs[seg->index].frames[text];
	const struct gt_frame *f = gt_segment_frame(seg, text);
	struct message to = { .p = to.bytes };

	if (*frame != 0)
		return *frame;
	*frame = ++x->nframes;
	to.p = gt_proto_u64(to.p, GT_INTERNED_IID, *frame);
	if (!f || f->function != GT_NONE || f->module == GT_NONE) /* else the library tells more */
		to.p = gt_proto_u64(to.p, GT_FRAMES_FUNCTION, function_iid(x, seg, text));
	if (f && f->module != GT_NONE) {
		to.p = gt_proto_u64(to.p, GT_FRAMES_MAPPING, put_mapping(x, seg, f->module));
		to.p = gt_proto_u64(to.p, GT_FRAMES_PC, f->offset);
	}
	if (f && f->file != GT_NONE)
		to.p = gt_proto_u64(
			to.p, GT_FRAMES_SOURCE, text_iid(x, GT_INTERNED_SOURCES, seg, f->file));
	if (f && f->line)
		to.p = gt_proto_u64(to.p, GT_FRAMES_LINE, f->line);
	if (f && (f->kind == GT_FRAME_MARK || f->kind == GT_FRAME_INLINED))
		to.p = gt_proto_bytes(to.p, GT_FRAMES_KIND_TEXT, gt_frame_kind_word(f->kind),
			strlen(gt_frame_kind_word(f->kind)));
	else if (f && kind_of(f))
		to.p = gt_proto_u64(to.p, GT_FRAMES_KIND, kind_of(f));
	gt_perfetto_add_interned(x, GT_INTERNED_FRAMES, to.bytes, (size_t)(to.p - to.bytes));
	return *frame;
}

/* The memory that a segment with stacks needs. */
static int make_tables(struct gt_perfetto_segment *s, const struct gt_segment *seg)
{
	size_t n = seg->nstrings + 1ul;

	if (!s->frames)
		s->frames = calloc(n, sizeof(*s->frames));
	if (!s->mappings)
		s->mappings = calloc(n, sizeof(*s->mappings));
	if (!s->locations)
		s->locations = calloc(n, sizeof(*s->locations));
	if (!s->callers)
		s->callers = calloc(n, sizeof(*s->callers));
	if (!s->stacks)
		s->stacks = calloc(seg->nstacks + 1ul, sizeof(*s->stacks));
	return s->frames && s->mappings && s->locations && s->callers && s->stacks ? 0 : -ENOMEM;
}

uint32_t gt_perfetto_stack(struct gt_perfetto *x, const struct gt_segment *seg, uint64_t stack)
{
	struct gt_perfetto_segment *s = &x->segs[seg->index];
	const struct gt_stack *from = &seg->stacks[stack < seg->nstacks ? stack : 0];
	struct gt_buf list = { 0 };
	char one[2 * GT_PROTO_FIELD_MAX];
	uint32_t first;

	if (stack >= seg->nstacks || !from->n)
		return 0;
	if (make_tables(s, seg)) {
		gt_err_set(x->err, -ENOMEM, "out of memory");
		return 0;
	}
	if (s->stacks[stack])
		return s->stacks[stack];
	s->stacks[stack] = ++x->nstacks;
	gt_buf_add(&list, one, (size_t)(gt_proto_u64(one, GT_INTERNED_IID, x->nstacks) - one));
	first = from->n > FRAMES_MAX ? from->n - FRAMES_MAX : 0;
	for (uint32_t i = first; i < from->n; i++)
		gt_buf_add(&list, one,
			(size_t)(gt_proto_u64(
					 one, GT_STACKS_FRAME, put_frame(x, seg, from->frames[i])) -
				one));
	gt_perfetto_add_interned(x, GT_INTERNED_STACKS, (char *)list.data, list.len);
	if (list.failed)
		gt_err_set(x->err, -ENOMEM, "out of memory");
	gt_buf_release(&list);
	return s->stacks[stack];
}

uint32_t gt_perfetto_caller(struct gt_perfetto *x, const struct gt_segment *seg, uint64_t stack)
{
	uint32_t frame = stack < seg->nstacks ? gt_stack_caller(seg, stack) : GT_NONE, *caller;
	struct gt_buf name = { 0 };

	if (frame == GT_NONE || make_tables(&x->segs[seg->index], seg))
		return 0;
	caller = &x->segs[seg->index].callers[frame];
	if (*caller != 0)
		return *caller;
	gt_frame_name(&name, seg, frame, GT_STACK_LINE);
	*caller = gt_perfetto_iid(x, GT_INTERNED_STRINGS, (char *)name.data, name.len);
	gt_buf_release(&name);
	return *caller;
}

uint32_t gt_perfetto_location(struct gt_perfetto *x, const struct gt_segment *seg, uint64_t stack)
{
	uint32_t text = stack < seg->nstacks ? gt_stack_caller(seg, stack) : GT_NONE, *iid;
	const struct gt_frame *f = text == GT_NONE ? NULL : gt_segment_frame(seg, text);
	struct gt_buf to = { 0 }, name = { 0 };
	char one[2 * GT_PROTO_FIELD_MAX];

	if (!f || f->file == GT_NONE || make_tables(&x->segs[seg->index], seg))
		return 0;
	iid = &x->segs[seg->index].locations[text];
	if (*iid != 0)
		return *iid;
	*iid = ++x->nlocations;
	gt_buf_add(&to, one, (size_t)(gt_proto_u64(one, GT_INTERNED_IID, *iid) - one));
	gt_perfetto_add_text(&to, GT_LOCATION_FILE, gt_str(seg, f->file));
	gt_frame_name(&name, seg, text, GT_STACK_FUNCTION);
	gt_buf_byte(&name, 0);
	if (!name.failed)
		gt_perfetto_add_text(&to, GT_LOCATION_FUNCTION, (char *)name.data);
	gt_buf_add(&to, one, (size_t)(gt_proto_u64(one, GT_LOCATION_LINE, f->line) - one));
	gt_perfetto_add_interned(x, GT_INTERNED_LOCATIONS, (char *)to.data, to.len);
	if (to.failed || name.failed)
		gt_err_set(x->err, -ENOMEM, "out of memory");
	gt_buf_release(&to);
	gt_buf_release(&name);
	return *iid;
}
