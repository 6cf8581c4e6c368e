/* A plain way to find the critical path: every dependency is looked for among all rows, and new
 * times are found by recursion. For small programs only. */
#ifndef NAIVE_CRITICAL_PATH_H
#define NAIVE_CRITICAL_PATH_H
#include "tests/unit/random_program.h"

/* ---- the plain way ---- */

enum naive_kind { COMPUTE, COMMUNICATION, COPIES, CALL_, QUEUE, OUTSIDE, UNKNOWN, KINDS };
static const char *const kind_words[KINDS] = { "compute", "communication", "copies", "API call",
	"launch latency", "outside CUDA", "unknown" };
struct naive_call {
	int what, thread, wait; /* wait: -1, or on what */
	int64_t start, end, new_start, new_end;
	bool gone, begun, ended;
	const char *name;
};
struct naive_op {
	int stream, call;
	int64_t start, end, new_end;
	bool gone, known, graph, by_order, pageable;
	enum naive_kind kind;
	char name[64];
};
struct naive_told {
	int stream;
	int64_t at;
};
struct naive_piece {
	enum naive_kind kind;
	int64_t start, end;
	int thread, stream;
	bool likely;
	char name[80];
};
struct naive {
	struct naive_call calls[RP_MOST];
	struct naive_op ops[RP_MOST];
	struct naive_told told[RP_MOST];
	struct naive_piece pieces[4 * RP_MOST];
	int ncalls, nops, ntold, npieces;
	int64_t from, to; /* the window */
	bool ranged, own_async, whole;
	int64_t looked_from;
	/* thread -1: anywhere, -2: none was */
	struct {
		int thread;
		int64_t start, end;
	} lost;
};
/* what: 0 nothing, 'b'efore the range, 'o'p, 'r'eturn, 'w'ithin */
struct naive_source {
	char what;
	int i;
	int64_t at;
	bool likely;
};

/* Index of the call of this thread, or the work of this stream, next to i in order of start; -1:
 * none. */
static inline int next_call(const struct naive *n, int thread, int64_t after, bool before)
{
	int best = -1;

	for (int i = 0; i < n->ncalls; i++)
		if (n->calls[i].thread == thread &&
			(before ? n->calls[i].start < after : n->calls[i].start > after) &&
			(best < 0 ||
				(before ? n->calls[i].start > n->calls[best].start
					: n->calls[i].start < n->calls[best].start)))
			best = i;
	return best;
}

static inline int64_t launch_at(const struct naive *n, const struct naive_op *o)
{
	return o->call < 0 ? INT64_MIN : n->calls[o->call].start;
}

static inline bool seen(int64_t start, int64_t end, int64_t from, int64_t to)
{
	return start < to && (end > from || start >= from);
}

static inline struct naive_source op_launch(const struct naive *n, const struct naive_op *o)
{
	const struct naive_call *c = o->call < 0 ? NULL : &n->calls[o->call];

	if (!c)
		return (struct naive_source){ 0 };
	/* its row was not read */
	if (n->ranged && !seen(c->start, c->end, n->looked_from, INT64_MAX))
		return (struct naive_source){ 'b', 0, c->start, o->by_order };
	return (struct naive_source){ c->end <= o->start ? 'r' : 'w', o->call,
		c->end <= o->start ? c->end : c->start, o->by_order };
}

static inline struct naive_source op_before(const struct naive *n, const struct naive_op *o)
{
	struct naive_source s = { 0 };
	int64_t last = INT64_MIN;

	for (int i = 0; i < n->nops; i++)
		if (n->ops[i].stream == o->stream && n->ops[i].start < o->start &&
			n->ops[i].end <= o->start && n->ops[i].start > last) {
			last = n->ops[i].start;
			s = (struct naive_source){ 'o', i, n->ops[i].end, false };
		}
	return s;
}

/* The time of the call that made o's stream wait, between the launches of o and of the operation
 * before it. */
