/* An event that several sources recorded is counted once. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/reports.h"

/* Every table except the header is the same as before other sources recorded the same events;
 * the header names the sources. */
static void a_call_counts_from_one_source(void)
{
	struct gt_analysis_options o[] = { plain, plain, plain };
	struct trace t;
	char *text;

	o[1].filter = (struct gt_filter){ .ranged = true, .from = 2200, .to = 3050 };
	o[2].filter.tid = 101;
	for (size_t i = 0; i < sizeof(o) / sizeof(*o); i++) {
		static const char *const same[] = { "calls", "open", "threads", "processes",
			"span_ns" };
		json_t *once, *twice, *table;
		const char *key;

		known(&t, true);
		once = report(end(&t), NULL, &o[i]);
		begin(&t, true);
		with_ioctl(&t);
		known_calls(&t);
		for (int s = 0; s < 3; s++) {
			seen_by(&t, (const char *[]){ "import x", "ebpf", "cupti" }[s], 0);
			known_calls(&t);
		}
		gt_writer_epoch(t.w, 10000, &t.err);
		twice = report(end(&t), NULL, &o[i]);
		json_object_foreach(once, key, table) CHECK(
			!strcmp(key, "header") || json_equal(table, json_object_get(twice, key)));
		for (size_t k = 0; k < sizeof(same) / sizeof(*same); k++)
			CHECK(num(row(once, "header", 0), same[k]) ==
				num(row(twice, "header", 0), same[k]));
		CHECK(json_object_size(once) > 10 &&
			json_object_size(twice) == json_object_size(once));
		CHECK(noted(twice, "header",
			"14 calls recorded by ebpf as well are counted once, from preload"));
		CHECK(noted(twice, "header", "14 calls recorded by cupti as well"));
		CHECK(noted(twice, "header", "14 calls recorded by import x as"));
		CHECK(!noted(once, "header", "as well"));
		json_decref(once);
		json_decref(twice);
	}
	begin(&t, true);
	call(&t, 0, INIT, 10, 20, 0, 0, 0, 0);
	seen_by(&t, "ebpf", 0);
	call(&t, 0, INIT, 10, 20, 0, 0, 0, 0);
	text = report_text(end(&t), NULL, &plain, 3, GT_TEXT);
	CHECK(text && strstr(text, "trace: 1 call in 1 process, 8 threads") &&
		strstr(text, "Total CUDA API calls: 1\n"));
	CHECK(text &&
		strstr(text, "1 call recorded by ebpf as well is counted once, from preload"));
	free(text);
}

/* If the best source has no rows of a layer, the next source provides them; other threads are
 * not affected. */
static void sources_complement_each_other(void)
{
	struct trace t;
	struct gt_row moment = { .start = 2000, .end = 2000 };
	json_t *j;

	begin(&t, true);
	with_ioctl(&t);
	t.type[SCHED] = new_type(&t, "sched_switch",
		(struct gt_type){
			.category = GT_CAT_SCHEDULER, .op = GT_OP_SCHED, .layer = GT_LAYER_SCHED },
		0, 0);
	moment.type = t.type[SCHED];
	call(&t, 0, ALLOC, 1000, 1100, 0, 0, 100, 0xa000);
	call(&t, 2, INIT, 1000, 1100, 0, 0, 0, 0);
	for (int s = 0; s < 2; s++) {
		seen_by(&t, s ? "cupti" : "ebpf", 0);
		call(&t, 0, ALLOC, 1000, 1100, 0, 0, 100, 0xa000);
		/* preload has none: cupti's count */
		call(&t, 0, RM, 1010, 1050, 1, 0, 0, 0);
		call(&t, 1, SYNC, 1000, 1050 + s, 0, 0, 0, 0); /* likewise */
		if (!s)
			gt_writer_row(t.w, GT_INSTANT, t.thread[0], &moment, NULL, &t.err);
	}
	j = report(end(&t), NULL, &plain);
	CHECK(num(row(j, "userspace", 0), "api_calls") == 3 &&
		num(row(j, "userspace", 0), "allocated_bytes") == 100);
	CHECK(num(row(j, "kernel_space", 0), "ioctl_calls") == 1 &&
		num(row(j, "kernel_space", 0), "scheduler_calls") == 1);
	CHECK_EQ(num(row_named(j, "top", "operation", "cuStreamSynchronize"), "total_ns"), 51);
	CHECK(noted(j, "header", "1 call recorded by ebpf as well is counted once, from preload"));
	CHECK(noted(j, "header", "2 calls recorded by ebpf as well are counted once, from cupti"));
	CHECK(num(row(j, "header", 0), "calls") == 4 && num(row(j, "header", 0), "instants") == 1);
	json_decref(j);
}

/* Thread and process ids are used again: by a thread of the same source, and by a process that
 * began later. */
static void ids_used_again_are_others(void)
{
	struct trace t;
	json_t *j;

	begin(&t, true);
	for (int i = 0; i < 4; i++) {
		seen_by(&t, i < 3 ? "cupti" : "ebpf", i < 2 ? 1000 : 5000000000);
		call(&t, 0, INIT, 1000 + 10 * i, 1005 + 10 * i, 0, 0, 0, 0);
	}
	j = report(end(&t), NULL, &plain);
	CHECK(num(row(j, "userspace", 0), "api_calls") == 3 &&
		num(row(j, "header", 0), "calls") == 3);
	CHECK(noted(j, "header", "1 call recorded by ebpf as well is counted once, from cupti"));
	json_decref(j);
}

T_MAIN(T(a_call_counts_from_one_source), T(sources_complement_each_other),
	T(ids_used_again_are_others))
