/* Reports over traces with known figures: counted by hand, or by the simplest method. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/reports.h"

static void summary_counts(void)
{
	struct trace t;
	json_t *j;
	const json_t *u, *k;

	known(&t, true);
	j = report(end(&t), NULL, &plain);
	u = row(j, "userspace", 0);
	k = row(j, "kernel_space", 0);
	/* the one still open was made, too */
	CHECK(num(u, "api_calls") == 13 && num(u, "kernel_launches") == 4);
	CHECK(num(u, "allocations") == 3 && num(u, "allocated_bytes") == 1500);
	CHECK(num(u, "transfers") == 1 && num(u, "transferred_bytes") == 4096);
	CHECK(num(k, "ioctl_calls") == 1 && num(k, "ioctl_time_ns") == 200 &&
		absent(k, "scheduler_calls"));
	json_decref(j);
}

static void summary_says_what_was_not_recorded(void)
{
	static const char *const names[] = { "summary", "memory", "ioctls", "layers", NULL };
	struct trace t;
	char *text;
	json_t *j;
	const json_t *u;

	begin(&t, false);
	call(&t, 0, ALLOC, 10, 20, 0, 0, 0, 0);
	j = report(end(&t), names, &plain);
	u = row(j, "userspace", 0);
	CHECK(num(u, "allocations") == 1 && absent(u, "allocated_bytes"));
	/* a known number, which is 0 */
	CHECK(num(u, "transfers") == 0 && num(u, "transferred_bytes") == 0);
	CHECK(absent(row(j, "kernel_space", 0), "ioctl_calls") &&
		noted(j, "ioctls", "not recorded"));
	CHECK(absent(row(j, "memory", 0), "peak_bytes") &&
		num(row(j, "memory", 0), "allocations") == 1);
	CHECK(absent(row_named(j, "layers", "layer", "gpu"), "count") &&
		num(row_named(j, "layers", "layer", "api"), "count") == 1);
	json_decref(j);
	begin(&t, false);
	call(&t, 0, ALLOC, 10, 20, 0, 0, 0, 0);
	text = report_text(end(&t), names, &plain, 1, GT_TEXT);
	CHECK(text && strstr(text, "  Total memory allocated: not recorded\n") &&
		strstr(text, "  IOCTL calls: not recorded\n"));
	free(text);
}

static void summary_text_has_its_shape(void)
{
	static const char *const names[] = { "summary", NULL };
	static const char want[] =
		"=== TRACE SUMMARY ===\n\nUSERSPACE (libcuda.so):\n  Total CUDA API calls: 13\n  Kernel launches: 4\n"
		"  Memory allocations: 3\n  Total memory allocated: 1.465 KiB\n  Memory transfers: 1\n"
		"  Total data transferred: 4.000 KiB\n\nKERNEL SPACE (nvidia.ko):\n  IOCTL calls: 1\n"
		"  Total IOCTL time: 200 ns\n  Scheduler calls: not recorded\n";
	struct trace t;
	char *text;

	known(&t, true);
	text = report_text(end(&t), names, &plain, 1, GT_TEXT);
	CHECK(text && !strcmp(text, want));
	free(text);
}

static void operations_and_categories(void)
{
	struct trace t;
	json_t *j;
	const json_t *a, *c;

	known(&t, true);
	j = report(end(&t), NULL, &plain);
	a = row(j, "top", 0);
	CHECK(is(a, "operation", "cuMemAlloc_v2") && num(a, "count") == 3 &&
		num(a, "failed") == 1 && num(a, "total_ns") == 950);
	CHECK(num(a, "mean_ns") == 316 && num(a, "max_ns") == 450 && num(a, "p99_ns") <= 450 &&
		num(a, "p99_ns") > 445);
	CHECK(num(a, "share_percent") == 66.20); /* 950 of 1435 */
	CHECK(!row_named(j, "top", "operation", "NV_ESC_RM_ALLOC"));
	CHECK(num(row(j, "ioctls", 0), "total_ns") == 200 &&
		num(row(j, "ioctls", 0), "share_percent") == 100);
	c = row_named(j, "categories", "category", "memory");
	CHECK(num(c, "count") == 5 && num(c, "time_ns") == 1010 &&
		num(c, "share_percent") == 70.38);
	c = row_named(j, "categories", "category", "ioctl"); /* nested: in no share */
	CHECK(num(c, "count") == 1 && num(c, "time_ns") == 0 && num(c, "nested_ns") == 200 &&
		num(c, "share_percent") == 0);
	CHECK(num(row_named(j, "categories", "category", "init"), "share_percent") == 6.97);
	json_decref(j);
}

