/* The notes of reports: missing records, rows that were left out, and the reason why a table is
 * empty. */
#define _GNU_SOURCE
#include "analyze/core/report.h"
#include "analyze/core/run.h"
#include "formats/base/buf.h"
#include "tests/unit/reports.h"

static void losses_are_reported(void)
{
	struct trace t;
	json_t *j;
	const json_t *g;

	known(&t, true);
	gt_writer_loss(t.w, GT_SCOPE_PROCESS, t.process, 3500, 3600, 12, &t.err);
	gt_writer_loss(t.w, GT_SCOPE_ALL, GT_NONE, 7000, 7001, GT_LOST_UNKNOWN, &t.err);
	j = report(end(&t), NULL, &plain);
	g = row(j, "pauses", 0);
	CHECK(num(g, "pauses") == 2 && num(g, "doubtful") == 1 && num(g, "doubtful_ns") == 930);
	CHECK(num(row(j, "header", 0), "lost") == 12 &&
		num(row(j, "header", 0), "lost_unknown") == 1);
	CHECK(noted(j, "header",
		"LOST: 12 events and an unknown number more; counts and sums lack the lost rows"));
	CHECK(noted(j, "header", "sampled: one call in 10"));
	CHECK(is(row_named(j, "metadata", "key", "gpus.0.model"), "value", "H200"));
	json_decref(j);
}

static void an_unclosed_file_is_reported(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r;
	struct trace t;
	json_t *j;

	known(&t, true);
	gt_writer_abandon(t.w);
	r = gt_reader_open_fd(t.fd, &err);
	j = report(r, NULL, &plain);
	CHECK(is(row(j, "header", 0), "closed", "not closed") &&
		num(row(j, "header", 0), "complete_to_ns") >= 0);
	CHECK(noted(j, "header",
		"NOT CLOSED: complete to 0.000009 s, 0 bytes unread; the file was not closed: the recorder died"));
	CHECK_EQ(num(row(j, "userspace", 0), "api_calls"), 13);
	json_decref(j);
	begin(&t, true); /* the rows are later than the end of the last epoch */
	call(&t, 0, 0, 25000, 26000, 0, 0, 0, 0);
	gt_writer_epoch(t.w, 10000, &t.err);
	gt_writer_abandon(t.w);
	r = gt_reader_open_fd(t.fd, &err);
	j = report(r, NULL, &plain);
	CHECK(num(row(j, "header", 0), "complete_to_ns") == 0);
	CHECK(noted(
		j, "header", "NOT CLOSED: complete to 0.000000 s, later events are incomplete"));
	json_decref(j);
	begin(&t, true);
	gt_writer_epoch(t.w, 10000, &t.err);
	gt_writer_abandon(t.w);
	r = gt_reader_open_fd(t.fd, &err);
	j = report(r, NULL, &plain);
	CHECK(noted(j, "header", "NOT CLOSED: nothing can be read yet, ") &&
		!noted(j, "header", "no CUDA call was seen"));
	json_decref(j);
}

/* A recording of a program that made no call of the driver: the note gives possible reasons. For
 * an imported file there is no such note. */
static void nothing_at_all(void)
{
	struct trace t;
	char *text;

	begin(&t, true);
	gt_writer_meta(t.w, "{\"tool\":\"gtcollect\",\"duration_ns\":1500000000}", &t.err);
	text = report_text(end(&t), NULL, &plain, 1, GT_TEXT);
	CHECK(text && strstr(text, "trace: an EMPTY recording of 1.500 s\n"));
	CHECK(strstr(text, "(no CUDA call was recorded: the program never"));
	free(text);
	begin(&t, true);
	text = report_text(end(&t), NULL, &plain, 1, GT_TEXT);
	CHECK(text && strstr(text, "Total CUDA API calls: ") &&
		strstr(text, "trace: an EMPTY recording\n"));
	CHECK(!strstr(text, "no CUDA call was seen"));
	free(text);
}

static void limits_have_units(void)
{
	struct trace t;
	json_t *j;

	known(&t, true);
	gt_writer_meta(t.w,
		"{\"delay_ns\":1500000,\"duration_limit_ns\":2000000000,\"cut\":{\"from_ns\":500}}",
		&t.err);
	j = report(end(&t), NULL, &plain);
	CHECK(noted(j, "header", "the first 1.5 ms of the run were not recorded"));
	CHECK(noted(j, "header", "recorded for 2 s at most"));
	CHECK(noted(j, "header", "cut out of a longer recording: from 500 ns"));
	json_decref(j);
}

