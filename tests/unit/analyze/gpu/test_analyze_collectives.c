/* Report "collectives" and the rule unbalanced-gpus over programs whose arrivals, waits and late
 * GPUs are known. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/gpus.h"
#include "tests/unit/reports.h"

static const char *const both[] = { "collectives", "advice", NULL };

static void begin_nccl(struct gpus *g)
{
	gpus_begin(g, "{\"events\":\"api,gpu\"}");
	g->kernel[0] = gt_writer_string(g->w, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
	g->kernel[1] = gt_writer_string(g->w, "ncclDevKernel_Broadcast_RING_LL");
}

/* A third GPU. */
static uint32_t add_gpu(struct gpus *g)
{
	return gpus_track(
		g, gpus_track(g, g->process, NULL, GT_TRACK_DEVICE, 2), NULL, GT_TRACK_STREAM, 7);
}

static const json_t *gpu(const json_t *j, int device)
{
	for (size_t i = 0; i < rows(j, "collectives"); i++)
		if (num(row(j, "collectives", i), "device") == device)
			return row(j, "collectives", i);
	return NULL;
}

static const json_t *named(const json_t *j, int device, int stream)
{
	for (size_t i = 0; i < rows(j, "collectives_names"); i++) {
		const json_t *r = row(j, "collectives_names", i);

		if (num(r, "device") == device && num(r, "stream") == stream)
			return r;
	}
	return NULL;
}

static bool has(const json_t *r, double matched, double wait, double last, double caused)
{
	return num(r, "matched") == matched && num(r, "wait_ns") == wait &&
		num(r, "last") == last && num(r, "caused_ns") == caused;
}

#define ROUND 50500 /* ns: the next all-reduce of GPU 0 begins before the end of that of GPU 1 */

/* All-reduces that GPU 1 reaches 30 us after GPU 0; it ends 1 us later. */
static void late_gpu(struct gpus *g, int from, int n, int missing)
{
	begin_nccl(g);
	for (int i = from; i < n; i++) {
		gpus_plain(g, 0, g->stream[0][0], i * ROUND, i * ROUND + 50000);
		if (i != missing)
			gpus_plain(g, 0, g->stream[1][0], i * ROUND + 30000, i * ROUND + 51000);
	}
}

static void known_waits(void)
{
	struct gpus g;
	const json_t *r;
	json_t *j;

	late_gpu(&g, 0, 100, -1);
	j = report(gpus_end(&g), both, &plain);
	CHECK(rows(j, "collectives") == 2 && rows(j, "collectives_names") == 2);
	CHECK(has(gpu(j, 0), 100, 3000000, 0, 0) && has(gpu(j, 1), 100, 0, 100, 3000000));
	r = gpu(j, 0);
	CHECK(num(r, "count") == 100 && num(r, "total_ns") == 5000000 &&
		num(r, "wait_percent") == 60 && num(r, "longest_wait_ns") == 30000);
	CHECK(num(r, "longest_wait_at_ns") == 0 && absent(r, "late_mean_ns"));
	r = row(j, "collectives", 0);
	CHECK(r == gpu(j, 1) && num(r, "late_mean_ns") == 30000 && absent(r, "longest_wait_ns"));
	CHECK(noted(j, "collectives", "100 collectives"));
	r = row_named(j, "advice", "rule", "unbalanced-gpus");
	CHECK(is(r, "state", "found") && num(r, "cost_ns") == 3000000 &&
		num(r, "gain_ns") == 3000000 && num(r, "device") == 0);
	CHECK(num(r, "at_ns") == 0 && num(r, "duration_ns") == 30000);
	CHECK(is(r, "evidence",
		"GPU 1 of process 100 arrives last at 100 of 100 collectives, 30.00 us after the first on average: "
		"the others wait 3.000 ms for it"));
	json_decref(j);
}

/* Both GPUs compute during all waits: nothing could be saved. */
static void hidden_waits(void)
{
	struct gpus g;
	const json_t *r;
	json_t *j;

	late_gpu(&g, 0, 100, -1);
	g.kernel[0] = gt_writer_string(g.w, "gemm");
	gpus_plain(&g, 0, g.stream[0][1], 0, 100 * ROUND);
	gpus_plain(&g, 0, g.stream[1][1], 0, 100 * ROUND);
	j = report(gpus_end(&g), both, &plain);
	r = row_named(j, "advice", "rule", "unbalanced-gpus");
	CHECK(num(r, "cost_ns") == 3000000 && num(r, "gain_ns") == 0);
	json_decref(j);
}

