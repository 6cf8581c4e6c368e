/* Rows of a block: activity of threads, losses, and operations and waits of streams, which are then
 * sorted by time. */
#include <stdlib.h>
#include "analyze/idle/idle_internal.h"
#include "analyze/columns/column_cursor.h"
#include "formats/base/buf.h"
#include "formats/cuda/gpu_rows.h"
#include "formats/trace/write/sched_rows.h"

/* further losses extend the last one: the time between them is then unknown, too */
#define LOSSES 4096u

/* ---- threads ---- */

static struct gt_host_activity *line_of(struct gt_idle *s, uint32_t number)
{
	if (number != GT_NONE && !s->lines[number])
		s->lines[number] = calloc(1, sizeof(**s->lines));
	return number == GT_NONE ? NULL : s->lines[number];
}

static bool is_thread(const struct gt_segment *seg, uint32_t track)
{
	return track < seg->ntracks && seg->tracks[track].kind == GT_TRACK_THREAD;
}

/* A loss of a thread is unknown activity of the thread; during another loss it is unknown whether
 * GPUs worked. */
static int add_losses(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err)
{
	uint32_t n = 0, track = gt_time_ordered_track(&s->order, cols->seg, cols->track);
	const uint64_t *scopes = gt_cols_args(cols, 0, 1, &n);

	for (uint32_t i = 0; i < cols->n; i++) {
		struct gt_idle_loss one = { .from = cols->start[i],
			.to = cols->start[i] + cols->dur[i],
			.track = track,
			.scope = (uint8_t)(i < n ? scopes[i] : GT_SCOPE_ALL) };
		struct gt_idle_loss *last = s->nlosses ? &s->losses[s->nlosses - 1] : NULL;

		if (one.scope == GT_SCOPE_TRACK && is_thread(cols->seg, cols->track)) {
			struct gt_host_activity *l = line_of(s, track);

			if (!l)
				return gt_err_set(err, -ENOMEM, "out of memory (losses)");
			if (gt_host_add(l, GT_HOST_LOST, one.from, one.to, GT_NONE, &s->nintervals,
				    err))
				return err->code;
			continue;
		}
		s->losses_sorted = false;
		if (s->nlosses == LOSSES) {
			last->from = one.from < last->from ? one.from : last->from;
			last->to = one.to > last->to ? one.to : last->to;
			last->scope = GT_SCOPE_ALL;
			continue;
		}
		if (gt_grow(&s->losses, &s->losses_cap, s->nlosses + 1, sizeof(*s->losses)))
			return gt_err_set(err, -ENOMEM, "out of memory (losses)");
		s->losses[s->nlosses++] = one;
	}
	return 0;
}

/* The track of the thread with this id in the process; the process' track if there is none. */
static uint32_t thread_of(
	struct gt_idle *s, const struct gt_segment *seg, uint32_t process, uint64_t tid)
{
	uint32_t i = process + 1;

	if (s->last_thread.track && s->last_thread.process == process && s->last_thread.tid == tid)
		return s->last_thread.track;
	while (i < seg->ntracks &&
		!(seg->tracks[i].kind == GT_TRACK_THREAD && seg->tracks[i].parent == process &&
			(uint64_t)seg->tracks[i].id == tid))
		i++;
	s->last_thread.process = process;
	s->last_thread.tid = tid;
	s->last_thread.track = i < seg->ntracks ? i : process;
	return s->last_thread.track;
}

/* Profiler overhead is a row of the process with the id of the delayed thread. The loop is over
 * rows, not types: gt_host_add needs them in order of start. */
static int add_overhead(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err)
{
	uint32_t first = s->order.tracks[cols->seg->index];
	int rc = 0;

	if (gt_grow(&s->columns, &s->columns_cap, cols->ntypes + 1ul, sizeof(*s->columns)))
		return gt_err_set(err, -ENOMEM, "out of memory (profiler's overhead)");
	for (uint32_t c = 0; c < cols->ntypes; c++) {
		s->columns[c].tids = s->levels[c] == GT_HOST_OVERHEAD
			? gt_cols_args(cols, c, 0, &s->columns[c].ntids)
			: NULL;
		s->columns[c].nth = 0;
	}
	for (uint32_t i = 0; !rc && i < cols->n; i++) {
		uint32_t code = cols->code ? cols->code[i] : 0;
		struct gt_idle_columns *in = &s->columns[code];
		struct gt_host_activity *l = NULL;

		if (in->tids && in->nth < in->ntids)
			l = line_of(s,
				first + thread_of(s, cols->seg, cols->track, in->tids[in->nth++]));
		if (l)
			rc = gt_host_add(l, GT_HOST_OVERHEAD, cols->start[i],
				cols->start[i] + cols->dur[i], s->numbers[code], &s->nintervals,
				err);
	}
	return rc;
}

