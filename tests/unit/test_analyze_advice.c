/* Each rule finds what it is about, and says clean or that it cannot tell where it should. */
#define _GNU_SOURCE
#include "analyze/run.h"
#include "tests/unit/gpus.h"
#include "tests/unit/reports.h"

static const json_t *rule(const json_t *j, const char *name) { return row_named(j, "advice", "rule", name); }
static bool says(const json_t *j, const char *name, const char *state) { return is(rule(j, name), "state", state); }

/* The answer of all rules together. */
static bool answers(const json_t *j, const char *state) { return is(json_object_get(j, "advice"), "state", state); }

static json_t *advice(struct gpus *g) { return report(gpus_end(g), (const char *[]){ "advice", NULL }, &plain); }

static uint32_t call_type(struct gpus *g, const char *name, unsigned category, unsigned op)
{
	return gt_writer_type(g->w, &(struct gt_type){ .name = gt_writer_string(g->w, name), .category = (uint8_t)category, .op = (uint8_t)op });
}

/* 100 rounds of 1000 ns: the GPU works for `busy`, a call of `type` (or none) begins when it is done and ends 50 before the next launch. */
static void rounds(struct gpus *g, uint32_t type, int busy, int from)
{
	for (int i = 0; i < 100; i++) {
		int64_t at = 10000 + 1000 * i;
		struct gt_gpu_work w = gpus_work(g->stream[0][0], at + 20, at + 20 + busy);

		gpus_launched(g, &w, 0, at, 20, GT_JOIN_CORRELATION);
		gpus_kernel(g, 0, &w);
		if (type != GT_NONE && i >= from)
			gpus_call(g, 0, type, at + 20 + busy, at + 950);
	}
}

static void nothing_to_be_won(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	rounds(&g, GT_NONE, 970, 0);
	j = advice(&g);
	CHECK(rows(j, "advice") == 19 && noted(j, "advice", "0 of 19 rules found something") && answers(j, "answered"));
	for (size_t i = 0; i < rows(j, "advice"); i++)
		CHECK(is(row(j, "advice", i), "state", is(row(j, "advice", i), "rule", "throttled-clocks") ? "cannot answer" : "clean") &&
		      absent(row(j, "advice", i), "gain_ns"));
	json_decref(j);
}

static void the_host_is_slow(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	rounds(&g, GT_NONE, 400, 0);
	j = advice(&g);
	CHECK(says(j, "host-bound", "found") && num(rule(j, "host-bound"), "gain_ns") == 99 * 580.0);
	CHECK(num(rule(j, "host-bound"), "duration_ns") == 580 && num(rule(j, "host-bound"), "tid") == 100);
	CHECK(is(row(j, "advice", 0), "rule", "host-bound") && says(j, "sync-in-loop", "clean") && says(j, "launch-bound", "clean"));
	json_decref(j);
}

/* What a thread does from the end of the GPU's work to 50 ns before the next launch. */
static void causes_have_rules(void)
{
	static const struct { const char *call, *rule; unsigned category, op; } all[] = {
		{ "cuStreamSynchronize", "sync-in-loop", GT_CAT_SYNC, GT_OP_SYNC },
		{ "cuMemAlloc_v2", "alloc-in-loop", GT_CAT_MEMORY, GT_OP_ALLOC },
		{ "cuModuleLoadData", "module-loading-in-loop", GT_CAT_MODULE, GT_OP_NONE },
		{ "cuLaunchKernel", "launch-bound", GT_CAT_LAUNCH, GT_OP_LAUNCH },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct gpus g;
		json_t *j;

		gpus_begin(&g, "{\"events\":\"api,gpu\"}");
		rounds(&g, call_type(&g, all[i].call, all[i].category, all[i].op), 500, 0);
		j = advice(&g);
		CHECK(says(j, all[i].rule, "found") && noted(j, "advice", "2 of 19") && says(j, "low-utilisation", "found"));
		CHECK(num(rule(j, all[i].rule), "cost_ns") == 99 * (strcmp(all[i].rule, "launch-bound") ? 430.0 : 450.0));
		json_decref(j);
	}
}

/* Memory that is allocated before the loop is nobody's business; after it has run for a while it is. */
static void warming_up_is_no_fault(void)
{
	for (int late = 0; late < 2; late++) {
		struct gpus g;
		uint32_t alloc;
		json_t *j;

		gpus_begin(&g, "{\"events\":\"api,gpu\"}");
		alloc = call_type(&g, "cuMemAlloc_v2", GT_CAT_MEMORY, GT_OP_ALLOC);
		rounds(&g, late ? alloc : GT_NONE, 600, 40);
		if (!late)
			for (int i = 0; i < 30; i++)
				gpus_call(&g, 0, alloc, 10620 + 1000 * i, 10950 + 1000 * i);
		j = advice(&g);
		CHECK(says(j, "alloc-in-loop", late ? "found" : "clean"));
		json_decref(j);
	}
}

