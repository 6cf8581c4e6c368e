/* The comparison of two traces as tables. "names" has one row for each operation of either file,
 * with a verdict; rows that changed the total time most come first. "figures" has the figures of
 * reports, in the order of the reports, with their change.
 *
 * A missing figure is ambiguous: a trace without GPU records has no kernels, but they are not
 * gone. So a name that is in one file only counts as added or gone only if its layer was
 * recorded in both. */
#include "analyze/diff/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/core/report.h"
#include "analyze/diff/diff_lines.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/names/kernel_names.h"

static const char *const verdict_words[] = {
#define X(e, key, title, word) [GT_VERDICT_##e] = word,
	GT_VERDICTS(X)
#undef X
};

/* Hundredths of a percent, clamped to a cell; absent if infinite. */
static struct gt_cell percent(long double part)
{
	if (!isfinite(part))
		return gt_cell_none();
	return (struct gt_cell){ .change = true,
		.i = part > 1e12L       ? INT64_MAX
			: part < -1e12L ? INT64_MIN
					: llroundl(part * 10000) };
}

/* ---- the files ---- */

static const struct gt_column file_columns[] = {
	{ "recording", "Recording", GT_C_COUNT },
	{ "side", "", GT_C_TEXT },
	{ "file", "File", GT_C_TEXT },
	{ "host", "Host", GT_C_TEXT },
	{ "gpu", "GPU", GT_C_TEXT },
	{ "driver", "Driver", GT_C_TEXT },
	{ "cuda", "CUDA", GT_C_TEXT },
	{ "start_utc", "Started", GT_C_TEXT },
	{ "span_ns", "First to last row", GT_C_NS },
	{ "calls", "Calls", GT_C_COUNT },
	{ "gpu_operations", "GPU operations", GT_C_COUNT },
	{ "lost", "Lost", GT_C_COUNT },
	{ "command", NULL, GT_C_TEXT },
	{ "events", NULL, GT_C_TEXT },
	{ "args", NULL, GT_C_TEXT },
	{ "layers", NULL, GT_C_TEXT },
	{ "event_list", NULL, GT_C_DATA },
	{ "layer_list", NULL, GT_C_DATA },
};
#define NFILE (sizeof(file_columns) / sizeof(*file_columns))

/* skip: 1 omits the first column, the recording within the file. */
static void add_file(struct gt_table *t, const struct gt_side *s, const char *side, unsigned skip)
{
	const struct gt_table *header = gt_side_table(s, "header");
	const char *note;

	for (unsigned row = 0; row < gt_table_rows(header); row++) {
		struct gt_cell cells[NFILE];

		for (unsigned i = 0; i < NFILE; i++) {
			int column = gt_table_column(header, file_columns[i].key);

			cells[i] = column >= 0 ? *gt_table_cell(header, row, (unsigned)column)
					       : gt_cell_text(side);
		}
		gt_table_add(t, cells + skip);
	}
	for (size_t i = 0; (note = gt_table_get_note(header, i)); i++)
		gt_table_note(t, "%s: %s", side, note);
}

/* Do all recordings of both files have the same value? Missing values are ignored. */
static bool alike(const struct gt_table *a, const struct gt_table *b, const char *key)
{
	const struct gt_table *const both[] = { a, b };
	const char *first = NULL;

	for (unsigned f = 0; f < 2; f++)
		for (unsigned row = 0; row < gt_table_rows(both[f]); row++) {
			const struct gt_cell *c = gt_table_cell(
				both[f], row, (unsigned)gt_table_column(both[f], key));

			if (c->absent || !c->s || !*c->s)
				continue;
			if (first && strcmp(first, c->s))
				return false;
			first = c->s;
		}
	return true;
}

