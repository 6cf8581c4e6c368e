/* --names changes the names of kernels and nothing else: no form merges rows, and the names for
 * programs stay the same. */
#define _GNU_SOURCE
#include "formats/names/name_patterns.h"
#include "analyze/core/run.h"
#include "tests/unit/gpus.h"
#include "tests/unit/reports.h"

#define ADD "_ZN2at6native3addILi4EfEEvPf"
#define ADD_FULL "void at::native::add<4, float>(float*)"
#define MUL "_ZN2at6native3mulEPf"
static const char *const names[] = { ADD, "_ZN3cub3addILi4EfEEvPf", MUL, "_ZN1aC1Ev", "_ZN1aC2Ev",
	"gemm" };
#define NNAMES 6
static const char *const in_form[][NNAMES] = {
	[GT_NAME_SHORT] = { "add<4, float>", "cub::add<4, float>", "mul", "a", "a::a", "gemm" },
	[GT_NAME_FULL] = { ADD_FULL, "void cub::add<4, float>(float*)", "at::native::mul(float*)",
		"a::a()", "a::a()#2", "gemm" },
	[GT_NAME_MANGLED] = { ADD, "_ZN3cub3addILi4EfEEvPf", MUL, "_ZN1aC1Ev", "_ZN1aC2Ev",
		"gemm" },
};

/* Kernel i runs once for 100 * (9 - i) ns, so that it is the i-th in every list by time, and is
 * waited for; all by one thread. */
static struct gt_reader *program(void)
{
	struct gpus g;

	gpus_begin(&g, "{}");
	for (int i = 0; i < NNAMES; i++) {
		struct gt_gpu_work w =
			gpus_work(g.stream[0][0], 2000 * i + 1000, 2000 * i + 1000 + 100 * (9 - i));

		gpus_launched(&g, &w, 0, 2000 * i + 900, 50, GT_JOIN_CORRELATION);
		gt_gpu_put_kernel(&g.types, &w,
			&(struct gt_gpu_kernel){ .name = gt_writer_string(g.w, names[i]),
				.grid = { 1, 1, 1 },
				.block = { 32, 1, 1 } },
			&g.err);
	}
	return gpus_end(&g);
}

static struct gt_analysis_options in(enum gt_name_form form)
{
	struct gt_analysis_options o = plain;

	o.names = form;
	return o;
}

/* Every row under its own name, with its own figures. */
static void each_row_stays_one(void)
{
	static const struct {
		const char *report, *table, *shown, *total;
	} of[] = {
		{ "kernels", "kernels", "kernel", "total_ns" },
		{ "top", "top", "operation", "total_ns" },
		{ "budget", "exposed", "operation", "total_ns" },
		{ "query", "query", "name", "sum_dur_ns" },
		{ "gpu", "gpu_kernels", "kernel", "total_ns" },
		{ "launches", "launch_times", "launched", "gpu_ns" },
	};

	for (enum gt_name_form form = GT_NAME_SHORT; form <= GT_NAME_MANGLED; form++)
		for (unsigned i = 0; i < sizeof(of) / sizeof(*of); i++) {
			struct gt_analysis_options o = in(form);
			json_t *j = report(program(), (const char *[]){ of[i].report, NULL }, &o);

			for (int k = 0; k < NNAMES; k++) {
				const json_t *r =
					row_named(j, of[i].table, of[i].shown, in_form[form][k]);

				CHECK(r && num(r, of[i].total) == 100 * (9 - k));
				/* kernels: for programs as recorded */
				CHECK(i || is(r, "name", names[k]));
			}
			json_decref(j);
		}
}

/* Nsight's reports have a short and a full name for programs: demangled, or mangled with --names
 * mangled. Text has the form that the user selected. */
static void nsight_keeps_both(void)
{
	for (enum gt_name_form form = GT_NAME_SHORT; form <= GT_NAME_MANGLED; form++) {
		struct gt_analysis_options o = in(form);
		const char *const reports[] = { "cuda_gpu_kern_sum", "cuda_gpu_trace",
			"cuda_kern_exec_sum", "cuda_gpu_sum", NULL };
		json_t *j = report(program(), reports, &o);
		const json_t *r = row(j, "cuda_gpu_trace", 0);
		const char *whole = form == GT_NAME_MANGLED ? ADD : ADD_FULL;
		char *text = report_text(program(), reports, &o, 1, GT_TEXT), *at = text;
		unsigned times = 0;

		CHECK(is(r, "short_name", "add<4, float>") && is(r, "name", whole));
		r = row(j, "cuda_gpu_kern_sum", 0);
		CHECK(is(r, "short_name", "add<4, float>") && is(r, "name", whole));
		r = row_named(j, "cuda_kern_exec_sum", "short_kernel_name", "add<4, float>");
		CHECK(r && is(r, "kernel_name", whole) && rows(j, "cuda_gpu_kern_sum") == NNAMES);
		/* not the end of another one's name */
		while ((at = strstr(at, in_form[form][0])))
			times += at[-1] == ' ', at++;
		CHECK(times == 4 && (form == GT_NAME_SHORT) == !!strstr(text, " add<4, float>"));
		free(text);
		json_decref(j);
	}
}

