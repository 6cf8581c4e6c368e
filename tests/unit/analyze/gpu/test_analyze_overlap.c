/* The overlap report: a small program with known figures, and random programs compared with a
 * count for each nanosecond. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/random_program.h"
#include "tests/unit/reports.h"

static const char *const overlap[] = { "overlap", NULL };

/* The row of this device (-1: the one without) and kind of work, or the nth row of this device
 * where kind is NULL. */
static const json_t *of(const json_t *j, const char *table, int device, const char *kind)
{
	for (size_t i = 0; i < rows(j, table); i++) {
		const json_t *r = row(j, table, i);

		if ((device < 0 ? absent(r, "device") : num(r, "device") == device) &&
			(!kind || is(r, "kind", kind)))
			return r;
	}
	return NULL;
}

/* Stream 7 of device 0: mul 1000-1100, mul 1080-1200 (two at once for 20), copy 1300-1400; stream
 * 8: NCCL 1150-1350, set 1390-1410. Device 1: one kernel 1000-1050 on stream 7, 1050-1060 on 8,
 * 1060-1070 on 7. */
static void known_overlaps(struct gpus *g)
{
	struct gt_gpu_work w;

	gpus_begin(g, NULL);
	gpus_plain(g, 1, g->stream[0][0], 1000, 1100);
	gpus_plain(g, 1, g->stream[0][0], 1080, 1200);
	gpus_plain(g, 1, g->stream[1][0], 1000, 1050);
	gpus_plain(g, 1, g->stream[1][1], 1050, 1060);
	gpus_plain(g, 1, g->stream[1][0], 1060, 1070);
	g->kernel[0] = gt_writer_string(g->w, "ncclDevKernel_AllReduce");
	gpus_plain(g, 0, g->stream[0][1], 1150, 1350);
	w = gpus_work(g->stream[0][0], 1300, 1400);
	gpus_copy(g, &w, GT_DIR_HTOD, GT_GPU_MEM_PINNED, GT_GPU_MEM_DEVICE, 5000);
	w = gpus_work(g->stream[0][1], 1390, 1410);
	gpus_set(g, &w, 640);
	w = gpus_work(g->stream[0][0], 1000, 3000);
	gpus_wait(g, &w, GT_GPU_WAIT_STREAM_EVENT, 3);
}

static void known_figures(void)
{
	struct gpus g;
	const json_t *r;
	json_t *j;

	known_overlaps(&g);
	j = report(gpus_end(&g), overlap, &plain);
	r = of(j, "overlap", 0, "compute");
	CHECK(rows(j, "overlap") == 9 && num(r, "count") == 2 && num(r, "ran_ns") == 200 &&
		num(r, "alone_ns") == 150);
	CHECK(absent(r, "with_compute_ns") && num(r, "with_communication_ns") == 50 &&
		num(r, "with_copies_ns") == 0);
	CHECK(absent(r, "exposed_ns") && absent(r, "hidden_percent"));
	r = of(j, "overlap", 0, "communication");
	CHECK(num(r, "ran_ns") == 200 && num(r, "exposed_ns") == 150 &&
		num(r, "hidden_percent") == 25 && num(r, "alone_ns") == 100);
	r = of(j, "overlap", 0, "copies");
	CHECK(num(r, "count") == 2 && num(r, "ran_ns") == 110 &&
		num(r, "with_communication_ns") == 50 && num(r, "exposed_ns") == 60);
	CHECK(num(r, "hidden_percent") == 45.45);
	r = of(j, "overlap", 1, "communication");
	CHECK(num(r, "count") == 0 && num(r, "ran_ns") == 0 && absent(r, "hidden_percent"));
	r = of(j, "overlap", -1, "compute");
	CHECK(absent(r, "pid") && num(r, "ran_ns") == 270 && num(r, "count") == 5);
	r = of(j, "overlap_kernels", 0, NULL);
	CHECK(num(r, "busy_ns") == 410 && num(r, "kernels_ns") == 350 &&
		num(r, "several_ns") == 70 && num(r, "several_percent") == 20);
	CHECK(rows(j, "overlap_kernels") == 3 &&
		num(of(j, "overlap_kernels", -1, NULL), "several_ns") == 70);
	json_decref(j);
}

