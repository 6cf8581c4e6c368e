/* GPU work in a Chrome trace: its place, its name, its arguments, and the call that its arrow
 * comes from. */
#include "tests/unit/formats/export/exported.h"

#include "tests/unit/random_program.h"

/* One row of each kind, with all fields that a row can have. */
static void everything(struct gpus *g)
{
	struct gt_gpu_work w;

	gpus_begin(g, NULL);
	w = gpus_work(g->stream[0][0], 2000, 3000);
	gpus_launched(g, &w, 0, 1000, 100, GT_JOIN_CORRELATION);
	w.graph = 11;
	w.node = 22;
	w.created_by = (struct gt_gpu_cause){ GT_JOIN_CORRELATION, g->thread[0], g->launch_name,
		900, 10, 0 };
	gpus_kernel(g, 0, &w);
	w = gpus_work(g->stream[1][1], 4000, 4500);
	w.graph = 11;
	w.node = 23;
	w.created_by = (struct gt_gpu_cause){ GT_JOIN_CORRELATION, g->thread[0], g->launch_name,
		950, 10, 0 };
	gpus_launched(g, &w, 1, 1200, 50, GT_JOIN_ORDER);
	gpus_copy(g, &w, GT_DIR_PEER, GT_GPU_MEM_DEVICE, GT_GPU_MEM_DEVICE, 4000);
	w.track = g->stream[0][0];
	w.start += 1000, w.end += 1000;
	gpus_set(g, &w, 64);
	w.graph = w.node = 0;
	gpus_wait(g, &w, GT_GPU_WAIT_STREAM_EVENT, 77);
	gpus_runtime_call(g, 1000, 1200);
}

static const char *process_of(json_t *j, const json_t *e)
{
	json_t *p;

	for (unsigned i = 0; (p = event(j, "M", "process_name", i)); i++)
		if (json_integer_value(json_object_get(p, "pid")) ==
			json_integer_value(json_object_get(e, "pid")))
			return word(json_object_get(p, "args"), "name");
	return "";
}

static const char *thread_of(json_t *j, const json_t *e)
{
	json_t *p;

	for (unsigned i = 0; (p = event(j, "M", "thread_name", i)); i++)
		if (json_integer_value(json_object_get(p, "pid")) ==
				json_integer_value(json_object_get(e, "pid")) &&
			json_integer_value(json_object_get(p, "tid")) ==
				json_integer_value(json_object_get(e, "tid")))
			return word(json_object_get(p, "args"), "name");
	return "";
}

static int64_t order_of(json_t *j, const char *what, const json_t *e)
{
	json_t *p;

	for (unsigned i = 0; (p = event(j, "M", what, i)); i++)
		if (json_integer_value(json_object_get(p, "pid")) ==
				json_integer_value(json_object_get(e, "pid")) &&
			(what[0] == 'p' ||
				json_integer_value(json_object_get(p, "tid")) ==
					json_integer_value(json_object_get(e, "tid"))))
			return json_integer_value(
				json_object_get(json_object_get(p, "args"), "sort_index"));
	return -1;
}

static void devices_are_processes(void)
{
	struct gt_reader *r;
	struct gpus g;
	json_t *j, *call, *kernel, *copy;

	everything(&g);
	r = gpus_end(&g);
	j = chrome(r, NULL);
	call = event(j, "X", "cuLaunchKernel", 0);
	kernel = event(j, "X", "add(float*)", 0);
	copy = event(j, "X", "Memcpy PtoP (Device -> Device)", 0);
	CHECK(!strcmp(process_of(j, call), "train") &&
		!strcmp(process_of(j, kernel), "GPU 0 H200 (train)"));
	CHECK_STR(process_of(j, copy), "GPU 1 (train)");
	CHECK(!strcmp(thread_of(j, kernel), "compute") && !strcmp(thread_of(j, copy), "stream 8"));
	CHECK(json_integer_value(json_object_get(kernel, "tid")) == 7 &&
		json_integer_value(json_object_get(copy, "tid")) == 8);
	CHECK(order_of(j, "process_sort_index", call) < order_of(j, "process_sort_index", kernel));
	CHECK(order_of(j, "process_sort_index", kernel) < order_of(j, "process_sort_index", copy));
	json_decref(j);
	gt_reader_close(r);
}

