/* Dependencies between rows, and the walk back along them.
 *
 * Rows are work of a stream and outermost calls of a thread. Work depends on its launch: on the
 * return of the launching call, or, if the work began before that, on the start of the call. It
 * depends on the work before it on its stream. It also depends on work of another stream if the
 * stream waited for an event in between, or if both belong to one launch of a graph. The trace does
 * not tell which work that was: the last work that ended before is taken, and the dependency is
 * likely, not certain. A call depends on the call before it on its thread; the time between them is
 * outside CUDA. A synchronizing call also depends on work: on the last work that was launched
 * before the call, on a stream for which the call waits, and that ended during the call.
 *
 * A trace of CUDA calls does not show that one thread waits for another. Two threads that alternate
 * (PyTorch runs forward on one thread and backward on another) are recognized by their silence. If
 * a thread was outside CUDA for at least TURN, the last call of another thread ended in that time,
 * and both threads were silent for at least SILENCE times the time between these two calls, then
 * the call likely depends on the other thread's call. A thread that made queries only (as a thread
 * that polls for completion does) is left out. The first call of a thread depends on another
 * thread's last call in the same way.
 *
 * A row is delayed by the dependency that ended last. The walk starts at the work that ended last
 * and follows these dependencies back. It finds one piece for each moment: work while it ran, a
 * call while it lasted (of a synchronizing call: the part after the work ended), and between the
 * dependency and the start of the row the time in a queue (work) or outside CUDA (a call).
 *
 * The lists of threads and streams (critical_input.c) are sorted by start: a dependency is found by
 * bisection, when it is needed. */
#include "analyze/critical/critical_internal.h"

#include <stdlib.h>
#include "formats/base/sorted.h"
#include "formats/cuda/gpu_rows.h"

/* rows searched for one that ended before, at most: few operations of one stream overlap */
#define LOOK 1024u
#define TURN 20000 /* ns */
#define SILENCE 4
/* calls of the other thread that are searched for one that is not a query, at most */
#define TURN_CALLS 64u

/* ---- dependencies of work ---- */

static struct gt_stored_event row_of(struct gt_critical *c, uint32_t line, uint32_t i)
{
	return gt_event_list_get(&c->store, &c->lines[line].rows, i);
}

static bool has_launch(const struct gt_stored_event *work)
{
	return (work->by & BY_NONE) != BY_NONE;
}

static bool has_same_launch(const struct gt_stored_event *a, const struct gt_stored_event *b)
{
	return has_launch(a) && (a->by & BY_NONE) == (b->by & BY_NONE) && a->launch == b->launch;
}

/* The outermost call that launched the work. */
static struct gt_dependency launch_of(
	struct gt_critical *c, const struct gt_segment *seg, const struct gt_stored_event *work)
{
	struct gt_dependency s = { .at = work->launch, .likely = work->by & BY_ORDER };
	struct gt_stored_event call;
	uint32_t n, slot;

	if (!has_launch(work))
		return s;
	slot = c->slot[work->by & BY_NONE];
	n = slot ? gt_event_list_count_until(&c->store, &c->lines[slot - 1].rows, work->launch) : 0;
	if (n)
		call = row_of(c, slot - 1, n - 1);
	if (!n || call.end < work->launch) {
		s.what = work->launch < gt_range_of(&c->report.opt->filter, seg).from
			? GT_DEPENDS_ON_EARLIER
			: GT_DEPENDS_ON_NOTHING;
		return s;
	}
	s.line = slot - 1;
	s.index = n - 1;
	s.what = call.end <= work->start ? GT_DEPENDS_ON_RETURN : GT_DEPENDS_ON_CALL_START;
	s.at = call.end <= work->start ? call.end : call.start;
	return s;
}

/* The last work before it on its stream that ended before it began. */
static struct gt_dependency before_of(
	struct gt_critical *c, uint32_t line, uint32_t index, int64_t start)
{
	for (uint32_t i = index, looked = 0; i-- && looked < LOOK; looked++) {
		int64_t end = row_of(c, line, i).end;

		if (end <= start)
			return (struct gt_dependency){
				.what = GT_DEPENDS_ON_WORK, .line = line, .index = i, .at = end
			};
	}
	return (struct gt_dependency){ 0 };
}

