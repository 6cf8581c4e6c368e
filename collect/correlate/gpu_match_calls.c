/* Finds the call that launched a piece of work. Calls wait in queues, one per thread, in order of
 * time. CUPTI's record of a call is matched by thread and time, and gives the call a correlation
 * id. A record of work finds its call by that id. If CUPTI delivers no records of calls, work is
 * joined to the earliest compatible call. Work that CUDA events timed names the thread and the
 * start of its call.
 *
 * The guest's record of a call begins before CUPTI's record of it and ends after it. But the clocks
 * are read at different places and converted, so only the middle of CUPTI's record must lie in the
 * guest's. Calls of one thread do not overlap.
 *
 * A join is accepted only if the kernel and the shape of the work are those of the call. Times are
 * not compared, because the GPU's clock is adjusted to the host's only from time to time.
 *
 * The table of correlations is not gt_map: most entries live for microseconds, so removal must be
 * cheap, and old entries are removed when the table would grow. */
#include "collect/correlate/gpu_correlate_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api_cbid.h"

#define CALLS_MAX 65536u     /* pending calls of a thread after a flush */
#define CALLS_ALL (1u << 20) /* pending calls of all processes at any time */
/* entries of the table of correlations; beyond it, entries without recent work are removed first */
#define CORRELATIONS_USUAL (1u << 18)
/* the limit: more than a ring holds, if the recorder did not run for a while */
#define CORRELATIONS_MAX (1u << 20)
#define CORRELATIONS_MIN 1024u
#define CALL_TTL_NS (300 * GT_GPU_JOIN_TIMEOUT_NS) /* ns until a call without work is removed */
/* ns until a graph launch is removed after its last work */
#define NODE_TTL_NS (60 * GT_GPU_JOIN_TIMEOUT_NS)
#define LOOK_BACK 512 /* calls searched for a compatible one */

/* ---- calls, by thread ---- */

static struct gt_gpu_thread_queue *find_thread_queue(
	struct gt_gpu_process *p, int32_t tid, bool make)
{
	for (size_t i = 0; i < p->nthread_queues;
		i++, p->queue_hint = p->queue_hint + 1 < p->nthread_queues ? p->queue_hint + 1 : 0)
		if (p->thread_queues[p->queue_hint].tid == tid)
			return &p->thread_queues[p->queue_hint];
	if (!make ||
		gt_grow(&p->thread_queues, &p->thread_queues_cap, p->nthread_queues + 1,
			sizeof(*p->thread_queues)))
		return NULL;
	p->queue_hint = p->nthread_queues++;
	p->thread_queues[p->queue_hint] = (struct gt_gpu_thread_queue){ .tid = tid };
	return &p->thread_queues[p->queue_hint];
}

static void pop_call(struct gt_correlator *g, struct gt_gpu_thread_queue *q)
{
	q->first++;
	q->n--;
	g->calls--;
	if (q->first >= 64 && q->first >= q->n) {
		memmove(q->calls, q->calls + q->first, q->n * sizeof(*q->calls));
		q->first = 0;
	}
}

/* USDT probes report kernels only. */
static bool is_reported(const struct gt_gpu_process *p, const struct gt_gpu_call *c)
{
	return !p->probed || gt_api[c->id].op == GT_OP_LAUNCH;
}

/* A call without work was captured, or its record is missing. */
static void count_call(
	struct gt_correlator *g, const struct gt_gpu_process *p, const struct gt_gpu_call *c)
{
	if (!is_reported(p, c))
		return;
	if (gt_gpu_is_captured(&p->captures, c))
		g->totals.captured++;
	else
		gt_gpu_missing_add(g, c);
}

/* Counts a call without a record, unless another profiler may have had CUPTI. */
static void count_without_record(struct gt_correlator *g, const struct gt_gpu_process *p,
	const struct gt_gpu_pending_call *c)
{
	bool never = !p->on && !p->probed && !p->nabsences && !p->yielded_since;

	if ((!c->matched && !never && !gt_gpu_cupti_maybe_lost(p, &c->call)) ||
		gt_gpu_is_captured(&p->captures, &c->call))
		count_call(g, p, &c->call);
}

