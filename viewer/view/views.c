#include "viewer/view/view.h"

#include <string.h>

/* clang-format off */
#define VIEWS(X) \
	X(timeline) X(top) X(kernels) X(streams) X(gaps) X(ioctls) X(memory) X(advice) X(flame) \
	X(flame_gpu) X(flame_ranges) X(flame_host) X(flame_idle) X(flame_kernel) X(flame_memory) X(steps) X(launches) X(copies) X(queues)
/* clang-format on */

#define X(name) extern const struct gt_view_ops gt_view_##name;
VIEWS(X)
#undef X

const struct gt_view_ops *const gt_views[] = {
#define X(name) &gt_view_##name,
	VIEWS(X)
#undef X
		NULL
};
_Static_assert(sizeof(gt_views) / sizeof(*gt_views) - 1 <= GT_VIEWS_MOST,
	"a session has a slot for each view");

const struct gt_view_ops *gt_view_find(const char *name)
{
	for (unsigned i = 0; gt_views[i]; i++)
		if (!strcmp(gt_views[i]->name, name))
			return gt_views[i];
	return NULL;
}