static void copies_of_all_kinds(void)
{
	static const char *const names[] = { "pageable-copy", "small-copies", "blocking-copy", "blocking-set" };

	for (int kind = 0; kind < 4; kind++) {
		struct gpus g;
		json_t *j;

		gpus_begin(&g, "{\"events\":\"api,gpu\"}");
		rounds(&g, GT_NONE, 500, 0);
		for (int i = 0; i < 120; i++) {
			struct gt_gpu_work w = gpus_work(g.stream[0][1], 10030 + 800 * i, 10130 + 800 * i);
			struct gt_gpu_copy c = { .direction = GT_DIR_HTOD, .src = kind ? GT_GPU_MEM_PINNED : GT_GPU_MEM_PAGEABLE,
						 .dst = GT_GPU_MEM_DEVICE, .async = kind != 2, .bytes = kind == 1 ? 100 : 1 << 20 };

			gpus_launched(&g, &w, 1, w.start - 5, 3, GT_JOIN_CORRELATION);
			if (kind < 3)
				gt_gpu_put_copy(&g.types, &w, &c, &g.err);
			else
				gpus_set(&g, &w, 640);
		}
		j = advice(&g);
		for (int k = 0; k < 4; k++)
			CHECK(says(j, names[k], k == kind ? "found" : "clean") || !printf("# kind %d, %s\n", kind, names[k]));
		json_decref(j);
	}
}

/* The second GPU does nothing but communicate: three pieces on two streams, two of which touch, and one of which computing hides. */
static void unbalanced_program(struct gpus *g)
{
	gpus_begin(g, "{\"events\":\"api,gpu\"}");
	rounds(g, GT_NONE, 970, 0);
	gpus_plain(g, 1, g->stream[1][1], 70000, 76000);
	g->kernel[0] = gt_writer_string(g->w, "ncclDevKernel_AllReduce");
	gpus_plain(g, 0, g->stream[1][0], 10020, 30000);
	gpus_plain(g, 0, g->stream[1][1], 25000, 40000);
	gpus_plain(g, 0, g->stream[1][0], 40000, 50000);
	gpus_plain(g, 0, g->stream[1][0], 60000, 76000);
}

static void several_gpus(void)
{
	struct gpus g;
	const json_t *r;
	json_t *j;
	char *text;

	unbalanced_program(&g);
	j = advice(&g);
	CHECK(says(j, "unbalanced-gpus", "found") && num(rule(j, "unbalanced-gpus"), "cost_ns") == 91000);
	CHECK(says(j, "exposed-communication", "found") && num(rule(j, "exposed-communication"), "gain_ns") == 49980);
	for (int i = 0; i < 2; i++) {
		r = rule(j, i ? "unbalanced-gpus" : "exposed-communication");
		CHECK(num(r, "at_ns") == 20 && num(r, "duration_ns") == 39980 && num(r, "device") == 1 && num(r, "pid") == 100 && absent(r, "tid"));
	}
	json_decref(j);
	for (int several = 0; several < 2; several++) {		/* it says whose the place is as far as that needs to be said */
		unbalanced_program(&g);
		if (several)
			gpus_track(&g, GT_NONE, "other", GT_TRACK_PROCESS, 200);
		text = report_text(gpus_end(&g), (const char *[]){ "advice", NULL }, &plain, 1, GT_TEXT);
		CHECK(text && strstr(text, several ? "see: 0.000000020 s, for 39.98 us, GPU 1 of process 100\n" : "s, for 39.98 us, GPU 1\n"));
		free(text);
	}
}

/* Not recorded is not clean. */
static void what_cannot_be_told(void)
{
	struct trace t;
	struct gpus g;
	json_t *j;

	known(&t, true);
	j = report(end(&t), (const char *[]){ "advice", NULL }, &plain);
	for (size_t i = 0; i < rows(j, "advice"); i++)
		CHECK(is(row(j, "advice", i), "rule", "leak") ? is(row(j, "advice", i), "state", "clean") :
		      is(row(j, "advice", i), "state", "cannot answer") && strstr(json_string_value(json_object_get(row(j, "advice", i),
		      "evidence")), "was not recorded"));
	CHECK(rows(j, "advice") == 19);
	json_decref(j);

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	for (int i = 0; i < 10; i++)
		gpus_plain(&g, 0, g.stream[0][0], 1000 + 1000 * i, 1900 + 1000 * i);
	j = advice(&g);
	CHECK(says(j, "host-bound", "cannot answer") && says(j, "small-copies", "clean"));
	CHECK(strstr(json_string_value(json_object_get(rule(j, "host-bound"), "evidence")), "it is not known what the host did"));
	CHECK(says(j, "low-utilisation", "clean") && answers(j, "cannot answer") && noted(j, "advice", "not clean: 10 of 19 rules cannot tell"));
	json_decref(j);
}

T_MAIN(T(nothing_to_be_won), T(the_host_is_slow), T(causes_have_rules), T(warming_up_is_no_fault), T(copies_of_all_kinds), T(several_gpus),
       T(what_cannot_be_told))
