/* The owner of CUPTI in the traced process, from the process's reports: gtcollect's library,
 * another profiler, or none because CUPTI refused. Remembers the times at which another profiler
 * had CUPTI (absences).
 *
 * Different threads yield CUPTI and resume it, and the rings of threads are read one after another.
 * So a resume may be read before its yield, or two yields in a row. Reports are sorted by time. A
 * report that cannot follow the current state waits up to GT_GPU_JOIN_TIMEOUT_NS for the report
 * between them. */
#include "collect/correlate/gpu_correlate_internal.h"

#include <stdio.h>
#include <string.h>
#include "formats/base/buf.h"

#define STATES_MAX 256u /* pending reports of a process */

/* ---- absences ---- */

bool gt_gpu_cupti_maybe_lost(const struct gt_gpu_process *p, const struct gt_gpu_call *c)
{
	bool maybe = p->yielded_since && c->end > p->yielded_since;

	/* backwards: there may be many, and recent ones matter */
	for (size_t i = p->nabsences; i-- > 0 && p->absences[i].maybe_to > c->start;)
		maybe |= c->end > p->absences[i].maybe_from;
	return maybe;
}

bool gt_gpu_cupti_surely_lost(const struct gt_gpu_process *p, const struct gt_gpu_call *c)
{
	for (size_t i = p->nabsences; i-- > 0 && p->absences[i].maybe_to > c->start;)
		if (c->start >= p->absences[i].surely_from && c->end <= p->absences[i].surely_to)
			return true;
	return false;
}

/* In the order of their ends. */
static void add_absence(struct gt_gpu_process *p, struct cupti_absence a)
{
	size_t i = p->nabsences;

	if (gt_grow(&p->absences, &p->absences_cap, i + 1, sizeof(*p->absences)))
		return;
	for (; i && p->absences[i - 1].maybe_to > a.maybe_to; i--)
		p->absences[i] = p->absences[i - 1];
	p->absences[i] = a;
	p->nabsences++;
}

int gt_gpu_absence_end(struct gt_correlator *g, struct gt_gpu_process *p, int64_t back, int64_t to,
	struct gt_err *err)
{
	int64_t from = p->yielded_since;

	if (!from || back < from)
		return 0;
	p->yielded_since = 0;
	g->totals.cupti_absent_ns += to > from ? (uint64_t)(to - from) : 0;
	add_absence(p, (struct cupti_absence){ from, p->loss_certain_since, back, to });
	return gt_writer_loss(g->w, GT_SCOPE_PROCESS, p->track, from, to < from ? from : to,
		GT_LOST_UNKNOWN, err);
}

/* A yield within a known absence means that a resume was lost: the absence goes on. */
static void begin_absence(struct gt_gpu_process *p, const struct gt_gpu_event *e)
{
	if (p->yielded_since)
		return;
	for (size_t i = p->nabsences; i-- > 0 && p->absences[i].maybe_to > e->start;)
		if (p->absences[i].maybe_from <= e->start)
			return;
	p->yielded_since = e->start;
	p->loss_certain_since = e->end;
}

/* ---- states ---- */

static void set_state_text(
	struct gt_correlator *g, bool first, const char *format, const char *text, uint64_t detail)
{
	if (first || !*g->totals.state)
		snprintf(g->totals.state, sizeof(g->totals.state), format, text,
			(unsigned long long)detail);
}

static void apply_yield(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, const char *whom)
{
	begin_absence(p, e);
	p->on &= !p->yielded_since;
	g->totals.yields++;
	snprintf(g->totals.other, sizeof(g->totals.other), "%s", whom);
}

static int apply_resume(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, struct gt_err *err)
{
	int code = gt_gpu_absence_end(g, p, e->start, e->end, err);

	p->on = !p->yielded_since;
	g->totals.resumed++;
	return code;
}

