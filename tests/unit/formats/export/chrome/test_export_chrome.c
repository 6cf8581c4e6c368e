#include "tests/unit/formats/export/exported.h"
#include "formats/import/importers.h"
#include "formats/names/stack_names.h"
#include "tests/unit/analyze/idle/host_program.h"

static int by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int64_t d = x->pid != y->pid   ? x->pid - y->pid
		: x->tid != y->tid     ? x->tid - y->tid
		: x->start != y->start ? x->start - y->start
				       : y->end - x->end;

	return (d > 0) - (d < 0);
}

/* How many X slices overlap another of their thread by halves, -1 when there are not `want` slices
 * (async pairs count). */
static int halves(json_t *trace, size_t want)
{
	json_t *events = json_object_get(trace, "traceEvents"), *e;
	struct placed *p = calloc(json_array_size(events) + 1, sizeof(*p)), stack[1000];
	size_t n = 0, i, async = 0, top = 0;
	int bad = 0;

	json_array_foreach(events, i, e)
	{
		async += !strcmp(word(e, "ph"), "b");
		if (!strcmp(word(e, "ph"), "X"))
			p[n++] = (struct placed){ json_integer_value(json_object_get(e, "pid")),
				json_integer_value(json_object_get(e, "tid")), ns(e, "ts"),
				ns(e, "ts") + ns(e, "dur") };
	}
	qsort(p, n, sizeof(*p), by_place);
	for (i = 0; i < n; i++) {
		while (top &&
			(stack[top - 1].pid != p[i].pid || stack[top - 1].tid != p[i].tid ||
				stack[top - 1].end <= p[i].start))
			top--;
		bad += top && stack[top - 1].end < p[i].end;
		if (top < 1000)
			stack[top++] = p[i];
	}
	free(p);
	return n + async == want ? bad : -1;
}

static void chrome_says_it_all(void)
{
	struct made m = make();
	uint64_t launch[] = { gt_writer_string(m.w, KERNEL_NAME), 256, 0x7f00dead, 5 },
		 copy[] = { 1ull << 60, GT_DIR_HTOD };
	struct gt_reader *r;
	json_t *j, *e, *args;

	put(&m, GT_CALL, m.thread, LAUNCH, 1000000001, 1000001235, 0, 700, launch);
	put(&m, GT_CALL, m.thread, COPY, 1000002000, 1000002001, 0, 0, copy);
	put(&m, GT_INSTANT, m.thread, MARK, 1000002500, 1000002500, 0, 0, NULL);
	r = reread(&m);
	j = chrome(r, NULL);
	e = event(j, "X", "cuLaunchKernel", 0);
	args = json_object_get(e, "args");
	CHECK(e && ns(e, "ts") == 0 && ns(e, "dur") == 1234 &&
		!strcmp(word(e, "cat"), "cuda_driver"));
	CHECK(json_integer_value(json_object_get(e, "pid")) == 4711 &&
		json_integer_value(json_object_get(e, "tid")) == 4711);
	CHECK(!strcmp(word(args, "kernel"), "vectorAdd") &&
		!strcmp(word(args, "hStream"), "0x7f00dead"));
	CHECK(json_integer_value(json_object_get(args, "gridDimX")) == 256 &&
		json_integer_value(json_object_get(args, "ret")) == 700);
	args = json_object_get(event(j, "X", "cuMemcpyHtoD_v2", 0), "args");
	CHECK(!strcmp(word(args, "ByteCount"), "1152921504606846976") &&
		!strcmp(word(args, "direction"), "HtoD") && !json_object_get(args, "ret"));
	CHECK(event(j, "i", "mark \"one\"\n", 0));
	CHECK(!strcmp(word(json_object_get(event(j, "M", "process_name", 0), "args"), "name"),
		"python3"));
	CHECK(!strcmp(
		word(json_object_get(event(j, "M", "thread_name", 0), "args"), "name"), "main;x"));
	CHECK(event(j, "M", "process_sort_index", 0) && event(j, "M", "thread_sort_index", 0));
	e = json_object_get(j, "otherData");
	CHECK_STR(word(j, "displayTimeUnit"), "ns");
	CHECK(!strcmp(word(json_object_get(e, "kernels"), "vectorAdd"),
		"vectorAdd(float const*, float const*, float*, int)"));
	e = json_array_get(json_object_get(e, "segments"), 0);
	CHECK(json_is_true(json_object_get(e, "simulated")) &&
		!strcmp(word(json_object_get(e, "metadata"), "command"), "a \"b\""));
	CHECK_STR(word(e, "base_monotonic_ns"), "1000000001");
	json_decref(j);
	gt_reader_close(r);
}

