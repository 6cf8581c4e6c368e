/* The reports with Nsight's names and columns: small traces with known figures, and random
 * traces compared with a simple count. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/random_program.h"
#include "tests/unit/analyze/calls/spread.h"

/* ---- text of a sum ---- */

/* The table has exactly these rows, each name once and the longest first; names without values
 * are left out. */
static bool sum_is(const json_t *j, const char *table, const char *name_key, const char *count_key,
	const char *unit, const struct stats *want, int n)
{
	char total[20];
	double last = 1e18, percent = 0;
	size_t rows_wanted = 0;
	bool fine = true;

	snprintf(total, sizeof(total), "total_%s", unit);
	for (int i = 0; i < n; i++) {
		const json_t *r = row_named(j, table, name_key, want[i].name);

		rows_wanted += want[i].n > 0;
		if (want[i].n)
			fine &= r && num(r, count_key) == want[i].n &&
				num(r, total) == (double)want[i].total &&
				spread_is(r, "", unit, &want[i]);
		else
			fine &= !r;
	}
	for (size_t i = 0; i < rows(j, table); i++) {
		fine &= num(row(j, table, i), total) <= last;
		last = num(row(j, table, i), total);
		percent += !strcmp(unit, "ns") ? num(row(j, table, i), "time_percent") : 0;
	}
	return fine && rows(j, table) == rows_wanted &&
		(!rows_wanted || strcmp(unit, "ns") || fabs(percent - 100) < 0.001 || percent == 0);
}

/* ---- random programs ---- */

static const char *const shorts[5] = { "add", "mul", "gemm<128>", "ncclDevKernel_AllReduce",
	"relu" };
static struct rp program;
static struct gt_analysis_options look; /* the options, in the program's own time */

static bool wanted(int64_t start, int64_t end)
{
	const struct gt_filter *f = &look.filter;

	return !f->ranged || (start < f->to && (end > f->from || start >= f->from));
}

static const char *operation(const struct rp_op *o)
{
	return o->what == RP_SET              ? "[CUDA memset]"
		: o->direction == GT_DIR_HTOD ? "[CUDA memcpy Host-to-Device]"
					      : "[CUDA memcpy Device-to-Host]";
}

/* Stats of calls by name. */
static int count_calls(struct stats *to)
{
	static struct values v[RP_WHATS];

	memset(v, 0, sizeof(v));
	for (int i = 0; i < program.ncalls; i++) {
		const struct rp_call *c = &program.calls[i];

		if (c->what != RP_IOCTL && !c->open && wanted(c->start, c->end))
			add_value(&v[c->what], c->end - c->start);
	}
	for (int i = 0; i < RP_IOCTL; i++)
		to[i] = stats_of(rp_kinds[i].name, &v[i]);
	return RP_IOCTL;
}

static int count_kernels(struct stats *to)
{
	static struct values v[5];

	memset(v, 0, sizeof(v));
	for (int i = 0; i < program.nops; i++)
		if (program.ops[i].what == RP_LAUNCH &&
			wanted(program.ops[i].start, program.ops[i].end))
			add_value(&v[program.ops[i].kernel],
				program.ops[i].end - program.ops[i].start);
	for (int i = 0; i < 5; i++)
		to[i] = stats_of(shorts[i], &v[i]);
	return 5;
}

static int count_memory(struct stats *to, bool sizes)
{
	static const char *const names[3] = { "[CUDA memcpy Host-to-Device]",
		"[CUDA memcpy Device-to-Host]", "[CUDA memset]" };
	static struct values v[3];

	memset(v, 0, sizeof(v));
	for (int i = 0; i < program.nops; i++) {
		const struct rp_op *o = &program.ops[i];

		for (int k = 0; k < 3; k++)
			if (o->what != RP_LAUNCH && !strcmp(operation(o), names[k]) &&
				wanted(o->start, o->end))
				add_value(&v[k], sizes ? (int64_t)o->bytes : o->end - o->start);
	}
	for (int k = 0; k < 3; k++)
		to[k] = stats_of(names[k], &v[k]);
	return 3;
}

static const char *const sums[] = { "cuda_api_sum", "cuda_gpu_kern_sum", "cuda_gpu_kern_gb_sum",
	"cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "cuda_gpu_sum", "cuda_api_gpu_sum",
	NULL };

