/* Report "steps": the iterations of a program: duration, slow steps and their differences.
 * steps_find.c and period.c find the steps, steps_fill.c computes the figures of each, and
 * steps_statistics.c those of all steps of a lane.
 *
 * Difference of a slow step: for each name, its time in this step minus its median over a sample of
 * the steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/core/report_status.h"
#include "analyze/steps/slow_lines_report.h"
#include "analyze/steps/steps.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/names/kernel_names.h"
#include "formats/names/stack_names.h"

#define LIST_MAX (1u << 20)  /* symbols of one stream */
#define LISTS_MAX (1u << 22) /* of all: 16 MiB */
#define LISTED (1u << 16)    /* streams with a list */
#define DIFFERENT 5u         /* names shown of a slow step */
/* smallest share of a shown name in the extra time of the step */
#define LITTLE 20

/* ---- rows ---- */

static int on_row(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct gt_steps *s = arg;
	struct gt_steps_stream *to;
	uint32_t *slot = &s->slot[m->place];

	if (gt_steps_begins_early(
		    s, gt_time_ordered_segment(&s->order, s->report.reader, m), m->at))
		return 0;
	if (!*slot) {
		if (gt_grow(&s->streams, &s->streams_cap, s->nstreams + 1, sizeof(*s->streams)))
			return gt_err_set(err, -ENOMEM, "out of memory (streams)");
		s->streams[s->nstreams++] = (struct gt_steps_stream){
			.number = m->place, .first = m->at, .last_end = m->end
		};
		*slot = (uint32_t)s->nstreams;
	}
	to = &s->streams[*slot - 1];
	to->ops++;
	to->last = m->at;
	to->last_end = m->end > to->last_end ? m->end : to->last_end;
	if (to->n == LIST_MAX || s->listed == LISTS_MAX || *slot > LISTED)
		return 0;
	if (gt_grow(&to->list, &to->cap, to->n + 1, sizeof(*to->list)))
		return gt_err_set(err, -ENOMEM, "out of memory (launches)");
	to->list[to->n++] = s->names.of_type[m->what] - 1;
	s->listed++;
	return 0;
}

static int steps_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct gt_steps *s = state;

	s->report = (struct gt_report_state){ r, opt };
	return gt_time_ordered_init(&s->order, r, on_row, s, err);
}

/* Called at the first row: most traces have either many tracks and types, or GPU operations. */
static int allocate(struct gt_steps *s, struct gt_err *err)
{
	s->device_of = gt_gpu_process_devices(&s->order, s->report.reader);
	s->slot = calloc(s->order.tracks[s->order.nsegs] + 1ul, sizeof(*s->slot));
	if (!s->device_of || !s->slot)
		return gt_err_set(err, -ENOMEM, "out of memory (steps)");
	return gt_name_interner_init(
		&s->names, s->order.types[s->order.nsegs], GT_STEPS_SYMBOLS, err);
}

static int steps_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_steps *s = state;

	if (!s->names.of_type && allocate(s, err))
		return err->code;
	for (uint32_t i = 0; i < cols->n; i++)
		if (!gt_steps_name(s, cols->seg, cols->types[cols->code ? cols->code[i] : 0], err))
			return err->code;
	return gt_time_ordered_run(&s->order, cols, err) ? 0 : err->code;
}

/* ---- tables ---- */

static bool found_any(const struct gt_steps *s)
{
	for (uint32_t i = 0; i < s->nlanes; i++)
		if (s->lanes[i].n)
			return true;
	return false;
}

static const struct gt_column columns[] = {
	GT_WHERE_DEVICE,
	{ "found_by", "Found by", GT_C_TEXT },
	{ "steps", "Steps", GT_C_COUNT },
	{ "alike_percent", "Repeating %", GT_C_PERCENT },
	{ "sequences", "Sequences", GT_C_COUNT },
	{ "warm_up", "Warm-up", GT_C_COUNT },
	{ "p50_ns", "Median", GT_C_NS },
	{ "p90_ns", "p90", GT_C_NS },
	{ "p99_ns", "p99", GT_C_NS },
	{ "min_ns", "Min", GT_C_NS },
	{ "max_ns", "Max", GT_C_NS },
	{ "busy_percent", "Busy %", GT_C_PERCENT },
	{ "drift", "Drift", GT_C_TEXT },
	{ "drift_percent", "Per 100 steps %", GT_C_PERCENT },
	{ "anchor", "Begins with", GT_C_TEXT },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))
