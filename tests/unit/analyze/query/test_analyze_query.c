/* Queries over traces with known figures, and the errors of invalid queries. */
#define _GNU_SOURCE
#include <math.h>
#include "analyze/query/query.h"
#include "tests/unit/gpus.h"
#include "tests/unit/analyze/query/queries.h"

/* ---- errors are reported at their place ---- */

static const struct bad {
	const char *where, *by, *agg, *order;
	uint64_t column;
	const char *says;
} bads[] = {
	{ "knid==kernel", NULL, NULL, NULL, 0, "there is no field 'knid'; did you mean 'kind'?" },
	{ "dur>1ms && nmae==x", NULL, NULL, NULL, 11, "did you mean 'name'?" },
	{ "zzz==1", NULL, NULL, NULL, 0, "the fields are" },
	{ "kind==kernle", NULL, NULL, NULL, 6, "did you mean 'kernel'?" },
	{ "layer==x", NULL, NULL, NULL, 7,
		"choose one of api ioctl scheduler gpu user runtime overhead" },
	{ "dur>5", NULL, NULL, NULL, 5, "needs a unit" },
	{ "dur>5KiB", NULL, NULL, NULL, 5, "'KiB' is not a unit of time" },
	{ "bytes>5ms", NULL, NULL, NULL, 7, "not a unit of size" },
	{ "registers>5k", NULL, NULL, NULL, 11, "takes no unit, but 'k' follows" },
	{ "dur>x", NULL, NULL, NULL, 4, "expected a number, such as 1.5ms" },
	{ "dur>nan", NULL, NULL, NULL, 4, "expected a number" },
	{ "dur~/x/", NULL, NULL, NULL, 3, "dur is a number" },
	{ "name<x", NULL, NULL, NULL, 4, "name is a text" },
	{ "failed>1", NULL, NULL, NULL, 6, "is used alone" },
	{ "failed==maybe", NULL, NULL, NULL, 8, "yes or no" },
	{ "dur=1ms", NULL, NULL, NULL, 3, "did you mean '=='?" },
	{ "failed & failed", NULL, NULL, NULL, 7, "did you mean '&&'?" },
	{ "failed | failed", NULL, NULL, NULL, 7, "did you mean '||'?" },
	{ "failed failed", NULL, NULL, NULL, 7, "expected && or ||" },
	{ "(failed", NULL, NULL, NULL, 0, "this ( has no closing )" },
	{ "(failed x)", NULL, NULL, NULL, 8, "&& or || or )" },
	{ "failed)", NULL, NULL, NULL, 6, "this ) has no opening (" },
	{ "failed &&", NULL, NULL, NULL, 9, "is incomplete" },
	{ "", NULL, NULL, NULL, 0, "is incomplete" },
	{ "name==\"x", NULL, NULL, NULL, 6, "closing \" is missing" },
	{ "arg.\"x", NULL, NULL, NULL, 4, "closing \" is missing" },
	{ "failed && arg.''==1", NULL, NULL, NULL, 10, "there is no field 'arg.'" },
	{ "name~/x", NULL, NULL, NULL, 5, "closing / is missing" },
	{ "name~/(/", NULL, NULL, NULL, 5, "invalid regular expression" },
	{ "name~/a++++++++++++++++++++++++++++++++++++++++++++/", NULL, NULL, NULL, 5,
		"repeats too much" },
	{ "name~/((a{100}){100})/", NULL, NULL, NULL, 5, "repeats too much" },
	{ "name~/(a)\\1/", NULL, NULL, NULL, 5, "back references" },
	{ "name==/x/", NULL, NULL, NULL, 6, "goes with ~" },
	{ "name==", NULL, NULL, NULL, 6, "expected a text" },
	{ NULL, "name,dur", NULL, NULL, 5, "too many values" },
	{ NULL, "name,,pid", NULL, NULL, 5, "expected a field" },
	{ NULL, "", NULL, NULL, 0, "expected a field" },
	{ NULL, "name, name", NULL, NULL, 6, "occurs twice" },
	{ NULL, NULL, "count,sum(dru)", NULL, 10, "did you mean 'dur'?" },
	{ NULL, NULL, "cuont", NULL, 0, "did you mean 'count'?" },
	{ NULL, NULL, "p101(dur)", NULL, 0, "use count" },
	{ NULL, NULL, "sum", NULL, 3, "sum takes a field" },
	{ NULL, NULL, "sum(dur", NULL, 7, "expected )" },
	{ NULL, NULL, "count(dur)", NULL, 5, "takes no field" },
	{ NULL, NULL, "sum(start)", NULL, 4, "not a quantity" },
	{ NULL, NULL, "p50(value)", NULL, 4, "quantiles are of" },
	{ NULL, NULL, "union(bytes)", NULL, 6, "union takes dur only" },
	{ NULL, NULL, "count,count", NULL, 6, "occurs twice" },
	{ NULL, NULL, "distinct", NULL, 8, "distinct takes a field" },
	{ NULL, NULL, "distinct(nmae)", NULL, 9, "did you mean 'name'?" },
	{ NULL, NULL, "distnct(name)", NULL, 0, "did you mean 'distinct'?" },
	{ NULL, NULL, "count", "sum(dur)", 0, "one of the aggregates" },
	{ NULL, NULL, "count", "count,count", 6, "by one aggregate" },
};

