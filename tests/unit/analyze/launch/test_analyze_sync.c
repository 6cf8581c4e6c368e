/* Waits for the GPU: known figures, and random programs compared with a count by cells of 1 ns. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/random_program.h"
#include "tests/unit/reports.h"

static const char *const sync_only[] = { "sync", NULL };

/* ---- known figures ---- */

static uint32_t type_of(
	struct gpus *g, const char *name, unsigned layer, unsigned op, unsigned memkind)
{
	struct gt_type type = { .name = gt_writer_string(g->w, name),
		.category = GT_CAT_SYNC,
		.op = (uint8_t)op,
		.layer = (uint8_t)layer,
		.memkind = (uint8_t)memkind };

	return gt_writer_type(g->w, &type);
}

static void call_of(
	struct gpus *g, enum gt_kind kind, uint32_t type, int64_t start, int64_t end, int depth)
{
	struct gt_row row = { start, end, type, 0, (uint8_t)depth, 0 };

	if (kind == GT_OPEN)
		gt_writer_open_call(g->w, g->thread[0], &row, NULL, &g->err);
	else
		gt_writer_row(g->w, kind, g->thread[0], &row, NULL, &g->err);
}

static void launched(
	struct gpus *g, int device, int stream, int64_t launch, int64_t start, int64_t end)
{
	struct gt_gpu_work w = gpus_work(g->stream[device][stream], start, end);

	gpus_launched(g, &w, 1, launch, 5, GT_JOIN_CORRELATION);
	gpus_kernel(g, 0, &w);
}

static void wait_of(struct gpus *g, uint32_t type, uint32_t on, int64_t start, int64_t end)
{
	struct gt_gpu_work w = gpus_work(on, start, end);

	call_of(g, GT_CALL, type, start, end, 0);
	w.cause = (struct gt_gpu_cause){ .join = GT_JOIN_CORRELATION,
		.track = g->thread[0],
		.name = g->launch_name,
		.start = start,
		.ns = (uint64_t)(end - start) };
	gpus_wait(g, &w, GT_GPU_WAIT_STREAM, GT_GPU_NO_EVENT);
}

/* Stream 7 has a kernel in [100, 300), stream 8 one in [400, 500) launched at 350. */
static void known_waits(struct gpus *g)
{
	uint32_t stream, event, context, free_;

	gpus_begin_with(g, "{\"events\":\"api,gpu\"}", 1);
	stream = type_of(g, "cuStreamSynchronize", GT_LAYER_API, GT_OP_SYNC, 0);
	event = type_of(g, "cuEventSynchronize", GT_LAYER_API, GT_OP_SYNC, 0);
	context = type_of(g, "cuCtxSynchronize_v2", GT_LAYER_API, GT_OP_SYNC, 0);
	free_ = type_of(g, "cuMemFree_v2", GT_LAYER_API, GT_OP_FREE, GT_MEM_DEVICE);
	launched(g, 0, 0, 50, 100, 300);
	launched(g, 0, 1, 350, 400, 500);
	wait_of(g, stream, g->stream[0][0], 150, 310); /* needed: 150 worked */
	wait_of(g, stream, g->stream[0][1], 320, 330); /* needless */
	/* needless: the pending work is on the other stream */
	wait_of(g, stream, g->stream[0][0], 360, 380);
	/* needless: the pending work began later */
	call_of(g, GT_CALL, event, 381, 385, 0);
	/* needed, but the call in it counts in its place */
	call_of(g, GT_CALL, free_, 386, 510, 0);
	call_of(g, GT_CALL, context, 390, 505, 1); /* needed */
	call_of(g, GT_CALL, event, 395, 500, 2);   /* in a wait */
	/* some work is pending, maybe other work than it waits for */
	call_of(g, GT_CALL, event, 550, 560, 0);
	launched(g, 0, 1, 530, 555, 580);
	call_of(g, GT_CALL, context, 600, 607, 0); /* needless */
	call_of(g, GT_CALL, free_, 610, 620, 0);   /* no wait */
}