static const struct gt_column step_columns[] = {
	GT_WHERE_DEVICE,
	{ "step", "Step", GT_C_COUNT },
	{ "start_ns", "Start", GT_C_TIME },
	{ "duration_ns", "Duration", GT_C_NS },
	{ "busy_ns", "GPU busy", GT_C_NS },
	{ "idle_ns", "GPU idle", GT_C_NS },
	{ "kernels", "Kernels", GT_C_COUNT },
	{ "copies", "Copies", GT_C_COUNT },
	{ "sets", "Sets", GT_C_COUNT },
	{ "bytes", "Bytes", GT_C_BYTES },
	{ "calls", "Calls", GT_C_COUNT },
	{ "runtime_calls", "Runtime calls", GT_C_COUNT },
	{ "sequence", "Sequence", GT_C_COUNT },
	{ "note", "Note", GT_C_TEXT },
};
#define NSTEP (sizeof(step_columns) / sizeof(*step_columns))
static const struct gt_column slow_columns[] = {
	GT_WHERE_DEVICE,
	{ "step", "Step", GT_C_COUNT },
	{ "duration_ns", "Duration", GT_C_NS },
	{ "over_ns", "Over median", GT_C_NS },
	{ "name", "What", GT_C_TEXT },
	{ "layer", "Layer", GT_C_TEXT },
	{ "time_ns", "Time", GT_C_NS },
	{ "median_ns", "Median", GT_C_NS },
	{ "difference_ns", "Difference", GT_C_NS },
};
#define NSLOW (sizeof(slow_columns) / sizeof(*slow_columns))

static void where(struct gt_cell cells[4], const struct gt_steps *s, const struct gt_steps_lane *l)
{
	gt_where_device(cells, l->seg, l->number - s->order.tracks[l->seg->index]);
}

static const char *name_of(const struct gt_steps *s, uint32_t name, struct gt_kernel_names *names)
{
	const struct gt_name_id *n = &s->names.list[name];

	return n->tag == GT_LAYER_GPU ? gt_kernel_names_shown(names, n->text) : n->text;
}

static void drift_cells(const struct gt_steps_drift *d, uint64_t middle, struct gt_cell cells[2])
{
	cells[0] = gt_cell_text(!d->known ? "too few steps"
			: d->noise        ? "no drift"
			: d->per_step > 0 ? "slower"
					  : "faster");
	cells[1] = gt_cell_none();
	if (d->known && !d->noise && middle)
		cells[1] = gt_cell_i(llround(1e6 * d->per_step / (double)middle));
}

/* The cells from the median to the drift, for the steps after the warm-up. */
static int figure_cells(struct gt_steps_lane *l, struct gt_cell cells[8], struct gt_err *err)
{
	size_t n = l->n - l->warm;
	uint64_t *times = malloc((n + 1) * sizeof(*times)), busy = 0, wall = 0;
	struct gt_steps_drift d;
	int rc = times ? gt_steps_find_drift(l->steps + l->warm, n, &d, err)
		       : gt_err_set(err, -ENOMEM, "out of memory (steps)");

	for (size_t i = 0; !rc && i < n; i++) {
		times[i] = gt_step_ns(&l->steps[l->warm + i]);
		busy = gt_sat_add(busy, l->steps[l->warm + i].busy);
		wall = gt_sat_add(wall, times[i]);
	}
	if (!rc) {
		l->median = gt_steps_median(times, n);
		cells[0] = gt_cell_u(l->median);
		cells[1] = gt_cell_u(gt_steps_quantile(times, n, 0.9));
		cells[2] = gt_cell_u(gt_steps_quantile(times, n, 0.99));
		cells[3] = gt_cell_u(times[0]);
		cells[4] = gt_cell_u(times[n - 1]);
		cells[5] = gt_cell_share(busy, wall);
		drift_cells(&d, l->median, cells + 6);
	}
	free(times);
	return rc;
}

static int add_lane(const struct gt_steps *s, struct gt_table *t, struct gt_steps_lane *l,
	struct gt_kernel_names *names, struct gt_err *err)
{
	struct gt_cell cells[NCOLUMNS];
	int rc = 0;

