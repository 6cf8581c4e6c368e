/* The operation that a thread waited for while a GPU was idle because of the thread's
 * synchronization: a program with such gaps, counted gap by gap. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/gpus.h"
#include "tests/unit/reports.h"

/* the streams, by a row of the wait; a stream without a row; an event */
enum { FIRST, SECOND, UNKNOWN, EVENT, KINDS };
static const struct {
	const char *call, *waits_for;
} kinds[] = {
	{ "cuStreamSynchronize", "stream 7" },
	{ "cuStreamSynchronize", "stream 8" },
	{ "cuStreamSynchronize", "stream" },
	{ "cuEventSynchronize", "event" },
};
struct count {
	int64_t ns, longest;
	int gaps;
};
static struct count want[KINDS];
static int64_t other; /* idle time between the waits and the launches */

static void waits(struct gpus *g, const uint32_t types[2], int kind, int64_t start, int64_t end)
{
	struct gt_gpu_work w;

	gpus_call(g, 0, types[kind == EVENT], start, end);
	if (kind > SECOND)
		return;
	w = gpus_work(g->stream[0][kind], start, end);
	w.cause = (struct gt_gpu_cause){ .join = GT_JOIN_CORRELATION,
		.track = g->thread[0],
		.start = start,
		.ns = (uint64_t)(end - start) };
	gpus_wait(g, &w, GT_GPU_WAIT_STREAM, 0);
}

/* The next kernel, behind up to five waits, the first of which may begin before the last kernel has
 * ended. */
static int64_t one_gap(struct gpus *g, const uint32_t types[2], int64_t busy_to)
{
	struct count now[KINDS] = { 0 };
	int64_t at = busy_to - rand() % 30, idle = 0;
	struct gt_gpu_work w;

	for (int n = rand() % 6; n--; at += 3) {
		int kind = rand() % KINDS;
		int64_t end = at + 1 + rand() % 40, part = end - (at > busy_to ? at : busy_to);

		waits(g, types, kind, at, end);
		if (part > 0) {
			now[kind].ns += part;
			now[kind].gaps = 1;
			idle += part;
		}
		at = end;
	}
	at = (at > busy_to ? at : busy_to) + 5;
	for (int k = 0; k < KINDS; k++) {
		want[k].ns += now[k].ns;
		want[k].gaps += now[k].gaps;
		want[k].longest = now[k].ns > want[k].longest ? now[k].ns : want[k].longest;
	}
	w = gpus_work(g->stream[0][rand() % 2], at + 20, at + 20 + 40 + rand() % 50);
	gpus_launched(g, &w, 0, at, 10, GT_JOIN_CORRELATION);
	gpus_kernel(g, 0, &w);
	other += w.start - busy_to - idle;
	return w.end;
}

static uint32_t sync_type(struct gpus *g, const char *name)
{
	return gt_writer_type(g->w,
		&(struct gt_type){ .name = gt_writer_string(g->w, name),
			.category = GT_CAT_SYNC,
			.op = GT_OP_SYNC });
}

static const json_t *row_of(const json_t *j, int kind)
{
	for (size_t i = 0; i < rows(j, "gaps_waits"); i++)
		if (is(row(j, "gaps_waits", i), "call", kinds[kind].call) &&
			is(row(j, "gaps_waits", i), "waits_for", kinds[kind].waits_for))
			return row(j, "gaps_waits", i);
	return NULL;
}

static void check_all(const json_t *j, unsigned seed)
{
	double shares = 0, all = 0;
	int seen = 0;

	for (int k = 0; k < KINDS; k++) {
		const json_t *r = row_of(j, k);

		seen += r != NULL;
		all += (double)want[k].ns;
		CHECK(want[k].gaps ? num(r, "total_ns") == (double)want[k].ns &&
					num(r, "gaps") == want[k].gaps &&
					num(r, "max_ns") == (double)want[k].longest &&
					num(r, "mean_ns") == (double)(want[k].ns / want[k].gaps) &&
					(k > SECOND ? absent(r, "pid") : num(r, "pid") == 100)
				   : !r);
		shares += r ? num(r, "share_percent") * 100 : 0;
	}
	CHECK(rows(j, "gaps_waits") == (size_t)seen || !printf("# seed %u\n", seed));
	CHECK(!seen || (shares > 9999.5 && shares < 10000.5));
	for (size_t i = 0; i < rows(j, "gaps"); i++) /* as the causes have them */
		all -= is(row(j, "gaps", i), "key", "sync") ? num(row(j, "gaps", i), "total_ns")
							    : 0;
	CHECK(all == 0 &&
		num(row_named(j, "budget", "key", "idle"), "total_ns") -
				num(row_named(j, "budget", "key", "sync"), "total_ns") ==
			(double)other);
}