/* One GPU has no kernel for one of the collectives: the others still belong together. */
static void a_missing_kernel(void)
{
	for (int missing = 0; missing < 100; missing += 33) {
		struct gpus g;
		json_t *j;

		late_gpu(&g, 0, 100, missing);
		j = report(gpus_end(&g), both, &plain);
		CHECK(has(gpu(j, 0), 99, 99 * 30000, 0, 0) &&
			has(gpu(j, 1), 99, 0, 99, 99 * 30000));
		CHECK(num(gpu(j, 0), "count") == 100 && num(gpu(j, 1), "count") == 99 &&
			noted(j, "collectives", "1 kernel has no counterpart"));
		json_decref(j);
	}
}

/* The range begins after the kernel of GPU 0 and within that of GPU 1, and ends within a wait. */
static void a_range(void)
{
	struct gt_analysis_options o = plain;
	struct gpus g;
	json_t *j;

	late_gpu(&g, 0, 100, -1);
	o.filter = (struct gt_filter){
		.ranged = true, .from = 10 * ROUND + 50600, .to = 20 * ROUND + 40000
	};
	o.restrictions = "--from --to";
	j = report(gpus_end(&g), both, &o);
	CHECK(has(gpu(j, 0), 10, 10 * 30000 - 100, 0, 0) && num(gpu(j, 1), "count") == 11 &&
		num(gpu(j, 1), "matched") == 10);
	json_decref(j);
	late_gpu(&g, 0, 100, -1);
	o.filter.to = 20 * ROUND + 10000;
	j = report(gpus_end(&g), both, &o);
	/* the last kernel of GPU 1 begins after the range: the wait for it is unknown */
	CHECK(has(gpu(j, 0), 9, 9 * 30000 - 100, 0, 0));
	json_decref(j);
}

/* Three GPUs, each last in turn; the others wait for the last one. */
static void three_gpus(void)
{
	struct gpus g;
	uint32_t stream[3];
	const json_t *r;
	json_t *j;

	begin_nccl(&g);
	for (int i = 0; i < 3; i++)
		stream[i] = i < 2 ? g.stream[i][0] : add_gpu(&g);
	for (int i = 0; i < 90; i++)
		for (int k = 0; k < 3; k++)
			gpus_plain(&g, 0, stream[(i + k) % 3], i * 100000 + k * 10000,
				i * 100000 + 60000);
	j = report(gpus_end(&g), both, &plain);
	for (int k = 0; k < 3; k++)
		CHECK(has(gpu(j, k), 90, 30 * 30000, 30, 30 * 30000) &&
			num(gpu(j, k), "late_mean_ns") == 20000);
	CHECK(noted(j, "collectives", "90 collectives"));
	r = row_named(j, "advice", "rule", "unbalanced-gpus");
	CHECK(num(r, "cost_ns") == 90 * 30000);
	CHECK(!strncmp(json_string_value(json_object_get(r, "evidence")),
		"GPUs arrive at 90 collectives at different times: they wait 2.700 ms (", 70));
	json_decref(j);
}

/* Each GPU has two communicators, on a stream each, whose all-reduces have one name and other
 * periods. GPU 1 is late in one, GPU 0 in the other. */
static void two_communicators(void)
{
	struct gpus g;
	json_t *j;

	begin_nccl(&g);
	for (int i = 0; i < 70; i++) {
		gpus_plain(&g, 0, g.stream[0][0], i * 100000, i * 100000 + 60000);
		gpus_plain(&g, 0, g.stream[1][0], i * 100000 + 20000, i * 100000 + 60000);
	}
	for (int i = 0; i < 50; i++) {
		gpus_plain(&g, 0, g.stream[0][1], i * 140000 + 50000, i * 140000 + 90000);
		gpus_plain(&g, 0, g.stream[1][1], i * 140000, i * 140000 + 90000);
	}
	j = report(gpus_end(&g), both, &plain);
	CHECK(rows(j, "collectives_names") == 4);
	CHECK(has(named(j, 0, 7), 70, 70 * 20000, 0, 0) &&
		has(named(j, 1, 7), 70, 0, 70, 70 * 20000));
	CHECK(has(named(j, 0, 8), 50, 0, 50, 50 * 50000) &&
		has(named(j, 1, 8), 50, 50 * 50000, 0, 0));
	CHECK(num(named(j, 0, 7), "group") == num(named(j, 1, 7), "group") &&
		num(named(j, 0, 8), "group") == num(named(j, 1, 8), "group") &&
		num(named(j, 0, 7), "group") != num(named(j, 0, 8), "group"));
	CHECK(has(gpu(j, 0), 120, 70 * 20000, 50, 50 * 50000));
	json_decref(j);
}

