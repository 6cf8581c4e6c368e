/* The critical path of random programs beside a second, plain way to find it: every dependency is
 * looked for among all rows, new times are found by recursion, and every piece and every gain must
 * agree. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "formats/cmdline/opt.h"
#include "formats/names/kernel_names.h"
#include "tests/unit/random_program.h"
#include "tests/unit/reports.h"

static const char *const critical[] = { "critical", NULL };

static double of_kind(const json_t *j, const char *kind)
{
	return num(row_named(j, "critical", "kind", kind), "on_path_ns");
}

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
static int next_call(const struct naive *n, int thread, int64_t after, bool before)
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

static int64_t launch_at(const struct naive *n, const struct naive_op *o)
{
	return o->call < 0 ? INT64_MIN : n->calls[o->call].start;
}

static bool seen(int64_t start, int64_t end, int64_t from, int64_t to)
{
	return start < to && (end > from || start >= from);
}

static struct naive_source op_launch(const struct naive *n, const struct naive_op *o)
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

static struct naive_source op_before(const struct naive *n, const struct naive_op *o)
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
static int64_t op_told(const struct naive *n, const struct naive_op *o)
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

static struct naive_source op_other(const struct naive *n, const struct naive_op *o)
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

static struct naive_source op_last(const struct naive *n, const struct naive_op *o)
{
	struct naive_source l = op_launch(n, o), b = op_before(n, o), x = op_other(n, o), s = b;

	if (l.what && !(b.what && b.at >= l.at))
		s = l;
	return x.what && (!s.what || x.at > s.at) ? x : s;
}

/* The last work of a stream that the call waited for. */
static int waited_on(const struct naive *n, int call, int stream, bool *likely)
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

static struct naive_source waited(const struct naive *n, int call)
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

static bool asked_only(const struct naive *n, int thread, int64_t since, int64_t until)
{
	for (int i = 0; i < n->ncalls; i++)
		if (n->calls[i].thread == thread && n->calls[i].end > since &&
			n->calls[i].start < until && n->calls[i].what != RP_QUERY)
			return false;
	return true;
}

static struct naive_source call_last(const struct naive *n, int call, struct naive_source *before)
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

static void add_piece(struct naive *n, enum naive_kind kind, int64_t start, int64_t end, int thread,
	int stream, bool likely, const char *name)
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

static void naive_walk(struct naive *n)
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

static int64_t cut(const struct naive *n, int64_t t)
{
	return t < n->from ? n->from : t > n->to ? n->to : t;
}
static int64_t span(const struct naive *n, int64_t a, int64_t b) { return cut(n, b) - cut(n, a); }
static int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t begin_of_call(struct naive *n, int i);
static int64_t end_of_call(struct naive *n, int i);

static void find_op(struct naive *n, int i)
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

static int64_t begin_of_call(struct naive *n, int i)
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

static int64_t end_of_call(struct naive *n, int i)
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

static int64_t naive_without(struct naive *n)
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

/* ---- random programs, with more in them ---- */

struct more {
	bool skip[RP_MOST], graph[RP_MOST], by_order[RP_MOST];
	int wait[RP_MOST];
	bool told[RP_MOST];
};

/* No two calls of a thread and no two operations of a stream begin at the same time: their order
 * would not be defined. */
static void part(struct rp *p, struct more *m)
{
	for (int i = 0; i < p->ncalls; i++)
		for (int k = 0; k < i; k++)
			m->skip[i] |= p->calls[i].depth ? k == i - 1 && m->skip[k]
							: !m->skip[k] && !p->calls[k].depth &&
					p->calls[k].thread == p->calls[i].thread &&
					p->calls[k].start == p->calls[i].start;
	for (int i = 0; i < p->nops; i++) {
		struct rp_op *o = &p->ops[i];

		for (bool again = true; again;) {
			again = false;
			for (int k = 0; k < i && !again; k++)
				again = p->ops[k].device == o->device &&
					p->ops[k].stream == o->stream &&
					p->ops[k].start == o->start;
			o->start += again;
			o->end += again;
		}
		if (o->call >= 0 && (m->skip[o->call] || p->calls[o->call].start > o->start))
			o->call = -1;
	}
}

