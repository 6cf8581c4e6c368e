/* The reports about the program's ranges and the GPU work launched in them, compared with a
 * simple count. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/gpus.h"
#include "tests/unit/analyze/calls/spread.h"

#define RANGES_MOST 400000
struct nv_range {
	int64_t start, end;
	int thread, name, depth;
};
struct nv_op {
	int64_t from, to, start, end;
	int thread, kernel;
};
static struct nv_range nv[RANGES_MOST];
static struct nv_op nv_ops[2000];
static int nnv, nnv_ops;

static int by_nv_start(const void *pa, const void *pb)
{
	const struct nv_range *a = pa, *b = pb;

	return (a->start > b->start) - (a->start < b->start);
}

/* Writes ranges and work in order of their ends, in epochs, as a recorder does; names are range0,
 * range1 ... */
static struct gt_reader *nv_make(void)
{
	struct gpus g;
	uint32_t type[4];
	int64_t last = 0;

	gpus_begin(&g, "{\"events\":\"api,gpu,nvtx\"}");
	for (int i = 0; i < 4; i++) {
		char name[20];

		snprintf(name, sizeof(name), "range%d", i);
		type[i] = gt_writer_type(g.w,
			&(struct gt_type){ .name = gt_writer_string(g.w, name),
				.layer = GT_LAYER_USER,
				.category = GT_CAT_USER });
	}
	for (int i = 0; i < nnv; i++) {
		struct gt_row row = { .start = nv[i].start,
			.end = nv[i].end,
			.type = type[nv[i].name],
			.depth = (uint8_t)nv[i].depth };

		gt_writer_row(g.w, GT_SPAN, g.thread[nv[i].thread], &row, NULL, &g.err);
		last = nv[i].end > last ? nv[i].end : last;
	}
	for (int i = 0; i < nnv_ops; i++) {
		struct gt_gpu_work w =
			gpus_work(g.stream[i & 1][0], nv_ops[i].start, nv_ops[i].end);

		if (nv_ops[i].thread >= 0)
			gpus_launched(&g, &w, nv_ops[i].thread, nv_ops[i].from,
				nv_ops[i].to - nv_ops[i].from, GT_JOIN_CORRELATION);
		if (nv_ops[i].kernel >= 0)
			gpus_kernel(&g, nv_ops[i].kernel, &w);
		else
			gpus_set(&g, &w, 8);
	}
	gt_writer_epoch(g.w, INT64_MAX / 8, &g.err);
	return gpus_end(&g);
}

static bool nv_around(const struct nv_range *r, const struct nv_op *o)
{
	return r->thread == o->thread && r->start <= o->from && r->end >= o->to;
}

/* The row of a range and kernel; -1: any */
static const json_t *kern_row(const json_t *j, int thread, int name, int kernel)
{
	char range[20];

	snprintf(range, sizeof(range), "range%d", name);
	for (size_t i = 0; i < rows(j, "nvtx_kern_sum"); i++) {
		const json_t *r = row(j, "nvtx_kern_sum", i);

		if (is(r, "nvtx_range", range) && num(r, "tid") == 100 + thread &&
			is(r, "short_kernel_name", kernel ? "mul" : "add"))
			return r;
	}
	return NULL;
}

/* The innermost range: it began last; of those that began at the same time, the one that ends
 * first. No two ranges of a thread are equal. */
static int nv_innermost(const struct nv_op *o)
{
	int best = -1;

	for (int i = 0; i < nnv; i++)
		if (nv_around(&nv[i], o) &&
			(best < 0 || nv[i].start > nv[best].start ||
				(nv[i].start == nv[best].start && nv[i].end < nv[best].end)))
			best = i;
	return best;
}