int gt_gpu_calls_add(struct gt_correlator *g, struct gt_gpu_process *p, const struct gt_gpu_call *c)
{
	struct gt_gpu_thread_queue *q = find_thread_queue(p, c->tid, true);

	if (!q)
		return -ENOMEM;
	if (q->n && g->calls >= CALLS_ALL) {
		count_without_record(g, p, &q->calls[q->first]);
		pop_call(g, q);
	}
	if (g->calls >= CALLS_ALL)
		return 0;
	if (gt_grow(&q->calls, &q->cap, q->first + q->n + 1, sizeof(*q->calls)))
		return -ENOMEM;
	q->calls[q->first + q->n++] = (struct gt_gpu_pending_call){ *c, false };
	q->used = 0;
	g->calls++;
	return 0;
}

/* The call that was running at `when`. */
static struct gt_gpu_pending_call *find_call(const struct gt_gpu_thread_queue *q, int64_t when)
{
	size_t from = 0, to = q->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		struct gt_gpu_pending_call *c = &q->calls[q->first + mid];

		if (when < c->call.start)
			to = mid;
		else if (when > c->call.end)
			from = mid + 1;
		else
			return c->matched ? NULL : c;
	}
	return NULL;
}

/* The call that began at `ticks`. A call of a signal handler begins later than the call around it
 * but is queued before it, so a linear search follows. */
static struct gt_gpu_pending_call *find_ticks(const struct gt_gpu_thread_queue *q, uint64_t ticks)
{
	size_t from = 0, to = q->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		struct gt_gpu_pending_call *c = &q->calls[q->first + mid];

		if (c->call.ticks == ticks)
			return c;
		if (ticks < c->call.ticks)
			to = mid;
		else
			from = mid + 1;
	}
	for (size_t i = 0; i < q->n && i < LOOK_BACK; i++)
		if (q->calls[q->first + i].call.ticks == ticks)
			return &q->calls[q->first + i];
	return NULL;
}

/* ---- calls by correlation id ---- */

static uint32_t slot_of(const struct gt_gpu_process *p, uint32_t correlation)
{
	return correlation * 0x9e3779b1u & p->mask;
}

static struct gt_gpu_correlation_entry *find_correlation(
	const struct gt_gpu_process *p, uint32_t correlation)
{
	if (!p->ncorrelations)
		return NULL;
	for (uint32_t i = slot_of(p, correlation); p->correlations[i].used; i = (i + 1) & p->mask)
		if (p->correlations[i].correlation == correlation)
			return &p->correlations[i];
	return NULL;
}

static void put_correlation(struct gt_gpu_process *p, const struct gt_gpu_correlation_entry *c)
{
	uint32_t i = slot_of(p, c->correlation);

	while (p->correlations[i].used && p->correlations[i].correlation != c->correlation)
		i = (i + 1) & p->mask;
	if (p->correlations[i].used)
		free(p->correlations[i].inner); /* CUPTI reused the number */
	else
		p->ncorrelations++;
	p->correlations[i] = *c;
}

static void count_unanswered(struct gt_correlator *g, const struct gt_gpu_process *p,
	const struct gt_gpu_correlation_entry *c)
{
	for (uint32_t i = 0; i < c->ninner; i++)
		if (!c->inner[i].records)
			count_call(g, p, &c->inner[i].call);
	if (!c->ninner && !c->records)
		count_call(g, p, &c->call);
}

static void release_entry(
	struct gt_correlator *g, const struct gt_gpu_process *p, struct gt_gpu_correlation_entry *c)
{
	if (!c->used)
		return;
	count_unanswered(g, p, c);
	free(c->inner);
	c->inner = NULL;
	c->used = false;
}

void gt_gpu_correlations_release(struct gt_correlator *g, struct gt_gpu_process *p)
{
	for (uint32_t i = 0; p->correlations && i <= p->mask; i++)
		release_entry(g, p, &p->correlations[i]);
	free(p->correlations);
	p->correlations = NULL;
	p->ncorrelations = 0;
}

/* May records of its work follow? The records of a copy arrive together, those of a graph one by
 * one as its nodes end. */
