#include "formats/names/globs.h"

#include <fnmatch.h>
#include <stdio.h>
#include "formats/cuda/cuda_api.h"
#include "formats/names/kernel_names.h"

#define X(e, w) " " #w
static const char words[] = GT_CATEGORIES(X);
#undef X

static bool is_category(const char *glob)
{
	for (unsigned c = 0; c < GT_CATEGORY_COUNT; c++)
		if (!fnmatch(glob, gt_category_word(c), 0))
			return true;
	return false;
}

int gt_globs_check(const struct gt_opt_list *globs, const char *option, struct gt_err *err)
{
	for (size_t i = 0; i < globs->n; i++)
		if (*globs->items[i] == '@' && !is_category(globs->items[i] + 1))
			return gt_err_set(err, -EINVAL, "%s '%.30s': the categories are%s", option,
				globs->items[i], words);
	return 0;
}

static bool matches(const char *glob, const char *name, unsigned category)
{
	return *glob == '@' ? !fnmatch(glob + 1, gt_category_word(category), 0)
			    : !fnmatch(glob, name, 0);
}

bool gt_glob_matches_call(const char *glob, const char *name, unsigned category)
{
	char base[128];

	snprintf(base, sizeof(base), "%.*s", (int)gt_api_base_length(name), name);
	return matches(glob, name, category) || matches(glob, base, category);
}

bool gt_globs_match(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	const struct gt_opt_list *globs = arg;
	bool (*of)(const char *, const char *, unsigned) =
		type->layer == GT_LAYER_API ? gt_glob_matches_call : matches;
	char brief[GT_SHORT_MAX + 1] = "";

	if (globs->n && type->layer == GT_LAYER_GPU && type->category == GT_CAT_KERNEL)
		gt_kernel_short(gt_str(seg, type->name), brief);
	for (size_t i = 0; i < globs->n; i++)
		if (of(globs->items[i], gt_str(seg, type->name), type->category) ||
			(*brief && *globs->items[i] != '@' && !fnmatch(globs->items[i], brief, 0)))
			return true;
	return false;
}
