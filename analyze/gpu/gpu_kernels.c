/* Kernels on the GPU by name, and the overview of the GPUs.
 *
 * Totals are sums of whole rows: kernels that ran at the same time count once each. The busy share
 * of a name is the part of the devices' busy time (gpu_time.h) in which at least one kernel of the
 * name ran. These shares add up to more than 100 % if kernels overlap; none exceeds 100 %.
 *
 * A kernel's row names the call that launched it. Queue time is the time from the end of that call
 * to the start of the kernel. A kernel that began before the call returned did not queue, and is
 * not in the mean.
 *
 * Occupancy is the theoretical one (occupancy.h), the mean over the time of the kernels.
 */
#include <stdlib.h>
#include <string.h>
#include "analyze/stats/text_bars.h"
#include "analyze/core/durations.h"
#include "analyze/gpu/gpu_name.h"
#include "analyze/gpu/gpu_time.h"
#include "analyze/gpu/kernel_occupancy.h"
#include "analyze/columns/launch_fields.h"
#include "analyze/stats/name_interner.h"
#include "analyze/columns/column_cursor.h"
#include "analyze/gpu/shared_gpus.h"
#include "analyze/stacks/by_stack.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/names/kernel_names.h"

#define KERNELS_MAX (1u << 16)
#define OVERVIEW_TOP 10u

struct kernel {
	const char *name; /* borrowed */
	uint32_t len;
	struct gt_durations ran;
	/* rows with a known launch; those matched by order only */
	uint64_t joined, by_order;
	uint64_t launch_ns, queued, queue_ns;
	uint64_t busy; /* ns: union, filled in at the end */
	struct gt_kernel_occupancy occupancy;
};
struct kernels {
	struct gt_gpu_time time; /* first: begins with struct gt_report_state */
	struct gt_name_interner names;
	struct kernel *list; /* by name */
	size_t n, cap, hist_bytes;
	bool needs_occupancy;
	struct gt_occupancy_input occupancy;
};

static int kernels_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct kernels *k = state;
	int rc = gt_gpu_time_init(&k->time, r, opt, err);

	return rc ? rc
		  : gt_name_interner_init(
			    &k->names, k->time.order.types[k->time.order.nsegs], KERNELS_MAX, err);
}

static int kernels_with_occupancy_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	((struct kernels *)state)->needs_occupancy = true;
	return kernels_init(state, r, opt, err);
}

/* ---- rows ---- */

/* 1 + the kernel of a type; 0 with err filled in. */
static uint32_t find_kernel(
	struct kernels *k, const struct gt_segment *seg, uint32_t type, struct gt_err *err)
{
	uint32_t i = gt_name_interner_type(
		&k->names, gt_time_ordered_type(&k->time.order, seg, type), seg, type, 0, err);

	if (i == GT_NONE)
		return 0;
	if (i == k->n) {
		if (gt_grow(&k->list, &k->cap, k->n + 1, sizeof(*k->list)))
			return gt_err_set(err, -ENOMEM, "out of memory (kernels)"), 0;
		k->list[k->n++] = (struct kernel){ .name = k->names.list[i].text,
			.len = k->names.list[i].len };
	}
	return 1 + i;
}

/* Counts the launch of a row that began at `start`. */
static void add_launch(struct kernel *to, const struct gt_launch_call *call, int64_t start)
{
	to->joined++;
	to->by_order += call->by_order;
	to->launch_ns = gt_sat_add(to->launch_ns, (uint64_t)(call->end - call->start));
	if (start < call->end)
		return;
	to->queued++;
	to->queue_ns = gt_sat_add(to->queue_ns, (uint64_t)(start - call->end));
}

static int kernels_of_code(struct kernels *k, const struct gt_cols *cols, uint32_t code,
	struct gt_moment *m, struct gt_err *err)
{
	struct gt_launch_fields l = { .n = 0 };
	struct gt_launch_call call;
	struct gt_column_cursor p;
	uint32_t at = 0, nth = 0;