/* The time of a stream's wait for an event between the launches of the work before and of this
 * work. INT64_MIN: there is none. */
static int64_t event_wait_before(
	struct gt_critical *c, uint32_t line, uint32_t index, const struct gt_stored_event *work)
{
	const struct gt_event_list *waits = &c->lines[line].waits;
	uint32_t n = has_launch(work) && waits->n
		? gt_event_list_count_until(&c->store, waits, work->launch - 1)
		: 0;
	struct gt_stored_event wait, before;

	if (!n)
		return INT64_MIN;
	wait = gt_event_list_get(&c->store, waits, n - 1);
	if (!index)
		return wait.start;
	before = row_of(c, line, index - 1);
	return wait.start > (has_launch(&before) ? before.launch : before.start) ? wait.start
										 : INT64_MIN;
}

/* The last work of another stream on which it may depend: because of the wait for an event, or
 * because both belong to one launch. */
static struct gt_dependency on_stream(struct gt_critical *c, uint32_t line,
	const struct gt_stored_event *work, int64_t event_wait)
{
	const struct gt_critical_line *l = &c->lines[line];
	uint32_t n = gt_event_list_count_until(&c->store, &l->rows, work->start - 1);

	for (uint32_t looked = 0; n-- && looked < LOOK; looked++) {
		struct gt_stored_event one = row_of(c, line, n);

		bool before_it =
			event_wait > INT64_MIN && !(has_launch(&one) && one.launch >= event_wait);

		if (one.end <= work->start && (has_same_launch(&one, work) || before_it))
			return (struct gt_dependency){ GT_DEPENDS_ON_WORK, line, n, one.end, true };
		if (event_wait == INT64_MIN && one.start < work->launch)
			break; /* all work of one launch begins after the launch */
	}
	return (struct gt_dependency){ 0 };
}

static bool later(
	const struct gt_critical *c, const struct gt_dependency *a, const struct gt_dependency *b)
{
	if (!b->what || !a->what)
		return a->what;
	return a->at != b->at ? a->at > b->at : c->lines[a->line].track < c->lines[b->line].track;
}

static struct gt_dependency other_of(
	struct gt_critical *c, uint32_t line, uint32_t index, const struct gt_stored_event *work)
{
	const struct gt_critical_process *p = &c->processes[c->lines[line].place];
	int64_t event_wait = event_wait_before(c, line, index, work);
	bool any = has_launch(work) &&
		(event_wait > INT64_MIN || role(c, p->seg, work->type) & OF_GRAPH);
	struct gt_dependency best = { 0 };

	for (size_t i = 0; any && i < p->nlines; i++) {
		struct gt_dependency s;

		if (p->lines[i] == line || !c->lines[p->lines[i]].stream)
			continue;
		s = on_stream(c, p->lines[i], work, event_wait);
		if (later(c, &s, &best))
			best = s;
	}
	return best;
}

void gt_dependencies_of_work(struct gt_critical *c, uint32_t line, uint32_t index,
	const struct gt_stored_event *work, struct gt_dependencies *s)
{
	s->launch = launch_of(c, c->processes[c->lines[line].place].seg, work);
	s->before = before_of(c, line, index, work->start);
	s->other = other_of(c, line, index, work);
	s->last = s->launch.what && !(s->before.what && s->before.at >= s->launch.at) ? s->launch
										      : s->before;
	if (s->other.what && (!s->last.what || s->other.at > s->last.at))
		s->last = s->other;
}

/* ---- dependencies of calls ---- */

struct gt_critical_wait gt_critical_wait_of(struct gt_critical *c,
	const struct gt_critical_line *thread, const struct gt_stored_event *call)
{
	const struct gt_segment *seg = c->processes[thread->place].seg;
	unsigned is = role(c, seg, call->type);
	struct gt_critical_wait w = { .waits = is & WAITS,
		.own = is & OWN,
		.any_own = !(is & ONLY_PAGEABLE),
		.likely = !(is & (OWN | CERTAIN)),
		.scope = GT_NONE };
	/* a wait at the end of the call belongs to the next call */
	int64_t last = call->end > call->start ? call->end - 1 : call->end;
	uint32_t n =
		w.waits && !w.own ? gt_event_list_count_until(&c->store, &thread->waits, last) : 0;
	struct gt_stored_event wait;

	if (!n)
		return w;
	wait = gt_event_list_get(&c->store, &thread->waits, n - 1);
	if (wait.start < call->start)
		return w;
	w.likely = wait.type != GT_GPU_WAIT_STREAM && wait.type != GT_GPU_WAIT_CONTEXT;
	w.scope = wait.by;
	return w;
}

