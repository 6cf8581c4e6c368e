/* Reports about the GPU: small traces with known figures, and random traces compared with a
 * simple count. */
#define _GNU_SOURCE
#include <math.h>
#include "analyze/core/run.h"
#include "tests/unit/random_program.h"
#include "tests/unit/reports.h"

/* Device 0: stream 7 works 1000-1100 and 1100-1300, stream 8 1050-1250, a copy 1400-1500 and a set
 * 1500-1510; device 1: 1000-1010. A wait from 1250 to 2000 is no work. The window is 1000 to 1510.
 */
static void known_work(struct gpus *g)
{
	struct gt_gpu_work w;

	gpus_begin(g, "{\"simulated\":true}");
	w = gpus_work(g->stream[0][0], 1000, 1100);
	gpus_launched(g, &w, 0, 900, 20, GT_JOIN_CORRELATION); /* queued 80 */
	gpus_kernel(g, 0, &w);
	w = gpus_work(g->stream[0][0], 1100, 1300);
	gpus_launched(g, &w, 0, 930, 70, GT_JOIN_ORDER); /* queued 100 */
	gpus_kernel(g, 0, &w);
	w = gpus_work(g->stream[0][1], 1050, 1250);
	/* returned after the kernel began */
	gpus_launched(g, &w, 1, 1040, 30, GT_JOIN_CORRELATION);
	gpus_kernel(g, 1, &w);
	gpus_plain(g, 1, g->stream[1][0], 1000, 1010); /* of no known call */
	w = gpus_work(g->stream[0][1], 1400, 1500);
	gpus_copy(g, &w, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, GT_GPU_MEM_DEVICE, 5000);
	w = gpus_work(g->stream[0][0], 1500, 1510);
	gpus_set(g, &w, 640);
	w = gpus_work(g->stream[0][0], 1250, 2000);
	gpus_wait(g, &w, GT_GPU_WAIT_STREAM_EVENT, 3);
}

static void kernels_by_name(void)
{
	struct gpus g;
	const json_t *k;
	json_t *j;

	known_work(&g);
	j = report(gpus_end(&g), (const char *[]){ "kernels", NULL }, &plain);
	k = row(j, "kernels", 0);
	CHECK(rows(j, "kernels") == 2 && is(k, "kernel", "add") && is(k, "name", "_Z3addPf"));
	CHECK(num(k, "count") == 2 && num(k, "total_ns") == 300 && num(k, "mean_ns") == 150);
	/* 70.71 */
	CHECK(num(k, "min_ns") == 100 && num(k, "max_ns") == 200 && num(k, "stddev_ns") == 71);
	CHECK(num(k, "p50_ns") == 100 && num(k, "p90_ns") == 200 && num(k, "p99_ns") == 200);
	CHECK(num(k, "launch_mean_ns") == 45 && num(k, "queue_mean_ns") == 90 &&
		num(k, "queued") == 2);
	CHECK(num(k, "joined") == 2 && num(k, "joined_by_order") == 1);
	/* busy: 300 + 100 + 10 on device 0, 10 on device 1 */
	CHECK(num(k, "busy_ns") == 300 && num(k, "busy_percent") == 71.43);
	k = row(j, "kernels", 1);
	CHECK(is(k, "kernel", "mul") && num(k, "total_ns") == 210 && num(k, "busy_ns") == 210 &&
		num(k, "busy_percent") == 50);
	CHECK(num(k, "joined") == 1 && num(k, "launch_mean_ns") == 30 && num(k, "queued") == 0 &&
		absent(k, "queue_mean_ns"));
	CHECK(noted(j, "kernels", "1 of 4 kernels is joined to no call") &&
		noted(j, "kernels",
			"1 of 4 kernels was joined to its call by order in the stream"));
	CHECK(noted(j, "kernels", "of 420 ns of GPU busy time"));
	json_decref(j);
}