static void chrome_times_have_three_decimals(void)
{
	struct made m = make();
	struct gt_reader *r;
	char *text;

	put(&m, GT_CALL, m.thread, PLAIN, 5, 6, 0, 0, NULL);
	put(&m, GT_CALL, m.thread, PLAIN, 123456789012345, 123456789012346, 0, 0, NULL);
	r = reread(&m);
	text = export(r, "chrome");
	CHECK(strstr(text, "\"ts\":0.000,\"dur\":0.001}") &&
		strstr(text, "\"ts\":123456789012.340,\"dur\":0.001}"));
	free(text);
	gt_reader_close(r);
}

static void chrome_of_nothing(void)
{
	struct made m = make();
	struct gt_reader *r = reread(&m);
	json_t *j = chrome(r, NULL);

	CHECK(j && json_array_size(json_object_get(j, "traceEvents")) == 0);
	json_decref(j);
	gt_reader_close(r);
}

/* A call that spans several epochs is written after its children, and contains them. */
static int long_calls(void)
{
	struct made m = make();
	struct gt_reader *r;
	int64_t t = 1000;
	json_t *j;
	int bad;

	put(&m, GT_CALL, m.thread, PLAIN, 100, 400, 0, 0, NULL);
	for (int epoch = 0; epoch < 5; epoch++) {
		for (int i = 0; i < 100; i++, t += 100) {
			put(&m, GT_CALL, m.thread, IOCTL, t + 10, t + 20, 2, 0, NULL);
			put(&m, GT_CALL, m.thread, PLAIN, t, t + 50, 1, 0, NULL);
		}
		gt_writer_epoch(m.w, t, NULL);
	}
	put(&m, GT_CALL, m.thread, IOCTL, t + 10, t + 20, 1, 0, NULL);
	put(&m, GT_CALL, m.thread, COPY, 500, t + 100, 0, 0, NULL);
	/* blocks full of calls that began after it, written before it */
	for (int i = 0; i < 50000; i++)
		put(&m, GT_CALL, m.thread, PLAIN, t + 100 + i * 10, t + 105 + i * 10, 0, 0, NULL);
	r = reread(&m);
	j = chrome(r, NULL);
	bad = halves(j, 51003);
	if (event(j, "M", "thread_name", 1))
		bad = -2; /* needs no lane for it */
	json_decref(j);
	gt_reader_close(r);
	return bad;
}

static void chrome_long_call_over_epochs(void)
{
	CHECK_EQ(long_calls(), 0);
	by_end = true;
	CHECK_EQ(long_calls(), 0);
	by_end = false;
}

/* Files with invalid data: calls of any depth overlap in any way, over several epochs. No call
 * is dropped, and no two slices overlap in part. */
static void chrome_of_lies(void)
{
	for (unsigned seed = 1; seed <= T_INPUTS(100u); seed++) {
		unsigned state = seed;
		struct gt_reader *r;
		struct made m;
		json_t *j;

		by_end = seed % 2;
		m = make();

		for (int i = 0; i < 300; i++) {
			int64_t start = 1000 + next_random(&state) % 500,
				dur = next_random(&state) % (seed % 3 ? 12 : 100);

			put(&m, GT_CALL, next_random(&state) % 3 ? m.thread : m.other, PLAIN, start,
				start + dur, next_random(&state) % 4, 0, NULL);
			if (i % 50 == 49)
				gt_writer_epoch(m.w, start, NULL);
		}
		r = reread(&m);
		j = chrome(r, NULL);
		by_end = false;
		CHECK_EQ(halves(j, 300), 0);
		json_decref(j);
		gt_reader_close(r);
	}
}

static void chrome_spans_get_lanes(void)
{
	struct made m = make();
	struct gt_reader *r;
	json_t *j;

	put(&m, GT_SPAN, m.gpu, PLAIN, 100, 200, 0, 0, NULL);
	put(&m, GT_SPAN, m.gpu, PLAIN, 120, 150, 0, 0, NULL); /* nests: the same lane */
	put(&m, GT_SPAN, m.gpu, PLAIN, 180, 250, 0, 0, NULL); /* overlaps: another */
	put(&m, GT_SPAN, m.gpu, PLAIN, 250, 260, 0, 0, NULL); /* the first again */
	r = reread(&m);
	j = chrome(r, NULL);
	CHECK_EQ(halves(j, 4), 0);
	CHECK(event(j, "M", "thread_name", 1) && !event(j, "M", "thread_name", 2));
	CHECK(!strcmp(word(json_object_get(event(j, "M", "thread_name", 1), "args"), "name"),
		"stream 7 (2)"));
	CHECK(json_integer_value(json_object_get(
		      json_object_get(event(j, "M", "thread_sort_index", 1), "args"),
		      "sort_index")) ==
		json_integer_value(json_object_get(
			json_object_get(event(j, "M", "thread_sort_index", 0), "args"),
			"sort_index")) +
			1);
	json_decref(j);
	gt_reader_close(r);
}

