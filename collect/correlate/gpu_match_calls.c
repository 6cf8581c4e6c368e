/* Finds the call that launched a piece of work. Calls wait in queues, one for each thread, in
 * order of time. CUPTI's record of a call finds the call by thread and time, and gives it a
 * correlation id. A record of work finds its call by that id. If CUPTI delivers no records of
 * calls, the earliest call that is compatible is taken. Work that CUDA events timed names the
 * thread and the start of its call.
 *
 * Matching a call with CUPTI's record of it: the guest's record begins before CUPTI's and ends
 * after it. But the clocks are read at different places and converted, so the middle of CUPTI's
 * record must lie in the guest's. Calls of one thread do not overlap.
 *
 * A join is accepted only if the work has the name and the shape that the call asked for. Times
 * are no test, because the GPU's clock is adjusted to the host's only from time to time. */
#include "collect/correlate/gpu_correlate_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api_cbid.h"

#define CALLS_MAX 65536u     /* that wait in a lane when all that came is settled */
#define CALLS_ALL (1u << 20) /* that wait in all lanes of all processes, at any time */
/* places for calls with a known correlation id; beyond it, calls without new work for a while are
 * removed first, */
#define CAUSES_USUAL (1u << 18)
/* and for all of them: the most that arrive at once when the recorder did not run for a while (a
 * ring holds fewer) */
#define CAUSES_MAX (1u << 20)
#define CAUSES_MIN 1024u
#define UNHEARD (300 * GT_GPU_PATIENCE) /* ns that a call is remembered of which nothing comes */
#define BETWEEN_NODES (60 * GT_GPU_PATIENCE) /* ns that the next node of a graph may take */
#define LOOK_BACK 512                        /* calls looked through for one that fits */

/* ---- calls, by thread ---- */

static struct gt_gpu_lane *lane_of(struct gt_gpu_process *p, int32_t tid, bool make)
{
	for (size_t i = 0; i < p->nlanes; i++, p->lane = p->lane + 1 < p->nlanes ? p->lane + 1 : 0)
		if (p->lanes[p->lane].tid == tid)
			return &p->lanes[p->lane];
	if (!make || gt_grow(&p->lanes, &p->lanes_cap, p->nlanes + 1, sizeof(*p->lanes)))
		return NULL;
	p->lane = p->nlanes++;
	p->lanes[p->lane] = (struct gt_gpu_lane){ .tid = tid };
	return &p->lanes[p->lane];
}

static void forget_first(struct gt_correlator *g, struct gt_gpu_lane *l)
{
	l->first++;
	l->n--;
	g->calls--;
	if (l->first >= 64 && l->first >= l->n) {
		memmove(l->calls, l->calls + l->first, l->n * sizeof(*l->calls));
		l->first = 0;
	}
}

/* The call caused no work: it was captured, or its record is missing. */
static void count_call(
	struct gt_correlator *g, const struct gt_gpu_process *p, const struct gt_gpu_call *c)
{
	if (gt_gpu_captured(&p->captures, c))
		g->totals.captured++;
	else
		gt_gpu_missing_note(g, c);
}

/* No record will come for this call. None can come while another profiler had CUPTI. */
static void count_without_record(
	struct gt_correlator *g, const struct gt_gpu_process *p, const struct gt_gpu_launch *c)
{
	bool never = !p->on && !p->nabsences && !p->yielded;

	if ((!c->known && !never && !gt_gpu_away(p, &c->c)) || gt_gpu_captured(&p->captures, &c->c))
		count_call(g, p, &c->c);
}