/* Launches with several operations, as graphs have; stream waits; joins by order; nested calls. */
static void make_more(struct rp *p, struct more *m, int scale)
{
	int nops = p->nops;

	memset(m, 0, sizeof(*m));
	for (int i = 0; i < p->ncalls; i++) {
		struct rp_call *c = &p->calls[i];

		c->start *= scale;
		c->end = c->end * scale;
		if (c->depth && rp_below(2))
			c->what = RP_QUERY;
		m->wait[i] = (c->what == RP_SYNC || c->what == RP_SYNC_ALL) && rp_below(3)
			? c->device * 2 + c->stream
			: -1;
		m->told[i] = c->what == RP_QUERY && !c->depth && !rp_below(3);
	}
	for (int i = 0; i < nops; i++) {
		p->ops[i].start *= scale;
		p->ops[i].end *= scale;
		m->by_order[i] = !rp_below(10);
		for (int k = rp_below(12) ? 0 : 4;
			k && p->ops[i].what == RP_LAUNCH && p->ops[i].call >= 0; k--) {
			struct rp_op *o = &p->ops[p->nops++];

			*o = p->ops[i];
			o->stream = rp_below(2);
			o->start = p->ops[i].start + rp_below(300) * scale;
			o->end = o->start + rp_below(100) * scale;
			m->graph[p->nops - 1] = m->graph[i] = true;
			m->by_order[p->nops - 1] = m->by_order[i];
		}
	}
	part(p, m);
}

static void put_op(struct rp *p, const struct more *m, int i)
{
	const struct rp_op *o = &p->ops[i];
	const struct rp_call *c = o->call < 0 ? NULL : &p->calls[o->call];
	struct gt_gpu_work w = gpus_work(p->g.stream[o->device][o->stream], o->start, o->end);

	if (!m->graph[i] && !m->by_order[i]) {
		rp_put_op(p, o);
		return;
	}
	if (c)
		w.cause = (struct gt_gpu_cause){ .join = m->by_order[i] ? GT_JOIN_ORDER
									: GT_JOIN_CORRELATION,
			.track = p->g.thread[c->thread],
			.start = c->start,
			.name = p->g.launch_name };
	w.graph = m->graph[i];
	w.node = m->graph[i] ? (uint64_t)i + 1 : 0;
	if (o->what == RP_LAUNCH)
		gt_gpu_put_kernel(&p->g.types, &w,
			&(struct gt_gpu_kernel){ .name = p->names[o->kernel] }, &p->g.err);
	else if (o->what == RP_COPY)
		gpus_copy(&p->g, &w, o->direction, o->src, o->dst, o->bytes);
	else
		gpus_set(&p->g, &w, o->bytes);
}

static void put_wait(struct rp *p, const struct more *m, int i)
{
	const struct rp_call *c = &p->calls[i];
	uint32_t stream = p->g.stream[c->device][c->stream];
	bool all = c->what == RP_SYNC_ALL;
	struct gt_gpu_work w =
		gpus_work(all && !m->told[i] ? p->g.process : stream, c->start, c->end);

	w.cause = (struct gt_gpu_cause){
		.join = GT_JOIN_CORRELATION, .track = p->g.thread[c->thread], .start = c->start
	};
	gpus_wait(&p->g, &w,
		m->told[i]    ? GT_GPU_WAIT_STREAM_EVENT
			: all ? GT_GPU_WAIT_CONTEXT
			      : GT_GPU_WAIT_STREAM,
		3);
}

static void write_all(struct rp *p, const struct more *m, int64_t last)
{
	int64_t epoch = 1 + last / 7, to;

	for (int64_t from = INT64_MIN; from < last; from = to) {
		to = from < 0 ? epoch : from + epoch;
		for (int i = 0; i < p->ncalls; i++) {
			if (m->skip[i] || p->calls[i].end < from || p->calls[i].end >= to)
				continue;
			rp_put_call(p, &p->calls[i]);
			if (m->wait[i] >= 0 || m->told[i])
				put_wait(p, m, i);
		}
		for (int i = 0; i < p->nops; i++)
			if (p->ops[i].end >= from && p->ops[i].end < to)
				put_op(p, m, i);
		gt_writer_epoch(p->g.w, to, &p->g.err);
	}
}

/* The program of this seed, and all of it in n. */
static struct gt_reader *make(struct rp *p, struct more *m, struct naive *n, unsigned seed)
{
	int64_t at[2] = { 100, 100 }, last = 0;
	struct gt_type blocking;

