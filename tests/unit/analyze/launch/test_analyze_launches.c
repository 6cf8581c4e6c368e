/* The report `launches`: over small programs whose figures are known, and over random ones,
 * compared with figures counted a second time: the parts of a launch between every two
 * neighbouring times, and periods from the list of all gaps. */
#define _GNU_SOURCE
#include "analyze/launch/starvation.h"
#include "tests/unit/launch_programs.h"

struct split {
	uint64_t launches, ops, call, queue, queued, gpu, all, part[3], brief, excess;
};

/* Each ns of a launch is the GPU's, the queue's or the call's: looked at between every two
 * neighbouring times of the four that matter. */
static void add_split(struct split *s, int call)
{
	const struct call *c = &prog.calls[call];
	int64_t from = work[call].start, to = work[call].end, t[4] = { c->start, c->end, from, to };

	s->launches++;
	s->ops += (uint64_t)work[call].n;
	s->call += (uint64_t)(c->end - c->start);
	s->gpu += (uint64_t)(to - from);
	s->queued += from >= c->end;
	s->queue += from >= c->end ? (uint64_t)(from - c->end) : 0;
	if (to - from < c->end - c->start) {
		s->brief++;
		s->excess += (uint64_t)((c->end - c->start) - (to - from));
	}
	qsort(t, 4, sizeof(*t), by_value);
	for (int i = 0; i < 3; i++) {
		bool on = t[i] >= from && t[i] < to, waits = t[i] >= c->end && t[i] < from;

		if (t[i] >= c->start) {
			s->part[on ? 2 : waits ? 1 : 0] += (uint64_t)(t[i + 1] - t[i]);
			s->all += (uint64_t)(t[i + 1] - t[i]);
		}
	}
}

static struct split split_of(int name, int graph)
{
	struct split s = { 0 };

	for (int c = 0; c < prog.ncalls; c++) {
		const struct op *first = work[c].first;

		if (first && (graph ? first->graph == graph : !first->graph && first->name == name))
			add_split(&s, c);
	}
	return s;
}

static bool same_split(const json_t *j, const json_t *k, const struct split *s, const char *label)
{
	const json_t *brief = row_named(j, "short_launches", "launched", label);
	double shares = num(k, "call_percent") + num(k, "queue_percent") + num(k, "gpu_percent");

	SAME(num(k, "launches"), s->launches);
	SAME(num(k, "ops"), s->ops);
	SAME(num(k, "call_ns"), s->call);
	SAME(num(k, "queue_ns"), s->queue);
	SAME(num(k, "queued"), s->queued);
	SAME(num(k, "gpu_ns"), s->gpu);
	SAME(num(k, "all_ns"), s->all);
	SAME(num(k, "short"), s->brief);
	SAME(s->part[0] + s->part[1] + s->part[2], s->all);
	SAME(s->part[1], s->queue);
	if (s->all) {
		SAME(shares > 99.999 && shares < 100.001, 1);
		SAME(num(k, "call_percent") - 100.0 * (double)s->part[0] / (double)s->all < 0.01001,
			1);
		SAME(100.0 * (double)s->part[2] / (double)s->all - num(k, "gpu_percent") < 0.01001,
			1);
	}
	SAME(brief != NULL, s->excess > 0);
	if (brief) {
		SAME(num(brief, "excess_ns"), s->excess);
		SAME(num(brief, "short"), s->brief);
	}
	return true;
}

static bool same_launches(const json_t *j)
{
	size_t found = 0;

	for (int name = 0; name < COPY_NAME; name++) {
		struct split s = split_of(name, 0);
		const json_t *k = row_named(j, "launch_times", "launched", plain_names[name]);

		SAME(k != NULL, s.launches > 0);
		if (k && !same_split(j, k, &s, plain_names[name]))
			return false;
		found += s.launches > 0;
	}
	for (size_t i = 0; i < rows(j, "launch_times"); i++) {
		const json_t *k = row(j, "launch_times", i);
		struct split s = split_of(-1, (int)num(k, "graph"));

		if (!absent(k, "graph") &&
			!same_split(j, k, &s, json_string_value(json_object_get(k, "launched"))))
			return false;
		found += !absent(k, "graph");
		if (!absent(k, "graph"))
			SAME(num(k, "call_per_node_ns"), s.call / s.ops);
	}
	SAME(found, rows(j, "launch_times"));
	return true;
}