int gt_gpu_calls_put(struct gt_correlator *g, struct gt_gpu_process *p, const struct gt_gpu_call *c)
{
	struct gt_gpu_lane *l = lane_of(p, c->tid, true);

	if (!l)
		return -ENOMEM;
	if (l->n && g->calls >= CALLS_ALL) {
		count_without_record(g, p, &l->calls[l->first]);
		forget_first(g, l);
	}
	if (g->calls >= CALLS_ALL)
		return 0;
	if (gt_grow(&l->calls, &l->cap, l->first + l->n + 1, sizeof(*l->calls)))
		return -ENOMEM;
	l->calls[l->first + l->n++] = (struct gt_gpu_launch){ *c, false };
	l->used = 0;
	g->calls++;
	return 0;
}

/* The call of this lane that was running at `when`. */
static struct gt_gpu_launch *find_call(const struct gt_gpu_lane *l, int64_t when)
{
	size_t from = 0, to = l->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		struct gt_gpu_launch *c = &l->calls[l->first + mid];

		if (when < c->c.start)
			to = mid;
		else if (when > c->c.end)
			from = mid + 1;
		else
			return c->known ? NULL : c;
	}
	return NULL;
}

/* The call of this lane that began at `ticks`. One that a signal handler made inside another one
 * begins later, and comes before it. */
static struct gt_gpu_launch *find_ticks(const struct gt_gpu_lane *l, uint64_t ticks)
{
	size_t from = 0, to = l->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		struct gt_gpu_launch *c = &l->calls[l->first + mid];

		if (c->c.ticks == ticks)
			return c;
		if (ticks < c->c.ticks)
			to = mid;
		else
			from = mid + 1;
	}
	for (size_t i = 0; i < l->n && i < LOOK_BACK; i++)
		if (l->calls[l->first + i].c.ticks == ticks)
			return &l->calls[l->first + i];
	return NULL;
}

/* ---- causes: calls by correlation ---- */

static uint32_t slot_of(const struct gt_gpu_process *p, uint32_t correlation)
{
	return correlation * 0x9e3779b1u & p->mask;
}

static struct gt_gpu_known *find_cause(const struct gt_gpu_process *p, uint32_t correlation)
{
	if (!p->ncauses)
		return NULL;
	for (uint32_t i = slot_of(p, correlation); p->causes[i].used; i = (i + 1) & p->mask)
		if (p->causes[i].correlation == correlation)
			return &p->causes[i];
	return NULL;
}

static void put_cause(struct gt_gpu_process *p, const struct gt_gpu_known *c)
{
	uint32_t i = slot_of(p, c->correlation);

	while (p->causes[i].used && p->causes[i].correlation != c->correlation)
		i = (i + 1) & p->mask;
	if (p->causes[i].used)
		free(p->causes[i].inner); /* numbers restarted */
	else
		p->ncauses++;
	p->causes[i] = *c;
}

static void count_cause(
	struct gt_correlator *g, const struct gt_gpu_process *p, const struct gt_gpu_known *c)
{
	for (uint32_t i = 0; i < c->ninner; i++)
		if (!c->inner[i].records)
			count_call(g, p, &c->inner[i].c);
	if (!c->ninner && !c->records)
		count_call(g, p, &c->c);
}

void gt_gpu_cause_forget(
	struct gt_correlator *g, const struct gt_gpu_process *p, struct gt_gpu_known *c)
{
	if (!c->used)
		return;
	count_cause(g, p, c);
	free(c->inner);
	c->inner = NULL;
	c->used = false;
}

/* May it cause more work? The records of a copy come together; those of a graph's nodes one by
 * one, as they end. */
static bool may_go_on(const struct gt_gpu_known *c, int64_t now)
{
	return now - c->since < (!c->records ? UNHEARD
						: gt_api[c->c.id].op == GT_OP_GRAPH_LAUNCH
						? BETWEEN_NODES
						: GT_GPU_PATIENCE);
}

/* Rebuilds the table with so many places, without calls that are complete, and without calls
 * that caused no work since `since`. */
