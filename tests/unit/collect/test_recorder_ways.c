/* The recorder with very many calls, which take other paths in the code than a few calls:
 * directly into the block, while rings are full, with new threads in between. */
#define _GNU_SOURCE
#include "collect/recorder/recorder.h"
#include "tests/unit/collect/rings.h"

/* The contents of the i-th 40 ns of a thread, from t on: the expected rows, in order of time.
 * Every fifth call makes another one, and every seventh begins, by its clock, before the
 * previous one ended. */
static unsigned expected(unsigned i, int64_t t, struct gt_row *row, uint64_t *words)
{
	bool early = i % 7 == 6 && i % 5 != 2;

	row[0] = (struct gt_row){ .start = t + i * 40 + (early ? 0 : 5),
		.end = t + i * 40 + 40 - (i % 7 == 5 ? 0 : 3),
		.ret = i % 1000 == 999 ? (int)i : 0 };
	row[1] = (struct gt_row){ .start = t + i * 40 + 10, .end = t + i * 40 + 20, .depth = 1 };
	for (unsigned k = 0; k < 8; k++)
		words[k] = i + k;
	return i % 5 == 2 ? 2 : 1;
}

static const char *name_of(unsigned i, unsigned depth)
{
	return depth          ? "cuEventQuery"
		: i % 5 == 1  ? "cuMemAlloc_v2"
		: i % 5 == 2  ? "cuStreamSynchronize"
		: i / 300 % 2 ? "cuCtxGetCurrent"
			      : "cuCtxSetCurrent";
}

static void put_expected(struct pen *p, unsigned i, int64_t t)
{
	struct gt_row row[2];
	uint64_t words[8];
	unsigned n = expected(i, t, row, words);

	while (n--) {
		unsigned id = gt_api_find(name_of(i, row[n].depth));
		bool early = i % 7 == 6 && i % 5 != 2;

		p->depth = row[n].depth + 1;
		leave(p, id, row[n].start - 3 * early, row[n].end, row[n].ret, words,
			key_fields(id));
	}
}

/* Functions with and without arguments, nested calls, return codes, many chunks and blocks,
 * between the last epoch and this pass: the path of nearly all calls. */
static void a_great_many_calls_come_back_as_they_were(void)
{
	enum { N = 40000 };
	struct gt_filter all = { 0 };
	struct gt_event ev = { 0 };
	struct gt_reader *reader;
	struct gt_iter *it;
	struct gt_row row[2];
	uint64_t words[8];
	unsigned wrong = 0;
	struct pen p;
	int64_t t;

	CHECK(begin(GT_ARGS_KEY));
	p = new_thread(0, 0);
	t = gt_clock_monotonic() + 1000;
	for (unsigned i = 0; i < N; i++) {
		put_expected(&p, i, t);
		if (i % 15000 == 14999) {
			/* the last one waits for the next pass */
			wait_until(t + i * 40 + 20);
			CHECK(gt_recorder_pass(r, &err) > 0);
		}
	}
	wait_until(t + N * 40);
	reader = end();
	CHECK(reader);
	it = gt_iter_open(reader, &all, &err);
	for (unsigned i = 0; i < N && !wrong; i++)
		for (unsigned k = 0, n = expected(i, t, row, words); k < n; k++) {
			wrong += gt_iter_next(it, &ev, &err) != 1 || ev.kind != GT_CALL ||
				ev.row.start != row[k].start || ev.row.end != row[k].end ||
				ev.row.depth != k || ev.row.ret != row[k].ret ||
				strcmp(gt_type_name(ev.seg, ev.row.type), name_of(i, k)) ||
				ev.row.nargs != key_fields(gt_api_find(name_of(i, k))) ||
				memcmp(ev.args, words, ev.row.nargs * 8);
			if (wrong == 1)
				fprintf(stderr, "row %u, depth %u\n", i, k);
		}
	CHECK(!wrong && gt_iter_next(it, &ev, &err) == 0);
	gt_iter_close(it);
	gt_reader_close(reader);
}