/* More overlapping calls than there are lanes: they become async pairs, and none is dropped. */
static void chrome_runs_out_of_lanes(void)
{
	struct made m = make();
	struct gt_reader *r;
	json_t *j;

	for (int i = 0; i < 600; i++)
		put(&m, GT_SPAN, m.gpu, PLAIN, 100 + i, 10000 + i, 0, 0, NULL);
	r = reread(&m);
	j = chrome(r, NULL);
	CHECK_EQ(halves(j, 600), 0);
	CHECK(event(j, "b", NULL, 0) && event(j, "e", NULL, 0));
	json_decref(j);
	gt_reader_close(r);
}

static void chrome_spans_beside_calls(void)
{
	struct made m = make();
	struct gt_reader *r;
	json_t *j;

	put(&m, GT_CALL, m.thread, PLAIN, 100, 200, 0, 0, NULL);
	put(&m, GT_SPAN, m.thread, MARK, 150, 250, 0, 0, NULL);
	r = reread(&m);
	j = chrome(r, NULL);
	CHECK_EQ(halves(j, 2), 0);
	json_decref(j);
	gt_reader_close(r);
}

static void chrome_open_calls(void)
{
	struct made m = make();
	struct gt_row row = { .start = 150, .type = m.types[LAUNCH], .depth = 0, .nargs = 0 };
	struct gt_reader *r;
	json_t *j, *e;

	put(&m, GT_CALL, m.thread, IOCTL, 160, 170, 1, 0, NULL);
	put(&m, GT_CALL, m.other, PLAIN, 100, 900, 0, 0, NULL);
	CHECK(!gt_writer_open_call(m.w, m.thread, &row, NULL, NULL));
	CHECK(!gt_writer_epoch(m.w, 1000, NULL));
	r = reread(&m);
	j = chrome(r, NULL);
	e = event(j, "X", "cuLaunchKernel", 0);
	CHECK(e && json_is_true(json_object_get(json_object_get(e, "args"), "open")));
	CHECK(ns(e, "ts") == 50 && ns(e, "ts") + ns(e, "dur") >= 800);
	CHECK_EQ(halves(j, 3), 0);
	json_decref(j);
	gt_reader_close(r);
}

static void chrome_losses_counters_unmatched(void)
{
	struct made m = make();
	double watts = 123.25;
	uint64_t bits;
	struct gt_reader *r;
	json_t *j, *e;

	memcpy(&bits, &watts, 8);
	put(&m, GT_CALL, m.thread, PLAIN, 100, 200, 0, 0, NULL);
	put(&m, GT_COUNTER, m.process, GAUGE, 300, 300, 0, 0, &bits);
	put(&m, GT_UNMATCHED, m.thread, PLAIN, 400, 400, 0, 1, NULL);
	CHECK(!gt_writer_loss(m.w, GT_SCOPE_TRACK, m.thread, 500, 600, 17, NULL));
	CHECK(!gt_writer_loss(m.w, GT_SCOPE_ALL, GT_NONE, 700, 800, GT_LOST_UNKNOWN, NULL));
	r = reread(&m);
	j = chrome(r, NULL);
	e = event(j, "C", "power", 0);
	CHECK(json_real_value(json_object_get(json_object_get(e, "args"), "value")) == 123.25);
	e = event(j, "i", "cuInit", 0);
	CHECK(!strcmp(word(json_object_get(e, "args"), "unmatched"), "an end without a begin"));
	e = event(j, "i", "LOST 17 events", 0);
	CHECK(e && !strcmp(word(e, "s"), "t") && ns(e, "ts") == 400);
	e = event(j, "i", "LOST events (number unknown)", 0);
	CHECK(e && !strcmp(word(e, "s"), "g"));
	e = json_object_get(json_object_get(j, "otherData"), "lost");
	CHECK(json_integer_value(json_object_get(e, "events")) == 17 &&
		json_is_true(json_object_get(e, "unknown")));
	json_decref(j);
	gt_reader_close(r);
}

/* A correlation id alone gives no arrow: neither for a call without GPU work, nor for GPU work
 * that has no call. */