/* Adds rows of a thread to its activity. */
static int add_host(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_host_run run = { .start = cols->start,
		.dur = cols->dur,
		.code = cols->code,
		.n = cols->n,
		.levels = s->levels,
		.all = !(s->present & (s->present - 1)),
		.types = s->numbers };
	int rc = 0;

	for (unsigned level = GT_HOST_RUNNABLE; !rc && level <= GT_HOST_OFF_CPU; level++) {
		struct gt_host_activity *l;

		if (!(s->present & 1u << level))
			continue;
		l = line_of(s, gt_time_ordered_track(&s->order, cols->seg, cols->track));
		rc = l ? gt_host_add_run(l, &run, (enum gt_host_level)level, &s->nintervals, err)
		       : gt_err_set(err, -ENOMEM, "out of memory (activity of threads)");
	}
	if (!rc && cols->kind == GT_SPAN && s->present & 1u << GT_HOST_OVERHEAD)
		rc = add_overhead(s, cols, err);
	return rc;
}

/* ---- stacks ---- */

/* Of row `nth` of a code, plus 1. */
static uint32_t stack_of(
	const struct gt_idle_columns *in, const struct gt_segment *seg, uint32_t nth)
{
	return nth < in->nstacks && in->stacks[nth] < seg->nstacks ? (uint32_t)in->stacks[nth] + 1
								   : 0;
}

/* Finds the columns of stacks by code. false: no row has one that is needed. */
static bool find_stacks(struct gt_idle *s, const struct gt_cols *cols)
{
	bool any = false;

	for (uint32_t c = 0; c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);
		struct gt_idle_columns *in = &s->columns[c];
		bool sample = cols->kind == GT_INSTANT && type && type->op == GT_OP_SAMPLE,
		     wait = s->levels[c] == GT_HOST_OFF_CPU,
		     call = (s->shares.all || s->ngrouped) && s->levels[c] == GT_HOST_CALL;

		in->nth = in->nstacks = in->nperiods = in->nholders = 0;
		in->periods = in->stacks = in->holders = NULL;
		if (sample)
			in->periods = gt_cols_role(cols, c, GT_R_VALUE, &in->nperiods);
		if (sample || wait || call)
			in->stacks = gt_cols_role(cols, c, GT_R_STACK, &in->nstacks);
		if (wait && gt_sched_state_of(type, gt_str(cols->seg, type->name)) == GT_SCHED_GIL)
			in->holders = gt_cols_args(cols, c, GT_SCHED_HOLDER, &in->nholders);
		any |= in->periods || in->stacks || in->holders;
	}
	return any;
}

static int add_sample(struct gt_idle *s, const struct gt_cols *cols, uint32_t track,
	struct gt_idle_stack one, struct gt_err *err)
{
	bool has_gaps = cols->seg->rows[GT_GPU]; /* they need the sample later */
	struct gt_host_activity *l = has_gaps ? line_of(s, track) : NULL;
	int rc = !has_gaps ? 1
		: l        ? gt_host_add_stack(&l->samples, one, &s->nintervals, err)
			   : gt_err_set(err, -ENOMEM, "out of memory (samples)");

	s->shares.left_out += rc == 0;
	rc = rc < 0 ? rc : 0;
	if (!rc && s->shares.all)
		rc = gt_host_shares_add_sample(&s->shares, cols->seg, track, &one, err);
	for (unsigned k = 0; !rc && k < s->ngrouped; k++)
		rc = gt_host_shares_add_sample(s->grouped[k], cols->seg, track, &one, err);
	return rc;
}

static int add_stack(struct gt_idle *s, uint32_t track, unsigned level, struct gt_idle_stack one,
	struct gt_err *err)
{
	struct gt_host_activity *l = line_of(s, track);

	if (!l)
		return gt_err_set(err, -ENOMEM, "out of memory (stacks)");
	return gt_host_add_stack(
		level == GT_HOST_OFF_CPU ? &l->waits : &l->calls, one, &s->nintervals, err);
}

/* Adds samples, the stacks of calls and waits, and the holders of the GIL, to a thread. */
static int add_stacks(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err)
{
	uint32_t track = gt_time_ordered_track(&s->order, cols->seg, cols->track);
	int rc = 0;

	if (!is_thread(cols->seg, cols->track))
		return 0;
	if (gt_grow(&s->columns, &s->columns_cap, cols->ntypes + 1ul, sizeof(*s->columns)))
		return gt_err_set(err, -ENOMEM, "out of memory (stacks)");
	if (!find_stacks(s, cols))
		return 0;
	for (uint32_t i = 0; rc >= 0 && i < cols->n; i++) {
		uint32_t code = cols->code ? cols->code[i] : 0, stack;
		struct gt_idle_columns *in = &s->columns[code];
		uint32_t nth = in->nth++;
		struct gt_idle_stack one = { .at = cols->start[i] };

		stack = stack_of(in, cols->seg, nth);
		one.stack = stack - 1; /* 0: GT_NONE */
		if (nth < in->nperiods) {
			one.ns = in->periods[nth];
			rc = add_sample(s, cols, track, one, err);
		} else if ((stack || in->holders) && cols->kind != GT_INSTANT) {
			one.holder = nth < in->nholders ? (uint32_t)in->holders[nth] : 0;
			rc = add_stack(s, track, s->levels[code], one, err);
		}
	}
	return rc < 0 ? rc : 0;
}