static void note_differences(struct gt_table *t, const struct gt_table *a, const struct gt_table *b)
{
	static const struct {
		const char *key, *words;
	} machine[] =
	    {
		{"host", "hosts"},
		{"gpu", "GPU models"},
		{"driver", "drivers"},
		{"cuda", "CUDA versions"},
		{"simulated", "kinds of GPU (one is simulated)"},
	    },
	  way[] = {{"command", "commands"},
		   {"events", "events recorded"},
		   {"args", "arguments recorded"},
		   {"layers", "layers recorded"}};
	struct gt_buf b1 = { 0 }, b2 = { 0 };

	for (size_t i = 0; i < sizeof(machine) / sizeof(*machine); i++)
		if (!alike(a, b, machine[i].key))
			gt_buf_printf(&b1, "%s%s", b1.len ? ", " : "", machine[i].words);
	for (size_t i = 0; i < sizeof(way) / sizeof(*way); i++)
		if (!alike(a, b, way[i].key))
			gt_buf_printf(&b2, "%s%s", b2.len ? ", " : "", way[i].words);
	if (b1.len && !b1.failed)
		gt_table_note(t,
			"different %.*s: changes may come from the machine, not from the program",
			(int)b1.len, (const char *)b1.data);
	if (b2.len && !b2.failed)
		gt_table_note(t, "different %.*s", (int)b2.len, (const char *)b2.data);
	gt_buf_release(&b1);
	gt_buf_release(&b2);
}

static struct gt_table *files(const struct gt_side *a, const struct gt_side *b)
{
	const struct gt_table *ha = gt_side_table(a, "header"), *hb = gt_side_table(b, "header");
	unsigned skip = gt_table_rows(ha) < 2 && gt_table_rows(hb) < 2;
	struct gt_table *t = gt_table_new("files", "Compared", file_columns + skip, NFILE - skip);

	if (!t)
		return NULL;
	note_differences(t, ha, hb);
	add_file(t, a, "A", skip);
	add_file(t, b, "B", skip);
	gt_table_set_hideable(t, "recording lost start_utc cuda driver gpu_operations calls host");
	return t;
}

/* ---- steady steps ---- */

static const struct gt_column step_columns[] = {
	{ "of", "GPU", GT_C_TEXT },
	{ "verdict", "Verdict", GT_C_WHOLE },
	{ "a_ns", "Median step in A", GT_C_NS },
	{ "b_ns", "In B", GT_C_NS },
	{ "change_percent", "Change %", GT_C_PERCENT },
	{ "a_steps", "Steps in A", GT_C_COUNT },
	{ "b_steps", "In B", GT_C_COUNT },
};

static struct gt_cell cell_of(const struct gt_table *t, int row, const char *key)
{
	return row < 0 ? gt_cell_none()
		       : *gt_table_cell(t, (unsigned)row, (unsigned)gt_table_column(t, key));
}

static int put_steps(struct gt_table *t, const struct gt_table *a, const struct gt_table *b,
	struct gt_row_pair rows)
{
	struct gt_cell ma = cell_of(a, rows.a, "p50_ns"), mb = cell_of(b, rows.b, "p50_ns");
	bool both = !ma.absent && !mb.absent;
	long double change = both ? gt_change(ma.i, mb.i) : 0;
	char *of = gt_row_name(gt_diff_rule("steady"), rows.b >= 0 ? b : a,
		(unsigned)(rows.b >= 0 ? rows.b : rows.a));
	enum gt_verdict verdict = !both          ? GT_VERDICT_UNKNOWN
		: fabsl(change) <= GT_DIFF_FLOOR ? GT_VERDICT_SAME
		: change > 0                     ? GT_VERDICT_SLOWER
						 : GT_VERDICT_FASTER;

	if (!of)
		return -ENOMEM;
	gt_table_add(t,
		(struct gt_cell[]){ gt_cell_text(of), gt_cell_text(verdict_words[verdict]), ma, mb,
			both ? percent(change) : gt_cell_none(), cell_of(a, rows.a, "steady"),
			cell_of(b, rows.b, "steady") });
	free(of);
	return 0;
}