static void an_end_yet_to_come_waits(void)
{
	struct gt_reader *reader;
	int64_t t, later;
	struct pen p;

	CHECK(begin(GT_ARGS_NONE));
	p = new_thread(0, 0);
	t = gt_clock_monotonic() + 1000;
	later = t + 200000000;
	for (int i = 0; i < 10; i++)
		call(&p, "cuCtxGetCurrent", t + i * 10, t + i * 10 + 5);
	call(&p, "cuCtxGetCurrent", t + 200, later);
	wait_until(t + 300);
	CHECK(gt_recorder_pass(r, &err) > 0);
	/* or the machine was suspended */
	CHECK(gt_writer_stats(w)->rows[GT_CALL] == 10 || gt_clock_monotonic() > later);
	wait_until(later);
	CHECK(gt_recorder_pass(r, &err) >= 0 && gt_writer_stats(w)->rows[GT_CALL] == 11);
	reader = end();
	CHECK(reader);
	gt_reader_close(reader);
}

/* The size in bytes of the calls; a pass finds `at_once` of them in the ring. */
static void take_bytes_of_calls(unsigned n, unsigned at_once, uint64_t *bytes)
{
	struct gt_reader *reader;
	struct pen p;
	int64_t t;

	CHECK(begin(GT_ARGS_NONE));
	p = new_thread(0, 0);
	t = gt_clock_monotonic() + 1000;
	for (unsigned i = 0; i < n; i++) {
		leave(&p, gt_api_find("cuCtxGetCurrent"), t + i * 20, t + i * 20 + 10 + i * i % 7,
			0, NULL, 0);
		if (i % at_once == at_once - 1) {
			wait_until(t + i * 20 + 20);
			CHECK(gt_recorder_pass(r, &err) > 0);
		}
	}
	CHECK(gt_recorder_finish(r, &err) == 0 && gt_writer_stats(w)->rows[GT_CALL] == n);
	*bytes = gt_writer_stats(w)->bytes;
	reader = end();
	CHECK(reader && gt_reader_segment(reader, 0)->rows[GT_CALL] == n);
	gt_reader_close(reader);
}

/* 1.5 MiB of the 2 that one thread may have. */
static void full_rings_are_packed_in_haste(void)
{
	uint64_t leisure = 0, haste = 0;

	take_bytes_of_calls(64000, 4000, &leisure);
	take_bytes_of_calls(64000, 64000, &haste);
	CHECK(leisure && haste > 2 * leisure);
}

static void new_threads_are_seen_at_once_or_at_the_end(void)
{
	struct gt_reader *reader;
	int64_t t;
	struct pen p;

	CHECK(begin(GT_ARGS_NONE));
	t = gt_clock_monotonic();
	CHECK_EQ(gt_recorder_pass(r, &err), 0);
	p = new_thread(0, 0);
	call(&p, "cuInit", t, t + 10);
	CHECK(gt_recorder_pass(r, &err) > 0);
	p = new_thread(100, 0);
	rings.bits[GT_BITS_NEW_THREADS][1] = 0; /* it was stopped before it set its bit */
	call(&p, "cuInit", t, t + 10);
	CHECK_EQ(gt_recorder_pass(r, &err), 0);
	reader = end();
	CHECK(reader && gt_reader_segment(reader, 0)->rows[GT_CALL] == 2);
	gt_reader_close(reader);
}

/* A call that was left by longjmp is not in the ring; the calls that it made are. The thread's
 * next calls are not nested in it. */
static void calls_of_a_call_that_was_left_stretch_no_other(void)
{
	struct gt_reader *reader;
	struct pen p;
	int64_t t;

	CHECK(begin(GT_ARGS_NONE));
	p = new_thread(0, 0);
	t = gt_clock_monotonic() + 1000;
	for (unsigned i = 0; i < 3; i++) {
		int64_t at = t + i * 1000000;

		call(&p, "cuCtxGetCurrent", at, at + 10);
		p.depth = 1;
		call(&p, "cuEventQuery", at + 100, at + 200);
		call(&p, "cuEventQuery", at + 300, at + 400);
		p.depth = 0;
		call(&p, "cuCtxGetCurrent", at + 500000, at + 500010);
		p.depth = 1;
		call(&p, "cuEventQuery", at + 600000, at + 600100);
		p.depth = 2;
		leave(&p, gt_api_find("cuEventQuery"), at + 700010, at + 700020, 0, NULL, 0);
		p.depth = 1;
		leave(&p, gt_api_find("cuCtxGetCurrent"), at + 700000, at + 700100, 0, NULL, 0);
	}
	wait_until(t + 3000000);
	reader = end();
	CHECK(reader);
	read_rows(reader);
	CHECK_EQ(nrows, 21);
	for (unsigned i = 0; i < nrows; i++) {
		static const int64_t starts[] = { 0, 100, 300, 500000, 600000, 700000, 700010 };

		CHECK(rows[i].ev.row.start - t == i / 7 * 1000000 + starts[i % 7]);
	}
	gt_reader_close(reader);
}