/* Two programs on one GPU stay separate, and the ordinal of a device does not become the id of a
 * process. */
static void a_device_belongs_to_its_process(void)
{
	uint32_t second, device, stream;
	struct gt_reader *r;
	struct gpus g;
	json_t *j;

	gpus_begin(&g, NULL);
	second = gpus_track(&g, GT_NONE, "serve", GT_TRACK_PROCESS, 1);
	device = gpus_track(&g, second, "GPU 1", GT_TRACK_DEVICE, 1);
	stream = gpus_track(&g, device, NULL, GT_TRACK_STREAM, 7);
	gpus_plain(&g, 0, g.stream[1][0], 100, 200);
	gpus_plain(&g, 1, stream, 100, 200);
	r = gpus_end(&g);
	j = chrome(r, NULL);
	CHECK(!strcmp(process_of(j, event(j, "X", "add(float*)", 0)), "GPU 1 (train 100)"));
	CHECK(!strcmp(process_of(j, event(j, "X", "mul(float*)", 0)), "GPU 1 (serve 1)"));
	CHECK(json_integer_value(json_object_get(event(j, "X", "mul(float*)", 0), "pid")) > 1);
	json_decref(j);
	gt_reader_close(r);
}

/* Streams of two contexts may have the same number. */
static void streams_are_named_with_their_context(void)
{
	static const struct {
		unsigned contexts;
		const char *first, *second;
	} want[] = {
		{ 1, "compute", "stream 8" },
		{ 2, "compute of context 1", "stream 8 of context 2" },
	};

	for (int i = 0; i < 2; i++) {
		struct gt_reader *r;
		struct gpus g;
		json_t *j;

		gpus_contexts = want[i].contexts;
		gpus_begin(&g, NULL);
		gpus_plain(&g, 0, g.stream[0][0], 100, 200);
		gpus_plain(&g, 1, g.stream[0][1], 100, 200);
		r = gpus_end(&g);
		j = chrome(r, NULL);
		CHECK(!strcmp(thread_of(j, event(j, "X", "add(float*)", 0)), want[i].first));
		CHECK(!strcmp(thread_of(j, event(j, "X", "mul(float*)", 0)), want[i].second));
		json_decref(j);
		gt_reader_close(r);
	}
	gpus_contexts = 0;
}

static char *of_random(unsigned seed, unsigned contexts, const char *how)
{
	static struct rp program;
	struct gt_reader *r;
	char *text;

	gpus_contexts = contexts;
	r = rp_make_queued(&program, seed, seed % 2, 0);
	gpus_contexts = 0;
	text = export(r, how);
	gt_reader_close(r);
	return gpus_without_contexts(text);
}

/* Contexts change nothing in the export except for these names. */
static void contexts_change_nothing(void)
{
	static const char *const some[] = { "chrome", "jsonl", "folded" };

	for (unsigned seed = 1; seed < 7; seed++)
		for (unsigned i = 0; i < 3; i++)
			for (unsigned contexts = 1; contexts < 3; contexts++) {
				char *without = of_random(seed, 0, some[i]),
				     *with = of_random(seed, contexts, some[i]);

				CHECK(without && with && !strcmp(without, with));
				free(without);
				free(with);
			}
}

