/* The critical path of small programs with known chains. test_analyze_chain.c has random
 * programs. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "formats/cmdline/opt.h"
#include "tests/unit/random_program.h"
#include "tests/unit/reports.h"

static const char *const critical[] = { "critical", NULL };

/* ---- programs whose chain is known ---- */

struct by_hand {
	struct gpus g;
	uint32_t type[RP_WHATS + 2];
};
/* beside enum rp_what: a blocking copy, a stream wait for an event */
enum { BLOCKING = RP_WHATS, TOLD };

static void hand_begin(struct by_hand *h)
{
	static const struct rp_kind more[] = {
		{ "cuMemcpyDtoH_v2", GT_CAT_COPY, GT_OP_COPY },
		{ "cuStreamWaitEvent", GT_CAT_STREAM, GT_OP_NONE },
	};

	gpus_begin(&h->g, "{\"events\":\"api,ioctl,gpu\"}");
	for (int i = 0; i < RP_WHATS + 2; i++) {
		const struct rp_kind *k = i < RP_WHATS ? &rp_kinds[i] : &more[i - RP_WHATS];
		struct gt_type type = { .name = gt_writer_string(h->g.w, k->name),
			.category = k->category,
			.op = k->op,
			.memkind = i == RP_FREE ? GT_MEM_DEVICE : 0,
			.layer = i == RP_IOCTL ? GT_LAYER_IOCTL : GT_LAYER_API };

		h->type[i] = gt_writer_type(h->g.w, &type);
	}
}

static void hand_call(
	struct by_hand *h, int what, int thread, int64_t start, int64_t end, int depth)
{
	struct gt_row row = { start, end, h->type[what], 0, (uint8_t)depth, 0 };

	gt_writer_row(h->g.w, GT_CALL, h->g.thread[thread], &row, NULL, &h->g.err);
}

static struct gt_gpu_work launched_by(
	struct by_hand *h, uint32_t track, int64_t start, int64_t end, int thread, int64_t call)
{
	struct gt_gpu_work w = gpus_work(track, start, end);

	w.cause = (struct gt_gpu_cause){ .join = GT_JOIN_CORRELATION,
		.track = h->g.thread[thread],
		.name = h->g.launch_name,
		.start = call };
	return w;
}

static void hand_kernel(struct by_hand *h, int kernel, int stream, int64_t start, int64_t end,
	int thread, int64_t call)
{
	struct gt_gpu_work w = launched_by(h, h->g.stream[0][stream], start, end, thread, call);

	gpus_kernel(&h->g, kernel, &w);
}

static void hand_wait(struct by_hand *h, enum gt_gpu_wait what, uint32_t on, int thread,
	int64_t start, int64_t end)
{
	struct gt_gpu_work w = launched_by(h, on, start, end, thread, start);

	gpus_wait(&h->g, &w, what, 3);
}

struct want {
	const char *kind, *name;
	int64_t start, ns;
};

/* Compares the pieces of the first process with a text. Times are relative to the first row, as
 * in reports. */
static bool reads(const json_t *j, const struct want *w, size_t n)
{
	bool ok = rows(j, "critical_longest") == n;

	for (size_t i = 0; ok && i < n; i++) {
		const json_t *r = row(j, "critical_longest", i);

		ok = is(r, "kind", w[i].kind) && is(r, "name", w[i].name) &&
			num(r, "start_ns") == (double)w[i].start &&
			num(r, "duration_ns") == (double)w[i].ns;
		if (!ok) {
			char *text = json_dumps(r, 0);

			printf("# piece %zu: %s\n", i, text);
			free(text);
		}
	}
	return ok;
}
#define READS(j, ...)                                                                              \
	reads(j, (const struct want[]){ __VA_ARGS__ },                                             \
		sizeof((const struct want[]){ __VA_ARGS__ }) / sizeof(struct want))

static double of_kind(const json_t *j, const char *kind)
{
	return num(row_named(j, "critical", "kind", kind), "on_path_ns");
}

/* A copy is launched, then a kernel, which waits for it; the wait for the stream ends with the
 * kernel, and the next kernel is launched after it and begins within its call. */