/* A launch with an impossible time counts in no report. */
static void launches_that_cannot_be(void)
{
	const struct {
		int64_t start, ns;
	} lies[] = { { 900, GT_TIME_MAX + 1 }, { 900, INT64_MIN }, { -GT_TIME_MAX - 1, 5 },
		{ GT_TIME_MAX + 1, 5 }, { INT64_MAX, INT64_MAX } };
	static const struct {
		const char *report, *table, *note;
	} told[] = {
		{ "kernels", "kernels", "5 of 6 kernels are joined to no call" },
		{ "launches", "launch_times",
			"5 of 6 kernels, copies and sets are joined to no call" },
		{ "budget", "budget", "5 operations are joined to no call" },
		{ "cuda_kern_exec_sum", "cuda_kern_exec_sum",
			"5 of 6 kernels are joined to no call" },
	};

	for (size_t k = 0; k < sizeof(told) / sizeof(*told); k++) {
		struct gt_gpu_work w;
		struct gpus g;
		json_t *j;

		gpus_begin(&g, "{\"events\":\"api,gpu\"}");
		w = gpus_work(g.stream[0][0], 1000, 1100);
		gpus_launched(&g, &w, 0, 900, 50, GT_JOIN_CORRELATION);
		gpus_kernel(&g, 0, &w);
		for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
			w = gpus_work(
				g.stream[0][0], 2000 + 200 * (int64_t)i, 2100 + 200 * (int64_t)i);
			gpus_launched(&g, &w, 0, 1900, 50, GT_JOIN_CORRELATION);
			w.cause.start = lies[i].start;
			w.cause.ns = (uint64_t)lies[i].ns;
			gpus_kernel(&g, 0, &w);
		}
		j = report(gpus_end(&g), (const char *[]){ told[k].report, NULL }, &plain);
		CHECK(noted(j, told[k].table, told[k].note));
		json_decref(j);
	}
}

/* Tables show demangled names; operations that are not kernels keep their own names. */
static void operations_have_short_names(void)
{
	struct gpus g;
	json_t *j;

	known_work(&g);
	j = report(gpus_end(&g), (const char *[]){ "top", NULL }, &plain);
	CHECK(row_named(j, "top", "operation", "add") && row_named(j, "top", "operation", "mul"));
	CHECK(row_named(j, "top", "operation", "memcpy HtoD (pageable -> device)") &&
		row_named(j, "top", "operation", "memset (device)"));
	json_decref(j);
}

/* A range of the program around all calls, which launch GPU work and wait for it: each is 100 %
 * of itself. */
static void shares_are_of_what_can_be_added(void)
{
	struct gt_type type = { .layer = GT_LAYER_USER, .category = GT_CAT_USER };
	struct gt_row range = { .start = 800, .end = 2100 };
	struct gpus g;
	json_t *j;

	known_work(&g);
	type.name = gt_writer_string(g.w, "step");
	range.type = gt_writer_type(g.w, &type);
	gt_writer_row(g.w, GT_SPAN, g.thread[0], &range, NULL, &g.err);
	j = report(gpus_end(&g), (const char *[]){ "top", "categories", NULL }, &plain);
	CHECK_EQ(num(row_named(j, "top", "operation", "step"), "share_percent"), 100);
	CHECK_EQ(num(row_named(j, "top", "operation", "cuLaunchKernel"), "share_percent"), 100);
	CHECK_EQ(num(row_named(j, "top", "operation", "stream waits for event"), "share_percent"),
		100);
	/* of add 300, mul 210, copy 100, set 10 */
	CHECK(num(row_named(j, "top", "operation", "add"), "share_percent") == 48.39);
	CHECK(noted(j, "top", "each group has shares of its own"));
	CHECK(rows(j, "categories") == 1 &&
		num(row_named(j, "categories", "category", "launch"), "share_percent") == 100);
	json_decref(j);
}