/* In --where and --by, `name` is the displayed name. */
static void queries_ask_for_what_is_shown(void)
{
	static const char *const where[] = { "name=='add<4, float>'", "name=='" ADD_FULL "'",
		"name==" ADD };

	for (enum gt_name_form form = GT_NAME_SHORT; form <= GT_NAME_MANGLED; form++) {
		const struct gt_analysis *one[] = { gt_analysis_find("query") };
		struct gt_table *tables[GT_RUN_TABLES];
		struct gt_analysis_options o = in(form);
		struct gt_err err = GT_ERR_INIT;
		const char *option, *wrong;
		struct gt_query *q =
			gt_query_new(where[form], "mangled", NULL, NULL, &option, &wrong, &err);
		struct gt_reader *r = program();

		o.report_options =
			(const struct gt_report_option[]){ { "query", q }, { NULL, NULL } };
		CHECK(q && gt_run(r, one, 1, &o, 1, tables, &err) == 1 &&
			gt_table_rows(tables[0]) == 1);
		CHECK(!strcmp(gt_table_cell(tables[0], 0, 0)->s, ADD));
		gt_table_free(tables[0]);
		gt_query_free(q);
		gt_reader_close(r);
	}
}

/* One name of 60,000 bytes does not widen every row of a text. */
static void a_long_name_widens_its_row_only(void)
{
	struct gt_analysis_options o = in(GT_NAME_FULL);
	char *name = calloc(1, 60001), *text;
	struct gpus g;

	memset(name, 'k', 60000);
	gpus_begin(&g, "{}");
	g.kernel[1] = gt_writer_string(g.w, name);
	gpus_plain(&g, 0, g.stream[0][0], 100, 200);
	gpus_plain(&g, 1, g.stream[0][0], 300, 500);
	text = report_text(gpus_end(&g), (const char *[]){ "kernels", NULL }, &o, 1, GT_TEXT);
	CHECK(text && strstr(text, name) && strstr(text, "add(float*)") && strlen(text) < 70000);
	free(text);
	free(name);
}

/* --match and --exclude, each with one glob or NULL, or two. NULL: no rows. */
static json_t *kernels_selected(const char *const match[2], const char *const exclude[2])
{
	const struct gt_opt_list globs = { .items = (const char **)match,
		.n = (size_t) !!match[0] + !!match[1] };
	const struct gt_opt_list left_out = { .items = (const char **)exclude,
		.n = (size_t) !!exclude[0] + !!exclude[1] };
	struct gt_analysis_options o = plain;
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r = program();
	struct gt_name_patterns m;
	json_t *j = NULL;

	if (!gt_name_patterns_init(&m, &globs, &left_out, r, &err)) {
		gt_name_patterns_set(&m, &o.filter);
		j = report(r, (const char *[]){ "kernels", NULL }, &o);
	}
	gt_name_patterns_release(&m);
	return j;
}

static json_t *kernels_matching(const char *glob, const char *other)
{
	return kernels_selected((const char *[]){ glob, other }, (const char *[]){ NULL, NULL });
}

static json_t *kernels_without(const char *match, const char *glob, const char *other)
{
	return kernels_selected((const char *[]){ match, NULL }, (const char *[]){ glob, other });
}

/* A name that is copied from a table matches its own rows, although others have the same short
 * form; a pattern matches all rows with that form. */
static void what_is_printed_is_what_matches(void)
{
	json_t *j;

	for (enum gt_name_form form = GT_NAME_SHORT; form <= GT_NAME_MANGLED; form++)
		for (int i = 0; i < NNAMES; i++) {
			j = kernels_matching(in_form[form][i], NULL);
			CHECK(rows(j, "kernels") == 1 &&
				is(row(j, "kernels", 0), "name", names[i]));
			json_decref(j);
		}
	j = kernels_matching("add<4, fl*", NULL);
	CHECK_EQ(rows(j, "kernels"), 2);
	json_decref(j);
	j = kernels_matching("cub::add<4, float>", "mu?");
	CHECK(rows(j, "kernels") == 2 && is(row(j, "kernels", 0), "name", names[1]) &&
		is(row(j, "kernels", 1), "name", names[2]));
	json_decref(j);
	j = kernels_matching("@kernel", "cub::add<4, float>");
	CHECK_EQ(rows(j, "kernels"), NNAMES);
	json_decref(j);
}

static void what_is_excluded_is_left_out(void)
{
	json_t *j;

	for (enum gt_name_form form = GT_NAME_SHORT; form <= GT_NAME_MANGLED; form++)
		for (int i = 0; i < NNAMES; i++) {
			j = kernels_without(NULL, in_form[form][i], NULL);
			CHECK_EQ(rows(j, "kernels"), NNAMES - 1);
			for (size_t k = 0; k < rows(j, "kernels"); k++)
				CHECK(!is(row(j, "kernels", k), "name", names[i]));
			json_decref(j);
		}
	j = kernels_without("@kernel", "add<4, fl*", NULL); /* both: excluded */
	CHECK_EQ(rows(j, "kernels"), NNAMES - 2);
	json_decref(j);
	j = kernels_without(NULL, "cub::add<4, float>", "mu?");
	CHECK_EQ(rows(j, "kernels"), NNAMES - 2);
	json_decref(j);
	j = kernels_without(NULL, "@kernel", NULL);
	CHECK_EQ(rows(j, "kernels"), 0);
	json_decref(j);
}

T_MAIN(T(what_is_excluded_is_left_out), T(each_row_stays_one), T(nsight_keeps_both),
	T(queries_ask_for_what_is_shown), T(what_is_printed_is_what_matches),
	T(a_long_name_widens_its_row_only))
