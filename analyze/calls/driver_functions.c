#include "analyze/calls/driver_functions.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

#define NODES_MAX 65536u
#define DEEPEST 64u /* frames; deeper functions count as called by the deepest one */

struct node_key {
	uint32_t parent,
		type; /* parent: index of a node; GT_NONE: it is a request, or outside any */
};
struct node {
	struct node_key key;
	uint64_t calls, ns, self, longest; /* ns of a request: in the functions that it calls */
	bool is_function;
};
struct gt_driver_frame {
	int64_t start, end;
	uint64_t ns, in_functions;
	uint32_t node; /* GT_NONE: a request that has called no function so far */
	uint32_t type;
	bool is_function;
};

bool gt_is_kernel_function(const struct gt_type *type)
{
	return type->layer == GT_LAYER_USER && type->category == GT_CAT_KERNEL;
}

void gt_driver_functions_init(struct gt_driver_functions *f)
{
	gt_group_table_init(&f->nodes, sizeof(struct node), sizeof(struct node_key), NODES_MAX);
}

/* ---- rows ---- */

/* The outermost frame comes off last, so its time in functions is complete. */
static void pop(struct gt_driver_functions *f, struct gt_driver_stack *s)
{
	const struct gt_driver_frame *top = &s->list[--s->n];
	struct node *n;

	if (!top->is_function)
		return;
	n = gt_group_table_at(&f->nodes, top->node);
	n->self += top->ns > top->in_functions ? top->ns - top->in_functions : 0;
	if (s->n)
		s->list[s->n - 1].in_functions += top->ns;
}

static void pop_ended(struct gt_driver_functions *f, struct gt_driver_stack *s, int64_t at)
{
	while (s->n && s->list[s->n - 1].end <= at)
		pop(f, s);
}

static uint32_t node_of(
	struct gt_driver_functions *f, uint32_t parent, uint32_t type, struct gt_err *err)
{
	return gt_group_table_find(&f->nodes, &(struct node_key){ parent, type }, err);
}

/* The node of the innermost frame, which is made for a request with its first function. */
static int parent_of(struct gt_driver_functions *f, struct gt_driver_stack *s, uint32_t *parent,
	struct gt_err *err)
{
	struct gt_driver_frame *top = s->n ? &s->list[s->n - 1] : NULL;

	*parent = GT_NONE;
	if (!top)
		return 0;
	if (!top->is_function && top->node == GT_NONE) {
		top->node = node_of(f, GT_NONE, top->type, err);
		if (top->node == GT_GROUP_TABLE_NONE)
			return err->code;
	}
	*parent = top->node;
	return 0;
}

int gt_driver_functions_add(struct gt_driver_functions *f, struct gt_driver_stack *s,
	const struct gt_driver_row *row, struct gt_err *err)
{
	struct gt_driver_frame frame = { .start = row->start,
		.end = row->end,
		.ns = row->ns,
		.node = GT_NONE,
		.type = row->type,
		.is_function = row->is_function };
	uint32_t parent;
	struct node *n;

	pop_ended(f, s, row->start);
	if (s->n == DEEPEST)
		return 0;
	if (gt_grow(&s->list, &s->cap, s->n + 1, sizeof(*s->list)))
		return gt_err_set(err, -ENOMEM, "out of memory (functions of the driver)");
	if (row->is_function) {
		if (parent_of(f, s, &parent, err) ||
			(frame.node = node_of(f, parent, row->type, err)) == GT_GROUP_TABLE_NONE)
			return err->code;
		n = gt_group_table_at(&f->nodes, frame.node);
		n->is_function = true;
		n->calls++;
		n->ns += row->ns;
		n->longest = row->ns > n->longest ? row->ns : n->longest;
		n = parent == GT_NONE ? NULL : gt_group_table_at(&f->nodes, parent);
		if (n && !n->is_function)
			n->ns += row->ns;
	}
	s->list[s->n++] = frame;
	return 0;
}

void gt_driver_functions_end(struct gt_driver_functions *f, struct gt_driver_stack *s)
{
	while (s->n)
		pop(f, s);
	free(s->list);
	*s = (struct gt_driver_stack){ NULL };
}

/* ---- the table ---- */