/* A kernel that runs twice at the same time is busy once; a single kernel has no deviation. */
static void overlaps_count_once(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin(&g, NULL);
	gpus_plain(&g, 0, g.stream[0][0], 1000, 2000);
	gpus_plain(&g, 0, g.stream[0][1], 1000, 2000);
	gpus_plain(&g, 0, g.stream[0][0], 1500, 2500);
	gpus_plain(&g, 1, g.stream[0][0], 3000, 3500);
	j = report(gpus_end(&g), (const char *[]){ "kernels", "streams", NULL }, &plain);
	CHECK(num(row(j, "kernels", 0), "total_ns") == 3000 &&
		num(row(j, "kernels", 0), "busy_ns") == 1500);
	CHECK(num(row(j, "kernels", 0), "busy_percent") == 75 &&
		absent(row(j, "kernels", 1), "stddev_ns"));
	CHECK_EQ(num(row(j, "kernels", 0), "stddev_ns"), 0);
	CHECK(num(row(j, "streams", 0), "busy_ns") == 2000 &&
		num(row(j, "streams", 1), "busy_ns") == 2000);
	CHECK_EQ(num(row(j, "streams", 2), "busy_ns"), 1000);
	json_decref(j);
}

/* A histogram has a resolution of 0.8 %, but no quantile is below the least or above the
 * greatest value. */
static void quantiles_lie_between(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin(&g, NULL);
	gpus_plain(&g, 0, g.stream[0][0], 1000, 2007); /* in a bucket whose middle is 1004 */
	gpus_plain(&g, 0, g.stream[0][0], 3000, 4007);
	gpus_plain(&g, 0, g.stream[0][0], 5000, 7001);
	j = report(gpus_end(&g), (const char *[]){ "kernels", NULL }, &plain);
	CHECK(num(row(j, "kernels", 0), "p50_ns") == 1007 &&
		num(row(j, "kernels", 0), "p99_ns") == 2001);
	json_decref(j);
}

static void copies_by_kind(void)
{
	struct gt_gpu_work w;
	struct gpus g;
	const json_t *c;
	json_t *j;

	known_work(&g);
	w = gpus_work(g.stream[0][0], 1450, 1550); /* overlaps the other by halves */
	gpus_copy(&g, &w, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, GT_GPU_MEM_DEVICE, 1000);
	w = gpus_work(g.stream[0][0], 1600, 1600); /* no time, no bandwidth */
	gpus_copy(&g, &w, GT_DIR_DTOH, GT_GPU_MEM_DEVICE, GT_GPU_MEM_PINNED, 8);
	j = report(gpus_end(&g), (const char *[]){ "copies", NULL }, &plain);
	c = row(j, "copies", 0);
	CHECK(rows(j, "copies") == 3 && is(c, "operation", "copy") &&
		is(c, "direction", "host to device"));
	CHECK(is(c, "source", "pageable") && is(c, "destination", "device") &&
		num(c, "count") == 2 && num(c, "bytes") == 6000);
	CHECK(num(c, "total_ns") == 200 && num(c, "busy_ns") == 150 &&
		num(c, "bandwidth_gb_per_s") == 40);
	CHECK(num(c, "row_bandwidth_gb_per_s") == 30 && num(c, "min_bytes") == 1000 &&
		num(c, "max_bytes") == 5000);
	c = row_named(j, "copies", "operation", "set");
	CHECK(absent(c, "direction") && absent(c, "source") && is(c, "destination", "device") &&
		num(c, "bytes") == 640);
	CHECK_EQ(num(c, "bandwidth_gb_per_s"), 64);
	c = row_named(j, "copies", "destination", "pinned");
	CHECK(absent(c, "bandwidth_gb_per_s") && absent(c, "row_bandwidth_gb_per_s") &&
		num(c, "bytes") == 8);
	json_decref(j);
}

