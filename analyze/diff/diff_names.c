/* Operations by name for the comparison of two traces: count, sum and standard deviation of all
 * rows with a duration, nested or not. Ranges whose names differ by numbers are one. Short names of
 * kernels are unique within one file; the comparison makes its own. */
#include <stdlib.h>
#include <string.h>
#include "analyze/stats/stddev.h"
#include "analyze/diff/diff.h"
#include "analyze/stats/name_interner.h"
#include "analyze/stats/name_template.h"
#include "analyze/core/report.h"
#include "formats/base/buf.h"
#include "formats/names/kernel_names.h"

/* The rows of a name in slices of time. Slices are as fine as the first and last row allow: if a
 * name runs for one second of a minute, that second is divided. Slice i begins i << shift after
 * the start of the recording. Slices lo to hi have rows, and each has its own place in the ring.
 * The order of rows does not change the result. */
#define SLICES 32u
struct slice {
	uint64_t count, total;
};
struct slices {
	unsigned shift;
	uint64_t lo, hi;
	struct slice ring[SLICES];
};
struct sum {
	uint64_t count, total;
	struct gt_squares squares;
	struct slices *slices; /* NULL: no row yet */
};
struct names {
	struct gt_report_state report;
	uint32_t *first;  /* by segment: number of its first type */
	struct sum *sums; /* by type, numbered over all segments */
	size_t nsums;
	struct gt_name_interner ids;
	struct gt_name_templates templates;
	struct by_name {
		uint8_t category, layer;
		struct sum sum;
	} * list;
	size_t n, cap;
};

static int names_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct names *s = state;
	uint32_t nsegs = gt_reader_segments(r);

	s->report = (struct gt_report_state){ r, opt };
	s->first = calloc(nsegs + 1ul, sizeof(*s->first));
	for (uint32_t i = 0; s->first && i < nsegs; i++) {
		s->first[i] = (uint32_t)s->nsums;
		s->nsums += gt_reader_segment(r, i)->ntypes;
	}
	s->sums = calloc(s->nsums + 1, sizeof(*s->sums));
	return s->first && s->sums
		? 0
		: gt_err_set(err, -ENOMEM, "out of memory (sums of %zu types)", s->nsums);
}

/* ---- slices ---- */

static void coarsen(struct slices *s)
{
	struct slice old[SLICES];

	memcpy(old, s->ring, sizeof(old));
	memset(s->ring, 0, sizeof(s->ring));
	for (uint64_t i = s->lo; i <= s->hi; i++) {
		struct slice *to = &s->ring[(i >> 1) % SLICES];

		to->count += old[i % SLICES].count;
		to->total += old[i % SLICES].total;
	}
	s->lo >>= 1;
	s->hi >>= 1;
	s->shift++;
}

/* Widens the slices until lo to hi fit into the ring. */
static __attribute__((noinline)) void widen(
	struct slices *s, uint64_t lo, uint64_t hi, unsigned shift)
{
	while (s->shift < shift)
		coarsen(s);
	lo >>= s->shift - shift;
	hi >>= s->shift - shift;
	lo = lo < s->lo ? lo : s->lo;
	hi = hi > s->hi ? hi : s->hi;
	while (hi - lo >= SLICES) {
		coarsen(s);
		lo >>= 1;
		hi >>= 1;
	}
	s->lo = lo;
	s->hi = hi;
}

static inline struct slice *slice_at(struct slices *s, uint64_t since)
{
	uint64_t i = since >> s->shift;

	if (i < s->lo || i > s->hi)
		widen(s, since, since, 0);
	return &s->ring[(since >> s->shift) % SLICES];
}

/* New slices; the first row is at `since`. NULL: no memory. */
static struct slices *new_slices(uint64_t since)
{
	struct slices *s = calloc(1, sizeof(*s));

	if (s)
		s->lo = s->hi = since;
	return s;
}

static void add_slices(struct slices *into, const struct slices *from)
{
	widen(into, from->lo, from->hi, from->shift);
	for (uint64_t i = from->lo; i <= from->hi; i++) {
		const struct slice *one = &from->ring[i % SLICES];
		struct slice *to = &into->ring[(i >> (into->shift - from->shift)) % SLICES];

		to->count += one->count;
		to->total += one->total;
	}
}

/* ---- rows ---- */

static int names_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct names *s = state;
	struct sum *sums = s->sums + s->first[cols->seg->index];

	for (uint32_t i = 0; i < cols->n; i++) {
		uint32_t type = cols->types[cols->code ? cols->code[i] : 0];
		uint64_t ns = (uint64_t)cols->dur[i],
			 since = (uint64_t)cols->start[i] - (uint64_t)cols->seg->min_start;
		struct sum *sum = &sums[type];
		struct slice *slice;

		if (type >= cols->seg->ntypes)
			continue;
		if (!sum->slices && !(sum->slices = new_slices(since)))
			return gt_err_set(err, -ENOMEM, "out of memory (sums by name)");
		slice = slice_at(sum->slices, since);
		slice->count++;
		slice->total += ns; /* may wrap if the sum below overflows; it is not used then */
		sum->count++;
		sum->total = gt_sat_add(sum->total, ns);
		gt_squares_add(&sum->squares, ns);
	}
	return 0;
}

/* Returns 0 or -ENOMEM. */
static int add_sum(struct sum *into, const struct sum *from)
{
	if (!from->count)
		return 0;
	into->count += from->count;
	into->total = gt_sat_add(into->total, from->total);
	gt_squares_merge(&into->squares, &from->squares);
	if (!into->slices && !(into->slices = new_slices(from->slices->lo << from->slices->shift)))
		return -ENOMEM;
	add_slices(into->slices, from->slices);
	return 0;
}

