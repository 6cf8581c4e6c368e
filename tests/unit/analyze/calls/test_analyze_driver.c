/* Time that calls spend in the driver: known figures, and random trees of calls compared with a
 * count by cells of 1 ns. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/reports.h"

static const char *const driver_only[] = { "driver", NULL };

static void known_times(void)
{
	struct trace t;
	json_t *j;

	begin(&t, true);
	with_ioctl(&t);
	known_calls(&t);
	call(&t, 0, RM, 9100, 9200, 1, 0x56, 0, 0); /* in the call that is open */
	call(&t, 1, RM, 7000, 7030, 0, 0, 0, 0);    /* in no call */
	gt_writer_epoch(t.w, 10000, &t.err);
	j = report(end(&t), driver_only, &plain);
	CHECK(rows(j, "driver") == 1 && num(row(j, "driver", 0), "driver_ns") == 300 &&
		num(row(j, "driver", 0), "outside_ns") == 30);
	CHECK(num(row(j, "driver", 0), "ioctls") == 2 &&
		num(row(j, "driver", 0), "outside_ioctls") == 1);
	CHECK(is(row(j, "driver_calls", 0), "call", "cuMemAlloc_v2") &&
		num(row(j, "driver_calls", 0), "count") == 3);
	CHECK(num(row(j, "driver_calls", 0), "total_ns") == 950 &&
		num(row(j, "driver_calls", 0), "driver_ns") == 200);
	CHECK(num(row(j, "driver_calls", 0), "driver_percent") == 21.05 &&
		num(row(j, "driver_calls", 0), "rest_ns") == 750);
	CHECK(num(row(j, "driver_calls", 0), "entered") == 1 &&
		num(row(j, "driver_calls", 0), "max_driver_ns") == 200);
	CHECK_EQ(
		num(row_named(j, "driver_calls", "call", "cuStreamSynchronize"), "driver_ns"), 100);
	CHECK_EQ(num(row_named(j, "driver_calls", "call", "cuInit"), "driver_ns"), 0);
	CHECK(rows(j, "driver_failures") == 1 && num(row(j, "driver_failures", 0), "code") == 0x56);
	CHECK(is(row(j, "driver_failures", 0), "status", "NV_ERR_NOT_SUPPORTED") &&
		num(row(j, "driver_failures", 0), "of") == 3);
	CHECK(num(row(j, "driver_failures", 0), "total_ns") == 100 &&
		num(row(j, "driver_failures", 0), "first_ns") == 8100);
	json_decref(j);
}

static void failures_by_status(void)
{
	struct trace t;
	json_t *j;

	begin(&t, false);
	with_ioctl(&t);
	for (int i = 0; i < 6; i++)
		call(&t, 0, RM, 100 * i, 100 * i + 10, 0,
			(const int[]){ 0x51, -12, 0x51, 0xffff, 0x7777, 0 }[i], 0, 0);
	j = report(end(&t), driver_only, &plain);
	CHECK(rows(j, "driver_failures") == 4 &&
		is(row(j, "driver_failures", 0), "status", "NV_ERR_NO_MEMORY"));
	CHECK(num(row(j, "driver_failures", 0), "count") == 2 &&
		num(row(j, "driver_failures", 0), "of") == 6);
	CHECK(is(row(j, "driver_failures", 1), "status", "Cannot allocate memory") &&
		is(row(j, "driver_failures", 2), "status", "NV_ERR_GENERIC"));
	CHECK(is(row(j, "driver_failures", 3), "status", "driver status 0x7777"));
	json_decref(j);
}

static bool no_ioctls(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return type->layer != GT_LAYER_IOCTL;
}

/* "No time in the driver" differs from "not recorded". */
static void nothing_known(void)
{
	struct gt_analysis_options o = plain;
	struct trace t;
	json_t *j;

	begin(&t, true);
	known_calls(&t);
	j = report(end(&t), driver_only, &plain);
	CHECK(rows(j, "driver") == 0 && rows(j, "driver_calls") == 0 &&
		noted(j, "driver", "not recorded"));
	json_decref(j);
	known(&t, true);
	o.filter.match = no_ioctls;
	j = report(end(&t), driver_only, &o);
	CHECK(rows(j, "driver") == 0 && rows(j, "driver_calls") == 0 &&
		noted(j, "driver", "cannot answer"));
	json_decref(j);
}

/* ---- beside brute force ---- */

#define END 6000
#define MOST 4000
enum { APIS = 3, KINDS = APIS + 2 };
static const char *const names[KINDS] = { "cuOne", "cuTwo", "cuThree", "ioctl A", "ioctl B" };
struct node {
	int thread, kind, parent, depth;
	int64_t start, end;
};
struct tree {
	struct node list[MOST];
	int n;
};