static bool text; /* communicators are texts, as in files of gtexport --chrome */

/* A kernel with the fields of NCCL's calls, as the recorder writes them. */
static void put_nccl(struct gpus *g, uint64_t communicator, uint64_t bytes, uint32_t stream,
	int64_t start, int64_t end)
{
	const struct gt_gpu_extra_field fields[] = { { "communicator", text ? GT_F_STR : GT_F_HEX },
		{ "message_bytes", GT_F_U64 } };
	uint64_t values[] = { communicator, bytes };
	struct gt_gpu_work w = gpus_work(stream, start, end);
	char hex[20];

	snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)communicator);
	if (text)
		values[0] = gt_writer_string(g->w, hex);
	w.extra = (struct gt_gpu_extra){ .key = 1, .n = 2, .fields = fields, .values = values };
	gpus_kernel(g, 0, &w);
}

static const json_t *of_communicator(const json_t *j, int device, const char *communicator)
{
	for (size_t i = 0; i < rows(j, "collectives_names"); i++) {
		const json_t *r = row(j, "collectives_names", i);

		if (num(r, "device") == device &&
			(communicator ? is(r, "communicator", communicator)
				      : absent(r, "communicator")))
			return r;
	}
	return NULL;
}

/* Rounds on one stream of each GPU: GPU 1 is 20 us late in the first communicator. GPU 0 is 30 us
 * late in the second one, except in every eighth round. Every tenth round ends with kernels of no
 * known communicator, to which GPU 1 comes 5 us late. */
static void on_one_stream(void)
{
	struct gpus g;
	json_t *j;

	begin_nccl(&g);
	for (int i = 0; i < 80; i++) {
		int64_t at = i * 200000;

		put_nccl(&g, 0xa1, 4096, g.stream[0][0], at, at + 60000);
		put_nccl(&g, 0xa1, 4096, g.stream[1][0], at + 20000, at + 60000);
		if (i % 8) {
			put_nccl(&g, 0xb2, 100, g.stream[0][0], at + 100000, at + 140000);
			put_nccl(&g, 0xb2, 100, g.stream[1][0], at + 70000, at + 140000);
		}
		for (int k = 0; k < 2 && i % 10 == 9; k++)
			put_nccl(&g, 0, 1, g.stream[k][0], at + 150000 + 5000 * k, at + 170000);
	}
	j = report(gpus_end(&g), both, &plain);
	CHECK_EQ(rows(j, "collectives_names"), 6);
	CHECK(has(of_communicator(j, 0, "0xa1"), 80, 80 * 20000, 0, 0) &&
		has(of_communicator(j, 1, "0xa1"), 80, 0, 80, 80 * 20000));
	CHECK(has(of_communicator(j, 0, "0xb2"), 70, 0, 70, 70 * 30000) &&
		has(of_communicator(j, 1, "0xb2"), 70, 70 * 30000, 0, 0));
	CHECK(has(of_communicator(j, 0, NULL), 8, 8 * 5000, 0, 0) &&
		has(of_communicator(j, 1, NULL), 8, 0, 8, 8 * 5000));
	CHECK(num(of_communicator(j, 0, "0xa1"), "message_bytes") == 80 * 4096 &&
		num(of_communicator(j, 1, "0xb2"), "message_bytes") == 70 * 100);
	CHECK(num(of_communicator(j, 0, "0xa1"), "group") !=
			num(of_communicator(j, 0, "0xb2"), "group") &&
		num(of_communicator(j, 0, "0xb2"), "group") ==
			num(of_communicator(j, 1, "0xb2"), "group"));
	CHECK(has(gpu(j, 0), 158, 80 * 20000 + 8 * 5000, 70, 70 * 30000));
	CHECK(num(row_named(j, "advice", "rule", "unbalanced-gpus"), "cost_ns") == 70 * 30000);
	json_decref(j);
}

static void communicators_of_one_stream(void)
{
	on_one_stream();
	text = true;
	on_one_stream();
	text = false;
}

/* Kernels of two communicators that never overlap with their counterparts, in another order on each
 * GPU: order within the communicator matches them. */
