/* Nsight's sums by name: calls, kernels, copies and sets, and ranges; the longest total first.
 * The reports differ in the rows that they count and in their keys, so each is a row of a table
 * (struct sum_spec) over the same code. Most count by type, with one array access per row. Rows
 * whose arguments matter (size and direction of copies, geometry of kernels) use a column
 * cursor. */
#include <stdlib.h>
#include <string.h>
#include "analyze/core/report_status.h"
#include "analyze/nsight/nsight.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

enum part {
	NOTHING,
	CALLS,
	KERNELS,
	MEMORY /* copies and sets */,
	GRAPHS /* whole launches */,
	RANGES
};
#define PART(p) (1u << (p))

struct sum_spec {
	const char *name, *title;
	const struct gt_column *columns;
	unsigned ncolumns, parts; /* PART(...) */
	/* category: a column names the part; geometry: kernels with different grids are separate;
	 * sizes: bytes, not time */
	bool category, geometry, sizes;
	const char *hideable_keys;
};
struct sum_key {
	uint32_t name, part, grid[3], block[3];
}; /* name: for a copy or set its kind */
struct sum {
	struct sum_key key;
	struct gt_durations d;
	const char *text;
	int64_t share;
	bool runtime;
};
struct sums {
	struct gt_report_state report; /* first */
	const struct sum_spec *spec;
	struct gt_nsight_names names;
	struct gt_group_table groups;
	uint32_t *of_slot; /* by type: 1 + group, if the type determines it; 0: not seen yet */
	/* the same by code of the current run; 0: rows are not counted by type */
	uint32_t *of_code;
	size_t codes_cap, hist_bytes;
	uint64_t open, unended, unsized;
};

static int sums_init(void *state, struct gt_reader *r, const struct gt_analysis_options *opt,
	const struct sum_spec *spec, struct gt_err *err)
{
	struct sums *s = state;
	int rc;

	s->report = (struct gt_report_state){ r, opt };
	s->spec = spec;
	gt_group_table_init(
		&s->groups, sizeof(struct sum), sizeof(struct sum_key), GT_NSIGHT_GROUPS);
	rc = gt_nsight_names_init(&s->names, r, opt->names, err);
	if (rc)
		return rc;
	s->of_slot = calloc(s->names.first[gt_reader_segments(r)] + 1ul, sizeof(*s->of_slot));
	return s->of_slot ? 0 : gt_err_set(err, -ENOMEM, "out of memory (types)");
}

/* ---- rows ---- */

static enum part part_of(const struct gt_cols *cols, const struct gt_type *type)
{
	static const uint8_t of_work[] = { [GT_GPU_KERNEL] = KERNELS,
		[GT_GPU_COPY] = MEMORY,
		[GT_GPU_SET] = MEMORY,
		[GT_GPU_OTHER] = GRAPHS };

	if (!type)
		return NOTHING;
	if (cols->kind == GT_GPU)
		return (enum part)of_work[gt_gpu_what(type)];
	return gt_nsight_is_call(type) ? CALLS : gt_nsight_is_range(type) ? RANGES : NOTHING;
}

/* Copies of one type differ in direction only; without a direction they are one kind. */
static uint32_t memory_kind(const struct gt_type *type, uint64_t direction)
{
	return gt_gpu_what(type) == GT_GPU_SET ? UINT32_MAX
		: direction <= GT_DIR_PEER     ? (uint32_t)direction
					       : GT_DIR_UNKNOWN;
}

static const char *memory_text(uint32_t kind)
{
	return gt_nsight_operation(kind == UINT32_MAX ? GT_GPU_SET : GT_GPU_COPY, kind);
}

static int add_one(struct sums *s, const struct sum_key *key, uint64_t v, struct gt_err *err)
{
	uint32_t at = gt_group_table_find(&s->groups, key, err);

	if (at == GT_GROUP_TABLE_NONE)
		return err->code;
	gt_durations_add(&((struct sum *)gt_group_table_at(&s->groups, at))->d, v, &s->hist_bytes);
	return 0;
}

static int add_memory(struct sums *s, const struct gt_cols *cols, uint32_t code, struct gt_err *err)
{
	const struct gt_type *type = gt_cols_type(cols, code);
	struct gt_column_cursor p;
	int rc = 0;

	for (gt_column_cursor_start(&p, cols, code, GT_R_DIRECTION, GT_R_BYTES);
		!rc && gt_column_cursor_next(&p);) {
		uint64_t direction = GT_DIR_UNKNOWN, v = (uint64_t)cols->dur[p.row];

		gt_column_cursor_value(&p, 0, &direction);
		if (s->spec->sizes && !gt_column_cursor_value(&p, 1, &v))
			s->unsized++;
		else
			rc = add_one(s,
				&(struct sum_key){
					.name = memory_kind(type, direction), .part = MEMORY },
				v, err);
	}
	return rc;
}