static void streams_in_pairs(void)
{
	struct gpus g;
	const json_t *r;
	json_t *j;

	known_overlaps(&g);
	j = report(gpus_end(&g), overlap, &plain);
	r = of(j, "overlap_streams", 0, NULL);
	CHECK(rows(j, "overlap_streams") == 2 && r == row(j, "overlap_streams", 0) &&
		is(r, "how", "side by side"));
	CHECK(num(r, "stream") == 7 && num(r, "other") == 8 && num(r, "busy_ns") == 300 &&
		num(r, "other_busy_ns") == 220);
	CHECK(num(r, "both_ns") == 110 && num(r, "both_percent") == 50 && num(r, "turns") == 3);
	r = of(j, "overlap_streams", 1, NULL);
	CHECK(num(r, "both_ns") == 0 && num(r, "turns") == 2 &&
		is(r, "how", "in turns, never at once"));
	json_decref(j);
}

/* A note reports pairs beyond the limit; all other figures still include them. */
static void many_streams(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin(&g, NULL);
	for (int i = 0; i < 40; i++)
		gpus_plain(&g, 0, gpus_track(&g, g.device[0], NULL, GT_TRACK_STREAM, 100 + i),
			1000 + i, 2000 + i);
	j = report(gpus_end(&g), overlap, &plain);
	CHECK(rows(j, "overlap_streams") == 32 * 31 / 2 &&
		noted(j, "overlap_streams", "8 rows are on streams beyond the first 32"));
	CHECK(num(of(j, "overlap", 0, "compute"), "ran_ns") == 1039 &&
		num(of(j, "overlap_kernels", 0, NULL), "several_ns") == 1037);
	json_decref(j);
}

static void nothing_to_say(void)
{
	struct trace t;
	struct gpus g;
	json_t *j;

	known(&t, true);
	j = report(end(&t), overlap, &plain);
	CHECK(j && !rows(j, "overlap") && !rows(j, "overlap_kernels") &&
		noted(j, "overlap", "cannot answer: what GPUs did was not recorded"));
	json_decref(j);
	gpus_begin(&g, NULL);
	gpus_plain(&g, 0, g.stream[0][0], 1000, 2000);
	j = report(gpus_end(&g), overlap, &plain);
	CHECK(rows(j, "overlap") == 3 && rows(j, "overlap_kernels") == 1 &&
		!rows(j, "overlap_streams"));
	CHECK(noted(j, "overlap_streams", "no GPU used more than one stream") &&
		!noted(j, "overlap", "cannot"));
	json_decref(j);
}

/* ---- beside brute force ---- */

enum { COMPUTE, COMMUNICATION, COPIES };
static const char *const kinds[] = { "compute", "communication", "copies" };

/* How many rows of each kind, and of each stream, run in each ns of one device. */
static unsigned short kind_at[3][RP_END], stream_at[2][RP_END];

static int kind_of(const struct rp_op *o)
{
	return o->what != RP_LAUNCH ? COPIES : o->kernel == 3 ? COMMUNICATION : COMPUTE;
}

static int fill(const struct rp *p, int device, int64_t from, int64_t to, int count[3])
{
	int n = 0;

	memset(kind_at, 0, sizeof(kind_at));
	memset(stream_at, 0, sizeof(stream_at));
	memset(count, 0, 3 * sizeof(*count));
	for (int i = 0; i < p->nops; i++) {
		const struct rp_op *o = &p->ops[i];

		if (o->device != device || o->end <= from || o->start >= to)
			continue;
		n++;
		count[kind_of(o)]++;
		for (int64_t t = o->start > from ? o->start : from; t < o->end && t < to; t++)
			kind_at[kind_of(o)][t]++, stream_at[o->stream][t]++;
	}
	return n;
}

/* ns in which kinds with a bit in all run and none with a bit in none. */
static double during(unsigned all, unsigned none)
{
	int64_t ns = 0;

	for (int t = 0; t < RP_END; t++) {
		unsigned set = 0;

		for (int k = 0; k < 3; k++)
			set |= (unsigned)!!kind_at[k][t] << k;
		ns += (set & all) == all && !(set & none);
	}
	return (double)ns;
}

