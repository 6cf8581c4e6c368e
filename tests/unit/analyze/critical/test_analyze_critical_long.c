/* The critical path of long random programs: the calls that no figure needs one by one are
 * skipped in chunks. The results are compared with those of a run that lists all pieces, which
 * test_analyze_chain.c compares with a plain computation; and the sums with plain sums. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/random_program.h"
#include "tests/unit/reports.h"

#define CALLS 9000
#define MORE_TYPES 70 /* more than a chunk lists */

static const char *const critical[] = { "critical", NULL };

struct one {
	int64_t start, end;
	uint32_t type;
};
struct program {
	struct gpus g;
	struct one calls[2 * CALLS], works[CALLS];
	size_t ncalls, nworks;
	uint32_t types[MORE_TYPES + 4], sync;
	int64_t at[2], tail, epoch;
	int ntypes;
	unsigned seed;
};

/* no 0 */
static void type_name(int i, char name[32])
{
	snprintf(name, 32, "%s%.0d", i ? "cuThing" : "cuLaunchKernel", i);
}

static void add_types(struct program *p)
{
	char name[32];

	p->ntypes = p->seed % 5 == 4 ? MORE_TYPES : 4;
	for (int i = 0; i < p->ntypes; i++) {
		type_name(i, name);
		p->types[i] = i
			? gt_writer_type(p->g.w,
				  &(struct gt_type){ .name = gt_writer_string(p->g.w, name) })
			: p->g.launch;
	}
	p->sync = gt_writer_type(p->g.w,
		&(struct gt_type){ .name = gt_writer_string(p->g.w, "cuCtxSynchronize"),
			.category = GT_CAT_SYNC,
			.op = GT_OP_SYNC });
}

static void put_call(struct program *p, int thread, const struct one *c, int depth)
{
	struct gt_row row = { c->start, c->end, c->type, 0, (uint8_t)depth, 0 };

	gt_writer_row(p->g.w, GT_CALL, p->g.thread[thread], &row, NULL, &p->g.err);
	if (!depth)
		p->calls[p->ncalls++] = *c;
}

/* Sometimes a long operation, for which a call may wait. */
static void put_work(struct program *p, int thread, const struct one *call)
{
	int64_t start = call->start + rp_below(300);
	struct gt_gpu_work w;

	start = start > p->tail ? start : p->tail + rp_below(20);
	w = gpus_work(p->g.stream[0][p->nworks % 2], start,
		start + (rp_below(40) ? rp_below(250) : 20000));
	w.cause = (struct gt_gpu_cause){ .join = GT_JOIN_CORRELATION,
		.track = p->g.thread[thread],
		.start = call->start,
		.name = p->g.launch_name,
		.ns = (uint64_t)(call->end - call->start) };
	gpus_kernel(&p->g, (int)(p->nworks % 2), &w);
	p->works[p->nworks] = (struct one){ w.start, w.end, (uint32_t)(p->nworks % 2) };
	p->nworks++;
	p->tail = w.end;
}

/* Gaps of 0 to a few ns, sometimes a long one; calls of 0 ns, and calls within calls, some of
 * which begin at the same time. The last calls are the longest of all: once they are listed, the
 * others need not be read one by one. */
static void step(struct program *p, int thread, bool launches)
{
	int64_t start = p->at[thread] + (rp_below(8) ? rp_below(400) : 0) +
		(p->seed % 3 && !rp_below(4000) ? 19999 + rp_below(3) : 0);
	struct one c = { start,
		start + (rp_below(10) ? rp_below(500) : 0) + (p->ncalls > CALLS - 8 ? 60000 : 0),
		launches ? p->g.launch : p->types[rp_below(p->ntypes)] };

	if (!launches && p->seed % 2 && p->tail > c.end && !rp_below(100)) {
		c.type = p->sync;
		c.end = p->tail + rp_below(50);
	}
	if (launches || (c.type == p->g.launch && p->nworks && !rp_below(4)))
		put_work(p, thread, &c);
	if (c.end > c.start + 10 && !rp_below(20))
		put_call(p, thread,
			&(struct one){ c.start + rp_below(2), c.start + 5, p->types[1] }, 1);
	put_call(p, thread, &c, 0);
	p->at[thread] = c.end;
	if (c.end > p->epoch) {
		gt_writer_epoch(p->g.w, c.end, &p->g.err);
		p->epoch = c.end + 100000 + rp_below(400000);
	}
}

/* After both threads were silent, the first one continues when the second one has made a call. */
static void take_turns(struct program *p)
{
	p->at[1] = (p->at[0] > p->at[1] ? p->at[0] : p->at[1]) + 25000;
	step(p, 1, false);
	p->at[0] = p->at[1];
	p->at[1] += 40000;
}