static int add_geometry(
	struct sums *s, const struct gt_cols *cols, uint32_t code, struct gt_err *err)
{
	const struct gt_type *type = gt_cols_type(cols, code);
	struct sum_key key = { .name = gt_nsight_type_name(
				       &s->names, cols->seg, cols->types[code], err),
		.part = KERNELS };
	const uint64_t *v[6] = { NULL };
	uint32_t n[6] = { 0 }, grid, block, nth = 0;
	struct gt_column_cursor p;
	int rc = key.name == GT_NONE ? err->code : 0;

	if (gt_nsight_three_fields(type, GT_R_GRID, &grid) &&
		gt_nsight_three_fields(type, GT_R_BLOCK, &block))
		for (uint32_t i = 0; i < 6; i++)
			v[i] = gt_cols_args(cols, code, i < 3 ? grid + i : block + i - 3, &n[i]);
	for (gt_column_cursor_start(&p, cols, code, GT_R_NONE, GT_R_NONE);
		!rc && gt_column_cursor_next(&p); nth++) {
		for (uint32_t i = 0; i < 3; i++) {
			key.grid[i] = v[i] && nth < n[i] ? (uint32_t)v[i][nth] : 0;
			key.block[i] = v[i + 3] && nth < n[i + 3] ? (uint32_t)v[i + 3][nth] : 0;
		}
		rc = add_one(s, &key, (uint64_t)cols->dur[p.row], err);
	}
	return rc;
}

/* 1 + the group of all rows of a type; 0 with err filled in. */
static uint32_t group_of_type(struct sums *s, const struct gt_cols *cols, uint32_t code,
	enum part part, struct gt_err *err)
{
	uint32_t *known = &s->of_slot[gt_nsight_slot(&s->names, cols->seg, cols->types[code])];
	struct sum_key key = { .part = (uint32_t)part };

	if (*known)
		return *known;
	key.name = gt_nsight_type_name(&s->names, cols->seg, cols->types[code], err);
	*known = key.name == GT_NONE ? 0 : 1 + gt_group_table_find(&s->groups, &key, err);
	if (*known)
		((struct sum *)gt_group_table_at(&s->groups, *known - 1))->runtime =
			gt_cols_type(cols, code)->layer == GT_LAYER_RUNTIME;
	return *known;
}

/* Counts rows of types that need no arguments. */
static void add_by_type(struct sums *s, const struct gt_cols *cols)
{
	for (uint32_t i = 0; i < cols->n; i++) {
		uint32_t at = s->of_code[cols->code ? cols->code[i] : 0];

		if (at)
			gt_durations_add(&((struct sum *)gt_group_table_at(&s->groups, at - 1))->d,
				(uint64_t)cols->dur[i], &s->hist_bytes);
	}
}

static void count_others(struct sums *s, const struct gt_cols *cols)
{
	for (uint32_t i = 0; i < cols->n; i++) {
		const struct gt_type *type = gt_cols_type(cols, cols->code ? cols->code[i] : 0);

		s->open += cols->kind == GT_OPEN && s->spec->parts & PART(CALLS) &&
			gt_nsight_is_call(type);
		s->unended += cols->kind == GT_UNMATCHED && s->spec->parts & PART(RANGES) &&
			gt_nsight_is_range(type);
	}
}

static int sums_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct sums *s = state;
	bool any = false;
	int rc = 0;

	if (cols->kind == GT_OPEN || cols->kind == GT_UNMATCHED)
		return count_others(s, cols), 0;
	if (gt_grow(&s->of_code, &s->codes_cap, cols->ntypes, sizeof(*s->of_code)))
		return gt_err_set(err, -ENOMEM, "out of memory (types)");
	for (uint32_t c = 0; !rc && c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);
		enum part part = part_of(cols, type);

		s->of_code[c] = 0;
		if (!(s->spec->parts & PART(part)))
			continue;
		if (part == MEMORY)
			rc = add_memory(s, cols, c, err);
		else if (s->spec->geometry)
			rc = add_geometry(s, cols, c, err);
		else if (!(s->of_code[c] = group_of_type(s, cols, c, part, err)))
			rc = err->code;
		any |= s->of_code[c] > 0;
	}
	if (!rc && any)
		add_by_type(s, cols);
	return rc;
}

/* ---- figures ---- */