static void a_kernel_says_it_all(void)
{
	struct gt_reader *r;
	struct gpus g;
	json_t *j, *a;

	everything(&g);
	r = gpus_end(&g);
	j = chrome(r, NULL);
	a = json_object_get(event(j, "X", "add(float*)", 0), "args");
	CHECK(!strcmp(word(event(j, "X", "add(float*)", 0), "cat"), "kernel"));
	CHECK(json_integer_value(json_object_get(a, "correlation")) == 5 &&
		json_integer_value(json_object_get(a, "device")) == 0);
	CHECK(json_integer_value(json_object_get(a, "context")) == 1 &&
		json_integer_value(json_object_get(a, "stream")) == 7);
	CHECK_EQ(json_integer_value(json_object_get(a, "registers per thread")), 32);
	CHECK_EQ(json_integer_value(json_object_get(a, "shared memory")), 1048);
	CHECK(json_integer_value(json_array_get(json_object_get(a, "grid"), 1)) == 2 &&
		json_array_size(json_object_get(a, "grid")) == 3);
	CHECK(json_integer_value(json_array_get(json_object_get(a, "block"), 0)) == 256 &&
		json_array_size(json_object_get(a, "block")) == 3);
	CHECK(json_integer_value(json_object_get(a, "graph id")) == 11 &&
		json_integer_value(json_object_get(a, "graph node id")) == 22);
	CHECK(!strcmp(word(a, "launch_name"), "cuLaunchKernel") &&
		!strcmp(word(a, "launch_join"), "exact"));
	CHECK_EQ(json_integer_value(json_object_get(a, "launch_ns")), 100);
	CHECK(!strcmp(word(json_object_get(json_object_get(j, "otherData"), "kernels"), "add"),
		"add(float*)"));
	json_decref(j);
	gt_reader_close(r);
}

static void copies_and_sets_say_it_all(void)
{
	struct gt_reader *r;
	struct gpus g;
	json_t *j, *e, *a;

	everything(&g);
	r = gpus_end(&g);
	j = chrome(r, NULL);
	e = event(j, "X", "Memcpy PtoP (Device -> Device)", 0);
	a = json_object_get(e, "args");
	CHECK(!strcmp(word(e, "cat"), "gpu_memcpy") &&
		json_integer_value(json_object_get(a, "bytes")) == 4000);
	CHECK(json_number_value(json_object_get(a, "memory bandwidth (GB/s)")) == 8 &&
		json_integer_value(json_object_get(a, "device")) == 1);
	CHECK(json_integer_value(json_object_get(a, "fromDevice")) == 0 &&
		json_integer_value(json_object_get(a, "toDevice")) == 1);
	CHECK(!strcmp(word(a, "src_memory"), "device") &&
		json_is_true(json_object_get(a, "async")));
	CHECK_STR(word(a, "launch_join"), "inferred");
	e = event(j, "X", "Memset (Device)", 0);
	a = json_object_get(e, "args");
	CHECK(!strcmp(word(e, "cat"), "gpu_memset") &&
		json_integer_value(json_object_get(a, "bytes")) == 64 &&
		!strcmp(word(a, "value"), "0xff"));
	e = event(j, "X", "Stream Wait Event", 0);
	CHECK_STR(word(e, "cat"), "cuda_sync");
	CHECK_EQ(json_integer_value(
			 json_object_get(json_object_get(e, "args"), "wait_on_cuda_event_id")),
		77);
	CHECK(!strcmp(word(event(j, "X", "cuLaunchKernel", 0), "cat"), "cuda_driver"));
	json_decref(j);
	gt_reader_close(r);
}

/* ---- the list of fields ---- */

/* The line of the list for this field: its mark, or 0. */
static char listed(const char *list, const char *category, const char *field)
{
	size_t c = strlen(category), n = strlen(field);

	for (const char *l = list; l && *l; l = strchr(l, '\n'), l += !!l)
		if (!strncmp(l, category, c) && l[c] == ' ' && !strncmp(l + c + 3, field, n) &&
			strchr(":\n", l[c + 3 + n]))
			return l[c + 1];
	return 0;
}