static void memory_over_threads(void)
{
	struct trace t;
	json_t *j;
	const json_t *m, *p;

	known(&t, true);
	j = report(end(&t), NULL, &plain);
	m = row_named(j, "memory", "kind", "all");
	CHECK(num(m, "allocations") == 3 && num(m, "failed") == 1 && num(m, "frees") == 2 &&
		num(m, "unknown_frees") == 1);
	CHECK(num(m, "allocated_bytes") == 1500 && num(m, "freed_bytes") == 1000 &&
		num(m, "peak_bytes") == 1500);
	CHECK(num(m, "live_bytes") == 500 && num(m, "live_count") == 1);
	p = row(j, "memory_processes", 0);
	CHECK(num(p, "pid") == 100 && is(p, "process", "train") && num(p, "peak_bytes") == 1500 &&
		num(p, "peak_at_ns") == 1900);
	json_decref(j);
}

static void an_address_handed_out_twice(void)
{
	static const char *const names[] = { "memory", NULL };
	struct trace t;
	json_t *j;

	begin(&t, true);
	call(&t, 0, ALLOC, 10, 20, 0, 0, 100, 0x1000);
	/* it has begun, so another thread may be working on it */
	call(&t, 0, FREE, 30, 60, 0, 0, 0x1000, 0);
	call(&t, 1, ALLOC, 40, 50, 0, 0, 300, 0x1000);
	call(&t, 1, ALLOC, 70, 80, 0, 0, 40, 0x1000); /* its free was missed */
	j = report(end(&t), names, &plain);
	CHECK(num(row(j, "memory", 0), "peak_bytes") == 300 &&
		num(row(j, "memory", 0), "live_bytes") == 40);
	CHECK(num(row(j, "memory", 0), "freed_bytes") == 100 &&
		num(row(j, "memory", 0), "live_count") == 1);
	CHECK(noted(j, "memory", "1 free was missed: its address was allocated again"));
	json_decref(j);
}

static void pauses_between_launches(void)
{
	struct trace t;
	json_t *j;
	const json_t *g;

	known(&t, true);
	j = report(end(&t), NULL, &plain);
	g = row(j, "pauses", 0);
	CHECK(num(g, "launches") == 4 && num(g, "pauses") == 2 && num(g, "total_ns") == 940 &&
		num(g, "mean_ns") == 470);
	CHECK(num(g, "max_ns") == 930 && num(g, "max_at_ns") == 2120 && num(g, "doubtful") == 0);
	CHECK(num(row(j, "largest_pauses", 1), "duration_ns") == 10 &&
		is(row(j, "largest_pauses", 0), "before", "cuLaunchKernel"));
	json_decref(j);
}

static void threads_and_open_calls(void)
{
	struct trace t;
	json_t *j;
	const json_t *a, *b, *o;

	known(&t, true);
	j = report(end(&t), NULL, &plain);
	a = row(j, "threads", 0);
	b = row(j, "threads", 1);
	CHECK(is(a, "thread", "main") && num(a, "tid") == 100 && num(a, "calls") == 8 &&
		num(a, "open") == 1);
	CHECK(num(a, "busy_ns") == 1780 && num(a, "share_percent") == 19.78 &&
		num(a, "max_depth") == 2);
	CHECK(num(b, "busy_ns") == 655 && num(b, "max_depth") == 1 && absent(b, "thread") &&
		rows(j, "threads") == 2);
	o = row(j, "open", 0);
	CHECK(is(o, "operation", "cuStreamSynchronize") && num(o, "duration_ns") == 1000 &&
		num(o, "start_ns") == 8000);
	CHECK(num(o, "tid") == 100 && absent(o, "result") && rows(j, "open") == 1 &&
		num(row(j, "header", 0), "open") == 1);
	json_decref(j);
}

static void lists_of_calls(void)
{
	struct trace t;
	json_t *j;
	const json_t *e;

	known(&t, true);
	j = report(end(&t), NULL, &plain);
	e = row(j, "errors", 0);
	CHECK(rows(j, "errors") == 1 && is(e, "operation", "cuMemAlloc_v2") &&
		is(e, "error", "CUDA_ERROR_OUT_OF_MEMORY"));
	CHECK(num(e, "code") == 2 && num(e, "count") == 1 && num(e, "first_ns") == 1500 &&
		num(e, "tid") == 100);
	CHECK(rows(j, "slowest") == 13 && num(row(j, "slowest", 0), "duration_ns") == 450 &&
		num(row(j, "slowest", 0), "tid") == 101);
	CHECK(rows(j, "contexts") == 1 && is(row(j, "contexts", 0), "context", "0x77"));
	CHECK(num(row(j, "launches", 0), "launches") == 3 &&
		is(row(j, "launches", 0), "name", "_Z3addPf"));
	CHECK(num(row(j, "launches", 0), "total_ns") == 105 && rows(j, "launches") == 2);
	CHECK(is(row(j, "transfers", 0), "direction", "host to device") &&
		num(row(j, "transfers", 0), "bytes") == 4096);
	json_decref(j);
}

