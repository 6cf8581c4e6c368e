#include "analyze/gpu/gpu_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "formats/trace/meta.h"

struct models {
	char *first;
	bool differ;
};

/* "gpus.0.model" */
static bool is_model(const char *key)
{
	if (strncmp(key, "gpus.", 5) != 0 || !isdigit((unsigned char)key[5]))
		return false;
	key += 5;
	return !strcmp(key + strspn(key, "0123456789"), ".model");
}

static int note_model(void *arg, const char *key, const char *value)
{
	struct models *m = arg;

	if (!is_model(key) || !*value)
		return 0;
	if (!m->first)
		m->first = strdup(value);
	m->differ |= m->first && strcmp(m->first, value) != 0;
	return 0;
}

static void read_model(struct gt_gpu_namer *n, const struct gt_segment *seg)
{
	struct models m = { .first = NULL };

	gt_gpu_namer_release(n);
	if (gt_meta_each(seg, note_model, &m) || m.differ) {
		free(m.first);
		m.first = NULL;
	}
	*n = (struct gt_gpu_namer){ seg, m.first };
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
