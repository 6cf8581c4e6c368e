/* Joins records of GPU work to calls, and decides when a record is complete. A record without a
 * known call waits for it (gpu_match_calls.c). Work that has waited for GT_GPU_JOIN_TIMEOUT_NS is
 * written with the call that matches best, marked as inferred, or without a call. */
#include "collect/correlate/gpu_correlate_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

#define WAITING_MAX 65536u  /* pending records of work, and of calls, in a process */
#define FAR 3600000000000ll /* ns: times further from the recording are impossible */

struct gt_gpu_process *gt_gpu_process_at(struct gt_gpu_process **p, uint32_t track)
{
	if (!*p && (*p = calloc(1, sizeof(**p))))
		(*p)->track = track;
	return *p;
}

int gt_gpu_name_stream(struct gt_correlator *g, struct gt_gpu_process **p, uint32_t track,
	uint64_t handle, int64_t when, uint32_t name, struct gt_err *err)
{
	return gt_gpu_process_at(p, track)
		? gt_gpu_stream_set_name(&(*p)->waits, g->w, handle, when, name, err)
		: 0;
}

uint32_t gt_gpu_device(
	struct gt_correlator *g, struct gt_gpu_process **p, uint32_t track, uint32_t device)
{
	return gt_gpu_process_at(p, track) ? gt_gpu_device_track(g, *p, device) : GT_NONE;
}

static bool has_possible_times(const struct gt_gpu_flush *f, const struct gt_gpu_event *e)
{
	return e->start > 1 && e->end >= e->start && e->start > f->p->first_flush - FAR &&
		e->end < f->now + FAR;
}

static void count_row(struct gt_gpu_totals *t, const struct gt_gpu_event *e, enum gt_join how)
{
	*(e->id == GT_EV_KERNEL               ? &t->kernels
			: e->id == GT_EV_COPY ? &t->copies
			: e->id == GT_EV_SET  ? &t->sets
					      : &t->graphs) += 1;
	*(how == GT_JOIN_CORRELATION           ? &t->exact
			: how == GT_JOIN_ORDER ? &t->inferred
					       : &t->unjoined) += 1;
}

/* Is it work timed by CUDA events? Its record begins with two words about the call. Then, except
 * for graphs, it is like CUPTI's record. */
static bool is_timed(const struct gt_gpu_event *e)
{
	return e->id >= GT_EV_TIMED_KERNEL && e->id <= GT_EV_TIMED_GRAPH;
}

static struct gt_gpu_event strip_call_words(const struct gt_gpu_event *e)
{
	static const uint16_t ids[] = { GT_EV_KERNEL, GT_EV_COPY, GT_EV_SET, GT_EV_TIMED_GRAPH };
	struct gt_gpu_event w = { .id = ids[e->id - GT_EV_TIMED_KERNEL],
		.start = e->start,
		.end = e->end,
		.n = (uint8_t)(e->n - 2) };

	w.body.kernel = e->body.timed.kernel; /* the longest member of the union */
	return w;
}

static int emit_work(struct gt_correlator *g, const struct gt_gpu_event *e,
	const struct gt_gpu_work *w, uint32_t kernel, const struct gt_nccl_calls *nccl,
	struct gt_err *err)
{
	switch (e->id) {
	case GT_EV_KERNEL: return gt_gpu_emit_kernel(g, w, &e->body.kernel, kernel, nccl, err);
	case GT_EV_COPY: return gt_gpu_emit_copy(g, w, &e->body.copy, err);
	case GT_EV_SET: return gt_gpu_emit_set(g, w, &e->body.set, err);
	}
	return gt_gpu_put_graph(&g->types, w, err);
}

/* Work in the body of a conditional node has the number of the graph's instance, and no
 * correlation id. */
static bool is_of_body(const struct gt_gpu_event *e)
{
	return e->id >= GT_EV_KERNEL && e->id <= GT_EV_SET && !e->body.work.correlation &&
		e->body.work.graph;
}

/* Writes a kernel, copy, set or graph. 1: done; 0: its call or its name may still become known;
 * negative. */