static void streams_and_their_devices(void)
{
	struct gpus g;
	const json_t *s;
	json_t *j;

	known_work(&g);
	j = report(gpus_end(&g), (const char *[]){ "streams", NULL }, &plain);
	s = row(j, "streams", 0);
	CHECK(rows(j, "streams") == 5 && is(s, "name", "H200") && absent(s, "stream") &&
		num(s, "device") == 0 && num(s, "pid") == 100);
	CHECK(num(s, "kernels") == 3 && num(s, "copies") == 1 && num(s, "sets") == 1 &&
		num(s, "busy_ns") == 410);
	CHECK(num(s, "busy_percent") == 80.39 && num(s, "first_ns") == 100 &&
		num(s, "last_ns") == 610);
	s = row(j, "streams", 1);
	CHECK(is(s, "name", "compute") && num(s, "stream") == 7 && num(s, "busy_ns") == 310 &&
		num(s, "kernels") == 2);
	s = row(j, "streams", 2);
	CHECK(num(s, "stream") == 8 && absent(s, "name") && num(s, "busy_ns") == 300 &&
		num(s, "copies") == 1);
	s = row(j, "streams", 3);
	CHECK(num(s, "device") == 1 && absent(s, "stream") && num(s, "busy_ns") == 10 &&
		num(row(j, "streams", 4), "busy_ns") == 10);
	json_decref(j);
}

static void a_range_cuts_busy_time(void)
{
	struct gt_analysis_options o = plain;
	struct gpus g;
	json_t *j;

	known_work(&g);
	o.filter = (struct gt_filter){ .ranged = true, .from = 1050, .to = 1450 };
	o.restrictions = "--from";
	j = report(gpus_end(&g), (const char *[]){ "streams", "kernels", "copies", NULL }, &o);
	CHECK(num(row(j, "streams", 0), "busy_ns") == 300 &&
		num(row(j, "streams", 0), "busy_percent") == 75);
	CHECK(num(row(j, "kernels", 0), "total_ns") == 300 &&
		num(row(j, "kernels", 0), "busy_ns") == 250);
	/* whole rows */
	CHECK(num(row(j, "copies", 0), "busy_ns") == 100 &&
		num(row(j, "copies", 0), "bandwidth_gb_per_s") == 50);
	json_decref(j);
}

/* Counted from the first sample; that was not certain. */
static void counters_that_are_not_certain(void)
{
	struct gt_field f[2];
	struct gt_type type = { .fields = f, .nfields = 2 };
	struct gpus g;
	json_t *j;

	gpus_begin(&g, NULL);
	f[0] = (struct gt_field){ gt_writer_string(g.w, "value"), GT_F_U64, GT_R_VALUE };
	f[1] = (struct gt_field){ gt_writer_string(g.w, "uncertain"), GT_F_BOOL, GT_R_UNCERTAIN };
	type.name = gt_writer_string(g.w, "live_device_bytes");
	for (int i = 0; i < 4; i++) {
		struct gt_row sample = { .start = 100 + 100 * i,
			.end = 100 + 100 * i,
			.type = gt_writer_type(g.w, &type),
			.nargs = 2 };

		gt_writer_row(
			g.w, GT_COUNTER, g.device[0], &sample, (uint64_t[]){ 7, i > 0 }, &g.err);
	}
	j = report(gpus_end(&g), (const char *[]){ "counters", NULL }, &plain);
	CHECK(num(row(j, "counters", 0), "samples") == 4 &&
		num(row(j, "counters", 0), "uncertain_ns") == 100);
	json_decref(j);
}

static void counters_over_time(void)
{
	struct gpus g;
	const json_t *c;
	json_t *j;

	gpus_begin(&g, NULL);
	gpus_plain(&g, 0, g.stream[0][0], 1000, 2000);
	gpus_sample(&g, g.device[0], 1100, 100);
	gpus_sample(&g, g.device[0], 1110, 400);
	gpus_sample(&g, g.device[0], 1500, -20);
	gpus_sample(&g, g.device[1], 2000, 7);
	j = report(gpus_end(&g), (const char *[]){ "counters", NULL }, &plain);
	c = row(j, "counters", 0);
	CHECK(rows(j, "counters") == 2 && is(c, "counter", "power") && is(c, "track", "H200") &&
		num(c, "device") == 0 && num(c, "samples") == 3);
	CHECK(num(c, "min") == -20 && num(c, "max") == 400 && num(c, "last") == -20 &&
		num(c, "first_ns") == 100);
	CHECK(fabs(num(c, "mean") - (100.0 * 10 + 400.0 * 390 - 20.0 * 500) / 900) < 1e-9);
	c = row(j, "counters", 1);
	CHECK(is(c, "track", "device 1") && num(c, "mean") == 7 && num(c, "samples") == 1);
	json_decref(j);
}

