/* Two trees of stacks as one, for differential folded stacks and flame graphs.
 *
 * Stacks of two runs are equal if their frames have equal names. Processes and threads have other
 * ids in each run, so their frames lose them, and threads of one name become one. Costs are those
 * of the traces: nothing is scaled to equal lengths. */
#define _GNU_SOURCE /* asprintf */
#include "formats/export/stacks/stack_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"

#define IDS_DEPTH 2u /* the deepest frame that is a process or thread; the root has depth 0 */

/* The length of a name without its id: "python3 (4711)" -> "python3", "thread 4711" -> "thread". */
static size_t without_id(const char *name)
{
	const size_t all = strlen(name), closed = all && name[all - 1] == ')';
	size_t n = all - closed;

	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	if (n == all - closed)
		return all;
	if (closed)
		return n > 2 && !strncmp(name + n - 2, " (", 2) ? n - 2 : all;
	return (n == 7 && !memcmp(name, "thread ", n)) || (n == 8 && !memcmp(name, "process ", n))
		? n - 1
		: all;
}

static uint32_t add_label(struct gt_stack_tree *to, const char *name, bool has_id)
{
	char *text = has_id ? strndup(name, without_id(name)) : NULL;
	uint32_t label;

	if (has_id && !text)
		return gt_err_set(to->err, -ENOMEM, "out of memory"), GT_NONE;
	label = gt_stack_tree_text(to, text ? text : name);
	free(text);
	return label;
}

/* The nodes of `to` for those of a tree. Parents come before their children. */
static int add_nodes(struct gt_stack_tree *to, const struct gt_stack_tree *from, uint32_t *nodes,
	uint32_t *depths)
{
	for (uint32_t i = 0; i < from->nnodes; i++) {
		const struct gt_stack_node *n = &from->nodes[i];
		const bool top = n->parent == GT_NONE;
		uint32_t label;

		depths[i] = top ? 0 : depths[n->parent] + 1;
		label = add_label(to, gt_stack_tree_label(from, n->label),
			depths[i] && depths[i] <= IDS_DEPTH);
		nodes[i] = gt_stack_tree_node(to, top ? GT_NONE : nodes[n->parent], label);
		if (nodes[i] == GT_NONE)
			return to->err->code;
	}
	return 0;
}

static int add_tree(struct gt_stack_tree *to, const struct gt_stack_tree *from, bool before)
{
	uint32_t *nodes = malloc((2 * from->nnodes + 1) * sizeof(*nodes));
	int rc = nodes ? add_nodes(to, from, nodes, nodes + from->nnodes)
		       : gt_err_set(to->err, -ENOMEM, "out of memory");

	if (!rc && before && !(to->before = calloc(to->nnodes + 1, sizeof(*to->before))))
		rc = gt_err_set(to->err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; !rc && i < from->nnodes; i++) {
		const int64_t cost = from->nodes[i].cost;
		int64_t *old = before ? &to->before[nodes[i]] : NULL;

		if (!before)
			gt_stack_tree_add(to, nodes[i], cost);
		else if (__builtin_add_overflow(*old, cost, old))
			*old = INT64_MAX;
	}
	free(nodes);
	return rc;
}

int gt_stack_tree_compare(struct gt_stack_tree *to, const struct gt_stack_tree *before,
	const struct gt_stack_tree *after, const char *const names[2], struct gt_err *err)
{
	int rc;

	*to = (struct gt_stack_tree){ .err = err, .cost = after->cost };
	/* the baseline last: then all nodes are there */
	rc = add_tree(to, after, false);
	rc = rc ? rc : add_tree(to, before, true);
	if (rc)
		return rc;
	if (asprintf(&to->title, "%s: %s compared with %s",
		    after->title ? after->title : "Flame graph", names[1], names[0]) < 0)
		to->title = NULL;
	if (asprintf(&to->note,
		    "wide as in %s; red: more than in %s, blue: less; full colour: twice or half; not scaled to equal lengths",
		    names[1], names[0]) < 0)
		to->note = NULL;
	if (!to->title || !to->note)
		return gt_err_set(err, -ENOMEM, "out of memory");
	return 0;
}