static bool sums_agree(const json_t *j)
{
	struct stats all[RP_WHATS + 5 + 3], *kernels, *memory;
	int n = count_calls(all);
	bool fine = sum_is(j, "cuda_api_sum", "name", "num_calls", "ns", all, n);

	kernels = all + n;
	memory = kernels + count_kernels(kernels);
	count_memory(memory, true);
	fine &= sum_is(j, "cuda_gpu_mem_size_sum", "operation", "count", "bytes", memory, 3);
	count_memory(memory, false);
	fine &= sum_is(j, "cuda_gpu_kern_sum", "short_name", "instances", "ns", kernels, 5);
	fine &= sum_is(j, "cuda_gpu_kern_gb_sum", "short_name", "instances", "ns", kernels, 5);
	fine &= sum_is(j, "cuda_gpu_mem_time_sum", "operation", "count", "ns", memory, 3);
	fine &= sum_is(j, "cuda_gpu_sum", "short_operation", "instances", "ns", kernels, 8);
	return fine &&
		sum_is(j, "cuda_api_gpu_sum", "short_operation", "instances", "ns", all, n + 8);
}

/* One group of cuda_kern_exec_sum. */
static bool exec_agrees(const json_t *r, int thread, int device, int kernel, int *total_rows)
{
	static struct values v[4];
	static const char *const prefix[4] = { "t", "a", "q", "k" };
	bool fine = true;

	memset(v, 0, sizeof(v));
	for (int i = 0; i < program.nops; i++) {
		const struct rp_op *o = &program.ops[i];
		const struct rp_call *c = o->call < 0 ? NULL : &program.calls[o->call];

		if (!c || o->what != RP_LAUNCH || c->thread != thread || o->device != device ||
			o->kernel != kernel || !wanted(o->start, o->end))
			continue;
		add_value(&v[0], (c->end > o->end ? c->end : o->end) - c->start);
		add_value(&v[1], c->end - c->start);
		if (o->start >= c->end)
			add_value(&v[2], o->start - c->end);
		add_value(&v[3], o->end - o->start);
	}
	*total_rows += v[0].n > 0;
	if (!v[0].n || !r)
		return !v[0].n && !r;
	fine &= num(r, "count") == v[0].n && num(r, "qcount") == v[2].n && num(r, "pid") == 100 &&
		is(r, "api_name", "cuLaunchKernel");
	for (int i = 0; i < 4; i++) {
		struct stats s = stats_of("", &v[i]);

		fine &= spread_is(r, prefix[i], "ns", &s);
	}
	return fine;
}

static const json_t *exec_row(const json_t *j, int thread, int device, int kernel)
{
	for (size_t i = 0; i < rows(j, "cuda_kern_exec_sum"); i++) {
		const json_t *r = row(j, "cuda_kern_exec_sum", i);

		if (num(r, "tid") == 100 + thread && num(r, "dev_id") == device &&
			is(r, "short_kernel_name", shorts[kernel]))
			return r;
	}
	return NULL;
}

static bool execs_agree(const json_t *j)
{
	double last = 1e18;
	bool fine = true;
	int n = 0;

	for (int i = 0; i < 20; i++)
		fine &= exec_agrees(
			exec_row(j, i & 1, i >> 1 & 1, i >> 2), i & 1, i >> 1 & 1, i >> 2, &n);
	for (size_t i = 0; i < rows(j, "cuda_kern_exec_sum"); i++) {
		fine &= num(row(j, "cuda_kern_exec_sum", i), "tavg_ns") <= last;
		last = num(row(j, "cuda_kern_exec_sum", i), "tavg_ns");
	}
	return fine && (int)rows(j, "cuda_kern_exec_sum") == n;
}

/* ---- row by row: each row is one of the program's that was not met yet ---- */

static int64_t origin;

static bool api_row_is(const json_t *r, const struct rp_call *c)
{
	bool fine = num(r, "start_ns") == (double)(c->start - origin) &&
		is(r, "name", rp_kinds[c->what].name) && num(r, "pid") == 100 &&
		num(r, "tid") == 100 + c->thread && absent(r, "t_pri") && absent(r, "corr_id");

	if (c->open)
		return fine && absent(r, "duration_ns") && absent(r, "result");
	return fine && num(r, "duration_ns") == (double)(c->end - c->start) &&
		num(r, "result") == c->ret;
}