static void chrome_flows(void)
{
	struct made m = make();
	uint64_t launch[] = { GT_NONE, 1, 0, 5 }, idle[] = { GT_NONE, 1, 0, 6 }, five = 5;
	struct gt_reader *r;
	json_t *j;

	put(&m, GT_CALL, m.thread, LAUNCH, 100, 200, 0, 0, launch);
	put(&m, GT_CALL, m.thread, LAUNCH, 200, 300, 0, 0, idle);
	put(&m, GT_GPU, m.gpu, KERNEL, 300, 400, 0, 0, &five);
	r = reread(&m);
	j = chrome(r, NULL);
	CHECK(!event(j, "s", NULL, 0) && !event(j, "f", NULL, 0));
	/* not known */
	CHECK(!json_object_get(
		json_object_get(event(j, "X", "cuLaunchKernel", 0), "args"), "kernel"));
	json_decref(j);
	gt_reader_close(r);
}

static void put_joined(struct made *m, uint64_t track, int64_t call, int64_t ns, int64_t start)
{
	uint64_t joined[] = { track, (uint64_t)call, (uint64_t)ns, gt_writer_string(m->w, "cuInit"),
		GT_JOIN_CORRELATION, (uint64_t)call ^ track << 20, GT_NONE };

	put(m, GT_GPU, m->gpu, JOINED, start, start + 10, 0, 0, joined);
}

/* An arrow is in the slice of its call, wherever the slice is: on its thread, on another lane,
 * as a span, still open. */
static void chrome_flows_are_in_slices(void)
{
	struct made m = make();
	struct gt_reader *r;
	json_t *j;

	put(&m, GT_CALL, m.thread, PLAIN, 100, 200, 0, 0, NULL);
	/* overlaps by halves: another lane */
	put(&m, GT_CALL, m.thread, PLAIN, 150, 300, 0, 0, NULL);
	put(&m, GT_SPAN, m.other, PLAIN, 100, 200, 0, 0, NULL);
	put(&m, GT_SPAN, m.other, PLAIN, 150, 300, 0, 0, NULL);
	put(&m, GT_CALL, m.other, PLAIN, 400, 450, 0, 0, NULL);
	put_joined(&m, m.thread, 100, 100, 1000);
	put_joined(&m, m.thread, 150, 150, 1010);
	put_joined(&m, m.other, 100, 100, 1020);
	put_joined(&m, m.other, 150, 150, 1030);
	put_joined(&m, m.other, 150, 150, 1040); /* as of a graph: one arrow each */
	put_joined(&m, m.thread, 500, 50, 1050); /* no such call */
	put_joined(&m, m.other, 5000, 50, 1060);
	r = reread(&m);
	j = chrome(r, NULL);
	CHECK_EQ(whole_flows(j), 5);
	json_decref(j);
	gt_reader_close(r);
}

/* A row without a slice has no arrow: when all lanes are in use, a call is a pair of async
 * events. */
static void chrome_flows_beyond_all_lanes(void)
{
	enum { N = 300 };
	struct made m = make();
	struct gt_reader *r;
	json_t *j;

	for (int i = 0; i < N; i++)
		put(&m, GT_SPAN, m.thread, PLAIN, 100 + i, 1000 + i, 0, 0, NULL);
	for (int i = 0; i < N; i++)
		put_joined(&m, m.thread, 100 + i, 900, 2000 + 20 * i);
	r = reread(&m);
	j = chrome(r, NULL);
	CHECK(whole_flows(j) == 256 && event(j, "b", NULL, N - 257));
	json_decref(j);
	gt_reader_close(r);
}

/* A GPU row that contains its launch needs neither the call's row nor a table of correlation
 * ids. */
static void chrome_flows_of_the_row_itself(void)
{
	struct made m = make();
	uint64_t joined[] = { m.thread, 100, 50, gt_writer_string(m.w, "cuInit"),
		GT_JOIN_CORRELATION, 5, GT_NONE };
	uint64_t nowhere[] = { 12345, 100, 50, joined[3], GT_JOIN_UNKNOWN, 6, GT_NONE };
	struct gt_reader *r;
	json_t *j, *s, *f;

	put(&m, GT_CALL, m.thread, PLAIN, 100, 150, 0, 0, NULL);
	put(&m, GT_GPU, m.gpu, JOINED, 300, 400, 0, 0, joined);
	put(&m, GT_GPU, m.gpu, JOINED, 500, 600, 0, 0, nowhere);
	r = reread(&m);
	j = chrome(r, NULL);
	s = event(j, "s", NULL, 0);
	f = event(j, "f", NULL, 0);
	CHECK(s && f && json_equal(json_object_get(s, "id"), json_object_get(f, "id")) &&
		json_integer_value(json_object_get(s, "id")) == 5);
	CHECK(json_integer_value(json_object_get(s, "tid")) == 4711 && ns(s, "ts") > 0 &&
		ns(s, "ts") < 50 && ns(f, "ts") > 200 && ns(f, "ts") < 300);
	CHECK(!event(j, "s", NULL, 1));
	json_decref(j);
	gt_reader_close(r);
}