static bool may_cause_work(const struct gt_gpu_correlation_entry *c, int64_t now)
{
	return now - c->since < (!c->records ? CALL_TTL_NS
						: gt_api[c->call.id].op == GT_OP_GRAPH_LAUNCH
						? NODE_TTL_NS
						: GT_GPU_JOIN_TIMEOUT_NS);
}

/* Rebuilds the table with so many slots, without entries whose work is complete and entries
 * without work since `since`. */
static int rebuild(struct gt_correlator *g, struct gt_gpu_process *p, uint32_t places,
	int64_t since, int64_t now)
{
	struct gt_gpu_correlation_entry *old = p->correlations, *new = calloc(places, sizeof(*new));
	uint32_t n = old ? p->mask + 1 : 0;

	if (!new)
		return -ENOMEM;
	p->correlations = new;
	p->mask = places - 1;
	p->ncorrelations = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!old[i].used)
			continue;
		if (old[i].since >= since && may_cause_work(&old[i], now))
			put_correlation(p, &old[i]);
		else
			release_entry(g, p, &old[i]);
	}
	free(old);
	return 0;
}

static int reserve_correlation(struct gt_correlator *g, struct gt_gpu_process *p, int64_t now)
{
	uint32_t places = p->correlations ? p->mask + 1 : 0;

	if (2 * (p->ncorrelations + 1) <= places)
		return 0;
	if (places < CORRELATIONS_USUAL)
		return rebuild(g, p, places ? 2 * places : CORRELATIONS_MIN, INT64_MIN, now);
	if (rebuild(g, p, places, now - GT_GPU_JOIN_TIMEOUT_NS, now))
		return -ENOMEM;
	/* otherwise the next entries would rebuild it again */
	if (2 * p->ncorrelations < places - places / 4)
		return 0;
	return places < CORRELATIONS_MAX ? rebuild(g, p, 2 * places, INT64_MIN, now)
					 : rebuild(g, p, places, INT64_MAX, now);
}

/* From time to time: removes complete entries and shrinks the table. */
static int shrink_correlations(struct gt_correlator *g, struct gt_gpu_process *p, int64_t now)
{
	uint32_t places = p->correlations ? p->mask + 1 : 0, most = 0;

	if (now - p->shrunk_at < GT_GPU_JOIN_TIMEOUT_NS || places <= CORRELATIONS_MIN)
		return 0;
	p->shrunk_at = now;
	for (uint32_t i = 0; i < places; i++)
		most += p->correlations[i].used && may_cause_work(&p->correlations[i], now);
	while (places > CORRELATIONS_MIN && most < places / 8)
		places /= 2;
	return most < p->ncorrelations / 2 || places <= p->mask
		? rebuild(g, p, places, INT64_MIN, now)
		: 0;
}

/* Backward-shift deletion: entries after the freed slot move back, so that probing never meets a
 * hole. */
static void remove_correlation(struct gt_gpu_process *p, struct gt_gpu_correlation_entry *c)
{
	uint32_t hole = (uint32_t)(c - p->correlations), i = hole;

	free(c->inner);
	p->ncorrelations--;
	for (;;) {
		p->correlations[hole].used = false;
		do {
			i = (i + 1) & p->mask;
			if (!p->correlations[i].used)
				return;
		} while (((i - slot_of(p, p->correlations[i].correlation)) & p->mask) <
			((i - hole) & p->mask));
		p->correlations[hole] = p->correlations[i];
		hole = i;
	}
}

/* ---- CUPTI's records of calls ---- */

static int64_t middle(const struct gt_gpu_call *c) { return c->start + (c->end - c->start) / 2; }

static void pop_matched(struct gt_correlator *g, struct gt_gpu_thread_queue *q)
{
	while (q->n && q->calls[q->first].matched)
		pop_call(g, q);
}

/* Also removes calls made while another profiler had CUPTI. */
static void pop_finished(
	struct gt_correlator *g, const struct gt_gpu_process *p, struct gt_gpu_thread_queue *q)
{
	while (q->n &&
		(q->calls[q->first].matched ||
			gt_gpu_cupti_surely_lost(p, &q->calls[q->first].call))) {
		if (!q->calls[q->first].matched)
			count_without_record(g, p, &q->calls[q->first]);
		pop_call(g, q);
	}
}