/* ---- periods, from the list of all gaps of a device ---- */

struct a_gap {
	int64_t from, to;
	bool bound, late, unknown;
	int64_t parts[3];
};
struct a_stretch {
	int64_t from, to;
	uint64_t launches, bound, idle;
};

static bool behind(const struct op *o) { return work[o->call].start < o->start; }

/* The operation that ended the gap, and whether it had waited for its launch. */
static void judge(struct a_gap *g, int device)
{
	bool waited = false;
	int best = -1;

	for (int i = 0; i < prog.nops; i++) {
		const struct op *o = &prog.ops[i];
		const struct call *c = o->call < 0 ? NULL : &prog.calls[o->call],
				  *b = best < 0 ? NULL : &prog.calls[best];

		if (o->device != device || o->start != g->to)
			continue;
		g->unknown |= !c;
		if (c && behind(o))
			waited = true;
		else if (c && (!b || c->end < b->end || (c->end == b->end && c->start < b->start)))
			best = o->call;
	}
	if (!g->unknown && !waited && prog.calls[best].end > g->from &&
		g->to - prog.calls[best].end <= GT_PROMPT_NS) {
		int64_t start = prog.calls[best].start, end = prog.calls[best].end;

		g->late = g->to - g->from > GT_LATE_NS;
		g->bound = !g->late;
		start = start < g->from ? g->from : start > g->to ? g->to : start;
		end = end > g->to ? g->to : end;
		g->parts[0] = start - g->from, g->parts[1] = end - start, g->parts[2] = g->to - end;
	}
}

static int gaps_of(int device, struct a_gap *gaps, bool *any)
{
	static struct op sorted[MOST];
	int64_t last = 0;
	int n = 0;

	*any = false;
	memcpy(sorted, prog.ops, (size_t)prog.nops * sizeof(*sorted));
	qsort(sorted, (size_t)prog.nops, sizeof(*sorted), by_start);
	for (int i = 0; i < prog.nops; i++) {
		if (sorted[i].device != device)
			continue;
		if (!*any)
			last = sorted[i].start;
		*any = true;
		if (sorted[i].start > last) {
			gaps[n] = (struct a_gap){ .from = last, .to = sorted[i].start };
			judge(&gaps[n++], device);
		}
		last = sorted[i].end > last ? sorted[i].end : last;
	}
	return n;
}

/* Can a period continue from gap a to gap b? */
static bool goes_on(const struct a_gap *gaps, int a, int b, int device)
{
	for (int i = a + 1; i < b; i++)
		if (gaps[i].to - gaps[i].from > GT_LATE_NS)
			return false;
	for (int i = 0; i < prog.nops; i++) {
		const struct op *o = &prog.ops[i];

		if (o->device == device && o->start > gaps[a].to && o->start <= gaps[b].to &&
			(o->call < 0 ||
				(!behind(o) && o->start - prog.calls[o->call].end > GT_PROMPT_NS)))
			return false;
	}
	return true;
}

static void count_launches(struct a_stretch *s, int64_t first, int device)
{
	for (int c = 0; c < prog.ncalls; c++) {
		const struct op *o = work[c].first;

		s->launches += o && o->device == device && o->start >= first && o->start <= s->to;
	}
}

static int stretches_of(int device, const struct a_gap *gaps, int n, struct a_stretch *list)
{
	int found = 0;

	for (int a = 0; a < n; a++) {
		struct a_stretch s = { .from = gaps[a].from, .to = gaps[a].to };
		int last = a;

		if (!gaps[a].bound)
			continue;
		for (int b = a + 1; b < n && goes_on(gaps, last, b, device); b++)
			if (gaps[b].bound)
				last = b;
		for (int i = a; i <= last; i++) {
			s.idle += (uint64_t)(gaps[i].to - gaps[i].from);
			s.bound += gaps[i].bound ? (uint64_t)(gaps[i].to - gaps[i].from) : 0;
		}
		s.to = gaps[last].to;
		count_launches(&s, gaps[a].to, device);
		list[found++] = s;
		a = last;
	}
	return found;
}

