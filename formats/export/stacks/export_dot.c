/* A call graph for Graphviz: `gtexport --dot trace.zst | dot -Tsvg > calls.svg`.
 *
 * Each root of the tree of stacks (stack_tree.h), CPU and GPU, is a cluster of its own, because
 * their times must not be added. A box is a function, range, call or kernel, wherever it stands in
 * a stack: with its cost without and with what it calls. An arrow has the cost of the calls from
 * one box to the other. A function that calls itself counts once in each stack.
 * Boxes below 0.5 % and arrows below 0.1 % of their cluster are left out; the title says how many.
 */
#include "formats/export/stacks/stack_tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LEAST_BOX 0.005
#define LEAST_ARROW 0.001
#define NAME_MAX_SHOWN 80u /* letters of a name in a box; its tooltip has more */
#define TEXT_MOST 2000u    /* letters of other texts: Graphviz reads strings of up to 16 KiB */

/* from: of an arrow, or GT_NONE: a box. The key of the map is the first three members. */
struct item {
	uint32_t root, from, to; /* root: node; from, to: labels */
	double self, total;
};
struct call_graph {
	const struct gt_stack_tree *tree;
	struct gt_out *out;
	struct item *items;
	size_t nitems, items_cap;
	struct gt_map by_place;
	double *totals;  /* by node: with its children */
	uint32_t *roots; /* by node */
};

/* Does the same box, or the same arrow, stand further out in the stack? Then it has counted. */
static bool has_counted(const struct gt_stack_tree *t, uint32_t node, bool arrow)
{
	const uint32_t to = t->nodes[node].label, parent = t->nodes[node].parent,
		       from = parent == GT_NONE ? GT_NONE : t->nodes[parent].label;

	for (uint32_t up = parent; up != GT_NONE; up = t->nodes[up].parent) {
		uint32_t above = t->nodes[up].parent;

		if (t->nodes[up].label == to &&
			(!arrow || (above != GT_NONE && t->nodes[above].label == from)))
			return true;
	}
	return false;
}

static struct item *item_of(struct call_graph *g, uint32_t root, uint32_t from, uint32_t to)
{
	struct item key = { .root = root, .from = from, .to = to };
	const size_t size = offsetof(struct item, to) + sizeof(key.to); /* without padding */
	uint32_t id = gt_map_find_item(&g->by_place, g->items, sizeof(key), &key, size);

	if (id == UINT32_MAX)
		id = gt_map_add_item(&g->by_place, &g->items, &g->nitems, &g->items_cap,
			sizeof(key), &key, size);
	return id == UINT32_MAX ? NULL : &g->items[id];
}

static int add_node(struct call_graph *g, uint32_t node)
{
	const struct gt_stack_node *n = &g->tree->nodes[node];
	struct item *box = item_of(g, g->roots[node], GT_NONE, n->label), *arrow;

	if (!box)
		return -ENOMEM;
	box->self += n->cost > 0 ? (double)n->cost : 0;
	if (!has_counted(g->tree, node, false))
		box->total += g->totals[node];
	if (n->parent == GT_NONE || has_counted(g->tree, node, true))
		return 0;
	arrow = item_of(g, g->roots[node], g->tree->nodes[n->parent].label, n->label);
	if (!arrow)
		return -ENOMEM;
	arrow->total += g->totals[node];
	return 0;
}

/* Parents come before their children. */
static int add_nodes(struct call_graph *g)
{
	const struct gt_stack_tree *t = g->tree;
	int rc = 0;

	g->totals = calloc(t->nnodes + 1, sizeof(*g->totals));
	g->roots = calloc(t->nnodes + 1, sizeof(*g->roots));
	if (!g->totals || !g->roots)
		return -ENOMEM;
	for (uint32_t i = (uint32_t)t->nnodes; i-- > 0;) {
		g->totals[i] += t->nodes[i].cost > 0 ? (double)t->nodes[i].cost : 0;
		if (t->nodes[i].parent != GT_NONE)
			g->totals[t->nodes[i].parent] += g->totals[i];
	}
	for (uint32_t i = 0; !rc && i < t->nnodes; i++) {
		uint32_t parent = t->nodes[i].parent;

		g->roots[i] = parent == GT_NONE ? i : g->roots[parent];
		rc = add_node(g, i);
	}
	return rc;
}

/* ---- the file ---- */

/* A part of a quoted string. Graphviz takes & for the begin of an entity of HTML. */
static void put_escaped(struct gt_out *out, const char *s, size_t most)
{
	for (size_t letters = 0; *s; s++) {
		if (((unsigned char)*s & 0xc0) != 0x80 && letters++ == most)
			break;
		if (*s == '"' || *s == '\\')
			gt_out_str(out, "\\");
		gt_out_add(out, s, 1);
		if (*s == '&')
			gt_out_str(out, "amp;");
	}
	if (*s)
		gt_out_str(out, "..");
}