static void errors_have_a_place(void)
{
	for (size_t i = 0; i < sizeof(bads) / sizeof(*bads); i++) {
		const struct bad *b = &bads[i];
		const char *option, *wrong;
		struct gt_err err = GT_ERR_INIT;
		struct gt_query *q =
			gt_query_new(b->where, b->by, b->agg, b->order, &option, &wrong, &err);

		if (q || err.code != -EINVAL || err.offset != b->column ||
			!strstr(err.text, b->says))
			printf("# %s %s %s: %s at %llu\n", b->where ? b->where : "",
				b->by ? b->by : "", b->agg ? b->agg : "", err.text,
				(unsigned long long)err.offset);
		CHECK(!q && err.code == -EINVAL && err.offset == b->column &&
			strstr(err.text, b->says));
		CHECK(wrong ==
			(b->where                  ? b->where
					: b->by    ? b->by
					: b->order ? b->order
						   : b->agg));
	}
}

static void sizes_are_bounded(void)
{
	struct gt_err err = GT_ERR_INIT;
	const char *option, *wrong;
	char deep[200] = "", wide[20000] = "failed";

	memset(deep, '(', 100);
	strcpy(deep + 100, "failed");
	CHECK(!gt_query_new(deep, NULL, NULL, NULL, &option, &wrong, &err) &&
		strstr(err.text, "nested more than"));
	for (int i = 0; i < 200; i++)
		strcat(wide, " || failed");
	err = (struct gt_err)GT_ERR_INIT;
	CHECK(!gt_query_new(wide, NULL, NULL, NULL, &option, &wrong, &err) &&
		strstr(err.text, "more than 128 conditions"));
	err = (struct gt_err)GT_ERR_INIT;
	strcpy(wide, "arg.x");
	for (int i = 0; i < 33; i++)
		sprintf(wide + strlen(wide), "&&arg.x%d", i);
	CHECK(!gt_query_new(wide, NULL, NULL, NULL, &option, &wrong, &err) &&
		strstr(err.text, "more than 32 different fields"));
}

/* ---- known figures ---- */

static const struct {
	const char *where;
	int rows;
} known_rows[] = {
	{ "kind==call", 12 },
	{ "kind==ioctl", 1 },
	{ "kind==open", 1 },
	{ "kind != call", 2 },
	{ "kind~/^(call|open)$/", 13 },
	{ "kind~io*", 1 },
	{ "name==cuLaunchKernel", 4 },
	{ "name==\"cuLaunchKernel\"", 4 },
	{ "name~cuMem*", 6 },
	{ "name~/Mem|Ctx/", 7 },
	{ "name!~cuMem* && kind==call", 6 },
	{ "category==memory", 5 },
	{ "category==memory && !(name~/Free/)", 3 },
	{ "layer==ioctl", 1 },
	{ "LAYER==ioctl", -1 },
	{ "layer==IOCTL", 1 },
	{ "dur==100ns", 4 },
	{ "dur >= 0.1us", 8 },
	{ "dur>0.1us", 4 },
	{ "dur<0.1us", 6 },
	{ "dur<=100ns", 10 },
	{ "dur!=100ns", 10 },
	{ "dur>0.0999us && dur<0.1001us", 4 },
	{ "dur>-5ns", 14 },
	{ "dur", 14 },
	{ "bytes==4KiB", 1 },
	{ "bytes>=500", 3 },
	{ "bytes==7B", 1 },
	{ "bytes==1kB", 1 },
	{ "failed", 1 },
	{ "!failed && kind==call", 11 },
	{ "failed==no", 12 },
	{ "ret==2", 1 },
	{ "ret!=0", 1 },
	{ "tid==100", 9 },
	{ "tid!=100", 5 },
	{ "thread==main", 9 },
	{ "process~tr?in && pid==100", 14 },
	{ "depth==1", 1 },
	{ "depth>0", 1 },
	{ "start<1us", 1 },
	{ "start==0", 1 },
	{ "end==100ns", 1 },
	{ "arg.one==4096", 1 },
	{ "arg.one==4KiB", 1 },
	{ "arg.one==_Z3addPf", 3 },
	{ "arg.one~*mul*", 1 },
	{ "arg.two>=0x77", 2 },
	{ "arg.\"one\"==4096", 1 },
	{ "arg.'two'>=0x77 && arg.\"no ne\"!=1", 0 },
	{ "!arg.\"no ne\" && arg.'two'>=0x77", 2 },
	{ "arg.none==1", 0 },
	{ "device==0", 0 },
	{ "direction==HtoD", 1 },
	{ "direction!=htod", 0 },
	{ "direction", 1 },
	{ "kind==call&&(failed||dur==50ns)", 2 },
	{ "kind==call && failed || dur==50ns && tid==100", 2 },
	{ "!kind==call", 2 },
	{ "recording==0", 14 },
	{ "recording==1", 0 },
	{ "kind==kernel", 0 },
	{ "name == ' x'", 0 },
	{ "name=='cu\\'x'", 0 },
};

