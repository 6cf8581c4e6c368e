#include "analyze/gpu/gpu_models.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_model(const char *key)
{
	size_t number = strncmp(key, "gpus.", 5) ? 0 : strspn(key + 5, "0123456789");

	return number && !strcmp(key + 5 + number, ".model");
}

void gt_gpu_models_add(struct gt_gpu_models *m, const char *key, const char *value)
{
	unsigned i = 0;

	if (!*value || !is_model(key))
		return;
	while (i < m->n && strncmp(m->list[i].name, value, sizeof(m->list[i].name) - 1) != 0)
		i++;
	if (i == GT_GPU_MODELS_MOST)
		return;
	if (i == m->n)
		snprintf(m->list[m->n++].name, sizeof(m->list[i].name), "%.63s", value);
	m->list[i].gpus++;
}

void gt_gpu_models_put(const struct gt_gpu_models *m, char to[GT_GPU_MODELS_TEXT])
{
	size_t n = 0;

	*to = 0;
	for (unsigned i = 0; i < m->n; i++) {
		n += (size_t)snprintf(to + n, GT_GPU_MODELS_TEXT - n, "%s", i ? ", " : "");
		if (m->list[i].gpus > 1)
			n += (size_t)snprintf(
				to + n, GT_GPU_MODELS_TEXT - n, "%u x ", m->list[i].gpus);
		n += (size_t)snprintf(to + n, GT_GPU_MODELS_TEXT - n, "%s", m->list[i].name);
	}
}