static bool kern_sum_agrees(const json_t *j)
{
	static int inner[2000], seen[2000];
	static struct values v;
	size_t nrows = 0;
	bool fine = true;

	for (int i = 0; i < nnv_ops; i++)
		inner[i] = nv_innermost(&nv_ops[i]);
	for (int c = 0; c < 16; c++) {
		int thread = c & 1, name = c >> 1 & 3, kernel = c >> 3, instances = 0, nseen = 0;
		const json_t *r = kern_row(j, thread, name, kernel);
		struct stats s;

		v.n = 0;
		for (int i = 0; i < nnv_ops; i++) {
			int k = 0;

			if (nv_ops[i].kernel != kernel || inner[i] < 0 ||
				nv[inner[i]].thread != thread || nv[inner[i]].name != name)
				continue;
			add_value(&v, nv_ops[i].end - nv_ops[i].start);
			while (k < nseen && seen[k] != inner[i])
				k++;
			if (k == nseen)
				seen[nseen++] = inner[i], instances++;
		}
		s = stats_of("", &v);
		nrows += v.n > 0;
		fine &= v.n ? r && num(r, "kern_inst") == v.n && num(r, "nvtx_inst") == instances &&
				num(r, "total_ns") == (double)s.total && spread_is(r, "", "ns", &s)
			    : !r;
	}
	return fine && rows(j, "nvtx_kern_sum") == nrows;
}

static bool proj_sum_agrees(const json_t *j)
{
	static struct values v;
	bool fine = true;

	for (int name = 0; name < 4; name++) {
		int64_t ranges_ns = 0, ops = 0, levels = 0, children = 0;
		char range[20];
		const json_t *r;
		struct stats s;

		v.n = 0;
		snprintf(range, sizeof(range), "range%d", name);
		r = row_named(j, "nvtx_gpu_proj_sum", "range", range);
		for (int i = 0; i < nnv; i++) {
			int64_t first = INT64_MAX, last = INT64_MIN;
			int n = 0;

			for (int k = 0; nv[i].name == name && k < nnv_ops; k++)
				if (nv_around(&nv[i], &nv_ops[k])) {
					first = nv_ops[k].start < first ? nv_ops[k].start : first;
					last = nv_ops[k].end > last ? nv_ops[k].end : last;
					n++;
				}
			if (!n)
				continue;
			add_value(&v, last - first);
			ranges_ns += nv[i].end - nv[i].start;
			ops += n;
			/* around it, or in it and in none between */
			for (int k = 0; k < nnv; k++) {
				bool out = k != i &&
					nv_around(&nv[k],
						&(struct nv_op){ nv[i].start, nv[i].end, 0, 0,
							nv[i].thread, 0 });
				bool in = k != i &&
					nv_around(&nv[i],
						&(struct nv_op){ nv[k].start, nv[k].end, 0, 0,
							nv[k].thread, 0 });

				levels += out;
				for (int m = 0; in && m < nnv; m++)
					if (m != i && m != k &&
						nv_around(&nv[m],
							&(struct nv_op){ nv[k].start, nv[k].end, 0,
								0, nv[k].thread, 0 }) &&
						(nv[m].start > nv[i].start ||
							(nv[m].start == nv[i].start &&
								nv[m].end < nv[i].end)))
						in = false;
				children += in;
			}
		}
		s = stats_of("", &v);
		if (!v.n) {
			fine &= !r;
			continue;
		}
		fine &= r && num(r, "range_instances") == v.n &&
			num(r, "total_proj_ns") == (double)s.total &&
			num(r, "total_range_ns") == (double)ranges_ns &&
			num(r, "total_gpu_ops") == (double)ops &&
			fabs(num(r, "avg_gpu_ops") - (double)ops / v.n) < 1e-9 * (double)ops &&
			fabs(num(r, "avg_range_lvl") - (double)levels / v.n) < 1e-6 &&
			fabs(num(r, "avg_num_child") - (double)children / v.n) < 1e-6 &&
			spread_is(r, "proj_", "ns", &s);
	}
	return fine;
}

static int rnd(int below) { return rand() % below; }

/* Are two ranges of a thread equal in time? Then the order of nesting is unknown. */
static bool nv_known(const struct nv_range *r, int n)
{
	for (int i = 0; i < n; i++)
		if (nv[i].thread == r->thread && nv[i].start == r->start && nv[i].end == r->end)
			return true;
	return false;
}

