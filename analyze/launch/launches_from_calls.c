/* Launches by kernel with the CPU time of the calls, and copies by direction (report "transfers"),
 * from the arguments of calls (gtcollect --args key). */
#include "analyze/launch/launches_from_calls.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/columns/column_cursor.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/cuda/cuda_api.h"
#include "formats/names/kernel_names.h"

struct gt_call_launches_group { /* of launches of one kernel, or of copies in one direction */
	const char *name;       /* borrowed; NULL: not recorded */
	uint32_t len;
	uint64_t count, failed, total, longest, bytes, sized, largest;
};
#define GROUPS_MAX (1u << 16)
enum { NAMED, NAMELESS }; /* tags of names */

int gt_call_launches_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct gt_call_launches *g = state;

	g->report = (struct gt_report_state){ r, opt };
	return gt_name_interner_init(&g->ids, 0, GROUPS_MAX, err);
}

static int count(
	struct gt_call_launches *g, const struct gt_call_launches_group *one, struct gt_err *err)
{
	struct gt_string text = { one->name ? one->name : "", one->len };
	uint32_t i = gt_name_interner_find(&g->ids, text, one->name ? NAMED : NAMELESS, err);
	struct gt_call_launches_group *to;

	if (i == GT_NONE || gt_grow(&g->list, &g->cap, g->ids.n, sizeof(*g->list)))
		return gt_err_set(err, -ENOMEM, "out of memory (kernels)");
	to = &g->list[i];
	if (i == g->n) {
		const struct gt_name_id *name = &g->ids.list[i];

		g->n++;
		*to = (struct gt_call_launches_group){
			.name = name->tag == NAMED ? name->text : NULL, .len = name->len
		};
	}
	to->count += one->count;
	to->failed += one->failed;
	to->sized += one->sized;
	to->total = gt_sat_add(to->total, one->total);
	to->bytes = gt_sat_add(to->bytes, one->bytes);
	to->longest = one->longest > to->longest ? one->longest : to->longest;
	to->largest = one->largest > to->largest ? one->largest : to->largest;
	return 0;
}

static struct gt_call_launches_group one_call(const struct gt_column_cursor *p)
{
	uint64_t dur = (uint64_t)p->cols->dur[p->row];

	return (struct gt_call_launches_group){
		.count = 1, .failed = p->ret != 0, .total = dur, .longest = dur
	};
}

static int launches_of_code(
	struct gt_call_launches *g, const struct gt_cols *cols, uint32_t code, struct gt_err *err)
{
	struct gt_column_cursor p;
	int rc = 0;

	for (gt_column_cursor_start(&p, cols, code, GT_R_KERNEL, GT_R_NONE);
		!rc && gt_column_cursor_next(&p);) {
		struct gt_call_launches_group one = one_call(&p);
		uint64_t string;

		if (gt_column_cursor_value(&p, 0, &string) && string < cols->seg->nstrings) {
			one.name = cols->seg->strings[string].ptr;
			one.len = cols->seg->strings[string].len;
		}
		rc = count(g, &one, err);
	}
	return rc;
}

/* Counts a copy from the row of its call. False: direction or size is missing, and the GPU's row
 * may have them. */
static bool copy_as_called(const struct gt_column_cursor *p, uint64_t by_name, uint64_t *direction,
	struct gt_call_launches_group *one)
{
	*one = one_call(p);
	*direction = by_name;
	gt_column_cursor_value(p, 0, direction);
	one->sized = !p->ret && gt_column_cursor_value(p, 1, &one->bytes);
	return p->ret || (one->sized && *direction != GT_DIR_UNKNOWN);
}

/* Adds direction and size from the GPU's copy. */
static void from_copies(struct gt_call_launches *g, const struct gt_column_cursor *p,
	uint64_t *direction, struct gt_call_launches_group *one)
{
	const struct gt_cols *cols = p->cols;
	const struct gt_call_copy *c =
		gt_call_copies_find(&g->copies, cols->seg->index, cols->track, cols->start[p->row]);

	if (!c)
		return;
	g->from_copies++;
	g->likely += c->by_order;
	*direction = *direction == GT_DIR_UNKNOWN ? c->direction : *direction;
	one->bytes = one->sized ? one->bytes : c->bytes;
	one->sized = 1;
}

/* First reading: counts the calls with direction and size. Second reading (`again`): the others. */
static int copies_of_code(
	struct gt_call_launches *g, const struct gt_cols *cols, uint32_t code, struct gt_err *err)
{
	const uint64_t by_name = gt_api_guess(gt_type_name(cols->seg, cols->types[code])).direction;
	struct gt_column_cursor p;
	int rc = 0;