/* ---- two ways, one result ---- */

static uint64_t seed;
static unsigned rnd(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 20) % n;
}

/* A call at this depth and the calls inside it, from *at on. Clocks differ by some ns; some
 * calls were left by a jump and have no record. */
static void put_some_call(struct pen *p, unsigned depth, int64_t *at)
{
	static const char *const names[] = { "cuCtxGetCurrent", "cuCtxGetCurrent",
		"cuCtxSetCurrent", "cuMemAlloc_v2", "cuStreamSynchronize", "cuMemcpyHtoD_v2",
		"cuDriverGetVersion", "cuModuleLoad" };
	unsigned id = gt_api_find(names[rnd(8)]), same = rnd(10) ? 1 : 50;
	uint64_t words[GT_FIELDS_MAX];
	int64_t start = *at + (rnd(4) ? 0 : (int)rnd(7) - 3);

	for (unsigned i = 0; i < GT_FIELDS_MAX; i++)
		words[i] = rnd(3) ? i : (uint64_t)rnd(1000000) << rnd(30);
	*at += 10 + rnd(20);
	for (unsigned kids = depth < 5 && !rnd(3) ? rnd(4) : 0; kids--;)
		put_some_call(p, depth + 1, at);
	*at += 5 + (rnd(50) ? 0 : rnd(100000));
	for (unsigned left = !rnd(20); !left && same--; start = *at, *at += 10) {
		p->depth = depth + 1;
		leave(p, id, start, *at + (rnd(4) ? 0 : (int)rnd(7) - 3),
			rnd(30) ? 0 : (int)rnd(900), words, key_fields(id));
	}
	p->depth = depth;
	*at += rnd(10);
}

/* The same calls each time, at times from t on. sum receives their totals; returns the number of
 * recorded calls. */
static uint64_t sum_of_some_calls(bool recent, uint64_t with, uint64_t *sum)
{
	struct gt_filter all = { 0 };
	struct gt_event ev = { 0 };
	struct gt_reader *reader;
	struct gt_iter *it;
	uint64_t n = 0;
	struct pen p;
	int64_t t, at;

	seed = with;
	*sum = 0;
	if (!begin(GT_ARGS_KEY))
		return 0;
	p = new_thread(0, 0);
	t = at = recent ? gt_clock_monotonic() + 1000 : past(900000000);
	for (unsigned i = 0; i < 6000; i++) {
		put_some_call(&p, 0, &at);
		if (i % 2000 == 1999) {
			wait_until(at + 10);
			n += gt_recorder_pass(r, &err) <= 0;
		}
	}
	reader = end();
	if (n || !reader)
		return 0;
	it = gt_iter_open(reader, &all, &err);
	for (int64_t last = INT64_MIN;
		it && gt_iter_next(it, &ev, &err) > 0 && ev.row.start >= last; n++) {
		uint64_t v[] = { (uint64_t)(ev.row.start - t), (uint64_t)(ev.row.end - t),
			(uint32_t)ev.row.ret, ev.row.depth, ev.row.type };

		for (size_t i = 0; i < sizeof(v) / 8; i++)
			*sum = (*sum ^ v[i]) * 0x9e3779b97f4a7c15ull;
		for (unsigned i = 0; i < ev.row.nargs; i++)
			*sum = (*sum ^ ev.args[i]) * 0x9e3779b97f4a7c15ull;
		last = ev.row.start;
	}
	gt_iter_close(it);
	n = n == gt_reader_segment(reader, 0)->rows[GT_CALL] ? n : 0;
	gt_reader_close(reader);
	return n;
}

/* Calls before the last epoch take the long path, later calls the short path. */
static void both_ways_say_the_same(void)
{
	for (uint64_t with = 1; with <= 5; with++) {
		uint64_t early, late, a = sum_of_some_calls(false, with, &early),
				      b = sum_of_some_calls(true, with, &late);

		CHECK(a > 5000 && a == b && early == late);
	}
}

T_MAIN(T(a_great_many_calls_come_back_as_they_were), T(full_rings_are_packed_in_haste),
	T(an_end_yet_to_come_waits), T(new_threads_are_seen_at_once_or_at_the_end),
	T(calls_of_a_call_that_was_left_stretch_no_other), T(both_ways_say_the_same))