/* The median steps of each GPU: what a user compares first. */
static int step_medians(
	const struct gt_side *a, const struct gt_side *b, struct gt_table **to, struct gt_err *err)
{
	const struct gt_table *ta = gt_side_table(a, "steady"), *tb = gt_side_table(b, "steady");
	struct gt_row_pair *pairs;
	size_t n;
	int rc = gt_pair_rows(gt_diff_rule("steady"), ta, tb, &pairs, &n, err);

	if (rc)
		return rc;
	*to = gt_table_new("step_medians", "Median step", step_columns,
		sizeof(step_columns) / sizeof(*step_columns));
	if (*to)
		gt_table_set_hideable(*to, "a_steps b_steps verdict a_ns");
	rc = *to ? 0 : -ENOMEM;
	for (size_t i = 0; !rc && i < n; i++)
		rc = put_steps(*to, ta, tb, pairs[i]);
	free(pairs);
	if (rc)
		return gt_err_set(err, rc, "out of memory (comparison of steps)");
	gt_table_note(*to,
		"all tables compare the steady steps only (--whole-run: the whole runs); sums and counts grow with the number of steps");
	return 0;
}

/* ---- names ---- */

/* columns of the report "names" */
enum { LAYER = 1, CATEGORY, COUNT, TOTAL, MEAN, DEVIATION, DRIFT, SLICES, NAME };

struct name {
	const char *name, *layer, *category;
	bool has_a, has_b;
	struct gt_sample a, b;
	int64_t total_a, total_b;
	enum gt_verdict verdict;
};
struct compared {
	struct name *list;
	size_t n;
	uint64_t verdicts[GT_VERDICT_COUNT];
};

static bool is_selected(unsigned names, const char *layer, const char *category)
{
	if (!strcmp(layer, gt_layer_word(GT_LAYER_IOCTL)))
		return names & GT_NAMES_IOCTLS;
	if (!strcmp(layer, gt_layer_word(GT_LAYER_GPU)) &&
		!strcmp(category, gt_category_word(GT_CAT_KERNEL)))
		return names & GT_NAMES_KERNELS;
	if (!strcmp(layer, gt_layer_word(GT_LAYER_GPU)) &&
		strcmp(category, gt_category_word(GT_CAT_SYNC)) != 0)
		return names & GT_NAMES_COPIES;
	return names & GT_NAMES_CALLS;
}

/* Uses the mean of the sums: the cell's mean is rounded. */
static struct gt_sample sample(const struct gt_table *t, unsigned row, int64_t *total)
{
	const struct gt_cell *deviation = gt_table_cell(t, row, DEVIATION);
	struct gt_sample s = { .count = (uint64_t)gt_table_cell(t, row, COUNT)->i,
		.scatters = !deviation->absent };

	*total = gt_table_cell(t, row, TOTAL)->i;
	s.mean = (double)*total / (double)s.count;
	s.deviation = s.scatters ? deviation->d : 0;
	s.drift = s.scatters ? gt_table_cell(t, row, DRIFT)->d : 0;
	s.slices = s.scatters ? gt_table_cell(t, row, SLICES)->d : 0;
	return s;
}

static bool recorded(const struct gt_side *s, const char *layer)
{
	for (unsigned l = 0; l < GT_LAYER_COUNT; l++)
		if (!strcmp(layer, gt_layer_word(l)))
			return s->layers & GT_BIT(l);
	return true;
}

static void set_verdict(struct name *one, const struct gt_side *a, const struct gt_side *b)
{
	if (one->has_a && one->has_b)
		one->verdict = gt_diff_verdict(&one->a, &one->b);
	else if (!recorded(one->has_a ? b : a, one->layer))
		one->verdict = GT_VERDICT_UNRECORDED;
	else
		one->verdict = one->has_a ? GT_VERDICT_GONE : GT_VERDICT_ADDED;
}

static struct name name_of(
	const struct gt_table *ta, const struct gt_table *tb, struct gt_row_pair p)
{
	const struct gt_table *t = p.b >= 0 ? tb : ta;
	unsigned row = (unsigned)(p.b >= 0 ? p.b : p.a);
	struct name one = { .name = gt_table_cell(t, row, NAME)->s,
		.layer = gt_table_cell(t, row, LAYER)->s,
		.category = gt_table_cell(t, row, CATEGORY)->s,
		.has_a = p.a >= 0,
		.has_b = p.b >= 0 };

	if (one.has_a)
		one.a = sample(ta, (unsigned)p.a, &one.total_a);
	if (one.has_b)
		one.b = sample(tb, (unsigned)p.b, &one.total_b);
	return one;
}