static bool is_shown(const struct call_graph *g, const struct item *it)
{
	const double all = g->totals[it->root];
	const struct gt_stack_tree *t = g->tree;

	return all > 0 && it->to != t->nodes[it->root].label &&
		it->from != t->nodes[it->root].label &&
		it->total >= all * (it->from == GT_NONE ? LEAST_BOX : LEAST_ARROW);
}

static void put_box(struct call_graph *g, const struct item *it)
{
	const char *name = gt_stack_tree_label(g->tree, it->to);
	const double all = g->totals[it->root], share = it->total / all, self = it->self / all;

	gt_out_printf(g->out, "\t\tb%u_%u [label=\"", it->root, it->to);
	put_escaped(g->out, name, NAME_MAX_SHOWN);
	gt_out_str(g->out, "\\n");
	gt_export_cost(g->out, g->tree->cost, it->total);
	gt_out_printf(g->out, " (%.1f %%)\\nitself ", share * 100);
	gt_export_cost(g->out, g->tree->cost, it->self);
	gt_out_printf(g->out, " (%.1f %%)\", tooltip=\"", self * 100);
	put_escaped(g->out, name, TEXT_MOST);
	gt_out_printf(g->out, "\", fontsize=%.0f, fillcolor=\"0.08 %.2f 1.0\"];\n", 10 + 14 * self,
		0.05 + 0.6 * share);
}

static void put_arrow(struct call_graph *g, const struct item *it)
{
	gt_out_printf(
		g->out, "\t\tb%u_%u -> b%u_%u [label=\"", it->root, it->from, it->root, it->to);
	gt_export_cost(g->out, g->tree->cost, it->total);
	gt_out_printf(g->out, "\", penwidth=%.1f];\n", 0.5 + 4 * it->total / g->totals[it->root]);
}

static void put_items(struct call_graph *g, uint32_t root)
{
	for (size_t i = 0; i < g->nitems; i++) {
		const struct item *it = &g->items[i];
		const struct item *from, *to;

		if (it->root != root || !is_shown(g, it))
			continue;
		if (it->from == GT_NONE) {
			put_box(g, it);
			continue;
		}
		from = item_of(g, root, GT_NONE, it->from); /* both are there: nothing is added */
		to = item_of(g, root, GT_NONE, it->to);
		if (from && to && is_shown(g, from) && is_shown(g, to))
			put_arrow(g, it);
	}
}

static void put_graph(struct call_graph *g)
{
	const struct gt_stack_tree *t = g->tree;
	size_t boxes = 0, shown = 0;

	for (size_t i = 0; i < g->nitems; i++) {
		const struct item *it = &g->items[i];

		boxes += it->from == GT_NONE && it->to != t->nodes[it->root].label;
		shown += it->from == GT_NONE && is_shown(g, it);
	}
	gt_out_str(g->out, "digraph gt {\n\tlabelloc=t;\n\tlabel=\"");
	put_escaped(g->out, t->title ? t->title : "Call graph", TEXT_MOST);
	if (shown < boxes)
		gt_out_printf(g->out, "\\n%zu of %zu boxes: the others are below %.1f %%", shown,
			boxes, LEAST_BOX * 100);
	gt_out_str(g->out,
		"\";\n\tnode [shape=box, style=filled, fontname=monospace];\n"
		"\tedge [fontname=monospace, fontsize=10];\n");
	for (uint32_t i = 0; i < t->nnodes; i++) {
		if (t->nodes[i].parent != GT_NONE || g->totals[i] <= 0)
			continue;
		gt_out_printf(g->out, "\tsubgraph cluster_%u {\n\t\tlabel=\"", i);
		put_escaped(g->out, gt_stack_tree_label(t, t->nodes[i].label), TEXT_MOST);
		gt_out_str(g->out, ": ");
		gt_export_cost(g->out, t->cost, g->totals[i]);
		gt_out_str(g->out, "\";\n");
		put_items(g, i);
		gt_out_str(g->out, "\t}\n");
	}
	gt_out_str(g->out, "}\n");
}

static int put_tree(const struct gt_stack_tree *t, struct gt_out *out, struct gt_err *err)
{
	struct call_graph g = { .tree = t, .out = out };
	int rc = add_nodes(&g);

	if (rc)
		gt_err_set(err, rc, "out of memory");
	else
		put_graph(&g);
	free(g.items);
	free(g.totals);
	free(g.roots);
	gt_map_release(&g.by_place);
	return rc;
}

static int dot_export(struct gt_reader *r, const struct gt_export_options *opt, struct gt_out *out,
	struct gt_err *err)
{
	struct gt_stack_tree tree;
	int rc;

	if (opt->tree)
		return put_tree(opt->tree, out, err);
	rc = gt_stack_tree_build(&tree, r, opt, err);
	rc = rc ? rc : put_tree(&tree, out, err);
	gt_stack_tree_release(&tree);
	return rc;
}

const struct gt_exporter gt_export_dot = {
	.name = "dot",
	.suffix = "dot",
	.help = "a call graph for Graphviz",
	.takes = GT_TAKES_STACKS | GT_TAKES_COST,
	.sums = true,
	.export = dot_export,
};