static void random_waits(void)
{
	double found = 0;

	for (unsigned seed = 1; seed <= 40; seed++) {
		uint32_t types[2];
		int64_t at = 1100;
		struct gpus g;
		json_t *j;

		srand(seed);
		memset(want, 0, sizeof(want));
		other = 0;
		gpus_begin_with(&g, "{\"events\":\"api,gpu\"}", 1);
		types[0] = sync_type(&g, "cuStreamSynchronize");
		types[1] = sync_type(&g, "cuEventSynchronize");
		gpus_plain(&g, 0, g.stream[0][0], 1000, at);
		for (int i = 0; i < 1 + (int)seed; i++)
			at = one_gap(&g, types, at);
		j = report(gpus_end(&g), (const char *[]){ "gaps", "budget", NULL }, &plain);
		check_all(j, seed);
		found += want[FIRST].ns + want[UNKNOWN].ns;
		json_decref(j);
	}
	CHECK(found > 1000);
}

/* The first gap of each of two GPUs, in one wait for a stream. */
static void several_gpus(void)
{
	uint32_t types[2];
	struct gt_gpu_work w;
	struct gpus g;
	json_t *j;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	types[0] = types[1] = sync_type(&g, "cuStreamSynchronize");
	gpus_plain(&g, 0, g.stream[0][0], 1000, 1100);
	gpus_plain(&g, 0, g.stream[1][0], 1000, 1110);
	waits(&g, types, FIRST, 1090, 1150);
	for (int i = 0; i < 2; i++) {
		w = gpus_work(g.stream[i][0], 1200, 1300);
		gpus_launched(&g, &w, 0, 1160 + 10 * i, 5, GT_JOIN_CORRELATION);
		gpus_kernel(&g, 0, &w);
	}
	j = report(gpus_end(&g), (const char *[]){ "gaps", NULL }, &plain);
	CHECK(rows(j, "gaps_waits") == 1 && num(row_of(j, FIRST), "gaps") == 2 &&
		num(row_of(j, FIRST), "total_ns") == 50 + 40);
	CHECK_EQ(num(row_of(j, FIRST), "max_ns"), 50);
	json_decref(j);
}

/* Two recordings of one program in one file: rows of one recording do not belong to the other. */
static void several_recordings(void)
{
	int both = memfd_create("both", 0);
	struct gt_err err = GT_ERR_INIT;
	json_t *j;

	for (int i = 0; i < 2; i++) {
		uint32_t types[2];
		struct gt_gpu_work w;
		struct gpus g;

		gpus_begin_with(&g, "{\"events\":\"api,gpu\"}", 1);
		types[0] = types[1] = sync_type(&g, "cuStreamSynchronize");
		gpus_plain(&g, 0, g.stream[0][0], 1000, 1100);
		waits(&g, types, i ? SECOND : FIRST, 1100, 1150);
		w = gpus_work(g.stream[0][0], 1180, 1200);
		gpus_launched(&g, &w, 0, 1160, 10, GT_JOIN_CORRELATION);
		gpus_kernel(&g, 0, &w);
		CHECK(gpus_end_into(&g, both));
	}
	j = report(gt_reader_open_fd(both, &err), (const char *[]){ "gaps", NULL }, &plain);
	CHECK(rows(j, "gaps_waits") == 2 && num(row_of(j, FIRST), "recording") == 0 &&
		num(row_of(j, SECOND), "recording") == 1);
	CHECK(num(row_of(j, FIRST), "total_ns") == 50 &&
		num(row_of(j, SECOND), "share_percent") == 50);
	json_decref(j);
}

T_MAIN(T(random_waits), T(several_gpus), T(several_recordings))