static void grow(struct tree *t, int thread, int64_t from, int64_t to, int parent, int depth)
{
	for (int64_t at = from; at <= to && t->n < MOST && depth < 5;) {
		bool ioctl =
			depth > 2 || (parent >= 0 && t->list[parent].kind >= APIS) || !(rand() % 3);
		struct node *n = &t->list[t->n++];
		int64_t length = rand() % 5 ? rand() % (depth ? 60 : 400) : 0;

		*n = (struct node){ thread, ioctl ? APIS + rand() % 2 : rand() % APIS, parent,
			depth, at, at + length < to ? at + length : to };
		if (rand() % 3)
			grow(t, thread, n->start, n->end, t->n - 1, depth + 1);
		at = n->end + (rand() % 3 ? rand() % 20 : 0) + (n->end == at);
		if (depth == 0 && at >= to)
			break;
	}
}

static bool api(const struct node *n) { return n->kind < APIS; }

static bool within(const struct node *ioctl, const struct node *n)
{
	return ioctl->thread == n->thread && !api(ioctl) && ioctl->start >= n->start &&
		(ioctl->start < n->end || ioctl->start == n->start);
}

static int64_t part(const struct gt_filter *f, int64_t at)
{
	return !f->ranged ? at : at < f->from ? f->from : at > f->to ? f->to : at;
}

static bool seen(const struct gt_filter *f, const struct node *n)
{
	return !f->ranged || (n->start < f->to && (n->end > f->from || n->start >= f->from));
}

static int64_t in_driver(
	const struct tree *t, const struct gt_filter *f, int thread, int64_t from, int64_t to)
{
	static char cell[END + 1];
	int64_t ns = 0;

	memset(cell, 0, sizeof(cell));
	for (int i = 0; i < t->n; i++)
		if (t->list[i].thread == thread && !api(&t->list[i]))
			memset(cell + t->list[i].start, 1,
				(size_t)(t->list[i].end - t->list[i].start));
	for (int64_t at = part(f, from); at < part(f, to); at++)
		ns += cell[at];
	return ns;
}

struct expected {
	int64_t count, ns, driver, ioctls, entered, longest;
};

static void expect(
	const struct tree *t, const struct gt_filter *f, const struct node *n, struct expected *e)
{
	int64_t driver = in_driver(t, f, n->thread, n->start, n->end), ioctls = 0;

	for (int i = 0; i < t->n; i++)
		ioctls += seen(f, &t->list[i]) && within(&t->list[i], n);
	e->ns += part(f, n->end) - part(f, n->start);
	e->driver += driver;
	e->ioctls += ioctls;
	e->entered += ioctls > 0;
	e->longest = driver > e->longest ? driver : e->longest;
}

/* Is the call in no other call, or in no call of its own name? A call that begins at the end of
 * another one is not in it. */
static bool outer(const struct tree *t, const struct gt_filter *f, const struct node *n, bool any)
{
	for (int i = 0; i < t->n; i++) {
		const struct node *up = &t->list[i];

		if (up->thread == n->thread && api(up) && seen(f, up) &&
			(any || up->kind == n->kind) && up->start <= n->start &&
			(n->start < up->end || n->start == up->start) &&
			(up->start < n->start || up->depth < n->depth))
			return false;
	}
	return true;
}

static bool agree(const struct tree *t, const struct gt_filter *f, const json_t *j)
{
	struct expected each[APIS] = { { 0 } }, all = { 0 };
	int64_t outside = 0, outside_ns = in_driver(t, f, 0, 0, END) + in_driver(t, f, 1, 0, END);
	bool ok = true;

	for (int i = 0; i < t->n; i++) {
		const struct node *n = &t->list[i];
		bool in = false;

		if (!seen(f, n))
			continue;
		if (api(n)) {
			each[n->kind].count++;
			if (outer(t, f, n, false))
				expect(t, f, n, &each[n->kind]);
			if (outer(t, f, n, true))
				expect(t, f, n, &all), all.count++;
			continue;
		}
		for (int k = 0; k < t->n; k++)
			in |= api(&t->list[k]) && seen(f, &t->list[k]) && within(n, &t->list[k]);
		outside += !in;
	}
	for (int k = 0; k < APIS; k++) {
		const json_t *r = row_named(j, "driver_calls", "call", names[k]);

		ok &= each[k].count ? num(r, "count") == (double)each[k].count &&
				num(r, "total_ns") == (double)each[k].ns &&
				num(r, "driver_ns") == (double)each[k].driver &&
				num(r, "ioctls") == (double)each[k].ioctls &&
				num(r, "entered") == (double)each[k].entered &&
				num(r, "max_driver_ns") == (double)each[k].longest
				    : !r;
	}
	return ok && num(row(j, "driver", 0), "calls") == (double)all.count &&
		num(row(j, "driver", 0), "total_ns") == (double)all.ns &&
		num(row(j, "driver", 0), "driver_ns") == (double)all.driver &&
		num(row(j, "driver", 0), "outside_ioctls") == (double)outside &&
		num(row(j, "driver", 0), "outside_ns") == (double)(outside_ns - all.driver);
}

/* Rows are written in the epoch in which they ended; with two sources the ioctls are on tracks
 * of their own. */
static struct gt_reader *written(const struct tree *t, bool two_sources)
{
	struct trace f;
	uint32_t type[KINDS], api_thread[2];