	for (gt_column_cursor_start(&p, cols, code, GT_R_NONE, GT_R_NONE);
		gt_column_cursor_next(&p); nth++) {
		/* looked up at the first row: most runs have few types of their block */
		if (!at) {
			if (!(at = find_kernel(k, cols->seg, cols->types[code], err)))
				return err->code;
			if (k->needs_occupancy &&
				gt_occupancy_input_read(&k->occupancy, cols, code, err))
				return err->code;
			gt_launch_fields_read(&l, cols, code, GT_LAUNCH_START | GT_LAUNCH_NS);
		}
		m[p.row].addr = at;
		gt_durations_add(&k->list[at - 1].ran, (uint64_t)cols->dur[p.row], &k->hist_bytes);
		if (k->needs_occupancy)
			gt_kernel_occupancy_add(&k->list[at - 1].occupancy, &k->occupancy, nth,
				(uint64_t)cols->dur[p.row]);
		if (gt_launch_fields_call(&l, cols->seg, nth, &call))
			add_launch(&k->list[at - 1], &call, cols->start[p.row]);
	}
	return 0;
}

static int kernels_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct kernels *k = state;
	struct gt_moment *m = gt_gpu_time_run(&k->time, cols, err);
	int rc = m ? 0 : err->code;

	for (uint32_t c = 0; !rc && c < cols->ntypes; c++)
		if (gt_gpu_what(gt_cols_type(cols, c)) == GT_GPU_KERNEL)
			rc = kernels_of_code(k, cols, c, m, err);
	return rc;
}

/* ---- figures ---- */

static int by_total(const void *pa, const void *pb)
{
	const struct kernel *a = pa, *b = pb;

	return GT_COMPARE(b->ran.total, a->ran.total)
		?: gt_compare_texts(a->name, a->len, b->name, b->len);
}

/* After the last row: computes busy times, and sorts by total. */
static int close_list(struct kernels *k, struct gt_err *err)
{
	uint64_t *busy = calloc(k->n + 1, sizeof(*busy));
	int rc = busy ? gt_gpu_time_finish(&k->time, err)
		      : gt_err_set(err, -ENOMEM, "out of memory (kernels)");

	if (!rc)
		gt_gpu_time_add_marks(&k->time, busy, k->n);
	for (size_t i = 0; !rc && i < k->n; i++)
		k->list[i].busy = busy[i];
	if (!rc)
		GT_SORT(k->list, k->n, by_total);
	free(busy);
	return rc;
}

#define FIGURES                                                                                    \
	{ "count", "Count", GT_C_COUNT }, { "total_ns", "Total", GT_C_NS },                        \
		{ "mean_ns", "Mean", GT_C_NS }, { "p50_ns", "p50", GT_C_NS },                      \
		{ "p90_ns", "p90", GT_C_NS }, { "p99_ns", "p99", GT_C_NS },                        \
		{ "min_ns", "Min", GT_C_NS }, { "max_ns", "Max", GT_C_NS },                        \
		{ "stddev_ns", "Std dev", GT_C_NS }, { "busy_percent", "Busy %", GT_C_PERCENT },   \
		GT_OCCUPANCY_COLUMNS, { "launch_mean_ns", "Launch mean", GT_C_NS },                \
		{ "queue_mean_ns", "Queue mean", GT_C_NS }, { "queued", "Queued", GT_C_COUNT },    \
		{ "busy_ns", NULL, GT_C_NS }, { "joined", NULL, GT_C_COUNT },                      \
		{ "joined_by_order", NULL, GT_C_COUNT }, { "waves", NULL, GT_C_REAL },             \
	{                                                                                          \
		"name", NULL, GT_C_TEXT                                                            \
	}
static const struct gt_column columns[] = { { "kernel", "Kernel", GT_C_TEXT }, FIGURES };
static const struct gt_column spark_columns[] = { { "kernel", "Kernel", GT_C_TEXT },
	GT_SPARK_COLUMN, FIGURES };
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))
#define AT_OCCUPANCY 10 /* in FIGURES */