static int by_total(const void *pa, const void *pb)
{
	const struct sum *a = pa, *b = pb;

	return GT_COMPARE(b->d.total, a->d.total) ?:
		strcmp(a->text, b->text) ?:
		memcmp(&a->key, &b->key, sizeof(a->key));
}

/* Only groups with rows: a block may declare types whose rows a filter removes. */
static int put_in_order(struct sums *s, struct gt_err *err)
{
	size_t n = 0;
	uint64_t *totals;
	int64_t *shares;
	int rc;

	for (size_t i = 0; i < s->groups.n; i++) {
		struct sum *one = gt_group_table_at(&s->groups, i);

		one->text = gt_group_table_is_rest(&s->groups, one) ? "(all others)"
			: one->key.part == MEMORY                   ? memory_text(one->key.name)
						  : gt_nsight_text(&s->names, one->key.name);
		if (one->d.count)
			memmove(gt_group_table_at(&s->groups, n++), one, sizeof(*one));
		else
			gt_durations_release(&one->d);
	}
	s->groups.n = n;
	gt_group_table_sort(&s->groups, by_total);
	totals = calloc(n + 1, sizeof(*totals));
	shares = calloc(n + 1, sizeof(*shares));
	for (size_t i = 0; totals && i < n; i++)
		totals[i] = ((struct sum *)gt_group_table_at(&s->groups, i))->d.total;
	rc = totals && shares ? gt_compute_shares(totals, n, shares, err)
			      : gt_err_set(err, -ENOMEM, "out of memory (shares)");
	for (size_t i = 0; !rc && i < n; i++)
		((struct sum *)gt_group_table_at(&s->groups, i))->share = shares[i];
	free(totals);
	free(shares);
	return rc;
}

/* The name, and the full name for programs; kernels also have the short form, first. */
static unsigned name_cells(struct sums *s, const struct sum *one, struct gt_cell *cells)
{
	bool kernel = one->key.part == KERNELS;

	cells[0] =
		gt_cell_text(kernel ? gt_nsight_short_name(&s->names, one->key.name) : one->text);
	cells[1] = gt_cell_text(kernel ? gt_nsight_full_name(&s->names, one->key.name) : one->text);
	return s->spec->parts & PART(KERNELS) ? 2 : 1;
}

static unsigned size_cells(const struct gt_durations *d, struct gt_cell *cells)
{
	cells[0] = gt_cell_u(d->total);
	cells[1] = gt_cell_u(d->count);
	gt_nsight_spread_cells(d, cells + 2);
	return 2 + GT_NSIGHT_NSPREAD;
}

static void add_row(struct sums *s, struct gt_table *t, const struct sum *one)
{
	static const char *const categories[] = { "", "CUDA_API", "CUDA_KERNEL", "MEMORY_OPER",
		"CUDA_GRAPH", "" };
	bool rest = gt_group_table_is_rest(&s->groups, one),
	     geometry = s->spec->geometry && !rest && one->key.grid[0];
	char grid[GT_NSIGHT_TRIPLE], block[GT_NSIGHT_TRIPLE];
	struct gt_cell cells[16];
	unsigned n = GT_NSIGHT_NTIMES;

	if (s->spec->sizes)
		n = size_cells(&one->d, cells);
	else
		gt_nsight_time_cells(&one->d, one->share, cells);
	if (s->spec->category)
		cells[n++] = rest ? gt_cell_none() : gt_cell_text(categories[one->key.part]);
	if (s->spec->geometry) {
		gt_nsight_put_triple(grid, one->key.grid[0], one->key.grid[1], one->key.grid[2]);
		gt_nsight_put_triple(
			block, one->key.block[0], one->key.block[1], one->key.block[2]);
		cells[n++] = geometry ? gt_cell_text(grid) : gt_cell_none();
		cells[n++] = geometry ? gt_cell_text(block) : gt_cell_none();
	}
	n += name_cells(s, one, cells + n);
	if (s->spec->parts & PART(RANGES))
		cells[n] = gt_cell_none(); /* the style of a range is not recorded */
	gt_table_add(t, cells);
}

static void note_limits(const struct sums *s, struct gt_table *t)
{
	bool coarse = false, runtime = false, driver = false;

	for (size_t i = 0; i < s->groups.n; i++) {
		const struct sum *one = gt_group_table_at(&s->groups, i);

		coarse |= one->d.coarse;
		runtime |= one->key.part == CALLS && one->runtime;
		driver |= one->key.part == CALLS && !one->runtime;
	}
	if (runtime && driver)
		gt_table_note(t,
			"calls of the runtime are listed, and also the driver's calls within them");
	gt_note_plural(t, s->open,
		"%llu {call|calls} had not returned and {is|are} not counted: gtanalyze open",
		(unsigned long long)s->open);
	gt_note_plural(t, s->unended,
		"%llu {range has|ranges have} no end, or no beginning, and {is|are} not counted",
		(unsigned long long)s->unended);
	gt_note_plural(t, s->unsized, "%llu {row has|rows have} no size and {is|are} not counted",
		(unsigned long long)s->unsized);
	if (coarse)
		gt_table_note(t, "too many rows: some have no median");
}