static void chrome_filters(void)
{
	struct made m = make();
	struct gt_export_options opt = { .filter = { .ranged = true, .from = 150, .to = 250 } };
	struct gt_reader *r;
	json_t *j;

	put(&m, GT_CALL, m.thread, PLAIN, 100, 110, 0, 0, NULL);
	put(&m, GT_CALL, m.thread, LAUNCH, 200, 210, 0, 0, NULL);
	put(&m, GT_CALL, m.other, COPY, 200, 210, 0, 0, NULL);
	r = reread(&m);
	j = chrome(r, &opt);
	CHECK(!event(j, "X", "cuInit", 0) && event(j, "X", "cuLaunchKernel", 0) &&
		event(j, "X", "cuMemcpyHtoD_v2", 0));
	json_decref(j);
	opt.filter = (struct gt_filter){ .tid = 4712 };
	j = chrome(r, &opt);
	CHECK(!event(j, "X", "cuLaunchKernel", 0) && event(j, "X", "cuMemcpyHtoD_v2", 0));
	json_decref(j);
	gt_reader_close(r);
}

static void chrome_two_hosts(void)
{
	struct gt_reader *r = gt_reader_open_fd(two_hosts(), NULL);
	json_t *j = chrome(r, NULL), *a = event(j, "X", "cuInit", 0),
	       *b = event(j, "X", "cuMemcpyHtoD_v2", 0);

	CHECK(a && b && ns(a, "ts") == 0 && ns(b, "ts") == 0); /* each from its own first row */
	CHECK_EQ(json_integer_value(json_object_get(a, "pid")), 4711);
	CHECK(json_integer_value(json_object_get(b, "pid")) != 4711);
	CHECK(!strcmp(word(json_object_get(event(j, "M", "process_name", 1), "args"), "name"),
		"python3 (process 4711, host-b)"));
	CHECK_EQ(json_array_size(json_object_get(json_object_get(j, "otherData"), "segments")), 2);
	json_decref(j);
	gt_reader_close(r);
}

/* Device numbers of a process are not those of the machine, and of two processes they may be
 * different GPUs. */
