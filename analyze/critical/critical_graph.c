/* What waited for what, and the walk back along it.
 *
 * Three kinds of things happen: work of a stream, outermost calls of a thread, and nothing. Work
 * waits for its launch (until the call returned, or, if it began before that, until the call was
 * made) and for the work before it on its stream. It also waits for work of another stream where
 * the stream was told to wait for an event in between, or where both are of one launch of a graph:
 * the trace does not tell which work that was, so it is the last that ended before, and only
 * likely. A call waits for the call before it on its thread; what lies between is the program's own
 * time. A call that synchronises waits for work, too, which is told by what ended while the call
 * lasted: the last work, of the streams the call waits for, that was launched before it.
 *
 * Threads wait for one another, and no trace of calls tells of it. Two that take turns (PyTorch
 * runs forward on one thread and backward on another) show it by their silence: where a thread was
 * outside CUDA for TURN or longer, another one's last call ended in that time, and both were silent
 * for at least SILENCE times as long as it took from that call to this one, that other call is
 * likely what this one waited for, unless that thread did nothing but ask, as those that look
 * whether work is over do now and then. So is the last call before a thread's first.
 *
 * Of all that something waited for, what let go last is what it was held up by. Starting with the
 * work that ended last and following that back gives one thing for every moment: work while it ran,
 * a call while it lasted (of one that synchronised: what is left after the work ended), and between
 * the release and the start the time in a queue (work) or outside CUDA (a call).
 *
 * What a row waited for is found by bisection in the lines of threads and streams (chain_rows.c)
 * when somebody asks. */
#include "analyze/critical/critical_internal.h"

#include <stdlib.h>
#include "formats/cuda/gpu_rows.h"

/* rows looked at, at most, for one that ended before: streams overlap themselves by a few */
#define LOOK 1024u
#define TURN 20000 /* ns */
#define SILENCE 4
/* of a turn, the last ones, are looked at for one that did not just ask */
#define TURN_CALLS 64u

/* ---- what work waits for ---- */

static struct gt_link row_of(struct gt_chain *c, uint32_t line, uint32_t i)
{
	return gt_links_get(&c->store, &c->lines[line].rows, i);
}

static bool launch_known(const struct gt_link *work) { return (work->by & BY_NONE) != BY_NONE; }

static bool of_one_launch(const struct gt_link *a, const struct gt_link *b)
{
	return launch_known(a) && (a->by & BY_NONE) == (b->by & BY_NONE) && a->launch == b->launch;
}

/* The outermost call in which it was launched. */
static struct gt_chain_source launch_of(
	struct gt_chain *c, const struct gt_segment *seg, const struct gt_link *work)
{
	struct gt_chain_source s = { .at = work->launch, .likely = work->by & BY_ORDER };
	struct gt_link call;
	uint32_t n, slot;

	if (!launch_known(work))
		return s;
	slot = c->slot[work->by & BY_NONE];
	n = slot ? gt_links_until(&c->store, &c->lines[slot - 1].rows, work->launch) : 0;
	if (n)
		call = row_of(c, slot - 1, n - 1);
	if (!n || call.end < work->launch) {
		s.what = work->launch < gt_range_of(&c->asked.opt->filter, seg).from
			? GT_CHAIN_BEFORE
			: GT_CHAIN_NOTHING;
		return s;
	}
	s.line = slot - 1;
	s.index = n - 1;
	s.what = call.end <= work->start ? GT_CHAIN_RETURN : GT_CHAIN_WITHIN;
	s.at = call.end <= work->start ? call.end : call.start;
	return s;
}

/* The last work of the stream before it that had ended when it began. */
static struct gt_chain_source before_of(
	struct gt_chain *c, uint32_t line, uint32_t index, int64_t start)
{
	for (uint32_t i = index, looked = 0; i-- && looked < LOOK; looked++) {
		int64_t end = row_of(c, line, i).end;

		if (end <= start)
			return (struct gt_chain_source){
				.what = GT_CHAIN_WORK, .line = line, .index = i, .at = end
			};
	}
	return (struct gt_chain_source){ 0 };
}