static void waits_by_call(void)
{
	struct gpus g;
	const json_t *r;
	json_t *j;

	known_waits(&g);
	j = report(gpus_end(&g), sync_only, &plain);
	CHECK(rows(j, "sync") == 4 && rows(j, "sync_threads") == 1);
	r = row(j, "sync", 0);
	CHECK(is(r, "call", "cuStreamSynchronize") && is(r, "waits_for", "stream 7") &&
		num(r, "stream") == 7 && num(r, "count") == 2);
	CHECK(num(r, "total_ns") == 180 && num(r, "max_ns") == 160 && num(r, "max_at_ns") == 100 &&
		num(r, "gpu_busy_ns") == 150);
	CHECK(num(r, "gpu_idle_ns") == 30 && num(r, "needless") == 1 &&
		num(r, "needless_ns") == 20 && num(r, "untold") == 0);
	r = row_named(j, "sync", "waits_for", "stream 8");
	CHECK(num(r, "count") == 1 && num(r, "needless") == 1 && num(r, "gpu_busy_ns") == 0);
	r = row_named(j, "sync", "waits_for", "context");
	CHECK(num(r, "count") == 2 && num(r, "needless") == 1 && num(r, "needless_ns") == 7 &&
		absent(r, "stream"));
	CHECK(num(r, "gpu_busy_ns") == 100 && num(r, "max_ns") == 115);
	r = row_named(j, "sync", "waits_for", "event");
	CHECK(num(r, "count") == 2 && num(r, "untold") == 1 && num(r, "needless") == 1 &&
		num(r, "gpu_busy_ns") == 5);
	r = row(j, "sync_threads", 0);
	CHECK(num(r, "count") == 7 && num(r, "wait_ns") == 180 + 10 + 14 + 122 &&
		num(r, "tid") == 100);
	json_decref(j);
}

/* A free waits if the work that was pending at its start has ended when it returns. */
static void frees_that_wait(void)
{
	struct gpus g;
	uint32_t type;
	json_t *j;

	gpus_begin_with(&g, NULL, 1);
	type = type_of(&g, "cuMemFree_v2", GT_LAYER_API, GT_OP_FREE, GT_MEM_DEVICE);
	launched(&g, 0, 0, 10, 20, 200);
	launched(&g, 0, 1, 15, 150, 300);
	/* returned while one of the two went on */
	call_of(&g, GT_CALL, type, 100, 250, 0);
	call_of(&g, GT_CALL, type, 260, 310, 0);
	call_of(&g, GT_CALL, type_of(&g, "cuMemFreeAsync", GT_LAYER_API, GT_OP_FREE, GT_MEM_POOL),
		262, 310, 1);
	j = report(gpus_end(&g), sync_only, &plain);
	CHECK(rows(j, "sync") == 1 && num(row(j, "sync", 0), "count") == 1 &&
		num(row(j, "sync", 0), "total_ns") == 50);
	CHECK(is(row(j, "sync", 0), "waits_for", "free") &&
		num(row(j, "sync", 0), "gpu_busy_ns") == 40);
	json_decref(j);

	/* with two devices it is unknown for which one it waits */
	gpus_begin(&g, NULL);
	type = type_of(&g, "cuMemFree_v2", GT_LAYER_API, GT_OP_FREE, GT_MEM_DEVICE);
	launched(&g, 0, 0, 10, 20, 200);
	call_of(&g, GT_CALL, type, 100, 250, 0);
	j = report(gpus_end(&g), sync_only, &plain);
	CHECK(rows(j, "sync") == 0 && noted(j, "sync", "1 free is left out: it may"));
	json_decref(j);
}

