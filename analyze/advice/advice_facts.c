#include "analyze/advice/advice_facts.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/columns/column_cursor.h"
#include "analyze/steps/steady.h"
#include "formats/cuda/gpu_rows.h"

/* ---- idle time ---- */

/* Have more than half of the operations begun? A selected range counts as late in full: the user
 * leaves out the warm-up. */
static bool is_late(const struct gt_idle *s, const struct gt_segment *seg)
{
	const struct gt_filter *f = &s->report.opt->filter;

	return f->ranged || f->pid || s->begun > seg->rows[GT_GPU] / 2;
}

static void add_cause(struct gt_cause_facts *c, const struct gt_idle_slice *slice, bool late)
{
	struct gt_evidence one = { slice->seg, slice->from, slice->to, slice->thread, slice->type,
		slice->device };
	uint64_t ns = (uint64_t)(slice->to - slice->from);

	c->ns = gt_sat_add(c->ns, ns);
	c->slices++;
	gt_evidence_keep_longest(&c->longest, &one);
	if (!late)
		return;
	c->late_ns = gt_sat_add(c->late_ns, ns);
	c->late_slices++;
	gt_evidence_keep_longest(&c->latest_longest, &one);
}

/* ---- gaps ---- */

_Static_assert(GT_IDLE_CAUSE_COUNT <= 32, "a bit each");

/* The time of the current gap with this cause. */
static uint64_t of_gap(const struct gt_advice_facts *f, unsigned cause)
{
	return f->gap.had & 1u << cause ? f->gap.causes[cause] : 0;
}

static void count_gap(struct gt_advice_facts *f)
{
	f->gaps.n++;
	f->gaps.ns = gt_sat_add(f->gaps.ns, (uint64_t)(f->gap.at.to - f->gap.at.from));
	gt_evidence_keep_longest(&f->gaps.longest, &f->gap.at);
	for (unsigned c = 0; f->gaps.longest.from == f->gap.at.from && c < GT_IDLE_CAUSE_COUNT; c++)
		f->gaps.cause = !c || of_gap(f, c) > of_gap(f, f->gaps.cause) ? c : f->gaps.cause;
}

static void close_gap(struct gt_advice_facts *f)
{
	if (f->gap.at.seg && f->gap.at.to - f->gap.at.from > f->least)
		count_gap(f);
	f->gap.at.seg = NULL;
}

static void add_to_gap(struct gt_advice_facts *f, const struct gt_idle_slice *slice)
{
	struct gt_evidence *at = &f->gap.at;

	if (at->seg &&
		(at->device != slice->device || f->gap.nth != slice->gap || at->to != slice->from))
		close_gap(f);
	if (!slice->inner || slice->unsure || slice->cause == GT_IDLE_OVERHEAD) {
		close_gap(f);
		return;
	}
	if (!at->seg) {
		*at = (struct gt_evidence){ slice->seg, slice->from, slice->from, slice->thread,
			GT_NONE, slice->device };
		f->gap.had = 0;
	}
	f->gap.nth = slice->gap;
	at->to = slice->to;
	f->gap.causes[slice->cause] = of_gap(f, slice->cause) + (uint64_t)(slice->to - slice->from);
	f->gap.had |= 1u << slice->cause;
}

/* ---- slices and operations ---- */

static bool is_launch(const struct gt_type *type)
{
	return type->op == GT_OP_LAUNCH || type->op == GT_OP_GRAPH_LAUNCH;
}

/* A call that synchronises may have several slices: kernels run in it, or its thread is runnable.
 */
static void count_sync(struct gt_advice_facts *f, const struct gt_idle_slice *slice)
{
	if (f->idle_syncs && f->idle_sync.thread == slice->thread &&
		f->idle_sync.start == slice->call)
		return;
	f->idle_syncs++;
	f->idle_sync.thread = slice->thread;
	f->idle_sync.start = slice->call;
}

static void on_slice(void *arg, const struct gt_idle_slice *slice)
{
	struct gt_advice_facts *f = arg;
	const struct gt_type *type = slice->type == GT_NONE
		? NULL
		: &slice->seg->types[slice->type - f->idle->order.types[slice->seg->index]];
	bool late = is_late(f->idle, slice->seg);

	f->unsure = gt_sat_add(f->unsure, slice->unsure ? (uint64_t)(slice->to - slice->from) : 0);
	add_to_gap(f, slice);
	add_cause(&f->causes[slice->cause], slice, late);
	if (slice->cause == GT_IDLE_SYNC)
		count_sync(f, slice);
	if (slice->cause == GT_IDLE_CALL && type && is_launch(type))
		add_cause(&f->launching, slice, late);
}

static int on_op(
	void *arg, const struct gt_idle_device *d, const struct gt_idle_op *op, struct gt_err *err)
{
	struct gt_advice_facts *f = arg;

	return gt_serialization_op(&f->serial, f->idle, d, op, err);
}