static void chrome_devices_of_processes(void)
{
	static const struct {
		const char *uuids, *want;
	} all[] = {
		{ "", "[{\"id\":0,\"name\":\"A\"},{\"id\":1,\"name\":\"B\"}]" },
		{ ",\"gpu_uuids.7.0\":\"22-b\"",
			"[{\"id\":0,\"name\":\"B\",\"computeMajor\":9,\"computeMinor\":0,\"warpSize\":32,"
			"\"numSms\":132},{\"id\":1,\"name\":\"B\"}]" },
		{ ",\"gpu_uuids.7.0\":\"22-b\",\"gpu_uuids.8.0\":\"11-a\"",
			"[{\"id\":0,\"computeMinor\":0,\"warpSize\":32},{\"id\":1,\"name\":\"B\"}]" },
		{ ",\"gpu_uuids.8.2\":\"33-c\",\"gpu_uuids.8.99\":\"11-a\"",
			"[{\"id\":0,\"name\":\"A\"},{\"id\":1,\"name\":\"B\"},{\"id\":2}]" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct made m = { .fd = memfd_create("trace", 0) };
		char meta[700], *got;
		struct gt_reader *r;
		json_t *j;

		snprintf(meta, sizeof(meta),
			"{\"gpus\":[{\"model\":\"A\",\"uuid\":\"GPU-11-a\"},{\"model\":\"B\",\"uuid\":\"GPU-22-b\"}],"
			"\"gpu_limits.7.0\":{\"compute_capability\":\"9.0\",\"multiprocessors\":132},"
			"\"gpu_limits.8.0\":{\"compute_capability\":\"8.0\",\"multiprocessors\":108}%s}",
			all[i].uuids);
		m.w = gt_writer_open(dup(m.fd),
			&(struct gt_writer_options){
				.meta_json = meta, .host = "h", .boot_id = "b" },
			NULL);
		r = reread(&m);
		j = chrome(r, NULL);
		got = json_dumps(json_object_get(j, "deviceProperties"), JSON_COMPACT);
		CHECK_STR(got, all[i].want);
		free(got);
		json_decref(j);
		gt_reader_close(r);
	}
}

/* The frames of an event as "inner < outer", which the caller frees. */
static char *frames_of(json_t *trace, const json_t *e)
{
	json_t *id = json_object_get(e, "sf"), *all = json_object_get(trace, "stackFrames");
	json_int_t at = json_integer_value(id);
	struct gt_out text;
	char *copy;

	gt_out_memory(&text);
	for (int depth = 0; at && depth < 100; depth++) {
		char key[24];
		json_t *frame;

		snprintf(key, sizeof(key), "%lld", (long long)at);
		frame = json_object_get(all, key);
		if (!*word(frame, "category"))
			break;
		gt_out_printf(&text, "%s%s", depth ? " < " : "", word(frame, "name"));
		at = json_integer_value(json_object_get(frame, "parent"));
	}
	copy = strndup(text.data ? text.data : "", text.len);
	gt_out_close(&text, NULL);
	return copy;
}

static void check_stack(json_t *trace, const char *name, unsigned nth, const char *stack)
{
	json_t *e = event(trace, "X", name, nth), *args = json_object_get(e, "args");
	char *have = frames_of(trace, e);
	size_t caller = strlen(word(args, "caller"));

	CHECK(e && args && !json_object_get(args, "stack"));
	CHECK_STR(have, stack);
	CHECK(*stack ? caller && strstr(stack, word(args, "caller"))
		     : !json_object_get(args, "caller") && !json_object_get(e, "sf"));
	free(have);
}

#define STEP "at::gemm<float> (libtorch.so) < step (app/train.py:88) < main (app/train.py:9)"
#define LOAD "load (app/data.py:12) < main (app/train.py:9) < main (app/train.py:9)"
#define WORKER "worker (libworker.so) < start_thread (libc.so.6) < (truncated)"

static void events_have_stacks(void)
{
	struct gt_reader *r = stack_program();
	json_t *j = chrome(r, NULL), *args;

	check_stack(j, "cuLaunchKernel", 0, STEP);
	check_stack(j, "cuLaunchKernel", 3, LOAD);
	check_stack(j, "cuLaunchKernel", 5, ""); /* threads follow each other */
	check_stack(j, "cuLaunchKernel", 6, WORKER);
	check_stack(j, "add(float*)", 0, STEP);
	check_stack(j, "mul(float*)", 0, STEP);
	check_stack(j, "mul(float*)", 1, LOAD);
	check_stack(j, "add(float*)", 2, WORKER);
	check_stack(j, "add(float*)", 3, "");
	args = json_object_get(event(j, "X", "add(float*)", 0), "args");
	CHECK_STR(word(args, "caller"), "step (app/train.py:88)");
	args = json_object_get(event(j, "X", "cuLaunchKernel", 6), "args");
	CHECK_STR(word(args, "caller"), "worker (libworker.so)");
	/* main is there once as the outermost frame, and once below itself */
	CHECK_EQ(json_object_size(json_object_get(j, "stackFrames")), 8);
	json_decref(j);
	gt_reader_close(r);
	r = gt_reader_open_fd(two_hosts(), NULL);
	j = chrome(r, NULL);
	CHECK(j && !json_object_get(j, "stackFrames"));
	json_decref(j);
	gt_reader_close(r);
}

/* Thousands of calls come as columns, those of a range as events. */
static void many_calls_have_stacks(void)
{
	struct stack_program p = { .fd = -1 };
	struct gt_reader *r;
	json_t *j, *e;
	size_t i, n = 0, with = 0;

	stack_program_begin_at(&p, memfd_create("trace", 0));
	for (int k = 0; k < 5000; k++)
		stack_alloc(&p, k % 4, k * 100, 64, 64, 0);
	r = stack_program_end(&p);
	j = chrome(r, NULL);
	json_array_foreach(json_object_get(j, "traceEvents"), i, e)
	{
		if (strcmp(word(e, "ph"), "X"))
			continue;
		n++;
		with += json_integer_value(json_object_get(e, "sf")) > 0;
	}
	CHECK(n == 5000 && with == 3750);
	json_decref(j);
	gt_reader_close(r);
}

/* ---- round trips ---- */

/* One line for each row: kind, start since the first row, and stack. */
static char *list_stacks(struct gt_reader *r, uint32_t kinds)
{
	struct gt_filter filter = { .kinds = kinds };
	struct gt_err err = GT_ERR_INIT;
	struct gt_iter *it = gt_iter_open(r, &filter, &err);
	struct gt_buf list = { 0 };
	struct gt_event ev;
	int64_t *bases = gt_export_bases(r);

	while (it && gt_iter_next(&*it, &ev, &err) > 0) {
		const struct gt_type *type = &ev.seg->types[ev.row.type];
		uint64_t stack = gt_event_value(&ev, type, GT_R_STACK, GT_NONE);

		gt_buf_printf(&list, "%d %lld ", ev.kind,
			(long long)(ev.row.start - bases[ev.seg->index]));
		if (type->op == GT_OP_SAMPLE)
			gt_buf_printf(&list, "period %llu ",
				(unsigned long long)gt_event_value(&ev, type, GT_R_VALUE, 0));
		if (stack < ev.seg->nstacks)
			gt_stack_text(&list, ev.seg, stack, GT_STACK_LINE);
		gt_buf_byte(&list, '\n');
	}
	gt_buf_byte(&list, 0);
	gt_iter_close(it);
	free(bases);
	return (char *)list.data;
}

static struct gt_reader *imported(const char *text)
{
	int from = memfd_create("json", 0), to = memfd_create("trace", 0);
	struct gt_err err = GT_ERR_INIT;

	if (write(from, text, strlen(text)) != (ssize_t)strlen(text) || lseek(from, 0, SEEK_SET) ||
		gt_import(from, dup(to), NULL, &err))
		gt_err_print("test", NULL, &err);
	return gt_reader_open_fd(to, &err);
}

static void stacks_survive_a_round_trip(void)
{
	const uint32_t kinds =
		GT_BIT(GT_CALL) | GT_BIT(GT_GPU) | GT_BIT(GT_SPAN) | GT_BIT(GT_INSTANT);
	struct host_program h = { .p = { .fd = -1 } };
	struct gt_reader *r, *copy;
	const struct gt_segment *seg;
	char *text, *before, *after;
	const struct gt_frame *f = NULL;

	host_begin(&h, true, true);
	host_gap(&h, true, true);
	stack_program_rows(&h.p);
	r = stack_program_end(&h.p);
	text = export(r, "chrome");
	copy = imported(text);
	before = list_stacks(r, kinds);
	after = list_stacks(copy, kinds);
	CHECK_STR(after, before);
	CHECK(strstr(after, "period 1000 load (app/data.py:12) < main") &&
		strstr(after, "take_gil"));
	/* what the names of frames say */
	seg = gt_reader_segment(copy, 0);
	for (uint32_t i = 0; i < seg->nstacks && !f; i++)
		for (uint32_t k = 0; k < seg->stacks[i].n; k++)
			if (!strcmp(gt_str(seg, seg->stacks[i].frames[k]),
				    "step (app/train.py:88)"))
				f = gt_segment_frame(seg, seg->stacks[i].frames[k]);
	CHECK(f && f->kind == GT_FRAME_PYTHON && f->line == 88);
	if (f) {
		CHECK_STR(gt_str(seg, f->function), "step");
		CHECK_STR(gt_str(seg, f->file), "app/train.py");
	}
	free(text);
	free(before);
	free(after);
	gt_reader_close(r);
	gt_reader_close(copy);
}

/* Frames before and behind the events, with numbers and words as ids, a cycle, and a frame that
 * does not exist. */
static void foreign_stack_frames(void)
{
	struct gt_reader *r = imported(
		"{\"stackFrames\":{\"1\":{\"name\":\"main\"},\"leaf\":{\"name\":\"draw\",\"parent\":1,\"category\":\"x\"}},"
		"\"traceEvents\":["
		"{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":5,\"sf\":\"leaf\"},"
		"{\"ph\":\"X\",\"name\":\"b\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,\"ts\":10,\"dur\":5,\"sf\":77},"
		"{\"ph\":\"X\",\"name\":\"c\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,\"ts\":20,\"dur\":5,\"sf\":\"1\"},"
		"{\"ph\":\"X\",\"name\":\"d\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,\"ts\":30,\"dur\":5}]}");
	char *list = r ? list_stacks(r, GT_BIT(GT_SPAN)) : strdup("");

	CHECK_STR(list, "3 0 draw < main\n3 9000 \n3 19000 main\n3 29000 \n");
	free(list);
	gt_reader_close(r);
	r = imported(
		"{\"traceEvents\":["
		"{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":5,\"sf\":2}],"
		"\"stackFrames\":{\"1\":{\"name\":\"f\",\"parent\":2},\"2\":{\"name\":\"g\",\"parent\":1}}}");
	CHECK(r && gt_reader_segment(r, 0)->nstacks == 1 &&
		gt_reader_segment(r, 0)->stacks[0].n == 4096);
	gt_reader_close(r);
}

/* Only the launch has "sf". Work of a graph does not get the stack of the graph's launch: other
 * code created its nodes. */
static void work_has_the_stack_of_its_launch(void)
{
	struct gt_reader *r = imported(
		"{\"stackFrames\":{\"1\":{\"name\":\"main\"},\"2\":{\"name\":\"draw\",\"parent\":1}},"
		"\"traceEvents\":["
		"{\"ph\":\"X\",\"name\":\"early\",\"cat\":\"kernel\",\"pid\":0,\"tid\":7,\"ts\":20,\"dur\":5,"
		"\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}},"
		"{\"ph\":\"X\",\"name\":\"cudaLaunchKernel\",\"cat\":\"cuda_runtime\",\"pid\":1,\"tid\":1,"
		"\"ts\":1,\"dur\":5,\"sf\":2,\"args\":{\"correlation\":1}},"
		"{\"ph\":\"X\",\"name\":\"cudaLaunchKernel\",\"cat\":\"cuda_runtime\",\"pid\":1,\"tid\":1,"
		"\"ts\":10,\"dur\":5,\"sf\":1,\"args\":{\"correlation\":2}},"
		"{\"ph\":\"X\",\"name\":\"late\",\"cat\":\"kernel\",\"pid\":0,\"tid\":7,\"ts\":30,\"dur\":5,"
		"\"args\":{\"device\":0,\"stream\":7,\"correlation\":2}},"
		"{\"ph\":\"X\",\"name\":\"node\",\"cat\":\"kernel\",\"pid\":0,\"tid\":7,\"ts\":40,\"dur\":5,"
		"\"args\":{\"device\":0,\"stream\":7,\"correlation\":2,\"graph id\":5}},"
		"{\"ph\":\"X\",\"name\":\"own\",\"cat\":\"kernel\",\"pid\":0,\"tid\":7,\"ts\":50,\"dur\":5,"
		"\"sf\":2,\"args\":{\"device\":0,\"stream\":7,\"correlation\":2}}]}");
	char *list = r ? list_stacks(r, GT_BIT(GT_GPU)) : strdup("");

	CHECK_STR(list, "4 19000 draw < main\n4 29000 main\n4 39000 \n4 49000 draw < main\n");
	free(list);
	gt_reader_close(r);
}

/* Each frame of a cycle is the innermost frame of an event: every stack has 4,096 frames. */
static void stacks_have_a_limit_together(void)
{
	enum { FRAMES = 2100 };
	struct gt_buf text = { 0 };
	struct gt_reader *r;

	gt_buf_printf(&text, "{\"traceEvents\":[");
	for (int i = 0; i < FRAMES; i++)
		gt_buf_printf(&text,
			"%s{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,"
			"\"ts\":%d,\"dur\":5,\"sf\":%d}",
			i ? "," : "", 10 * i, i);
	gt_buf_printf(&text, "],\"stackFrames\":{");
	for (int i = 0; i < FRAMES; i++)
		gt_buf_printf(&text, "%s\"%d\":{\"name\":\"f\",\"parent\":%d}", i ? "," : "", i,
			(i + 1) % FRAMES);
	gt_buf_printf(&text, "}}");
	gt_buf_byte(&text, 0);
	r = imported((char *)text.data);
	CHECK(r && gt_reader_segment(r, 0)->nstacks == 2048);
	CHECK(r && strstr(gt_reader_segment(r, 0)->meta_json, "\"stacks_left_out\":52,"));
	gt_reader_close(r);
	gt_buf_release(&text);
}

T_MAIN(T(stacks_survive_a_round_trip), T(foreign_stack_frames), T(work_has_the_stack_of_its_launch),
	T(stacks_have_a_limit_together), T(events_have_stacks), T(many_calls_have_stacks),
	T(chrome_says_it_all), T(chrome_times_have_three_decimals), T(chrome_of_nothing),
	T(chrome_long_call_over_epochs), T(chrome_of_lies), T(chrome_spans_get_lanes),
	T(chrome_runs_out_of_lanes), T(chrome_spans_beside_calls), T(chrome_open_calls),
	T(chrome_losses_counters_unmatched), T(chrome_flows), T(chrome_flows_are_in_slices),
	T(chrome_flows_beyond_all_lanes), T(chrome_flows_of_the_row_itself), T(chrome_filters),
	T(chrome_two_hosts), T(chrome_devices_of_processes))