static bool has_stretch(const json_t *j, const struct a_stretch *s, int device, int64_t origin)
{
	for (size_t i = 0; i < rows(j, "stretches"); i++) {
		const json_t *k = row(j, "stretches", i);

		if (num(k, "device") == device && num(k, "start_ns") == (double)(s->from - origin))
			return num(k, "duration_ns") == (double)(s->to - s->from) &&
				num(k, "launches") == (double)s->launches &&
				num(k, "unqueued_ns") == (double)s->bound &&
				num(k, "idle_ns") == (double)s->idle;
	}
	return false;
}

static bool same_stretches(const json_t *j, int64_t origin)
{
	static struct a_gap gaps[MOST];
	static struct a_stretch list[MOST];
	size_t devices = 0, all = 0;

	for (int device = 0; device < 2; device++) {
		int64_t from, to, parts[3] = { 0 }, idle = 0, bound = 0, late = 0, unknown = 0;
		bool any;
		int n = gaps_of(device, gaps, &any), found = stretches_of(device, gaps, n, list);
		const json_t *k = NULL;

		for (int i = 0; i < n; i++) {
			int64_t ns = gaps[i].to - gaps[i].from;

			idle += ns;
			bound += gaps[i].bound ? ns : 0;
			late += gaps[i].late ? ns : 0;
			unknown += gaps[i].unknown ? ns : 0;
			for (int p = 0; p < 3; p++)
				parts[p] += gaps[i].bound ? gaps[i].parts[p] : 0;
		}
		if (!any)
			continue;
		find_window(&from, &to);
		for (size_t i = 0; i < rows(j, "unqueued"); i++)
			k = num(row(j, "unqueued", i), "device") == device ? row(j, "unqueued", i)
									   : k;
		SAME(num(k, "window_ns"), to - from);
		SAME(num(k, "idle_ns"), idle);
		SAME(num(k, "unqueued_ns"), bound);
		SAME(num(k, "before_call_ns"), parts[0]);
		SAME(num(k, "in_call_ns"), parts[1]);
		SAME(num(k, "after_call_ns"), parts[2]);
		SAME(num(k, "late_ns"), late);
		SAME(num(k, "unknown_ns"), unknown);
		SAME(num(k, "launched_ns"), idle - bound - late - unknown);
		SAME(num(k, "stretches"), found);
		for (int i = 0; i < found; i++)
			SAME(has_stretch(j, &list[i], device, origin), 1);
		devices++;
		all += (size_t)found;
	}
	SAME(rows(j, "unqueued"), devices);
	SAME(rows(j, "stretches"), all);
	return true;
}

/* ---- random programs ---- */

static bool same_launches_and_stretches(const json_t *j, int64_t origin)
{
	return same_launches(j) && same_stretches(j, origin);
}

static void as_counted_by_hand(void)
{
	CHECK(agrees_on_random_ones("launches", same_launches_and_stretches));
}
static void as_counted_in_the_others_program(void)
{
	CHECK(agrees_on_those_of_others("launches", same_launches_and_stretches));
}

/* ---- known figures ---- */

static void what_a_launch_is_made_of(void)
{
	const json_t *k;
	int64_t origin;
	json_t *j;

	known_program();
	j = reported((const char *[]){ "launches", NULL }, 1, &plain, &origin);
	CHECK(rows(j, "launch_times") == 3 && origin == 1000);
	k = row_named(j, "launch_times", "launched", "add");
	CHECK(num(k, "launches") == 2 && num(k, "call_ns") == 200 &&
		num(k, "call_mean_ns") == 100 && num(k, "queued") == 1);
	CHECK(num(k, "queue_ns") == 50 && num(k, "gpu_ns") == 220 &&
		num(k, "all_ns") == 170 + 250 && absent(k, "call_per_node_ns"));
	CHECK(num(k, "gpu_percent") == 52.38 && num(k, "queue_percent") == 11.91 &&
		num(k, "call_percent") == 35.71);
	CHECK_EQ(num(k, "short"), 1);
	k = row(j, "launch_times", 0);
	CHECK(is(k, "launched", "graph 9 (pid 100), 3 nodes") && num(k, "launches") == 1 &&
		num(k, "ops") == 3 && num(k, "graph") == 9);
	CHECK(num(k, "call_per_node_ns") == 100 && num(k, "gpu_ns") == 200 &&
		num(k, "queue_ns") == 30 && num(k, "short") == 1);
	k = row_named(j, "launch_times", "launched", "relu");
	CHECK(num(k, "queue_ns") == 17300 && num(k, "gpu_ns") == 10 && num(k, "launches") == 1);
	CHECK(noted(j, "launch_times", "1 of 8 kernels, copies and sets is joined to no call") &&
		noted(j, "launch_times",
			"1 of 8 kernels, copies and sets was joined to its call by order in the stream") &&
		noted(j, "launch_times", "4 launches, 1 of them of graphs"));
	CHECK(noted(j, "launch_times", "gtanalyze queues"));
	k = row(j, "short_launches", 0);
	CHECK(rows(j, "short_launches") == 3 && is(k, "launched", "graph 9 (pid 100), 3 nodes") &&
		num(k, "excess_ns") == 100);
	CHECK_EQ(num(row_named(j, "short_launches", "launched", "add"), "excess_ns"), 80);
	json_decref(j);
}