static bool in_scope(const struct gt_critical *c, const struct gt_segment *seg,
	const struct gt_critical_line *l, uint32_t scope)
{
	uint8_t kind = scope == GT_NONE ? GT_TRACK_PROCESS
					: seg->tracks[scope - c->order.tracks[seg->index]].kind;

	return (kind != GT_TRACK_STREAM && kind != GT_TRACK_DEVICE) || scope == l->track ||
		scope == l->device;
}

static bool waits_for(struct gt_critical *c, const struct gt_segment *seg,
	const struct gt_critical_line *thread, const struct gt_stored_event *call,
	struct gt_critical_wait w, const struct gt_stored_event *work)
{
	if (!w.own)
		return !has_launch(work) || work->launch < call->start;
	return (work->by & BY_NONE) == thread->track && work->launch >= call->start &&
		work->launch <= call->end && (w.any_own || role(c, seg, work->type) & TO_PAGEABLE);
}

struct gt_dependency gt_critical_awaited_work(struct gt_critical *c,
	const struct gt_critical_line *thread, const struct gt_stored_event *call,
	struct gt_critical_wait w, uint32_t stream)
{
	const struct gt_critical_line *l = &c->lines[stream];
	const struct gt_segment *seg = c->processes[l->place].seg;
	uint32_t n = l->stream && in_scope(c, seg, l, w.scope)
		? gt_event_list_count_until(&c->store, &l->rows, call->end - 1)
		: 0;

	while (n--) {
		struct gt_stored_event one = row_of(c, stream, n);

		if (w.own && one.start < call->start)
			break;
		if (one.end > call->end || !waits_for(c, seg, thread, call, w, &one))
			continue;
		if (one.end <= call->start)
			break;
		return (struct gt_dependency){ GT_DEPENDS_ON_WORK, stream, n, one.end, w.likely };
	}
	return (struct gt_dependency){ 0 };
}

/* The last work of all streams for which the call waited. */
static struct gt_dependency awaited(
	struct gt_critical *c, uint32_t line, const struct gt_stored_event *call)
{
	const struct gt_critical_line *thread = &c->lines[line];
	const struct gt_critical_process *p = &c->processes[thread->place];
	struct gt_critical_wait w = gt_critical_wait_of(c, thread, call);
	struct gt_dependency best = { 0 };

	for (size_t i = 0; w.waits && i < p->nlines; i++) {
		struct gt_dependency s = gt_critical_awaited_work(c, thread, call, w, p->lines[i]);

		if (later(c, &s, &best))
			best = s;
	}
	return best;
}

/* Is one of the calls before the n-th, which ended after `since`, not a query? */
static bool has_non_query(struct gt_critical *c, uint32_t line, uint32_t n, int64_t since)
{
	const struct gt_segment *seg = c->processes[c->lines[line].place].seg;

	for (uint32_t looked = 0; n-- && looked < TURN_CALLS; looked++) {
		struct gt_stored_event call = row_of(c, line, n);

		if (call.end <= since)
			return false;
		if (!(role(c, seg, call.type) & IS_QUERY))
			return true;
	}
	return false;
}

/* The last call of a thread that ended before `at`, if the thread was outside CUDA at `at` and made
 * other calls than queries since `since`. *next: the start of its next call. */
static struct gt_dependency last_call(
	struct gt_critical *c, uint32_t line, int64_t since, int64_t at, int64_t *next)
{
	const struct gt_event_list *rows = &c->lines[line].rows;
	uint32_t n = gt_event_list_count_until(&c->store, rows, at - 1);
	int64_t end = n ? row_of(c, line, n - 1).end : INT64_MAX;

	if (end > at || !has_non_query(c, line, n, since))
		return (struct gt_dependency){ 0 };
	*next = n < rows->n ? row_of(c, line, n).start : INT64_MAX;
	return (struct gt_dependency){ GT_DEPENDS_ON_RETURN, line, n - 1, end, true };
}