static void nv_random(unsigned seed)
{
	srand(seed);
	nnv = nnv_ops = 0;
	while (nnv < 40) {
		struct nv_range r = { .start = 100 + rnd(800), .thread = rnd(2), .name = rnd(4) };

		r.end = r.start + (rnd(5) ? rnd(200) : 0);
		if (!nv_known(&r, nnv))
			nv[nnv++] = r;
	}
	for (; nnv_ops < 80; nnv_ops++) {
		struct nv_op *o = &nv_ops[nnv_ops];

		*o = (struct nv_op){ .from = 90 + rnd(900),
			.thread = rnd(12) ? rnd(2) : -1,
			.kernel = rnd(4) ? rnd(2) : -1 };
		o->to = o->from + rnd(30);
		o->start = o->from + rnd(1000);
		o->end = o->start + rnd(100);
	}
}

static const char *const range_reports[] = { "nvtx_sum", "nvtx_gpu_proj_sum", "nvtx_kern_sum",
	NULL };

static bool nvtx_sum_agrees(const json_t *j)
{
	static struct values v;
	bool fine = true;

	for (int name = 0; name < 4; name++) {
		struct stats s;
		char range[20];

		v.n = 0;
		snprintf(range, sizeof(range), "range%d", name);
		for (int i = 0; i < nnv; i++)
			if (nv[i].name == name)
				add_value(&v, nv[i].end - nv[i].start);
		s = stats_of(range, &v);
		fine &= row_named(j, "nvtx_sum", "range", range) &&
			num(row_named(j, "nvtx_sum", "range", range), "instances") == s.n &&
			num(row_named(j, "nvtx_sum", "range", range), "total_ns") ==
				(double)s.total &&
			spread_is(row_named(j, "nvtx_sum", "range", range), "", "ns", &s);
	}
	return fine;
}

static void random_ranges(void)
{
	for (unsigned seed = 0; seed < 60; seed++) {
		json_t *j;

		nv_random(seed);
		j = report(nv_make(), range_reports, &plain);
		CHECK(j && nvtx_sum_agrees(j));
		CHECK(proj_sum_agrees(j));
		CHECK(kern_sum_agrees(j));
		json_decref(j);
	}
}

/* More ranges than one window can hold: three windows, with ranges that extend over two or all
 * of them. */
static void ranges_beyond_a_window(void)
{
	json_t *j;

	srand(7);
	nnv = nnv_ops = 0;
	for (int i = 0; i < 5; i++)
		nv[nnv++] = (struct nv_range){
			.start = i * 100000, .end = 3200000 - i * 7, .thread = i & 1, .name = 3
		};
	for (int i = 0; i < 300000; i++)
		nv[nnv++] = (struct nv_range){ .start = 10 * i + 3,
			.end = 10 * i + 3 + (i % 50000 ? i % 3 ? 5 : 35 : 700003),
			.thread = i & 1,
			.name = i % 3,
			.depth = 1 };
	qsort(nv, (size_t)nnv, sizeof(*nv), by_nv_start);
	/* in the short ones, between them, and where one window follows another */
	for (; nnv_ops < 250; nnv_ops++) {
		int64_t edge = 10 * (1 << 17) - 60,
			from = nnv_ops < 150 ? 20 * (int64_t)rnd(150000) + (rnd(2) ? 4 : 12)
					     : edge + rnd(40);
		int thread = rnd(2);

		from += 10 * thread;
		nv_ops[nnv_ops] = (struct nv_op){ .from = from,
			.to = from + rnd(3),
			.start = from + rnd(2000000),
			.thread = thread,
			.kernel = rnd(2) };
		nv_ops[nnv_ops].end = nv_ops[nnv_ops].start + rnd(1000);
	}
	j = report(
		nv_make(), (const char *[]){ "nvtx_kern_sum", "nvtx_gpu_proj_sum", NULL }, &plain);
	CHECK(j && kern_sum_agrees(j));
	/* the simple count would take too long for nested ranges */
	for (int name = 0; name < 4; name++) {
		char range[20];
		double instances = 0, ops = 0, levels = 0;
		const json_t *r;

		snprintf(range, sizeof(range), "range%d", name);
		r = row_named(j, "nvtx_gpu_proj_sum", "range", range);
		for (int i = 0; i < nnv; i++) {
			int n = 0, around = 0;

			for (int k = 0; nv[i].name == name && k < nnv_ops; k++)
				n += nv_around(&nv[i], &nv_ops[k]);
			for (int k = 0; n && k < nnv; k++)
				around += k != i &&
					nv_around(&nv[k],
						&(struct nv_op){ nv[i].start, nv[i].end, 0, 0,
							nv[i].thread, 0 });
			instances += n > 0;
			ops += n;
			levels += around;
		}
		CHECK(instances && num(r, "range_instances") == instances &&
			num(r, "total_gpu_ops") == ops);
		CHECK(fabs(num(r, "avg_range_lvl") - levels / instances) < 1e-6);
	}
	json_decref(j);
}

