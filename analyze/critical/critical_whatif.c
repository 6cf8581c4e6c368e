/* How long a run would be without something.
 *
 * Everything begins as soon as all that it waits for is over, and takes as long as it took; what is
 * done without takes no time. So rows are gone through once more in order of their start, and each
 * gets new times from those of what it waits for (chain.c). Between the release by what let go last
 * and the start lies time in a queue, or of the program outside CUDA: that stays as long as it was.
 * What let go earlier only must be over: how soon after it things could have begun nobody knows, so
 * it is taken to be at once. A call that waits for work ends as long after the last of it as it
 * did; if there is no such work any more, that much after it began. A call that is done without
 * does not wait, either.
 *
 * All these guesses are on the side of a shorter run, and the GPU is taken to run any work at once
 * and as fast as before; that is why the difference is the most that could be won, and no promise.
 * Without anything to do without, all times are as they were.
 * */
#include "analyze/critical/critical_graph.h"

#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/base/heap.h"

/* of a line: the row to come */
struct next {
	int64_t start;
	uint32_t line, track;
	bool stream;
};
struct ahead {
	struct gt_chain *c;
	const struct gt_chain_process *p;
	const bool *types;
	struct next *heap;
	size_t n;
	int64_t end; /* of the last work, or of all */
};

static int64_t cut(const struct ahead *a, int64_t at)
{
	return at < a->p->from ? a->p->from : at > a->p->to ? a->p->to : at;
}
static int64_t between(const struct ahead *a, int64_t from, int64_t to)
{
	return cut(a, to) - cut(a, from);
}
static bool gone(const struct ahead *a, const struct gt_link *one)
{
	return one->type != GT_NONE && a->types[one->type];
}

static struct gt_link row_of(const struct ahead *a, const struct gt_chain_source *s)
{
	return gt_links_get(&a->c->store, &a->c->lines[s->line].rows, s->index);
}

/* ---- when things end ---- */

/* Of a call that began at `begun` in the new time. */
static int64_t end_of_waiting(const struct ahead *a, const struct gt_chain_line *thread,
	const struct gt_link *call, int64_t begun, struct gt_chain_waiting w)
{
	struct gt_chain_source last = { 0 };
	int64_t latest = INT64_MIN, of_last = 0, rest;

	for (size_t i = 0; i < a->p->nlines; i++) {
		struct gt_chain_source s = gt_chain_awaited(a->c, thread, call, w, a->p->lines[i]);
		int64_t end = s.what ? row_of(a, &s).new_end : INT64_MIN;

		latest = end > latest ? end : latest;
		if (s.what &&
			(!last.what || s.at > last.at || (s.at == last.at && end > of_last))) {
			last = s;
			of_last = end;
		}
	}
	if (!last.what)
		return begun + between(a, call->start, call->end);
	rest = between(a, last.at, call->end);
	of_last = (of_last > begun ? of_last : begun) + rest;
	return of_last > latest ? of_last : latest;
}

/* The last call of a thread so far is over: what it waited for has its new times by now. */
static void settle(const struct ahead *a, struct gt_chain_line *l)
{
	struct gt_chain_waiting w;
	struct gt_link call, seen;

	if (!l->done || l->settled)
		return;
	l->settled = true;
	call = seen = gt_links_get(&a->c->store, &l->rows, l->done - 1);
	seen.end = cut(a, seen.end);
	w = gt_chain_waiting(a->c, l, &call);
	if (gone(a, &call))
		call.new_end = call.launch;
	else if (w.waits)
		call.new_end = end_of_waiting(a, l, &seen, call.launch, w);
	else
		call.new_end = call.launch + between(a, call.start, call.end);
	gt_links_set(&a->c->store, &l->rows, l->done - 1, &call);
}

/* ---- when things begin ---- */

static bool same(const struct gt_chain_source *a, const struct gt_chain_source *b)
{
	return a->what == b->what && a->line == b->line && a->index == b->index;
}

/* When this lets go of something that began at `start`; what was the last to let go does so as long
 * before it as it did. */
static int64_t let_go(const struct ahead *a, const struct gt_chain_source *s,
	const struct gt_chain_source *last, int64_t start)
{
	int64_t after = same(s, last) ? between(a, s->at, start) : 0;
	struct gt_chain_line *l = &a->c->lines[s->line];
	struct gt_link one;

	if (s->what == GT_CHAIN_NOTHING)
		return INT64_MIN;
	if (s->what == GT_CHAIN_BEFORE)
		return a->p->from + after;
	if (s->what == GT_CHAIN_RETURN && s->index + 1 == l->done)
		settle(a, l);
	one = row_of(a, s);
	/* the call's new start stands in `launch`, which calls have no use for */
	if (s->what == GT_CHAIN_WITHIN)
		return one.launch + (gone(a, &one) ? 0 : after);
	return one.new_end + after;
}