/* scale: of the drawn histograms; NULL: none are drawn. */
static void add_kernel(struct gt_table *t, const struct kernel *k, const char *brief, uint64_t busy,
	bool crowded, const struct gt_spark_scale *scale)
{
	const struct gt_durations *d = &k->ran;
	char line[3 * GT_SPARK_CELLS + 1];
	struct gt_cell figures[NCOLUMNS - 1] = { gt_cell_u(d->count), gt_cell_u(d->total),
		gt_cell_mean(d->total, d->count), gt_durations_quantile(d, 0.50),
		gt_durations_quantile(d, 0.90), gt_durations_quantile(d, 0.99),
		gt_cell_u(d->shortest), gt_cell_u(d->longest), gt_durations_deviation(d),
		gt_cell_share(k->busy, crowded ? 0 : busy), gt_cell_none(), gt_cell_none(),
		gt_cell_mean(k->launch_ns, k->joined), gt_cell_mean(k->queue_ns, k->queued),
		gt_cell_known(k->joined, k->queued), gt_cell_known(!crowded, k->busy),
		gt_cell_u(k->joined), gt_cell_u(k->by_order), gt_kernel_waves(&k->occupancy),
		gt_cell_text(k->name) };
	struct gt_cell cells[NCOLUMNS + 1] = { gt_cell_text(brief), gt_cell_none() };

	gt_kernel_occupancy_cells(&k->occupancy, figures + AT_OCCUPANCY);
	if (scale && d->hist && !d->coarse) {
		gt_spark(line, scale, d->hist, gt_bars_utf8());
		cells[1] = gt_cell_text(line);
	}
	memcpy(cells + 1 + !!scale, figures, sizeof(figures));
	gt_table_add(t, cells);
}

/* Notes which rows have no figures of launches or quantiles. */
static void note_limits(const struct kernels *k, struct gt_table *t)
{
	uint64_t rows = 0, joined = 0, by_order = 0;
	bool coarse = false;

	for (size_t i = 0; i < k->n; i++) {
		rows += k->list[i].ran.count;
		joined += k->list[i].joined;
		by_order += k->list[i].by_order;
		coarse |= k->list[i].ran.coarse;
	}
	gt_note_joins(
		t, rows, "kernels", rows - joined, "in no figure of launch or queue", by_order);
	if (coarse)
		gt_table_note(t, "too many kernels: some have no p50, p90 and p99");
}

/* The busy time that shares are of. 0: unknown, because filter.match leaves out operations. */
static uint64_t all_busy(const struct kernels *k)
{
	return k->time.report.opt->filter.match ? 0 : gt_gpu_time_busy(&k->time);
}

static void note_busy(const struct kernels *k, struct gt_table *t, uint64_t busy)
{
	gt_gpu_time_note_match(&k->time, t);
	if (busy)
		gt_table_note(t,
			"busy %% is a share of %s of GPU busy time: kernels, copies and sets, overlaps count once",
			gt_scaled(GT_C_NS, gt_clamp(busy)).text);
}

static void note_occupancy(const struct kernels *k, struct gt_table *t)
{
	uint64_t total = 0, known = 0;

	for (size_t i = 0; i < k->n; i++) {
		total = gt_sat_add(total, k->list[i].ran.total);
		known = gt_sat_add(known, k->list[i].occupancy.ns);
	}
	if (total && !known)
		gt_table_note(t,
			"occupancy is unknown: the recording has no limits of the GPU, or no registers, shared memory and blocks of kernels");
	else if (known)
		gt_table_note(t,
			"occupancy is the theoretical one: warps that fit on an SM, of its warp slots");
}