static int flush_work(const struct gt_gpu_flush *f, const struct gt_gpu_event *whole, bool late)
{
	struct gt_correlator *g = f->g;
	struct gt_gpu_process *p = f->p;
	const struct gt_gpu_event plain = is_timed(whole) ? strip_call_words(whole) : *whole,
				  *e = &plain;
	const struct gt_ev_work *record = &e->body.work;
	struct gt_gpu_work w = { .start = e->start,
		.end = e->end,
		.correlation = record->correlation,
		.context = record->context,
		.graph = record->graph,
		.node = record->node,
		.by_events = is_timed(whole) };
	uint32_t kernel = e->id == GT_EV_KERNEL ? f->string(f->arg, e->body.kernel.name) : GT_NONE;
	struct gt_gpu_call by = { .kernel = GT_NONE };
	struct gt_nccl_calls nccl;
	int code = 0;

	if (!has_possible_times(f, e)) {
		g->totals.impossible++;
		return 1;
	}
	if (e->id == GT_EV_KERNEL && kernel == GT_NONE && !late)
		return 0;
	if (!(w.by_events ? gt_gpu_find_timed_launch(g, p, whole, late, &w, &by)
			  : gt_gpu_find_launch(f, e, kernel, late, &w, &by)))
		return 0;
	if (g->partly && w.cause.join == GT_JOIN_UNKNOWN) {
		g->totals.outside++;
		return 1;
	}
	nccl = by.nccl;
	if (w.node && !is_of_body(e)) /* nodes in bodies have other numbers */
		gt_gpu_node_find(&p->nodes, w.node, &w.created_by, &nccl);
	w.track = gt_gpu_stream_track_by_id(g, p, record->device, w.context, record->stream);
	p->waits.reported_until = w.end > p->waits.reported_until ? w.end : p->waits.reported_until;
	if (w.track != GT_NONE && by.has_stream &&
		(w.by_events || gt_api[by.id].op != GT_OP_GRAPH_LAUNCH))
		code = gt_gpu_stream_set_track(&p->waits, g->w,
			gt_gpu_stream_number(&p->waits, &by), w.track, w.context, f->err);
	if (code)
		return code;
	code = w.track == GT_NONE
		? -ENOMEM
		: emit_work(g, e, &w, kernel == GT_NONE ? by.kernel : kernel, &nccl, f->err);
	if (code == -ENOMEM) { /* no memory, or the dictionary is full */
		g->totals.nameless++;
		code = gt_writer_loss(g->w, GT_SCOPE_PROCESS, p->track, w.start, w.end, 1, f->err);
	} else if (!code) {
		count_row(&g->totals, e, w.cause.join);
	}
	return code ? code : 1;
}

/* Records of managed memory and overheads have no call. If only a part of the run is recorded,
 * they are written if they lie between recorded calls. */
static int emit_other(const struct gt_gpu_flush *f, const struct gt_gpu_event *e)
{
	struct gt_correlator *g = f->g;
	struct gt_gpu_process *p = f->p;
	struct gt_gpu_event own = *e;

	if (g->partly && (e->start < p->calls_from || e->start > p->calls_to))
		return 0;
	if (e->id == GT_EV_MANAGED && own.end < own.start)
		own.end = own.start; /* some have no end */
	if (!has_possible_times(f, &own)) {
		g->totals.impossible += own.start > 1; /* else CUPTI had no time for it */
		return 0;
	}
	return e->id == GT_EV_MANAGED ? gt_gpu_emit_managed(g, p, &own, f->err)
				      : gt_gpu_emit_overhead(g, p, &own, f->err);
}

/* ---- incoming records ---- */

static int enqueue(struct gt_gpu_event_queue *q, const struct gt_gpu_event *e)
{
	if (gt_grow(&q->items, &q->cap, q->n + 1, sizeof(*q->items)))
		return -ENOMEM;
	q->items[q->n++] = (struct gt_gpu_pending_event){ 0, *e };
	return 0;
}

int gt_gpu_call(struct gt_correlator *g, struct gt_gpu_process **to, uint32_t track,
	const struct gt_gpu_call *c)
{
	struct gt_gpu_process *p = gt_gpu_process_at(to, track);

	if (!p)
		return -ENOMEM;
	p->calls_from = p->calls_to ? p->calls_from : c->start;
	p->calls_to = c->end > p->calls_to ? c->end : p->calls_to;
	switch (c->kind) {
	case GT_GPU_CALL_WAITS:
		gt_gpu_bodies_add_wait(&p->bodies, c, p->context != GT_NONE);
		return gt_gpu_is_capturing(&p->captures) && c->wait == GT_GPU_WAIT_STREAM_EVENT
			? 0
			: gt_gpu_waits_add(&p->waits, c);
	case GT_GPU_CALL_BEGINS_CAPTURE: gt_gpu_capture_begin(&p->captures, c); return 0;
	case GT_GPU_CALL_ENDS_CAPTURE: gt_gpu_capture_end(&p->captures, c); return 0;
	case GT_GPU_CALL_ENDS_STREAM:
		if (c->has_stream)
			gt_gpu_capture_end(&p->captures, c);
		return gt_gpu_stream_destroy(&p->waits, c);
	default:
		g->totals.captured += c->captured;
		if (c->empty || c->captured)
			return 0;
		if (gt_api[c->id].op == GT_OP_GRAPH_LAUNCH &&
			gt_gpu_bodies_add_launch(&p->bodies, c))
			return -ENOMEM;
		return gt_gpu_calls_add(g, p, c);
	}
}