static bool gpu_row_is(const json_t *r, const struct rp_op *o)
{
	bool kernel = o->what == RP_LAUNCH, copy = o->what == RP_COPY, fine;
	const char *device = o->device ? "(1)" : "H200 (0)";

	fine = num(r, "start_ns") == (double)(o->start - origin) &&
		num(r, "duration_ns") == (double)(o->end - o->start) &&
		num(r, "corr_id") == (double)(o - program.ops + 1) && is(r, "device", device) &&
		num(r, "strm") == 7 + o->stream && num(r, "pid") == 100 && num(r, "ctx") == 1;
	if (kernel)
		return fine && is(r, "short_name", shorts[o->kernel]) &&
			is(r, "grd_xyz", "8 1 1") && is(r, "blk_xyz", "64 1 1") &&
			absent(r, "bytes") && absent(r, "throughput_gb_per_s") &&
			num(r, "reg_trd") == 0;
	fine &= is(r, "name", operation(o)) && num(r, "bytes") == (double)o->bytes &&
		absent(r, "grd_xyz") &&
		(!copy ? absent(r, "src_mem_kd")
		       : is(r, "src_mem_kd", gt_gpu_memory_word(o->src)) &&
					is(r, "dst_mem_kd", gt_gpu_memory_word(o->dst)));
	if (o->end == o->start)
		return fine && absent(r, "throughput_gb_per_s");
	return fine &&
		fabs(num(r, "throughput_gb_per_s") -
			(double)o->bytes / (double)(o->end - o->start)) < 1e-9 * (double)o->bytes;
}

static bool exec_row_is(const json_t *r, const struct rp_op *o)
{
	const struct rp_call *c = o->call < 0 ? NULL : &program.calls[o->call];
	bool fine = num(r, "kernel_start_ns") == (double)(o->start - origin) &&
		num(r, "kernel_dur_ns") == (double)(o->end - o->start) &&
		is(r, "short_kernel_name", shorts[o->kernel]) && num(r, "dev_id") == o->device &&
		is(r, "grid_xyz", "8 1 1");

	if (!c)
		return fine && absent(r, "api_start_ns") && absent(r, "api_dur_ns") &&
			absent(r, "queue_dur_ns") && absent(r, "total_dur_ns") &&
			absent(r, "api_function") && absent(r, "tid");
	fine &= num(r, "api_start_ns") == (double)(c->start - origin) &&
		num(r, "api_dur_ns") == (double)(c->end - c->start) &&
		num(r, "tid") == 100 + c->thread && is(r, "api_function", "cuLaunchKernel") &&
		num(r, "total_dur_ns") == (double)((c->end > o->end ? c->end : o->end) - c->start);
	if (o->start < c->end)
		return fine && absent(r, "queue_start_ns") && absent(r, "queue_dur_ns");
	return fine && num(r, "queue_start_ns") == (double)(c->end - origin) &&
		num(r, "queue_dur_ns") == (double)(o->start - c->end);
}

static bool traces_agree(const json_t *j)
{
	static bool met[RP_MOST];
	static const char *const names[3] = { "cuda_api_trace", "cuda_gpu_trace",
		"cuda_kern_exec_trace" };
	static const char *const starts[3] = { "start_ns", "start_ns", "kernel_start_ns" };

	for (int t = 0; t < 3; t++) {
		double last = -1e18;
		size_t n = 0;

		memset(met, 0, sizeof(met));
		for (int i = 0; i < (t ? program.nops : program.ncalls); i++)
			n += t ? (t == 1 || program.ops[i].what == RP_LAUNCH) &&
					wanted(program.ops[i].start, program.ops[i].end)
			       : program.calls[i].what != RP_IOCTL &&
					wanted(program.calls[i].start, program.calls[i].end);
		if (rows(j, names[t]) != n)
			return false;
		for (size_t i = 0; i < n; i++) {
			const json_t *r = row(j, names[t], i);
			int k = 0, all = t ? program.nops : program.ncalls;

			while (k < all &&
				(met[k] ||
					!(t == 0 ? program.calls[k].what != RP_IOCTL &&
								api_row_is(r, &program.calls[k])
							: t == 1
							? gpu_row_is(r, &program.ops[k])
							: program.ops[k].what == RP_LAUNCH &&
								exec_row_is(r, &program.ops[k]))))
				k++;
			if (k == all || num(r, starts[t]) < last)
				return false;
			met[k] = true;
			last = num(r, starts[t]);
		}
	}
	return true;
}