static inline int64_t op_told(const struct naive *n, const struct naive_op *o)
{
	int64_t told = INT64_MIN, last = INT64_MIN, since = INT64_MIN;

	for (int i = 0; i < n->nops; i++)
		if (n->ops[i].stream == o->stream && n->ops[i].start < o->start &&
			n->ops[i].start > last) {
			last = n->ops[i].start;
			since = n->ops[i].call < 0 ? n->ops[i].start : launch_at(n, &n->ops[i]);
		}
	for (int i = 0; i < n->ntold; i++)
		if (n->told[i].stream == o->stream && n->told[i].at < launch_at(n, o) &&
			n->told[i].at > told)
			told = n->told[i].at;
	return told > since ? told : INT64_MIN;
}

static inline struct naive_source op_other(const struct naive *n, const struct naive_op *o)
{
	int64_t told = op_told(n, o);
	struct naive_source best = { 0 };

	for (int s = 0; s < 4 && o->call >= 0; s++) {
		int last = -1;

		for (int i = 0; i < n->nops; i++) {
			const struct naive_op *x = &n->ops[i];

			if (s == o->stream || x->stream != s || x->start >= o->start ||
				x->end > o->start)
				continue;
			if (!(o->graph && x->call == o->call) &&
				!(told > INT64_MIN &&
					(x->call == o->call || launch_at(n, x) < told)))
				continue;
			if (last < 0 || x->start > n->ops[last].start)
				last = i;
		}
		if (last >= 0 && (!best.what || n->ops[last].end > best.at))
			best = (struct naive_source){ 'o', last, n->ops[last].end, true };
	}
	return best;
}

static inline struct naive_source op_last(const struct naive *n, const struct naive_op *o)
{
	struct naive_source l = op_launch(n, o), b = op_before(n, o), x = op_other(n, o), s = b;

	if (l.what && !(b.what && b.at >= l.at))
		s = l;
	return x.what && (!s.what || x.at > s.at) ? x : s;
}

/* The last work of a stream that the call waited for. */
static inline int waited_on(const struct naive *n, int call, int stream, bool *likely)
{
	const struct naive_call *c = &n->calls[call];
	int64_t ended = c->end < n->to ? c->end : n->to;
	bool own = c->what == RP_COPY || c->what == RP_SET;
	int last = -1;

	*likely = !own && c->what != RP_SYNC_ALL && c->wait < 0;
	if (!own && c->what != RP_FREE && c->what != RP_SYNC && c->what != RP_SYNC_ALL)
		return -1;
	if (c->what == RP_SYNC && c->wait >= 0 && c->wait != stream)
		return -1;
	for (int i = 0; i < n->nops; i++) {
		const struct naive_op *o = &n->ops[i];
		bool fits = own
			? o->call == call && (!(c->what == RP_SET || n->own_async) || o->pageable)
			: launch_at(n, o) < c->start;

		if (o->stream == stream && fits && o->start < ended && o->end <= ended &&
			(last < 0 || o->start > n->ops[last].start))
			last = i;
	}
	return last >= 0 && n->ops[last].end > c->start ? last : -1;
}

static inline struct naive_source waited(const struct naive *n, int call)
{
	struct naive_source best = { 0 };

	for (int s = 0; s < 4; s++) {
		bool likely;
		int i = waited_on(n, call, s, &likely);

		if (i >= 0 && (!best.what || n->ops[i].end > best.at))
			best = (struct naive_source){ 'o', i, n->ops[i].end, likely };
	}
	return best;
}

static inline bool asked_only(const struct naive *n, int thread, int64_t since, int64_t until)
{
	for (int i = 0; i < n->ncalls; i++)
		if (n->calls[i].thread == thread && n->calls[i].end > since &&
			n->calls[i].start < until && n->calls[i].what != RP_QUERY)
			return false;
	return true;
}