static struct gt_reader *make(struct program *p, unsigned seed)
{
	memset(p, 0, sizeof(*p));
	srand(seed);
	p->seed = seed;
	gpus_begin(&p->g, "{\"events\":\"api,ioctl,gpu\"}");
	add_types(p);
	p->at[0] = p->at[1] = p->tail = 1000;
	for (int i = 0; i < CALLS; i++) {
		if (seed % 4 == 2 && !rp_below(3000))
			take_turns(p);
		step(p, seed % 4 == 0 && p->at[1] < p->at[0],
			i == (seed % 3 == 1 ? CALLS / 3 : 0) || i == CALLS - 1);
	}
	if (seed % 7 == 0)
		gt_writer_loss(p->g.w, GT_SCOPE_TRACK, p->g.thread[0], p->tail / 2,
			p->tail / 2 + 400, 3, &p->g.err);
	return gpus_end(&p->g);
}

/* ---- few and all ---- */

static bool same_but_longest(const json_t *few, const json_t *all)
{
	bool ok = json_equal(json_object_get(json_object_get(few, "critical"), "rows"),
		json_object_get(json_object_get(all, "critical"), "rows"));

	for (size_t i = 0; i < rows(few, "critical_names"); i++)
		ok &= json_equal(row(few, "critical_names", i), row(all, "critical_names", i));
	return ok && rows(few, "critical") == 7;
}

/* Each entry of the long list is in the short list, or is not longer than the entries there; the
 * short list has the requested length. */
static bool are_longest(const json_t *few, const json_t *all, size_t n)
{
	size_t have = rows(few, "critical_longest"), of = rows(all, "critical_longest"), k = 0,
	       longer = 0;
	double least = 1e99;

	for (size_t i = 0; i < have; i++)
		least = num(row(few, "critical_longest", i), "duration_ns") < least
			? num(row(few, "critical_longest", i), "duration_ns")
			: least;
	for (size_t i = 0; i < of; i++) {
		const json_t *r = row(all, "critical_longest", i);

		if (k < have && json_equal(r, row(few, "critical_longest", k)))
			k++;
		else
			longer += num(r, "duration_ns") > least;
	}
	return have == (of < n ? of : n) && k == have && !longer;
}

/* ---- sums ---- */

static double span(const struct one *c, int64_t from, int64_t to)
{
	int64_t start = c->start > from ? c->start : from, end = c->end < to ? c->end : to;

	return end > start ? (double)(end - start) : 0;
}

static double sum_of(const struct one *list, size_t n, uint32_t type, int64_t from, int64_t to)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += list[i].type == type ? span(&list[i], from, to) : 0;
	return sum;
}

/* Limited by the time of it on the path. */
static bool sum_is(const json_t *j, const char *name, double sum)
{
	const json_t *r = row_named(j, "critical_names", "name", name);

	return !r || num(r, "summed_ns") == sum;
}

static bool sums_agree(const struct program *p, const json_t *j, int64_t origin)
{
	int64_t from = origin + (int64_t)num(row(j, "critical", 0), "from_ns"),
		to = origin + (int64_t)num(row(j, "critical", 0), "to_ns");
	bool ok = sum_is(j, "cuCtxSynchronize", sum_of(p->calls, p->ncalls, p->sync, from, to));

	for (uint32_t k = 0; k < 2; k++)
		ok &= sum_is(j, k ? "mul" : "add", sum_of(p->works, p->nworks, k, from, to));
	for (int t = 0; t < p->ntypes; t++) {
		char name[32];

		type_name(t, name);
		ok &= sum_is(j, name, sum_of(p->calls, p->ncalls, p->types[t], from, to));
	}
	return ok && sum_is(j, "thread 100 main", -1e99);
}

/* ---- all of it ---- */

static bool agrees(unsigned seed, bool ranged, bool whole)
{
	static struct program p;
	struct gt_analysis_options o = plain;
	struct gt_reader *r = make(&p, seed), *again = gt_reader_open_fd(dup(p.g.fd), &p.g.err);
	int64_t origin = gt_reader_segment(r, 0)->min_start,
		length = gt_reader_segment(r, 0)->max_end - origin;
	json_t *few, *all;
	bool ok;

	o.whole = whole;
	o.filter.ranged = ranged;
	o.filter.from = ranged ? origin + length / 7 : INT64_MIN;
	o.filter.to = ranged ? origin + length / 5 * 4 : INT64_MAX;
	all = report(r, critical, &o);
	o.top = 1 + seed % 2;
	few = report(again, critical, &o);
	ok = few && all && same_but_longest(few, all) && are_longest(few, all, o.top) &&
		sums_agree(&p, all, origin);
	if (!ok)
		printf("# seed %u%s%s\n", seed, ranged ? ", a part" : "", whole ? ", whole" : "");
	json_decref(few);
	json_decref(all);
	return ok;
}

static void chunks_agree_with_pieces(void)
{
	for (unsigned seed = 1; seed <= T_INPUTS(16u); seed++)
		CHECK(agrees(seed, false, false));
}

static void parts_agree(void)
{
	for (unsigned seed = 1; seed <= T_INPUTS(16u); seed++)
		CHECK(agrees(seed, true, seed % 2));
}

static void whole_programs_agree(void)
{
	for (unsigned seed = 1; seed <= T_INPUTS(16u); seed++)
		CHECK(agrees(seed, false, true));
}

T_MAIN(T(chunks_agree_with_pieces), T(parts_agree), T(whole_programs_agree))
