/* The critical path of random programs beside a second, plain way to find it
 * (naive_critical_path.h): every piece and every gain must agree. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "formats/cmdline/opt.h"
#include "formats/names/kernel_names.h"
#include "tests/unit/analyze/critical/naive_critical_path.h"
#include "tests/unit/reports.h"

static const char *const critical[] = { "critical", NULL };

static double of_kind(const json_t *j, const char *kind)
{
	return num(row_named(j, "critical", "kind", kind), "on_path_ns");
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
	for (unsigned seed = 1; seed <= T_INPUTS(150u); seed++)
		CHECK(agrees(seed, false, false));
}

static void parts_of_random_programs_agree(void)
{
	for (unsigned seed = 1; seed <= T_INPUTS(150u); seed++)
		CHECK(agrees(seed, true, false));
}

static void whole_programs_agree(void)
{
	for (unsigned seed = 1; seed <= T_INPUTS(150u); seed++)
		CHECK(agrees(seed, seed % 2, true));
}

T_MAIN(T(random_programs_agree), T(parts_of_random_programs_agree), T(whole_programs_agree))
