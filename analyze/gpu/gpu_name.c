#include "analyze/gpu/gpu_name.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/gpu/gpu_models.h"
#include "formats/trace/meta.h"

static int note_model(void *arg, const char *key, const char *value)
{
	gt_gpu_models_add(arg, key, value);
	return 0;
}

/* A GPU without a name of its own is of the machine's model, if it has one model only. */
static void read_model(struct gt_gpu_namer *n, const struct gt_segment *seg)
{
	struct gt_gpu_models m = { .n = 0 };
	bool known = !gt_meta_each(seg, note_model, &m) && m.n == 1;

	gt_gpu_namer_release(n);
	*n = (struct gt_gpu_namer){ seg, known ? strdup(m.list[0].name) : NULL };
}

const char *gt_gpu_name(
	struct gt_gpu_namer *n, const struct gt_segment *seg, const struct gt_track *device)
{
	const char *name = device->name != GT_NONE ? gt_str(seg, device->name) : NULL;

	if (name && (strncmp(name, "GPU ", 4) != 0 || name[4 + strspn(name + 4, "0123456789")]))
		return name;
	if (n->seg != seg)
		read_model(n, seg);
	return n->model ? n->model : name;
}

void gt_gpu_namer_release(struct gt_gpu_namer *n)
{
	free(n->model);
	*n = (struct gt_gpu_namer){ .seg = NULL };
}