	where(cells, s, l);
	for (size_t i = 4; i < NCOLUMNS; i++)
		cells[i] = gt_cell_none();
	if (l->n) {
		cells[5] = gt_cell_u(l->n);
		cells[4] = gt_cell_text(l->mark ? "marks" : "sequence");
		cells[6] = gt_cell_share(l->alike_ops, l->ops);
		cells[7] = gt_cell_u(l->sequences);
		cells[8] = gt_cell_known(l->n >= GT_STEPS_WARM_LEAST, l->warm);
		rc = figure_cells(l, cells + 9, err);
		cells[17] = gt_cell_text(l->mark ? l->mark : name_of(s, l->period.anchor, names));
	}
	gt_table_add(t, cells);
	if (!l->n)
		(found_any(s) ? gt_table_note : gt_table_set_unanswered)(t,
			"%sGPU %lld of process %lld has no repeating sequence: %s",
			found_any(s) ? "cannot answer: " : "", (long long)cells[3].i,
			(long long)cells[1].i, l->why ? l->why : "there is nothing");
	return rc;
}

/* Were calls of this layer recorded, and do the options include them? */
static bool has_calls(const struct gt_steps *s, const struct gt_steps_lane *l, unsigned layer)
{
	return gt_is_recorded_in(l->seg, layer) &&
		!gt_why_filtered_out(&s->report, layer, GT_OP_NONE);
}

static void add_step(const struct gt_steps *s, struct gt_table *t, const struct gt_steps_lane *l,
	size_t i, bool calls, bool runtime)
{
	const struct gt_step *step = &l->steps[i];
	const struct gt_report_state *a = &s->report;
	uint64_t ns = gt_step_ns(step);
	struct gt_cell cells[NSTEP];

	where(cells, s, l);
	cells[4] = gt_cell_u(i + 1);
	cells[5] = gt_cell_time(a, l->seg, step->at);
	cells[6] = gt_cell_u(ns);
	cells[7] = gt_cell_u(step->busy);
	cells[8] = gt_cell_u(ns - step->busy);
	cells[9] = gt_cell_u(step->kernels);
	cells[10] = gt_cell_u(step->copies);
	cells[11] = gt_cell_u(step->sets);
	cells[12] = gt_cell_u(step->bytes);
	cells[13] = gt_cell_known(calls, step->calls);
	cells[14] = gt_cell_known(runtime, step->runtime_calls);
	cells[15] = gt_cell_u(step->sequence + 1ul);
	cells[16] = gt_cell_text(i < l->warm                    ? "warm-up"
			: l->limit > 0 && (double)ns > l->limit ? "slow"
								: "");
	gt_table_add(t, cells);
}

/* ---- differences of slow steps ---- */

struct different {
	uint32_t name;
	uint64_t time, median;
}; /* name GT_NONE: the GPU was idle */

static uint64_t abs_difference(const struct different *d)
{
	return d->time > d->median ? d->time - d->median : d->median - d->time;
}

static int by_difference(const void *pa, const void *pb)
{
	const struct different *a = pa, *b = pb;
	uint64_t x = abs_difference(a), y = abs_difference(b);

	return GT_COMPARE(y, x) ?: GT_COMPARE(a->name, b->name);
}

/* The time of a name in a picked step; name GT_NONE: idle time. */
static uint64_t time_in(const struct gt_steps *s, const struct gt_step *step, uint32_t name)
{
	if (name == GT_NONE)
		return gt_step_ns(step) - step->busy;
	return s->times[(step->picked - 1ul) * (GT_STEPS_NAMES + 1) + name];
}

/* The median of a name over the sampled steps after the warm-up; of idle time, which is known for
 * each step, over all of them. */
static uint64_t median_of(
	const struct gt_steps *s, const struct gt_steps_lane *l, uint32_t name, uint64_t *scratch)
{
	size_t n = 0, of = name == GT_NONE ? l->n : l->sampled;

	for (size_t i = 0; i < of; i++) {
		size_t at = i * l->n / of;

		if (at >= l->warm)
			scratch[n++] = time_in(s, &l->steps[at], name);
	}
	return n ? gt_steps_median(scratch, n) : 0;
}

static void add_different(const struct gt_steps *s, struct gt_table *t,
	const struct gt_steps_lane *l, size_t step, const struct different *d,
	struct gt_kernel_names *names)
{
	const struct gt_name_id *name =
		d->name < s->names.n && d->name < GT_STEPS_NAMES ? &s->names.list[d->name] : NULL;
	struct gt_cell cells[NSLOW];