static void queues_and_waits(struct by_hand *h)
{
	struct gt_gpu_work w;

	hand_begin(h);
	hand_call(h, RP_COPY, 0, 1000, 1040, 0);
	w = launched_by(h, h->g.stream[0][0], 1050, 1150, 0, 1000);
	gpus_copy(&h->g, &w, GT_DIR_HTOD, GT_GPU_MEM_PINNED, GT_GPU_MEM_DEVICE, 10);
	hand_call(h, RP_LAUNCH, 0, 1060, 1070, 0);
	hand_kernel(h, 0, 0, 1153, 1400, 0, 1060);
	hand_call(h, RP_SYNC, 0, 1080, 1410, 0);
	hand_call(h, RP_IOCTL, 0, 1100, 1405, 1);
	hand_wait(h, GT_GPU_WAIT_STREAM, h->g.stream[0][0], 0, 1080, 1410);
	/* on a stream for which it does not wait, from a call that does not exist */
	hand_kernel(h, 1, 1, 1000, 1409, 0, 900);
	hand_call(h, RP_LAUNCH, 0, 1450, 1480, 0);
	hand_kernel(h, 1, 0, 1475, 1600, 0, 1450);
}

static void each_waits_for_the_last_to_let_go(void)
{
	struct by_hand h;
	json_t *j;

	queues_and_waits(&h);
	j = report(gpus_end(&h.g), critical, &plain);
	CHECK(READS(j, { "API call", "cuMemcpyHtoDAsync_v2", 0, 40 },
		{ "launch latency", "before memcpy HtoD (pinned -> device)", 40, 10 },
		{ "copies", "memcpy HtoD (pinned -> device)", 50, 100 },
		{ "launch latency", "before add", 150, 3 }, { "compute", "add", 153, 247 },
		{ "API call", "cuStreamSynchronize", 400, 10 },
		{ "outside CUDA", "before cuLaunchKernel", 410, 40 },
		{ "API call", "cuLaunchKernel", 450, 25 }, { "compute", "mul", 475, 125 }));
	CHECK(rows(j, "critical") == 7 && of_kind(j, "compute") == 372 &&
		of_kind(j, "copies") == 100 && of_kind(j, "API call") == 75);
	CHECK(of_kind(j, "launch latency") == 13 && of_kind(j, "outside CUDA") == 40 &&
		of_kind(j, "unknown") == 0);
	CHECK(num(row(j, "critical", 0), "share_percent") == 62 &&
		num(row(j, "critical", 0), "window_ns") == 600);
	CHECK(is(row(j, "critical_names", 0), "name", "add") &&
		num(row(j, "critical_names", 0), "on_path_ns") == 247);
	/* of the launches 25 ns are on the path, of 10 + 30; of mul 125, of 409 + 125 */
	CHECK_EQ(num(row_named(j, "critical_names", "name", "cuLaunchKernel"), "summed_ns"), 40);
	CHECK_EQ(num(row_named(j, "critical_names", "name", "mul"), "summed_ns"), 534);
	CHECK(absent(row_named(j, "critical_names", "name", "thread 100 main"), "summed_ns"));
	CHECK(num(row(j, "critical_longest", 4), "device") == 0 &&
		num(row(j, "critical_longest", 4), "stream") == 7);
	CHECK(num(row(j, "critical_longest", 5), "tid") == 100 &&
		absent(row(j, "critical_longest", 5), "stream"));
	CHECK(noted(j, "critical", "process 100: the breakdown covers 600 ns") &&
		!noted(j, "critical", "inferred"));
	json_decref(j);
}

/* --top keeps the longest, in their order of time. */
static void the_longest_are_listed(void)
{
	struct gt_analysis_options o = plain;
	struct by_hand h;
	json_t *j;

	o.top = 2;
	queues_and_waits(&h);
	j = report(gpus_end(&h.g), critical, &o);
	CHECK(READS(j, { "compute", "add", 153, 247 }, { "compute", "mul", 475, 125 }));
	CHECK(noted(j, "critical_longest", "7 shorter pieces left out") &&
		noted(j, "critical_names", "more rows: --top 0 or --top "));
	json_decref(j);
}

static json_t *without(struct by_hand *h, const char *glob)
{
	const char *items[] = { glob };
	struct gt_opt_list globs = { items, 1, 1 };
	struct gt_analysis_options o = plain;

	o.report_options =
		(const struct gt_report_option[]){ { "without", &globs }, { NULL, NULL } };
	return report(gpus_end(&h->g), critical, &o);
}

static void gain_is(const char *glob, double gain, double on_path)
{
	struct by_hand h;
	const json_t *r;
	json_t *j;

	queues_and_waits(&h);
	j = without(&h, glob);
	r = row(j, "critical_without", 0);
	CHECK(num(r, "window_ns") == 600 && num(r, "gain_ns") == gain &&
		num(r, "without_ns") == 600 - gain && num(r, "on_path_ns") == on_path);
	json_decref(j);
}

