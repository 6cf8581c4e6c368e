/* Joining much GPU work to its calls: many streams and threads, work without end, and memory that
 * stays bounded. */
#define _GNU_SOURCE
#include "collect/correlate/gpu_correlate.h"
#include "tests/unit/collect/correlate/joins.h"

static struct rows rows;

/* Threads that launch at random times, kernels long after, everything shuffled within some
 * distance: all joined, and rightly. */
static void many_of_many_threads(void)
{
	enum { N = 3000 };
	static struct {
		int64_t start, end;
		unsigned thread, k;
		uint32_t grid;
	} calls[N];
	static int event[3 * N];
	int64_t free_at[8] = { 0 };
	struct gt_gpu_totals t;
	struct gt_reader *r;
	struct join j;

	begin(&j);
	srand(4);
	for (int i = 0; i < N; i++) {
		unsigned th = (unsigned)rand() % 8;

		calls[i].thread = th;
		calls[i].start = (free_at[th] ? free_at[th] : SECOND) + 1 + rand() % 300;
		calls[i].end = free_at[th] = calls[i].start + 30 + rand() % 300;
		calls[i].k = 1 + (unsigned)rand() % 8;
		calls[i].grid = 1 + (uint32_t)rand() % 5;
		for (int k = 0; k < 3; k++)
			event[3 * i + k] = 3 * i + k;
	}
	/* a thread's own calls keep their order: they are in its ring so */
	for (int i = 0; i + 60 < 3 * N; i++) {
		int a = i, b = i + rand() % 60, tmp = event[a];

		if (event[a] % 3 && event[b] % 3) {
			event[a] = event[b];
			event[b] = tmp;
		}
	}
	for (int i = 0; i < 3 * N; i++) {
		int c = event[i] / 3;

		if (event[i] % 3 == 0)
			call(&j, calls[c].thread, calls[c].start, calls[c].end, calls[c].k,
				calls[c].grid);
		else if (event[i] % 3 == 1)
			record(&j, calls[c].thread, calls[c].start + 10, calls[c].end - 10,
				1000 + (uint32_t)c * 7, LAUNCH_CBID);
		else
			kernel(&j, 2 * SECOND + c * 1000, 2 * SECOND + c * 1000 + 800,
				1000 + (uint32_t)c * 7, calls[c].k, calls[c].grid);
		if (i % 100 == 99)
			settle(&j, 2 * SECOND + i, false);
	}
	r = finish(&j, 2 * SECOND + 30000, &t);
	CHECK(r && t.exact == N && !t.inferred && !t.unjoined && !t.wrong && !t.without_record);
	read_rows(r, &rows);
	CHECK(rows.n == N);
	for (int i = 0; i < N; i++)
		CHECK(rows.r[i].launch_start == calls[i].start &&
			rows.r[i].track == calls[i].thread + 1 &&
			rows.r[i].launch_ns == (uint64_t)(calls[i].end - calls[i].start));
	gt_reader_close(r);
}

/* ---- much ---- */

/* A launch and its kernel in this stream. Launch i begins i us after the first one. */
static void ran_on(struct join *j, uint32_t i, uint32_t device, uint32_t context, uint32_t stream)
{
	int64_t at = SECOND + i * 1000ll;
	struct gt_gpu_event e = { .id = GT_EV_KERNEL,
		.start = at + 600,
		.end = at + 700,
		.n = 9,
		.body.kernel = { .work = { .correlation = i + 1,
					 .device = device,
					 .context = context,
					 .stream = stream },
			.grid = { 10, 1, 1 },
			.block = { 32, 1, 1 },
			.name = 1 } };

	call(j, 0, at, at + 500, 1, 10);
	record(j, 0, at + 100, at + 400, i + 1, LAUNCH_CBID);
	gt_gpu_event(j->g, &j->p, j->process, &e);
}

/* A stream is identified by its context and its number. If the record has no context, the
 * stream's parent is the device itself. */