static json_t *args_of(json_t *j, const char *category)
{
	json_t *e;
	size_t i;

	json_array_foreach(
		json_object_get(j, "traceEvents"), i, e) if (!strcmp(word(e, "ph"), "X") &&
		!strcmp(word(e, "cat"), category)) return json_object_get(e, "args");
	return NULL;
}

static void fields_are_those_of_the_list(void)
{
	static const char *const categories[] = { "kernel", "gpu_memcpy", "gpu_memset", "cuda_sync",
		"cuda_runtime" };
	char list[16384] = "", category[32], mark, field[64];
	const char *src = getenv("SRC"), *key;
	struct gt_reader *r;
	unsigned lines = 0;
	char path[4096];
	struct gpus g;
	json_t *j, *v;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/golden/chrome-fields", src ? src : ".");
	f = fopen(path, "r");
	CHECK(f);
	list[fread(list, 1, sizeof(list) - 1, f)] = '\0';
	fclose(f);
	everything(&g);
	r = gpus_end(&g);
	j = chrome(r, NULL);
	for (const char *l = list; l && *l; l = strchr(l, '\n'), l += !!l) {
		bool there;

		if (*l == '#' || sscanf(l, "%31s %c %63[^:\n]", category, &mark, field) != 3)
			continue;
		there = json_object_get(args_of(j, category), field);
		if (there != (mark != '-'))
			printf("# %s: %s\n", category, field);
		CHECK(there == (mark != '-'));
		lines++;
	}
	CHECK(lines > 60);
	for (unsigned i = 0; i < sizeof(categories) / sizeof(*categories); i++)
		json_object_foreach(args_of(j, categories[i]), key, v)
		{
			if (!listed(list, categories[i], key))
				printf("# not in the list: %s %s\n", categories[i], key);
			CHECK(listed(list, categories[i], key));
		}
	json_decref(j);
	gt_reader_close(r);
}

/* An unknown value is omitted; it is not written as 0. */
static void what_is_not_known_is_left_out(void)
{
	struct gt_gpu_work w;
	struct gt_reader *r;
	struct gpus g;
	json_t *j, *a;

	gpus_begin(&g, NULL);
	gpus_plain(&g, 0, g.stream[0][0], 100, 200);
	w = gpus_work(g.stream[0][0], 300, 300);
	gpus_copy(&g, &w, GT_DIR_HTOD, GT_GPU_MEM_PINNED, GT_GPU_MEM_DEVICE, 4);
	r = gpus_end(&g);
	j = chrome(r, NULL);
	a = json_object_get(event(j, "X", "add(float*)", 0), "args");
	CHECK(a && !json_object_get(a, "graph id") && !json_object_get(a, "graph node id"));
	CHECK(!json_object_get(a, "launch_name") && !json_object_get(a, "launch_ns") &&
		!json_object_get(a, "launch_join"));
	a = json_object_get(event(j, "X", "Memcpy HtoD (Pinned -> Device)", 0), "args");
	CHECK(json_object_get(a, "bytes") && !json_object_get(a, "memory bandwidth (GB/s)") &&
		!json_object_get(a, "fromDevice"));
	CHECK(!event(j, "s", NULL, 0) && !event(j, "f", NULL, 0));
	json_decref(j);
	gt_reader_close(r);
}

/* ---- arrows ---- */

/* The shortest slice that contains the event, by thread and time. */
static json_t *slice_at(json_t *j, const json_t *at)
{
	json_t *e, *best = NULL;
	size_t i;

	json_array_foreach(json_object_get(j, "traceEvents"), i, e)
	{
		int64_t t = ns(at, "ts"), from = ns(e, "ts");

		if (!strcmp(word(e, "ph"), "X") &&
			json_equal(json_object_get(e, "pid"), json_object_get(at, "pid")) &&
			json_equal(json_object_get(e, "tid"), json_object_get(at, "tid")) &&
			from <= t && t <= from + ns(e, "dur") &&
			(!best || ns(e, "dur") < ns(best, "dur") || from > ns(best, "ts")))
			best = e;
	}
	return best;
}

