#include "viewer/flame/flame_search.h"

#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "viewer/util/deadline.h"
#include "viewer/search/search_regex.h"

#define AT_ONCE 64u             /* nodes between two checks of the deadline */
enum { FOUND = 1, WITHIN = 2 }; /* WITHIN: it or a frame around it matches */

struct gt_flame_search {
	struct gt_search_regex expression;
	uint8_t *has; /* by node */
	size_t cap;
	uint32_t done, n; /* nodes that were searched, and matches */
	uint64_t ns;
};

struct gt_flame_search *gt_flame_search_new(const char *expression, struct gt_err *err)
{
	struct gt_flame_search *f = calloc(1, sizeof(*f));

	if (f && !gt_search_regex_init(&f->expression, expression, err))
		return f;
	gt_err_set(err, -ENOMEM, "out of memory");
	free(f);
	return NULL;
}

void gt_flame_search_free(struct gt_flame_search *f)
{
	if (!f)
		return;
	gt_search_regex_release(&f->expression);
	free(f->has);
	free(f);
}

void gt_flame_search_begin(struct gt_flame_search *f)
{
	f->done = f->n = 0;
	f->ns = 0;
}

/* A node has a larger number than its parent. */
static void sum_up(struct gt_flame_search *f, const struct gt_flame_node *nodes)
{
	f->ns = 0;
	for (uint32_t i = 0; i < f->done; i++)
		if (f->has[i] & FOUND && (!i || !(f->has[nodes[i].parent] & WITHIN)))
			f->ns = f->ns + nodes[i].ns < f->ns ? UINT64_MAX : f->ns + nodes[i].ns;
}

int gt_flame_search_step(struct gt_flame_search *f, const struct gt_flame *tree,
	gt_flame_name_fn *name, const void *arg, uint64_t us, struct gt_err *err)
{
	uint64_t until = gt_deadline(us);
	char room[GT_FLAME_NAME];
	uint32_t n;
	const struct gt_flame_node *nodes = gt_flame_nodes(tree, &n);

	if (gt_grow(&f->has, &f->cap, n + 1ul, 1))
		return gt_err_set(err, -ENOMEM, "out of memory");
	while (f->done < n && (f->done % AT_ONCE || !gt_is_over(until))) {
		const struct gt_flame_node *node = &nodes[f->done];
		bool found = gt_search_regex_matches(&f->expression, name(arg, node, room)),
		     within = f->done && f->has[node->parent] & WITHIN;

		f->has[f->done++] = (uint8_t)((found ? FOUND : 0) | (found || within ? WITHIN : 0));
		f->n += found;
	}
	sum_up(f, nodes);
	return f->done < n;
}

bool gt_flame_search_has(const struct gt_flame_search *f, uint32_t node)
{
	return node < f->done && f->has[node] & FOUND;
}
const char *gt_flame_search_expression(const struct gt_flame_search *f)
{
	return f->expression.text;
}

uint32_t gt_flame_search_count(const struct gt_flame_search *f, uint64_t *ns)
{
	*ns = f->ns;
	return f->n;
}