static int apply_state(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, const char *text, struct gt_err *err)
{
	switch ((enum gt_gpu_state)e->body.state.state) {
	case GT_GPU_ON:
		p->ever_on = true;
		p->on = !p->yielded_since;
		g->totals.processes++;
		set_state_text(g, true, "CUPTI, %s, API version %llu", text, e->body.state.detail);
		return 0;
	case GT_GPU_EVENTS:
		p->on = p->ever_on = p->by_events = true;
		g->totals.processes++;
		g->totals.by_events++;
		set_state_text(g, true, "CUDA events (%s)", text, 0);
		return 0;
	case GT_GPU_PROBED:
		g->totals.processes += !p->probed;
		p->probed = true;
		set_state_text(g, false, "kernels only, by the USDT probes of %s", text, 0);
		return 0;
	case GT_GPU_EVENTS_ERROR:
		g->totals.clock_error = e->body.state.detail > g->totals.clock_error
			? e->body.state.detail
			: g->totals.clock_error;
		return 0;
	case GT_GPU_REFUSED:
		p->on = false;
		/* after a yield, it is an absence that does not end */
		g->totals.refused += !p->yielded_since;
		set_state_text(g, false, "%s failed: error %llu", text, e->body.state.detail);
		return 0;
	case GT_GPU_MISSING:
		g->totals.refused++;
		set_state_text(g, false, "%s was not found", text, 0);
		return 0;
	case GT_GPU_YIELDED: apply_yield(g, p, e, text); return 0;
	case GT_GPU_RESUMED: return apply_resume(g, p, e, err);
	case GT_GPU_NO_CALLS:
		g->totals.no_calls++;
		p->calls_lost_since = e->start;
		return 0;
	case GT_GPU_SUBSCRIBER:
	case GT_GPU_FINALIZED:
		snprintf(g->totals.other, sizeof(g->totals.other), "%s", text);
		return 0;
	case GT_GPU_FORKED: g->totals.forked++; return 0;
	case GT_GPU_PARTIAL:
		if (!*g->totals.without)
			snprintf(g->totals.without, sizeof(g->totals.without),
				"%s failed: error %llu", text,
				(unsigned long long)e->body.state.detail);
		return 0;
	case GT_GPU_OFF:
	case GT_GPU_CONTINUED: p->flushed = e->body.state.state == GT_GPU_OFF; return 0;
	default: return 0;
	}
}

int gt_gpu_states_add(struct gt_gpu_process *p, const struct gt_gpu_event *e)
{
	struct gt_gpu_event_queue *q = &p->states;
	size_t i = q->n;

	if (gt_grow(&q->items, &q->cap, i + 1, sizeof(*q->items)))
		return -ENOMEM;
	for (; i && i < STATES_MAX && q->items[i - 1].e.start > e->start; i--)
		q->items[i] = q->items[i - 1];
	q->items[i] = (struct gt_gpu_pending_event){ 0, *e };
	q->n++;
	return 0;
}

/* Can it follow the current state? A resume, or a failed resume, follows a yield. */
static bool can_follow(const struct gt_gpu_process *p, const struct gt_gpu_event *e)
{
	switch (e->body.state.state) {
	case GT_GPU_YIELDED: return !p->yielded_since;
	case GT_GPU_REFUSED:
		return !p->ever_on || (p->yielded_since && e->start >= p->yielded_since);
	case GT_GPU_RESUMED: return p->yielded_since && e->start >= p->yielded_since;
	default: return true;
	}
}

/* Applies those that can follow the current state; force: the first one in any case. */
static int apply_compatible(const struct gt_gpu_flush *f, bool force)
{
	struct gt_gpu_event_queue *q = &f->p->states;
	size_t kept = 0;
	int code = 0;

	for (size_t i = 0; i < q->n; i++) {
		struct gt_gpu_pending_event w = q->items[i];
		uint32_t text;

		w.since = w.since ? w.since : f->now;
		if (code || (!can_follow(f->p, &w.e) && !(force && !i) && kept < STATES_MAX)) {
			q->items[kept++] = w;
			continue;
		}
		text = f->string(f->arg, w.e.body.state.text);
		code = apply_state(f->g, f->p, &w.e,
			text == GT_NONE ? "?" : gt_writer_text(f->g->w, text), f->err);
	}
	q->n = kept;
	return code;
}

int gt_gpu_states_flush_ready(const struct gt_gpu_flush *f)
{
	struct gt_gpu_event_queue *q = &f->p->states;
	bool force = false;
	int code = 0;

	while (!code && q->n) {
		size_t before = q->n;

		code = apply_compatible(f, force);
		force = q->n == before &&
			(f->last || f->now - q->items[0].since >= GT_GPU_JOIN_TIMEOUT_NS);
		if (q->n == before && !force)
			break;
	}
	return code;
}