/* Reasons for slow clocks are bits: some set all the time, some at some time; their mean has no
 * meaning. */
static void bits_are_no_numbers(void)
{
	struct gt_row row_ = { .nargs = 1 };
	struct gt_field value;
	struct gt_type type;
	struct gpus g;
	const json_t *c;
	json_t *j;

	gpus_begin(&g, NULL);
	value = (struct gt_field){ gt_writer_string(g.w, "value"), GT_F_HEX, GT_R_VALUE };
	type = (struct gt_type){ .name = gt_writer_string(g.w, "reasons"),
		.layer = GT_LAYER_GPU,
		.fields = &value,
		.nfields = 1 };
	row_.type = gt_writer_type(g.w, &type);
	for (unsigned i = 0; i < 3; i++) {
		row_.start = row_.end = 1000 + 10 * i;
		gt_writer_row(g.w, GT_COUNTER, g.device[0], &row_,
			&(uint64_t){ (uint64_t[]){ 0x24, 0x41, 0x60 }[i] | 0x100 }, &g.err);
	}
	j = report(gpus_end(&g), (const char *[]){ "counters", NULL }, &plain);
	c = row(j, "counters", 0);
	CHECK(num(c, "min") == 0x100 && num(c, "max") == 0x165 && num(c, "last") == 0x160 &&
		absent(c, "mean"));
	json_decref(j);
}

/* GPU work without records: no report may look complete. */
static void missing_data_are_reported(void)
{
	struct gpus g;
	char *text;
	json_t *j;

	gpus_begin(&g,
		"{\"tool\":\"gtcollect\",\"events\":\"api,gpu\",\"gpu_source\":\"CUPTI, /x, API version 130001\",\"gpu_records_dropped\":3,"
		"\"gpu_records_lost\":0,\"gpu_records_impossible\":0,\"gpu_launches_without_record\":2}");
	gpus_plain(&g, 0, g.stream[0][0], 1000, 2000);
	text = report_text(
		gpus_end(&g), (const char *[]){ "header", "kernels", NULL }, &plain, 1, GT_TEXT);
	CHECK(text &&
		strstr(text, "GPU: CUPTI dropped 3 records: GPU figures do not include them") &&
		!strstr(text, "no losses"));
	CHECK(strstr(text, "GPU: 2 launches, copies or sets have no GPU record") &&
		!strstr(text, "invalid times"));
	free(text);
	gpus_begin(&g,
		"{\"tool\":\"gtcollect\",\"events\":\"api,gpu\",\"gpu_source\":\"CUDA events (as asked for)\",\"gpu_untimed\":7,"
		"\"gpu_processes_by_events\":1}");
	gpus_plain(&g, 0, g.stream[0][0], 1000, 2000);
	text = report_text(
		gpus_end(&g), (const char *[]){ "header", "kernels", NULL }, &plain, 1, GT_TEXT);
	CHECK(text && strstr(text, "GPU: in 1 of the processes times come from CUDA events") &&
		!strstr(text, "not recorded"));
	CHECK(strstr(text, "GPU: 7 launches, copies and sets have no time") &&
		!strstr(text, "no losses"));
	free(text);
	gpus_begin(&g,
		"{\"tool\":\"gtcollect\",\"events\":\"api,gpu\",\"gpu_source\":\"cuptiX failed: error 999\"}");
	j = report(gpus_end(&g), (const char *[]){ "header", "gpu", NULL }, &plain);
	CHECK(noted(j, "header", "GPU: not recorded: cuptiX failed: error 999") &&
		noted(j, "gpu", "not recorded"));
	CHECK(!strstr(json_string_value(json_object_get(row(j, "header", 0), "layers")), "gpu"));
	json_decref(j);
}