/* Was the stream told to wait for an event between the launch of the work before and this one's?
 * INT64_MIN: no. */
static int64_t told_to_wait(
	struct gt_chain *c, uint32_t line, uint32_t index, const struct gt_link *work)
{
	const struct gt_links *waits = &c->lines[line].waits;
	uint32_t n = launch_known(work) && waits->n
		? gt_links_until(&c->store, waits, work->launch - 1)
		: 0;
	struct gt_link wait, before;

	if (!n)
		return INT64_MIN;
	wait = gt_links_get(&c->store, waits, n - 1);
	if (!index)
		return wait.start;
	before = row_of(c, line, index - 1);
	return wait.start > (launch_known(&before) ? before.launch : before.start) ? wait.start
										   : INT64_MIN;
}

/* The last work of another stream that may be what the wait was for, or that one launch had it wait
 * for. */
static struct gt_chain_source on_stream(
	struct gt_chain *c, uint32_t line, const struct gt_link *work, int64_t told)
{
	const struct gt_chain_line *l = &c->lines[line];
	uint32_t n = gt_links_until(&c->store, &l->rows, work->start - 1);

	for (uint32_t looked = 0; n-- && looked < LOOK; looked++) {
		struct gt_link one = row_of(c, line, n);

		bool before_it = told > INT64_MIN && !(launch_known(&one) && one.launch >= told);

		if (one.end <= work->start && (of_one_launch(&one, work) || before_it))
			return (struct gt_chain_source){ GT_CHAIN_WORK, line, n, one.end, true };
		if (told == INT64_MIN && one.start < work->launch)
			break; /* none of its launch began so early */
	}
	return (struct gt_chain_source){ 0 };
}

static bool later(
	const struct gt_chain *c, const struct gt_chain_source *a, const struct gt_chain_source *b)
{
	if (!b->what || !a->what)
		return a->what;
	return a->at != b->at ? a->at > b->at : c->lines[a->line].track < c->lines[b->line].track;
}

static struct gt_chain_source other_of(
	struct gt_chain *c, uint32_t line, uint32_t index, const struct gt_link *work)
{
	const struct gt_chain_process *p = &c->processes[c->lines[line].place];
	int64_t told = told_to_wait(c, line, index, work);
	bool any =
		launch_known(work) && (told > INT64_MIN || role(c, p->seg, work->type) & OF_GRAPH);
	struct gt_chain_source best = { 0 };

	for (size_t i = 0; any && i < p->nlines; i++) {
		struct gt_chain_source s;

		if (p->lines[i] == line || !c->lines[p->lines[i]].stream)
			continue;
		s = on_stream(c, p->lines[i], work, told);
		if (later(c, &s, &best))
			best = s;
	}
	return best;
}

void gt_chain_of_work(struct gt_chain *c, uint32_t line, uint32_t index, const struct gt_link *work,
	struct gt_chain_sources *s)
{
	s->launch = launch_of(c, c->processes[c->lines[line].place].seg, work);
	s->before = before_of(c, line, index, work->start);
	s->other = other_of(c, line, index, work);
	s->last = s->launch.what && !(s->before.what && s->before.at >= s->launch.at) ? s->launch
										      : s->before;
	if (s->other.what && (!s->last.what || s->other.at > s->last.at))
		s->last = s->other;
}

/* ---- what calls wait for ---- */

struct gt_chain_waiting gt_chain_waiting(
	struct gt_chain *c, const struct gt_chain_line *thread, const struct gt_link *call)
{
	const struct gt_segment *seg = c->processes[thread->place].seg;
	unsigned is = role(c, seg, call->type);
	struct gt_chain_waiting w = { .waits = is & WAITS,
		.own = is & OWN,
		.any_own = !(is & ONLY_PAGEABLE),
		.likely = !(is & (OWN | CERTAIN)),
		.scope = GT_NONE };
	/* at its end the next call may begin, and wait */
	int64_t last = call->end > call->start ? call->end - 1 : call->end;
	uint32_t n = w.waits && !w.own ? gt_links_until(&c->store, &thread->waits, last) : 0;
	struct gt_link wait;