static int rebuild(struct gt_correlator *g, struct gt_gpu_process *p, uint32_t places,
	int64_t since, int64_t now)
{
	struct gt_gpu_known *old = p->causes, *new = calloc(places, sizeof(*new));
	uint32_t n = old ? p->mask + 1 : 0;

	if (!new)
		return -ENOMEM;
	p->causes = new;
	p->mask = places - 1;
	p->ncauses = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!old[i].used)
			continue;
		if (old[i].since >= since && may_go_on(&old[i], now))
			put_cause(p, &old[i]);
		else
			gt_gpu_cause_forget(g, p, &old[i]);
	}
	free(old);
	return 0;
}

static int room_for_cause(struct gt_correlator *g, struct gt_gpu_process *p, int64_t now)
{
	uint32_t places = p->causes ? p->mask + 1 : 0;

	if (2 * (p->ncauses + 1) <= places)
		return 0;
	if (places < CAUSES_USUAL)
		return rebuild(g, p, places ? 2 * places : CAUSES_MIN, INT64_MIN, now);
	if (rebuild(g, p, places, now - GT_GPU_PATIENCE, now))
		return -ENOMEM;
	/* otherwise it would be rebuilt for each of the next */
	if (2 * p->ncauses < places - places / 4)
		return 0;
	return places < CAUSES_MAX ? rebuild(g, p, 2 * places, INT64_MIN, now)
				   : rebuild(g, p, places, INT64_MAX, now);
}

/* From time to time: removes completed calls and frees their memory. */
static int tidy_causes(struct gt_correlator *g, struct gt_gpu_process *p, int64_t now)
{
	uint32_t places = p->causes ? p->mask + 1 : 0, most = 0;

	if (now - p->tidied < GT_GPU_PATIENCE || places <= CAUSES_MIN)
		return 0;
	p->tidied = now;
	for (uint32_t i = 0; i < places; i++)
		most += p->causes[i].used && may_go_on(&p->causes[i], now);
	while (places > CAUSES_MIN && most < places / 8)
		places /= 2;
	return most < p->ncauses / 2 || places <= p->mask ? rebuild(g, p, places, INT64_MIN, now)
							  : 0;
}

/* What follows in the same chain moves up, so that no search ends too early. */
static void drop_cause(struct gt_gpu_process *p, struct gt_gpu_known *c)
{
	uint32_t hole = (uint32_t)(c - p->causes), i = hole;

	free(c->inner);
	p->ncauses--;
	for (;;) {
		p->causes[hole].used = false;
		do {
			i = (i + 1) & p->mask;
			if (!p->causes[i].used)
				return;
		} while (((i - slot_of(p, p->causes[i].correlation)) & p->mask) <
			((i - hole) & p->mask));
		p->causes[hole] = p->causes[i];
		hole = i;
	}
}

/* ---- CUPTI's records of calls ---- */

static int64_t middle(const struct gt_gpu_call *c) { return c->start + (c->end - c->start) / 2; }

static void forget_known(struct gt_correlator *g, struct gt_gpu_lane *l)
{
	while (l->n && l->calls[l->first].known)
		forget_first(g, l);
}

/* And those that were made while CUPTI was another's. */
static void forget_through(
	struct gt_correlator *g, const struct gt_gpu_process *p, struct gt_gpu_lane *l)
{
	while (l->n && (l->calls[l->first].known || gt_gpu_far_away(p, &l->calls[l->first].c))) {
		if (!l->calls[l->first].known)
			count_without_record(g, p, &l->calls[l->first]);
		forget_first(g, l);
	}
}

static const char *function_of(uint32_t cbid)
{
	switch (cbid) {
#define X(number, name)                                                                            \
	case number: return #name;
		GT_CBIDS(X)
#undef X
	}
	return NULL;
}

/* Calls of the driver inside one of the runtime share its number if CUPTI's callbacks report
 * them one by one. Is this such a call? */
static bool of_the_same(const struct gt_gpu_known *k, const struct gt_gpu_call *c)
{
	return k && k->c.tid == c->tid && c->start >= k->c.start &&
		c->start - k->c.end < GT_GPU_PATIENCE;
}