	memset(p, 0, sizeof(*p));
	memset(n, 0, sizeof(*n));
	srand(seed);
	p->seed = seed;
	gpus_begin(&p->g, "{\"events\":\"api,ioctl,gpu\"}");
	rp_types(p);
	n->own_async = seed % 3 > 0;
	if (!n->own_async) {
		blocking = *gt_writer_type_get(p->g.w, p->types[RP_COPY]);
		blocking.name = gt_writer_string(p->g.w, "cuMemcpyHtoD_v2");
		p->types[RP_COPY] = gt_writer_type(p->g.w, &blocking);
	}
	while (p->ncalls < 250 && at[0] < RP_END / 2 && at[1] < RP_END / 2) {
		int thread = seed % 4 ? (seed % 5 ? at[1] < at[0] : p->ncalls / 12 % 2) : 0;

		if (seed % 5 == 0 && at[thread] < at[!thread])
			at[thread] = at[!thread] + rp_below(20); /* they take turns */
		rp_step(p, thread, &at[thread]);
	}
	make_more(p, m, seed % 2 ? 1 : 400);
	n->lost.thread = -2;
	for (int i = 0; i < p->ncalls; i++)
		last = max(last, p->calls[i].end);
	for (int i = 0; i < p->nops; i++)
		last = max(last, p->ops[i].end);
	if (seed % 7 == 0) {
		n->lost.thread = seed % 2 ? 0 : -1;
		n->lost.start = last / 3;
		n->lost.end = last / 3 + last / 50;
		gt_writer_loss(p->g.w, seed % 2 ? GT_SCOPE_TRACK : GT_SCOPE_ALL,
			seed % 2 ? p->g.thread[0] : GT_NONE, n->lost.start, n->lost.end, 5,
			&p->g.err);
	}
	write_all(p, m, last + 1);
	return gpus_end(&p->g);
}

/* Adds the part of the program within [from, to). */
static void see(struct naive *n, const struct rp *p, const struct more *m, int64_t from, int64_t to)
{
	n->ranged = from > INT64_MIN;
	n->looked_from = from;
	for (int i = 0; i < p->ncalls; i++) {
		const struct rp_call *c = &p->calls[i];
		bool out = m->skip[i] || c->depth || c->what == RP_IOCTL;

		/* a call that is no link keeps its place for its number's sake, on no thread; one
		 * before the range is known by its work */
		n->calls[n->ncalls++] = (struct naive_call){ .what = (int)c->what,
			.wait = m->wait[i],
			.start = c->start,
			.end = c->end,
			.thread = out || !seen(c->start, c->end, from, to) ? -9 : c->thread,
			.name = c->what == RP_COPY && !n->own_async ? "cuMemcpyHtoD_v2"
								    : rp_kinds[c->what].name };
		if (m->told[i] && !out && seen(c->start, c->end, from, to))
			n->told[n->ntold++] =
				(struct naive_told){ c->device * 2 + c->stream, c->start };
	}
	for (int i = 0; i < p->nops; i++) {
		const struct rp_op *o = &p->ops[i];
		struct naive_op *x = &n->ops[n->nops];

		if (!seen(o->start, o->end, from, to))
			continue;
		*x = (struct naive_op){ .stream = o->device * 2 + o->stream,
			.call = o->call,
			.start = o->start,
			.end = o->end,
			.graph = m->graph[i],
			.by_order = m->by_order[i] && o->call >= 0,
			.kind = o->what != RP_LAUNCH ? COPIES
				: o->kernel == 3     ? COMMUNICATION
						     : COMPUTE };
		x->pageable = o->what == RP_COPY && o->dst == GT_GPU_MEM_PAGEABLE;
		if (o->what == RP_LAUNCH)
			gt_kernel_short(rp_kernels[o->kernel], x->name);
		else if (o->what == RP_COPY)
			snprintf(x->name, sizeof(x->name), "memcpy %s (%s -> %s)",
				gt_direction_word(o->direction), gt_gpu_memory_word(o->src),
				gt_gpu_memory_word(o->dst));
		else
			snprintf(x->name, sizeof(x->name), "memset (device)");
		n->from = n->nops && n->from < x->start ? n->from : x->start;
		n->to = n->nops && n->to > x->end ? n->to : x->end;
		n->nops++;
	}
	for (int i = 0; n->whole && i < n->ncalls; i++)
		if (n->calls[i].thread >= 0) {
			n->from = n->from < n->calls[i].start ? n->from : n->calls[i].start;
			n->to = max(n->to, n->calls[i].end);
		}
	n->from = n->from < from ? from : n->from;
	n->to = n->to > to ? to : n->to;
}

