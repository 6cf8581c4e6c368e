/* The status of reports: their answers, and the reasons when they have none. Text, JSON and the
 * exit status agree. */
#define _GNU_SOURCE
#include <math.h>
#include "analyze/core/report_status.h"
#include "tests/unit/analyze/diff/diffs.h"
#include "tests/unit/gpus.h"

#define GPU_REPORTS                                                                                \
	"gpu", "kernels", "copies", "streams", "overlap", "steps", "queues", "patterns", "budget", \
		"gaps", "critical", "cuda_gpu_sum", "cuda_gpu_kern_sum", "cuda_gpu_kern_gb_sum",   \
		"cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "cuda_gpu_trace",                \
		"cuda_kern_exec_sum", "cuda_kern_exec_trace"
static const char *const gpu_reports[] = { GPU_REPORTS, NULL };

/* The first table after the header's table, with any name. */
static const json_t *first_table(const json_t *j)
{
	return json_object_iter_value(json_object_iter((json_t *)j));
}

static bool says(const json_t *table, const char *state, const char *why)
{
	const char *note = json_string_value(json_array_get(json_object_get(table, "notes"), 0));

	return is(table, "state", state) && (!why || (note && strstr(note, why)));
}

/* The report alone, in JSON, and as text, of two readers of the same trace. */
static bool answers(struct gt_reader *r, struct gt_reader *again, const char *name,
	const struct gt_analysis_options *o, const char *state, const char *why)
{
	const char *const names[] = { name, NULL };
	json_t *j = report(r, names, o);
	char *text = report_text(again, names, o, 1, GT_TEXT);
	bool cannot = !strcmp(state, "cannot answer"),
	     ok = j && text && says(first_table(j), state, why);

	ok = ok && (strstr(text, "(cannot answer: ") != NULL) == cannot &&
		(!cannot || !strstr(text, "  none"));
	if (!ok)
		fprintf(stderr, "%s: not '%s' (%s):\n%s\n", name, state, why ? why : "",
			text ? text : "");
	json_decref(j);
	free(text);
	return ok;
}

static struct gt_reader *calls_only(void)
{
	struct trace t;

	known(&t, true);
	return end(&t);
}

/* One process, 100, with two GPUs; thread 100 launches. */
static struct gt_reader *with_work(void)
{
	struct gt_gpu_work w;
	struct gpus g;

	gpus_begin(&g, NULL);
	for (int i = 0; i < 3; i++) {
		w = gpus_work(g.stream[0][0], 1000 + 100 * i, 1050 + 100 * i);
		gpus_launched(&g, &w, 0, 900 + 100 * i, 20, GT_JOIN_CORRELATION);
		gpus_kernel(&g, i % 2, &w);
	}
	return gpus_end(&g);
}

static void what_was_not_recorded_cannot_be_answered(void)
{
	static const char *const others[][2] = {
		{ "unseen", "what GPUs did was not recorded (gtcollect -e gpu)" },
		{ "ioctls", "ioctls were not recorded (gtcollect -e ioctl)" },
		{ "driver", "ioctls were not recorded" },
		{ "nvtx_sum", "the program's ranges were not recorded (gtcollect -e nvtx)" },
		{ "nvtx_gpu_proj_sum", "the program's ranges" },
		{ "nvtx_kern_sum", "the program's ranges" },
		{ "counters", "counters were not recorded" },
	};
	struct gpus g;

	for (size_t i = 0; gpu_reports[i]; i++)
		CHECK(answers(calls_only(), calls_only(), gpu_reports[i], &plain, "cannot answer",
			"cannot answer: what GPUs did was not recorded"));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strcmp(others[i][0], "ioctls") != 0 && strcmp(others[i][0], "driver") != 0)
			CHECK(answers(calls_only(), calls_only(), others[i][0], &plain,
				"cannot answer", others[i][1]));
		else
			CHECK(answers(with_work(), with_work(), others[i][0], &plain,
				"cannot answer", others[i][1]));
	{ /* work of the GPU, and no calls */
		static const char *const of_calls[] = { "memory", "pauses", "sync", "transfers",
			"threads", "timeline", "open", "errors", "contexts", "cuda_api_sum",
			"cuda_api_trace" };

		for (size_t k = 0; k < sizeof(of_calls) / sizeof(*of_calls); k++) {
			struct gt_reader *both[2];

			for (int n = 0; n < 2; n++) {
				gpus_begin_bare(&g, NULL);
				gpus_plain(&g, 0, g.stream[0][0], 100, 200);
				both[n] = gpus_end(&g);
			}
			CHECK(answers(both[0], both[1], of_calls[k], &plain, "cannot answer",
				"calls were not recorded (gtcollect -e api)"));
		}
	}
}