static int names_merge(void *into, void *from, struct gt_err *err)
{
	struct names *a = into, *b = from;

	for (size_t i = 0; i < a->nsums; i++)
		if (add_sum(&a->sums[i], &b->sums[i]))
			return gt_err_set(err, -ENOMEM, "out of memory (sums by name)");
	return 0;
}

/* ---- types of one name are one ---- */

static int add_type(struct names *s, const struct gt_segment *seg, const struct gt_type *type,
	const struct sum *sum, struct gt_err *err)
{
	struct gt_string name = gt_report_option(s->report.opt, "by-id")
		? gt_name_text(seg, type->name)
		: gt_name_templates_of(&s->templates, seg, type, err);
	uint32_t i =
		name.ptr ? gt_name_interner_find(&s->ids, name, gt_name_tag(type), err) : GT_NONE;

	if (i == GT_NONE || gt_grow(&s->list, &s->cap, s->ids.n, sizeof(*s->list)))
		return gt_err_set(err, -ENOMEM, "out of memory (names)");
	if (i == s->n)
		s->list[s->n++] =
			(struct by_name){ .category = type->category, .layer = type->layer };
	else
		gt_name_templates_forget(&s->templates, name);
	return add_sum(&s->list[i].sum, sum) ? gt_err_set(err, -ENOMEM, "out of memory (names)")
					     : 0;
}

/* The standard error of the mean from the means of slices, weighted by their rows: k / (k - 1) *
 * sum of (w * (m - mean))^2. *slices: 1 / sum of w^2; if slices have equal weight, their number. */
static double drift(const struct sum *sum, double *slices)
{
	double mean = (double)sum->total / (double)sum->count, squares = 0, weights = 0;
	unsigned k = 0;

	for (unsigned i = 0; i < SLICES; i++) {
		const struct slice *s = &sum->slices->ring[i];
		double weight = (double)s->count / (double)sum->count,
		       off = s->count ? (double)s->total / (double)s->count - mean : 0;

		k += s->count > 0;
		weights += weight * weight;
		squares += weight * weight * off * off;
	}
	*slices = 1 / weights;
	return k > 1 ? sqrt(squares * k / (k - 1)) : 0;
}

static const struct gt_column columns[] = {
	{ "operation", "Operation", GT_C_TEXT },
	{ "layer", "Layer", GT_C_TEXT },
	{ "category", "Category", GT_C_TEXT },
	{ "count", "Count", GT_C_COUNT },
	{ "total_ns", "Total", GT_C_NS },
	{ "mean_ns", "Mean", GT_C_NS },
	{ "stddev_ns", "Std dev", GT_C_REAL },
	{ "drift_ns", "Drift", GT_C_REAL },
	{ "slices", "Slices", GT_C_REAL },
	{ "name", NULL, GT_C_TEXT },
};

static void add_row(struct gt_table *t, const char *text, const struct by_name *one,
	struct gt_kernel_names *kernels)
{
	const struct sum *sum = &one->sum;
	bool kernel = one->layer == GT_LAYER_GPU && one->category == GT_CAT_KERNEL;
	long double ns = 0;
	bool known = gt_deviation(sum->count, sum->total, &sum->squares, &ns);
	double slices, drifts = drift(sum, &slices);

	gt_table_add(t,
		(struct gt_cell[]){
			gt_cell_text(kernel ? gt_kernel_names_shown(kernels, text) : text),
			gt_cell_text(gt_layer_word(one->layer)),
			gt_cell_text(gt_category_word(one->category)), gt_cell_u(sum->count),
			gt_cell_u(sum->total), gt_cell_u(sum->total / sum->count),
			{ .absent = !known, .d = (double)ns }, { .absent = !known, .d = drifts },
			{ .absent = !known, .d = slices }, gt_cell_text(text) });
}

static int names_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct names *s = state;
	struct gt_kernel_names *kernels;

	for (uint32_t i = 0; i < gt_reader_segments(s->report.reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(s->report.reader, i);

		for (uint32_t t = 0; t < seg->ntypes; t++)
			if (s->sums[s->first[i] + t].count &&
				add_type(s, seg, &seg->types[t], &s->sums[s->first[i] + t], err))
				return err->code;
	}
	tables[0] = gt_table_new("names", NULL, columns, sizeof(columns) / sizeof(*columns));
	kernels = gt_kernel_names_of(s->report.reader, s->report.opt->names);
	for (size_t i = 0; tables[0] && kernels && i < s->n; i++)
		add_row(tables[0], s->ids.list[i].text, &s->list[i], kernels);
	gt_kernel_names_free(kernels);
	return tables[0] && kernels ? 1 : gt_err_set(err, -ENOMEM, "out of memory (names)");
}

static void names_release(void *state)
{
	struct names *s = state;

	for (size_t i = 0; s->sums && i < s->nsums; i++)
		free(s->sums[i].slices);
	for (size_t i = 0; i < s->n; i++)
		free(s->list[i].sum.slices);
	free(s->first);
	free(s->sums);
	free(s->list);
	gt_name_interner_release(&s->ids);
	gt_name_templates_release(&s->templates);
}

const struct gt_analysis gt_diff_names_report = {
	.name = "names",
	.help = "operations by name with the scatter of their durations",
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_SPAN) | GT_BIT(GT_GPU),
	.splits = GT_BY_BLOCK,
	.state_size = sizeof(struct names),
	.init = names_init,
	.block = names_block,
	.merge = names_merge,
	.finish = names_finish,
	.release = names_release,
};