static void a_gain_is_what_the_rest_leaves(void)
{
	gain_is("cuMemcpyHtoDAsync_v2", 40, 40);
	/* then mul on the other stream, until 1409, is the last to end */
	gain_is("add", 191, 247);
	/* then add begins when its launch returns, at 1070 */
	gain_is("memcpy*", 83, 100);
	gain_is("@kernel", 372, 372);
	/* until 1400 add delays the last kernel, no longer its launch */
	gain_is("cuStreamSynchronize", 75, 10);
	gain_is("nothing", 0, 0);
}

/* A saving on one path exposes another: of two streams that are waited for, only the longer one
 * is on the path. */
static void what_was_behind_comes_to_the_fore(void)
{
	struct by_hand h;
	json_t *j;

	hand_begin(&h);
	hand_call(&h, RP_LAUNCH, 0, 1000, 1010, 0);
	hand_kernel(&h, 0, 0, 1010, 1500, 0, 1000);
	hand_call(&h, RP_LAUNCH, 0, 1010, 1020, 0);
	hand_kernel(&h, 1, 1, 1020, 1420, 0, 1010);
	hand_call(&h, RP_SYNC_ALL, 0, 1030, 1505, 0);
	hand_call(&h, RP_LAUNCH, 0, 1505, 1515, 0);
	hand_kernel(&h, 0, 0, 1515, 1516, 0, 1505);
	j = without(&h, "add");
	CHECK(READS(j, { "compute", "add", 10, 490 }, { "API call", "cuCtxSynchronize", 500, 5 },
		{ "API call", "cuLaunchKernel", 505, 10 }, { "compute", "add", 515, 1 }));
	/* 491 on the path, but mul ends at 1420, and the launch takes 10 */
	CHECK_EQ(num(row(j, "critical_without", 0), "gain_ns"), 86);
	CHECK(noted(j, "critical_without", "an upper bound"));
	json_decref(j);
}

static void what_waits_for_another_stream(bool told)
{
	struct by_hand h;
	json_t *j;

	hand_begin(&h);
	hand_call(&h, RP_LAUNCH, 0, 1000, 1010, 0);
	hand_kernel(&h, 0, 0, 1020, 1300, 0, 1000);
	if (told) {
		hand_call(&h, TOLD, 0, 1020, 1030, 0);
		hand_wait(&h, GT_GPU_WAIT_STREAM_EVENT, h.g.stream[0][1], 0, 1020, 1030);
	}
	hand_call(&h, RP_LAUNCH, 0, 1040, 1050, 0);
	hand_kernel(&h, 1, 1, 1302, 1400, 0, 1040);
	j = report(gpus_end(&h.g), critical, &plain);
	CHECK(num(row_named(j, "critical", "kind", "compute"), "on_path_ns") == (told ? 378 : 98));
	CHECK(noted(j, "critical", "2 of 3 pieces (282 ns)") == told);
	CHECK(of_kind(j, "launch latency") == (told ? 2 : 252));
	json_decref(j);
}

static void an_event_is_likely_what_ended_last(void)
{
	what_waits_for_another_stream(true);
	what_waits_for_another_stream(false);
}

/* The operations of one launch on two streams are likely to run in sequence; a copy without
 * Async waits for itself. */
static void graphs_and_blocking_copies(void)
{
	struct gt_gpu_work w;
	struct by_hand h;
	json_t *j;

	hand_begin(&h);
	hand_call(&h, RP_LAUNCH, 0, 1000, 1010, 0);
	for (int i = 0; i < 2; i++) {
		w = launched_by(&h, h.g.stream[0][i], 1020 + 100 * i, 1110 + 100 * i, 0, 1000);
		w.graph = 1;
		w.node = 1 + (uint64_t)i;
		gpus_kernel(&h.g, i, &w);
	}
	hand_call(&h, BLOCKING, 0, 1050, 1300, 0);
	w = launched_by(&h, h.g.stream[0][1], 1230, 1280, 0, 1050);
	gpus_copy(&h.g, &w, GT_DIR_DTOH, GT_GPU_MEM_DEVICE, GT_GPU_MEM_PAGEABLE, 10);
	hand_call(&h, RP_LAUNCH, 0, 1310, 1320, 0);
	hand_kernel(&h, 0, 0, 1330, 1331, 0, 1310);
	j = report(gpus_end(&h.g), critical, &plain);
	CHECK(READS(j, { "compute", "add", 20, 90 }, { "launch latency", "before mul", 110, 10 },
		{ "compute", "mul", 120, 90 },
		{ "launch latency", "before memcpy DtoH (device -> pageable)", 210, 20 },
		{ "copies", "memcpy DtoH (device -> pageable)", 230, 50 },
		{ "API call", "cuMemcpyDtoH_v2", 280, 20 },
		{ "outside CUDA", "before cuLaunchKernel", 300, 10 },
		{ "API call", "cuLaunchKernel", 310, 10 },
		{ "launch latency", "before add", 320, 10 }, { "compute", "add", 330, 1 }));
	json_decref(j);
}