static inline struct naive_source call_last(
	const struct naive *n, int call, struct naive_source *before)
{
	const struct naive_call *c = &n->calls[call];
	int prev = next_call(n, c->thread, c->start, true),
	    x = next_call(n, !c->thread, c->start, true);
	int64_t since = prev < 0 ? INT64_MIN : n->calls[prev].end, other, next;

	*before = prev < 0 ? (struct naive_source){ 0 }
			   : (struct naive_source){ 'r', prev, since, false };
	if (x < 0 || (prev >= 0 && c->start - since < 20000) || n->calls[x].end > c->start ||
		asked_only(n, !c->thread, since, c->start))
		return *before;
	other = n->calls[x].end;
	next = INT64_MAX;
	for (int i = 0; i < n->ncalls; i++)
		if (n->calls[i].thread == !c->thread && n->calls[i].start >= c->start &&
			n->calls[i].start < next)
			next = n->calls[i].start;
	if (prev >= 0 &&
		!((c->start - since) / 4 >= c->start - other && next > c->start &&
			(next == INT64_MAX || (next - other) / 4 >= c->start - other)))
		return *before;
	return (struct naive_source){ 'r', x, other, true };
}

static inline void add_piece(struct naive *n, enum naive_kind kind, int64_t start, int64_t end,
	int thread, int stream, bool likely, const char *name)
{
	struct naive_piece *p = &n->pieces[n->npieces];

	start = start < n->from ? n->from : start;
	if (start >= end)
		return;
	if (kind >= QUEUE && n->lost.thread > -2 && n->lost.start < end && n->lost.end >= start &&
		(n->lost.thread == -1 || n->lost.thread == thread))
		kind = UNKNOWN;
	*p = (struct naive_piece){ kind, start, end, thread, stream, likely, "" };
	snprintf(p->name, sizeof(p->name), "%s%s", kind >= QUEUE ? "before " : "", name);
	n->npieces++;
}

static inline void naive_walk(struct naive *n)
{
	struct naive_source at = { 0 };
	int64_t t = n->to;

	for (int i = 0; i < n->nops; i++) {
		int64_t end = n->ops[i].end < n->to ? n->ops[i].end : n->to;

		if (!at.what || end > at.at ||
			(end == at.at &&
				(n->ops[i].stream < n->ops[at.i].stream ||
					(n->ops[i].stream == n->ops[at.i].stream &&
						n->ops[i].start > n->ops[at.i].start))))
			at = (struct naive_source){ 'o', i, end, false };
	}
	for (int i = 0; n->whole && i < n->ncalls; i++) {
		int64_t end = n->calls[i].end < n->to ? n->calls[i].end : n->to;

		if (n->calls[i].thread >= 0 &&
			(end > at.at ||
				(at.what == 'r' && end == at.at &&
					(n->calls[i].thread < n->calls[at.i].thread ||
						(n->calls[i].thread == n->calls[at.i].thread &&
							n->calls[i].start >
								n->calls[at.i].start)))))
			at = (struct naive_source){ 'r', i, end, false };
	}
	while (at.what && at.what != 'b' && t > n->from) {
		if (at.what == 'o') {
			const struct naive_op *o = &n->ops[at.i];
			struct naive_source s = op_last(n, o);

			add_piece(n, o->kind, o->start, t, -1, o->stream, at.likely, o->name);
			t = o->start;
			if (s.what != 'w') {
				int64_t to = s.what && s.what != 'b' ? s.at : n->from;

				add_piece(n, o->call < 0 ? UNKNOWN : QUEUE, to, t, -1, o->stream,
					s.likely, o->name);
				t = to;
			}
			at = s;
		} else {
			const struct naive_call *c = &n->calls[at.i];
			struct naive_source s = at.what == 'r' ? waited(n, at.i)
							       : (struct naive_source){ 0 },
					    before;
			int64_t to = s.what ? s.at : c->start;

			add_piece(n, CALL_, to, t, c->thread, -1, at.likely || s.likely, c->name);
			t = to;
			if (!s.what) {
				s = call_last(n, at.i, &before);
				to = s.what ? s.at : n->from;
				add_piece(n, OUTSIDE, to, t, c->thread, -1, s.likely, c->name);
				t = to;
			}
			at = s;
		}
	}
}

