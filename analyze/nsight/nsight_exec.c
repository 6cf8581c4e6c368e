/* From the launch call of a kernel to the kernel's end, by process, thread, device, call and
 *kernel, with Nsight's definitions (r: the call, k: the kernel):
 *
 *	api	r.end - r.start
 *	queue	k.start - r.end; not counted if negative
 *	kernel	k.end - k.start
 *	total	max(r.end, k.end) - r.start
 *
 * A kernel without a known call is in no row, and a note counts them. */
#include <stdlib.h>
#include <string.h>
#include "analyze/columns/launch_fields.h"
#include "analyze/nsight/nsight.h"
#include "formats/base/sorted.h"

#define GROUPS_MOST (1u << 15) /* each group is four times as large as in other reports */

enum { TOTAL, API, QUEUE, KERNEL, TIMES };
struct exec_key {
	uint32_t segment, thread, device, call, kernel;
};
struct exec {
	struct exec_key key;
	struct gt_durations d[TIMES];
};
struct execs {
	struct gt_report_state report; /* first */
	struct gt_nsight_names names;
	struct gt_group_table groups;
	size_t hist_bytes;
	uint64_t kernels, joined, by_order;
};

static int execs_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct execs *e = state;

	e->report = (struct gt_report_state){ r, opt };
	gt_group_table_init(&e->groups, sizeof(struct exec), sizeof(struct exec_key), GROUPS_MOST);
	return gt_nsight_names_init(&e->names, r, opt->names, err);
}

/* ---- rows ---- */

static void add_times(struct execs *e, struct exec *to, const struct gt_launch_call *call,
	int64_t start, int64_t end)
{
	int64_t last = call->end > end ? call->end : end;

	gt_durations_add(&to->d[API], (uint64_t)(call->end - call->start), &e->hist_bytes);
	gt_durations_add(&to->d[KERNEL], (uint64_t)(end - start), &e->hist_bytes);
	gt_durations_add(&to->d[TOTAL], (uint64_t)(last - call->start), &e->hist_bytes);
	if (start >= call->end)
		gt_durations_add(&to->d[QUEUE], (uint64_t)(start - call->end), &e->hist_bytes);
}

static int execs_of_code(
	struct execs *e, const struct gt_cols *cols, uint32_t code, struct gt_err *err)
{
	struct exec_key key = { .segment = cols->seg->index,
		.device = gt_track_device(cols->seg, cols->track),
		.kernel = gt_nsight_type_name(&e->names, cols->seg, cols->types[code], err) };
	uint64_t name = UINT64_MAX; /* the name whose number is in key.call */
	struct gt_launch_fields l;
	struct gt_launch_call call;
	struct gt_column_cursor p;
	uint32_t nth = 0;

	if (key.kernel == GT_NONE)
		return err->code;
	gt_launch_fields_read(
		&l, cols, code, GT_LAUNCH_TRACK | GT_LAUNCH_START | GT_LAUNCH_NS | GT_LAUNCH_NAME);
	for (gt_column_cursor_start(&p, cols, code, GT_R_NONE, GT_R_NONE);
		gt_column_cursor_next(&p); nth++) {
		uint32_t at;

		e->kernels++;
		if (!gt_launch_fields_call(&l, cols->seg, nth, &call))
			continue;
		e->joined++;
		e->by_order += call.by_order;
		key.thread = call.track;
		if (call.name != name &&
			(key.call = gt_nsight_name(&e->names, cols->seg, name = call.name, err)) ==
				GT_NONE)
			return err->code;
		at = gt_group_table_find(&e->groups, &key, err);
		if (at == GT_GROUP_TABLE_NONE)
			return err->code;
		add_times(e, gt_group_table_at(&e->groups, at), &call, cols->start[p.row],
			cols->start[p.row] + cols->dur[p.row]);
	}
	return 0;
}

static int execs_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	int rc = 0;

	for (uint32_t c = 0; !rc && c < cols->ntypes; c++)
		if (gt_cols_type(cols, c) && gt_gpu_what(gt_cols_type(cols, c)) == GT_GPU_KERNEL)
			rc = execs_of_code(state, cols, c, err);
	return rc;
}

/* ---- figures ---- */

static const struct gt_column columns[] = {
	{ "recording", "Recording", GT_C_COUNT },
	{ "pid", "PID", GT_C_COUNT },
	{ "tid", "TID", GT_C_COUNT },
	{ "dev_id", "DevId", GT_C_COUNT },
	{ "count", "Count", GT_C_COUNT },
	{ "qcount", "QCount", GT_C_COUNT },
	GT_NSIGHT_SPREAD("t", "T"),
	GT_NSIGHT_SPREAD("a", "A"),
	GT_NSIGHT_SPREAD("q", "Q"),
	GT_NSIGHT_SPREAD("k", "K"),
	{ "api_name", "API Name", GT_C_TEXT },
	{ "short_kernel_name", "Kernel Name", GT_C_TEXT },
	{ "kernel_name", NULL, GT_C_TEXT },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))
#define NWHERE 4