/* "None happened" is an answer if the category was recorded. */
static void none_is_an_answer(void)
{
	static const char *const names[] = { "gpu", "kernels", "copies", "streams", "overlap",
		"cuda_gpu_sum", "cuda_gpu_trace", "unseen", "queues", "patterns", "memory",
		"errors", "open" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct gt_reader *both[2];

		for (int n = 0; n < 2; n++) {
			struct gpus g;

			gpus_begin(&g, "{\"events\":\"api,gpu\"}");
			both[n] = gpus_end(&g);
		}
		CHECK(answers(both[0], both[1], names[i], &plain, "answered", NULL));
	}
}

/* All GPU records were lost: this is different from an idle GPU. */
static void what_was_lost_is_not_none(void)
{
	for (size_t i = 0; gpu_reports[i]; i++) {
		struct gt_reader *both[2];

		for (int n = 0; n < 2; n++) {
			struct gpus g;

			gpus_begin(&g, "{\"events\":\"api,gpu\"}");
			gpus_call(&g, 0, g.launch, 100, 110);
			gt_writer_loss(g.w, GT_SCOPE_PROCESS, g.process, 100, 400, 1, &g.err);
			both[n] = gpus_end(&g);
		}
		CHECK(answers(both[0], both[1], gpu_reports[i], &plain, "cannot answer",
			"events were lost, and no GPU record is left"));
	}
}

static bool adds(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return strstr(gt_str(seg, type->name), "add") != NULL;
}

static bool nothing(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return false;
}

static void options_that_hide_what_is_needed(void)
{
	const struct gt_analysis_options
		tid = { .file = "x", .filter = { .tid = 100 }, .restrictions = "--tid 100" },
		no_process = { .file = "x",
			.filter = { .pid = 9999 },
			.restrictions = "--pid 9999" },
		late = { .file = "x",
			.filter = { .ranged = true, .from = 5000, .to = INT64_MAX },
			.restrictions = "--from" },
		idle = { .file = "x",
			.filter = { .ranged = true, .from = 1060, .to = 1090 },
			.restrictions = "--from" },
		misspelt = { .file = "x", .filter = { .match = nothing }, .restrictions = "-m x" },
		some = { .file = "x", .filter = { .match = adds }, .restrictions = "-m add" },
		others = { .file = "x",
			.filter = { .match = adds },
			.match_options = GT_BY_EXCLUDE,
			.restrictions = "--exclude mul" };
	static const char *const all[] = { GPU_REPORTS, "launches", "top", "summary", "errors",
		"memory", "layers", "unseen", NULL };
	static const char *const need_all[] = { "overlap", "steps", "queues", "patterns", "budget",
		"gaps", "critical" };
	static const char *const lists[] = { "kernels", "gpu", "copies", "streams",
		"cuda_gpu_trace", "errors" };

	for (size_t i = 0; gpu_reports[i]; i++)
		CHECK(answers(with_work(), with_work(), gpu_reports[i], &tid, "cannot answer",
			"--tid leaves"));
	CHECK(answers(with_work(), with_work(), "launches", &tid, "cannot answer",
		"--tid leaves out all GPU operations"));
	for (size_t i = 0; all[i]; i++) {
		CHECK(answers(
			with_work(), with_work(), all[i], &no_process, "cannot answer", NULL));
		CHECK(answers(with_work(), with_work(), all[i], &late, "cannot answer", NULL));
		CHECK(answers(with_work(), with_work(), all[i], &misspelt, "cannot answer", NULL));
	}
	CHECK(answers(with_work(), with_work(), "budget", &no_process, "cannot answer",
		"no GPU operation matches the options"));
	CHECK(answers(with_work(), with_work(), "critical", &late, "cannot answer",
		"no GPU operation is in the selected time range"));
	for (size_t i = 0; i < sizeof(need_all) / sizeof(*need_all); i++)
		CHECK(answers(with_work(), with_work(), need_all[i], &some, "cannot answer",
			"--match leaves"));
	for (size_t i = 0; i < sizeof(need_all) / sizeof(*need_all); i++)
		CHECK(answers(with_work(), with_work(), need_all[i], &others, "cannot answer",
			"--exclude leaves"));
	/* the category was recorded, and there was no work */
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		CHECK(answers(with_work(), with_work(), lists[i], &idle, "answered", NULL));
	CHECK(answers(with_work(), with_work(), "kernels", &some, "answered", NULL));
}