	where(cells, s, l);
	cells[4] = gt_cell_u(step + 1);
	cells[5] = gt_cell_u(gt_step_ns(&l->steps[step]));
	cells[6] = gt_cell_i((int64_t)(gt_step_ns(&l->steps[step]) - l->median));
	cells[7] = gt_cell_text(d->name == GT_NONE ? "GPU idle"
			: name                     ? name_of(s, d->name, names)
						   : "all other names");
	cells[8] = d->name == GT_NONE ? gt_cell_text("gpu")
		: name                ? gt_cell_text(gt_layer_word(name->tag))
				      : gt_cell_none();
	cells[9] = gt_cell_u(d->time);
	cells[10] = gt_cell_u(d->median);
	cells[11] = gt_cell_i((int64_t)(d->time - d->median));
	gt_table_add(t, cells);
}

/* Does it exceed the median by more than 1 %? */
static bool is_slow(const struct gt_steps_lane *l, const struct gt_step *step)
{
	return gt_step_ns(step) > l->median && gt_step_ns(step) - l->median > l->median / 100;
}

static int add_slow(const struct gt_steps *s, struct gt_table *t, const struct gt_steps_lane *l,
	struct gt_kernel_names *names, struct gt_err *err)
{
	uint32_t n = (uint32_t)(s->names.n < GT_STEPS_NAMES ? s->names.n : GT_STEPS_NAMES + 1);
	struct different *list = malloc((n + 1ul) * sizeof(*list));
	uint64_t *scratch = malloc((l->n + 1) * sizeof(*scratch));

	for (size_t k = 0; list && scratch && k < l->nslowest; k++) {
		const struct gt_step *step = &l->steps[l->slowest[k]];

		if (!is_slow(l, step))
			break;
		for (uint32_t i = 0; i <= n; i++) {
			uint32_t name = i < n ? i : GT_NONE;

			list[i] = (struct different){ name, time_in(s, step, name),
				median_of(s, l, name, scratch) };
		}
		GT_SORT(list, n + 1ul, by_difference);
		for (uint32_t i = 0; i < DIFFERENT && i <= n &&
			abs_difference(&list[i]) > (gt_step_ns(step) - l->median) / LITTLE;
			i++)
			add_different(s, t, l, l->slowest[k], &list[i], names);
	}
	if (!list || !scratch)
		gt_err_set(err, -ENOMEM, "out of memory (steps)");
	free(list);
	free(scratch);
	return err->code;
}

static void add_steps(const struct gt_steps *s, struct gt_table *t)
{
	size_t total = 0, left;

	for (uint32_t i = 0; i < s->nlanes; i++)
		total += s->lanes[i].n;
	left = gt_rows_shown(total, s->report.opt->top);
	gt_table_note_cut(t, total, left);
	for (uint32_t i = 0; i < s->nlanes; i++) {
		const struct gt_steps_lane *l = &s->lanes[i];
		bool calls = has_calls(s, l, GT_LAYER_API),
		     runtime = has_calls(s, l, GT_LAYER_RUNTIME);

		for (size_t k = 0; k < l->n && left; k++, left--)
			add_step(s, t, l, k, calls, runtime);
	}
}

static void add_notes(const struct gt_steps *s, struct gt_table *t)
{
	bool by_gpu = false, by_sequence = false;
	size_t sampled = 0;

	for (uint32_t i = 0; i < s->nlanes; i++) {
		by_gpu |= s->lanes[i].by_gpu;
		by_sequence |= s->lanes[i].n && !s->lanes[i].mark;
		if (s->lanes[i].sampled < s->lanes[i].n)
			sampled = s->lanes[i].sampled;
	}
	if (s->crowded)
		gt_table_set_unanswered(
			t, "GPUs ran more than %u different operations", GT_STEPS_SYMBOLS);
	else if (found_any(s))
		gt_table_note(t,
			"repeating: the share of GPU operations in steps whose sequence of launches occurs more than once");
	if (by_sequence)
		gt_table_note(
			t, "a step lasts until the next one begins: the last one is left out");
	if (found_any(s) && gt_begins_late(&s->report))
		gt_table_note(t,
			"steps are found and numbered in the selected range only: those of the whole run may differ");
	if (by_gpu)
		gt_table_note(t,
			"launches are unknown or unordered: operations and calls count for the step in whose GPU time they began");
	if (s->lanes_left_out)
		gt_table_note(t, "more than %u GPUs: those with the least work are left out",
			GT_STEPS_LANES);
	if (s->steps_left_out)
		gt_table_note(t, "more than %u steps: further ones are left out", GT_STEPS_MAX);
	gt_note_unordered(t, s->late, "sequences and busy times");
	if (sampled)
		gt_table_note(t,
			"the median is that of the same name in %zu steps of a GPU, sampled evenly after the warm-up",
			sampled);
}