static void known_counts(void)
{
	for (size_t i = 0; i < sizeof(known_rows) / sizeof(*known_rows); i++) {
		struct trace t;
		json_t *j;
		double n;

		known(&t, true);
		j = ask(end(&t), known_rows[i].where, NULL, "count", &plain);
		n = j && rows(j, "query") ? num(row(j, "query", 0), "count") : j ? 0 : -1;
		if (n != known_rows[i].rows)
			printf("# %s: %g\n", known_rows[i].where, n);
		CHECK(n == known_rows[i].rows);
		json_decref(j);
	}
}

static void figures_of_groups(void)
{
	struct trace t;
	const json_t *k;
	json_t *j;

	known(&t, true);
	j = ask(end(&t), "kind==call", "name",
		"count,sum(dur),mean(dur),min(dur),max(dur),stddev(dur),p50(dur),sum(bytes),sum(failed),first,last,"
		"union(dur),max(depth),mean(failed)",
		&plain);
	k = row_named(j, "query", "name", "cuMemAlloc_v2");
	CHECK(rows(j, "query") == 6 && num(k, "count") == 3 && num(k, "sum_dur_ns") == 950 &&
		num(k, "mean_dur_ns") == 316);
	CHECK(num(k, "min_dur_ns") == 100 && num(k, "max_dur_ns") == 450 &&
		num(k, "stddev_dur_ns") == 189 && num(k, "sum_bytes") == 1507);
	CHECK(fabs(num(k, "p50_dur_ns") - 400) <= 4);
	CHECK(num(k, "sum_failed") == 1 && num(k, "first_ns") == 1000 &&
		num(k, "last_ns") == 1900 && num(k, "union_dur_ns") == 850);
	CHECK(num(k, "max_depth") == 0 && fabs(num(k, "mean_failed") - 1. / 3) < 1e-9);
	/* largest sum first */
	CHECK(row(j, "query", 0) == k && is(row(j, "query", 1), "name", "cuLaunchKernel"));
	CHECK(absent(row_named(j, "query", "name", "cuLaunchKernel"), "sum_bytes"));
	CHECK(noted(j, "query", "12 rows in 6 groups, largest sum(dur) first") &&
		noted(j, "query", "8 of 12 rows have no bytes"));
	json_decref(j);
}

static void several_fields(void)
{
	struct trace t;
	const json_t *k;
	json_t *j;

	known(&t, true);
	j = ask(end(&t), NULL, "kind,tid,arg.one,bytes,failed", NULL, &plain);
	k = row_named(j, "query", "arg.one", "_Z3addPf");
	CHECK(k && is(k, "kind", "call") && absent(k, "bytes") && num(k, "failed") == 0 &&
		num(k, "count") + num(k, "tid") == 101 + 2);
	k = row_named(j, "query", "arg.one", "4096");
	CHECK(k && num(k, "bytes") == 4096 && num(k, "count") == 1 && num(k, "sum_dur_ns") == 100);
	k = row_named(j, "query", "kind", "open");
	CHECK(k && absent(k, "failed") && absent(k, "arg.one") && num(k, "count") == 1);
	json_decref(j);
}

static void absent_values_are_reported(void)
{
	struct trace t;
	json_t *j;

	known(&t, true);
	/* 4 rows have a size; the others are calls */
	j = ask(end(&t), "kind==call && bytes>1", NULL, "count", &plain);
	CHECK(num(row(j, "query", 0), "count") == 4 &&
		noted(j, "query",
			"8 rows tested with bytes>1 have no bytes: the test is false for them"));
	json_decref(j);
	known(&t, true);
	/* the GPU was not recorded */
	j = ask(end(&t), "kind==kernel", NULL, "count", &plain);
	CHECK(rows(j, "query") == 0 && noted(j, "query", "not recorded"));
	json_decref(j);
	known(&t, true);
	j = ask(end(&t), "name==nothing", NULL, "count,sum(dur)", &plain);
	CHECK(num(row(j, "query", 0), "count") == 0 && absent(row(j, "query", 0), "sum_dur_ns"));
	json_decref(j);
}

