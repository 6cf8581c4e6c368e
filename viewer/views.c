#include "viewer/view.h"

#include <string.h>

extern const struct gt_view_ops gt_view_timeline;

const struct gt_view_ops *const gt_views[] = { &gt_view_timeline, NULL };

const struct gt_view_ops *gt_view_find(const char *name)
{
	for (unsigned i = 0; gt_views[i]; i++)
		if (!strcmp(gt_views[i]->name, name))
			return gt_views[i];
	return NULL;
}
