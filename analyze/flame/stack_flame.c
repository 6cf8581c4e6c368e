#include "analyze/flame/stack_flame.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#include "analyze/core/run.h"
#include "formats/base/numbers.h"
#include "formats/names/stack_names.h"

#define THREADS_MOST 4

const struct gt_stack_flame gt_stack_flames[GT_STACK_FLAMES] = {
	[GT_STACK_FLAME_HOST] = { "host", false, &gt_flame_host },
	[GT_STACK_FLAME_IDLE] = { "idle", false, &gt_flame_idle },
	[GT_STACK_FLAME_KERNEL] = { "kernel", false, &gt_flame_kernel },
	[GT_STACK_FLAME_MEMORY] = { "memory", true, &gt_flame_memory },
};

bool gt_stack_flame_has(struct gt_reader *r, enum gt_stack_flame_kind kind)
{
	return kind == GT_STACK_FLAME_HOST    ? gt_has_samples(r) || gt_has_thread_states(r)
		: kind == GT_STACK_FLAME_IDLE ? gt_has_samples(r) || gt_has_stacks(r)
					      : gt_has_stacks(r);
}

/* ---- sums ---- */

void gt_flame_sums_init(
	struct gt_flame_sums *s, struct gt_reader *r, const struct gt_analysis_options *opt)
{
	s->report = (struct gt_report_state){ r, opt };
	gt_group_table_init(&s->list, sizeof(struct gt_flame_sum),
		offsetof(struct gt_flame_sum, total), GT_FLAME_SUMS);
}

int gt_flame_sums_add(
	struct gt_flame_sums *s, const struct gt_flame_sum *key, uint64_t value, struct gt_err *err)
{
	uint32_t i = gt_group_table_find(&s->list, key, err);
	struct gt_flame_sum *sum;

	if (i == GT_GROUP_TABLE_NONE)
		return err->code;
	sum = gt_group_table_at(&s->list, i);
	sum->total = gt_sat_add(sum->total, value);
	return 0;
}

void gt_flame_sums_release(struct gt_flame_sums *s) { gt_group_table_release(&s->list); }

/* ---- from sums to a table ---- */

static const struct gt_column columns[GT_FLAME_COLUMNS] = {
	{ "parent", "Parent", GT_C_COUNT }, /* absent: the root */
	{ "frame", "Frame", GT_C_TEXT },
	{ "value", "Value", GT_C_COUNT }, /* without the children's */
};

/* The node of the innermost frame of a sum. */
static uint32_t node_of(const struct gt_flame_sums *s, struct gt_stack_tree *tree, uint32_t root,
	const struct gt_flame_sum *sum)
{
	const struct gt_segment *seg = gt_group_table_is_rest(&s->list, sum)
		? NULL
		: gt_reader_segment(s->report.reader, sum->segment);
	char text[64];
	const char *last = !seg ? "(further stacks)"
		: s->last_frame ? s->last_frame(sum->last, text)
				: gt_kernel_names_get(tree->names, gt_type_name(seg, sum->last));
	uint32_t node = root;

	if (seg && sum->track != GT_NONE) {
		node = gt_stack_tree_process(tree, node, seg, sum->track);
		if (node != GT_NONE && seg->tracks[sum->track].kind == GT_TRACK_THREAD)
			node = gt_stack_tree_node(
				tree, node, gt_stack_tree_track(tree, seg, sum->track));
	}
	if (node != GT_NONE && seg && (sum->stack != GT_NONE || !last || !s->last_frame))
		node = gt_stack_tree_frames(tree, node, seg, sum->stack);
	return last && node != GT_NONE ? gt_stack_tree_child(tree, node, last) : node;
}

static int fill_tree(const struct gt_flame_sums *s, struct gt_stack_tree *tree, const char *root)
{
	uint32_t top = gt_stack_tree_child(tree, GT_NONE, root);

	for (size_t i = 0; top != GT_NONE && i < s->list.n; i++) {
		const struct gt_flame_sum *sum = gt_group_table_at(&s->list, i);
		uint32_t node = sum->total ? node_of(s, tree, top, sum) : top;

		if (node == GT_NONE)
			break;
		gt_stack_tree_add(tree, node, gt_clamp(sum->total));
	}
	return tree->err->code;
}