static bool pieces_agree(const json_t *j, const struct naive *n, int64_t origin)
{
	int64_t sum = 0;

	if (rows(j, "critical_longest") != (size_t)n->npieces)
		printf("# %zu pieces, not %d\n", rows(j, "critical_longest"), n->npieces);
	for (int i = 0; i < n->npieces; i++) {
		const struct naive_piece *p = &n->pieces[n->npieces - 1 - i];
		const json_t *r = row(j, "critical_longest", (size_t)i);

		sum += p->end - p->start;
		if (is(r, "kind", kind_words[p->kind]) && is(r, "name", p->name) &&
			num(r, "start_ns") == (double)(p->start - origin) &&
			num(r, "duration_ns") == (double)(p->end - p->start) &&
			num(r, "likely") == p->likely &&
			(p->thread < 0 ? absent(r, "tid") && num(r, "device") == p->stream / 2 &&
						num(r, "stream") == 7 + p->stream % 2
				       : num(r, "tid") == 100 + p->thread && absent(r, "stream")))
			continue;
		printf("# piece %d: %s %s %lld +%lld likely %d, but %s\n", i, kind_words[p->kind],
			p->name, (long long)(p->start - origin), (long long)(p->end - p->start),
			p->likely, json_dumps(r, 0));
		return false;
	}
	return sum == n->to - n->from && rows(j, "critical_longest") == (size_t)n->npieces;
}

static bool sums_agree(const json_t *j, const struct naive *n)
{
	double share = 0;
	bool ok = true;

	for (int k = 0; k < KINDS; k++) {
		int64_t ns = 0, pieces = 0;

		for (int i = 0; i < n->npieces; i++)
			if ((int)n->pieces[i].kind == k) {
				ns += n->pieces[i].end - n->pieces[i].start;
				pieces++;
			}
		ok &= of_kind(j, kind_words[k]) == (double)ns &&
			num(row(j, "critical", (size_t)k), "pieces") == (double)pieces;
		share += n->to > n->from ? num(row(j, "critical", (size_t)k), "share_percent") : 0;
	}
	for (size_t i = 0; i < rows(j, "critical_names"); i++) {
		const json_t *r = row(j, "critical_names", i);
		const char *name = json_string_value(json_object_get(r, "name"));
		int64_t ns = 0, sum = 0;

		for (int k = 0; k < n->npieces; k++)
			ns += n->pieces[k].kind < QUEUE && !strcmp(n->pieces[k].name, name)
				? n->pieces[k].end - n->pieces[k].start
				: 0;
		for (int k = 0; k < n->ncalls; k++)
			sum += n->calls[k].thread >= 0 && !strcmp(n->calls[k].name, name)
				? span(n, n->calls[k].start, n->calls[k].end)
				: 0;
		for (int k = 0; k < n->nops; k++)
			sum += !strcmp(n->ops[k].name, name)
				? span(n, n->ops[k].start, n->ops[k].end)
				: 0;
		if (!absent(r, "summed_ns"))
			ok &= num(r, "on_path_ns") == (double)ns &&
				num(r, "summed_ns") == (double)sum;
	}
	return ok && (n->to == n->from || (share > 99.999 && share < 100.001));
}

/* Also: removing nothing saves nothing, and an operation that is not a wait saves at most its
 * own time on the path. */
static bool without_agrees(
	struct naive *n, struct gt_reader *r, struct gt_analysis_options *o, unsigned seed)
{
	static const char *const globs[] = { "@kernel", "add", "mem*", "cuLaunchKernel",
		"cu*Synchronize", "@copy", "none", "cu*", "cuEventQuery" };
	const char *glob = globs[seed % (sizeof(globs) / sizeof(*globs))];
	struct gt_opt_list list = { &glob, 1, 1 };
	int64_t on_path = 0, rest;
	const json_t *w;
	json_t *j;
	bool ok;

