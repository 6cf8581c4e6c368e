#include "formats/names/name_patterns.h"

#include <stdlib.h>
#include <string.h>
#include "formats/names/kernel_names.h"

static const struct gt_opt_list no_globs;

static int find_named(struct gt_name_globs *g, const struct gt_kernel_names *names)
{
	const char *full;

	for (size_t k = 0; k < gt_kernel_names_count(names); k++) {
		const char *printed = gt_kernel_names_at(names, k, &full);

		for (size_t i = 0; i < g->globs->n; i++)
			if (!g->named[i] && !strcmp(g->globs->items[i], printed))
				if (!(g->named[i] = strdup(full)))
					return -ENOMEM;
	}
	return 0;
}

static struct gt_name_globs new_globs(const struct gt_opt_list *globs)
{
	const struct gt_opt_list *list = globs ? globs : &no_globs;

	return (struct gt_name_globs){ list, calloc(list->n + 1, sizeof(char *)) };
}

int gt_name_patterns_init(struct gt_name_patterns *m, const struct gt_opt_list *match,
	const struct gt_opt_list *exclude, struct gt_reader *r, struct gt_err *err)
{
	int rc;

	*m = (struct gt_name_patterns){ new_globs(match), new_globs(exclude) };
	rc = m->match.named && m->exclude.named ? 0 : -ENOMEM;
	for (enum gt_name_form form = GT_NAME_SHORT;
		!rc && m->match.globs->n + m->exclude.globs->n && form <= GT_NAME_FULL; form++) {
		struct gt_kernel_names *names = gt_kernel_names_of(r, form);

		rc = names ? find_named(&m->match, names) : -ENOMEM;
		if (!rc)
			rc = find_named(&m->exclude, names);
		gt_kernel_names_free(names);
	}
	return rc ? gt_err_set(err, rc, "out of memory (names)") : 0;
}

void gt_name_patterns_set(struct gt_name_patterns *m, struct gt_filter *f)
{
	if (!m->match.globs->n && !m->exclude.globs->n)
		return;
	f->match = gt_name_patterns_match;
	f->match_arg = m;
}

static bool glob_matches(const struct gt_name_globs *g, size_t i, const struct gt_segment *seg,
	const struct gt_type *type)
{
	struct gt_opt_list one = { .items = g->globs->items + i, .n = 1 };

	if (g->named[i] && type->layer == GT_LAYER_GPU && type->category == GT_CAT_KERNEL)
		return !strcmp(gt_str(seg, type->name), g->named[i]);
	return gt_globs_match(seg, type, &one);
}

static bool any_matches(
	const struct gt_name_globs *g, const struct gt_segment *seg, const struct gt_type *type)
{
	for (size_t i = 0; i < g->globs->n; i++)
		if (glob_matches(g, i, seg, type))
			return true;
	return false;
}

bool gt_name_patterns_match(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	const struct gt_name_patterns *m = arg;

	return (!m->match.globs->n || any_matches(&m->match, seg, type)) &&
		!any_matches(&m->exclude, seg, type);
}

static bool matches_in_trace(const struct gt_name_globs *g, size_t i, struct gt_reader *r)
{
	for (uint32_t s = 0; s < gt_reader_segments(r); s++) {
		const struct gt_segment *seg = gt_reader_segment(r, s);

		for (uint32_t t = 0; t < seg->ntypes; t++)
			if (glob_matches(g, i, seg, &seg->types[t]))
				return true;
	}
	return false;
}

const char *gt_name_globs_useless(const struct gt_name_globs *g, struct gt_reader *r, size_t *at)
{
	while (*at < g->globs->n)
		if (!matches_in_trace(g, (*at)++, r))
			return g->globs->items[*at - 1];
	return NULL;
}

static void globs_release(struct gt_name_globs *g)
{
	for (size_t i = 0; g->named && i < g->globs->n; i++)
		free(g->named[i]);
	free(g->named);
	g->named = NULL;
}

void gt_name_patterns_release(struct gt_name_patterns *m)
{
	globs_release(&m->match);
	globs_release(&m->exclude);
}