struct failing {
	int count, first_thread, threads;
	int64_t first, last;
	bool on[8];
};

static struct gt_reader *failing_calls(struct failing want[3][3])
{
	static const int types[] = { ALLOC, LAUNCH, SYNC };
	struct trace t;

	srand(4);
	memset(want, 0, 9 * sizeof(**want));
	begin(&t, true);
	for (int i = 0; i < 400; i++) {
		int type = rand() % 3, code = rand() % 3, thread = rand() % (2 + 3 * type);
		struct failing *one = &want[type][code];

		call(&t, thread, types[type], 1000 + 10 * i, 1005 + 10 * i, 0,
			code ? 700 + code : 0, 0, 0);
		if (!one->count++) {
			one->first = 10 * i;
			one->first_thread = thread;
		}
		one->last = 10 * i;
		one->threads += !one->on[thread];
		one->on[thread] = true;
	}
	return end(&t);
}

/* The threads of the failed calls and their first and last times, compared with a second count,
 * with one and with four worker threads. */
static void errors_have_places(void)
{
	for (unsigned workers = 1; workers <= 4; workers += 3) {
		struct failing want[3][3];
		char *text = report_text(failing_calls(want), (const char *[]){ "errors", NULL },
			&plain, workers, GT_JSON);
		json_t *j = json_loads(text ? text : "", 0, NULL);

		CHECK_EQ(rows(j, "errors"), 6);
		for (size_t i = 0; i < rows(j, "errors"); i++) {
			const json_t *r = row(j, "errors", i);
			const struct failing *of = want[is(r, "operation", "cuMemAlloc_v2") ? 0
					: is(r, "operation", "cuLaunchKernel")              ? 1
											    : 2];
			const struct failing *one = &of[(int)num(r, "code") - 700];

			CHECK(num(r, "count") == one->count && num(r, "threads") == one->threads &&
				num(r, "tid") == 100 + one->first_thread);
			CHECK(num(r, "first_ns") == (double)one->first &&
				num(r, "last_ns") == (double)one->last);
		}
		json_decref(j);
		free(text);
	}
}

static void a_range_cuts(void)
{
	struct gt_analysis_options o = plain;
	struct trace t;
	json_t *j;

	known(&t, true);
	o.filter = (struct gt_filter){ .ranged = true, .from = 2200, .to = 3050 };
	o.restrictions = "--from";
	j = report(end(&t), NULL, &o);
	/* whole calls that overlap */
	CHECK_EQ(num(row(j, "userspace", 0), "api_calls"), 5);
	/* busy time is cut */
	CHECK(num(row_named(j, "threads", "thread", "main"), "busy_ns") == 200 + 100 + 10);
	CHECK(num(row(j, "threads", 0), "busy_ns") == 450 + 45);
	CHECK(num(row(j, "threads", 0), "share_percent") == 58.24); /* of 850 */
	CHECK(noted(j, "header", "restricted by --from"));
	json_decref(j);
}

static void top_leaves_rows_out_and_says_so(void)
{
	struct gt_analysis_options o = { .top = 2, .file = "x" };
	struct trace t;
	json_t *j;

	known(&t, true);
	j = report(end(&t), NULL, &o);
	CHECK(rows(j, "top") == 2 && noted(j, "top", "4 more rows: --top 0 or --top 6 shows them"));
	CHECK(num(row(j, "top", 0), "share_percent") == 66.20); /* still of all */
	CHECK(rows(j, "slowest") == 2 && noted(j, "slowest", "11 more rows"));
	json_decref(j);
}

static void times_far_apart(void)
{
	const int64_t far = GT_TIME_MAX - 100;
	struct trace t;
	json_t *j;

	begin(&t, true);
	for (int i = 0; i < 3; i++)
		call(&t, i, LAUNCH, (i - 1) * far, (i - 1) * far + 10, 0, 0, str(&t, "k"), 0);
	call(&t, 0, CONTEXT, -far + 20, -far + 30, 0, 0, 1, 0);
	j = report(end(&t), NULL, &plain);
	CHECK(num(row(j, "pauses", 0), "pauses") == 2 &&
		num(row(j, "pauses", 0), "max_ns") == (double)(far - 10));
	CHECK_EQ(num(row(j, "contexts", 0), "start_ns"), 20);
	json_decref(j);
}