int gt_gpu_event(struct gt_correlator *g, struct gt_gpu_process **p, uint32_t track,
	const struct gt_gpu_event *e)
{
	const struct gt_ev_loss *loss = &e->body.loss;

	if (!gt_gpu_process_at(p, track))
		return -ENOMEM;
	if (e->id == GT_EV_GPU_LOST) {
		*(loss->reason == GT_GPU_LOST_FOREIGN ? &g->totals.foreign : &g->totals.dropped) +=
			loss->count;
		return 0;
	}
	(*p)->by_events |= is_timed(e);
	if (e->id == GT_EV_UNTIMED) {
		g->totals.untimed[loss->reason < GT_UNTIMED_COUNT ? loss->reason
								  : GT_UNTIMED_ERROR] +=
			loss->count;
		return 0;
	}
	if (e->id == GT_EV_GPU_STATE)
		return gt_gpu_states_add(*p, e);
	return enqueue(
		e->id == GT_EV_CUPTI_CALL || e->id == GT_EV_RUNTIME ? &(*p)->records : &(*p)->works,
		e);
}

/* ---- flush ---- */

/* CUPTI's record of a runtime call: waits until all calls that ended within it have been read. If
 * only a part of the run is recorded, it becomes a row only if it has recorded calls. */
static int match_runtime_record(const struct gt_gpu_flush *f, struct gt_gpu_pending_event *w)
{
	int found, code = 0;

	if (!has_possible_times(f, &w->e)) {
		f->g->totals.impossible++;
		return 1;
	}
	if (w->e.end >= f->now && !f->last)
		return 0;
	found = gt_gpu_match_runtime_call(f, &w->e);
	if (found >= 0 && w->e.n && f->g->runtime_rows && (found || !f->g->partly)) {
		code = gt_gpu_emit_runtime_call(f->g, f->p, &w->e, f->err);
		w->e.n = 0; /* once */
	}
	return found < 0 ? found : code ? code : found || !gt_gpu_runtime_launches(&w->e);
}

static int match_records(const struct gt_gpu_flush *f)
{
	struct gt_gpu_event_queue *q = &f->p->records;
	size_t kept = 0;

	for (size_t i = 0; i < q->n; i++) {
		struct gt_gpu_pending_event *w = &q->items[i];
		int done = w->e.id == GT_EV_CUPTI_CALL ? gt_gpu_match_cupti_call(f, &w->e)
						       : match_runtime_record(f, w);

		if (done < 0)
			return done;
		w->since = w->since ? w->since : f->now;
		if (!done && !f->last && f->now - w->since < GT_GPU_JOIN_TIMEOUT_NS &&
			kept < WAITING_MAX)
			q->items[kept++] = *w;
	}
	q->n = kept;
	return 0;
}

/* Writes the work in bodies of conditional nodes, or all other work. */
static int flush_some_works(const struct gt_gpu_flush *f, bool bodies)
{
	struct gt_gpu_event_queue *q = &f->p->works;
	size_t kept = 0;
	int done = 0;

	for (size_t i = 0; done >= 0 && i < q->n; i++) {
		struct gt_gpu_pending_event *w = &q->items[i];

		w->since = w->since ? w->since : f->now;
		if (is_of_body(&w->e) != bodies) {
			q->items[kept++] = *w;
			continue;
		}
		if (w->e.id == GT_EV_MANAGED || w->e.id == GT_EV_OVERHEAD) {
			done = emit_other(f, &w->e);
			continue;
		}
		done = flush_work(f, &w->e,
			f->last || f->now - w->since >= GT_GPU_JOIN_TIMEOUT_NS ||
				kept == WAITING_MAX);
		if (!done)
			q->items[kept++] = *w;
	}
	q->n = kept;
	return done < 0 ? done : 0;
}

/* The launch of work in a body follows from the other work of its graph, which is written first. */
static int flush_works(const struct gt_gpu_flush *f)
{
	int code = flush_some_works(f, false);

	return code || !f->p->works.n ? code : flush_some_works(f, true);
}

/* ---- lost records of a killed program ---- */

struct lost_works {
	struct lost_work {
		uint32_t track;
		uint64_t n;
		int64_t from;
	} * of;
	size_t n, cap;
};

static int add_lost_work(
	struct lost_works *m, struct gt_gpu_process *p, const struct gt_gpu_call *c)
{
	uint32_t track;
	size_t i = 0;