/* A report whose first table has an answer is no failure; a report whose first table has none
 * gives the reason once. */
static void parts_and_followers(void)
{
	struct gt_analysis_options o = {
		.file = "x", .filter = { .match = adds }, .restrictions = "-m add"
	};
	struct trace t;
	json_t *j;
	char *text;

	j = report(with_work(), (const char *[]){ "launches", NULL }, &o);
	CHECK(is(json_object_get(j, "launch_times"), "state", "answered") &&
		rows(j, "launch_times") == 1);
	CHECK(is(json_object_get(j, "unqueued"), "state", "cannot answer"));
	json_decref(j);
	text = report_text(calls_only(), (const char *[]){ "copies", NULL }, &plain, 1, GT_TEXT);
	CHECK(text && strstr(text, "Copies and sets on the GPU\n  (cannot answer: ") &&
		!strstr(text, "Pageable copies"));
	free(text);
	j = report(calls_only(), (const char *[]){ "copies", NULL }, &plain);
	CHECK(says(json_object_get(j, "pinning"), "cannot answer",
		      "what GPUs did was not recorded") &&
		!rows(j, "pinning"));
	json_decref(j);
	known(&t, false); /* without sizes and addresses */
	j = report(end(&t), (const char *[]){ "memory", NULL }, &plain);
	CHECK(is(json_object_get(j, "memory"), "state", "answered") &&
		num(row_named(j, "memory", "kind", "all"), "allocations") == 3);
	CHECK(is(json_object_get(j, "memory_over_time"), "state", "cannot answer"));
	json_decref(j);
}

static bool allocations(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return type->op == GT_OP_ALLOC;
}
static bool of_memory(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return type->category == GT_CAT_MEMORY;
}