static uint64_t weight(const struct name *n)
{
	return n->total_a > n->total_b ? (uint64_t)n->total_a - (uint64_t)n->total_b
				       : (uint64_t)n->total_b - (uint64_t)n->total_a;
}

static int by_weight(const void *pa, const void *pb)
{
	const struct name *a = pa, *b = pb;

	return GT_COMPARE(a->verdict == GT_VERDICT_SAME, b->verdict == GT_VERDICT_SAME) ?:
		GT_COMPARE(weight(b), weight(a)) ?:
		strcmp(a->name, b->name) ?:
		strcmp(a->layer, b->layer);
}

static int compare_names(struct compared *c, const struct gt_side *a, const struct gt_side *b,
	unsigned names, struct gt_err *err)
{
	const struct gt_table *ta = gt_side_table(a, "names"), *tb = gt_side_table(b, "names");
	struct gt_row_pair *pairs;
	size_t n;
	int rc = gt_pair_rows(gt_diff_rule("names"), ta, tb, &pairs, &n, err);

	if (rc)
		return rc;
	c->list = calloc(n + 1, sizeof(*c->list));
	for (size_t i = 0; c->list && i < n; i++) {
		struct name one = name_of(ta, tb, pairs[i]);

		if (!is_selected(names, one.layer, one.category))
			continue;
		set_verdict(&one, a, b);
		c->verdicts[one.verdict]++;
		c->list[c->n++] = one;
	}
	free(pairs);
	GT_SORT(c->list, c->n, by_weight);
	return c->list ? 0 : gt_err_set(err, -ENOMEM, "out of memory (comparison of %zu names)", n);
}

static const struct gt_column verdict_columns[] = {
#define X(e, key, title, word) { key, title, GT_C_COUNT },
	GT_VERDICTS(X)
#undef X
};

static struct gt_table *verdicts(const struct compared *c)
{
	struct gt_table *t = gt_table_new("verdicts", "Names", verdict_columns, GT_VERDICT_COUNT);
	struct gt_cell cells[GT_VERDICT_COUNT];

	for (unsigned v = 0; v < GT_VERDICT_COUNT; v++)
		cells[v] = gt_cell_u(c->verdicts[v]);
	gt_table_add(t, cells);
	if (t)
		gt_table_set_hideable(t, "not_recorded noise_unknown within_noise same fewer more");
	return t;
}

static const struct gt_column name_columns[] = {
	{ "operation", "Operation", GT_C_TEXT },
	{ "verdict", "Verdict", GT_C_WHOLE },
	{ "mean_change_percent", "Mean %", GT_C_PERCENT },
	{ "noise_percent", "Noise %", GT_C_PERCENT },
	{ "change_ns", "Total change", GT_C_NS },
	{ "count_a", "Count A", GT_C_COUNT },
	{ "count_b", "Count B", GT_C_COUNT },
	{ "mean_a_ns", "Mean A", GT_C_NS },
	{ "mean_b_ns", "Mean B", GT_C_NS },
	{ "layer", "Layer", GT_C_TEXT },
	{ "total_a_ns", "Total A", GT_C_NS },
	{ "total_b_ns", "Total B", GT_C_NS },
	{ "stddev_a_ns", NULL, GT_C_REAL },
	{ "stddev_b_ns", NULL, GT_C_REAL },
	{ "category", NULL, GT_C_TEXT },
	{ "name", NULL, GT_C_TEXT },
};
#define NNAME (sizeof(name_columns) / sizeof(*name_columns))

static struct gt_cell mean(bool has, const struct gt_sample *s)
{
	return has ? gt_cell_i(llround(s->mean)) : gt_cell_none();
}
static struct gt_cell deviation(const struct gt_sample *s)
{
	return (struct gt_cell){ .absent = !s->scatters, .d = s->deviation };
}