/* Driver calls within a runtime call have its correlation id if CUPTI's callbacks report them. Is
 * this another call of the same runtime call? */
static bool is_same_correlation(
	const struct gt_gpu_correlation_entry *k, const struct gt_gpu_call *c)
{
	return k && k->call.tid == c->tid && c->start >= k->call.start &&
		c->start - k->call.end < GT_GPU_JOIN_TIMEOUT_NS;
}

static int add_inner(struct gt_gpu_correlation_entry *k, const struct gt_gpu_call *c)
{
	uint32_t n = k->ninner ? k->ninner : 1;
	struct gt_gpu_inner *inner = realloc(k->inner, (n + 1) * sizeof(*inner));

	if (!inner)
		return -ENOMEM;
	k->inner = inner;
	if (!k->ninner)
		inner[0] = (struct gt_gpu_inner){ k->call, k->records };
	inner[n] = (struct gt_gpu_inner){ *c, 0 };
	k->ninner = n + 1;
	return 0;
}

int gt_gpu_match_cupti_call(const struct gt_gpu_flush *f, const struct gt_gpu_event *e)
{
	struct gt_gpu_process *p = f->p;
	struct gt_gpu_thread_queue *q = find_thread_queue(p, e->body.call.tid, false);
	struct gt_gpu_pending_call *c = q && e->end >= e->start && e->start > 0
		? find_call(q, e->start + (e->end - e->start) / 2)
		: NULL;
	const char *function = gt_cuda_driver_name(e->body.call.cbid);

	if (!c || !function || strcmp(function, gt_api[c->call.id].name))
		return 0;
	if (reserve_correlation(f->g, p, f->now))
		return -ENOMEM;
	if (!is_same_correlation(find_correlation(p, e->body.call.correlation), &c->call))
		put_correlation(p,
			&(struct gt_gpu_correlation_entry){ .correlation = e->body.call.correlation,
				.used = true,
				.since = f->now,
				.call = c->call });
	else if (add_inner(find_correlation(p, e->body.call.correlation), &c->call))
		return -ENOMEM;
	gt_gpu_bodies_set_correlation(&p->bodies, &c->call, e->body.call.correlation);
	c->matched = true;
	pop_matched(f->g, q);
	return 1;
}

/* The calls whose middle lies in the interval: the first, and their number. */
static size_t calls_within(
	const struct gt_gpu_thread_queue *q, int64_t start, int64_t end, size_t *first)
{
	size_t from = 0, to = q->n, n = 0;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (middle(&q->calls[q->first + mid].call) < start)
			from = mid + 1;
		else
			to = mid;
	}
	*first = q->first + from;
	while (from + n < q->n && middle(&q->calls[*first + n].call) <= end)
		n++;
	return n;
}

/* These calls are one entry. */
static int match_calls(
	struct gt_gpu_pending_call *calls, size_t n, struct gt_gpu_correlation_entry *to)
{
	to->call = calls[0].call;
	if (n > 1 && !(to->inner = calloc(n, sizeof(*to->inner))))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (to->inner)
			to->inner[to->ninner++] = (struct gt_gpu_inner){ calls[i].call, 0 };
		calls[i].matched = true;
	}
	return 0;
}

int gt_gpu_match_runtime_call(const struct gt_gpu_flush *f, const struct gt_gpu_event *e)
{
	struct gt_gpu_process *p = f->p;
	struct gt_gpu_thread_queue *q = find_thread_queue(p, e->body.call.tid, false);
	struct gt_gpu_correlation_entry cause = {
		.correlation = e->body.call.correlation, .used = true, .since = f->now
	};
	size_t first = 0,
	       n = q && e->end >= e->start ? calls_within(q, e->start, e->end, &first) : 0;

	while (n && q->calls[first].matched) /* CUPTI's records of these calls are known */
		first++, n--;
	if (!n)
		return 0;
	if (reserve_correlation(f->g, p, f->now) || match_calls(q->calls + first, n, &cause))
		return -ENOMEM;
	for (size_t i = first; i < first + n; i++)
		gt_gpu_bodies_set_correlation(&p->bodies, &q->calls[i].call, cause.correlation);
	put_correlation(p, &cause);
	pop_matched(f->g, q);
	return 1;
}