	if (!n)
		return w;
	wait = gt_links_get(&c->store, &thread->waits, n - 1);
	if (wait.start < call->start)
		return w;
	w.likely = wait.type != GT_GPU_WAIT_STREAM && wait.type != GT_GPU_WAIT_CONTEXT;
	w.scope = wait.by;
	return w;
}

static bool in_scope(const struct gt_chain *c, const struct gt_segment *seg,
	const struct gt_chain_line *l, uint32_t scope)
{
	uint8_t kind = scope == GT_NONE ? GT_TRACK_PROCESS
					: seg->tracks[scope - c->order.tracks[seg->index]].kind;

	return (kind != GT_TRACK_STREAM && kind != GT_TRACK_DEVICE) || scope == l->track ||
		scope == l->device;
}

static bool waits_for(struct gt_chain *c, const struct gt_segment *seg,
	const struct gt_chain_line *thread, const struct gt_link *call, struct gt_chain_waiting w,
	const struct gt_link *work)
{
	if (!w.own)
		return !launch_known(work) || work->launch < call->start;
	return (work->by & BY_NONE) == thread->track && work->launch >= call->start &&
		work->launch <= call->end && (w.any_own || role(c, seg, work->type) & TO_PAGEABLE);
}

struct gt_chain_source gt_chain_awaited(struct gt_chain *c, const struct gt_chain_line *thread,
	const struct gt_link *call, struct gt_chain_waiting w, uint32_t stream)
{
	const struct gt_chain_line *l = &c->lines[stream];
	const struct gt_segment *seg = c->processes[l->place].seg;
	uint32_t n = l->stream && in_scope(c, seg, l, w.scope)
		? gt_links_until(&c->store, &l->rows, call->end - 1)
		: 0;

	while (n--) {
		struct gt_link one = row_of(c, stream, n);

		if (w.own && one.start < call->start)
			break;
		if (one.end > call->end || !waits_for(c, seg, thread, call, w, &one))
			continue;
		if (one.end <= call->start)
			break;
		return (struct gt_chain_source){ GT_CHAIN_WORK, stream, n, one.end, w.likely };
	}
	return (struct gt_chain_source){ 0 };
}

/* The last work that the call waited for. */
static struct gt_chain_source awaited(struct gt_chain *c, uint32_t line, const struct gt_link *call)
{
	const struct gt_chain_line *thread = &c->lines[line];
	const struct gt_chain_process *p = &c->processes[thread->place];
	struct gt_chain_waiting w = gt_chain_waiting(c, thread, call);
	struct gt_chain_source best = { 0 };

	for (size_t i = 0; w.waits && i < p->nlines; i++) {
		struct gt_chain_source s = gt_chain_awaited(c, thread, call, w, p->lines[i]);

		if (later(c, &s, &best))
			best = s;
	}
	return best;
}

/* Was any of the calls since then, of the last ones before the n-th, more than a question? */
static bool did_something(struct gt_chain *c, uint32_t line, uint32_t n, int64_t since)
{
	const struct gt_segment *seg = c->processes[c->lines[line].place].seg;

	for (uint32_t looked = 0; n-- && looked < TURN_CALLS; looked++) {
		struct gt_link call = row_of(c, line, n);

		if (call.end <= since)
			return false;
		if (!(role(c, seg, call.type) & ASKS))
			return true;
	}
	return false;
}

/* The last call of a thread that had ended by then, if the thread was not in a call by then, and
 * not only asked since. */
static struct gt_chain_source last_call(
	struct gt_chain *c, uint32_t line, int64_t since, int64_t at, int64_t *next)
{
	const struct gt_links *rows = &c->lines[line].rows;
	uint32_t n = gt_links_until(&c->store, rows, at - 1);
	int64_t end = n ? row_of(c, line, n - 1).end : INT64_MAX;

	if (end > at || !did_something(c, line, n, since))
		return (struct gt_chain_source){ 0 };
	*next = n < rows->n ? row_of(c, line, n).start : INT64_MAX;
	return (struct gt_chain_source){ GT_CHAIN_RETURN, line, n - 1, end, true };
}