	begin(&f, false);
	for (int k = 0; k < KINDS; k++)
		type[k] = new_type(&f, names[k],
			(struct gt_type){ .category = k < APIS ? GT_CAT_OTHER : GT_CAT_IOCTL,
				.layer = k < APIS ? GT_LAYER_API : GT_LAYER_IOCTL },
			0, 0);
	memcpy(api_thread, f.thread, sizeof(api_thread));
	if (two_sources)
		seen_by(&f, "ebpf", 0);
	for (int64_t to = 700; to <= END + 700; to += 700) {
		for (int i = 0; i < t->n; i++) {
			const struct node *n = &t->list[i];
			struct gt_row row = { n->start, n->end, type[n->kind], 0, (uint8_t)n->depth,
				0 };

			for (int p = n->parent; two_sources && !api(n) && p >= 0;
				p = t->list[p].parent)
				row.depth -= api(&t->list[p]);
			if (n->end >= to - 700 && n->end < to)
				gt_writer_row(f.w, GT_CALL,
					api(n) ? api_thread[n->thread] : f.thread[n->thread], &row,
					NULL, &f.err);
		}
		gt_writer_epoch(f.w, to, &f.err);
	}
	return end(&f);
}

static void times_equal_brute_force(void)
{
	static struct tree t;

	for (unsigned seed = 1; seed <= 60; seed++) {
		struct gt_analysis_options o = plain;
		json_t *j;

		srand(seed);
		t.n = 0;
		for (int thread = 0; thread < 2; thread++)
			grow(&t, thread, rand() % 100, END - 500 - rand() % 3000, -1, 0);
		if (seed % 3 == 0)
			o.filter = (struct gt_filter){
				.ranged = true, .from = 400 + seed * 7, .to = 1500 + seed * 11
			};
		j = report(written(&t, seed % 2), driver_only, &o);
		CHECK(agree(&t, &o.filter, j) && !noted(j, "driver", "too late"));
		json_decref(j);
	}
}

/* Writes a call of a function of the kernel. */
static void function(struct trace *t, uint32_t type, int64_t start, int64_t to, uint8_t depth)
{
	const struct gt_row row = { .start = start, .end = to, .type = type, .depth = depth };

	gt_writer_row(t->w, GT_SPAN, t->thread[0], &row, NULL, &t->err);
}

/* Functions are below the request, or the function, that called them. */
static void functions_of_the_kernel(void)
{
	const struct gt_type shape = { .category = GT_CAT_KERNEL, .layer = GT_LAYER_USER };
	uint32_t outer, inner;
	struct trace t;
	const json_t *o;
	json_t *j;

	begin(&t, false);
	with_ioctl(&t);
	outer = new_type(&t, "nv_ctx_switch", shape, 0, 0);
	inner = new_type(&t, "nv_sched_pick", shape, 0, 0);
	call(&t, 0, RM, 100, 200, 0, 0, 0, 0);
	function(&t, outer, 110, 190, 0);
	function(&t, inner, 120, 150, 1);
	function(&t, inner, 150, 160, 1);
	call(&t, 0, RM, 300, 400, 0, 0, 0, 0);
	function(&t, inner, 310, 315, 0);
	function(&t, inner, 500, 507, 0); /* in no request */
	j = report(end(&t), driver_only, &plain);
	CHECK_EQ(rows(j, "driver_functions"), 4);
	o = row_named(j, "driver_functions", "function", "nv_ctx_switch");
	CHECK(is(o, "request", "NV_ESC_RM_ALLOC") && num(o, "count") == 1);
	CHECK(num(o, "total_ns") == 80 && num(o, "self_ns") == 40 && num(o, "max_ns") == 80);
	o = row_named(j, "driver_functions", "caller", "nv_ctx_switch");
	CHECK(is(o, "request", "NV_ESC_RM_ALLOC") && is(o, "function", "nv_sched_pick"));
	CHECK(num(o, "count") == 2 && num(o, "total_ns") == 40 && num(o, "self_ns") == 40);
	CHECK(row(j, "driver_functions", 1) == o);
	o = row(j, "driver_functions", 2);
	CHECK(num(o, "total_ns") == 5 && absent(o, "caller") && !absent(o, "request"));
	o = row(j, "driver_functions", 3);
	CHECK(num(o, "total_ns") == 7 && absent(o, "caller") && absent(o, "request"));
	CHECK_EQ(num(row(j, "driver", 0), "outside_ioctls"), 2);
	json_decref(j);
}

/* Files without such functions have no such table. */
static void no_functions_of_the_kernel(void)
{
	struct trace t;
	json_t *j;

	begin(&t, true);
	with_ioctl(&t);
	known_calls(&t);
	j = report(end(&t), driver_only, &plain);
	CHECK(!json_object_get(j, "driver_functions") && rows(j, "driver") == 1);
	json_decref(j);
}

T_MAIN(T(functions_of_the_kernel), T(no_functions_of_the_kernel), T(known_times),
	T(failures_by_status), T(nothing_known), T(times_equal_brute_force))