/* ---- work ---- */

static bool is_compatible(
	const struct gt_gpu_call *c, const struct gt_gpu_event *e, uint32_t kernel)
{
	const struct gt_ev_kernel *k = &e->body.kernel;
	unsigned op = gt_api[c->id].op;

	if (op == GT_OP_GRAPH_LAUNCH)
		return e->body.work.graph || e->body.work.node;
	if (e->id != GT_EV_KERNEL)
		return op == (e->id == GT_EV_COPY ? GT_OP_COPY : GT_OP_SET) || op == GT_OP_COPY;
	if (op != GT_OP_LAUNCH)
		/* the driver uses kernels for some copies and sets */
		return op == GT_OP_COPY || op == GT_OP_SET;
	if (c->kernel != GT_NONE && kernel != GT_NONE && c->kernel != kernel)
		return false;
	return !c->has_shape || !k->block[0] /* parcagpu's probes have no shapes */ ||
		(!memcmp(c->grid, k->grid, sizeof(c->grid)) &&
			!memcmp(c->block, k->block, sizeof(c->block)));
}

/* The earliest compatible call without a record. */
static struct gt_gpu_pending_call *match_by_order(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, uint32_t kernel)
{
	struct gt_gpu_pending_call *best = NULL;

	for (size_t i = 0; i < p->nthread_queues; i++) {
		struct gt_gpu_thread_queue *q = &p->thread_queues[i];

		pop_finished(g, p, q);
		for (size_t k = 0; k < q->n && k < LOOK_BACK; k++) {
			struct gt_gpu_pending_call *c = &q->calls[q->first + k];

			if (c->call.start > e->start || (best && c->call.start >= best->call.start))
				break;
			if (!c->matched && is_compatible(&c->call, e, kernel) &&
				!gt_gpu_cupti_surely_lost(p, &c->call)) {
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
		(uint64_t)(c->end - c->start), c->stack };
}

/* Of several driver calls within a runtime call, the one of this work: preferably a call without
 * work so far, and of as many bytes. If several are as good, the first is taken, and the join is
 * marked as inferred. */
static struct gt_gpu_inner *pick_inner_call(const struct gt_gpu_correlation_entry *k,
	const struct gt_gpu_event *e, uint32_t kernel, enum gt_join *how)
{
	struct gt_gpu_inner *best = NULL;
	unsigned good = 0;

	for (uint32_t i = 0; i < k->ninner; i++) {
		struct gt_gpu_inner *c = &k->inner[i];
		unsigned fit = !is_compatible(&c->call, e, kernel) ? 0
								   : 1 + 2 * !c->records +
				(e->id != GT_EV_KERNEL && c->call.has_bytes &&
					c->call.bytes == gt_gpu_event_bytes(e));

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

/* Joins work to its correlation. True: the call has no more work. */
static bool join_correlated(struct gt_correlator *g, struct gt_gpu_correlation_entry *k,
	const struct gt_gpu_event *e, uint32_t kernel, struct gt_gpu_work *w,
	struct gt_gpu_call *by)
{
	enum gt_join how = GT_JOIN_CORRELATION;
	struct gt_gpu_inner *inner = k->ninner ? pick_inner_call(k, e, kernel, &how) : NULL;
	const struct gt_gpu_call *c = inner ? &inner->call : &k->call;

	k->records++;
	if (inner)
		inner->records++;
	if (k->ninner ? !inner : !is_compatible(c, e, kernel)) {
		g->totals.wrong++;
	} else {
		join(w, c, how);
		*by = *c;
	}
	return !k->ninner && gt_api[c->id].op == GT_OP_LAUNCH;
}

/* Counts a record of work for the launch of a body, which has a correlation id or still waits for
 * one. */
static void count_body_work(
	struct gt_gpu_process *p, const struct gt_gpu_graph_launch *launch, int64_t now)
{
	struct gt_gpu_correlation_entry *k =
		launch->correlation ? find_correlation(p, launch->correlation) : NULL;
	struct gt_gpu_thread_queue *q = k ? NULL : find_thread_queue(p, launch->call.tid, false);
	struct gt_gpu_pending_call *waiting = q ? find_call(q, launch->call.start) : NULL;

	if (waiting)
		waiting->matched = true;
	if (!k)
		return;
	k->since = now;
	k->records++;
	for (uint32_t i = 0; i < k->ninner; i++)
		k->inner[i].records += k->inner[i].call.start == launch->call.start;
}

static bool find_body_launch(struct gt_gpu_process *p, int64_t now, bool late,
	struct gt_gpu_work *w, struct gt_gpu_call *by)
{
	const struct gt_gpu_graph_launch *launch;
	enum gt_join how;

	if (!gt_gpu_bodies_find(p, w, late, &launch, &how))
		return false;
	if (!launch)
		return true;
	count_body_work(p, launch, now);
	join(w, &launch->call, how);
	w->correlation = launch->correlation;
	*by = launch->call;
	return true;
}

bool gt_gpu_find_launch(const struct gt_gpu_flush *f, const struct gt_gpu_event *e, uint32_t kernel,
	bool late, struct gt_gpu_work *w, struct gt_gpu_call *by)
{
	struct gt_gpu_process *p = f->p;
	struct gt_gpu_correlation_entry *c = find_correlation(p, w->correlation);
	struct gt_gpu_pending_call *likely;
	bool last;

	if (!w->correlation && w->graph)
		return find_body_launch(p, f->now, late, w, by);
	if (c) {
		c->since = f->now;
		last = join_correlated(f->g, c, e, kernel, w, by);
		if (p->bodies.n && w->cause.join == GT_JOIN_CORRELATION)
			gt_gpu_bodies_add_work(&p->bodies, by, w);
		if (last)
			remove_correlation(p, c);
		return true;
	}
	if (!late)
		return false;
	likely = p->records.n || w->graph || w->node ? NULL : match_by_order(f->g, p, e, kernel);
	if (likely) {
		join(w, &likely->call, GT_JOIN_ORDER);
		likely->matched = true;
	}
	return true;
}

bool gt_gpu_find_timed_launch(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, bool late, struct gt_gpu_work *w, struct gt_gpu_call *by)
{
	const struct gt_ev_timed *timed = &e->body.timed;
	struct gt_gpu_thread_queue *q = find_thread_queue(p, timed->tid, false);
	struct gt_gpu_pending_call *c = q ? find_ticks(q, timed->call_start) : NULL;

	if (!c)
		return late;
	if (c->call.id != timed->id) {
		g->totals.wrong++;
		return true;
	}
	join(w, &c->call, GT_JOIN_CORRELATION);
	*by = c->call;
	c->matched = true;
	while (q->n && q->calls[q->first].matched)
		pop_call(g, q);
	return true;
}

/* ---- completed calls ---- */

void gt_gpu_thread_queue_remove(struct gt_correlator *g, struct gt_gpu_process *p, size_t i)
{
	g->calls -= p->thread_queues[i].n;
	free(p->thread_queues[i].calls);
	p->thread_queues[i] = p->thread_queues[--p->nthread_queues];
	p->queue_hint = 0;
}

/* Removes calls that wait for a record for too long, and the queues of threads that launch no
 * more: a program may start a million threads a day. */
void gt_gpu_calls_expire(const struct gt_gpu_flush *f)
{
	struct gt_gpu_process *p = f->p;
	/* without CUPTI no records follow, except those on their way */
	int64_t before = f->last ? INT64_MAX : f->now - (p->on ? 30 : 1) * GT_GPU_JOIN_TIMEOUT_NS;

	shrink_correlations(f->g, p, f->now);
	for (size_t i = p->nthread_queues; i-- > 0;) {
		struct gt_gpu_thread_queue *q = &p->thread_queues[i];

		while (q->n &&
			(q->calls[q->first].matched || q->calls[q->first].call.end < before ||
				q->n > CALLS_MAX)) {
			count_without_record(f->g, p, &q->calls[q->first]);
			pop_call(f->g, q);
		}
		if (q->n || !q->used)
			q->used = q->n ? 0 : f->now;
		else if (f->now - q->used > GT_GPU_JOIN_TIMEOUT_NS)
			gt_gpu_thread_queue_remove(f->g, p, i);
	}
}
