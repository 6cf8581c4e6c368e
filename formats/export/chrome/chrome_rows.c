#include "formats/export/chrome/chrome_rows.h"

#include <string.h>

const char *gt_chrome_name(struct gt_kernel_names *full_names, const struct gt_segment *seg,
	uint32_t id, char buffer[GT_CHROME_GPU_NAME])
{
	const struct gt_type *type = &seg->types[id];
	const char *name = gt_type_name(seg, id);

	if (type->layer == GT_LAYER_GPU && type->category == GT_CAT_KERNEL)
		return gt_kernel_names_get(full_names, name);
	return gt_chrome_gpu_name(type, name, buffer);
}

static bool is_of_runtime(const char *name)
{
	return !strncmp(name, "cuda", 4) || !strncmp(name, "hip", 3);
}

const char *gt_chrome_category(const struct gt_segment *seg, const struct gt_type *type)
{
	const char *gpu = gt_chrome_gpu_category(type);

	switch (type->layer) {
	case GT_LAYER_API:
		return is_of_runtime(gt_str(seg, type->name)) ? "cuda_runtime" : "cuda_driver";
	case GT_LAYER_RUNTIME: return "cuda_runtime";
	case GT_LAYER_OVERHEAD: return "overhead";
	case GT_LAYER_SYSCALL: return "syscall";
	case GT_LAYER_USER: return "user_annotation";
	default: return gpu ? gpu : gt_category_word(type->category);
	}
}

uint32_t gt_chrome_category_field(const struct gt_segment *seg, const struct gt_type *type)
{
	for (uint32_t i = 0; type->layer == GT_LAYER_USER && i < type->nfields; i++)
		if (type->fields[i].kind == GT_F_STR && type->fields[i].role == GT_R_NONE &&
			!strcmp(gt_str(seg, type->fields[i].name), "category"))
			return i;
	return GT_NONE;
}

bool gt_chrome_waits(const struct gt_event *ev)
{
	const struct gt_type *type = &ev->seg->types[ev->row.type];

	return type->op == GT_OP_OFF_CPU ||
		(ev->kind == GT_SPAN && type->layer == GT_LAYER_GPU &&
			type->category == GT_CAT_SYNC &&
			ev->seg->tracks[ev->track].kind == GT_TRACK_STREAM);
}

bool gt_chrome_is_allocation(const struct gt_event *ev)
{
	const struct gt_type *type = &ev->seg->types[ev->row.type];

	return ev->kind == GT_INSTANT && type->layer == GT_LAYER_USER &&
		type->category == GT_CAT_MEMORY &&
		(type->op == GT_OP_ALLOC || type->op == GT_OP_FREE);
}

const char *gt_chrome_instant_category(const struct gt_event *ev)
{
	const struct gt_type *type = &ev->seg->types[ev->row.type];

	return gt_chrome_is_allocation(ev)     ? "cpu_instant_event"
		: type->op == GT_OP_SAMPLE     ? "sample"
		: type->layer == GT_LAYER_USER ? "user_annotation"
					       : gt_category_word(type->category);
}