static void contexts_have_streams_of_their_own(void)
{
	static const struct {
		uint32_t device, context, stream;
	} on[] = {
		{ 0, 1, 7 },
		{ 0, 2, 7 },
		{ 0, 1, 8 },
		{ 1, 1, 7 },
		{ 0, 0, 7 },
		{ 0, 2, 7 },
	};
	enum { N = sizeof(on) / sizeof(*on) };
	const struct gt_segment *seg;
	struct gt_gpu_totals t;
	struct gt_reader *r;
	struct join j;

	begin(&j);
	for (uint32_t i = 0; i < N; i++)
		ran_on(&j, i, on[i].device, on[i].context, on[i].stream);
	r = finish(&j, 2 * SECOND, &t);
	CHECK(r && t.kernels == N && (seg = gt_reader_segment(r, 0)));
	read_rows(r, &rows);
	CHECK(rows.n == N);
	for (int i = 0; i < N; i++) {
		const struct gt_track *s = &seg->tracks[rows.r[i].on];
		uint32_t context = gt_track_context(seg, rows.r[i].on),
			 device = gt_track_device(seg, rows.r[i].on);

		CHECK(s->kind == GT_TRACK_STREAM && s->id == on[i].stream && device != GT_NONE &&
			seg->tracks[device].id == on[i].device);
		CHECK(on[i].context ? seg->tracks[context].id == on[i].context &&
					seg->tracks[context].parent == device
				    : context == GT_NONE);
		for (int k = 0; k < i; k++)
			CHECK((rows.r[i].on == rows.r[k].on) ==
				!memcmp(&on[i], &on[k], sizeof(*on)));
	}
	gt_reader_close(r);
}

/* A file holds a limited number of tracks. Work without a track counts as lost, and in no other
 * count. */
static void streams_without_end(void)
{
	enum { N = 65600 };
	struct gt_gpu_totals t;
	struct join j;

	begin(&j);
	for (uint32_t i = 0; i < N; i++) {
		ran_on(&j, i, 0, 1, i + 7);
		if (i % 4096 == 0)
			settle(&j, SECOND + i * 1000ll + 1000, false);
	}
	j.err.code = 0;
	gt_reader_close(finish(&j, 2 * SECOND, &t));
	CHECK(t.nameless == N - 65534 && t.kernels == 65534 && t.exact == 65534 && !t.unjoined &&
		!t.inferred && !t.wrong);
}

/* A copy's record is one or few, a graph's nodes come one after another; then the call is
 * forgotten. */
static void calls_that_are_through_are_forgotten(void)
{
	struct gt_gpu_call c = {
		.id = (uint16_t)gt_api_find("cuMemcpyHtoDAsync_v2"), .tid = 1, .kernel = GT_NONE
	};
	struct gt_gpu_event copy = { .id = GT_EV_COPY,
		.n = 6,
		.body.copy = {
			.work = { .context = 1, .stream = 7, .copy.kind = 1 }, .bytes = 64 } };
	struct gt_gpu_totals t;
	struct join j;
	size_t before = 0;

	begin(&j);
	c.track = j.thread[0];
	c.name = j.launch_name;
	for (uint32_t i = 0; i < 100000; i++) {
		int64_t at = SECOND + i * (SECOND / 1000);

		c.start = at;
		c.end = at + 500;
		gt_gpu_call(j.g, &j.p, j.process, &c);
		record(&j, 0, at + 100, at + 400, i + 1, 277);
		copy.start = at + 600;
		copy.end = at + 700;
		copy.body.work.correlation = i + 1;
		gt_gpu_event(j.g, &j.p, j.process, &copy);
		if (i % 100 == 0)
			settle(&j, at + 1000, false);
		if (i == 10000)
			before = in_use();
	}
	CHECK(in_use() < before + (6u << 20)); /* without: 27 MB */
	gt_reader_close(finish(&j, 200 * SECOND, &t));
	CHECK(t.copies == 100000 && t.exact == 100000 && !t.without_record);
}

/* The recorder was stopped for a while: one pass delivers all calls first, then all of CUPTI's
 * records. */
static void much_at_once_is_joined(void)
{
	enum { N = 300000 };

	for (int calls_first = 0; calls_first < 2; calls_first++) {
		struct gt_gpu_totals t;
		struct join j;

		begin(&j);
		gpu_state(&j, GT_GPU_ON, SECOND, SECOND);
		for (uint32_t i = 0; i < 2 * N; i++) {
			int64_t at = SECOND + i % N * 5000;

			if ((i < N) == calls_first) {
				call(&j, 0, at, at + 500, 1, 10);
				continue;
			}
			record(&j, 0, at + 100, at + 400, i % N + 1, LAUNCH_CBID);
			kernel(&j, at + 1000, at + 2000, i % N + 1, 1, 10);
		}
		settle(&j, 4 * SECOND, false);
		gt_reader_close(finish(&j, 5 * SECOND, &t));
		CHECK(t.kernels == N && t.exact == N && !t.without_record);
	}
}