static bool takes_turns(int64_t since, int64_t other_end, int64_t start, int64_t other_next)
{
	int64_t between = start - other_end;

	return start - since >= TURN && (start - since) / SILENCE >= between &&
		other_next > start &&
		(other_next == INT64_MAX || (other_next - other_end) / SILENCE >= between);
}

void gt_chain_of_call(struct gt_chain *c, uint32_t line, uint32_t index, const struct gt_link *call,
	struct gt_chain_sources *s)
{
	const struct gt_chain_process *p = &c->processes[c->lines[line].place];
	struct gt_chain_source best = { 0 };
	int64_t next = 0, best_next = 0;

	*s = (struct gt_chain_sources){ 0 };
	if (index)
		s->before = (struct gt_chain_source){ GT_CHAIN_RETURN, line, index - 1,
			row_of(c, line, index - 1).end, false };
	s->last = s->before;
	if (index && call->start - s->before.at < TURN)
		return;
	for (size_t i = 0; i < p->nlines; i++) {
		struct gt_chain_source one = { 0 };

		if (p->lines[i] != line && !c->lines[p->lines[i]].stream)
			one = last_call(c, p->lines[i], index ? s->before.at : INT64_MIN,
				call->start, &next);
		if (later(c, &one, &best)) {
			best = one;
			best_next = next;
		}
	}
	if (best.what && (!index || takes_turns(s->before.at, best.at, call->start, best_next)))
		s->last = s->other = best;
}

/* ---- the walk ---- */

struct walk {
	struct gt_chain *c;
	const struct gt_chain_process *p;
	gt_chain_fn *fn;
	gt_chain_many_fn *many;
	void *arg;
	struct gt_err *err;
	int64_t at; /* the chain is known from here on */
	int rc;
};