	if (gt_gpu_is_captured(&p->captures, c))
		return 0;
	track = gt_gpu_stream_get_track(&p->waits, gt_gpu_stream_number(&p->waits, c));
	while (i < m->n && m->of[i].track != track)
		i++;
	if (i == m->n) {
		if (gt_grow(&m->of, &m->cap, i + 1, sizeof(*m->of)))
			return -ENOMEM;
		m->of[m->n++] = (struct lost_work){ track, 0, c->start };
	}
	m->of[i].n++;
	m->of[i].from = c->start < m->of[i].from ? c->start : m->of[i].from;
	return 0;
}

/* A process that was killed, or left by _exit, loses the records that CUPTI has not delivered.
 * Writes the number of launches without a record per stream, and the time of the first, as losses.
 */
static int write_lost_work(const struct gt_gpu_flush *f)
{
	struct lost_works m = { NULL, 0, 0 };
	struct gt_gpu_process *p = f->p;
	int code = 0;

	for (uint32_t i = 0; !code && p->correlations && i <= p->mask; i++)
		if (p->correlations[i].used && !p->correlations[i].records)
			code = add_lost_work(&m, p, &p->correlations[i].call);
	for (size_t i = 0; !code && i < p->nthread_queues; i++)
		for (size_t k = 0; !code && k < p->thread_queues[i].n; k++) {
			const struct gt_gpu_thread_queue *q = &p->thread_queues[i];

			if (!q->calls[q->first + k].matched)
				code = add_lost_work(&m, p, &q->calls[q->first + k].call);
		}
	for (size_t i = 0; !code && i < m.n; i++)
		code = gt_writer_loss(f->g->w,
			m.of[i].track == GT_NONE ? GT_SCOPE_PROCESS : GT_SCOPE_TRACK,
			m.of[i].track == GT_NONE ? p->track : m.of[i].track, m.of[i].from, f->now,
			m.of[i].n, f->err);
	free(m.of);
	return code;
}

int gt_gpu_flush_ready(struct gt_correlator *g, struct gt_gpu_process *p, int64_t now, bool last,
	gt_gpu_string *string, void *arg, struct gt_err *err)
{
	const struct gt_gpu_flush f = { g, p, now, last, string, arg, err };
	int code;

	p->first_flush = p->first_flush ? p->first_flush : now;
	code = gt_gpu_states_flush_ready(&f);
	if (!code)
		code = match_records(&f);
	if (!code)
		code = flush_works(&f);
	if (!code)
		code = gt_gpu_waits_flush_ready(&f);
	if (!code && last)
		code = gt_gpu_absence_end(g, p, now, now, err);
	if (!code && last && p->calls_lost_since)
		code = gt_writer_loss(g->w, GT_SCOPE_PROCESS, p->track, p->calls_lost_since,
			now < p->calls_lost_since ? p->calls_lost_since : now, GT_LOST_UNKNOWN,
			err);
	if (!code && last && p->on && !p->flushed)
		code = write_lost_work(&f);
	gt_gpu_calls_expire(&f);
	if (last)
		gt_gpu_correlations_release(g, p);
	if (!code)
		code = gt_gpu_missing_write(g, err);
	return code == -ENOMEM ? gt_err_set(err, code, "out of memory") : code;
}

/* ---- life ---- */

struct gt_correlator *gt_gpu_open(struct gt_writer *w, bool partly, bool runtime_rows)
{
	struct gt_correlator *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->w = g->types.w = w;
	g->partly = partly;
	g->runtime_rows = runtime_rows;
	g->source = gt_writer_string(w, "cupti");
	g->source_events = gt_writer_string(w, "cuda events");
	return g;
}

void gt_gpu_process_close(struct gt_correlator *g, struct gt_gpu_process *p)
{
	if (!p)
		return;
	gt_gpu_correlations_release(g, p);
	while (p->nthread_queues)
		gt_gpu_thread_queue_remove(g, p, p->nthread_queues - 1);
	free(p->captures.spans);
	free(p->thread_queues);
	free(p->absences);
	gt_gpu_waits_release(&p->waits);
	gt_gpu_nodes_release(&p->nodes);
	gt_gpu_bodies_release(&p->bodies);
	free(p->records.items);
	free(p->states.items);
	free(p->works.items);
	free(p->places);
	gt_map_release(&p->by_place);
	free(p);
}

void gt_gpu_close(struct gt_correlator *g)
{
	if (!g)
		return;
	gt_gpu_types_release(&g->types);
	free(g->missing.calls);
	free(g);
}

const struct gt_gpu_totals *gt_gpu_totals(struct gt_correlator *g)
{
	g->totals.pending = g->calls;
	return &g->totals;
}