static void work_of_a_gpu(void)
{
	struct gt_gpu_work w;
	struct gpus g;
	json_t *j;

	gpus_begin(&g, NULL);
	w = gpus_work(g.stream[1][0], 1000, 1100);
	gpus_launched(&g, &w, 1, 900, 20, GT_JOIN_CORRELATION);
	gpus_kernel(&g, 0, &w);
	w = gpus_work(g.stream[0][1], 1400, 1500);
	gpus_copy(&g, &w, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, GT_GPU_MEM_DEVICE, 5000);
	gpus_sample(&g, g.device[0], 1100, 70.5);
	gpus_sample(&g, g.device[0], 1200, 72);
	j = ask(gpus_end(&g),
		"kind==kernel && grid==16 && block==256 && registers==32 && shared==1048 && queue==80ns && launch==cuLaunchKernel && "
		"launch_dur==20ns && launch_tid==101 && device==1 && stream==7 && context==1 && correlation==5 && mangled==_Z3addPf && "
		"fullname==\"add(float*)\" && name==add && arg.grid_y==2 || kind==copy && src==pageable && dst==device && direction==HtoD && "
		"bytes==5000 && arg.async==1 && device==0 && !launch || value>71 && kind==counter",
		"kind", "count,mean(queue),max(value),sum(bytes),sum(arg.grid_x)", &plain);
	CHECK(rows(j, "query") == 3 && num(row_named(j, "query", "kind", "kernel"), "count") == 1);
	CHECK_EQ(num(row_named(j, "query", "kind", "kernel"), "mean_queue_ns"), 80);
	CHECK_EQ(num(row_named(j, "query", "kind", "kernel"), "sum_arg.grid_x"), 8);
	CHECK_EQ(num(row_named(j, "query", "kind", "copy"), "sum_bytes"), 5000);
	CHECK_EQ(num(row_named(j, "query", "kind", "counter"), "max_value"), 72);
	json_decref(j);
}

/* 0.000125 ms is not exactly 125 ns in binary, but counts as 125 ns. Bounds that are not whole
 * numbers include or exclude correctly, too. */
static void bounds_are_exact(void)
{
	static const struct {
		const char *where;
		int rows;
	} all[] = {
		{ "kind==kernel && dur==0.000125ms", 1 },
		{ "kind==kernel && dur>=0.000125ms", 1 },
		{ "kind==kernel && dur<0.000125ms", 0 },
		{ "value>70.5", 1 },
		{ "value>=70.5", 2 },
		{ "value<70.5", 0 },
		{ "value<=70.5", 1 },
		{ "value<72", 1 },
		{ "value!=70.5", 1 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct gpus g;
		json_t *j;

		gpus_begin(&g, NULL);
		gpus_plain(&g, 0, g.stream[0][0], 1000, 1125);
		gpus_sample(&g, g.device[0], 1100, 70.5);
		gpus_sample(&g, g.device[0], 1200, 72);
		j = ask(gpus_end(&g), all[i].where, NULL, "count", &plain);
		CHECK(num(row(j, "query", 0), "count") == all[i].rows ||
			!printf("# %s\n", all[i].where));
		json_decref(j);
	}
}

/* No kernel has a record, because all were lost: this is not 0 kernels, unlike a recording
 * without kernels. */
static void what_was_lost_is_not_zero(void)
{
	for (int lost = 0; lost < 2; lost++) {
		struct gpus g;
		json_t *j;

		gpus_begin(&g, "{\"events\":\"api,gpu\"}");
		gpus_call(&g, 0, g.launch, 100, 110);
		if (lost)
			gt_writer_loss(g.w, GT_SCOPE_PROCESS, g.process, 100, 400, 1, &g.err);
		j = ask(gpus_end(&g), "kind==kernel", NULL, "count", &plain);
		CHECK(rows(j, "query") == (size_t)!lost &&
			noted(j, "query", "cannot answer: events were lost") == lost);
		json_decref(j);
	}
}

static void too_many_groups_are_refused(void)
{
	struct trace t;
	json_t *j;

	begin(&t, true);
	for (int i = 0; i < 100001; i++)
		call(&t, 0, COPY, 1000 + 10 * i, 1005 + 10 * i, 0, 0, (uint64_t)i, 0);
	j = ask(end(&t), NULL, "bytes", "count", &plain);
	CHECK(!rows(j, "query") &&
		noted(j, "query",
			"cannot answer: more than 100000 groups: use fewer fields in --by"));
	json_decref(j);
}

T_MAIN(T(errors_have_a_place), T(sizes_are_bounded), T(known_counts), T(figures_of_groups),
	T(several_fields), T(absent_values_are_reported), T(work_of_a_gpu), T(bounds_are_exact),
	T(what_was_lost_is_not_zero), T(too_many_groups_are_refused))