static bool is_handover(int64_t since, int64_t other_end, int64_t start, int64_t other_next)
{
	int64_t between = start - other_end;

	return start - since >= TURN && (start - since) / SILENCE >= between &&
		other_next > start &&
		(other_next == INT64_MAX || (other_next - other_end) / SILENCE >= between);
}

void gt_dependencies_of_call(struct gt_critical *c, uint32_t line, uint32_t index,
	const struct gt_stored_event *call, struct gt_dependencies *s)
{
	const struct gt_critical_process *p = &c->processes[c->lines[line].place];
	struct gt_dependency best = { 0 };
	int64_t next = 0, best_next = 0;

	*s = (struct gt_dependencies){ 0 };
	if (index)
		s->before = (struct gt_dependency){ GT_DEPENDS_ON_RETURN, line, index - 1,
			row_of(c, line, index - 1).end, false };
	s->last = s->before;
	if (index && call->start - s->before.at < TURN)
		return;
	for (size_t i = 0; i < p->nlines; i++) {
		struct gt_dependency one = { 0 };

		if (p->lines[i] != line && !c->lines[p->lines[i]].stream)
			one = last_call(c, p->lines[i], index ? s->before.at : INT64_MIN,
				call->start, &next);
		if (later(c, &one, &best)) {
			best = one;
			best_next = next;
		}
	}
	if (best.what && (!index || is_handover(s->before.at, best.at, call->start, best_next)))
		s->last = s->other = best;
}

/* ---- the walk ---- */

struct walk {
	struct gt_critical *c;
	const struct gt_critical_process *p;
	gt_critical_fn *fn;
	gt_critical_calls_fn *many;
	void *arg;
	struct gt_err *err;
	int64_t at; /* the path is known from here on */
	int rc;
};

/* by segment and start */
static int by_start(const void *pa, const void *pb)
{
	const struct gt_critical_loss *a = pa, *b = pb;

	return GT_COMPARE(a->segment, b->segment) ?: GT_COMPARE(a->start, b->start);
}

void gt_critical_sort_losses(struct gt_critical *c)
{
	GT_SORT(c->lost, c->nlost, by_start);
	for (size_t i = 0; i < c->nlost; i++) {
		struct gt_critical_loss *l = &c->lost[i];

		l->reach = i && l[-1].segment == l->segment && l[-1].reach > l->end ? l[-1].reach
										    : l->end;
	}
}

/* The number of losses that begin before `at`. */
static size_t losses_before(const struct gt_critical *c, uint32_t segment, int64_t at)
{
	const struct gt_critical_loss key = { .segment = segment, .start = at };

	return GT_LOWER_BOUND(i, 0, c->nlost, by_start(&c->lost[i], &key) < 0);
}

/* Were rows of the track, or of a track that contains it, lost in this time? */
static bool overlaps_loss(const struct gt_critical *c, const struct gt_segment *seg,
	uint32_t number, int64_t start, int64_t end)
{
	for (size_t i = losses_before(c, seg->index, end); i--;) {
		const struct gt_critical_loss *l = &c->lost[i];
		uint32_t track = number - c->order.tracks[seg->index];

		if (l->segment != seg->index || l->reach < start)
			return false;
		while (track != GT_NONE && track != l->track)
			track = seg->tracks[track].parent;
		if (track == l->track && l->end >= start)
			return true;
	}
	return false;
}

/* Hands out the piece from `start` to the known part of the path. */
static void piece(struct walk *w, enum gt_critical_kind kind, uint32_t line, uint32_t type,
	int64_t start, bool likely)
{
	struct gt_critical_piece one = { kind, likely, w->c->lines[line].track, type,
		start < w->p->from ? w->p->from : start, w->at };

	if (one.start >= one.end || w->rc)
		return;
	if (kind >= GT_CRITICAL_QUEUE && w->c->nlost &&
		overlaps_loss(w->c, w->p->seg, one.track, one.start, one.end))
		one.kind = GT_CRITICAL_UNKNOWN;
	w->at = one.start;
	w->rc = w->fn(w->arg, &one, w->err);
}

/* Goes from work to its last dependency. */
static struct gt_dependency step_work(struct walk *w, const struct gt_dependency *from)
{
	struct gt_stored_event work = row_of(w->c, from->line, from->index);
	struct gt_dependencies s;
	enum gt_critical_kind gap = GT_CRITICAL_QUEUE;