/* ---- copies and sets ---- */

static void add_copy(struct gt_copy_facts *c, const struct gt_cols *cols, uint32_t row,
	uint64_t bytes, const struct gt_evidence *one)
{
	c->n++;
	c->ns = gt_sat_add(c->ns, (uint64_t)cols->dur[row]);
	c->bytes = gt_sat_add(c->bytes, bytes);
	gt_evidence_keep_longest(&c->longest, one);
}

static void add_copies(struct gt_advice_facts *f, const struct gt_cols *cols, uint32_t code,
	const struct gt_type *type)
{
	bool pageable =
		strstr(gt_str(cols->seg, type->name), gt_gpu_memory_word(GT_GPU_MEM_PAGEABLE));
	uint32_t known = 0;
	const uint64_t *async = gt_cols_role(cols, code, GT_R_ASYNC, &known);
	struct gt_column_cursor p;

	for (gt_column_cursor_start(&p, cols, code, GT_R_BYTES, GT_R_NONE);
		gt_column_cursor_next(&p);) {
		struct gt_evidence one = { cols->seg, cols->start[p.row],
			cols->start[p.row] + cols->dur[p.row], GT_NONE, GT_NONE,
			gt_time_ordered_track(&f->idle->order, cols->seg, cols->track) };
		uint64_t bytes = 0;
		bool has_bytes = gt_column_cursor_value(&p, 0, &bytes),
		     waits = p.nth <= known && async && !async[p.nth - 1];

		if (type->op == GT_OP_SET) {
			if (waits)
				add_copy(&f->sets_blocking, cols, p.row, bytes, &one);
			continue;
		}
		add_copy(&f->copies, cols, p.row, bytes, &one);
		if (has_bytes && bytes < GT_SMALL_COPY)
			add_copy(&f->small, cols, p.row, bytes, &one);
		if (waits)
			add_copy(&f->blocking, cols, p.row, bytes, &one);
		if (pageable)
			add_copy(&f->pageable, cols, p.row, bytes, &one);
		if (pageable && p.nth <= known && async && async[p.nth - 1])
			add_copy(&f->pageable_async, cols, p.row, bytes, &one);
	}
}

/* ---- rows ---- */

/* Discards the results of slices and operations; on_rows is called once per row. */
static void on_restart(void *arg)
{
	struct gt_advice_facts *f = arg;

	memset(f->causes, 0, sizeof(f->causes));
	memset(&f->launching, 0, sizeof(f->launching));
	memset(&f->gaps, 0, sizeof(f->gaps));
	memset(&f->gap, 0, sizeof(f->gap));
	f->unsure = f->idle_syncs = 0;
	gt_serialization_reset(&f->serial);
}

/* Counts the calls of one code that synchronise or launch. */
static int count_calls(struct gt_advice_facts *f, const struct gt_cols *cols, uint32_t code,
	const struct gt_type *type, struct gt_err *err)
{
	const struct gt_idle *s = f->idle;
	struct gt_column_cursor p;
	uint64_t n = 0;

	if (!f->calls &&
		!(f->calls = calloc(s->order.types[s->order.nsegs] + 1ul, sizeof(*f->calls))))
		return gt_err_set(err, -ENOMEM, "out of memory (calls)");
	for (gt_column_cursor_start(&p, cols, code, GT_R_NONE, GT_R_NONE);
		gt_column_cursor_next(&p);)
		n++;
	f->calls[s->order.types[cols->seg->index] + cols->types[code]] += n;
	f->syncs += type->op == GT_OP_SYNC ? n : 0;
	f->launches += is_launch(type) ? n : 0;
	f->graph_launches += type->op == GT_OP_GRAPH_LAUNCH ? n : 0;
	return 0;
}

static void add_migrations(struct gt_advice_facts *f, const struct gt_cols *cols)
{
	for (uint32_t i = 0; i < cols->n; i++) {
		const struct gt_type *type = gt_cols_type(cols, cols->code ? cols->code[i] : 0);

		if (type && type->layer == GT_LAYER_GPU && type->category == GT_CAT_MEMORY)
			f->migrated_ns = gt_sat_add(f->migrated_ns, (uint64_t)cols->dur[i]);
	}
}

static int on_rows(void *arg, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_advice_facts *f = arg;
	bool call = cols->kind == GT_CALL;

	if (cols->kind == GT_SPAN) {
		add_migrations(f, cols);
		gt_preemptions_run(&f->preemptions, cols);
	}
	if (cols->kind == GT_GPU && gt_collectives_run(&f->collectives, &f->idle->order, cols, err))
		return err->code;
	for (uint32_t c = 0; c < cols->ntypes && (call || cols->kind == GT_GPU); c++) {
		const struct gt_type *type = gt_cols_type(cols, c);

		if (!type)
			continue;
		if (!call && (type->op == GT_OP_COPY || type->op == GT_OP_SET))
			add_copies(f, cols, c, type);
		else if (call && type->layer == GT_LAYER_API &&
			(type->op == GT_OP_SYNC || is_launch(type)) &&
			count_calls(f, cols, c, type, err))
			return err->code;
	}
	return call || cols->kind == GT_SPAN
		? gt_serialization_block(&f->serial, f->idle, cols, err)
		: 0;
}