static void note_layers(const struct sums *s, struct gt_table *t)
{
	unsigned parts = s->spec->parts;

	if (!(parts & PART(CALLS) && parts & PART(KERNELS)))
		return;
	if (!gt_is_recorded(s->report.reader, GT_LAYER_GPU))
		gt_table_note(t, "GPU work was not recorded: only calls are listed");
	else if (gt_why_tid_excludes_work(&s->report))
		gt_table_note(t, "%s: only calls are listed", gt_why_tid_excludes_work(&s->report));
}

static int sums_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct sums *s = state;
	const struct sum_spec *spec = s->spec;
	size_t shown;
	int rc = put_in_order(s, err);

	if (rc)
		return rc;
	tables[0] = gt_report_table(&s->report, spec->name, spec->title, spec->columns,
		spec->ncolumns, spec->hideable_keys, err);
	if (!tables[0])
		return err->code;
	shown = gt_rows_shown(s->groups.n, s->report.opt->top);
	for (size_t i = 0; i < shown; i++)
		add_row(s, tables[0], gt_group_table_at(&s->groups, i));
	gt_nsight_show_names(&s->names, tables[0], "short_name", "name");
	gt_nsight_show_names(&s->names, tables[0], "short_operation", "operation");
	gt_table_note_cut(tables[0], s->groups.n, shown);
	if (s->groups.n && !spec->sizes)
		gt_table_note(tables[0],
			"time (%%) is the share of the sum of all total times, not of the elapsed time");
	note_limits(s, tables[0]);
	note_layers(s, tables[0]);
	return 1;
}

static void sums_release(void *state)
{
	struct sums *s = state;

	for (size_t i = 0; i < s->groups.n; i++)
		gt_durations_release(&((struct sum *)gt_group_table_at(&s->groups, i))->d);
	gt_group_table_release(&s->groups);
	gt_nsight_names_release(&s->names);
	free(s->of_slot);
	free(s->of_code);
}

/* ---- the reports ---- */

#define KERNEL_NAME(title)                                                                         \
	{ "short_name", title, GT_C_TEXT }, { "name", NULL, GT_C_TEXT }
#define OPERATION_NAME                                                                             \
	{ "short_operation", "Operation", GT_C_TEXT }, { "operation", NULL, GT_C_TEXT }

static const struct gt_column api_columns[] = { GT_NSIGHT_TIMES("num_calls", "Num Calls"),
	{ "name", "Name", GT_C_TEXT } };
static const struct gt_column kern_columns[] = { GT_NSIGHT_TIMES("instances", "Instances"),
	KERNEL_NAME("Name") };
static const struct gt_column gb_columns[] = {
	GT_NSIGHT_TIMES("instances", "Instances"),
	{ "grid_xyz", "GridXYZ", GT_C_WHOLE },
	{ "block_xyz", "BlockXYZ", GT_C_WHOLE },
	KERNEL_NAME("Name"),
};
static const struct gt_column mem_time_columns[] = { GT_NSIGHT_TIMES("count", "Count"),
	{ "operation", "Operation", GT_C_TEXT } };
static const struct gt_column mem_size_columns[] = {
	{ "total_bytes", "Total", GT_C_BYTES },
	{ "count", "Count", GT_C_COUNT },
	{ "avg_bytes", "Avg", GT_C_BYTES },
	{ "med_bytes", "Med", GT_C_BYTES },
	{ "min_bytes", "Min", GT_C_BYTES },
	{ "max_bytes", "Max", GT_C_BYTES },
	{ "stddev_bytes", "StdDev", GT_C_BYTES },
	{ "operation", "Operation", GT_C_TEXT },
};
static const struct gt_column gpu_columns[] = {
	GT_NSIGHT_TIMES("instances", "Instances"),
	{ "category", "Category", GT_C_TEXT },
	OPERATION_NAME,
};
static const struct gt_column range_columns[] = {
	GT_NSIGHT_TIMES("instances", "Instances"),
	{ "range", "Range", GT_C_TEXT },
	{ "style", NULL, GT_C_TEXT },
};
#define COLUMNS(c) .columns = c, .ncolumns = sizeof(c) / sizeof(*(c))
#define HIDEABLE_KEYS                                                                              \
	"stddev_ns min_ns med_ns avg_ns max_ns category num_calls instances count block_xyz grid_xyz"