/* An allocation whose free is left out is no leak. */
static void what_is_alive_is_known_with_all_frees_only(void)
{
	static const struct {
		struct gt_filter filter;
		bool known;
	} cases[] = {
		{ { .match = allocations }, false },
		{ { .tid = 100 }, false },
		{ { .match = of_memory }, true },
		{ { .pid = 100 }, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gt_analysis_options o = {
			.file = "x", .filter = cases[i].filter, .restrictions = "--it"
		};
		json_t *j = report(calls_only(), (const char *[]){ "memory", NULL }, &o);
		const json_t *all = row_named(j, "memory", "kind", "all");
		bool alive = num(all, "live_bytes") == 500 && num(all, "peak_bytes") == 1500 &&
			num(all, "unknown_frees") == 1;

		CHECK(num(all, "allocations") == (cases[i].filter.tid ? 2 : 3));
		CHECK(cases[i].known ? alive
				     : absent(all, "live_bytes") && absent(all, "peak_bytes") &&
					absent(all, "unknown_frees"));
		CHECK(noted(j, "memory", "cannot answer which memory was live") == !cases[i].known);
		CHECK((rows(j, "memory_over_time") > 0) == cases[i].known);
		CHECK(is(json_object_get(j, "memory_over_time"), "state",
			cases[i].known ? "answered" : "cannot answer"));
		json_decref(j);
	}
}

/* A percentage of GPU time is relative to the window, which is unknown if some work is left out. */
static void busy_is_of_the_window(void)
{
	struct gt_analysis_options o = plain;
	json_t *j;

	/* 3 times 50 ns from 1000 to 1250; all of it is from 900 on */
	j = report(with_work(), (const char *[]){ "gpu", "streams", "budget", NULL }, &o);
	CHECK(num(row(j, "gpu", 0), "busy_percent") == 60 &&
		num(row(j, "streams", 1), "busy_percent") == 60);
	CHECK_EQ(num(row_named(j, "budget", "key", "idle"), "share_percent"), 40);
	CHECK(noted(j, "gpu", "from the first GPU operation to the last GPU operation"));
	json_decref(j);
	o.whole = true;
	j = report(with_work(), (const char *[]){ "gpu", "budget", NULL }, &o);
	CHECK(num(row(j, "gpu", 0), "busy_percent") == 42.86 &&
		num(row_named(j, "budget", "key", "idle"), "share_percent") == 57.14);
	json_decref(j);
	o = plain;
	o.filter = (struct gt_filter){ .ranged = true, .from = 950, .to = INT64_MAX };
	j = report(with_work(), (const char *[]){ "gpu", "budget", NULL }, &o);
	CHECK(num(row(j, "gpu", 0), "busy_percent") == 50 &&
		num(row_named(j, "budget", "key", "idle"), "share_percent") == 50);
	json_decref(j);
	o.filter = (struct gt_filter){ .match = adds };
	j = report(with_work(), (const char *[]){ "gpu", "streams", "kernels", NULL }, &o);
	CHECK(num(row(j, "gpu", 0), "busy_ns") == 100 && absent(row(j, "gpu", 0), "busy_percent") &&
		noted(j, "gpu", "--match"));
	CHECK(absent(row(j, "streams", 0), "busy_percent") &&
		absent(row(j, "kernels", 0), "busy_percent") && noted(j, "kernels", "--match"));
	CHECK(absent(row(j, "gpu_kernels", 0), "busy_percent") &&
		num(row(j, "kernels", 0), "busy_ns") == 100);
	json_decref(j);
}

static void one_kernel_makes_no_steps(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin(&g, NULL);
	gpus_plain(&g, 0, g.stream[0][0], 100, 200);
	j = report(gpus_end(&g), (const char *[]){ "steps", NULL }, &plain);
	CHECK(says(json_object_get(j, "steps"), "cannot answer",
		"cannot answer: GPU 0 of process 100 has no repeating sequence"));
	json_decref(j);
}

static struct gt_reader *of_models(const char *meta, const char *name)
{
	struct gpus g;
	uint32_t device, stream;

	gpus_begin_bare(&g, meta);
	device = gpus_track(&g, g.process, name, GT_TRACK_DEVICE, 3);
	stream = gpus_track(&g, device, NULL, GT_TRACK_STREAM, 9);
	gpus_plain(&g, 0, stream, 100, 200);
	return gpus_end(&g);
}

static void gpus_have_the_names_of_their_models(void)
{
	static const char
		one[] = "{\"gpus\":[{\"model\":\"NVIDIA H200\"},{\"model\":\"NVIDIA H200\"}]}",
		two[] = "{\"gpus\":[{\"model\":\"NVIDIA H200\"},{\"model\":\"NVIDIA L4\"}]}";
	static const struct {
		const char *meta, *track, *name, *device;
	} cases[] = {
		{ one, "GPU 3", "NVIDIA H200", "NVIDIA H200 (3)" },
		{ one, NULL, "NVIDIA H200", "NVIDIA H200 (3)" },
		{ two, "GPU 3", "GPU 3", "GPU 3" },
		{ NULL, "GPU 3", "GPU 3", "GPU 3" },
		{ one, "GPU 3 of 4", "GPU 3 of 4", "GPU 3 of 4 (3)" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		json_t *j = report(of_models(cases[i].meta, cases[i].track),
			(const char *[]){ "gpu", "streams", "cuda_gpu_trace", NULL }, &plain);

		CHECK(is(row(j, "gpu", 0), "name", cases[i].name) &&
			is(row(j, "streams", 0), "name", cases[i].name));
		CHECK(absent(row(j, "streams", 1), "name") &&
			is(row(j, "cuda_gpu_trace", 0), "device", cases[i].device));
		json_decref(j);
	}
}

/* One failure that two processes share counts as two failures. */
static void failures_are_of_a_process(void)
{
	struct trace t;
	const json_t *r;
	json_t *j;

	begin(&t, true);
	for (int i = 0; i < 3; i++)
		call(&t, 0, SYNC, 10 + 10 * i, 12 + 10 * i, 0, 4, 0, 0);
	t.process = gt_writer_track(t.w,
		&(struct gt_track){ .parent = GT_NONE,
			.name = str(&t, "other"),
			.source = str(&t, "preload"),
			.kind = GT_TRACK_PROCESS,
			.id = 200,
			.ns_id = 200 });
	t.thread[1] = gt_writer_track(t.w,
		&(struct gt_track){ .parent = t.process,
			.name = GT_NONE,
			.source = str(&t, "preload"),
			.kind = GT_TRACK_THREAD,
			.id = 201,
			.ns_id = 201 });
	call(&t, 1, SYNC, 5, 6, 0, 4, 0, 0);
	call(&t, 1, SYNC, 50, 60, 0, 4, 0, 0);
	j = report(end(&t), (const char *[]){ "errors", NULL }, &plain);
	r = row(j, "errors", 0);
	CHECK(rows(j, "errors") == 2 && num(r, "count") == 3 && num(r, "pid") == 100 &&
		num(r, "tid") == 100 && num(r, "first_ns") == 5);
	r = row(j, "errors", 1);
	CHECK(num(r, "count") == 2 && num(r, "pid") == 200 && num(r, "tid") == 201 &&
		num(r, "first_ns") == 0);
	json_decref(j);
}

static const char *diff_state(
	struct gt_reader *a, struct gt_reader *b, const char *name, const char *table)
{
	static char state[32];
	int status = 0;
	json_t *j = compared(a, b, (const char *[]){ name, NULL }, NULL, &status);
	const char *s = json_string_value(json_object_get(json_object_get(j, table), "state"));

	snprintf(state, sizeof(state), "%s", s ? s : "?");
	json_decref(j);
	return state;
}

static void what_is_in_one_file_only_cannot_be_compared(void)
{
	CHECK(!strcmp(
		diff_state(with_work(), calls_only(), "kernels", "verdicts"), "cannot answer"));
	CHECK(!strcmp(diff_state(calls_only(), with_work(), "kernels", "names"), "cannot answer"));
	CHECK(!strcmp(diff_state(calls_only(), calls_only(), "gaps", "figures"), "cannot answer"));
	CHECK(!strcmp(diff_state(with_work(), with_work(), "kernels", "verdicts"), "answered"));
	CHECK(!strcmp(diff_state(with_work(), calls_only(), "top", "names"), "answered"));
	CHECK(!strcmp(diff_state(with_work(), with_work(), "errors", "figures"), "answered"));
}

T_MAIN(T(what_was_not_recorded_cannot_be_answered), T(none_is_an_answer),
	T(what_was_lost_is_not_none), T(options_that_hide_what_is_needed), T(parts_and_followers),
	T(what_is_alive_is_known_with_all_frees_only), T(busy_is_of_the_window),
	T(one_kernel_makes_no_steps), T(gpus_have_the_names_of_their_models),
	T(failures_are_of_a_process), T(what_is_in_one_file_only_cannot_be_compared))