static void random_programs(void)
{
	static const char *const others[] = { "cuda_kern_exec_sum", "cuda_api_trace",
		"cuda_gpu_trace", "cuda_kern_exec_trace", NULL };

	for (unsigned seed = 0; seed < 60; seed++) {
		struct gt_reader *r = rp_make(&program, seed);
		json_t *j;

		CHECK(r);
		look = plain;
		if (seed % 3 == 1) {
			look.filter.ranged = true;
			look.filter.from = 1000 + seed * 37;
			look.filter.to = 3000 + seed * 51;
		}
		origin = gt_reader_segment(r, 0)->min_start;
		j = report(r, sums, &look);
		CHECK(j && sums_agree(j));
		json_decref(j);
		j = report(rp_make(&program, seed), others, &look);
		CHECK(j && execs_agree(j));
		CHECK(traces_agree(j));
		json_decref(j);
	}
}

/* ---- known figures ---- */

static void known_work(struct gpus *g)
{
	struct gt_gpu_work w;

	gpus_begin(g, "{\"events\":\"api,gpu\"}");
	w = gpus_work(g->stream[0][0], 1000, 1100);
	gpus_launched(g, &w, 0, 900, 20, GT_JOIN_CORRELATION); /* queued 80 */
	gpus_kernel(g, 0, &w);
	w = gpus_work(g->stream[0][0], 1100, 1300);
	gpus_launched(g, &w, 0, 930, 70, GT_JOIN_ORDER); /* queued 100 */
	gpus_kernel(g, 0, &w);
	w = gpus_work(g->stream[0][1], 1050, 1060);
	gpus_launched(
		g, &w, 1, 1040, 30, GT_JOIN_CORRELATION); /* it ended before its call returned */
	gpus_kernel(g, 1, &w);
	gpus_plain(g, 1, g->stream[1][0], 1000, 1010); /* of no known call */
	w = gpus_work(g->stream[0][1], 1400, 1500);
	gpus_copy(g, &w, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, GT_GPU_MEM_DEVICE, 5000);
}

static void from_call_to_kernel(void)
{
	struct gpus g;
	const json_t *r;
	json_t *j;

	known_work(&g);
	j = report(gpus_end(&g),
		(const char *[]){ "cuda_kern_exec_sum", "cuda_kern_exec_trace", NULL }, &plain);
	r = row(j, "cuda_kern_exec_sum", 0);
	CHECK(rows(j, "cuda_kern_exec_sum") == 2 && is(r, "short_kernel_name", "add") &&
		is(r, "kernel_name", "add(float*)"));
	CHECK(num(r, "count") == 2 && num(r, "qcount") == 2 && num(r, "tavg_ns") == 285 &&
		num(r, "tmin_ns") == 200 && num(r, "tmax_ns") == 370);
	CHECK(num(r, "aavg_ns") == 45 && num(r, "qavg_ns") == 90 && num(r, "kavg_ns") == 150);
	r = row(j, "cuda_kern_exec_sum", 1);
	CHECK(num(r, "count") == 1 && num(r, "qcount") == 0 && absent(r, "qavg_ns") &&
		num(r, "tavg_ns") == 30 && num(r, "kavg_ns") == 10);
	CHECK(noted(j, "cuda_kern_exec_sum", "1 of 4 kernels is joined to no call") &&
		noted(j, "cuda_kern_exec_sum", "1 of 4 kernels was joined to its call by order"));
	CHECK_EQ(rows(j, "cuda_kern_exec_trace"), 4);
	json_decref(j);
}