	piece(w, (enum gt_critical_kind)(role(w->c, w->p->seg, work.type) >> KIND_SHIFT),
		from->line, work.type, work.start, from->likely);
	if (w->at <= w->p->from)
		return (struct gt_dependency){ 0 };
	gt_dependencies_of_work(w->c, from->line, from->index, &work, &s);
	if (!s.launch.what)
		gap = GT_CRITICAL_UNKNOWN;
	if (s.last.what == GT_DEPENDS_ON_NOTHING || s.last.what == GT_DEPENDS_ON_EARLIER)
		piece(w, gap, from->line, work.type, INT64_MIN, s.last.likely);
	else if (s.last.what != GT_DEPENDS_ON_CALL_START)
		piece(w, gap, from->line, work.type, s.last.at, s.last.likely);
	return s.last;
}

static struct gt_dependency step_call(struct walk *w, const struct gt_dependency *from)
{
	struct gt_stored_event call = row_of(w->c, from->line, from->index);
	struct gt_dependency work = { 0 };
	struct gt_dependencies s;

	call.end = call.end > w->p->to ? w->p->to : call.end;
	if (from->what == GT_DEPENDS_ON_RETURN)
		work = awaited(w->c, from->line, &call);
	piece(w, GT_CRITICAL_CALL, from->line, call.type, work.what ? work.at : call.start,
		from->likely || work.likely);
	if (work.what || w->at <= w->p->from)
		return work;
	gt_dependencies_of_call(w->c, from->line, from->index, &call, &s);
	piece(w, GT_CRITICAL_OUTSIDE, from->line, call.type, s.last.what ? s.last.at : INT64_MIN,
		s.last.likely);
	return s.last;
}

/* Most calls depend on the call before them only. Walks over these within a chunk in memory. *at
 * becomes the first call that may have another dependency. */
static void plain_calls(struct walk *w, struct gt_dependency *at)
{
	const struct gt_critical_process *p = w->p;
	struct gt_event_span near =
		gt_event_list_span(&w->c->store, &w->c->lines[at->line].rows, at->index);
	struct gt_stored_event call, before;

	if (!near.cols.start)
		return;
	for (call = gt_event_span_get(&near, at->index); !w->rc && at->index > near.first;
		call = before) {
		before = gt_event_span_get(&near, at->index - 1);
		if (call.end > p->to || call.start <= p->from || call.start - before.end >= TURN ||
			role(w->c, p->seg, call.type) & WAITS)
			return;
		piece(w, GT_CRITICAL_CALL, at->line, call.type, call.start, at->likely);
		piece(w, GT_CRITICAL_OUTSIDE, at->line, call.type, before.end, false);
		*at = (struct gt_dependency){ GT_DEPENDS_ON_RETURN, at->line, at->index - 1,
			before.end, false };
	}
}

/* Walks over a whole chunk by its digest, if all its calls depend on the call before them only.
 * *at becomes the call before the chunk. */
static bool plain_chunk(struct walk *w, struct gt_dependency *at)
{
	const struct gt_critical_process *p = w->p;
	struct gt_critical_line *l = &w->c->lines[at->line];
	uint32_t first = gt_event_store_chunk_start(&w->c->store, at->index);
	struct gt_event_digest g;

	if (at->likely || gt_event_store_chunk_start(&w->c->store, at->index + 1) == first ||
		!gt_event_list_digest(&w->c->store, &l->rows, first, &g))
		return false;
	if (!g.in_turn || g.end != w->at || g.before < p->from || g.longest_gap >= TURN)
		return false;
	for (uint32_t i = 0; i < g.ntypes; i++)
		if (role(w->c, p->seg, g.types[i].type) & WAITS)
			return false;
	if ((w->c->nlost && overlaps_loss(w->c, p->seg, l->track, g.before, g.end)) ||
		!w->many(w->arg, l->track, &g))
		return false;
	w->at = g.before;
	*at = (struct gt_dependency){ GT_DEPENDS_ON_RETURN, at->line, first - 1, g.before, false };
	return true;
}

/* The row of a line that ended last; rows that end after the window count as ending with it. */
static struct gt_dependency last_of_line(
	struct gt_critical *c, const struct gt_critical_process *p, uint32_t line)
{
	struct gt_critical_line *l = &c->lines[line];
	struct gt_dependency best = { 0 };