static int fill_tables(struct gt_steps *s, struct gt_table **tables, unsigned n, struct gt_err *err)
{
	struct gt_kernel_names *names = gt_kernel_names_of(s->report.reader, s->report.opt->names);
	int rc = names ? 0 : gt_err_set(err, -ENOMEM, "out of memory (steps)");

	for (uint32_t i = 0; !rc && i < s->nlanes; i++)
		rc = add_lane(s, tables[0], &s->lanes[i], names, err);
	if (!rc)
		add_steps(s, tables[1]);
	for (uint32_t i = 0; !rc && i < s->nlanes; i++)
		rc = add_slow(s, tables[2], &s->lanes[i], names, err);
	add_notes(s, tables[0]);
	for (unsigned i = 1; i < n && !found_any(s); i++)
		gt_table_share_answer(tables[i], tables[0]);
	if (!rc && found_any(s) && !gt_table_rows(tables[2]))
		gt_table_note(tables[2], "no step took longer than the median by more than 1 %%");
	gt_kernel_names_free(names);
	return rc;
}

/* Is it known what threads do? */
static bool has_lines(const struct gt_steps *s)
{
	return gt_has_samples(s->report.reader) || gt_has_stacks(s->report.reader);
}

static int steps_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct gt_steps *s = state;
	int rc = gt_time_ordered_flush(&s->order, err);
	unsigned n = 3;

	s->late = gt_time_ordered_late(&s->order);
	s->nsigns = s->names.n;
	s->crowded = gt_name_interner_has_rest(&s->names);
	tables[0] = gt_report_table(&s->report, "steps", "Steps", columns, NCOLUMNS,
		"process anchor sequences found_by p90_ns min_ns p99_ns drift_percent alike_percent max_ns busy_percent "
		"warm_up pid device",
		err);
	tables[1] = gt_report_table(&s->report, "step_list", "Each step", step_columns, NSTEP,
		"process runtime_calls sets copies sequence bytes calls kernels busy_ns pid note device",
		err);
	tables[2] = gt_report_table(&s->report, "slow_steps",
		"The slowest steps, and their differences from the median step", slow_columns,
		NSLOW, "process layer over_ns median_ns duration_ns pid device", err);
	if (rc || !tables[0] || !tables[1] || !tables[2])
		return err->code;
	if (!s->crowded)
		rc = gt_steps_find_all(s, err);
	if (!rc && (has_lines(s) || !found_any(s)) && !(tables[n++] = gt_slow_lines_table(s, err)))
		return err->code;
	if (!rc)
		rc = fill_tables(s, tables, n, err);
	if (!rc && found_any(s) && has_lines(s))
		rc = gt_slow_lines_fill(s, tables[3], err);
	return rc ? rc : (int)n;
}

void gt_steps_release(struct gt_steps *s)
{
	for (size_t i = 0; i < s->nstreams; i++)
		free(s->streams[i].list);
	for (uint32_t i = 0; i < s->nlanes; i++)
		free(s->lanes[i].steps);
	free(s->streams);
	free(s->lanes);
	free(s->device_of);
	free(s->slot);
	free(s->times);
	gt_name_interner_release(&s->names);
	gt_time_ordered_release(&s->order);
}

static void steps_release(void *state) { gt_steps_release(state); }

/* ---- steps for other reports ---- */

int gt_steps_read(struct gt_steps *s, struct gt_reader *r, const struct gt_analysis_options *opt,
	struct gt_err *err)
{
	struct gt_filter filter = opt->filter;
	int rc = steps_init(s, r, opt, err);

	filter.kinds = GT_BIT(GT_GPU);
	filter.args = false;
	if (!rc)
		rc = gt_reread_trace(r, &filter, GT_BY_TIME, steps_block, s, err);
	if (!rc)
		rc = gt_time_ordered_flush(&s->order, err);
	s->nsigns = s->names.n;
	s->crowded = s->names.of_type && gt_name_interner_has_rest(&s->names);
	return rc || !s->names.of_type || s->crowded ? rc : gt_steps_find_all(s, err);
}

const struct gt_analysis gt_steps_report = {
	.name = "steps",
	.per_recording = true,
	.help = "iterations, found by repetition or by marks: durations, slow ones and their causes, drift",
	.wants = GT_BIT(GT_GPU),
	.needs = GT_BIT(GT_LAYER_GPU),
	.needs_unfiltered = true,
	.order = GT_BY_TIME,
	.state_size = sizeof(struct gt_steps),
	.init = steps_init,
	.block = steps_block,
	.finish = steps_finish,
	.release = steps_release,
};