static void whole_numbers_stay_exact(void)
{
	struct gt_field value;
	struct gt_type type;
	struct gt_row row_ = { .nargs = 1 };
	struct gt_reader *r;
	struct gpus g;
	char *text;
	json_t *j;

	gpus_begin(&g, NULL);
	value = (struct gt_field){ gt_writer_string(g.w, "value"), GT_F_I64, GT_R_VALUE };
	type = (struct gt_type){
		.name = gt_writer_string(g.w, "balance"), .fields = &value, .nfields = 1
	};
	row_.type = gt_writer_type(g.w, &type);
	for (int i = 0; i < 3; i++) {
		row_.start = row_.end = 1000 + 10 * i;
		gt_writer_row(g.w, GT_COUNTER, g.process, &row_,
			&(uint64_t){ (uint64_t)(int64_t)(100000000000001 * (i - 1)) }, &g.err);
	}
	r = gpus_end(&g);
	text = report_text(gt_reader_open_fd(dup(g.fd), &g.err),
		(const char *[]){ "counters", NULL }, &plain, 1, GT_TEXT);
	CHECK(text && strstr(text, "-100000000000001  "));
	free(text);
	j = report(r, (const char *[]){ "counters", NULL }, &plain);
	CHECK(num(row(j, "counters", 0), "min") == -100000000000001.0 &&
		num(row(j, "counters", 0), "max") == 100000000000001.0);
	CHECK(num(row(j, "counters", 0), "mean") == -50000000000000.5);
	json_decref(j);
}

static void not_recorded_is_not_0(void)
{
	static const char *const names[] = { "kernels", "copies", "streams", "counters", "gpu" };
	struct gt_analysis_options unasked = plain;
	struct trace t;
	json_t *j;

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		known(&t, true);
		j = report(end(&t), (const char *[]){ names[i], NULL }, &plain);
		CHECK(j && rows(j, names[i]) == 0 && noted(j, names[i], "not recorded"));
		json_decref(j);
	}
	known(&t, true);
	unasked.in_default_report = true;
	j = report(end(&t), (const char *[]){ "header", "gpu", NULL }, &unasked);
	CHECK(j && !json_object_get(j, "gpu") && !json_object_get(j, "gpu_kernels") &&
		rows(j, "header") == 1);
	json_decref(j);
}

/* The recorder searched and found nothing, which is an answer. */
static void nothing_ran(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	j = report(gpus_end(&g), (const char *[]){ "kernels", NULL }, &plain);
	CHECK(rows(j, "kernels") == 0 && !noted(j, "kernels", "not recorded"));
	json_decref(j);
}

static void the_overview_has_ten(void)
{
	struct gpus g;
	const json_t *d;
	char name[32];
	json_t *j;

	gpus_begin(&g, NULL);
	for (int i = 0; i < 13; i++) {
		snprintf(name, sizeof(name), "kernel%d", i);
		g.kernel[0] = gt_writer_string(g.w, name);
		gpus_plain(&g, 0, g.stream[0][0], 1000 * i, 1000 * i + 10 * (i + 1));
	}
	j = report(gpus_end(&g), (const char *[]){ "gpu", NULL }, &plain);
	d = row(j, "gpu", 0);
	CHECK(rows(j, "gpu") == 1 && num(d, "kernels") == 13 && num(d, "busy_ns") == 910 &&
		num(d, "busy_percent") == 7.5);
	CHECK(rows(j, "gpu_kernels") == 10 && is(row(j, "gpu_kernels", 0), "kernel", "kernel12"));
	CHECK(num(row(j, "gpu_kernels", 0), "busy_percent") == 14.29 &&
		noted(j, "gpu_kernels", "3 more: gtanalyze kernels"));
	json_decref(j);
}