static int kernels_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct kernels *k = state;
	struct gt_kernel_names *names =
		gt_kernel_names_of(k->time.report.reader, k->time.report.opt->names);
	size_t shown = gt_rows_shown(k->n, k->time.report.opt->top);
	bool sparks = gt_report_option(k->time.report.opt, "spark");
	struct gt_spark_scale scale = { 0 };
	uint64_t busy;
	int rc = close_list(k, err);

	tables[0] = gt_report_table(&k->time.report, "kernels", "Kernels on the GPU, by total time",
		sparks ? spark_columns : columns, NCOLUMNS + sparks,
		"queued min_ns p90_ns stddev_ns p50_ns launch_mean_ns queue_mean_ns max_ns p99_ns limited_by occupancy_percent mean_ns busy_percent spark",
		err);
	if (rc || !names || !tables[0]) {
		gt_kernel_names_free(names);
		return rc ? rc : gt_err_set(err, -ENOMEM, "out of memory (kernels)");
	}
	busy = all_busy(k);
	for (size_t i = 0; sparks && i < shown; i++)
		if (k->list[i].ran.hist && !k->list[i].ran.coarse)
			gt_spark_scale_add(&scale, k->list[i].ran.hist);
	for (size_t i = 0; i < shown; i++)
		add_kernel(tables[0], &k->list[i], gt_kernel_names_shown(names, k->list[i].name),
			busy, k->time.crowded, sparks ? &scale : NULL);
	gt_table_note_cut(tables[0], k->n, shown);
	gt_spark_note(tables[0], &scale);
	if (k->n)
		note_busy(k, tables[0], busy);
	note_occupancy(k, tables[0]);
	note_limits(k, tables[0]);
	gt_name_interner_note(&k->names, tables[0], "kernels");
	gt_gpu_time_notes(&k->time, tables[0], "launches");
	gt_kernel_names_free(names);
	return 1;
}

/* ---- the overview ---- */

static const struct gt_column device_columns[] = {
	GT_WHERE_DEVICE,
	{ "name", "Name", GT_C_TEXT },
	{ "kernels", "Kernels", GT_C_COUNT },
	{ "copies", "Copies", GT_C_COUNT },
	{ "sets", "Sets", GT_C_COUNT },
	{ "busy_ns", "Busy", GT_C_NS },
	{ "busy_percent", "Busy %", GT_C_PERCENT },
};
#define NDEVICE 10
static const struct gt_column brief_columns[] = {
	{ "kernel", "Kernel", GT_C_TEXT },
	{ "count", "Count", GT_C_COUNT },
	{ "total_ns", "Total", GT_C_NS },
	{ "mean_ns", "Mean", GT_C_NS },
	{ "max_ns", "Max", GT_C_NS },
	{ "busy_percent", "Busy %", GT_C_PERCENT },
	{ "name", NULL, GT_C_TEXT },
};

static void add_device(const struct gt_gpu_time *g, struct gt_table *t,
	const struct gt_gpu_place *p, struct gt_gpu_namer *namer)
{
	const struct gt_track *track = &p->seg->tracks[p->track];
	const char *name = gt_gpu_name(namer, p->seg, track);
	struct gt_cell cells[NDEVICE];

	gt_where_device(cells, p->seg, p->track);
	cells[4] = name ? gt_cell_text(name) : gt_cell_none();
	cells[5] = gt_cell_u(p->kernels);
	cells[6] = gt_cell_u(p->copies);
	cells[7] = gt_cell_u(p->sets);
	cells[8] = gt_cell_u(p->busy.ns);
	cells[9] = gt_cell_share(p->busy.ns, gt_gpu_time_window(g, p->seg));
	gt_table_add(t, cells);
}