/* Compares mean totals as a.total / a.count, without rounding, so that the order is the same
 * everywhere. */
static int by_mean(const void *pa, const void *pb)
{
	const struct exec *a = pa, *b = pb;
	unsigned __int128 x = (unsigned __int128)a->d[TOTAL].total * b->d[TOTAL].count;
	unsigned __int128 y = (unsigned __int128)b->d[TOTAL].total * a->d[TOTAL].count;

	return GT_COMPARE(y, x) ?: memcmp(&a->key, &b->key, sizeof(a->key));
}

static void where_cells(
	const struct execs *e, const struct exec_key *key, struct gt_cell cells[NWHERE])
{
	const struct gt_segment *seg = gt_reader_segment(e->report.reader, key->segment);
	bool thread = key->thread < seg->ntracks, device = key->device < seg->ntracks;
	uint32_t process = thread ? gt_track_process(seg, key->thread) : GT_NONE;

	cells[0] = gt_cell_u(key->segment);
	cells[1] = process == GT_NONE ? gt_cell_none() : gt_cell_i(seg->tracks[process].id);
	cells[2] = thread ? gt_cell_i(seg->tracks[key->thread].id) : gt_cell_none();
	cells[3] = device ? gt_cell_i(seg->tracks[key->device].id) : gt_cell_none();
}

static void add_row(struct execs *e, struct gt_table *t, const struct exec *x)
{
	struct gt_cell cells[NCOLUMNS];
	bool rest = gt_group_table_is_rest(&e->groups, x);
	unsigned n = NWHERE;

	if (rest)
		for (unsigned i = 0; i < NWHERE; i++)
			cells[i] = gt_cell_none();
	else
		where_cells(e, &x->key, cells);
	cells[n++] = gt_cell_u(x->d[TOTAL].count);
	cells[n++] = gt_cell_u(x->d[QUEUE].count);
	for (unsigned i = 0; i < TIMES; i++, n += GT_NSIGHT_NSPREAD)
		gt_nsight_spread_cells(&x->d[i], cells + n);
	cells[n++] = gt_cell_text(rest ? "(all others)" : gt_nsight_text(&e->names, x->key.call));
	cells[n++] = gt_cell_text(
		rest ? "(all others)" : gt_nsight_short_name(&e->names, x->key.kernel));
	cells[n++] =
		gt_cell_text(rest ? "(all others)" : gt_nsight_full_name(&e->names, x->key.kernel));
	gt_table_add(t, cells);
}

static void note_limits(const struct execs *e, struct gt_table *t)
{
	bool coarse = false;

	for (size_t i = 0; i < e->groups.n; i++)
		for (unsigned k = 0; k < TIMES; k++)
			coarse |= ((const struct exec *)gt_group_table_at(&e->groups, i))
					  ->d[k]
					  .coarse;
	gt_note_joins(t, e->kernels, "kernels", e->kernels - e->joined, "in no row", e->by_order);
	if (coarse)
		gt_table_note(t, "too many rows: some have no median");
}

static int execs_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct execs *e = state;
	size_t shown = gt_rows_shown(e->groups.n, e->report.opt->top);

	tables[0] = gt_report_table(&e->report, "cuda_kern_exec_sum",
		"CUDA kernel launch and execution: T total, A call, Q queue, K kernel", columns,
		NCOLUMNS,
		"tstddev_ns astddev_ns qstddev_ns kstddev_ns tmin_ns amin_ns qmin_ns kmin_ns "
		"tmax_ns amax_ns qmax_ns kmax_ns tmed_ns amed_ns qmed_ns kmed_ns tid qcount dev_id pid qavg_ns aavg_ns api_name count",
		err);
	if (!tables[0])
		return err->code;
	gt_group_table_sort(&e->groups, by_mean);
	for (size_t i = 0; i < shown; i++)
		add_row(e, tables[0], gt_group_table_at(&e->groups, i));
	gt_nsight_show_names(&e->names, tables[0], "short_kernel_name", "kernel_name");
	gt_table_note_cut(tables[0], e->groups.n, shown);
	note_limits(e, tables[0]);
	return 1;
}

static void execs_release(void *state)
{
	struct execs *e = state;

	for (size_t i = 0; i < e->groups.n; i++)
		for (unsigned k = 0; k < TIMES; k++)
			gt_durations_release(
				&((struct exec *)gt_group_table_at(&e->groups, i))->d[k]);
	gt_group_table_release(&e->groups);
	gt_nsight_names_release(&e->names);
}

const struct gt_analysis gt_cuda_kern_exec_sum_report = {
	.name = "cuda_kern_exec_sum",
	.help = "launch and execution of kernels: call, queue, kernel and total",
	.family = gt_nsight_family,
	.wants = GT_BIT(GT_GPU),
	.needs = GT_BIT(GT_LAYER_GPU),
	.wants_args = true,
	.order = GT_ANY_ORDER,
	.state_size = sizeof(struct execs),
	.init = execs_init,
	.block = execs_block,
	.finish = execs_finish,
	.release = execs_release,
};