/* Two recordings of two machines in one file: equal names are the same name, equal device
 * numbers are different devices. */
static void recordings_add_up(void)
{
	int both = memfd_create("both", 0);
	struct gt_err err = GT_ERR_INIT;
	json_t *j;

	for (int i = 0; i < 2; i++) {
		struct gpus g;

		known_work(&g);
		gpus_sample(&g, g.device[0], 1000, 50 + i);
		CHECK(gpus_end_into(&g, both));
	}
	j = report(gt_reader_open_fd(both, &err),
		(const char *[]){ "kernels", "streams", "copies", "counters", "gpu", NULL },
		&plain);
	CHECK(rows(j, "kernels") == 2 && num(row(j, "kernels", 0), "count") == 4 &&
		num(row(j, "kernels", 0), "busy_ns") == 600);
	CHECK(num(row(j, "kernels", 0), "busy_percent") == 71.43 &&
		num(row(j, "copies", 0), "count") == 2);
	CHECK(rows(j, "streams") == 10 && num(row(j, "streams", 5), "recording") == 1 &&
		num(row(j, "streams", 5), "busy_ns") == 410);
	CHECK(rows(j, "counters") == 2 && num(row(j, "counters", 1), "recording") == 1 &&
		num(row(j, "counters", 1), "mean") == 51);
	CHECK(rows(j, "gpu") == 4 && num(row(j, "gpu", 3), "recording") == 1);
	json_decref(j);
}

/* ---- beside brute force ---- */

#define END 4000
#define ROWS 400
struct one {
	int kernel, device, stream;
	int64_t start, end;
};

static int64_t covered(const struct one *list, int n, int kernel, int device, int stream)
{
	static char cell[END];
	int64_t ns = 0;

	memset(cell, 0, sizeof(cell));
	for (int i = 0; i < n; i++)
		if ((kernel < 0 || list[i].kernel == kernel) && list[i].device == device &&
			(stream < 0 || list[i].stream == stream))
			memset(cell + list[i].start, 1, (size_t)(list[i].end - list[i].start));
	for (int i = 0; i < END; i++)
		ns += cell[i];
	return ns;
}

/* Rows of all streams, several epochs, in any order within each epoch; the last operation of a
 * stream may be later than the first one of a later epoch. */
static int random_work(struct gpus *g, struct one *list, unsigned seed)
{
	int n = 0;

	srand(seed);
	gpus_begin(g, NULL);
	for (int epoch = 0; epoch < 4; epoch++) {
		for (int i = 0; i < ROWS / 4; i++) {
			struct one *o = &list[n++];

			*o = (struct one){ rand() % 2, rand() % 2, rand() % 2,
				epoch * 900 + rand() % 1000, 0 };
			o->end = o->start + rand() % (seed % 2 ? 12 : 90);
			gpus_plain(g, o->kernel, g->stream[o->device][o->stream], o->start, o->end);
		}
		gt_writer_epoch(g->w, (epoch + 1) * 1000, &g->err);
	}
	return n;
}

