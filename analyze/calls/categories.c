/* Time by category and by layer.
 *
 * Categories divide the time that threads spent in calls. Only outermost calls count (depth 0):
 * a call or ioctl inside another call is part of it, so no time counts twice, and the column
 * adds up to the busy time of the threads. Nested time has its own column and is in no share.
 * Ranges of the program (NVTX) and calls of the CUDA runtime contain other calls, and are not
 * counted, nor are states of threads off the processor. Layers list all rows of each kind with
 * their full time, nested or not. */
#include "analyze/core/report.h"
#include "formats/trace/write/sched_rows.h"

struct sum {
	struct gt_stat all;
	uint64_t nested;
};

static bool is_call(const struct gt_type *type)
{
	return type->layer == GT_LAYER_API || type->layer == GT_LAYER_IOCTL ||
		type->layer == GT_LAYER_SYSCALL ||
		(type->layer == GT_LAYER_SCHED && type->op != GT_OP_OFF_CPU &&
			type->op != GT_OP_SAMPLE);
}

static void gather(const struct gt_report_state *a, struct sum sums[], unsigned n, bool by_layer)
{
	for (uint32_t i = 0; i < gt_reader_segments(a->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(a->reader, i);

		for (uint32_t t = 0; t < seg->ntypes; t++) {
			const struct gt_type *type = &seg->types[t];
			unsigned where = by_layer ? type->layer : type->category;

			if (where < n && (by_layer || is_call(type)))
				gt_stat_add(&sums[where].all,
					gt_aggregate_stat(a->opt->aggregate, i, t));
		}
	}
	for (unsigned i = 0; i < n; i++)
		sums[i].nested = sums[i].all.total - sums[i].all.outer_total;
}

static const struct gt_column category_columns[] = {
	{ "category", "Category", GT_C_TEXT },
	{ "count", "Calls", GT_C_COUNT },
	{ "outermost", "Outermost", GT_C_COUNT },
	{ "time_ns", "Time", GT_C_NS },
	{ "share_percent", "Share %", GT_C_PERCENT },
	{ "nested_ns", "Nested in others", GT_C_NS },
};

static int categories_finish(
	void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct sum sums[GT_CATEGORY_COUNT] = { 0 };
	uint64_t parts[GT_CATEGORY_COUNT];
	int64_t shares[GT_CATEGORY_COUNT];
	int rc;

	gather(state, sums, GT_CATEGORY_COUNT, false);
	for (unsigned c = 0; c < GT_CATEGORY_COUNT; c++)
		parts[c] = sums[c].all.outer_total;
	rc = gt_compute_shares(parts, GT_CATEGORY_COUNT, shares, err);
	if (rc)
		return rc;
	tables[0] = gt_report_table(state, "categories", "Time by category (outermost calls)",
		category_columns, 6, "nested_ns outermost count", err);
	if (!tables[0])
		return err->code;
	for (unsigned c = 0; c < GT_CATEGORY_COUNT; c++)
		if (sums[c].all.count)
			gt_table_add(tables[0],
				(struct gt_cell[]){ gt_cell_text(gt_category_word(c)),
					gt_cell_u(sums[c].all.count), gt_cell_u(sums[c].all.outer),
					gt_cell_u(parts[c]), gt_cell_i(shares[c]),
					gt_cell_u(sums[c].nested) });
	gt_table_sort(tables[0], "time_ns", 0);
	return 1;
}

static const struct gt_column layer_columns[] = {
	{ "layer", "Layer", GT_C_TEXT },
	{ "count", "Rows", GT_C_COUNT },
	{ "open", "Still open", GT_C_COUNT },
	{ "instants", "Instants", GT_C_COUNT },
	{ "failed", "Failed", GT_C_COUNT },
	{ "time_ns", "Time", GT_C_NS },
	{ "max_ns", "Max", GT_C_NS },
};

/* The layer also has rows other than ioctls. */
static void note_files(const struct gt_report_state *a, struct gt_table *t)
{
	struct gt_stat files = { 0 };

	for (uint32_t i = 0; i < gt_reader_segments(a->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(a->reader, i);

		for (uint32_t k = 0; k < seg->ntypes; k++)
			if (seg->types[k].layer == GT_LAYER_IOCTL &&
				seg->types[k].category == GT_CAT_FILE)
				gt_stat_add(&files, gt_aggregate_stat(a->opt->aggregate, i, k));
	}
	gt_note_plural(t, files.count,
		"ioctl: %llu of these rows {opens, maps or closes|open, map or close} the driver's files, %s; the "
		"others are ioctls, as in summary",
		(unsigned long long)files.count, gt_scaled(GT_C_NS, gt_clamp(files.total)).text);
}

/* A wait has a second row if its thread waits for a processor when it is woken. */
static void note_runnable(const struct gt_report_state *a, struct gt_table *t)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < gt_reader_segments(a->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(a->reader, i);

		for (uint32_t k = 0; k < seg->ntypes; k++)
			if (seg->types[k].layer == GT_LAYER_SCHED &&
				gt_sched_state_of(&seg->types[k],
					gt_str(seg, seg->types[k].name)) == GT_SCHED_RUNNABLE)
				n += gt_aggregate_stat(a->opt->aggregate, i, k)->count;
	}
	gt_note_plural(t, n,
		"scheduler: %llu of these rows {is a thread that was woken and waits|are threads that were woken and wait} for a processor; the others are switch-outs, as in summary",
		(unsigned long long)n);
}

static int layers_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	const struct gt_report_state *a = state;
	struct sum sums[GT_LAYER_COUNT] = { 0 };

	gather(a, sums, GT_LAYER_COUNT, true);
	tables[0] = gt_report_table(
		a, "layers", "Time by layer", layer_columns, 7, "instants open max_ns failed", err);
	if (!tables[0])
		return err->code;
	for (unsigned l = 0; l < GT_LAYER_COUNT; l++) {
		const struct gt_stat *s = &sums[l].all;
		bool known = gt_is_recorded(a->reader, l) && !gt_why_filtered_out(a, l, GT_OP_NONE);

		gt_table_add(tables[0],
			(struct gt_cell[]){ gt_cell_text(gt_layer_word(l)),
				gt_cell_known(known, s->count), gt_cell_known(known, s->open),
				gt_cell_known(known, s->instants),
				known ? gt_cell_faults(s->failed) : gt_cell_none(),
				gt_cell_known(known, s->total), gt_cell_known(known, s->longest) });
	}
	note_files(a, tables[0]);
	note_runnable(a, tables[0]);
	return 1;
}

#define ALL                                                                                        \
	(GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU) | GT_BIT(GT_INSTANT))

const struct gt_analysis gt_categories_report = {
	.name = "categories",
	.help = "time of outermost calls by category: init, memory, copy, launch, sync ...",
	.wants = ALL,
	.needs = GT_LAYERS_OF_CALLS | GT_BIT(GT_LAYER_IOCTL) | GT_BIT(GT_LAYER_SCHED) |
		GT_BIT(GT_LAYER_SYSCALL),
	.aggregates = GT_AGGREGATE_TYPES,
	.splits = GT_BY_BLOCK,
	.in_default = GT_DEFAULT_CALLS,
	.state_size = sizeof(struct gt_report_state),
	.init = gt_report_state_init,
	.finish = categories_finish,
};

const struct gt_analysis gt_layers_report = {
	.name = "layers",
	.help = "rows and time by layer: API, ioctl, scheduler, GPU, user",
	.wants = ALL,
	.aggregates = GT_AGGREGATE_TYPES,
	.splits = GT_BY_BLOCK,
	.state_size = sizeof(struct gt_report_state),
	.init = gt_report_state_init,
	.finish = layers_finish,
};
