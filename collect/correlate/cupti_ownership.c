/* Who uses CUPTI in the traced process, as the process reports it: gtcollect's library, another
 * profiler, or none because CUPTI refused; and when it was another profiler's.
 *
 * Different threads give CUPTI up and take it back, and the rings of threads are read one after
 * another. So returns may be read before the departures they belong to, or two departures in a
 * row, even if the program kept their order. The reports are sorted by time. A state that does
 * not follow from the known state waits up to JOIN_TIMEOUT_NS for the one that belongs before
 * it. */
#include "collect/correlate/gpu_correlate_internal.h"

#include <stdio.h>
#include <string.h>
#include "formats/base/buf.h"

#define STATES_MAX 256u /* that wait, in a process */

/* ---- absences ---- */

bool gt_gpu_away(const struct gt_gpu_process *p, const struct gt_gpu_call *c)
{
	bool away = p->yielded && c->end > p->yielded;

	/* of days with a profiler the last few */
	for (size_t i = p->nabsences; i-- > 0 && p->absences[i].to > c->start;)
		away |= c->end > p->absences[i].from;
	return away;
}

bool gt_gpu_far_away(const struct gt_gpu_process *p, const struct gt_gpu_call *c)
{
	for (size_t i = p->nabsences; i-- > 0 && p->absences[i].to > c->start;)
		if (c->start >= p->absences[i].gone && c->end <= p->absences[i].back)
			return true;
	return false;
}

/* In the order of their ends. */
static void remember(struct gt_gpu_process *p, struct absence a)
{
	size_t i = p->nabsences;

	if (gt_grow(&p->absences, &p->absences_cap, i + 1, sizeof(*p->absences)))
		return;
	for (; i && p->absences[i - 1].to > a.to; i--)
		p->absences[i] = p->absences[i - 1];
	p->absences[i] = a;
	p->nabsences++;
}

int gt_gpu_absence_end(struct gt_correlator *g, struct gt_gpu_process *p, int64_t back, int64_t to,
	struct gt_err *err)
{
	int64_t from = p->yielded;

	if (!from || back < from)
		return 0;
	p->yielded = 0;
	g->totals.away += to > from ? (uint64_t)(to - from) : 0;
	remember(p, (struct absence){ from, p->gone, back, to });
	return gt_writer_lost(g->w, GT_SCOPE_PROCESS, p->track, from, to < from ? from : to,
		GT_LOST_UNKNOWN, err);
}

/* Within another it begins where a return was lost: then CUPTI was another's for longer, for all we
 * know. */
static void absence_begins(struct gt_gpu_process *p, const struct gt_gpu_event *e)
{
	if (p->yielded)
		return;
	for (size_t i = p->nabsences; i-- > 0 && p->absences[i].to > e->start;)
		if (p->absences[i].from <= e->start)
			return;
	p->yielded = e->start;
	p->gone = e->end;
}

/* ---- states ---- */

static void say(
	struct gt_correlator *g, bool first, const char *format, const char *text, uint64_t detail)
{
	if (first || !*g->totals.state)
		snprintf(g->totals.state, sizeof(g->totals.state), format, text,
			(unsigned long long)detail);
}

static void note_departure(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, const char *whom)
{
	absence_begins(p, e);
	p->on &= !p->yielded;
	g->totals.yields++;
	snprintf(g->totals.other, sizeof(g->totals.other), "%s", whom);
}

static int note_return(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, struct gt_err *err)
{
	int code = gt_gpu_absence_end(g, p, e->start, e->end, err);

	p->on = !p->yielded;
	g->totals.resumed++;
	return code;
}

static int note(struct gt_correlator *g, struct gt_gpu_process *p, const struct gt_gpu_event *e,
	const char *text, struct gt_err *err)
{
	switch ((enum gt_gpu_state)e->body.state.state) {
	case GT_GPU_ON:
		p->ever_on = true;
		p->on = !p->yielded;
		g->totals.processes++;
		say(g, true, "CUPTI, %s, API version %llu", text, e->body.state.detail);
		return 0;
	case GT_GPU_EVENTS:
		p->on = p->ever_on = p->by_events = true;
		g->totals.processes++;
		g->totals.by_events++;
		say(g, true, "CUDA events (%s)", text, 0);
		return 0;
	case GT_GPU_EVENTS_ERROR:
		g->totals.clock_error = e->body.state.detail > g->totals.clock_error
			? e->body.state.detail
			: g->totals.clock_error;
		return 0;
	case GT_GPU_REFUSED:
		p->on = false;
		/* later, it is an absence that does not end */
		g->totals.refused += !p->yielded;
		say(g, false, "%s failed: error %llu", text, e->body.state.detail);
		return 0;
	case GT_GPU_MISSING:
		g->totals.refused++;
		say(g, false, "%s was not found", text, 0);
		return 0;
	case GT_GPU_YIELDED: note_departure(g, p, e, text); return 0;
	case GT_GPU_RESUMED: return note_return(g, p, e, err);
	case GT_GPU_NO_CALLS:
		g->totals.no_calls++;
		p->mute = e->start;
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

int gt_gpu_state_in(struct gt_gpu_process *p, const struct gt_gpu_event *e)
{
	struct gt_gpu_queue *q = &p->states;
	size_t i = q->n;

	if (gt_grow(&q->items, &q->cap, i + 1, sizeof(*q->items)))
		return -ENOMEM;
	for (; i && i < STATES_MAX && q->items[i - 1].e.start > e->start; i--)
		q->items[i] = q->items[i - 1];
	q->items[i] = (struct gt_gpu_pending){ 0, *e };
	q->n++;
	return 0;
}

/* Does it follow from the known state? A return, or a failed return, needs a departure before
 * it. */
static bool fits(const struct gt_gpu_process *p, const struct gt_gpu_event *e)
{
	switch (e->body.state.state) {
	case GT_GPU_YIELDED: return !p->yielded;
	case GT_GPU_REFUSED: return !p->ever_on || (p->yielded && e->start >= p->yielded);
	case GT_GPU_RESUMED: return p->yielded && e->start >= p->yielded;
	default: return true;
	}
}

/* Notes those that fit, and the first one in any case where it is to be forced. */
static int note_those_that_fit(struct gt_correlator *g, struct gt_gpu_process *p, bool force,
	int64_t now, gt_gpu_string *string, void *arg, struct gt_err *err)
{
	struct gt_gpu_queue *q = &p->states;
	size_t kept = 0;
	int code = 0;

	for (size_t i = 0; i < q->n; i++) {
		struct gt_gpu_pending w = q->items[i];
		uint32_t text;

		w.since = w.since ? w.since : now;
		if (code || (!fits(p, &w.e) && !(force && !i) && kept < STATES_MAX)) {
			q->items[kept++] = w;
			continue;
		}
		text = string(arg, w.e.body.state.text);
		code = note(g, p, &w.e, text == GT_NONE ? "?" : gt_writer_text(g->w, text), err);
	}
	q->n = kept;
	return code;
}

int gt_gpu_states_settle(struct gt_correlator *g, struct gt_gpu_process *p, int64_t now, bool last,
	gt_gpu_string *string, void *arg, struct gt_err *err)
{
	struct gt_gpu_queue *q = &p->states;
	bool force = false;
	int code = 0;

	while (!code && q->n) {
		size_t before = q->n;

		code = note_those_that_fit(g, p, force, now, string, arg, err);
		force = q->n == before && (last || now - q->items[0].since >= GT_GPU_PATIENCE);
		if (q->n == before && !force)
			break;
	}
	return code;
}