static void copies_that_wait(void)
{
	struct gpus g;
	uint32_t async, both;
	json_t *j;

	gpus_begin_with(&g, NULL, 1);
	async = type_of(&g, "cuMemcpyHtoDAsync_v2", GT_LAYER_API, GT_OP_COPY, 0);
	both = type_of(&g, "cuMemcpyDtoH_v2", GT_LAYER_API, GT_OP_COPY, 0);
	for (int i = 0; i < 4; i++) {
		struct gt_gpu_work w = gpus_work(
			g.stream[0][0], 1020 + i * 100, i == 1 ? 1090 + i * 100 : 1030 + i * 100);

		w.cause = (struct gt_gpu_cause){ .join = GT_JOIN_CORRELATION,
			.track = g.thread[0],
			.name = g.launch_name,
			.start = 1000 + i * 100,
			.ns = 50 };
		call_of(&g, GT_CALL, i == 3 ? both : async, 1000 + i * 100, 1050 + i * 100, 0);
		gpus_copy(&g, &w, i == 3 ? GT_DIR_DTOH : GT_DIR_HTOD,
			i == 2 ? GT_GPU_MEM_PINNED : GT_GPU_MEM_PAGEABLE, GT_GPU_MEM_DEVICE, 8);
	}
	call_of(&g, GT_CALL, type_of(&g, "cuMemcpyDtoD_v2", GT_LAYER_API, GT_OP_COPY, 0), 2000,
		2050, 0);
	j = report(gpus_end(&g), sync_only, &plain);
	CHECK(rows(j, "sync") == 2 &&
		num(row_named(j, "sync", "call", "cuMemcpyHtoDAsync_v2"), "count") == 1);
	CHECK_EQ(num(row_named(j, "sync", "call", "cuMemcpyHtoDAsync_v2"), "gpu_busy_ns"), 10);
	CHECK(num(row_named(j, "sync", "call", "cuMemcpyDtoH_v2"), "count") == 1 &&
		is(row(j, "sync", 0), "waits_for", "copy"));
	json_decref(j);
}

/* If work may be missing, no wait is unnecessary; an open wait waits for work that is not
 * recorded yet. */
static void what_may_be_missing(void)
{
	struct gpus g;
	json_t *j;

	known_waits(&g);
	call_of(&g, GT_OPEN, type_of(&g, "cuStreamSynchronize", GT_LAYER_API, GT_OP_SYNC, 0), 700,
		0, 0);
	gt_writer_epoch(g.w, 1000, &g.err);
	j = report(gpus_end(&g), sync_only, &plain);
	CHECK(num(row(j, "sync", 0), "open") == 1 && num(row(j, "sync", 0), "total_ns") == 300 &&
		is(row(j, "sync", 0), "waits_for", "stream"));
	CHECK(num(row(j, "sync", 0), "untold") == 1 &&
		num(row(j, "sync_threads", 0), "needless") == 4);
	json_decref(j);

	known_waits(&g);
	gt_writer_loss(g.w, GT_SCOPE_ALL, GT_NONE, 5000, 5000, 3, &g.err);
	j = report(gpus_end(&g), sync_only, &plain);
	CHECK(num(row(j, "sync_threads", 0), "needless") == 0 &&
		num(row(j, "sync_threads", 0), "untold") == 5);
	CHECK(noted(j, "sync", "events were lost"));
	json_decref(j);
}

static bool all_but_events(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return type->layer != GT_LAYER_GPU;
}