/* ---- the new times, by recursion ---- */

static inline int64_t cut(const struct naive *n, int64_t t)
{
	return t < n->from ? n->from : t > n->to ? n->to : t;
}
static inline int64_t span(const struct naive *n, int64_t a, int64_t b)
{
	return cut(n, b) - cut(n, a);
}
static inline int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t begin_of_call(struct naive *n, int i);
static inline int64_t end_of_call(struct naive *n, int i);

static inline void find_op(struct naive *n, int i)
{
	struct naive_op *o = &n->ops[i];
	struct naive_source l = op_launch(n, o), b = op_before(n, o), x = op_other(n, o),
			    s = op_last(n, o);
	int64_t at = INT64_MIN;

	if (o->known)
		return;
	o->known = true;
	if (l.what == 'b') {
		at = n->from + (s.what == 'b' ? span(n, l.at, o->start) : 0);
	} else if (l.what) {
		bool held = s.what == l.what && s.i == l.i;

		if (l.what == 'r')
			at = end_of_call(n, l.i) + (held ? span(n, l.at, o->start) : 0);
		else
			at = begin_of_call(n, l.i) +
				(held && !n->calls[l.i].gone ? span(n, l.at, o->start) : 0);
	}
	if (b.what) {
		find_op(n, b.i);
		at = max(at,
			n->ops[b.i].new_end +
				(s.what == 'o' && s.i == b.i ? span(n, b.at, o->start) : 0));
	}
	if (x.what) {
		find_op(n, x.i);
		at = max(at,
			n->ops[x.i].new_end +
				(s.what == 'o' && s.i == x.i ? span(n, x.at, o->start) : 0));
	}
	o->new_end = (at > INT64_MIN ? at : cut(n, o->start)) +
		(o->gone ? 0 : span(n, o->start, o->end));
}

static inline int64_t begin_of_call(struct naive *n, int i)
{
	struct naive_call *c = &n->calls[i];
	struct naive_source before, s = call_last(n, i, &before);
	int64_t at = INT64_MIN;

	if (c->begun)
		return c->new_start;
	if (before.what)
		at = end_of_call(n, before.i) +
			(s.i == before.i ? span(n, before.at, c->start) : 0);
	if (s.what && !(before.what && s.i == before.i))
		at = max(at, end_of_call(n, s.i) + span(n, s.at, c->start));
	c->begun = true;
	return c->new_start = at > INT64_MIN ? at : cut(n, c->start);
}

static inline int64_t end_of_call(struct naive *n, int i)
{
	struct naive_call *c = &n->calls[i];
	struct naive_source last = waited(n, i);
	int64_t rest = span(n, last.what ? last.at : c->start, c->end),
		end = begin_of_call(n, i) + (c->gone ? 0 : rest);

	if (c->ended)
		return c->new_end;
	for (int s = 0; s < 4 && last.what && !c->gone; s++) {
		bool likely;
		int o = waited_on(n, i, s, &likely);

		if (o < 0)
			continue;
		find_op(n, o);
		end = max(end, n->ops[o].new_end + (n->ops[o].end == last.at ? rest : 0));
	}
	c->ended = true;
	return c->new_end = end;
}

static inline int64_t naive_without(struct naive *n)
{
	int64_t end = n->from;

	for (int i = 0; i < n->nops; i++) {
		find_op(n, i);
		end = max(end, n->ops[i].new_end);
	}
	for (int i = 0; n->whole && i < n->ncalls; i++)
		if (n->calls[i].thread >= 0)
			end = max(end, end_of_call(n, i));
	return end - n->from;
}
#endif