struct gt_cell gt_diff_verdict_cell(enum gt_verdict verdict)
{
	return gt_cell_toned(gt_cell_text(verdict_words[verdict]),
		verdict == GT_VERDICT_SLOWER           ? GT_TONE_BAD
			: verdict == GT_VERDICT_FASTER ? GT_TONE_GOOD
						       : GT_TONE_NONE);
}

static bool is_kernel(const struct name *n)
{
	return !strcmp(n->category, gt_category_word(GT_CAT_KERNEL));
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Kernels get the same short names as in other reports, which depend on the order of
 * gt_kernel_names_of. The caller frees the result. NULL: no memory. */
static struct gt_kernel_names *name_kernels(const struct compared *c, enum gt_name_form form)
{
	struct gt_kernel_names *kernels = gt_kernel_names_new(form);
	const char **full = malloc((c->n + 1) * sizeof(*full));
	size_t n = 0;

	for (size_t i = 0; full && i < c->n; i++)
		if (is_kernel(&c->list[i]))
			full[n++] = c->list[i].name;
	if (full)
		GT_SORT(full, n, compare_texts);
	for (size_t i = 0; kernels && i < n; i++)
		gt_kernel_names_get(kernels, full[i]);
	free(full);
	return kernels;
}

static void add_name(struct gt_table *t, const struct name *n, struct gt_kernel_names *kernels)
{
	bool both = n->has_a && n->has_b, kernel = is_kernel(n);
	double noise = both ? gt_diff_noise(&n->a, &n->b) : -1;
	struct gt_cell by = noise >= 0 && n->a.mean > 0 ? percent((long double)(noise / n->a.mean))
							: gt_cell_none();

	by.change = false;
	gt_table_add(t,
		(struct gt_cell[NNAME]){
			gt_cell_text(kernel ? gt_kernel_names_shown(kernels, n->name) : n->name),
			gt_diff_verdict_cell(n->verdict),
			both ? percent(gt_change((long double)n->a.mean, (long double)n->b.mean))
			     : gt_cell_none(),
			by,
			{ .absent = n->verdict == GT_VERDICT_UNRECORDED,
				.change = true,
				.i = n->total_b - n->total_a },
			gt_cell_known(n->has_a, n->a.count), gt_cell_known(n->has_b, n->b.count),
			mean(n->has_a, &n->a), mean(n->has_b, &n->b), gt_cell_text(n->layer),
			gt_cell_known(n->has_a, (uint64_t)n->total_a),
			gt_cell_known(n->has_b, (uint64_t)n->total_b), deviation(&n->a),
			deviation(&n->b), gt_cell_text(n->category), gt_cell_text(n->name) });
}

/* Names that a filter left out while recording look as if they were gone or added. */
static void note_name_filters(struct gt_table *t, const struct gt_side *a, const struct gt_side *b)
{
	if (a->filtered || b->filtered)
		gt_table_note(t,
			"names were left out while recording %s: names that seem %s may only be left out there",
			!b->filtered           ? "A"
				: !a->filtered ? "B"
					       : "A and B",
			!b->filtered           ? "added"
				: !a->filtered ? "gone"
					       : "added or gone");
}

static struct gt_table *names(const struct compared *c, const struct gt_side *a,
	const struct gt_side *b, const struct gt_diff_request *request)
{
	struct gt_table *t = gt_table_new(
		"names", "By name, largest change of the total first", name_columns, NNAME);
	struct gt_kernel_names *kernels = name_kernels(c, request->form);
	unsigned top = request->top;
	size_t n = top ? c->n - c->verdicts[GT_VERDICT_SAME] : c->n, shown = gt_rows_shown(n, top);

	if (!t || !kernels) {
		gt_kernel_names_free(kernels);
		gt_table_free(t);
		return NULL;
	}
	for (size_t i = 0; i < shown; i++)
		add_name(t, &c->list[i], kernels);
	gt_kernel_names_free(kernels);
	gt_table_set_hideable(t,
		"total_a_ns total_b_ns layer noise_percent count_a count_b mean_a_ns mean_b_ns mean_change_percent");
	gt_table_note(t,
		"slower, faster: the mean, by more than 1 %% and by more than the noise, 3 standard errors of the means; "
		"the total changes with the count as well");
	gt_table_note(t, "the noise is that within each file: another run may differ by more");
	gt_table_note_cut(t, n, shown);
	if (top)
		gt_note_plural(t, c->verdicts[GT_VERDICT_SAME],
			"%llu of %zu names {is|are} the same, within 1 %%: --top 0 lists {it|them}",
			(unsigned long long)c->verdicts[GT_VERDICT_SAME], c->n);
	note_name_filters(t, a, b);
	return t;
}

/* ---- figures ---- */

enum what { WORSE, BETTER, CHANGED, ADDED, GONE, UNRECORDED, UNKNOWN_FIGURE, SAME };
static const char *const what_words[] = { "worse", "better", "changed", "added", "gone",
	"not recorded", "cannot tell", "same" };
static struct gt_cell what_cell(enum what what)
{
	return gt_cell_toned(gt_cell_text(what_words[what]),
		what == WORSE            ? GT_TONE_BAD
			: what == BETTER ? GT_TONE_GOOD
					 : GT_TONE_NONE);
}

struct figure {
	const struct gt_diff_rule *rule;
	const struct gt_column *column;
	const struct gt_table *ta, *tb;
	unsigned column_a, column_b;
	struct gt_row_pair rows;
	bool has_a, has_b; /* the figure, not only the row */
	long double change;
	enum what what;
};
struct figures {
	struct figure *list;
	size_t n, cap, same;
};

/* A p99 of 100 durations is the second longest. Of fewer it means nothing. */
static bool enough(const struct gt_table *t, int row)
{
	int column = gt_table_column(t, "count");

	return row >= 0 && column >= 0 &&
		gt_table_cell(t, (unsigned)row, (unsigned)column)->i >= 100;
}

static enum what figure_verdict(const struct figure *f, enum gt_diff_role role,
	const struct gt_side *a, const struct gt_side *b)
{
	if (!f->has_a || !f->has_b) {
		const struct gt_side *missing = f->has_a ? b : a;
		bool row_too = f->has_a ? f->rows.b < 0 : f->rows.a < 0;

		if (!gt_side_is_recorded(missing, f->rule))
			return UNRECORDED;
		if (!row_too || gt_table_answer(f->has_a ? f->tb : f->ta) == GT_UNANSWERED)
			/* the data was recorded, but the figure does not exist, or the report
			 * cannot compute it */
			return UNKNOWN_FIGURE;
		return f->has_a ? GONE : ADDED;
	}
	if (fabsl(f->change) <= (long double)GT_DIFF_FLOOR)
		return SAME;
	if (role == GT_DIFF_EITHER)
		return CHANGED;
	return (f->change > 0) == (role == GT_DIFF_MORE) ? BETTER : WORSE;
}

/* Leaves out rows that are in one file only and that the comparison by name has, and zeros in
 * such rows. */
static bool of_interest(
	const struct figure *f, enum gt_diff_role role, long double a, long double b)
{
	bool row_alone = f->rows.a < 0 || f->rows.b < 0;

	if (!f->has_a && !f->has_b)
		return false;
	if (row_alone && (f->rule->names || (a == 0 && b == 0)))
		return false;
	return role != GT_DIFF_TAIL || (enough(f->ta, f->rows.a) && enough(f->tb, f->rows.b));
}

static int add_figure(struct figures *fs, struct figure f, enum gt_diff_role role,
	const struct gt_side *a, const struct gt_side *b, struct gt_err *err)
{
	long double va = 0, vb = 0;

	f.has_a = f.rows.a >= 0 && gt_figure(f.rule, f.ta, (unsigned)f.rows.a, f.column_a, &va);
	f.has_b = f.rows.b >= 0 && gt_figure(f.rule, f.tb, (unsigned)f.rows.b, f.column_b, &vb);
	if (!of_interest(&f, role, va, vb))
		return 0;
	f.change = f.has_a && f.has_b ? gt_change(va, vb) : 0;
	f.what = figure_verdict(&f, role, a, b);
	fs->same += f.what == SAME;
	if (gt_grow(&fs->list, &fs->cap, fs->n + 1, sizeof(*fs->list)))
		return gt_err_set(err, -ENOMEM, "out of memory (comparison of figures)");
	fs->list[fs->n++] = f;
	return 0;
}

static int compare_table(struct figures *fs, const struct gt_diff_rule *rule,
	const struct gt_side *a, const struct gt_side *b, struct gt_err *err)
{
	const struct gt_table *ta = gt_side_table(a, rule->table),
			      *tb = gt_side_table(b, rule->table);
	const struct gt_column *columns;
	struct gt_row_pair *pairs;
	unsigned ncolumns;
	size_t n;
	int rc;

	if (!ta || !tb)
		return 0;
	columns = gt_table_columns(tb, &ncolumns);
	rc = gt_pair_rows(rule, ta, tb, &pairs, &n, err);
	for (size_t i = 0; !rc && i < n; i++)
		for (unsigned c = 0; !rc && c < ncolumns; c++) {
			enum gt_diff_role role = gt_diff_role(rule, columns[c].key);
			/* tables of several recordings have one more column */
			int column_a = gt_table_column(ta, columns[c].key);

			if (gt_diff_is_figure(role) && role != GT_DIFF_GATE && column_a >= 0)
				rc = add_figure(fs,
					(struct figure){ .rule = rule,
						.column = &columns[c],
						.ta = ta,
						.tb = tb,
						.column_b = c,
						.column_a = (unsigned)column_a,
						.rows = pairs[i] },
					role, a, b, err);
		}
	free(pairs);
	return rc;
}

static int by_change(const void *pa, const void *pb)
{
	const struct figure *a = pa, *b = pb;
	long double ca = fabsl(a->change), cb = fabsl(b->change);

	return GT_COMPARE(a->what == SAME, b->what == SAME) ?:
		GT_COMPARE(a->rule, b->rule) ?:
		GT_COMPARE(cb, ca) ?:
		GT_COMPARE(a->rows.b, b->rows.b) ?:
		GT_COMPARE(a->rows.a, b->rows.a) ?:
		GT_COMPARE(a->column_b, b->column_b);
}

static const struct gt_column figure_columns[] = {
	{ "figure", "Figure", GT_C_TEXT },
	{ "row", "Of", GT_C_TEXT },
	{ "verdict", "Verdict", GT_C_WHOLE },
	{ "a", "A", GT_C_FIGURE },
	{ "b", "B", GT_C_FIGURE },
	{ "change_percent", "Change %", GT_C_PERCENT },
};
#define NFIGURE (sizeof(figure_columns) / sizeof(*figure_columns))

static struct gt_cell figure_cell(
	bool has, const struct gt_table *t, int row, unsigned column, enum gt_cell_kind kind)
{
	struct gt_cell c = has ? *gt_table_cell(t, (unsigned)row, column) : gt_cell_none();

	c.kind = kind;
	return c;
}

static int put_figure(struct gt_table *t, const struct figure *f)
{
	bool in_b = f->rows.b >= 0;
	char *row = gt_row_name(
		     f->rule, in_b ? f->tb : f->ta, (unsigned)(in_b ? f->rows.b : f->rows.a)),
	     figure[96];

	if (!row)
		return -ENOMEM;
	snprintf(figure, sizeof(figure), "%s.%s", f->rule->table, f->column->key);
	gt_table_add(t,
		(struct gt_cell[NFIGURE]){ gt_cell_text(figure), gt_cell_text(row),
			what_cell(f->what),
			figure_cell(f->has_a, f->ta, f->rows.a, f->column_a, f->column->kind),
			figure_cell(f->has_b, f->tb, f->rows.b, f->column_b, f->column->kind),
			f->has_a && f->has_b ? percent(f->change) : gt_cell_none() });
	free(row);
	return 0;
}

static struct gt_table *figures(struct figures *fs, unsigned top)
{
	struct gt_table *t = gt_table_new("figures", "Figures of reports", figure_columns, NFIGURE);
	size_t n = top ? fs->n - fs->same : fs->n, shown = gt_rows_shown(n, top);

	if (!t)
		return NULL;
	GT_SORT(fs->list, fs->n, by_change);
	for (size_t i = 0; i < shown; i++)
		if (put_figure(t, &fs->list[i])) {
			gt_table_free(t);
			return NULL;
		}
	if (n)
		gt_table_note(t,
			"figures that changed by more than 1 %%; the noise of a single figure is unknown");
	gt_table_set_hideable(t, "a b");
	gt_table_note_cut(t, n, shown);
	if (top)
		gt_note_plural(t, fs->same,
			"%zu of %zu figures {is|are} the same, within 1 %%: --top 0 lists {it|them}",
			fs->same, fs->n);
	return t;
}

static int compare_figures(const struct gt_side *a, const struct gt_side *b,
	const struct gt_diff_request *request, struct gt_table **table, struct gt_err *err)
{
	struct figures fs = { 0 };
	int rc = 0;

	for (const struct gt_diff_rule *rule = gt_diff_rules; !rc && rule->table; rule++)
		if (gt_diff_is_requested(request, rule))
			rc = compare_table(&fs, rule, a, b, err);
	if (!rc && !(*table = figures(&fs, request->top)))
		rc = gt_err_set(err, -ENOMEM, "out of memory (comparison of figures)");
	free(fs.list);
	return rc;
}

/* ---- is there anything to compare? ---- */

static bool answers(const struct gt_table *t) { return t && gt_table_answer(t) < GT_UNANSWERED; }

/* NULL: a requested table has an answer in both files. Else the first table without one; *side:
 * its file. */
static const struct gt_table *unanswered(const struct gt_side *a, const struct gt_side *b,
	const struct gt_diff_request *request, char *side)
{
	const struct gt_table *first = NULL;

	for (const struct gt_diff_rule *rule = gt_diff_rules; rule->table; rule++) {
		const struct gt_table *ta = gt_side_table(a, rule->table),
				      *tb = gt_side_table(b, rule->table);

		if (!gt_diff_is_requested(request, rule))
			continue;
		if (answers(ta) && answers(tb))
			return NULL;
		if (!first && ((ta && !answers(ta)) || (tb && !answers(tb)))) {
			first = ta && !answers(ta) ? ta : tb;
			*side = first == ta ? 'A' : 'B';
		}
	}
	return first;
}

/* Explains empty tables. The first table describes the files and has rows. */
static void explain_tables(const struct gt_side *a, const struct gt_side *b,
	const struct gt_diff_request *request, struct gt_table **tables, int n)
{
	static const char prefix[] = "cannot answer: ";
	char side = '?';
	const struct gt_table *why = unanswered(a, b, request, &side);
	const char *note = why ? gt_table_get_note(why, 0) : NULL;

	if (!why || n < 2)
		return;
	tables += a->steady && b->steady;
	n -= a->steady && b->steady;
	gt_table_set_unanswered(tables[1], "in %c %s", side,
		note && !strncmp(note, prefix, strlen(prefix)) ? note + strlen(prefix)
							       : "it is not known");
	for (int i = 2; i < n; i++)
		gt_table_share_answer(tables[i], tables[1]);
}

int gt_diff(const struct gt_side *a, const struct gt_side *b, const struct gt_diff_request *request,
	struct gt_table *tables[GT_DIFF_TABLES], struct gt_err *err)
{
	struct compared c = { 0 };
	int n = 0, rc = 0;

	tables[n++] = files(a, b);
	if (a->steady && b->steady)
		rc = step_medians(a, b, &tables[n++], err);
	if (!rc && request->names && !(rc = compare_names(&c, a, b, request->names, err))) {
		tables[n++] = verdicts(&c);
		tables[n++] = names(&c, a, b, request);
	}
	free(c.list);
	for (int i = 0; !rc && i < n; i++)
		if (!tables[i])
			rc = gt_err_set(err, -ENOMEM, "out of memory (comparison)");
	if (!rc)
		rc = compare_figures(a, b, request, &tables[n++], err);
	if (!rc)
		explain_tables(a, b, request, tables, n);
	if (!rc && request->lines) {
		rc = gt_diff_lines(a, b, request->top, &tables[n], err);
		n += tables[n] != NULL;
	}
	return rc ? rc : n;
}