static void sums_do_not_wrap(void)
{
	static const char *const names[] = { "top", "threads", "memory", "summary", NULL };
	struct trace t;
	json_t *j;

	begin(&t, true);
	for (int i = 0; i < 4; i++)
		call(&t, i, ALLOC, -GT_TIME_MAX + 1, GT_TIME_MAX - 1, 0, 0, UINT64_MAX / 2,
			0x1000ul + (uint64_t)i);
	j = report(end(&t), names, &plain);
	CHECK(num(row(j, "top", 0), "total_ns") == (double)INT64_MAX &&
		num(row(j, "top", 0), "count") == 4);
	CHECK(num(row(j, "memory", 0), "allocated_bytes") == (double)INT64_MAX);
	CHECK(num(row(j, "userspace", 0), "allocated_bytes") == (double)INT64_MAX);
	json_decref(j);
}

/* ---- a large one, against the plainest count ---- */

#define LARGE 60000
struct ev {
	int64_t start, end;
	uint64_t bytes, addr;
	int type, thread;
};
static struct ev evs[LARGE];

static void large(struct trace *t)
{
	int64_t now[8];
	uint64_t seed = 42;
	int n = 0;

	begin(t, true);
	with_ioctl(t);
	for (int i = 0; i < 8; i++)
		now[i] = 1000000 + i;
	for (; n < LARGE; n++) {
		struct ev *e = &evs[n];
		int th = (int)((seed = seed * 6364136223846793005ULL + 1442695040888963407ULL) >>
				 33) &
			7;

		for (int i = 0; i < 8; i++)
			th = now[i] < now[th] - 20000 ? i : th; /* no thread runs far ahead */
		*e = (struct ev){ .type = (int)((seed >> 40) % 9 == 8 ? RM : (seed >> 40) % 7),
			.thread = th,
			.start = now[th] + (int64_t)((seed >> 20) % 500),
			.bytes = (seed >> 30) % 5000,
			.addr = 0x1000 + ((seed >> 44) % 40) * 8 + (uint64_t)th * 4096 };
		e->end = e->start + (int64_t)((seed >> 25) % ((seed >> 50) % 50 ? 300 : 300000));
		now[th] = e->end;
		call(t, th, e->type, e->start, e->end, 0,
			e->type != INIT ? 0 : (int32_t)(seed >> 48 & 1) * 600,
			e->type == FREE             ? e->addr
				: e->type == LAUNCH ? str(t, e->bytes & 1 ? "_Z1av" : "_Z1bv")
						    : e->bytes,
			e->addr);
		if (n % 5000 == 4999)
			gt_writer_epoch(t->w, now[th], &t->err);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct ev *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int by_effect(const void *a, const void *b)
{
	const struct ev *x = a, *y = b;
	int64_t p = x->type == ALLOC ? x->end : x->start, q = y->type == ALLOC ? y->end : y->start;

	return (p > q) - (p < q);
}

static void large_pauses(void)
{
	static const char *const names[] = { "pauses", NULL };
	int64_t last = 0, total = 0, most = 0, gaps = 0;
	struct trace t;
	json_t *j;

	large(&t);
	qsort(evs, LARGE, sizeof(*evs), by_start);
	for (int i = 0; i < LARGE; i++) {
		int64_t gap = last ? evs[i].start - last : 0;

		if (evs[i].type != LAUNCH)
			continue;
		if (gap > 0)
			gaps++, total += gap, most = gap > most ? gap : most;
		last = evs[i].end > last ? evs[i].end : last;
	}
	j = report(end(&t), names, &plain);
	CHECK(gaps > 100 && num(row(j, "pauses", 0), "pauses") == (double)gaps &&
		num(row(j, "pauses", 0), "total_ns") == (double)total);
	CHECK(num(row(j, "pauses", 0), "max_ns") == (double)most &&
		num(row(j, "largest_pauses", 0), "duration_ns") == (double)most);
	json_decref(j);
}

static void large_memory(void)
{
	static const char *const names[] = { "memory", NULL };
	static uint64_t held[65536];
	uint64_t live = 0, peak = 0, freed = 0, allocated = 0;
	struct trace t;
	json_t *j;
	const json_t *m;

	large(&t);
	memset(held, 0, sizeof(held));
	qsort(evs, LARGE, sizeof(*evs), by_effect);
	for (int i = 0; i < LARGE; i++) {
		uint64_t *at = &held[evs[i].addr];

		if (evs[i].type != ALLOC && evs[i].type != FREE)
			continue;
		live -= *at;
		freed += evs[i].type == FREE ? *at : 0;
		*at = evs[i].type == ALLOC ? evs[i].bytes : 0;
		live += *at;
		allocated += *at;
		peak = live > peak ? live : peak;
	}
	j = report(end(&t), names, &plain);
	m = row_named(j, "memory", "kind", "device");
	CHECK(num(m, "allocated_bytes") == (double)allocated &&
		num(m, "freed_bytes") == (double)freed);
	CHECK(num(m, "peak_bytes") == (double)peak && num(m, "live_bytes") == (double)live);
	json_decref(j);
}

static void large_busy(void)
{
	static const char *const names[] = { "threads", NULL };
	int64_t busy[8] = { 0 };
	struct trace t;
	json_t *j;

	large(&t);
	for (int i = 0; i < LARGE; i++)
		busy[evs[i].thread] += evs[i].end - evs[i].start;
	j = report(end(&t), names, &plain);
	for (size_t i = 0; i < 8; i++)
		CHECK(num(row(j, "threads", i), "busy_ns") ==
			(double)busy[(int)num(row(j, "threads", i), "tid") - 100]);
	json_decref(j);
}

/* The figures of the descriptors can be computed block by block: any number of threads gives the
 * same result as one. */
static void split_is_the_whole(void)
{
	struct gt_analysis_options o = { .top = 20, .file = "x" };
	struct trace t;
	char *whole;

	large(&t);
	whole = report_text(end(&t), NULL, &o, 1, GT_JSON);
	CHECK(whole && strlen(whole) > 5000);
	for (unsigned threads = 2; threads <= 5; threads++) {
		char *split;

		large(&t);
		split = report_text(end(&t), NULL, &o, threads, GT_JSON);
		CHECK(split && !strcmp(whole, split));
		free(split);
	}
	free(whole);
}

/* A report has the same result alone and with other reports. */
static void reports_do_not_disturb_each_other(void)
{
	struct gt_analysis_options o = { .top = 5, .file = "x" };
	struct trace t;
	json_t *all;

	large(&t);
	all = report(end(&t), NULL, &o);
	for (unsigned i = 0; gt_analyses[i]; i++) {
		const char *const names[] = { gt_analyses[i]->name, NULL };
		const char *key;
		json_t *one, *table;

		large(&t);
		one = report(end(&t), names, &o);
		CHECK(json_object_size(one) > 0);
		json_object_foreach(one, key, table)
			CHECK(json_equal(table, json_object_get(all, key)));
		json_decref(one);
	}
	json_decref(all);
}

static void timeline_of_threads_and_calls(void)
{
	static const char *const names[] = { "timeline", NULL };
	struct gt_analysis_options top = { .top = 4, .file = "trace" };
	struct trace t;
	json_t *j;
	char *text;

	known(&t, true);
	j = report(end(&t), names, &plain);
	CHECK(rows(j, "timeline") == 2 && noted(j, "timeline", "60 cells of 150 ns each") &&
		rows(j, "calls") == 14);
	CHECK(num(row(j, "timeline", 0), "tid") == 100 &&
		num(row(j, "timeline", 0), "busy_percent") == 19.78);
	CHECK(is(row(j, "timeline", 0), "strip",
		"*     -@@-*  ..     *     -                          *@@@@@@"));
	CHECK(is(row(j, "calls", 2), "operation", "NV_ESC_RM_ALLOC") &&
		num(row(j, "calls", 2), "depth") == 1);
	CHECK(num(row(j, "calls", 13), "open") == 1 && absent(row(j, "calls", 13), "result"));
	json_decref(j);
	known(&t, true);
	text = report_text(end(&t), names, &top, 1, GT_TEXT);
	CHECK(text && strstr(text, "10 more rows: --top 0 or --top 14 shows them") &&
		strstr(text, "  1    NV_ESC_RM_ALLOC  ") && !strstr(text, "Launch"));
	free(text);
}

T_MAIN(T(summary_counts), T(summary_says_what_was_not_recorded), T(summary_text_has_its_shape),
	T(operations_and_categories), T(memory_over_threads), T(an_address_handed_out_twice),
	T(pauses_between_launches), T(threads_and_open_calls), T(lists_of_calls),
	T(errors_have_places), T(a_range_cuts), T(top_leaves_rows_out_and_says_so),
	T(times_far_apart), T(sums_do_not_wrap), T(large_pauses), T(large_memory), T(large_busy),
	T(split_is_the_whole), T(reports_do_not_disturb_each_other),
	T(timeline_of_threads_and_calls))
