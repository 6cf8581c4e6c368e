/* Prepares the text of the types and kernels of a Chrome trace: see chrome_types.h. */
#include "formats/export/chrome/chrome_types.h"

#include <stdlib.h>
#include <string.h>
#include "formats/export/chrome/chrome_gpu.h"

static struct gt_chrome_text copy_text(struct gt_out *o)
{
	/* put_text reads pieces of 16 bytes */
	struct gt_chrome_text t = { malloc(o->len + 32), (uint32_t)o->len };

	if (t.s)
		memcpy(t.s, o->data, o->len);
	gt_out_close(o, NULL);
	return t;
}

const struct gt_chrome_type *gt_chrome_type(
	struct gt_chrome_slices *c, const struct gt_segment *seg, uint32_t id)
{
	struct gt_chrome_type *t = &c->segs[seg->index].types[id];
	const struct gt_type *type = &seg->types[id];
	char buffer[GT_CHROME_GPU_NAME];
	const char *shown;
	struct gt_out o;

	if (t->head.s)
		return t;
	shown = gt_chrome_name(c->full_names, seg, id, buffer);
	if (!shown)
		goto failed;
	t->gpu = gt_chrome_gpu_type(type);
	t->call = type->layer == GT_LAYER_API || type->layer == GT_LAYER_RUNTIME;
	t->range = type->layer == GT_LAYER_USER;
	t->launches = t->call && gt_chrome_launches_named(&c->launches, seg, type->name);
	t->category = gt_chrome_category_field(seg, type);
	t->correlation = t->call ? gt_type_field(type, GT_R_CORRELATION) : GT_NONE;
	t->stack = gt_type_field(type, GT_R_STACK);
	t->special = t->gpu || t->launches || t->category != GT_NONE;
	t->name = type->name;
	t->fields = calloc((size_t)type->nfields + 1, sizeof(*t->fields));
	for (unsigned i = 0; t->fields && i < type->nfields; i++) {
		const char *name = type->fields[i].role == GT_R_KERNEL
			? "kernel"
			: gt_str(seg, type->fields[i].name);

		gt_out_memory(&o);
		gt_out_str(&o, ",");
		gt_out_json(&o, name, strlen(name));
		gt_out_str(&o, ":");
		t->fields[i] = copy_text(&o);
		if (!t->fields[i].s)
			goto failed;
	}
	gt_out_memory(&o);
	gt_out_str(&o, ",\n{\"name\":");
	gt_out_json(&o, shown, strlen(shown));
	if (t->category == GT_NONE)
		gt_out_printf(&o, ",\"cat\":\"%s\"" GT_CHROME_PHASE, gt_chrome_category(seg, type));
	else
		gt_out_str(&o, ",\"cat\":");
	t->head = copy_text(&o);
	if (t->fields && t->head.s)
		return t;
failed:
	gt_err_set(c->err, -ENOMEM, "out of memory");
	return NULL;
}

const struct gt_chrome_text *gt_chrome_kernel(
	struct gt_chrome_slices *c, const struct gt_segment *seg, uint32_t string)
{
	struct gt_chrome_segment *s = &c->segs[seg->index];
	const char *name;
	struct gt_out o;

	if (!s->kernels)
		s->kernels = calloc((size_t)seg->nstrings + 1, sizeof(*s->kernels));
	if (!s->kernels)
		return NULL;
	if (!s->kernels[string].s) {
		name = gt_kernel_names_get(c->names, gt_str(seg, string));
		if (!name)
			return NULL;
		gt_out_memory(&o);
		gt_out_json(&o, name, strlen(name));
		s->kernels[string] = copy_text(&o);
	}
	return s->kernels[string].s ? &s->kernels[string] : NULL;
}

static void release_type(struct gt_chrome_type *t, unsigned nfields)
{
	for (unsigned i = 0; t->fields && i < nfields; i++)
		free(t->fields[i].s);
	free(t->fields);
	free(t->head.s);
}

void gt_chrome_segment_release(struct gt_chrome_segment *s, const struct gt_segment *seg)
{
	for (uint32_t i = 0; s->types && i < seg->ntypes; i++)
		release_type(&s->types[i], seg->types[i].nfields);
	for (uint32_t i = 0; s->kernels && i < seg->nstrings; i++)
		free(s->kernels[i].s);
	free(s->types);
	free(s->kernels);
}