/* The launches are so fast that the table cannot hold two seconds of them: launches that already
 * have their work are dropped first. */
static void launches_without_a_break_are_joined(void)
{
	enum { N = 1000000, PASS = 1000 };
	struct gt_gpu_totals t;
	struct join j;
	size_t before = 0;

	begin(&j);
	gpu_state(&j, GT_GPU_ON, SECOND, SECOND);
	for (uint32_t i = 0; i < N + PASS; i++) { /* the work comes a pass later */
		int64_t at = SECOND + i * 1000;

		if (i < N) {
			call(&j, 0, at, at + 500, 1, 10);
			record(&j, 0, at + 100, at + 400, i + 1, LAUNCH_CBID);
		}
		if (i >= PASS)
			kernel(&j, at - 500, at - 400, i - PASS + 1, 1, 10);
		if (i % PASS == 0)
			settle(&j, at + 1000, false);
		if (i == N / 2)
			before = in_use();
	}
	CHECK(in_use() < before + (6u << 20));
	gt_reader_close(finish(&j, 5 * SECOND, &t));
	CHECK(t.kernels == N && t.exact == N && !t.without_record);
}

/* The nodes of one launch may come with long breaks, and the first of them late. */
static void a_graph_may_take_its_time(void)
{
	struct gt_gpu_totals t;
	struct join j;

	begin(&j);
	graph_call(&j, 2, SECOND, SECOND + 500);
	record(&j, 2, SECOND + 100, SECOND + 400, 9, GRAPH_CBID);
	for (int64_t s = 1; s <= 40; s++)
		settle(&j, s * SECOND + 1000, false);
	for (unsigned i = 0; i < 5; i++) {
		int64_t at = (41 + 8 * i) * SECOND;

		kernel_of(&j, at, at + 1000, 9, 1, 1, 3, 4 + i);
		for (int64_t s = 0; s < 8; s++)
			settle(&j, at + s * SECOND + 2000, false);
	}
	gt_reader_close(finish(&j, 90 * SECOND, &t));
	CHECK(t.kernels == 5 && t.exact == 5 && !t.without_record);
}

/* A million calls that nothing comes for take no more memory than some. */
static void what_never_comes_is_let_go(void)
{
	struct gt_gpu_totals t;
	struct join j;

	begin(&j);
	for (uint32_t i = 0; i < 1000000; i++) {
		call(&j, i & 1, SECOND + i * 1000, SECOND + i * 1000 + 500, 1, 10);
		if (i % 3)
			record(&j, i & 1, SECOND + i * 1000 + 100, SECOND + i * 1000 + 400, i,
				LAUNCH_CBID);
		if (i % 10000 == 0)
			settle(&j, SECOND + i * 1000, false);
	}
	kernel(&j, 2000 * SECOND, 2000 * SECOND + 10, 999998, 1, 10);
	gt_reader_close(finish(&j, 2001 * SECOND, &t));
	CHECK_EQ(t.exact, 1);
}

/* A program may have had a million threads by the evening. */
static void threads_that_are_gone_are_forgotten(void)
{
	struct gt_gpu_call c = { .id = (uint16_t)gt_api_find("cuLaunchKernel"), .kernel = GT_NONE };
	struct gt_gpu_totals totals;
	struct gt_reader *r;
	struct join j;
	size_t before;

	begin(&j);
	before = in_use();
	for (int i = 0; i < 20000; i++) {
		c.tid = 1000 + i;
		c.start = (i + 1) * SECOND / 100;
		c.end = c.start + 5;
		CHECK(!gt_gpu_call(j.g, &j.p, j.process, &c));
		if (i % 100 == 0)
			settle(&j, c.end, false);
	}
	CHECK(in_use() - before < 1 << 20);
	r = finish(&j, 201 * SECOND, &totals);
	CHECK(r);
	gt_reader_close(r);
}

T_MAIN(T(many_of_many_threads), T(what_never_comes_is_let_go),
	T(contexts_have_streams_of_their_own), T(streams_without_end),
	T(calls_that_are_through_are_forgotten), T(much_at_once_is_joined),
	T(launches_without_a_break_are_joined), T(a_graph_may_take_its_time),
	T(threads_that_are_gone_are_forgotten))