static bool agree(const json_t *j, const struct one *list, int n)
{
	int64_t busy = covered(list, n, -1, 0, -1) + covered(list, n, -1, 1, -1);
	bool ok = rows(j, "streams") == 6 && rows(j, "kernels") == 2;
	int64_t from = END, to = 0;

	for (int i = 0; i < n; i++) {
		from = list[i].start < from ? list[i].start : from;
		to = list[i].end > to ? list[i].end : to;
	}
	for (int d = 0; d < 2; d++) {
		ok &= num(row(j, "streams", (size_t)d * 3), "busy_ns") ==
			(double)covered(list, n, -1, d, -1);
		ok &= fabs(num(row(j, "streams", (size_t)d * 3), "busy_percent") -
			      100.0 * (double)covered(list, n, -1, d, -1) / (double)(to - from)) <
			0.006;
		for (int s = 0; s < 2; s++)
			ok &= num(row(j, "streams", (size_t)(d * 3 + 1 + s)), "busy_ns") ==
				(double)covered(list, n, -1, d, s);
	}
	for (int k = 0; k < 2; k++) {
		const json_t *r = row_named(j, "kernels", "kernel", k ? "mul" : "add");
		int64_t mine = covered(list, n, k, 0, -1) + covered(list, n, k, 1, -1), total = 0,
			squares = 0, count = 0;
		double var;

		for (int i = 0; i < n; i++)
			if (list[i].kernel == k) {
				int64_t dur = list[i].end - list[i].start;

				count++, total += dur, squares += dur * dur;
			}
		var = ((double)squares - (double)total * (double)total / (double)count) /
			(double)(count - 1);
		ok &= num(r, "busy_ns") == (double)mine && num(r, "count") == (double)count &&
			num(r, "total_ns") == (double)total;
		ok &= fabs(num(r, "busy_percent") - 100.0 * (double)mine / (double)busy) < 0.006;
		ok &= fabs(num(r, "stddev_ns") - sqrt(var)) <= 0.51;
	}
	return ok;
}

static void unions_equal_brute_force(void)
{
	static struct one list[ROWS];

	for (unsigned seed = 1; seed <= 40; seed++) {
		struct gpus g;
		int n = random_work(&g, list, seed);
		json_t *j = report(
			gpus_end(&g), (const char *[]){ "kernels", "streams", NULL }, &plain);

		CHECK(agree(j, list, n) && !noted(j, "streams", "too late"));
		json_decref(j);
	}
}

/* A whole program's kernels, copies, sets and calls are all counted. */
static void a_random_program_is_all_there(void)
{
	static struct rp p;

	for (unsigned seed = 1; seed <= 20; seed++) {
		json_t *j = report(rp_make(&p, seed),
			(const char *[]){ "header", "gpu", "top", "open", NULL }, &plain);
		int kernels = 0, sync = 0, open = 0;

		for (int i = 0; i < p.nops; i++)
			kernels += p.ops[i].what == RP_LAUNCH;
		for (int i = 0; i < p.ncalls; i++)
			sync += p.calls[i].what == RP_SYNC && !p.calls[i].open,
				open += p.calls[i].open;
		CHECK(num(row(j, "gpu", 0), "kernels") +
					(rows(j, "gpu") > 1 ? num(row(j, "gpu", 1), "kernels")
							    : 0) ==
				kernels &&
			kernels);
		CHECK(num(row_named(j, "top", "operation", "cuStreamSynchronize"), "count") ==
				sync &&
			rows(j, "open") == (size_t)open);
		json_decref(j);
	}
}

/* Figures do not depend on the number of decoding threads. */
static void threads_agree(void)
{
	static const char *const names[] = { "gpu", "kernels", "copies", "streams", "counters",
		"top", NULL };
	static struct one list[ROWS];
	char *text[2];

	for (int i = 0; i < 2; i++) {
		struct gpus g;

		random_work(&g, list, 3);
		text[i] = report_text(gpus_end(&g), names, &plain, i ? 3 : 1, GT_JSON);
	}
	CHECK(text[0] && text[1] && !strcmp(text[0], text[1]));
	free(text[0]);
	free(text[1]);
}

T_MAIN(T(kernels_by_name), T(launches_that_cannot_be), T(operations_have_short_names),
	T(shares_are_of_what_can_be_added), T(bits_are_no_numbers), T(missing_data_are_reported),
	T(overlaps_count_once), T(quantiles_lie_between), T(copies_by_kind),
	T(streams_and_their_devices), T(a_range_cuts_busy_time), T(counters_that_are_not_certain),
	T(counters_over_time), T(whole_numbers_stay_exact), T(not_recorded_is_not_0),
	T(nothing_ran), T(the_overview_has_ten), T(recordings_add_up), T(unions_equal_brute_force),
	T(a_random_program_is_all_there), T(threads_agree))
