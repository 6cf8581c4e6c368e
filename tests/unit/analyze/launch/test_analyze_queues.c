/* The report `queues`: a queue that fills up, and random programs compared with a second count
 * of the waiting launches between every two neighbouring times. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/launch_programs.h"

struct queue {
	uint64_t launches, most, ns[5], blocked, waiting;
	int64_t window;
};

static void add_to(struct queue *q, uint64_t depth, bool full, bool blocked, uint64_t ns)
{
	q->ns[full ? 4 : !depth ? 0 : depth < 16 ? 1 : depth < 256 ? 2 : 3] += ns;
	q->most = depth > q->most ? depth : q->most;
	q->blocked += blocked ? ns : 0;
	q->waiting += depth * ns;
}

/* q[0], q[1]: the streams; q[2]: the device. */
static void queues_of(int device, struct queue q[3], int64_t from, int64_t to)
{
	static int64_t times[4 * MOST];
	int64_t first = from, last = to;
	size_t n = 0;

	memset(q, 0, 3 * sizeof(*q));
	for (int i = 0; i < prog.nops; i++) {
		const struct op *o = &prog.ops[i];

		if (o->device == device)
			times[n++] = o->start;
	}
	for (int c = 0; c < prog.ncalls; c++) {
		const struct op *o = work[c].first;

		if (o && o->device == device && (o->start >= from || prog.calls[c].end >= from) &&
			prog.calls[c].start < to)
			q[o->stream].launches++, q[2].launches++;
		times[n++] = prog.calls[c].start, times[n++] = prog.calls[c].end;
	}
	q[0].window = q[1].window = q[2].window = last > first ? last - first : 0;
	times[n++] = first, times[n++] = last;
	qsort(times, n, sizeof(*times), by_value);
	for (size_t i = 0; i + 1 < n; i++) {
		uint64_t ns = (uint64_t)(times[i + 1] - times[i]), depth[2];
		bool calling[2], full[2];

		if (!ns || times[i] < first || times[i + 1] > last)
			continue;
		for (int s = 0; s < 2; s++) {
			depth_at(times[i], device, s, &depth[s], &calling[s]);
			full[s] = depth[s] >= 1022;
			add_to(&q[s], depth[s], full[s], full[s] && calling[s], ns);
		}
		add_to(&q[2], depth[0] + depth[1], full[0] || full[1],
			(full[0] && calling[0]) || (full[1] && calling[1]), ns);
	}
}

static bool same_queue(const json_t *k, const struct queue *q)
{
	static const char *const keys[5] = { "empty_ns", "few_ns", "some_ns", "many_ns",
		"full_ns" };

	SAME(num(k, "launches"), q->launches);
	SAME(num(k, "most"), q->most);
	SAME(num(k, "window_ns"), q->window);
	SAME(num(k, "blocked_ns"), q->blocked);
	SAME(num(k, "waiting_ns"), q->waiting);
	for (int i = 0; i < 5; i++)
		SAME(num(k, keys[i]), q->ns[i]);
	return true;
}

/* from, to: a range; equal: none. */
static bool same_queues(const json_t *j, int64_t from, int64_t to)
{
	struct queue q[2][3];

	if (from == to)
		find_window(&from, &to);
	for (int d = 0; d < 2; d++)
		queues_of(d, q[d], from, to);
	for (size_t i = 0; i < rows(j, "queues"); i++) {
		const json_t *k = row(j, "queues", i);

		if (!same_queue(k,
			    &q[(int)num(k, "device")]
			      [absent(k, "stream") ? 2 : (int)num(k, "stream") - 7]))
			return printf("# device %d stream %d\n", (int)num(k, "device"),
				       (int)num(k, "stream")),
			       false;
	}
	return true;
}

/* ---- random programs ---- */

static bool same_queues_of_all(const json_t *j, int64_t origin) { return same_queues(j, 0, 0); }

static void as_counted_by_hand(void) { CHECK(agrees_on_random_ones("queues", same_queues_of_all)); }
static void as_counted_in_the_others_program(void)
{
	CHECK(agrees_on_those_of_others("queues", same_queues_of_all));
}

/* Launches whose work begins after the range wait within it. */
static void a_range_cuts_queues(void)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct gt_analysis_options o = plain;
		int64_t origin;
		json_t *j;
		bool good;

		srand(seed);
		random_program(seed);
		o.filter.ranged = true;
		o.filter.from = prog.ops[prog.nops / 4].start + 3;
		o.filter.to = prog.ops[prog.nops / 2].start + 5;
		o.restrictions = "--from";
		j = reported((const char *[]){ "queues", NULL }, 4, &o, &origin);
		good = j && same_queues(j, o.filter.from, o.filter.to);
		json_decref(j);
		CHECK(good);
	}
}

/* The whole recording: before the first operation no launch waits, or only those of that
 * operation. */
static void all_of_the_recording(void)
{
	struct gt_analysis_options o = plain;
	int64_t origin, to = 0;
	json_t *j;
	bool good;

	srand(5);
	random_program(5);
	for (int i = 0; i < prog.nops; i++)
		to = prog.ops[i].end > to ? prog.ops[i].end : to;
	for (int i = 0; i < prog.ncalls; i++)
		to = prog.calls[i].end > to ? prog.calls[i].end : to;
	o.whole = true;
	j = reported((const char *[]){ "queues", NULL }, 3, &o, &origin);
	good = j && same_queues(j, origin, to);
	json_decref(j);
	CHECK(good);
}

/* ---- known figures ---- */

/* 1,500 launches 10 ns apart, and a GPU that takes 100 ns for each: from the 1,022nd that waits on,
 * calls last as long as kernels. */
static void a_queue_fills_up(void)
{
	int64_t at = 1000, origin;
	const json_t *k;
	json_t *j;
	bool good;

	clear_program();
	for (int i = 0; i < 1500; i++) {
		int64_t start = 2000 + i * 100, room = i < 1024 ? 0 : 2000 + (i - 1024) * 100 + 1;
		int call = add_call(0, at, at + 5 > room ? at + 5 : room);

		add_op(0, 1, 0, call, start, start + 100);
		at = prog.calls[call].end + 5;
	}
	j = reported((const char *[]){ "queues", NULL }, 3, &plain, &origin);
	good = j && same_queues(j, 0, 0);
	k = row(j, "queues", 1);
	CHECK(good && num(k, "most") == 1024 && num(k, "full_ns") > 30000 &&
		num(k, "blocked_ns") > 30000);
	k = row(j, "queue_pictures", 0);
	CHECK(strchr(json_string_value(json_object_get(k, "depth")), '@') &&
		strchr(json_string_value(json_object_get(k, "depth")), '='));
	json_decref(j);
}

static void some_of_the_work_is_no_answer(void)
{
	static const char *const tables[] = { "queues", "queue_pictures", NULL };
	json_t *j = reported_of_some("queues");

	CHECK(cannot_answer(j, tables));
	json_decref(j);
}

static void calls_alone(void)
{
	json_t *j = reported_of_calls_alone("queues");

	CHECK(rows(j, "queues") == 0 && noted(j, "queues", "not recorded"));
	json_decref(j);
}

T_MAIN(T(a_queue_fills_up), T(as_counted_by_hand), T(as_counted_in_the_others_program),
	T(a_range_cuts_queues), T(all_of_the_recording), T(some_of_the_work_is_no_answer),
	T(calls_alone))