/* Rows cover less time than the recording: the note has both if they differ by more than
 * 1 %. */
static void the_time_that_was_recorded(void)
{
	static const struct {
		const char *meta, *says;
		double ns;
	} cases[] = {
		{ "{\"duration_ns\":20000}", "over 9.000 us of 20.00 us\n", 20000 },
		{ "{\"duration_ns\":9001}", "over 9.000 us\n", 9001 },
		/* of another, longer file */
		{ "{\"duration_ns\":20000,\"cut\":{\"pid\":5}}", "over 9.000 us\n", -1e99 },
		{ "{\"duration_ns\":50000,\"delay_ns\":30000}", "over 9.000 us of 20.00 us\n",
			20000 },
		{ "{\"duration_ns\":50000,\"delay_ns\":10000,\"duration_limit_ns\":30000}",
			"over 9.000 us of 30.00 us\n", 30000 },
		/* it is not known how long it was open */
		{ "{\"duration_ns\":50000,\"range\":\"profiler\"}", "over 9.000 us\n", -1e99 },
		{ "{\"duration_ns\":\"long\"}", "over 9.000 us\n", -1e99 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		static const char *const names[] = { "header", NULL };
		struct trace t;
		json_t *j;
		char *text;

		known(&t, true);
		gt_writer_meta(t.w, cases[i].meta, &t.err);
		text = report_text(end(&t), names, &plain, 1, GT_TEXT);
		CHECK(text && strstr(text, cases[i].says));
		free(text);
		known(&t, true);
		gt_writer_meta(t.w, cases[i].meta, &t.err);
		j = report(end(&t), names, &plain);
		CHECK(num(row(j, "header", 0), "recorded_ns") == cases[i].ns &&
			num(row(j, "header", 0), "span_ns") == 9000);
		json_decref(j);
	}
}

static bool launches_only(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return type->op == GT_OP_LAUNCH;
}

static bool none(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return false;
}

/* A figure that a filter excludes is absent and not 0, and the text says so. */
static void what_is_filtered_away_is_no_zero(void)
{
	static const char *const names[] = { "summary", "layers", "ioctls", NULL };
	struct gt_analysis_options o = plain;
	struct trace t;
	json_t *j;
	char *text;

	o.filter.match = launches_only;
	o.restrictions = "--match x";
	known(&t, true);
	j = report(end(&t), names, &o);
	CHECK(num(row(j, "userspace", 0), "api_calls") == 4 &&
		num(row(j, "userspace", 0), "kernel_launches") == 4);
	CHECK(absent(row(j, "userspace", 0), "allocations") &&
		absent(row(j, "userspace", 0), "transferred_bytes"));
	CHECK(absent(row(j, "kernel_space", 0), "ioctl_calls") &&
		absent(row(j, "kernel_space", 0), "ioctl_time_ns"));
	CHECK(absent(row_named(j, "layers", "layer", "ioctl"), "count") &&
		num(row_named(j, "layers", "layer", "api"), "count") == 4);
	json_decref(j);
	known(&t, true);
	text = report_text(end(&t), names, &o, 1, GT_TEXT);
	CHECK(text && strstr(text, "  Memory allocations: left out by --match\n") &&
		strstr(text, "  IOCTL calls: left out by --match\n"));
	CHECK(strstr(text, "  Scheduler calls: not recorded\n") &&
		strstr(text, "ioctls by total time\n  none that matches\n"));
	free(text);
}

/* For any reports and any options that leave no rows: a note says so, and names the available
 * values. */
static void nothing_matched(void)
{
	static const char *const sets[][3] = { { "summary", "top" }, { "open" }, { "header" },
		{ "contexts", "pauses" } };
	const struct {
		struct gt_filter filter;
		const char *there;
	} cases[] = {
		{ { .pid = 7 }, "processes of the file: 100 train" },
		{ { .tid = 7 },
			"threads of the file: 100 main, 101, 102, 103, 104, 105, 106, 107" },
		{ { .ranged = true, .from = 20000, .to = INT64_MAX },
			"the file goes from 0 s to 0.000009000 s" },
		{ { .match = none },
			"the file has names such as cuInit, cuMemAlloc_v2, cuMemFree_v2" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t k = 0; k < sizeof(sets) / sizeof(*sets); k++) {
			struct gt_analysis_options o = { .file = "x",
				.filter = cases[i].filter,
				.restrictions = "--something" };
			const char *names[4] = { "header", sets[k][0], k == 2 ? NULL : sets[k][1],
				NULL };
			struct trace t;
			char *text;

			known(&t, true);
			text = report_text(end(&t), k == 2 ? names + 1 : names, &o,
				1 + (unsigned)k % 2, GT_TEXT);
			CHECK(text && strstr(text, "  (nothing matched)\n") &&
				strstr(text, cases[i].there));
			CHECK(k ||
				(strstr(text, "Total CUDA API calls: nothing matched\n") &&
					strstr(text,
						"total time\n  (cannot answer: nothing matched)\n")));
			free(text);
		}
}

/* A recorded time range without events gives 0 for every figure. */
static void an_idle_time_range_is_reported(void)
{
	static const char *const names[] = { "header", "summary", "top", NULL };
	struct gt_analysis_options o = { .file = "x",
		.filter = { .ranged = true, .from = 1200, .to = 1900 },
		.restrictions = "--from" };
	struct trace t;
	char *text;

	known(&t, true);
	text = report_text(end(&t), names, &o, 1, GT_TEXT);
	CHECK(text && strstr(text, "  (nothing matched)\n") &&
		strstr(text, "  Total CUDA API calls: 0\n"));
	CHECK(strstr(text, "total time\n  nothing matched\n"));
	free(text);
}

/* A filter that selects only a call without an end has matched something. */
static void no_row_of_a_kind_is_not_nothing(void)
{
	static const char *const names[] = { "header", "open", NULL };
	struct gt_analysis_options o = {
		.file = "x", .filter = { .tid = 101 }, .restrictions = "--tid 101"
	};
	struct trace t;
	char *text;

	known(&t, true);
	text = report_text(end(&t), names, &o, 1, GT_TEXT);
	CHECK(text && !strstr(text, "nothing matched") &&
		strstr(text, "at the end\n  none that matches\n"));
	free(text);
}

static void frees_of_null_free_nothing(void)
{
	static const char *const names[] = { "memory", NULL };
	struct trace t;
	json_t *j;

	begin(&t, true);
	call(&t, 0, ALLOC, 10, 20, 0, 0, 100, 0x1000);
	call(&t, 0, FREE, 30, 31, 0, 0, 0, 0);
	call(&t, 0, FREE, 40, 41, 0, 0, 0x1000, 0);
	call(&t, 0, FREE, 50, 51, 0, 0, 0, 0);
	/* it failed, so it counts as a failed call */
	call(&t, 0, FREE, 60, 61, 0, 1, 0, 0);
	j = report(end(&t), names, &plain);
	CHECK(num(row(j, "memory", 0), "frees") == 2 &&
		num(row(j, "memory", 0), "null_frees") == 2);
	CHECK(num(row(j, "memory", 0), "failed") == 1 &&
		num(row(j, "memory", 0), "unknown_frees") == 0);
	CHECK(num(row(j, "memory", 0), "freed_bytes") == 100 &&
		noted(j, "memory", "2 frees of NULL"));
	json_decref(j);
}

/* The column that names the recording is the first one, and exists only if there are several
 * recordings. */
static void one_recording_has_no_number(void)
{
	static const char *const names[] = { "errors", NULL };
	struct trace t;
	json_t *j;

	known(&t, true);
	j = report(end(&t), names, &plain);
	CHECK(rows(j, "errors") == 1 && !json_object_get(row(j, "errors", 0), "recording") &&
		is(row(j, "errors", 0), "process", "train"));
	json_decref(j);
}

/* A strip with fewer cells shows the same time range. */
static void a_narrow_timeline(void)
{
	static const char *const names[] = { "timeline", NULL };
	static const struct {
		size_t width;
		const char *strip, *cells;
	} cases[] = {
		{ 104, "  *     -@@-*  ..     *     -                          *@@@@@@",
			"(60 cells of 150 ns each)" },
		{ 80, "  -  **-..  -  .            -@@@", "(30 cells of 300 ns each)" },
		{ 40, "  .+. ..    -@", "(12 cells of 750 ns each)" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gt_analysis_options o = plain;
		struct trace t;
		char *text;

		o.width = cases[i].width;
		known(&t, true);
		text = report_text(end(&t), names, &o, 1, GT_TEXT);
		CHECK(text && strstr(text, cases[i].cells));
		CHECK(strstr(text, cases[i].strip));
		free(text);
	}
}

static void words_go_by_number(void)
{
	const struct {
		const char *text;
		uint64_t n;
		const char *words;
	} cases[] = {
		{ "%llu {row is|rows are} left out", 1, "%llu row is left out" },
		{ "%llu {row is|rows are} left out", 2, "%llu rows are left out" },
		{ "{one|many}", 0, "many" },
		{ "{|s}{a|}|b{c|d}", 1, "a|bc" },
		{ "{|s}{a|}|b{c|d}", 21, "s|bd" },
		{ "plain", 1, "plain" },
		{ "", 1, "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gt_buf b = { 0 };

		gt_put_plural(&b, cases[i].text, cases[i].n);
		gt_buf_byte(&b, 0);
		CHECK(!b.failed && !strcmp((char *)b.data, cases[i].words));
		gt_buf_release(&b);
	}
}

/* Notes about one item use the singular, for every kind of warning in the metadata. */
static void notes_use_the_singular(void)
{
	static const char *const notes[] = {
		"without its last 1 byte",
		"1 event has an invalid time and is ignored",
		"1 event ends before it begins and counts as",
		"1 call begins within another call of the same thread and ends after it: it counts as a span",
		"too many names for the memory: 1 of them was replaced",
		"1 event has an unknown form",
		"1 line has an earlier time",
		"of the imported file 1 line is not JSON and was skipped",
		"of the imported file 1 line has no time or an unknown form and was skipped",
		"of the imported file 1 kernel is one block each of its kernel, which bpftime's probes timed",
		"1 collective of the imported file has not completed: it counts as open",
		"of the imported file 1 collective has no duration: it counts from when the host enqueued it until it found it completed",
		"of the imported file 1 collective has a duration, but neither start nor end: it is placed before the time of its dump",
		"of the imported file 1 event of NCCL's proxy threads was skipped",
		"the flight recorder's file begins with entry 1: earlier ones were overwritten or left out",
		"1 argument did not fit",
		"of the imported file 1 call stack is beyond the limit of 8,388,608 frames or of the memory for names",
		"GPU: 1 launch, copy or set has no time: no CUDA event could be recorded around it, or the event could not be read",
		"CUPTI dropped 1 record: GPU figures do not include it",
		"GPU: 1 record has times of another profiler's clock, which used CUPTI at the time: GPU figures do not include it",
		"GPU: 1 record was dropped because a ring was full: GPU figures do not include it",
		"GPU: 1 record has invalid times: GPU figures do not include it",
		"GPU: 1 launch, copy or set has no GPU record (it failed, or CUPTI delivered none); the report unseen lists it",
		"GPU: 1 wait for an unknown stream",
		"of the imported file 1 packet is of another data source (ftrace, counters, settings) and was skipped",
		"of the imported file 1 event has a time of a clock that no snapshot relates to the others: it was not changed",
		"of the imported file 1 reference to a text or call stack has no entry in the file: it counts as missing",
	};
	struct trace t;
	json_t *j;

	begin(&t, true);
	gt_writer_meta(t.w,
		"{\"recovered\":{\"unread_bytes\":1},\"events_without_time\":1,\"negative_durations\":1,\"calls_not_nested\":1,"
		"\"names_left_out\":1,\"events_not_understood\":1,\"lines_back_in_time\":1,\"lines_not_json\":1,\"lines_skipped\":1,\"kernels_are_blocks\":1,\"collectives_not_completed\":1,"
		"\"collectives_without_duration\":1,\"collectives_placed_late\":1,\"proxy_events\":1,\"first_record\":1,\"arguments_left_out\":1,\"stacks_left_out\":1,\"gpu_untimed\":1,"
		"\"gpu_records_dropped\":1,\"gpu_records_foreign\":1,\"gpu_records_lost\":1,\"gpu_records_impossible\":1,"
		"\"gpu_launches_without_record\":1,\"waits_without_stream\":1,"
		"\"packets_of_other_sources\":1,\"events_of_unknown_clocks\":1,\"references_without_entry\":1}",
		&t.err);
	call(&t, 0, LAUNCH, 10, 20, 0, 0, 0, 0);
	j = report(end(&t), NULL, &plain);
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++)
		CHECK(noted(j, "header", notes[i]));
	json_decref(j);
}

T_MAIN(T(losses_are_reported), T(words_go_by_number), T(notes_use_the_singular),
	T(an_unclosed_file_is_reported), T(nothing_at_all), T(limits_have_units),
	T(the_time_that_was_recorded), T(what_is_filtered_away_is_no_zero), T(nothing_matched),
	T(an_idle_time_range_is_reported), T(no_row_of_a_kind_is_not_nothing),
	T(frees_of_null_free_nothing), T(one_recording_has_no_number), T(a_narrow_timeline))