static void order_of_communicators(void)
{
	struct gpus g;
	json_t *j;

	begin_nccl(&g);
	for (int i = 0; i < 40; i++)
		for (int k = 0; k < 2; k++) {
			int64_t at = i * 100000 + 40000 * k;

			put_nccl(&g, 0xa1, 4096, g.stream[k][0], at, at + 10000);
			put_nccl(&g, 0xb2, 100, g.stream[1 - k][0], at + 20000, at + 30000);
		}
	j = report(gpus_end(&g), both, &plain);
	CHECK(has(of_communicator(j, 0, "0xa1"), 40, 40 * 10000, 0, 0) &&
		has(of_communicator(j, 1, "0xa1"), 40, 0, 40, 40 * 10000));
	CHECK(has(of_communicator(j, 0, "0xb2"), 40, 0, 40, 40 * 10000) &&
		has(of_communicator(j, 1, "0xb2"), 40, 40 * 10000, 0, 0));
	json_decref(j);
}

/* A kernel with a communicator and the number of its collective, as files of NCCL's inspector have
 * it. */
static void put_numbered(struct gpus *g, int rank, uint64_t number, int64_t start, int64_t end)
{
	static const struct gt_gpu_extra_field fields[] = { { "communicator", GT_F_HEX },
		{ "sequence", GT_F_U64 } };
	const uint64_t values[] = { 0xa1, number };
	struct gt_gpu_work w = gpus_work(g->stream[rank][0], start, end);

	w.extra = (struct gt_gpu_extra){ .key = 2, .n = 2, .fields = fields, .values = values };
	gpus_kernel(g, number % 10 == 5, &w); /* some are broadcasts with numbers of their own */
}

/* Ranks of different clocks, of which each lacks some collectives: numbers tell which. GPU 1
 * arrives 20 us after GPU 0, but for number 7, to which GPU 0 comes 10 us late. */
static void numbers_of_collectives(void)
{
	struct gt_err err = { .offset = GT_NO_OFFSET };
	int fd = memfd_create("both", 0);
	struct gpus g;
	json_t *j;

	for (int rank = 0; rank < 2; rank++) {
		gpus_boot = rank ? "b" : "another";
		begin_nccl(&g);
		for (int i = 0; i < 50; i++) {
			int64_t at = i * 100000 + rank * 777777777ll;
			int late = i == 7 ? 10000 * !rank : 20000 * rank;

			if (i != (rank ? 3 : 30) && (rank || i < 48))
				put_numbered(&g, rank, (uint64_t)i, at + late, at + 60000);
		}
		CHECK(gpus_end_into(&g, fd));
	}
	j = report(gt_reader_open_fd(fd, &err), both, &plain);
	CHECK(has(gpu(j, 0), 46, 45 * 20000, 1, 10000) &&
		has(gpu(j, 1), 46, 10000, 45, 45 * 20000));
	CHECK(num(gpu(j, 0), "count") == 47 && num(gpu(j, 1), "count") == 49);
	CHECK(noted(j, "collectives", "46 collectives") &&
		noted(j, "collectives", "4 kernels have no counterpart"));
	json_decref(j);
}

/* A file that gives its collectives one number: the first of one rank belongs to the first of the
 * other, and so on. */
static void equal_numbers(void)
{
	struct gt_err err = { .offset = GT_NO_OFFSET };
	int fd = memfd_create("both", 0);
	struct gpus g;
	json_t *j;

	for (int rank = 0; rank < 2; rank++) {
		gpus_boot = rank ? "b" : "another";
		begin_nccl(&g);
		for (int i = 0; i < 3 + rank; i++) {
			int64_t at = i * 100000 + rank * 777777777ll;

			put_numbered(&g, rank, 1, at + rank * 20000, at + 60000);
		}
		CHECK(gpus_end_into(&g, fd));
	}
	j = report(gt_reader_open_fd(fd, &err), both, &plain);
	CHECK(has(gpu(j, 0), 3, 3 * 20000, 0, 0) && has(gpu(j, 1), 3, 0, 3, 3 * 20000));
	CHECK(noted(j, "collectives", "1 kernel has no counterpart"));
	json_decref(j);
}