/* Consecutive calls and consecutive kernels: each arrow starts within its call and ends at its
 * kernel. */
static void arrows_bind(void)
{
	struct gt_reader *r;
	struct gpus g;
	unsigned n = 0;
	json_t *j, *s;

	gpus_begin(&g, NULL);
	for (int i = 0; i < 8; i++) {
		struct gt_gpu_work w =
			gpus_work(g.stream[0][i % 2], 10000 + 100 * i, 10100 + 100 * i);

		w.correlation = 20 + (unsigned)i;
		gpus_launched(&g, &w, 0, 1000 + 100 * i, 100, GT_JOIN_CORRELATION);
		gpus_kernel(&g, i % 2, &w);
		w.start = w.start - 50;
		/* has a call as well, and no arrow */
		gpus_wait(&g, &w, GT_GPU_WAIT_STREAM_EVENT, 3);
	}
	r = gpus_end(&g);
	j = chrome(r, NULL);
	for (; (s = event(j, "s", NULL, n)); n++) {
		json_t *f = event(j, "f", NULL, n), *call = slice_at(j, s),
		       *kernel = slice_at(j, f);

		CHECK(f && json_equal(json_object_get(s, "id"), json_object_get(f, "id")) &&
			!strcmp(word(f, "bp"), "e") && call && kernel);
		CHECK(json_equal(json_object_get(s, "id"),
			      json_object_get(json_object_get(call, "args"), "correlation")) &&
			json_equal(json_object_get(s, "id"),
				json_object_get(json_object_get(kernel, "args"), "correlation")));
		CHECK(!strcmp(word(call, "name"), "cuLaunchKernel") &&
			!strcmp(word(kernel, "cat"), "kernel"));
		CHECK(ns(s, "ts") > ns(call, "ts") &&
			ns(s, "ts") < ns(call, "ts") + ns(call, "dur"));
		CHECK(ns(f, "ts") > ns(kernel, "ts") &&
			ns(f, "ts") < ns(kernel, "ts") + ns(kernel, "dur"));
		CHECK_EQ(ns(kernel, "ts") - ns(call, "ts"), 9000);
	}
	CHECK(n == 8 && !event(j, "f", NULL, 8));
	json_decref(j);
	gt_reader_close(r);
}

static bool no_launches(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return strcmp(gt_str(seg, type->name), "cuLaunchKernel");
}

/* An arrow needs the call it leaves from. */
static void no_arrows_from_nowhere(void)
{
	struct gt_export_options opts[] = {
		{ .filter = { .ranged = true, .from = 1500, .to = 9000 } },
		{ .filter = { .match = no_launches } },
		{ .filter = { .kinds = GT_BIT(GT_GPU) } },
	};

	for (unsigned i = 0; i < 3; i++) {
		struct gt_reader *r;
		struct gpus g;
		json_t *j;

		everything(&g);
		r = gpus_end(&g);
		j = chrome(r, &opts[i]);
		CHECK(event(j, "X", "add(float*)", 0) && !event(j, "X", "cuLaunchKernel", 0) &&
			!event(j, "s", NULL, 0) && !event(j, "f", NULL, 0));
		json_decref(j);
		gt_reader_close(r);
	}
}

/* ---- lanes ---- */

static bool by_halves(json_t *j)
{
	json_t *events = json_object_get(j, "traceEvents"), *a, *b;
	size_t i, k;

	json_array_foreach(events, i, a) json_array_foreach(events, k, b)
	{
		int64_t start = ns(a, "ts"), end = start + ns(a, "dur"), bs = ns(b, "ts"),
			be = bs + ns(b, "dur");

		if (!strcmp(word(a, "ph"), "X") && !strcmp(word(b, "ph"), "X") &&
			json_equal(json_object_get(a, "pid"), json_object_get(b, "pid")) &&
			json_equal(json_object_get(a, "tid"), json_object_get(b, "tid")) &&
			start < bs && bs < end && end < be)
			return true;
	}
	return false;
}