/* One kernel with two shapes gives two rows; percentages are of the total that is listed. */
static void grids_distinguish_kernels(void)
{
	struct gt_gpu_work w;
	const json_t *r;
	struct gpus g;
	json_t *j;

	known_work(&g);
	w = gpus_work(g.stream[0][0], 2000, 2100);
	gt_gpu_put_kernel(&g.types, &w,
		&(struct gt_gpu_kernel){
			.name = g.kernel[0], .grid = { 1, 2, 3 }, .block = { 4, 5, 6 } },
		&g.err);
	j = report(gpus_end(&g),
		(const char *[]){
			"cuda_gpu_kern_sum", "cuda_gpu_kern_gb_sum", "cuda_gpu_sum", NULL },
		&plain);
	CHECK(rows(j, "cuda_gpu_kern_sum") == 2 && rows(j, "cuda_gpu_kern_gb_sum") == 3);
	r = row(j, "cuda_gpu_kern_gb_sum", 1);
	CHECK(is(r, "grid_xyz", "1 2 3") && is(r, "block_xyz", "4 5 6") &&
		num(r, "total_ns") == 100 && num(r, "instances") == 1);
	r = row(j, "cuda_gpu_kern_sum", 0);
	CHECK(num(r, "total_ns") == 400 && num(r, "instances") == 3 &&
		num(r, "time_percent") == 95.24 &&
		absent(row(j, "cuda_gpu_kern_gb_sum", 1), "stddev_ns"));
	CHECK(is(row(j, "cuda_gpu_sum", 0), "category", "CUDA_KERNEL") &&
		is(row(j, "cuda_gpu_sum", 1), "category", "MEMORY_OPER"));
	json_decref(j);
}

/* ---- lists ---- */

static size_t lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* --top limits the rows, and a note has the number of all rows; in every format. */
static void lists_are_cut(void)
{
	static const char *const names[] = { "cuda_api_trace", NULL };
	struct gt_analysis_options o = plain;
	char *text;
	json_t *j;
	size_t n;

	j = report(rp_make(&program, 3), names, &o);
	n = rows(j, "cuda_api_trace");
	CHECK(n > 50);
	json_decref(j);
	text = report_text(rp_make(&program, 3), names, &o, 1, GT_CSV);
	CHECK(text && lines(text) == n + 1 &&
		!strncmp(text,
			"start_ns,duration_ns,name,result,corr_id,pid,tid,thread_name,t_pri\r\n",
			66));
	free(text);
	o.top = 7;
	j = report(rp_make(&program, 3), names, &o);
	CHECK(rows(j, "cuda_api_trace") == 7 &&
		noted(j, "cuda_api_trace", " more rows: --top 0 or --top "));
	json_decref(j);
	text = report_text(rp_make(&program, 3), names, &o, 1, GT_TEXT);
	CHECK(text && lines(text) == 2 + 1 + 7);
	free(text);
}

static void empty_answers(void)
{
	static const char *const all[] = { "cuda_api_sum", "cuda_api_trace", "cuda_api_gpu_sum",
		"cuda_gpu_sum", "cuda_gpu_kern_sum", "cuda_gpu_kern_gb_sum",
		"cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "cuda_gpu_trace",
		"cuda_kern_exec_sum", "cuda_kern_exec_trace", "nvtx_sum", "nvtx_gpu_proj_sum",
		"nvtx_kern_sum", NULL };
	struct trace t;
	struct gpus g;
	json_t *j;

	known(&t, true);
	j = report(end(&t), all, &plain);
	CHECK(rows(j, "cuda_api_sum") == 6 && noted(j, "cuda_api_sum", "1 call had not returned") &&
		rows(j, "cuda_api_trace") == 13);
	CHECK(noted(j, "cuda_api_gpu_sum", "GPU work was not recorded"));
	for (int i = 3; all[i]; i++)
		CHECK(!rows(j, all[i]) && noted(j, all[i], "not recorded"));
	json_decref(j);
	gpus_begin(&g, NULL);
	j = report(gpus_end(&g), all, &plain);
	for (int i = 0; all[i]; i++)
		CHECK(j && !rows(j, all[i]));
	json_decref(j);
}

T_MAIN(T(random_programs), T(from_call_to_kernel), T(grids_distinguish_kernels), T(lists_are_cut),
	T(empty_answers))