/* Kernels of more communicators than the limit are counted, but are in no other figure. */
static void too_many_communicators(void)
{
	struct gpus g;
	json_t *j;

	begin_nccl(&g);
	for (uint64_t i = 0; i < 520; i++)
		for (int k = 0; k < 2; k++)
			put_nccl(&g, i + 1, 1, g.stream[k][0], (int64_t)i * 1000 + k * 10,
				(int64_t)i * 1000 + 500);
	j = report(gpus_end(&g), both, &plain);
	CHECK_EQ(num(gpu(j, 0), "matched"), 504); /* the kernels of GPU 0 come first */
	CHECK(noted(j, "collectives", "16 kernels are beyond the first 1048576 or of sequences"));
	json_decref(j);
}

/* Two pairs of GPUs that communicate within the pair, at unrelated times, are two groups; a
 * stream with other collectives is in no group. */
static void unrelated_gpus(void)
{
	struct gpus g;
	uint32_t third;
	json_t *j;

	begin_nccl(&g);
	third = add_gpu(&g);
	for (int i = 0; i < 100; i++) {
		gpus_plain(&g, 0, g.stream[0][0], i * 100000, i * 100000 + 60000);
		gpus_plain(&g, 0, g.stream[1][0], i * 100000 + 20000, i * 100000 + 60000);
		gpus_plain(&g, 0, third, i * 73000, i * 73000 + 20000);
		gpus_plain(&g, 1, g.stream[0][1], i * 100000, i * 100000 + 60000);
	}
	j = report(gpus_end(&g), both, &plain);
	CHECK(has(gpu(j, 1), 100, 0, 100, 2000000) && num(gpu(j, 2), "matched") == 0 &&
		absent(gpu(j, 2), "wait_ns"));
	CHECK(noted(j, "collectives", "200 kernels have no counterpart"));
	json_decref(j);
}

/* Ranks in separate recordings of one machine, which have the same clock. */
static void several_recordings(void)
{
	struct gt_err err = { .offset = GT_NO_OFFSET };
	int fd = memfd_create("both", 0);
	struct gpus g;
	json_t *j;

	for (int rank = 0; rank < 2; rank++) {
		begin_nccl(&g);
		for (int i = 0; i < 100; i++)
			gpus_plain(&g, 0, g.stream[rank][0], i * 100000 + 20000 * rank,
				i * 100000 + 60000);
		CHECK(gpus_end_into(&g, fd));
	}
	j = report(gt_reader_open_fd(fd, &err), both, &plain);
	CHECK(rows(j, "collectives") == 2 && has(gpu(j, 0), 100, 2000000, 0, 0) &&
		has(gpu(j, 1), 100, 0, 100, 2000000));
	CHECK(num(gpu(j, 1), "recording") == 1);
	json_decref(j);
}

static void no_waits(void)
{
	struct gt_analysis_options one_process = plain;
	struct gpus g;
	json_t *j;

	one_process.filter.pid = 100;
	for (int i = 0; i < 2; i++) {
		begin_nccl(&g);
		gpus_plain(&g, 0, g.stream[0][0], 1000, 2000);
		j = report(gpus_end(&g), both, i ? &one_process : &plain);
		CHECK(is(json_object_get(j, "collectives"), "state", "cannot answer") &&
			noted(j, "collectives", "only one GPU communicates"));
		CHECK(noted(j, "collectives", i ? "leave out --pid" : "files of all ranks"));
		json_decref(j);
	}
	gpus_begin(&g, NULL);
	gpus_plain(&g, 0, g.stream[0][0], 1000, 2000);
	j = report(gpus_end(&g), both, &plain);
	CHECK(rows(j, "collectives") == 0 &&
		noted(j, "collectives", "no communication kernel ran") &&
		is(json_object_get(j, "collectives"), "state", "answered"));
	json_decref(j);
	/* all arrive at once */
	begin_nccl(&g);
	for (int i = 0; i < 2; i++)
		gpus_plain(&g, 0, g.stream[i][0], 1000, 2000);
	j = report(gpus_end(&g), both, &plain);
	CHECK(has(gpu(j, 0), 1, 0, 1, 0) && has(gpu(j, 1), 1, 0, 0, 0));
	CHECK(is(row_named(j, "advice", "rule", "unbalanced-gpus"), "state", "clean"));
	json_decref(j);
}

T_MAIN(T(known_waits), T(hidden_waits), T(a_missing_kernel), T(a_range), T(three_gpus),
	T(two_communicators), T(communicators_of_one_stream), T(order_of_communicators),
	T(numbers_of_collectives), T(equal_numbers), T(too_many_communicators), T(unrelated_gpus),
	T(several_recordings), T(no_waits))