	for (gt_column_cursor_start(&p, cols, code, GT_R_DIRECTION, GT_R_BYTES);
		!rc && gt_column_cursor_next(&p);) {
		struct gt_call_launches_group one;
		uint64_t direction;
		bool whole = copy_as_called(&p, by_name, &direction, &one);

		g->incomplete |= !whole;
		if (whole == g->second_reading)
			continue;
		if (g->second_reading)
			from_copies(g, &p, &direction, &one);
		one.name = gt_direction_text(direction);
		one.len = (uint32_t)strlen(one.name);
		one.largest = one.bytes;
		rc = count(g, &one, err);
	}
	return rc;
}

static int each_code(struct gt_call_launches *g, const struct gt_cols *cols, unsigned op,
	int (*fn)(struct gt_call_launches *g, const struct gt_cols *cols, uint32_t code,
		struct gt_err *err),
	struct gt_err *err)
{
	int rc = 0;

	for (uint32_t c = 0; !rc && c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);

		if (type && type->op == op && type->layer != GT_LAYER_GPU)
			rc = fn(g, cols, c, err);
	}
	return rc;
}

int gt_call_launches_run(struct gt_call_launches *c, const struct gt_cols *cols, struct gt_err *err)
{
	return each_code(c, cols, GT_OP_LAUNCH, launches_of_code, err);
}

static int transfers_merge(void *into, void *from, struct gt_err *err)
{
	struct gt_call_launches *a = into, *b = from;
	int rc = 0;

	a->incomplete |= b->incomplete;
	for (size_t i = 0; !rc && i < b->n; i++)
		rc = count(a, &b->list[i], err);
	return rc;
}

static int by_total(const void *pa, const void *pb)
{
	const struct gt_call_launches_group *a = pa, *b = pb;

	if (a->total == b->total && a->name && b->name)
		return gt_compare_texts(a->name, a->len, b->name, b->len);
	return GT_COMPARE(b->total, a->total) ?: !a->name - !b->name ?: GT_COMPARE(a->len, b->len);
}

/* Sorts the groups by total time. Returns their shares; the caller frees them. */
static int64_t *sorted_shares(struct gt_call_launches *g, struct gt_err *err)
{
	GT_SORT(g->list, g->n, by_total);
	return GT_NEW_SHARES(g->list, g->n, total, err);
}

static const struct gt_column kernel_columns[] = {
	{ "kernel", "Kernel", GT_C_TEXT },
	{ "launches", "Launches", GT_C_COUNT },
	{ "failed", "Failed", GT_C_COUNT },
	{ "total_ns", "Launch calls", GT_C_NS },
	{ "mean_ns", "Mean", GT_C_NS },
	{ "max_ns", "Max", GT_C_NS },
	{ "share_percent", "Share %", GT_C_PERCENT },
	{ "name", NULL, GT_C_TEXT },
};

struct gt_table *gt_call_launches_table(struct gt_call_launches *g, struct gt_err *err)
{
	int64_t *shares = sorted_shares(g, err);
	struct gt_kernel_names *names = gt_kernel_names_of(g->report.reader, g->report.opt->names);
	struct gt_table *t = gt_report_table(&g->report, "launches",
		"Kernels launched, by time in the launching calls", kernel_columns, 8,
		"max_ns mean_ns failed share_percent", err);
	size_t shown = gt_rows_shown(g->n, g->report.opt->top);

	for (size_t i = 0; shares && names && t && i < shown; i++) {
		const struct gt_call_launches_group *k = &g->list[i];

		gt_table_add(t,
			(struct gt_cell[]){ k->name
					? gt_cell_text(gt_kernel_names_shown(names, k->name))
					: gt_cell_none(),
				gt_cell_u(k->count), gt_cell_faults(k->failed), gt_cell_u(k->total),
				gt_cell_u(k->total / k->count), gt_cell_u(k->longest),
				gt_cell_i(shares[i]),
				k->name ? gt_cell_text(k->name) : gt_cell_none() });
	}
	if (t) {
		gt_table_note_cut(t, g->n, shown);
		gt_name_interner_note(&g->ids, t, "kernels");
	}
	if (!shares || !names)
		gt_table_free(t), t = NULL;
	gt_kernel_names_free(names);
	free(shares);
	if (!t)
		gt_err_set(err, -ENOMEM, "out of memory (kernels)");
	return t;
}