static void too_many_ranges_at_once(void)
{
	json_t *j;

	nnv_ops = 1;
	nv_ops[0] = (struct nv_op){ 200000, 200001, 200002, 200003, 0, 0 };
	for (nnv = 0; nnv < 140000; nnv++)
		nv[nnv] = (struct nv_range){ .start = nnv, .end = 300000 + nnv };
	j = report(
		nv_make(), (const char *[]){ "nvtx_kern_sum", "nvtx_gpu_proj_sum", NULL }, &plain);
	CHECK(!rows(j, "nvtx_kern_sum") && !rows(j, "nvtx_gpu_proj_sum"));
	CHECK(noted(j, "nvtx_kern_sum", "cannot answer") &&
		noted(j, "nvtx_gpu_proj_sum", "cannot answer"));
	json_decref(j);
}

static bool only_range1(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return !strcmp(gt_str(seg, type->name), "range1");
}

/* Options select ranges by name and thread, with all work that was launched in them. */
static void options_choose_ranges(void)
{
	struct gt_analysis_options o = plain;
	json_t *j;

	nnv = nnv_ops = 0;
	nv[nnv++] = (struct nv_range){ 100, 500, 0, 0, 0 };
	nv[nnv++] = (struct nv_range){ 200, 400, 0, 1, 1 };
	nv[nnv++] = (struct nv_range){ 200, 400, 1, 1, 0 };
	nv_ops[nnv_ops++] = (struct nv_op){ 210, 220, 1000, 1100, 0, 0 };
	nv_ops[nnv_ops++] = (struct nv_op){ 410, 420, 1200, 1300, 0, 1 };
	nv_ops[nnv_ops++] = (struct nv_op){ 210, 220, 1400, 1450, 1, 1 };
	o.filter.match = only_range1;
	o.filter.tid = 100;
	j = report(nv_make(), range_reports, &o);
	CHECK(rows(j, "nvtx_gpu_proj_sum") == 1 &&
		num(row(j, "nvtx_gpu_proj_sum", 0), "total_proj_ns") == 100);
	CHECK_EQ(num(row(j, "nvtx_gpu_proj_sum", 0), "range_instances"), 1);
	CHECK(rows(j, "nvtx_kern_sum") == 1 &&
		is(row(j, "nvtx_kern_sum", 0), "nvtx_range", "range1") &&
		num(row(j, "nvtx_kern_sum", 0), "total_ns") == 100);
	CHECK(rows(j, "nvtx_sum") == 1 && num(row(j, "nvtx_sum", 0), "instances") == 1);
	CHECK(noted(j, "nvtx_kern_sum", "2 of 3 kernels were launched in no range"));
	json_decref(j);
}

T_MAIN(T(random_ranges), T(ranges_beyond_a_window), T(too_many_ranges_at_once),
	T(options_choose_ranges))