static int64_t latest_of(const struct ahead *a, const struct gt_chain_sources *s, int64_t start)
{
	const struct gt_chain_source *const each[] = { &s->launch, &s->before, &s->other };
	int64_t latest = INT64_MIN;

	for (unsigned i = 0; i < 3; i++) {
		int64_t at = let_go(a, each[i], &s->last, start);

		latest = at > latest ? at : latest;
	}
	return latest > INT64_MIN ? latest : cut(a, start);
}

static void begin_call(struct ahead *a, uint32_t line, uint32_t index, struct gt_link *call)
{
	struct gt_chain_line *l = &a->c->lines[line];
	struct gt_chain_sources s;

	gt_chain_of_call(a->c, line, index, call, &s);
	call->launch = latest_of(a, &s, call->start);
	gt_links_set(&a->c->store, &l->rows, index, call);
	l->done = index + 1;
	l->settled = false;
}

static void begin_work(struct ahead *a, uint32_t line, uint32_t index, struct gt_link *work)
{
	struct gt_chain_sources s;

	gt_chain_of_work(a->c, line, index, work, &s);
	work->new_end = latest_of(a, &s, work->start) +
		(gone(a, work) ? 0 : between(a, work->start, work->end));
	gt_links_set(&a->c->store, &a->c->lines[line].rows, index, work);
	a->c->lines[line].done = index + 1;
	a->end = work->new_end > a->end ? work->new_end : a->end;
}

/* ---- in order of time ---- */

/* A call stands before the work that began with it. */
static bool is_earlier(const void *arg, const struct next *a, const struct next *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	return a->stream != b->stream ? b->stream : a->track < b->track;
}

GT_HEAP(ahead, struct next, is_earlier)

static void start_lines(struct ahead *a)
{
	for (size_t i = 0; i < a->p->nlines; i++) {
		struct gt_chain_line *l = &a->c->lines[a->p->lines[i]];

		l->done = 0;
		l->settled = false;
		if (l->rows.n)
			a->heap[a->n++] = (struct next){ l->rows.firsts[0], a->p->lines[i],
				l->track, l->stream };
	}
	for (size_t i = a->n; i--;)
		ahead_down(NULL, a->heap, a->n, i, a->heap[i]);
}

static void step(struct ahead *a)
{
	struct next *first = a->heap;
	const struct gt_links *rows = &a->c->lines[first->line].rows;
	uint32_t index = a->c->lines[first->line].done;
	struct gt_link one = gt_links_get(&a->c->store, rows, index);

	if (first->stream)
		begin_work(a, first->line, index, &one);
	else
		begin_call(a, first->line, index, &one);
	if (index + 1 < rows->n)
		first->start = gt_links_get(&a->c->store, rows, index + 1).start;
	else
		*first = a->heap[--a->n];
	ahead_down(NULL, a->heap, a->n, 0, *first);
}

/* Where all of a process is looked at, calls end it, too. */
static void settle_all(struct ahead *a)
{
	for (size_t i = 0; i < a->p->nlines; i++) {
		struct gt_chain_line *l = &a->c->lines[a->p->lines[i]];
		int64_t end;

		if (l->stream || !l->done)
			continue;
		settle(a, l);
		end = gt_links_get(&a->c->store, &l->rows, l->done - 1).new_end;
		a->end = end > a->end ? end : a->end;
	}
}

int gt_chain_without(struct gt_chain *c, const struct gt_chain_process *p, const bool *types,
	uint64_t *ns, struct gt_err *err)
{
	struct ahead a = { .c = c, .p = p, .types = types, .end = p->from };

	a.heap = calloc(p->nlines + 1, sizeof(*a.heap));
	if (!a.heap)
		return gt_err_set(err, -ENOMEM, "no memory for threads and streams");
	start_lines(&a);
	while (a.n && a.heap[0].start <= p->to && !gt_link_store_failed(&c->store))
		step(&a);
	if (c->asked.opt->whole)
		settle_all(&a);
	free(a.heap);
	*ns = (uint64_t)a.end - (uint64_t)p->from;
	return gt_link_store_failed(&c->store)
		? gt_err_set(err, c->store.err.code, "%s", c->store.err.text)
		: 0;
}