	for (uint32_t n = gt_event_list_count_until(&c->store, &l->rows, p->to);
		n-- && (!best.what || best.at < p->to);) {
		struct gt_dependency one = { .what = l->stream ? GT_DEPENDS_ON_WORK
							       : GT_DEPENDS_ON_RETURN,
			.line = line,
			.index = n };

		one.at = row_of(c, line, n).end;
		one.at = one.at > p->to ? p->to : one.at;
		if (!best.what || one.at > best.at)
			best = one;
		if (!l->stream)
			break;
	}
	return best;
}

/* The row that ends the window: work, or with --whole a call if no work ends as late. */
static struct gt_dependency last_row(struct gt_critical *c, const struct gt_critical_process *p)
{
	struct gt_dependency best = { 0 };

	for (int calls = 0; calls < (c->report.opt->whole ? 2 : 1); calls++)
		for (size_t i = 0; i < p->nlines; i++) {
			struct gt_dependency one = { 0 };

			if (c->lines[p->lines[i]].stream == !calls)
				one = last_of_line(c, p, p->lines[i]);
			if (calls && best.what == GT_DEPENDS_ON_WORK ? one.what && one.at > best.at
								     : later(c, &one, &best))
				best = one;
		}
	return best;
}

int gt_critical_walk(struct gt_critical *c, const struct gt_critical_process *p, gt_critical_fn *fn,
	gt_critical_calls_fn *many, void *arg, struct gt_err *err)
{
	struct walk w = {
		.c = c, .p = p, .fn = fn, .many = many, .arg = arg, .err = err, .at = p->to
	};
	struct gt_dependency at = last_row(c, p);

	while (!w.rc && w.at > p->from && at.what && at.what != GT_DEPENDS_ON_EARLIER &&
		!gt_event_store_failed(&c->store)) {
		if (at.what == GT_DEPENDS_ON_RETURN && plain_chunk(&w, &at))
			continue;
		if (at.what == GT_DEPENDS_ON_RETURN)
			plain_calls(&w, &at);
		if (w.at > p->from)
			at = at.what == GT_DEPENDS_ON_WORK ? step_work(&w, &at)
							   : step_call(&w, &at);
	}
	if (gt_event_store_failed(&c->store))
		return gt_err_set(err, c->store.err.code, "%s", c->store.err.text);
	return w.rc;
}

static uint64_t within(const struct gt_critical_process *p, const struct gt_stored_event *one)
{
	int64_t start = one->start < p->from ? p->from : one->start,
		end = one->end > p->to ? p->to : one->end;

	return end > start ? (uint64_t)end - (uint64_t)start : 0;
}

/* Adds a whole chunk from its digest if it is within the window. The number of its rows, or 0. */
static uint32_t sum_chunk(struct gt_critical *c, const struct gt_critical_process *p,
	const struct gt_event_list *rows, uint32_t i, uint64_t *ns)
{
	struct gt_event_digest g;

	if (i != gt_event_store_chunk_start(&c->store, i) ||
		!gt_event_list_digest(&c->store, rows, i, &g) || g.start < p->from ||
		g.cover > p->to)
		return 0;
	for (uint32_t t = 0; t < g.ntypes; t++)
		if (g.types[t].type != GT_NONE)
			ns[g.types[t].type] = gt_sat_add(ns[g.types[t].type], g.types[t].ns);
	return gt_event_store_chunk(&c->store);
}

int gt_critical_sum_types(struct gt_critical *c, const struct gt_critical_process *p, uint64_t *ns,
	struct gt_err *err)
{
	for (size_t i = 0; i < p->nlines; i++) {
		const struct gt_event_list *rows = &c->lines[p->lines[i]].rows;

		for (uint32_t k = 0, n; k < rows->n && !gt_event_store_failed(&c->store); k += n) {
			struct gt_stored_event one;

			n = sum_chunk(c, p, rows, k, ns);
			if (n)
				continue;
			n = 1;
			one = gt_event_list_get(&c->store, rows, k);
			if (one.type != GT_NONE)
				ns[one.type] = gt_sat_add(ns[one.type], within(p, &one));
		}
	}
	return gt_event_store_failed(&c->store)
		? gt_err_set(err, c->store.err.code, "%s", c->store.err.text)
		: 0;
}