static void no_work_no_answer(void)
{
	struct gt_analysis_options o = plain;
	struct gpus g;
	json_t *j;

	for (int i = 0; i < 3; i++) {
		if (i < 2) {
			known_waits(&g);
			o.filter = (struct gt_filter){ .tid = i ? 0 : 100,
				.match = i ? all_but_events : NULL };
		} else {
			gpus_begin(&g, "{\"events\":\"api,gpu\"}");
			o.filter = (struct gt_filter){ 0 };
			call_of(&g, GT_CALL,
				type_of(&g, "cuCtxSynchronize", GT_LAYER_API, GT_OP_SYNC, 0), 10,
				20, 0);
		}
		j = report(gpus_end(&g), sync_only, &o);
		CHECK(rows(j, "sync") && num(row(j, "sync", 0), "total_ns") > 0 &&
			absent(row(j, "sync", 0), "gpu_busy_ns"));
		CHECK(absent(row(j, "sync", 0), "needless") && noted(j, "sync", "cannot answer"));
		CHECK(num(row(j, "sync", 0), "untold") == num(row(j, "sync", 0), "count"));
		json_decref(j);
	}
}

/* If no waiting calls of the driver are recorded, those of the runtime are used. */
static void calls_of_the_runtime_are_used(void)
{
	struct gpus g;
	json_t *j;

	for (int i = 0; i < 2; i++) {
		gpus_begin_with(&g, NULL, 1);
		launched(&g, 0, 0, 10, 20, 200);
		call_of(&g, GT_SPAN,
			type_of(&g, "cudaDeviceSynchronize_v3020", GT_LAYER_RUNTIME, GT_OP_SYNC, 0),
			100, 210, 0);
		if (i)
			call_of(&g, GT_CALL,
				type_of(&g, "cuCtxSynchronize", GT_LAYER_API, GT_OP_SYNC, 0), 110,
				205, 0);
		j = report(gpus_end(&g), sync_only, &plain);
		CHECK(rows(j, "sync") == 1 &&
			is(row(j, "sync", 0), "waits_for", i ? "context" : "device"));
		CHECK(num(row(j, "sync", 0), "total_ns") == (i ? 95 : 110) &&
			num(row(j, "sync", 0), "needless") == 0);
		json_decref(j);
	}
}

static void recordings_stay_apart(void)
{
	struct gt_err err = GT_ERR_INIT;
	int both = memfd_create("both", 0);
	json_t *j;

	for (int i = 0; i < 2; i++) {
		struct gpus g;

		known_waits(&g);
		CHECK(gpus_end_into(&g, both));
	}
	j = report(gt_reader_open_fd(both, &err), sync_only, &plain);
	CHECK(rows(j, "sync") == 8 && rows(j, "sync_threads") == 2 &&
		num(row(j, "sync_threads", 1), "recording") == 1);
	CHECK(num(row(j, "sync_threads", 0), "wait_ns") == 326 &&
		num(row(j, "sync_threads", 1), "wait_ns") == 326);
	CHECK(num(row(j, "sync_threads", 0), "needless") == 4 &&
		num(row(j, "sync_threads", 1), "needless") == 4);
	json_decref(j);
}

/* ---- beside brute force ---- */

#define CALLS 6 /* kinds of calls that may wait */
struct expected {
	int64_t count, total, waited, busy, needless, needless_ns, untold, longest, open;
};
struct range {
	bool on;
	int64_t from, to;
};

static bool seen(const struct range *r, int64_t start, int64_t end)
{
	return !r->on || (start < r->to && (end > r->from || start >= r->from));
}

static int64_t part(const struct range *r, int64_t at)
{
	return !r->on ? at : at < r->from ? r->from : at > r->to ? r->to : at;
}

/* Does this work count for a wait of this device and stream (-1: any)? */
static bool counts(const struct rp_op *o, const struct range *r, int device, int stream)
{
	return seen(r, o->start, o->end) && (device < 0 || o->device == device) &&
		(stream < 0 || o->stream == stream);
}

static int64_t worked(
	const struct rp *p, const struct range *r, int device, int64_t from, int64_t to)
{
	static char cell[RP_END];
	int64_t ns = 0;

	memset(cell, 0, sizeof(cell));
	for (int i = 0; i < p->nops; i++)
		if (counts(&p->ops[i], r, device, -1))
			memset(cell + p->ops[i].start, 1,
				(size_t)(p->ops[i].end - p->ops[i].start));
	for (int64_t t = part(r, from); t < part(r, to); t++)
		ns += cell[t];
	return ns;
}