static int add_inner(struct gt_gpu_known *k, const struct gt_gpu_call *c)
{
	uint32_t n = k->ninner ? k->ninner : 1;
	struct gt_gpu_inner *inner = realloc(k->inner, (n + 1) * sizeof(*inner));

	if (!inner)
		return -ENOMEM;
	k->inner = inner;
	if (!k->ninner)
		inner[0] = (struct gt_gpu_inner){ k->c, k->records };
	inner[n] = (struct gt_gpu_inner){ *c, 0 };
	k->ninner = n + 1;
	return 0;
}

/* 1: it found its call; 0: not yet. */
int gt_gpu_record_settle(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, int64_t now)
{
	struct gt_gpu_lane *l = lane_of(p, e->body.call.tid, false);
	struct gt_gpu_launch *c = l && e->end >= e->start && e->start > 0
		? find_call(l, e->start + (e->end - e->start) / 2)
		: NULL;
	const char *function = function_of(e->body.call.cbid);

	if (!c || !function || strcmp(function, gt_api[c->c.id].name))
		return 0;
	if (room_for_cause(g, p, now))
		return -ENOMEM;
	if (!of_the_same(find_cause(p, e->body.call.correlation), &c->c))
		put_cause(p,
			&(struct gt_gpu_known){ .correlation = e->body.call.correlation,
				.used = true,
				.since = now,
				.c = c->c });
	else if (add_inner(find_cause(p, e->body.call.correlation), &c->c))
		return -ENOMEM;
	gt_gpu_bodies_correlated(&p->bodies, &c->c, e->body.call.correlation);
	c->known = true;
	forget_known(g, l);
	return 1;
}

/* The calls of this lane that lie in the interval by their middles: the first, and how many. */
static size_t calls_within(const struct gt_gpu_lane *l, int64_t start, int64_t end, size_t *first)
{
	size_t from = 0, to = l->n, n = 0;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (middle(&l->calls[l->first + mid].c) < start)
			from = mid + 1;
		else
			to = mid;
	}
	*first = l->first + from;
	while (from + n < l->n && middle(&l->calls[*first + n].c) <= end)
		n++;
	return n;
}

/* Their calls are one cause. */
static int take_calls(struct gt_gpu_launch *calls, size_t n, struct gt_gpu_known *to)
{
	to->c = calls[0].c;
	if (n > 1 && !(to->inner = calloc(n, sizeof(*to->inner))))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (to->inner)
			to->inner[to->ninner++] = (struct gt_gpu_inner){ calls[i].c, 0 };
		calls[i].known = true;
	}
	return 0;
}

int gt_gpu_runtime_settle(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, int64_t now)
{
	struct gt_gpu_lane *l = lane_of(p, e->body.call.tid, false);
	struct gt_gpu_known cause = {
		.correlation = e->body.call.correlation, .used = true, .since = now
	};
	size_t first = 0,
	       n = l && e->end >= e->start ? calls_within(l, e->start, e->end, &first) : 0;

	while (n && l->calls[first].known) /* these have a record of their own */
		first++, n--;
	if (!n)
		return 0;
	if (room_for_cause(g, p, now) || take_calls(l->calls + first, n, &cause))
		return -ENOMEM;
	for (size_t i = first; i < first + n; i++)
		gt_gpu_bodies_correlated(&p->bodies, &l->calls[i].c, cause.correlation);
	put_cause(p, &cause);
	forget_known(g, l);
	return 1;
}

/* ---- work ---- */