static struct gt_table *new_table(struct gt_flame_sums *s, const char *title, struct gt_err *err)
{
	return gt_report_table(&s->report, "flame", title, columns, GT_FLAME_COLUMNS, "", err);
}

struct gt_table *gt_flame_sums_table(
	struct gt_flame_sums *s, const char *title, const char *root, struct gt_err *err)
{
	struct gt_table *t = new_table(s, title, err);
	struct gt_stack_tree tree;

	if (!t)
		return NULL;
	if (gt_stack_tree_init(&tree, s->report.reader, err) || fill_tree(s, &tree, root)) {
		gt_table_free(t);
		t = NULL;
	}
	for (size_t i = 0; t && i < tree.nnodes; i++) {
		const struct gt_stack_node *n = &tree.nodes[i];

		gt_table_add(t,
			(struct gt_cell[GT_FLAME_COLUMNS]){
				n->parent == GT_NONE ? gt_cell_none() : gt_cell_u(n->parent),
				gt_cell_text(gt_stack_tree_label(&tree, n->label)),
				gt_cell_i(n->cost) });
	}
	gt_stack_tree_release(&tree);
	return t;
}

struct gt_table *gt_flame_unanswered(struct gt_flame_sums *s, const char *why, struct gt_err *err)
{
	struct gt_table *t = new_table(s, NULL, err);

	if (t)
		gt_table_set_unanswered(t, "%s", why);
	return t;
}

/* ---- from a table to a tree ---- */

static int refuse(const struct gt_table *t, struct gt_err *err)
{
	const char *note, *why = NULL;

	for (size_t i = 0; !why && (note = gt_table_get_note(t, i)); i++)
		why = strstr(note, "cannot answer: ");
	return gt_err_set(err, -ENODATA, "%s", why ? why : "cannot answer");
}

/* new: the first note. NULL: no memory, or there is none. */
static char *copy_note(const struct gt_table *t)
{
	const char *note = gt_table_get_note(t, 0);

	return note ? strdup(note) : NULL;
}

/* Adds the nodes of a table to an empty tree. */
static int make_tree(
	struct gt_stack_tree *to, const struct gt_table *t, bool bytes, struct gt_err *err)
{
	unsigned n = gt_table_rows(t);

	to->cost = bytes ? GT_COST_BYTES : GT_COST_TIME;
	if (gt_table_answer(t) == GT_UNANSWERED)
		return refuse(t, err);
	for (unsigned i = 0; i < n; i++) {
		const struct gt_cell *parent = gt_table_cell(t, i, GT_FLAME_PARENT);
		uint32_t above = parent->absent ? GT_NONE : (uint32_t)parent->i;
		uint32_t node =
			gt_stack_tree_child(to, above, gt_table_cell(t, i, GT_FLAME_LABEL)->s);

		if (node == GT_NONE)
			return err->code;
		gt_stack_tree_add(to, node, gt_table_cell(t, i, GT_FLAME_VALUE)->i);
	}
	to->title = strdup(gt_table_title(t));
	to->note = copy_note(t);
	return to->title ? 0 : gt_err_set(err, -ENOMEM, "out of memory");
}

int gt_stack_flame_run(struct gt_stack_tree *to, enum gt_stack_flame_kind kind, struct gt_reader *r,
	const struct gt_filter *filter, const char *restrictions, struct gt_err *err)
{
	const struct gt_stack_flame *flame = &gt_stack_flames[kind];
	struct gt_table *tables[GT_RUN_TABLES] = { NULL };
	struct gt_analysis_options opt = {
		.file = "", .filter = *filter, .restrictions = restrictions
	};
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned threads = processors < 1   ? 1
		: processors < THREADS_MOST ? (unsigned)processors
					    : THREADS_MOST;
	int rc = gt_run(r, &flame->analysis, 1, &opt, threads, tables, err);

	*to = (struct gt_stack_tree){ .err = err };
	if (rc >= 0 && gt_table_failed(tables[0]))
		rc = gt_err_set(err, -ENOMEM, "out of memory");
	if (rc >= 0)
		rc = make_tree(to, tables[0], flame->bytes, err);
	for (unsigned i = 0; i < GT_RUN_TABLES; i++)
		gt_table_free(tables[i]);
	return rc;
}