static void add_top(struct kernels *k, struct gt_table *t, struct gt_kernel_names *names)
{
	unsigned top = k->time.report.opt->top && k->time.report.opt->top < OVERVIEW_TOP
		? k->time.report.opt->top
		: OVERVIEW_TOP;
	size_t shown = gt_rows_shown(k->n, top);
	uint64_t busy = all_busy(k);

	for (size_t i = 0; i < shown; i++) {
		const struct kernel *one = &k->list[i];

		gt_table_add(t,
			(struct gt_cell[]){ gt_cell_text(gt_kernel_names_shown(names, one->name)),
				gt_cell_u(one->ran.count), gt_cell_u(one->ran.total),
				gt_cell_mean(one->ran.total, one->ran.count),
				gt_cell_u(one->ran.longest),
				gt_cell_share(one->busy, k->time.crowded ? 0 : busy),
				gt_cell_text(one->name) });
	}
	if (k->n > shown) {
		gt_table_set_incomplete(t);
		gt_table_note(t, "%zu more: gtanalyze kernels", k->n - shown);
	}
	if (k->n)
		note_busy(k, t, busy);
	gt_name_interner_note(&k->names, t, "kernels");
}

static int gpu_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct kernels *k = state;
	struct gt_kernel_names *names;
	size_t devices = 0;
	struct gt_gpu_namer namer = { .seg = NULL };
	int rc = close_list(k, err);

	if (rc)
		return rc;
	names = gt_kernel_names_of(k->time.report.reader, k->time.report.opt->names);
	tables[0] = gt_report_table(&k->time.report, "gpu", "GPU", device_columns, NDEVICE,
		"sets process copies kernels name", err);
	tables[1] = gt_report_table(&k->time.report, "gpu_kernels",
		"Kernels on the GPU with the largest totals", brief_columns, 7,
		"max_ns mean_ns busy_percent", err);
	if (!names || !tables[0] || !tables[1]) {
		gt_kernel_names_free(names);
		return gt_err_set(err, -ENOMEM, "out of memory (row of a GPU)");
	}
	for (size_t i = 0; i < k->time.nplaces; i++)
		if (k->time.places[i].device == k->time.places[i].track &&
			++devices <= GT_TOP_N_MAX)
			add_device(&k->time, tables[0], &k->time.places[i], &namer);
	gt_gpu_namer_release(&namer);
	gt_table_note_cut(tables[0], devices, gt_rows_shown(devices, 0));
	add_top(k, tables[1], names);
	gt_gpu_time_note_window(&k->time, tables[0]);
	gt_shared_gpus_note(tables[0], &k->time.report);
	gt_gpu_time_notes(&k->time, tables[0], "launches");
	gt_kernel_names_free(names);
	return 2;
}

static int kernels_configure(
	struct gt_configured_report *c, const struct gt_analysis_options *opt, struct gt_err *err)
{
	return gt_by_stack_configure(c, opt, GT_BY_STACK_KERNELS, err);
}

static void kernels_release(void *state)
{
	struct kernels *k = state;

	for (size_t i = 0; i < k->n; i++)
		gt_durations_release(&k->list[i].ran);
	free(k->list);
	gt_name_interner_release(&k->names);
	gt_occupancy_input_release(&k->occupancy);
	gt_gpu_time_release(&k->time);
}

const struct gt_analysis gt_gpu_report = {
	.name = "gpu",
	.help = "each GPU's work and busy time, and its longest kernels",
	.wants = GT_BIT(GT_GPU),
	.needs = GT_BIT(GT_LAYER_GPU),
	.order = GT_BY_TIME,
	.state_size = sizeof(struct kernels),
	.init = kernels_init,
	.block = kernels_block,
	.finish = gpu_finish,
	.release = kernels_release,
};

const struct gt_analysis gt_kernels_report = {
	.name = "kernels",
	.help = "kernels on the GPU by name: durations, share of busy time, occupancy, launch and queue",
	.wants = GT_BIT(GT_GPU),
	.needs = GT_BIT(GT_LAYER_GPU),
	.wants_args = true,
	.order = GT_BY_TIME,
	.options = (const struct gt_option_row *const[]){ &gt_spark_option, &gt_by_option, NULL },
	.configure = kernels_configure,
	.state_size = sizeof(struct kernels),
	.init = kernels_with_occupancy_init,
	.block = kernels_block,
	.finish = kernels_finish,
	.release = kernels_release,
};