/* The latest end of the pending work, -1: there was none; *unsure: there may have been some. */
static int64_t pending(const struct rp *p, const struct range *r, const struct rp_call *c,
	int device, int stream, bool *unsure)
{
	int64_t over = c->end > c->start ? c->end : c->start + 1, until = -1;

	*unsure = false;
	for (int i = 0; i < p->nops; i++) {
		const struct rp_op *o = &p->ops[i];

		if (!counts(o, r, device, stream) || o->end <= c->start || o->start >= over)
			continue;
		if (o->start <= c->start || (o->call >= 0 && p->calls[o->call].start < c->start))
			until = o->end > until ? o->end : until;
		else
			*unsure |= o->call < 0;
	}
	return until;
}

static bool copied_within(const struct rp *p, const struct range *r, const struct rp_call *c)
{
	const struct rp_op *o = c->op < 0 ? NULL : &p->ops[c->op];
	int64_t over = c->end > c->start ? c->end : c->start + 1;

	return o && seen(r, o->start, o->end) && o->end <= c->end && o->start < over &&
		(o->src == GT_GPU_MEM_PAGEABLE || o->dst == GT_GPU_MEM_PAGEABLE);
}

/* Adds one call to the expected figures, if it waits. */
static void expect(
	const struct rp *p, const struct range *r, const struct rp_call *c, struct expected *e)
{
	bool aimed = rp_aimed(p, c), unsure, several = !(p->waits && p->seed % 3),
	     missing = c->open;
	int device = aimed ? c->device : -1, stream = aimed ? c->stream : -1;
	int64_t until = pending(p, r, c, device, stream, &unsure),
		busy = worked(p, r, device, c->start, c->end);
	bool certain = aimed || ((c->what == RP_SYNC_ALL || c->what == RP_FREE) && !several);

	missing |= r->on && (c->start < r->from || c->end > r->to);
	if (c->what == RP_COPY && !copied_within(p, r, c))
		return;
	if (c->what == RP_FREE && (until < 0 || until > c->end || !certain))
		return;
	e->count++;
	e->open += c->open;
	e->total += c->end - c->start;
	e->waited += part(r, c->end) - part(r, c->start);
	e->busy += busy;
	e->longest = c->end - c->start > e->longest ? c->end - c->start : e->longest;
	if (c->what == RP_COPY || (until >= 0 && certain))
		return;
	if (until >= 0 || unsure || missing) {
		e->untold++;
	} else {
		e->needless++;
		e->needless_ns += part(r, c->end) - part(r, c->start);
	}
}

/* thread x what x (device and stream, or 4 for none) */
static void expect_all(const struct rp *p, const struct range *r, struct expected e[2][RP_WHATS][5])
{
	memset(e, 0, 2 * sizeof(*e));
	for (int i = 0; i < p->ncalls; i++) {
		const struct rp_call *c = &p->calls[i];
		bool waits = c->what == RP_SYNC || c->what == RP_SYNC_ALL || c->what == RP_COPY ||
			c->what == RP_FREE;

		if (waits && seen(r, c->start, c->end))
			expect(p, r, c,
				&e[c->thread][c->what]
				  [rp_aimed(p, c) ? c->device * 2 + c->stream : 4]);
	}
}

static const json_t *find(const json_t *j, int thread, const char *call, int stream)
{
	for (size_t i = 0; i < rows(j, "sync"); i++) {
		const json_t *one = row(j, "sync", i);

		if (num(one, "tid") == 100 + thread && is(one, "call", call) &&
			(stream < 0 ? absent(one, "stream") : num(one, "stream") == 7 + stream))
			return one;
	}
	return NULL;
}

