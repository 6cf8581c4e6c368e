#include "formats/names/name_patterns.h"

#include <stdlib.h>
#include <string.h>
#include "formats/names/kernel_names.h"

static int find_named(struct gt_name_patterns *m, const struct gt_kernel_names *names)
{
	const char *full;

	for (size_t k = 0; k < gt_kernel_names_count(names); k++) {
		const char *printed = gt_kernel_names_at(names, k, &full);

		for (size_t i = 0; i < m->globs->n; i++)
			if (!m->named[i] && !strcmp(m->globs->items[i], printed))
				if (!(m->named[i] = strdup(full)))
					return -ENOMEM;
	}
	return 0;
}

int gt_name_patterns_init(struct gt_name_patterns *m, const struct gt_opt_list *globs,
	struct gt_reader *r, struct gt_err *err)
{
	int rc;

	*m = (struct gt_name_patterns){ .globs = globs,
		.named = calloc(globs->n + 1, sizeof(*m->named)) };
	rc = m->named ? 0 : -ENOMEM;
	for (enum gt_name_form form = GT_NAME_SHORT; !rc && globs->n && form <= GT_NAME_FULL;
		form++) {
		struct gt_kernel_names *names = gt_kernel_names_of(r, form);

		rc = names ? find_named(m, names) : -ENOMEM;
		gt_kernel_names_free(names);
	}
	return rc ? gt_err_set(err, rc, "out of memory (names)") : 0;
}

bool gt_name_pattern_matches(const struct gt_name_patterns *m, size_t glob,
	const struct gt_segment *seg, const struct gt_type *type)
{
	const struct gt_opt_list one = { .items = m->globs->items + glob, .n = 1 };

	if (m->named[glob] && type->layer == GT_LAYER_GPU && type->category == GT_CAT_KERNEL)
		return !strcmp(gt_str(seg, type->name), m->named[glob]);
	return gt_globs_match(seg, type, (void *)&one);
}

bool gt_name_patterns_match(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	const struct gt_name_patterns *m = arg;

	for (size_t i = 0; i < m->globs->n; i++)
		if (gt_name_pattern_matches(m, i, seg, type))
			return true;
	return false;
}

void gt_name_patterns_release(struct gt_name_patterns *m)
{
	for (size_t i = 0; m->named && i < m->globs->n; i++)
		free(m->named[i]);
	free(m->named);
	m->named = NULL;
}