void gt_advice_facts_init(struct gt_advice_facts *f, const struct gt_analysis_options *opt)
{
	const int64_t *gap = gt_report_option(opt, "gap");

	f->idle = opt->engine;
	gt_idle_want_shares(f->idle, false);
	f->is_by_step = opt->steady && opt->steady->main && gt_has_samples(f->idle->report.reader);
	if (f->is_by_step)
		gt_step_shares_init(&f->steps, f->idle, &opt->steady->loops, true);
	f->least = !gap ? GT_LARGE_GAP : *gap < 1 ? 1 : *gap;
	gt_idle_listen(f->idle,
		&(struct gt_idle_listener){ .slice = on_slice,
			.op = on_op,
			.rows = on_rows,
			.restart = on_restart,
			.arg = f });
}

/* ---- second reading ---- */

static bool is_for_utilisation(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return gt_utilisation_needs(seg, type);
}

static bool is_for_leaks(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return gt_leaks_needs(type);
}

static int on_gpu_run(void *arg, const struct gt_cols *cols, struct gt_err *err)
{
	return gt_utilisation_run(&((struct gt_advice_facts *)arg)->utilisation, cols, err);
}

static int on_call_run(void *arg, const struct gt_cols *cols, struct gt_err *err)
{
	return gt_leaks_run(&((struct gt_advice_facts *)arg)->leaks, cols, err);
}

/* Reads GPU operations and counters, then calls. Without counters the first part needs no
 * arguments, which are most of the bytes. Memory that is freed after the selected range is no leak:
 * the second part reads to the end of the recordings. */
static int read_second_time(struct gt_advice_facts *f, struct gt_err *err)
{
	struct gt_reader *r = f->idle->report.reader;
	struct gt_filter filter = f->idle->report.opt->filter;
	uint32_t n = gt_reader_segments(r);
	struct gt_range *ranges = calloc(n + 1ul, sizeof(*ranges));
	int rc;

	if (!ranges)
		return gt_err_set(err, -ENOMEM, "out of memory (advice)");
	for (uint32_t i = 0; i < n; i++)
		ranges[i] = (struct gt_range){ gt_range_of(&filter, gt_reader_segment(r, i)).from,
			INT64_MAX };
	filter.kinds = GT_BIT(GT_GPU) | GT_BIT(GT_COUNTER);
	filter.args = f->utilisation.nclocks > 0;
	filter.match = is_for_utilisation;
	rc = gt_reread_trace(r, &filter, GT_BY_TIME, on_gpu_run, f, err);
	filter.ranges = ranges;
	filter.kinds = GT_BIT(GT_CALL) | GT_BIT(GT_INSTANT);
	filter.args = true;
	filter.match = is_for_leaks;
	if (!rc)
		rc = gt_reread_trace(r, &filter, GT_BY_TIME, on_call_run, f, err);
	free(ranges);
	return rc;
}

int gt_advice_facts_finish(struct gt_advice_facts *f, struct gt_err *err)
{
	const struct gt_filter *filter = &f->idle->report.opt->filter;
	int rc;

	close_gap(f);
	if (gt_collectives_finish(&f->collectives, &f->idle->report, err))
		return err->code;
	rc = gt_host_waiting_find(&f->waiting, f->idle, err);
	if (!rc && f->is_by_step)
		rc = gt_slow_lines_find(&f->slow, &f->steps,
			(size_t)(f->idle->report.opt->steady->main -
				f->idle->report.opt->steady->loops.list),
			err);
	if (!rc)
		rc = gt_utilisation_init(&f->utilisation, f->idle, err);
	if (!rc)
		rc = gt_leaks_init(&f->leaks, f->idle, err);
	if (!rc && !filter->match && !filter->tid) /* with these options the rules cannot answer */
		rc = read_second_time(f, err);
	if (!rc)
		rc = gt_utilisation_finish(&f->utilisation, err);
	return rc ? rc : gt_leaks_finish(&f->leaks, &f->leak, err);
}

void gt_advice_facts_release(struct gt_advice_facts *f)
{
	free(f->calls);
	gt_serialization_release(&f->serial);
	gt_collectives_release(&f->collectives);
	gt_utilisation_release(&f->utilisation);
	gt_leaks_release(&f->leaks);
	gt_slow_lines_release(&f->slow);
	if (f->is_by_step)
		gt_step_shares_release(&f->steps);
}
