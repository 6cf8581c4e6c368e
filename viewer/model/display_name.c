#include "viewer/model/display_name.h"

/* The table of kernel names is made on first use, so that the first frame does not wait for it. */
const char *gt_display_name_of_kernel(struct gt_display_name *s, const char *name)
{
	if (!s->kernels)
		s->kernels = gt_kernel_names_of(s->reader, GT_NAME_SHORT);
	return s->kernels ? gt_kernel_names_shown(s->kernels, name) : name;
}

const char *gt_display_name_of_type(
	struct gt_display_name *s, const struct gt_segment *seg, uint32_t type)
{
	const char *name = gt_type_name(seg, type);

	return type < seg->ntypes && seg->types[type].category == GT_CAT_KERNEL
		? gt_display_name_of_kernel(s, name)
		: name;
}

void gt_display_name_release(struct gt_display_name *s)
{
	gt_kernel_names_free(s->kernels);
	s->kernels = NULL;
}