static const struct gt_column copy_columns[] = {
	{ "direction", "Direction", GT_C_TEXT },
	{ "count", "Copies", GT_C_COUNT },
	{ "failed", "Failed", GT_C_COUNT },
	{ "bytes", "Bytes", GT_C_BYTES },
	{ "mean_bytes", "Mean size", GT_C_BYTES },
	{ "max_bytes", "Largest", GT_C_BYTES },
	{ "total_ns", "Copy calls", GT_C_NS },
	{ "max_ns", "Slowest", GT_C_NS },
	{ "share_percent", "Share %", GT_C_PERCENT },
};

#define TRANSFERS (GT_BIT(GT_CALL) | GT_BIT(GT_INSTANT))
static int transfers_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	return each_code(state, cols, GT_OP_COPY, copies_of_code, err);
}

/* Counts the calls without direction or size: reads the GPU's copies, then the calls a second time.
 */
static int count_incomplete(struct gt_call_launches *g, struct gt_err *err)
{
	struct gt_filter filter = g->report.opt->filter;
	int rc = gt_call_copies_read(&g->copies, &g->report, err);

	g->second_reading = true;
	filter.kinds = TRANSFERS;
	filter.args = true;
	return rc
		? rc
		: gt_reread_trace(g->report.reader, &filter, GT_ANY_ORDER, transfers_block, g, err);
}

/* Files of other tools may have only the name of a call. */
static void note_incomplete(const struct gt_call_launches *g, struct gt_table *t)
{
	uint64_t incomplete = 0;

	for (size_t i = 0; i < g->n; i++)
		incomplete += g->list[i].count - g->list[i].failed - g->list[i].sized;
	gt_note_plural(t, g->from_copies,
		"for %llu {copy|copies} the call has no direction and size: {they are|these are} "
		"taken from the GPU's records",
		(unsigned long long)g->from_copies);
	gt_note_plural(t, g->likely,
		"for %llu of these the call was inferred by {its|their} order in the stream",
		(unsigned long long)g->likely);
	if (g->copies.crowded)
		gt_table_note(t, "more than %u copies of the GPU: further ones are ignored",
			GT_CALL_COPIES_MOST);
	gt_note_plural(t, incomplete, "the arguments of %llu {copy|copies} were not recorded%s",
		(unsigned long long)incomplete,
		gt_is_recorded(g->report.reader, GT_LAYER_GPU)
			? ": report copies has the copies of the GPU"
			: "");
}

static void add_direction(struct gt_table *t, const struct gt_call_launches_group *k, int64_t share)
{
	gt_table_add(t,
		(struct gt_cell[]){ gt_cell_text(k->name), gt_cell_u(k->count),
			gt_cell_faults(k->failed), gt_cell_known(k->sized, k->bytes),
			gt_cell_known(k->sized, k->sized ? k->bytes / k->sized : 0),
			gt_cell_known(k->sized, k->largest), gt_cell_u(k->total),
			gt_cell_u(k->longest), gt_cell_i(share) });
}

static int transfers_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct gt_call_launches *g = state;
	int rc = g->incomplete ? count_incomplete(g, err) : 0;
	int64_t *shares = rc ? NULL : sorted_shares(g, err);

	if (!shares)
		return err->code;
	tables[0] = gt_report_table(&g->report, "transfers",
		"Memory transfers by direction, from calls", copy_columns, 9,
		"max_ns mean_bytes share_percent max_bytes failed bytes", err);
	for (size_t i = 0; tables[0] && i < g->n; i++)
		add_direction(tables[0], &g->list[i], shares[i]);
	if (tables[0])
		note_incomplete(g, tables[0]);
	free(shares);
	return tables[0] ? 1 : err->code;
}

void gt_call_launches_release(struct gt_call_launches *g)
{
	free(g->list);
	gt_name_interner_release(&g->ids);
	gt_call_copies_release(&g->copies);
}

static void transfers_release(void *state) { gt_call_launches_release(state); }

const struct gt_analysis gt_transfers_report = {
	.name = "transfers",
	.help = "memory transfers by direction: count, bytes, sizes, time of the calls",
	.wants = TRANSFERS,
	.needs = GT_LAYERS_OF_CALLS,
	.wants_args = true,
	.splits = GT_BY_BLOCK,
	.state_size = sizeof(struct gt_call_launches),
	.init = gt_call_launches_init,
	.block = transfers_block,
	.merge = transfers_merge,
	.finish = transfers_finish,
	.release = transfers_release,
};