/* name: of the report; then the fields of its struct sum_spec, and additional fields of its
 * descriptor. */
#define SUM(report, what, kinds, layers, needs_args, ...)                                          \
	static int report##_init(void *state, struct gt_reader *r,                                 \
		const struct gt_analysis_options *opt, struct gt_err *err)                         \
	{                                                                                          \
		static const struct sum_spec spec = { .name = #report, __VA_ARGS__ };              \
                                                                                                   \
		return sums_init(state, r, opt, &spec, err);                                       \
	}                                                                                          \
	const struct gt_analysis gt_##report##_report = {                                          \
		.name = #report,                                                                   \
		.help = what,                                                                      \
		.family = gt_nsight_family,                                                        \
		.wants = kinds,                                                                    \
		.needs = layers,                                                                   \
		.wants_args = needs_args,                                                          \
		.order = GT_ANY_ORDER,                                                             \
		.state_size = sizeof(struct sums),                                                 \
		.init = report##_init,                                                             \
		.block = sums_block,                                                               \
		.finish = sums_finish,                                                             \
		.release = sums_release,                                                           \
	}
#define GPU_LAYER GT_BIT(GT_LAYER_GPU)
#define CALL_KINDS (GT_BIT(GT_CALL) | GT_BIT(GT_SPAN) | GT_BIT(GT_OPEN))
#define RANGE_KINDS (GT_BIT(GT_CALL) | GT_BIT(GT_SPAN) | GT_BIT(GT_UNMATCHED))

SUM(cuda_api_sum, "CUDA calls by name", CALL_KINDS, GT_LAYERS_OF_CALLS, false,
	.title = "CUDA API summary", COLUMNS(api_columns), .parts = PART(CALLS),
	.hideable_keys = HIDEABLE_KEYS);
SUM(cuda_gpu_kern_sum, "kernels by name", GT_BIT(GT_GPU), GPU_LAYER, false,
	.title = "CUDA GPU kernel summary", COLUMNS(kern_columns), .parts = PART(KERNELS),
	.hideable_keys = HIDEABLE_KEYS);
SUM(cuda_gpu_kern_gb_sum, "kernels by name, grid and block", GT_BIT(GT_GPU), GPU_LAYER, true,
	.title = "CUDA GPU kernel, grid and block summary", COLUMNS(gb_columns),
	.parts = PART(KERNELS), .geometry = true, .hideable_keys = HIDEABLE_KEYS);
SUM(cuda_gpu_mem_time_sum, "copies and sets by kind: their time", GT_BIT(GT_GPU), GPU_LAYER, true,
	.title = "CUDA GPU memory operations by time", COLUMNS(mem_time_columns),
	.parts = PART(MEMORY), .hideable_keys = HIDEABLE_KEYS);
SUM(cuda_gpu_mem_size_sum, "copies and sets by kind: their size", GT_BIT(GT_GPU), GPU_LAYER, true,
	.title = "CUDA GPU memory operations by size", COLUMNS(mem_size_columns),
	.parts = PART(MEMORY), .sizes = true,
	.hideable_keys = "stddev_bytes min_bytes med_bytes avg_bytes max_bytes count");
SUM(cuda_gpu_sum, "kernels, copies and sets by name", GT_BIT(GT_GPU), GPU_LAYER, true,
	.title = "CUDA GPU summary: kernels and memory operations", COLUMNS(gpu_columns),
	.parts = PART(KERNELS) | PART(MEMORY) | PART(GRAPHS), .category = true,
	.hideable_keys = HIDEABLE_KEYS);
SUM(cuda_api_gpu_sum, "CUDA calls, kernels, copies and sets by name", CALL_KINDS | GT_BIT(GT_GPU),
	GT_LAYERS_OF_CALLS | GPU_LAYER, true,
	.title = "CUDA summary: calls, kernels and memory operations", COLUMNS(gpu_columns),
	.parts = PART(CALLS) | PART(KERNELS) | PART(MEMORY) | PART(GRAPHS), .category = true,
	.hideable_keys = HIDEABLE_KEYS);
SUM(nvtx_sum, "the program's ranges by name", RANGE_KINDS, GT_BIT(GT_LAYER_USER), false,
	.title = "NVTX range summary", COLUMNS(range_columns), .parts = PART(RANGES),
	.hideable_keys = HIDEABLE_KEYS);