static bool fits(const struct gt_gpu_call *c, const struct gt_gpu_event *e, uint32_t kernel)
{
	const struct gt_ev_kernel *k = &e->body.kernel;
	unsigned op = gt_api[c->id].op;

	if (op == GT_OP_GRAPH_LAUNCH)
		return e->body.work.graph || e->body.work.node;
	if (e->id != GT_EV_KERNEL)
		return op == (e->id == GT_EV_COPY ? GT_OP_COPY : GT_OP_SET) || op == GT_OP_COPY;
	if (op != GT_OP_LAUNCH)
		/* some copies and sets are done by kernels */
		return op == GT_OP_COPY || op == GT_OP_SET;
	if (c->kernel != GT_NONE && kernel != GT_NONE && c->kernel != kernel)
		return false;
	return !c->shaped ||
		(!memcmp(c->grid, k->grid, sizeof(c->grid)) &&
			!memcmp(c->block, k->block, sizeof(c->block)));
}

/* The earliest call without a record that may have made this. */
static struct gt_gpu_launch *guess(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, uint32_t kernel)
{
	struct gt_gpu_launch *best = NULL;

	for (size_t i = 0; i < p->nlanes; i++) {
		struct gt_gpu_lane *l = &p->lanes[i];

		forget_through(g, p, l);
		for (size_t k = 0; k < l->n && k < LOOK_BACK; k++) {
			struct gt_gpu_launch *c = &l->calls[l->first + k];

			if (c->c.start > e->start || (best && c->c.start >= best->c.start))
				break;
			if (!c->known && fits(&c->c, e, kernel) && !gt_gpu_far_away(p, &c->c)) {
				best = c;
				break;
			}
		}
	}
	return best;
}

static void join(struct gt_gpu_work *w, const struct gt_gpu_call *c, enum gt_join how)
{
	w->cause = (struct gt_gpu_cause){ how, c->track, c->name, c->start,
		(uint64_t)(c->end - c->start) };
}

/* Of several calls, the one that caused this work: a call without work so far, and of as many
 * bytes. If there are several, the first is taken, and the join is only likely. */
static struct gt_gpu_inner *choose(const struct gt_gpu_known *k, const struct gt_gpu_event *e,
	uint32_t kernel, enum gt_join *how)
{
	struct gt_gpu_inner *best = NULL;
	unsigned good = 0;

	for (uint32_t i = 0; i < k->ninner; i++) {
		struct gt_gpu_inner *c = &k->inner[i];
		unsigned fit = !fits(&c->c, e, kernel) ? 0
						       : 1 + 2 * !c->records +
				(e->id != GT_EV_KERNEL && c->c.sized &&
					c->c.bytes == gt_gpu_event_bytes(e));

		if (fit > good) {
			good = fit;
			best = c;
			*how = GT_JOIN_CORRELATION;
		} else if (fit && fit == good) {
			*how = GT_JOIN_ORDER;
		}
	}
	return best;
}

/* Work of this call. True: the call causes no more work. */
static bool from_cause(struct gt_correlator *g, struct gt_gpu_known *k,
	const struct gt_gpu_event *e, uint32_t kernel, struct gt_gpu_work *w,
	struct gt_gpu_call *by)
{
	enum gt_join how = GT_JOIN_CORRELATION;
	struct gt_gpu_inner *inner = k->ninner ? choose(k, e, kernel, &how) : NULL;
	const struct gt_gpu_call *c = inner ? &inner->c : &k->c;

	k->records++;
	if (inner)
		inner->records++;
	if (k->ninner ? !inner : !fits(c, e, kernel)) {
		g->totals.wrong++;
	} else {
		join(w, c, how);
		*by = *c;
	}
	return !k->ninner && gt_api[c->id].op == GT_OP_LAUNCH;
}

/* Work of this call has arrived. The call is known by its correlation id, or waits for CUPTI's
 * record. */
static void count_work(
	struct gt_gpu_process *p, const struct gt_gpu_graph_launch *launch, int64_t now)
{
	struct gt_gpu_known *k = launch->correlation ? find_cause(p, launch->correlation) : NULL;
	struct gt_gpu_lane *l = k ? NULL : lane_of(p, launch->c.tid, false);
	struct gt_gpu_launch *waiting = l ? find_call(l, launch->c.start) : NULL;