static bool kinds_agree(const json_t *j, int device, const int count[3], double sum[3])
{
	static const char *const with[] = { "with_compute_ns", "with_communication_ns",
		"with_copies_ns" };
	bool ok = true;

	for (int k = 0; k < 3; k++) {
		const json_t *r = of(j, "overlap", device, kinds[k]);
		double ran = during(1u << k, 0);

		ok &= num(r, "count") == count[k] && num(r, "ran_ns") == ran &&
			num(r, "alone_ns") == during(1u << k, 7u & ~(1u << k));
		for (int i = 0; i < 3; i++)
			ok &= i == k ? absent(r, with[i])
				     : num(r, with[i]) == during(1u << k | 1u << i, 0);
		if (k)
			ok &= num(r, "exposed_ns") == during(1u << k, (1u << k) - 1);
		sum[k] += ran;
	}
	return ok;
}

static bool streams_agree(const json_t *j, int device)
{
	const json_t *r = of(j, "overlap_streams", device, NULL),
		     *k = of(j, "overlap_kernels", device, NULL);
	int64_t busy[2] = { 0 }, both = 0, several = 0, any = 0;
	bool seven;

	for (int t = 0; t < RP_END; t++) {
		busy[0] += !!stream_at[0][t], busy[1] += !!stream_at[1][t];
		both += stream_at[0][t] && stream_at[1][t];
		several += kind_at[COMPUTE][t] + kind_at[COMMUNICATION][t] > 1;
		any += stream_at[0][t] || stream_at[1][t];
	}
	if (num(k, "several_ns") != (double)several || num(k, "busy_ns") != (double)any)
		return false;
	if (!r) /* one of the two had nothing to do */
		return !busy[0] || !busy[1];
	seven = num(r, "stream") == 7; /* the stream that worked first is listed first */
	return num(r, "both_ns") == (double)both &&
		num(r, seven ? "busy_ns" : "other_busy_ns") == (double)busy[0] &&
		num(r, seven ? "other_busy_ns" : "busy_ns") == (double)busy[1];
}

static bool agrees(const json_t *j, const struct rp *p, int64_t from, int64_t to)
{
	double sum[3] = { 0 };
	int devices = 0, count[3];
	bool ok = !noted(j, "overlap", "too late");

	for (int d = 0; d < 2; d++)
		if (fill(p, d, from, to, count)) {
			ok &= kinds_agree(j, d, count, sum) && streams_agree(j, d);
			devices++;
		}
	for (int k = 0; k < 3 && devices == 2; k++)
		ok &= num(of(j, "overlap", -1, kinds[k]), "ran_ns") == sum[k];
	return ok && rows(j, "overlap_kernels") == (size_t)(devices == 2 ? 3 : devices);
}

static void random_programs(void)
{
	static struct rp p;
	double hidden = 0;

	for (unsigned seed = 1; seed <= 60; seed++) {
		json_t *j = report(rp_make(&p, seed), overlap, &plain);

		CHECK(agrees(j, &p, INT64_MIN, INT64_MAX));
		hidden += num(of(j, "overlap", 0, "communication"), "with_compute_ns");
		json_decref(j);
	}
	CHECK(hidden > 0); /* or nothing was tried */
}

/* A row that only touches the range has a length of 0 ns in it; the reader decides whether it
 * counts. Here none of them does. */
static void random_programs_in_a_range(void)
{
	static struct rp p;

	for (unsigned seed = 1; seed <= 30; seed++) {
		struct gt_analysis_options o = plain;
		struct gt_reader *r = rp_make(&p, seed);
		bool touched = false;
		json_t *j;

		o.filter = (struct gt_filter){
			.ranged = true, .from = 1000 + 37 * seed, .to = 3000 + 41 * seed
		};
		o.restrictions = "--from";
		for (int i = 0; i < p.nops; i++)
			touched |= p.ops[i].end == o.filter.from ||
				(p.ops[i].start == p.ops[i].end && p.ops[i].start == o.filter.from);
		j = report(r, overlap, &o);
		CHECK(touched || agrees(j, &p, o.filter.from, o.filter.to));
		json_decref(j);
	}
}

T_MAIN(T(known_figures), T(streams_in_pairs), T(many_streams), T(nothing_to_say),
	T(random_programs), T(random_programs_in_a_range))