/* Two threads that alternate: the second one launches 1 us after the last call of the first one,
 * and after 100 us without calls. A thread that only queries in that time is not waited for. */
static void threads_take_turns(void)
{
	for (int asks = 0; asks < 2; asks++) {
		struct by_hand h;
		json_t *j;

		hand_begin(&h);
		hand_call(&h, RP_LAUNCH, 1, 1000, 2000, 0);
		hand_kernel(&h, 0, 1, 1000, 2500, 1, 1000);
		hand_call(&h, asks ? RP_QUERY : RP_LAUNCH, 0, 99000, 100000, 0);
		hand_call(&h, RP_LAUNCH, 1, 101000, 102000, 0);
		hand_kernel(&h, 1, 0, 103000, 104000, 1, 101000);
		j = report(gpus_end(&h.g), critical, &plain);
		CHECK(noted(j, "critical", "inferred") == !asks &&
			of_kind(j, "API call") == (asks ? 2000 : 3000));
		CHECK(num(row(j, "critical_longest", asks ? 1 : 0), "duration_ns") ==
			(asks ? 99000 : 1000));
		json_decref(j);
	}
}

/* The limit is 20 us without calls; one ns less is not sufficient. */
static void a_short_silence_is_no_turn(void)
{
	for (int less = 0; less < 2; less++) {
		struct by_hand h;
		json_t *j;

		hand_begin(&h);
		hand_call(&h, RP_LAUNCH, 1, 1000, 2000, 0);
		hand_kernel(&h, 0, 1, 1000, 2500, 1, 1000);
		hand_call(&h, RP_LAUNCH, 0, 10000, 20000, 0);
		hand_call(&h, RP_LAUNCH, 1, 22000 - less, 23000, 0);
		hand_kernel(&h, 1, 0, 24000, 25000, 1, 22000 - less);
		j = report(gpus_end(&h.g), critical, &plain);
		CHECK(noted(j, "critical", "inferred") == !less);
		json_decref(j);
	}
}

/* A waiting call begins where another waiting call ended: each has its own wait. */
static void waits_that_touch_are_two(void)
{
	struct by_hand h;
	json_t *j;

	hand_begin(&h);
	hand_call(&h, RP_LAUNCH, 0, 1000, 1010, 0);
	hand_kernel(&h, 0, 0, 1010, 1050, 0, 1000);
	hand_call(&h, RP_LAUNCH, 0, 1010, 1020, 0);
	hand_kernel(&h, 1, 1, 1020, 1058, 0, 1010);
	hand_call(&h, RP_SYNC, 0, 1030, 1060, 0);
	hand_wait(&h, GT_GPU_WAIT_STREAM, h.g.stream[0][0], 0, 1030, 1060);
	hand_call(&h, RP_SYNC_ALL, 0, 1060, 1070, 0);
	hand_wait(&h, GT_GPU_WAIT_CONTEXT, h.g.process, 0, 1060, 1070);
	hand_call(&h, RP_LAUNCH, 0, 1070, 1080, 0);
	hand_kernel(&h, 1, 1, 1080, 1090, 0, 1070);
	j = report(gpus_end(&h.g), critical, &plain);
	CHECK(READS(j, { "compute", "add", 10, 40 }, { "API call", "cuStreamSynchronize", 50, 10 },
		{ "API call", "cuCtxSynchronize", 60, 10 },
		{ "API call", "cuLaunchKernel", 70, 10 }, { "compute", "mul", 80, 10 }));
	json_decref(j);
}