/* ---- streams ---- */

/* Finds the columns of launches by code. */
static int find_columns(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err)
{
	if (gt_grow(&s->columns, &s->columns_cap, cols->ntypes + 1ul, sizeof(*s->columns)))
		return gt_err_set(err, -ENOMEM, "out of memory (launches)");
	for (uint32_t c = 0; c < cols->ntypes; c++) {
		gt_launch_fields_read(&s->columns[c].launch, cols, c,
			GT_LAUNCH_TRACK | GT_LAUNCH_START | GT_LAUNCH_NS);
		s->columns[c].stacks = gt_cols_role(cols, c, GT_R_STACK, &s->columns[c].nstacks);
		s->columns[c].nth = 0;
	}
	return 0;
}

static int add_launches(
	struct gt_idle *s, const struct gt_cols *cols, struct gt_moment *m, struct gt_err *err)
{
	uint64_t first;
	struct gt_idle_launch *to = gt_time_merge_reserve_records(
		&s->order.lines[cols->seg->index], cols->n, sizeof(*to), &first, err);

	for (uint32_t i = 0; to && i < cols->n; i++) {
		struct gt_idle_columns *in = &s->columns[cols->code ? cols->code[i] : 0];
		struct gt_launch_call call;

		if (!gt_launch_fields_call(&in->launch, cols->seg, in->nth++, &call))
			continue;
		to[i] = (struct gt_idle_launch){ call.start, call.end, call.track,
			stack_of(in, cols->seg, in->nth - 1) };
		m[i].addr = first + i + 1;
	}
	return to ? 0 : err->code;
}

/* Adds waits of a stream for events, as moments without type. */
static int add_waits(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_moment *m = NULL;

	for (uint32_t c = 0; c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);
		struct gt_column_cursor p;

		if (!type ||
			gt_gpu_wait_of_row(gt_str(cols->seg, type->name)) !=
				GT_GPU_WAIT_STREAM_EVENT)
			continue;
		if (!m && !(m = gt_time_ordered_run(&s->order, cols, err)))
			return err->code;
		for (gt_column_cursor_start(&p, cols, c, GT_R_NONE, GT_R_NONE);
			gt_column_cursor_next(&p);)
			m[p.row].what = GT_NONE;
	}
	for (uint32_t i = 0; m && i < cols->n; i++)
		m[i].addr = GT_IDLE_SPAN;
	return 0;
}

/* The time from which the figures of a device still need its migrations. */
static int64_t needed_from(const struct gt_idle *s, uint32_t device)
{
	const struct gt_idle_device *d;
	int64_t gap;

	if (!s->slot_of_device[device])
		return INT64_MIN;
	d = &s->devices[s->slot_of_device[device] - 1];
	gap = d->closing ? d->gap_from : d->busy_to;
	return gap < d->running.at ? gap : d->running.at;
}

/* Adds spans of a device in which managed memory migrates. */
static int add_migrations(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err)
{
	uint32_t device = s->device_of[gt_time_ordered_track(&s->order, cols->seg, cols->track)];
	struct gt_migrations **of = &s->migrations[device];
	int64_t needed = needed_from(s, device);

	for (uint32_t i = 0; i < cols->n; i++) {
		const struct gt_type *type = gt_cols_type(cols, cols->code ? cols->code[i] : 0);

		if (!type || !gt_is_migration(type))
			continue;
		if ((!*of && !(*of = calloc(1, sizeof(**of)))) ||
			gt_migrations_add(
				*of, cols->start[i], cols->start[i] + cols->dur[i], needed))
			return gt_err_set(err, -ENOMEM, "out of memory (migrations)");
	}
	return 0;
}

static int add_gpu(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_moment *m = gt_time_ordered_run(&s->order, cols, err);
	int rc = m ? find_columns(s, cols, err) : err->code;

	return rc ? rc : add_launches(s, cols, m, err);
}

int gt_idle_rows(struct gt_idle *s, const struct gt_cols *cols, struct gt_err *err)
{
	if (cols->kind == GT_LOST)
		return add_losses(s, cols, err);
	if (cols->kind == GT_GPU)
		return add_gpu(s, cols, err);
	if ((s->shares.wanted || s->ngrouped) && add_stacks(s, cols, err))
		return err->code;
	if (cols->kind == GT_INSTANT)
		return 0;
	if (cols->kind == GT_SPAN && cols->track < cols->seg->ntracks) {
		uint8_t kind = cols->seg->tracks[cols->track].kind;

		if (kind == GT_TRACK_STREAM)
			return add_waits(s, cols, err);
		if (kind == GT_TRACK_DEVICE)
			return add_migrations(s, cols, err);
	}
	return add_host(s, cols, err);
}