static void where_the_gpu_waits(void)
{
	const json_t *k;
	int64_t origin;
	json_t *j;

	known_program();
	j = reported((const char *[]){ "launches", NULL }, 2, &plain, &origin);
	k = row(j, "unqueued", 0);
	/* 1170-1250, 1450-2330; within the graph 50; unknown 2530-3000; launched 3010-20000; late
	 * 20010-1500020 */
	CHECK(rows(j, "unqueued") == 1 && num(k, "unqueued_ns") == 80 + 880 &&
		num(k, "before_call_ns") == 30 + 550);
	CHECK(num(k, "in_call_ns") == 50 + 300 && num(k, "after_call_ns") == 30 &&
		num(k, "unknown_ns") == 470);
	CHECK(num(k, "launched_ns") == 50 + 16990 && num(k, "late_ns") == 1480010 &&
		num(k, "window_ns") == 1500100 - 1150);
	CHECK(num(k, "stretches") == 1 && num(k, "unqueued_percent") == 0.06);
	k = row(j, "stretches", 0);
	CHECK(rows(j, "stretches") == 1 && num(k, "start_ns") == 170 &&
		num(k, "duration_ns") == 2330 - 1170 && num(k, "launches") == 2);
	CHECK(num(k, "unqueued_ns") == 960 && num(k, "busy_percent") == 17.24 &&
		is(k, "first", "add"));
	json_decref(j);
}

/* Two calls of 0 ns at one time: their correlation ids distinguish them. */
static void calls_at_one_moment_are_two(void)
{
	int64_t origin;
	json_t *j;

	clear_program();
	add_op(0, 0, 0, add_call(0, 1000, 1000), 1050, 1060);
	add_op(0, 0, 0, add_call(0, 1000, 1000), 1060, 1070);
	j = reported((const char *[]){ "launches", NULL }, 1, &plain, &origin);
	CHECK(num(row(j, "launch_times", 0), "launches") == 2 &&
		num(row(j, "launch_times", 0), "queue_ns") == 50 + 60);
	json_decref(j);
}

static void a_long_graph_is_one_launch(void)
{
	int64_t origin;
	json_t *j;

	long_graph_program();
	j = reported((const char *[]){ "launches", NULL }, 1, &plain, &origin);
	CHECK_EQ(num(row_named(j, "launch_times", "launched", "add"), "launches"), 17000);
	CHECK(num(row(j, "launch_times", 1), "launches") == 1 &&
		num(row(j, "launch_times", 1), "ops") == 17000);
	json_decref(j);
}

static void some_of_the_work_is_no_answer(void)
{
	static const char *const tables[] = { "unqueued", "stretches", NULL };
	json_t *j = reported_of_some("launches");

	CHECK(rows(j, "launch_times") == 1 && num(row(j, "launch_times", 0), "launches") == 2);
	CHECK(cannot_answer(j, tables));
	json_decref(j);
}

static void calls_alone(void)
{
	json_t *j = reported_of_calls_alone("launches");

	CHECK(rows(j, "launches") == 2 && num(row(j, "launches", 0), "launches") == 3 &&
		!json_object_get(j, "launch_times"));
	json_decref(j);
}

T_MAIN(T(what_a_launch_is_made_of), T(where_the_gpu_waits), T(calls_at_one_moment_are_two),
	T(a_long_graph_is_one_launch), T(as_counted_by_hand), T(as_counted_in_the_others_program),
	T(some_of_the_work_is_no_answer), T(calls_alone))