static void lost_and_unjoined_is_unknown(void)
{
	struct by_hand h;
	json_t *j;

	hand_begin(&h);
	gpus_plain(&h.g, 0, h.g.stream[0][0], 1000, 1100);
	/* 50 after the one before: its long launch is unknown */
	gpus_plain(&h.g, 0, h.g.stream[0][0], 1150, 1200);
	hand_call(&h, RP_QUERY, 0, 1160, 1170, 0);
	hand_call(&h, RP_LAUNCH, 0, 1250, 1260, 0);
	hand_kernel(&h, 1, 1, 1260, 1300, 0, 1250);
	gt_writer_loss(h.g.w, GT_SCOPE_TRACK, h.g.thread[0], 1180, 1190, 3, &h.g.err);
	j = report(gpus_end(&h.g), critical, &plain);
	CHECK(READS(j, { "outside CUDA", "before cuEventQuery", 0, 160 },
		{ "API call", "cuEventQuery", 160, 10 },
		{ "unknown", "before cuLaunchKernel", 170, 80 },
		{ "API call", "cuLaunchKernel", 250, 10 }, { "compute", "mul", 260, 40 }));
	CHECK(noted(j, "critical", "2 of 3 operations are joined to no call"));
	json_decref(j);
	hand_begin(&h);
	gpus_plain(&h.g, 0, h.g.stream[0][0], 1000, 1100);
	gpus_plain(&h.g, 0, h.g.stream[0][0], 1150, 1200);
	j = report(gpus_end(&h.g), critical, &plain);
	CHECK(READS(j, { "compute", "add", 0, 100 }, { "unknown", "before add", 100, 50 },
		{ "compute", "add", 150, 50 }));
	json_decref(j);
}

static bool refuses(struct gt_reader *r, const struct gt_analysis_options *o, const char *why)
{
	json_t *j = report(r, critical, o);
	bool ok = j && rows(j, "critical") == 0 && !json_object_get(j, "critical_names") &&
		noted(j, "critical", why);

	json_decref(j);
	return ok;
}

static bool any(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return true;
}

static void where_there_is_no_answer_it_says_so(void)
{
	struct gt_analysis_options o = plain;
	struct by_hand h;
	struct trace t;

	known(&t, true);
	CHECK(refuses(end(&t), &plain, "cannot answer: what GPUs did was not recorded"));
	gpus_begin(&h.g, "{\"events\":\"api,gpu\"}");
	CHECK(refuses(gpus_end(&h.g), &plain, "cannot answer: no GPU operation was recorded"));
	queues_and_waits(&h);
	o.filter.match = any;
	CHECK(refuses(gpus_end(&h.g), &o, "cannot answer: --match"));
	queues_and_waits(&h);
	o = plain;
	o.filter.tid = 100;
	CHECK(refuses(gpus_end(&h.g), &o, "cannot answer: --tid"));
}

/* Two recordings with one process each: each has its own chain, and the longer one is first. */
static void each_process_has_its_own(void)
{
	int both = memfd_create("both", 0);
	struct gt_err err = GT_ERR_INIT;
	json_t *j;

	for (int i = 0; i < 2; i++) {
		struct by_hand h;

		hand_begin(&h);
		hand_call(&h, RP_LAUNCH, 0, 1000, 1010, 0);
		hand_kernel(&h, i, 0, 1020, 1100 + 50 * i, 0, 1000);
		hand_call(&h, RP_LAUNCH, 0, 1030, 1040, 0);
		hand_kernel(&h, i, 0, 1200, 1210, 0, 1030);
		CHECK(gpus_end_into(&h.g, both));
	}
	j = report(gt_reader_open_fd(both, &err), critical, &plain);
	CHECK(rows(j, "critical") == 14 && num(row(j, "critical", 0), "recording") == 0 &&
		num(row(j, "critical", 7), "recording") == 1);
	CHECK(num(row(j, "critical", 0), "on_path_ns") == 90 &&
		num(row(j, "critical", 7), "on_path_ns") == 140);
	CHECK(rows(j, "critical_longest") == 6 && is(row(j, "critical_longest", 5), "name", "mul"));
	json_decref(j);
}

T_MAIN(T(each_waits_for_the_last_to_let_go), T(the_longest_are_listed),
	T(a_gain_is_what_the_rest_leaves), T(what_was_behind_comes_to_the_fore),
	T(an_event_is_likely_what_ended_last), T(graphs_and_blocking_copies), T(threads_take_turns),
	T(a_short_silence_is_no_turn), T(waits_that_touch_are_two), T(lost_and_unjoined_is_unknown),
	T(where_there_is_no_answer_it_says_so), T(each_process_has_its_own))