/* Waits begin before kernels and end within them, and after: they never share a lane, so no kernel
 * is moved for a wait. */
static void waits_stand_apart(void)
{
	struct gt_gpu_work w;
	struct gt_reader *r;
	struct gpus g;
	json_t *j, *e;

	gpus_begin(&g, NULL);
	for (int i = 0; i < 20; i++) {
		w = gpus_work(g.stream[0][1], 1000 + 100 * i, 1060 + 100 * i);
		gpus_wait(&g, &w, GT_GPU_WAIT_STREAM_EVENT, 1);
		w = gpus_work(g.stream[0][1], 1030 + 100 * i, 1130 + 100 * i);
		gpus_kernel(&g, 0, &w);
	}
	w = gpus_work(g.stream[0][1], 900, 1050);
	gpus_wait(&g, &w, GT_GPU_WAIT_CONTEXT, 1);
	r = gpus_end(&g);
	j = chrome(r, NULL);
	CHECK(!by_halves(j));
	for (unsigned i = 0; (e = event(j, "X", "add(float*)", i)); i++)
		CHECK(!strcmp(thread_of(j, e), "stream 8") &&
			json_integer_value(json_object_get(e, "tid")) == 8);
	CHECK(!strcmp(thread_of(j, event(j, "X", "Stream Wait Event", 5)), "stream 8 waits"));
	CHECK(!strcmp(thread_of(j, event(j, "X", "Context Sync", 0)), "stream 8 waits"));
	CHECK(!strcmp(thread_of(j, event(j, "X", "Stream Wait Event", 0)), "stream 8 waits (2)"));
	json_decref(j);
	gt_reader_close(r);
}

/* The host's waits are on the track of its process, where they do not conflict with work: no
 * empty thread is created for them. */
/* Beside the calls and the ranges of the thread; on a thread without calls, too. */
static void states_have_a_lane(void)
{
	struct gt_sched_types types;
	struct gpus g;
	struct gt_reader *r;
	json_t *j, *e, *of_calls;

	gpus_begin(&g, NULL);
	gt_sched_types_init(&types, g.w, &g.err);
	gpus_call(&g, 0, g.launch, 1000, 2000);
	gpus_runtime_call(&g, 900, 2100);
	for (int thread = 0; thread < 2; thread++)
		gt_sched_put(&types, g.thread[thread],
			&(struct gt_sched_row){ .state = GT_SCHED_FUTEX,
				.start = 1500,
				.end = 2500,
				.pid = 7,
				.tid = 8,
				.syscall = 202 },
			&g.err);
	r = gpus_end(&g);
	j = chrome(r, NULL);
	of_calls = event(j, "X", "cuLaunchKernel", 0);
	e = event(j, "X", "futex", 0);
	CHECK(of_calls && e);
	CHECK_STR(thread_of(j, of_calls), "main");
	CHECK_STR(thread_of(j, e), "main off the processor");
	CHECK_EQ(json_integer_value(json_object_get(json_object_get(e, "args"), "waker_tid")), 8);
	CHECK_EQ(json_integer_value(json_object_get(json_object_get(e, "args"), "thread")), 100);
	CHECK_STR(thread_of(j, event(j, "X", "futex", 1)), "thread 101 off the processor");
	CHECK_STR(thread_of(j, event(j, "X", "cudaLaunchKernel", 0)), "main ranges");
	json_decref(j);
	gt_reader_close(r);
}

static void waits_of_the_host(void)
{
	struct gt_gpu_work w;
	struct gt_reader *r;
	struct gpus g;
	json_t *j;

	gpus_begin(&g, NULL);
	w = gpus_work(g.process, 1000, 2000);
	gpus_wait(&g, &w, GT_GPU_WAIT_CONTEXT, 0);
	r = gpus_end(&g);
	j = chrome(r, NULL);
	CHECK(!strcmp(thread_of(j, event(j, "X", "Context Sync", 0)), "train") &&
		!event(j, "M", "thread_name", 1));
	json_decref(j);
	gt_reader_close(r);
}