	o->report_options =
		(const struct gt_report_option[]){ { "without", &list }, { NULL, NULL } };
	for (int i = 0; i < n->ncalls; i++) {
		n->calls[i].gone = *glob == '@'
			? n->calls[i].what == RP_COPY && !strcmp(glob, "@copy")
			: !strcmp(glob, "cu*") || !strcmp(glob, n->calls[i].name) ||
				(!strcmp(glob, "cu*Synchronize") &&
					strstr(n->calls[i].name, "Synchronize"));
	}
	for (int i = 0; i < n->nops; i++)
		n->ops[i].gone = !strcmp(glob, "@kernel") ? n->ops[i].kind < COPIES
			: !strcmp(glob, "@copy")          ? n->ops[i].kind == COPIES
							  : !strcmp(glob, n->ops[i].name) ||
				(!strcmp(glob, "mem*") && n->ops[i].kind == COPIES);
	for (int i = 0; i < n->npieces; i++)
		if (n->pieces[i].kind < CALL_)
			for (int k = 0; k < n->nops; k++)
				if (!strcmp(n->ops[k].name, n->pieces[i].name)) {
					on_path += n->ops[k].gone
						? n->pieces[i].end - n->pieces[i].start
						: 0;
					break;
				}
	rest = naive_without(n);
	j = report(r, critical, o);
	w = row(j, "critical_without", 0);
	ok = num(w, "window_ns") == (double)(n->to - n->from) &&
		num(w, "without_ns") == (double)rest &&
		num(w, "gain_ns") == (double)(n->to - n->from - rest);
	if (!strcmp(glob, "none"))
		ok &= rest == n->to - n->from &&
			noted(j, "critical_without", "--without none matches nothing");
	if (!strcmp(glob, "@kernel") || !strcmp(glob, "add") || !strcmp(glob, "mem*"))
		ok &= num(w, "gain_ns") <= num(w, "on_path_ns") &&
			num(w, "on_path_ns") == (double)on_path;
	if (!ok)
		printf("# without %s: %s, not %lld of %lld, on path %lld\n", glob, json_dumps(w, 0),
			(long long)rest, (long long)(n->to - n->from), (long long)on_path);
	json_decref(j);
	return ok;
}

static bool agrees(unsigned seed, bool ranged, bool whole)
{
	static struct naive n;
	static struct more m;
	static struct rp p;
	struct gt_analysis_options o = plain;
	struct gt_reader *r = make(&p, &m, &n, seed),
			 *again = gt_reader_open_fd(dup(p.g.fd), &p.g.err);
	int64_t origin = gt_reader_segment(r, 0)->min_start,
		length = gt_reader_segment(r, 0)->max_end - origin;
	json_t *j;
	bool ok;

	n.whole = o.whole = whole;
	o.filter.ranged = ranged;
	o.filter.from = ranged ? origin + length / 5 + (int64_t)seed : INT64_MIN;
	o.filter.to = ranged ? origin + length / 2 : INT64_MAX;
	see(&n, &p, &m, o.filter.from, o.filter.to);
	naive_walk(&n);
	j = report(r, critical, &o);
	if (n.nops) {
		ok = j && pieces_agree(j, &n, origin) && sums_agree(j, &n);
		ok = without_agrees(&n, again, &o, seed) && ok;
	} else { /* in the range there is no work: no window, no answer */
		ok = j && rows(j, "critical") == 0 && noted(j, "critical", "cannot answer");
		gt_reader_close(again);
	}
	if (!ok)
		printf("# seed %u%s%s\n", seed, ranged ? ", a part" : "", whole ? ", whole" : "");
	json_decref(j);
	return ok;
}

static void random_programs_agree(void)
{
	for (unsigned seed = 1; seed <= 150; seed++)
		CHECK(agrees(seed, false, false));
}

static void parts_of_random_programs_agree(void)
{
	for (unsigned seed = 1; seed <= 150; seed++)
		CHECK(agrees(seed, true, false));
}

static void whole_programs_agree(void)
{
	for (unsigned seed = 1; seed <= 150; seed++)
		CHECK(agrees(seed, seed % 2, true));
}

T_MAIN(T(random_programs_agree), T(parts_of_random_programs_agree), T(whole_programs_agree))