	if (waiting)
		waiting->known = true;
	if (!k)
		return;
	k->since = now;
	k->records++;
	for (uint32_t i = 0; i < k->ninner; i++)
		k->inner[i].records += k->inner[i].c.start == launch->c.start;
}

/* Work in the body of a conditional node. */
static bool cause_of_body(struct gt_gpu_process *p, int64_t now, bool late, struct gt_gpu_work *w,
	struct gt_gpu_call *by)
{
	const struct gt_gpu_graph_launch *launch;
	enum gt_join how;

	if (!gt_gpu_bodies_find(p, w, late, &launch, &how))
		return false;
	if (!launch)
		return true;
	count_work(p, launch, now);
	join(w, &launch->c, how);
	w->correlation = launch->correlation;
	*by = launch->c;
	return true;
}

bool gt_gpu_cause_find(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, uint32_t kernel, int64_t now, bool late,
	struct gt_gpu_work *w, struct gt_gpu_call *by)
{
	struct gt_gpu_known *c = find_cause(p, w->correlation);
	struct gt_gpu_launch *likely;
	bool last;

	if (!w->correlation && w->graph)
		return cause_of_body(p, now, late, w, by);
	if (c) {
		c->since = now;
		last = from_cause(g, c, e, kernel, w, by);
		if (p->bodies.n && w->cause.join == GT_JOIN_CORRELATION)
			gt_gpu_bodies_ran(&p->bodies, by, w);
		if (last)
			drop_cause(p, c);
		return true;
	}
	if (!late)
		return false;
	likely = p->records.n || w->graph || w->node ? NULL : guess(g, p, e, kernel);
	if (likely) {
		join(w, &likely->c, GT_JOIN_ORDER);
		likely->known = true;
	}
	return true;
}

bool gt_gpu_cause_timed(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, bool late, struct gt_gpu_work *w, struct gt_gpu_call *by)
{
	const struct gt_ev_timed *timed = &e->body.timed;
	struct gt_gpu_lane *l = lane_of(p, timed->tid, false);
	struct gt_gpu_launch *c = l ? find_ticks(l, timed->call_start) : NULL;

	if (!c)
		return late;
	if (c->c.id != timed->id) {
		g->totals.wrong++;
		return true;
	}
	join(w, &c->c, GT_JOIN_CORRELATION);
	*by = c->c;
	c->known = true;
	while (l->n && l->calls[l->first].known)
		forget_first(g, l);
	return true;
}

/* ---- completed calls ---- */

void gt_gpu_lane_drop(struct gt_correlator *g, struct gt_gpu_process *p, size_t i)
{
	g->calls -= p->lanes[i].n;
	free(p->lanes[i].calls);
	p->lanes[i] = p->lanes[--p->nlanes];
	p->lane = 0;
}

/* Calls that no record will come for any more, and lanes of threads that launch no more: there may
 * be a million in a day. */
void gt_gpu_calls_let_go(struct gt_correlator *g, struct gt_gpu_process *p, int64_t now, bool last)
{
	/* where no records are delivered, they are not waited for; earlier ones were delivered
	 * before that */
	int64_t before = last ? INT64_MAX : now - (p->on ? 30 : 1) * GT_GPU_PATIENCE;

	tidy_causes(g, p, now);
	for (size_t i = p->nlanes; i-- > 0;) {
		struct gt_gpu_lane *l = &p->lanes[i];

		while (l->n &&
			(l->calls[l->first].known || l->calls[l->first].c.end < before ||
				l->n > CALLS_MAX)) {
			count_without_record(g, p, &l->calls[l->first]);
			forget_first(g, l);
		}
		if (l->n || !l->used)
			l->used = l->n ? 0 : now;
		else if (now - l->used > GT_GPU_PATIENCE)
			gt_gpu_lane_drop(g, p, i);
	}
}