static void add(struct expected *to, const struct expected *e)
{
	int64_t longest = e->longest > to->longest ? e->longest : to->longest;

	for (size_t i = 0; i < sizeof(*e) / sizeof(int64_t); i++)
		((int64_t *)to)[i] += ((const int64_t *)e)[i];
	to->longest = longest;
}

static bool same(const json_t *row, const struct expected *e)
{
	return row && num(row, "count") == (double)e->count &&
		num(row, "total_ns") == (double)e->total &&
		num(row, "wait_ns") == (double)e->waited &&
		num(row, "gpu_busy_ns") == (double)e->busy &&
		num(row, "gpu_idle_ns") == (double)(e->waited - e->busy) &&
		num(row, "needless") == (double)e->needless &&
		num(row, "needless_ns") == (double)e->needless_ns &&
		num(row, "untold") == (double)e->untold &&
		num(row, "max_ns") == (double)e->longest && num(row, "open") == (double)e->open;
}

/* Streams of the two devices have the same ids, so with two devices the rows of one id are
 * ambiguous here: only the threads are compared then. */
static bool agree(const struct rp *p, const json_t *j, struct expected e[2][RP_WHATS][5])
{
	size_t groups = 0, threads = 0;
	bool ok = true;

	for (int t = 0; t < 2; t++) {
		struct expected all = { 0 };

		for (int w = 0; w < RP_WHATS; w++)
			for (int s = 0; s < 5; s++) {
				const struct expected *one = &e[t][w][s];

				add(&all, one);
				groups += one->count > 0;
				if (one->count && (p->seed % 3 || s == 4))
					ok &= same(
						find(j, t, rp_kinds[w].name, s == 4 ? -1 : s % 2),
						one);
			}
		threads += all.count > 0;
		for (size_t i = 0; i < rows(j, "sync_threads"); i++)
			if (num(row(j, "sync_threads", i), "tid") == 100 + t)
				ok &= same(row(j, "sync_threads", i), &all);
	}
	return ok && rows(j, "sync") == groups && rows(j, "sync_threads") == threads;
}

static void waits_equal_brute_force(void)
{
	static struct rp p;
	static struct expected e[2][RP_WHATS][5];
	int64_t needless = 0, untold = 0, copies = 0, frees = 0, aimed = 0;

	for (unsigned seed = 1; seed <= 60; seed++) {
		struct range whole = { 0 };
		json_t *j = report(rp_make_with(&p, seed, seed % 4 != 3), sync_only, &plain);

		expect_all(&p, &whole, e);
		CHECK(agree(&p, j, e) && !noted(j, "sync", "too late"));
		json_decref(j);
		for (int s = 0; s < 5; s++) {
			copies += e[0][RP_COPY][s].count;
			frees += e[0][RP_FREE][s].count;
			aimed += s < 4 ? e[0][RP_SYNC][s].count : 0;
			needless += e[0][RP_SYNC][s].needless;
			untold += e[0][RP_SYNC][s].untold;
		}
	}
	CHECK(needless > 20 && untold > 20 && copies > 10 && frees > 10 && aimed > 20);
}

static void a_range_cuts_waits(void)
{
	static struct rp p;
	static struct expected e[2][RP_WHATS][5];

	for (unsigned seed = 1; seed <= 40; seed++) {
		struct gt_analysis_options o = plain;
		struct range r = { true, 500 + (int)seed * 70, 2500 + (int)seed * 90 };
		json_t *j;

		o.filter = (struct gt_filter){ .ranged = true, .from = r.from, .to = r.to };
		j = report(rp_make_with(&p, seed, true), sync_only, &o);
		expect_all(&p, &r, e);
		CHECK(agree(&p, j, e));
		json_decref(j);
	}
}

T_MAIN(T(waits_by_call), T(frees_that_wait), T(copies_that_wait), T(what_may_be_missing),
	T(no_work_no_answer), T(calls_of_the_runtime_are_used), T(recordings_stay_apart),
	T(waits_equal_brute_force), T(a_range_cuts_waits))