static const struct gt_column columns[] = {
	{ "request", "Request", GT_C_TEXT },
	{ "function", "Function", GT_C_TEXT },
	{ "caller", "Called by", GT_C_TEXT },
	{ "count", "Calls", GT_C_COUNT },
	{ "total_ns", "Total", GT_C_NS },
	{ "self_ns", "Self", GT_C_NS },
	{ "max_ns", "Longest", GT_C_NS },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

struct sorted_node {
	const struct node *node;
	uint32_t index;
};
struct tree {
	struct gt_table *table;
	const struct gt_driver_functions *f;
	const char *(*name)(void *arg, uint32_t type);
	void *arg;
	struct sorted_node *list;
	size_t n, shown, most; /* rows */
};

static int by_parent(const void *pa, const void *pb)
{
	const struct sorted_node *a = pa, *b = pb;

	return GT_COMPARE(a->node->key.parent, b->node->key.parent) ?:
		GT_COMPARE(a->node->is_function, b->node->is_function) ?:
		GT_COMPARE(b->node->ns, a->node->ns) ?:
		GT_COMPARE(a->node->key.type, b->node->key.type);
}

static const struct node *node_at(const struct tree *t, uint32_t i)
{
	return gt_group_table_at(&t->f->nodes, i);
}

static void add_row(struct tree *t, const struct node *n)
{
	const struct node *caller = n->key.parent == GT_NONE ? NULL : node_at(t, n->key.parent),
			  *root = n;

	while (root->key.parent != GT_NONE)
		root = node_at(t, root->key.parent);
	if (t->shown++ >= t->most)
		return;
	gt_table_add(t->table,
		(struct gt_cell[NCOLUMNS]){ root->is_function
				? gt_cell_none()
				: gt_cell_text(t->name(t->arg, root->key.type)),
			gt_cell_text(t->name(t->arg, n->key.type)),
			caller && caller->is_function
				? gt_cell_text(t->name(t->arg, caller->key.type))
				: gt_cell_none(),
			gt_cell_u(n->calls), gt_cell_u(n->ns), gt_cell_u(n->self),
			gt_cell_u(n->longest) });
}

/* A node, and then those below it. Frames are at most DEEPEST deep. */
static void add_below(struct tree *t, uint32_t parent)
{
	const struct node key = { .key.parent = parent, .ns = UINT64_MAX };
	size_t i = 0, end = t->n;

	while (i < end) { /* the first one with this parent */
		size_t half = i + (end - i) / 2;

		if (by_parent(&t->list[half], &(struct sorted_node){ &key, 0 }) < 0)
			i = half + 1;
		else
			end = half;
	}
	for (; i < t->n && t->list[i].node->key.parent == parent; i++) {
		if (t->list[i].node->is_function)
			add_row(t, t->list[i].node);
		add_below(t, t->list[i].index);
	}
}

struct gt_table *gt_driver_functions_table(const struct gt_driver_functions *f,
	const struct gt_report_state *report, const char *(*name)(void *arg, uint32_t type),
	void *arg, struct gt_err *err)
{
	struct tree t = { .f = f, .name = name, .arg = arg };

	if (!f->nodes.n)
		return NULL;
	t.table = gt_report_table(report, "driver_functions", "Functions of the kernel by request",
		columns, NCOLUMNS, "max_ns", err);
	t.list = calloc(f->nodes.n, sizeof(*t.list));
	if (!t.table || !t.list) {
		free(t.list);
		gt_err_set(err, -ENOMEM, "out of memory (functions of the driver)");
		return NULL;
	}
	for (uint32_t i = 0; i < f->nodes.n; i++)
		if (!gt_group_table_is_rest(&f->nodes, node_at(&t, i)))
			t.list[t.n++] = (struct sorted_node){ node_at(&t, i), i };
	GT_SORT(t.list, t.n, by_parent);
	t.most = gt_rows_shown(t.n, report->opt->top);
	add_below(&t, GT_NONE);
	gt_table_note_cut(t.table, t.shown, t.shown < t.most ? t.shown : t.most);
	free(t.list);
	return t.table;
}

void gt_driver_functions_release(struct gt_driver_functions *f)
{
	gt_group_table_release(&f->nodes);
}