/* Losses in order of segment and start. */
static int by_start(const void *pa, const void *pb)
{
	const struct gt_chain_lost *a = pa, *b = pb;

	if (a->segment != b->segment)
		return a->segment < b->segment ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

void gt_chain_sort_lost(struct gt_chain *c)
{
	if (c->nlost)
		qsort(c->lost, c->nlost, sizeof(*c->lost), by_start);
	for (size_t i = 0; i < c->nlost; i++) {
		struct gt_chain_lost *l = &c->lost[i];

		l->reach = i && l[-1].segment == l->segment && l[-1].reach > l->end ? l[-1].reach
										    : l->end;
	}
}

/* How many losses stand before one that begins at this time. */
static size_t lost_until(const struct gt_chain *c, uint32_t segment, int64_t at)
{
	const struct gt_chain_lost key = { .segment = segment, .start = at };
	size_t low = 0, high = c->nlost;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_start(&c->lost[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Of the track, or of what it is part of. */
static bool was_lost(const struct gt_chain *c, const struct gt_segment *seg, uint32_t number,
	int64_t start, int64_t end)
{
	for (size_t i = lost_until(c, seg->index, end); i--;) {
		const struct gt_chain_lost *l = &c->lost[i];
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

/* The chain goes on before `start`. */
static void piece(struct walk *w, enum gt_chain_kind kind, uint32_t line, uint32_t type,
	int64_t start, bool likely)
{
	struct gt_chain_piece one = { kind, likely, w->c->lines[line].track, type,
		start < w->p->from ? w->p->from : start, w->at };

	if (one.start >= one.end || w->rc)
		return;
	if (kind >= GT_CHAIN_QUEUE && w->c->nlost &&
		was_lost(w->c, w->p->seg, one.track, one.start, one.end))
		one.kind = GT_CHAIN_UNKNOWN;
	w->at = one.start;
	w->rc = w->fn(w->arg, &one, w->err);
}

/* Steps from work to what it waited for. */
static struct gt_chain_source step_work(struct walk *w, const struct gt_chain_source *from)
{
	struct gt_link work = row_of(w->c, from->line, from->index);
	struct gt_chain_sources s;
	enum gt_chain_kind gap = GT_CHAIN_QUEUE;

	piece(w, (enum gt_chain_kind)(role(w->c, w->p->seg, work.type) >> KIND_SHIFT), from->line,
		work.type, work.start, from->likely);
	if (w->at <= w->p->from)
		return (struct gt_chain_source){ 0 };
	gt_chain_of_work(w->c, from->line, from->index, &work, &s);
	if (!s.launch.what)
		gap = GT_CHAIN_UNKNOWN;
	if (s.last.what == GT_CHAIN_NOTHING || s.last.what == GT_CHAIN_BEFORE)
		piece(w, gap, from->line, work.type, INT64_MIN, s.last.likely);
	else if (s.last.what != GT_CHAIN_WITHIN)
		piece(w, gap, from->line, work.type, s.last.at, s.last.likely);
	return s.last;
}

static struct gt_chain_source step_call(struct walk *w, const struct gt_chain_source *from)
{
	struct gt_link call = row_of(w->c, from->line, from->index);
	struct gt_chain_source work = { 0 };
	struct gt_chain_sources s;

	call.end = call.end > w->p->to ? w->p->to : call.end;
	if (from->what == GT_CHAIN_RETURN)
		work = awaited(w->c, from->line, &call);
	piece(w, GT_CHAIN_CALL, from->line, call.type, work.what ? work.at : call.start,
		from->likely || work.likely);
	if (work.what || w->at <= w->p->from)
		return work;
	gt_chain_of_call(w->c, from->line, from->index, &call, &s);
	piece(w, GT_CHAIN_OUTSIDE, from->line, call.type, s.last.what ? s.last.at : INT64_MIN,
		s.last.likely);
	return s.last;
}

/* Most calls wait for nothing but the one before, on the processor: those are gone through where
 * they stand. *at goes to the first one that may be another. */
static void plain_calls(struct walk *w, struct gt_chain_source *at)
{
	const struct gt_chain_process *p = w->p;
	struct gt_links_near near =
		gt_links_around(&w->c->store, &w->c->lines[at->line].rows, at->index);
	struct gt_link call, before;

	if (!near.cols.start)
		return;
	for (call = gt_links_near(&near, at->index); !w->rc && at->index > near.first;
		call = before) {
		before = gt_links_near(&near, at->index - 1);
		if (call.end > p->to || call.start <= p->from || call.start - before.end >= TURN ||
			role(w->c, p->seg, call.type) & WAITS)
			return;
		piece(w, GT_CHAIN_CALL, at->line, call.type, call.start, at->likely);
		piece(w, GT_CHAIN_OUTSIDE, at->line, call.type, before.end, false);
		*at = (struct gt_chain_source){ GT_CHAIN_RETURN, at->line, at->index - 1,
			before.end, false };
	}
}

/* So are they by the chunk, which says how much time it has of each type (link_gist.h), if it holds
 * none but such calls. *at goes to the call before them. */
static bool plain_chunk(struct walk *w, struct gt_chain_source *at)
{
	const struct gt_chain_process *p = w->p;
	struct gt_chain_line *l = &w->c->lines[at->line];
	uint32_t first = gt_links_first(&w->c->store, at->index);
	struct gt_link_gist g;

	if (at->likely || gt_links_first(&w->c->store, at->index + 1) == first ||
		!gt_links_gist(&w->c->store, &l->rows, first, &g))
		return false;
	if (!g.in_turn || g.end != w->at || g.before < p->from || g.longest_gap >= TURN)
		return false;
	for (uint32_t i = 0; i < g.ntypes; i++)
		if (role(w->c, p->seg, g.types[i].type) & WAITS)
			return false;
	if ((w->c->nlost && was_lost(w->c, p->seg, l->track, g.before, g.end)) ||
		!w->many(w->arg, l->track, &g))
		return false;
	w->at = g.before;
	*at = (struct gt_chain_source){ GT_CHAIN_RETURN, at->line, first - 1, g.before, false };
	return true;
}

/* The row of a line that ended last; what lasts beyond the window counts as ending with it. */
static struct gt_chain_source last_of_line(
	struct gt_chain *c, const struct gt_chain_process *p, uint32_t line)
{
	struct gt_chain_line *l = &c->lines[line];
	struct gt_chain_source best = { 0 };

	for (uint32_t n = gt_links_until(&c->store, &l->rows, p->to);
		n-- && (!best.what || best.at < p->to);) {
		struct gt_chain_source one = { .what = l->stream ? GT_CHAIN_WORK : GT_CHAIN_RETURN,
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

/* Where the window ends: work, or, where all of the process is looked at, a call, if no work ended
 * as late. */
static struct gt_chain_source last_row(struct gt_chain *c, const struct gt_chain_process *p)
{
	struct gt_chain_source best = { 0 };

	for (int calls = 0; calls < (c->asked.opt->whole ? 2 : 1); calls++)
		for (size_t i = 0; i < p->nlines; i++) {
			struct gt_chain_source one = { 0 };

			if (c->lines[p->lines[i]].stream == !calls)
				one = last_of_line(c, p, p->lines[i]);
			if (calls && best.what == GT_CHAIN_WORK ? one.what && one.at > best.at
								: later(c, &one, &best))
				best = one;
		}
	return best;
}

int gt_chain_walk(struct gt_chain *c, const struct gt_chain_process *p, gt_chain_fn *fn,
	gt_chain_many_fn *many, void *arg, struct gt_err *err)
{
	struct walk w = {
		.c = c, .p = p, .fn = fn, .many = many, .arg = arg, .err = err, .at = p->to
	};
	struct gt_chain_source at = last_row(c, p);

	while (!w.rc && w.at > p->from && at.what && at.what != GT_CHAIN_BEFORE &&
		!gt_link_store_failed(&c->store)) {
		if (at.what == GT_CHAIN_RETURN && plain_chunk(&w, &at))
			continue;
		if (at.what == GT_CHAIN_RETURN)
			plain_calls(&w, &at);
		if (w.at > p->from)
			at = at.what == GT_CHAIN_WORK ? step_work(&w, &at) : step_call(&w, &at);
	}
	if (gt_link_store_failed(&c->store))
		return gt_err_set(err, c->store.err.code, "%s", c->store.err.text);
	return w.rc;
}

static uint64_t within(const struct gt_chain_process *p, const struct gt_link *one)
{
	int64_t start = one->start < p->from ? p->from : one->start,
		end = one->end > p->to ? p->to : one->end;

	return end > start ? (uint64_t)end - (uint64_t)start : 0;
}

/* All of a chunk, if it lies within the window: the number of its rows, or 0. */
static uint32_t sum_chunk(struct gt_chain *c, const struct gt_chain_process *p,
	const struct gt_links *rows, uint32_t i, uint64_t *ns)
{
	struct gt_link_gist g;

	if (i != gt_links_first(&c->store, i) || !gt_links_gist(&c->store, rows, i, &g) ||
		g.start < p->from || g.cover > p->to)
		return 0;
	for (uint32_t t = 0; t < g.ntypes; t++)
		if (g.types[t].type != GT_NONE)
			ns[g.types[t].type] = gt_sat_add(ns[g.types[t].type], g.types[t].ns);
	return gt_links_chunk(&c->store);
}

int gt_chain_sums(
	struct gt_chain *c, const struct gt_chain_process *p, uint64_t *ns, struct gt_err *err)
{
	for (size_t i = 0; i < p->nlines; i++) {
		const struct gt_links *rows = &c->lines[p->lines[i]].rows;

		for (uint32_t k = 0, n; k < rows->n && !gt_link_store_failed(&c->store); k += n) {
			struct gt_link one;

			n = sum_chunk(c, p, rows, k, ns);
			if (n)
				continue;
			n = 1;
			one = gt_links_get(&c->store, rows, k);
			if (one.type != GT_NONE)
				ns[one.type] = gt_sat_add(ns[one.type], within(p, &one));
		}
	}
	return gt_link_store_failed(&c->store)
		? gt_err_set(err, c->store.err.code, "%s", c->store.err.text)
		: 0;
}