/* Kernels of one stream may overlap (programmatic dependent launch): they get lanes, and none is
 * lost. */
static void overlapping_kernels_get_lanes(void)
{
	struct gt_reader *r;
	unsigned n = 0;
	struct gpus g;
	json_t *j;

	gpus_begin(&g, NULL);
	srand(5);
	for (int i = 0; i < 100; i++) {
		int64_t start = 1000 + rand() % 3000;
		struct gt_gpu_work w = gpus_work(g.stream[0][0], start, start + rand() % 200);

		if (i % 3)
			gpus_kernel(&g, 0, &w);
		else
			gpus_wait(&g, &w, GT_GPU_WAIT_STREAM, 0);
	}
	r = gpus_end(&g);
	j = chrome(r, NULL);
	while (event(j, "X", NULL, n))
		n++;
	CHECK(n == 100 && !by_halves(j));
	json_decref(j);
	gt_reader_close(r);
}

/* A counter of a GPU belongs to the GPU's process, not to a thread's id. */
static void counters_of_a_device(void)
{
	struct gt_reader *r;
	struct gpus g;
	json_t *j, *e;

	gpus_begin(&g, NULL);
	gpus_plain(&g, 0, g.stream[0][0], 100, 200);
	gpus_sample(&g, g.device[0], 150, 300.5);
	r = gpus_end(&g);
	j = chrome(r, NULL);
	e = event(j, "C", "power", 0);
	CHECK(!strcmp(process_of(j, e), "GPU 0 H200 (train)") && !json_object_get(e, "id"));
	CHECK(json_real_value(json_object_get(json_object_get(e, "args"), "value")) == 300.5);
	json_decref(j);
	gt_reader_close(r);
}

/* In JSON lines a stream names its GPU, times are those of the lines, and unknown values are
 * omitted. */
static void json_lines(void)
{
	struct gt_reader *r;
	struct gpus g;
	char *text;

	everything(&g);
	gpus_plain(&g, 0, g.stream[0][1], 9000, 9500);
	gpus_sample(&g, g.device[1], 9600, 7);
	r = gpus_end(&g);
	text = export(r, "jsonl");
	gt_reader_close(r);
	CHECK(strstr(text,
		"\"pid\":100,\"tid\":7,\"device\":0,\"kind\":\"gpu\",\"layer\":\"gpu\",\"category\":\"kernel\",\"op\":\"launch\","
		"\"track\":\"stream\",\"duration_us\":1.000,\"details\":{\"correlation\":5,\"context\":1,\"launch_tid\":100,"
		"\"launch_start\":0.000000000,\"launch_ns\":100,"));
	CHECK(strstr(text, "\"tid\":8,\"device\":1,") &&
		strstr(text,
			"\"duration_us\":0.500,\"details\":{\"correlation\":5,\"context\":1,\"grid"));
	CHECK(strstr(text, "\"name\":\"power\",\"pid\":100,\"tid\":1,\"device\":1,") &&
		strstr(text, "\"event\":\"0x4d\""));
	CHECK(!strstr(text, "launch_track") && !strstr(text, "4294967295"));
	free(text);
}

T_MAIN(T(json_lines), T(states_have_a_lane), T(devices_are_processes),
	T(a_device_belongs_to_its_process), T(streams_are_named_with_their_context),
	T(contexts_change_nothing), T(a_kernel_says_it_all), T(copies_and_sets_say_it_all),
	T(fields_are_those_of_the_list), T(what_is_not_known_is_left_out), T(arrows_bind),
	T(no_arrows_from_nowhere), T(waits_stand_apart), T(waits_of_the_host),
	T(overlapping_kernels_get_lanes), T(counters_of_a_device))
