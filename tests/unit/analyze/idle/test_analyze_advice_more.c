/* The rules of advice about streams, gaps, clocks and memory: each finds its problem, and
 * reports "clean" or "unknown" where it should. Over random traces each rule has the same
 * figures as a count that checks each nanosecond, or each pair of operations, by itself. */
#define _GNU_SOURCE
#include "analyze/memory/leaks.h"
#include "analyze/advice/stream_serialization.h"
#include "analyze/advice/utilisation.h"
#include "tests/unit/random_program.h"
#include "tests/unit/reports.h"

static const json_t *rule(const json_t *j, const char *name)
{
	return row_named(j, "advice", "rule", name);
}
static bool says(const json_t *j, const char *name, const char *state)
{
	return is(rule(j, name), "state", state);
}

static bool because(const json_t *j, const char *name, const char *part)
{
	const char *text = json_string_value(json_object_get(rule(j, name), "evidence"));

	return text && strstr(text, part);
}

static json_t *advice_of(struct gt_reader *r, const struct gt_analysis_options *o)
{
	return report(r, (const char *[]){ "advice", NULL }, o);
}

static json_t *advice(struct gpus *g) { return advice_of(gpus_end(g), &plain); }

/* The rule finds the problem with these figures, or is clean if there are none. */
static bool costs(const json_t *j, const char *name, bool found, double cost, double gain)
{
	const json_t *r = rule(j, name);

	if (found ? is(r, "state", "found") && num(r, "cost_ns") == cost &&
				num(r, "gain_ns") == gain
		  : is(r, "state", "clean"))
		return true;
	printf("# %s: %s %.0f %.0f, not %d %.0f %.0f: %s\n", name,
		json_string_value(json_object_get(r, "state")), num(r, "cost_ns"),
		num(r, "gain_ns"), found, cost, gain,
		json_string_value(json_object_get(r, "evidence")));
	return false;
}

static bool worth(double ns, double window) { return ns > 0 && ns * 10000 >= window * 100; }

static uint32_t call_type(struct gpus *g, const char *name)
{
	return gt_writer_type(g->w,
		&(struct gt_type){
			.name = gt_writer_string(g->w, name), .category = GT_CAT_STREAM });
}

/* ---- streams that take turns ---- */

#define US 1000
struct turn {
	int stream;
	int64_t launched, start, end;
	bool waits, graph, pageable, copy;
};
static struct turn turns[400];
static int nturns;

static void put_turn(struct gpus *g, const struct turn *t, uint32_t stream, uint32_t wait_call)
{
	struct gt_gpu_work w = gpus_work(stream, t->launched - 2 * US, t->launched - 2 * US + 500);

	if (t->waits) {
		gpus_wait(g, &w, GT_GPU_WAIT_STREAM_EVENT, 3);
		gpus_call(g, 0, wait_call, w.start, w.end);
	}
	w = gpus_work(stream, t->start, t->end);
	w.graph = t->graph ? 4 : 0;
	w.node = t->graph;
	gpus_launched(g, &w, 0, t->launched - US, US, GT_JOIN_CORRELATION);
	if (t->copy)
		gpus_copy(g, &w, GT_DIR_HTOD, t->pageable ? GT_GPU_MEM_PAGEABLE : GT_GPU_MEM_PINNED,
			GT_GPU_MEM_DEVICE, 640);
	else
		gpus_kernel(g, 0, &w);
}

static struct gt_reader *put_turns(struct gpus *g)
{
	uint32_t streams[3], wait;

	gpus_begin_with(g, "{\"events\":\"api,gpu\"}", 1);
	streams[0] = g->stream[0][0], streams[1] = g->stream[0][1];
	streams[2] = gpus_track(g, g->device[0], NULL, GT_TRACK_STREAM, 9);
	wait = call_type(g, "cuStreamWaitEvent");
	for (int i = 0; i < nturns; i++)
		put_turn(g, &turns[i], streams[turns[i].stream], wait);
	return gpus_end(g);
}

/* Two streams, 20 us each in turn, all launched long before. */
static void plain_turns(void)
{
	nturns = 60;
	for (int i = 0; i < nturns; i++)
		turns[i] = (struct turn){ i % 2, 100 * US + i * 3 * US, (300 + i * 21) * US,
			(320 + i * 21) * US, false, false, false, false };
}

static void streams_that_take_turns(void)
{
	struct gpus g;
	json_t *j;

	plain_turns();
	j = advice_of(put_turns(&g), &plain);
	/* The first operation waits for nothing. Each other one could have run 20 us earlier; the
	 * busiest stream works for 600 us of 1200. */
	CHECK(costs(j, "serialised-streams", true, 59 * 20 * US, 600 * US) &&
		because(j, "serialised-streams", "59 times"));
	CHECK(because(j, "serialised-streams", "streams 7 and 8 never") &&
		num(rule(j, "serialised-streams"), "tid") == 100);
	json_decref(j);
	for (int i = 0; i < nturns; i++)
		turns[i].copy = i % 2;
	j = advice_of(put_turns(&g), &plain);
	CHECK(because(j, "serialised-streams", "59 of these are a copy and a kernel"));
	json_decref(j);
}

/* Dependencies between operations: events, graphs, one engine, the host; or the operations do
 * run concurrently. */
static void streams_with_a_reason(void)
{
	for (int why = 0; why < 6; why++) {
		struct gpus g;
		json_t *j;

		plain_turns();
		for (int i = 0; i < nturns; i++) {
			turns[i].waits = why == 0;
			turns[i].graph = why == 1;
			turns[i].copy = why == 2 || why == 5;
			turns[i].pageable = why == 5;
			if (why == 3)
				turns[i].launched = turns[i].start - 5 * US;
		}
		if (why == 4)
			turns[30].start -= 5 * US;
		j = advice_of(put_turns(&g), &plain);
		CHECK(says(j, "serialised-streams", "clean") || !printf("# why %d\n", why));
		json_decref(j);
	}
}

static void unknown_dependencies_of_streams(void)
{
	struct gpus g;
	json_t *j;

	/* a wait for which no row names the stream or event; a host function */
	for (int how = 0; how < 2; how++) {
		gpus_begin_with(&g, "{\"events\":\"api,gpu\"}", 1);
		plain_turns();
		for (int i = 0; i < nturns; i++)
			put_turn(&g, &turns[i], g.stream[0][turns[i].stream], 0);
		gpus_call(&g, 0, call_type(&g, how ? "cuLaunchHostFunc" : "cuStreamWaitEvent"),
			50 * US, 51 * US);
		j = advice(&g);
		CHECK(says(j, "serialised-streams", "cannot answer") &&
			because(j, "serialised-streams", how ? "cuLaunchHostFunc" : "1 of 1"));
		json_decref(j);
	}
	gpus_begin_with(&g, "{\"events\":\"api,gpu\"}", 1);
	for (int i = 0; i < nturns; i++)
		gpus_plain(&g, 0, g.stream[0][turns[i].stream], turns[i].start, turns[i].end);
	j = advice(&g);
	CHECK(says(j, "serialised-streams", "cannot answer") &&
		because(j, "serialised-streams", "the launch of some work is unknown"));
	json_decref(j);
}

static bool start_taken(int64_t start)
{
	for (int i = 0; i < nturns; i++)
		if (turns[i].start == start)
			return true;
	return false;
}

/* Up to three streams; on some of them, operations wait for whatever is running. */
static void random_turns(unsigned seed)
{
	int64_t at = 100 * US, tail[3] = { 0 }, all = 0;

	srand(seed);
	nturns = 0;
	for (int n = 150; n--;) {
		struct turn t = { .stream = rp_below(seed % 4 ? 2 : 3),
			.waits = !rp_below(12),
			.graph = !rp_below(15),
			.copy = !rp_below(4) };

		at += (3 + rp_below(seed % 3 ? 12 : 30)) * US;
		t.launched = at;
		t.pageable = t.copy && !rp_below(4);
		t.start = at + (1 + rp_below(12)) * US;
		t.start = t.start < tail[t.stream] + US ? tail[t.stream] + US : t.start;
		if (seed % 5 || rp_below(10))
			t.start = t.start < all + US ? all + rp_below(15) * US : t.start;
		while (start_taken(t.start))
			t.start += US;
		t.end = t.start + (rp_below(9) ? 1 + rp_below(30) : 0) * US;
		tail[t.stream] = t.end > tail[t.stream] ? t.end : tail[t.stream];
		all = t.end > all ? t.end : all;
		turns[nturns++] = t;
	}
}

static int by_start(const void *a, const void *b)
{
	return ((const struct turn *)a)->start < ((const struct turn *)b)->start ? -1 : 1;
}

/* The latest end of the operations that began earlier on a stream; 0: there are none. *last: the
 * one that began last. */
static int64_t end_before(int stream, int64_t start, int *last)
{
	int64_t end = 0;

	for (int i = 0; i < nturns; i++)
		if (turns[i].stream == stream && turns[i].start < start) {
			end = turns[i].end > end ? turns[i].end : end;
			*last = i;
		}
	return end;
}

/* By us: at most 6000 of them. */
static int64_t both_of(int a, int b)
{
	int64_t ns = 0;

	for (int64_t x = 0; x < 8000 * US; x += US) {
		bool in[3] = { false };

		for (int i = 0; i < nturns; i++)
			in[turns[i].stream] |= turns[i].start <= x && x < turns[i].end;
		ns += a == b ? in[a] * US : in[a] && in[b] ? US : 0;
	}
	return ns;
}

static void random_streams(void)
{
	unsigned found = 0;

	for (unsigned seed = 1; seed <= T_INPUTS(60u); seed++) {
		double n[3][3] = { { 0 } }, ns[3][3] = { { 0 } }, sum = 0, busiest = 0, busy = 0,
		       window, room, gain;
		struct gpus g;
		json_t *j;

		random_turns(seed);
		j = advice_of(put_turns(&g), &plain);
		qsort(turns, (size_t)nturns, sizeof(*turns), by_start);
		for (int i = 0; i < nturns; i++) {
			const struct turn *t = &turns[i];
			int64_t best = -1, own, ready, wait;
			int last = 0, of = 0;

			own = end_before(t->stream, t->start, &last);
			for (int k = 0; k < 3; k++) {
				int with = 0;
				int64_t end = k == t->stream ? 0 : end_before(k, t->start, &with);

				if (end && end <= t->start && end > best)
					best = end, last = with, of = k;
			}
			ready = t->launched + 10 * US > own ? t->launched + 10 * US : own;
			ready = ready > turns[0].start ? ready : turns[0].start;
			wait = best - ready < t->end - t->start ? best - ready : t->end - t->start;
			if (best < 0 || wait <= 0 || t->start - best > 10 * US || t->waits ||
				t->graph || t->pageable || (t->copy && turns[last].copy))
				continue;
			n[t->stream < of ? t->stream : of][t->stream < of ? of : t->stream]++;
			ns[t->stream < of ? t->stream : of][t->stream < of ? of : t->stream] +=
				(double)wait;
		}
		for (int a = 0; a < 3; a++) {
			busiest = (double)both_of(a, a) > busiest ? (double)both_of(a, a) : busiest;
			for (int b = a + 1; b < 3; b++)
				sum += n[a][b] >= 10 && !both_of(a, b) ? ns[a][b] : 0;
		}
		window = (double)-turns[0].start;
		for (int64_t x = 0; x < 8000 * US; x += US) {
			bool in = false;

			for (int i = 0; i < nturns; i++)
				in |= turns[i].start <= x && x < turns[i].end;
			busy += in * US;
			window = in ? (double)(x + US - turns[0].start) : window;
		}
		for (int i = 0; i < nturns; i++) /* the last one may have a length of 0 */
			window = (double)(turns[i].end - turns[0].start) > window
				? (double)(turns[i].end - turns[0].start)
				: window;
		room = busy - busiest;
		gain = sum < room ? sum : room;
		found += worth(gain, window);
		CHECK(costs(j, "serialised-streams", worth(gain, window), sum, gain) ||
			!printf("# seed %u\n", seed));
		json_decref(j);
	}
	CHECK(found > 10 && found < 60);
}

/* ---- gaps and regions ---- */

static struct rp p;

static int64_t first_of_all(void)
{
	int64_t at = INT64_MAX;

	for (int i = 0; i < p.nops; i++)
		at = p.ops[i].start < at ? p.ops[i].start : at;
	return at;
}

static int64_t last_of_all(void)
{
	int64_t at = 0;

	for (int i = 0; i < p.nops; i++)
		at = p.ops[i].end > at ? p.ops[i].end : at;
	return at;
}

static bool works(int device, int64_t x)
{
	for (int i = 0; i < p.nops; i++)
		if (p.ops[i].device == device && p.ops[i].start <= x && x < p.ops[i].end)
			return true;
	return false;
}

static bool is_used(int device)
{
	for (int i = 0; i < p.nops; i++)
		if (p.ops[i].device == device)
			return true;
	return false;
}

/* Of each device, by thirtieths. */
static double low_idle(int device, int64_t from, int64_t to)
{
	double ns = 0;

	for (int c = 0; c < 30; c++) {
		int64_t a = from + (to - from) * c / 30, b = from + (to - from) * (c + 1) / 30,
			busy = 0;

		for (int64_t x = a; x < b; x++)
			busy += works(device, x);
		ns += 2 * busy < b - a ? (double)(b - a - busy) : 0;
	}
	return ns;
}

/* Between an end, before which all was over, and the next start, if longer than `least`. */
static double gaps_of(int device, int64_t least)
{
	double ns = 0;

	for (int64_t x = first_of_all(), open = -1; x <= last_of_all(); x++) {
		bool starts = false, before = false;

		for (int i = 0; i < p.nops; i++) {
			starts |= p.ops[i].device == device && p.ops[i].start == x;
			before |= p.ops[i].device == device && p.ops[i].start <= x;
		}
		if (starts && open >= 0 && x - open > least)
			ns += (double)(x - open);
		open = works(device, x) || !before ? -1 : open < 0 || starts ? x : open;
	}
	return ns;
}

static void random_gaps_and_regions(void)
{
	for (unsigned seed = 1; seed <= T_INPUTS(40u); seed++) {
		struct gt_reader *r = rp_make(&p, seed);
		struct gt_analysis_options o = plain;
		double low = 0, gaps = 0;
		json_t *j;

		o.report_options = (const struct gt_report_option[]){ { "gap", &(int64_t){ 60 } },
			{ NULL, NULL } };
		j = advice_of(r, &o);
		for (int d = 0; d < 2; d++) {
			low += is_used(d) ? low_idle(d, first_of_all(), last_of_all()) : 0;
			gaps += is_used(d) ? gaps_of(d, 60) : 0;
		}
		CHECK(costs(j, "low-utilisation", low > 0, low, low) ||
			!printf("# seed %u\n", seed));
		CHECK(costs(j, "large-gap", gaps > 0, gaps, gaps) || !printf("# seed %u\n", seed));
		json_decref(j);
	}
}

static void launched(struct gpus *g, int64_t call, int64_t start, int64_t end)
{
	struct gt_gpu_work w = gpus_work(g->stream[0][0], start, end);

	gpus_launched(g, &w, 0, call, 10, GT_JOIN_CORRELATION);
	gpus_kernel(g, 0, &w);
}

#define MS 1000000ll

/* The profiler's own work divides a gap, and so do losses; a lost operation makes no gap. */
static void one_large_gap(void)
{
	for (int how = 0; how < 6; how++) {
		struct gt_analysis_options o = plain;
		int64_t gap;
		const struct gt_report_option list[] = { { "gap", &gap }, { NULL, NULL } };
		struct gt_gpu_work held;
		struct gpus g;
		json_t *j;

		gpus_begin(&g, "{\"events\":\"api,gpu\"}");
		held = gpus_work(g.process, 1200 * MS, 1210 * MS);
		launched(&g, 1 * MS, 2 * MS, 900 * MS);
		launched(&g, 1500 * MS, 1600 * MS, 2500 * MS);
		gap = how == 1 ? 700 * MS : 600 * MS;
		if (how == 1 || how == 2)
			o.report_options = list;
		if (how == 5)
			gt_gpu_put_overhead(&g.types, &held,
				&(struct gt_gpu_overhead){ .kind = 1 << 16, .thread = 100 },
				&g.err);
		else if (how >= 3)
			gt_writer_loss(g.w, GT_SCOPE_TRACK, g.stream[0][1], 1000 * MS,
				how == 3 ? 1050 * MS : 1400 * MS, 3, &g.err);
		j = advice_of(gpus_end(&g), &o);
		if (!how || how == 2 || how == 3) {
			int64_t ns = how == 3 ? 550 * MS : 700 * MS;

			CHECK(costs(j, "large-gap", true, (double)ns, (double)ns));
			CHECK(because(j, "large-gap", "main cause of the longest gap: outside"));
			CHECK(because(j, "large-gap", how == 2 ? "than 600.0" : "than 500.0"));
			CHECK(num(rule(j, "large-gap"), "duration_ns") == (double)ns);
		} else {
			CHECK(says(
				j, "large-gap", how == 1 || how == 5 ? "clean" : "cannot answer"));
		}
		json_decref(j);
	}
}

/* The GPU works for a third of the time during half of the window: adjacent regions are merged. */
static void one_region(void)
{
	struct gpus g;
	json_t *j;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	for (int i = 0; i < 30; i++) /* a thirtieth each; the last one ends the window */
		launched(&g, 980 + i * 900, 1000 + i * 900,
			1000 + i * 900 + (i >= 5 && i < 9 ? 300 : 900));
	j = advice(&g);
	CHECK(costs(j, "low-utilisation", true, 4 * 600, 4 * 600) &&
		because(j, "low-utilisation", "33.3 %"));
	CHECK(because(j, "low-utilisation", "1 region ") &&
		num(rule(j, "low-utilisation"), "duration_ns") == 3600);
	json_decref(j);
	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	launched(&g, 980, 1000, 10000);
	j = advice(&g);
	CHECK(says(j, "low-utilisation", "clean") && says(j, "large-gap", "clean"));
	json_decref(j);
}

/* ---- clocks ---- */

struct nvml {
	uint32_t track, reasons, mhz;
};

static struct nvml nvml(struct gpus *g, int number)
{
	struct gt_field hex = { gt_writer_string(g->w, "value"), GT_F_HEX, GT_R_VALUE },
			u = { hex.name, GT_F_U64, GT_R_VALUE };

	return (struct nvml){
		gpus_track(g, GT_NONE, "H200", GT_TRACK_DEVICE, number),
		gt_writer_type(g->w,
			&(struct gt_type){ .name = gt_writer_string(g->w, "throttle_reasons"),
				.fields = &hex,
				.nfields = 1 }),
		gt_writer_type(g->w,
			&(struct gt_type){ .name = gt_writer_string(g->w, "sm_clock_mhz"),
				.fields = &u,
				.nfields = 1 }),
	};
}

static void sample(struct gpus *g, const struct nvml *n, uint32_t type, int64_t at, uint64_t value)
{
	struct gt_row row = { .start = at, .end = at, .type = type, .nargs = 1 };

	gt_writer_row(g->w, GT_COUNTER, n->track, &row, &value, &g->err);
}

static void clocks_that_are_held_down(void)
{
	/* Free, then held; never held; no samples; no clock; held always; of several GPUs, which
	 * one is not known, and is; few samples. */
	static const struct {
		const char *state, *why;
	} want[] = {
		{ "found", "power cap, heat, by hardware" },
		{ "clean", "" },
		{ "cannot answer", "-e nvml" },
		{ "cannot answer", "was not recorded" },
		{ "cannot answer", "in all samples" },
		{ "cannot answer", "CUDA_VISIBLE_DEVICES" },
		{ "found", "to 1500 of 2000 MHz on average" },
		{ "cannot answer", "less than half" },
	};

	for (int how = 0; how < 8; how++) {
		struct gpus g;
		struct nvml n[2];
		json_t *j;

		gpus_begin(&g,
			how == 5
				? "{\"events\":\"api,gpu\",\"environment\":{\"CUDA_VISIBLE_DEVICES\":\"GPU-abc\"}}"
				: how == 6
				? "{\"events\":\"api,gpu\",\"environment\":{\"CUDA_VISIBLE_DEVICES\":\"1,0\"}}"
				: "{\"events\":\"api,gpu\"}");
		launched(&g, 980, 1000, 11000);
		for (int i = 0; i < 2; i++)
			n[i] = nvml(&g, i);
		if (how != 5 && how != 6)
			n[1] = n[0];
		if (how != 2 && how != 3)
			sample(&g, &n[1], n[1].mhz, how == 7 ? 9000 : 500, how == 4 ? 1500 : 2000);
		if (how != 2)
			sample(&g, &n[1], n[1].reasons, how == 7 ? 9000 : 500,
				how == 4 ? 0x44 : 0x1);
		for (int i = 0; i < 2 && (how == 5 || how == 6); i++)
			sample(&g, &n[0], n[0].reasons, 400 + i, 0x2);
		if (how != 2 && how != 1 && how != 7) {
			sample(&g, &n[1], n[1].reasons, 3000, 0x44);
			if (how != 3)
				sample(&g, &n[1], n[1].mhz, 3000, 1500);
		}
		j = advice(&g);
		CHECK(says(j, "throttled-clocks", want[how].state) &&
			because(j, "throttled-clocks", want[how].why));
		if (!strcmp(want[how].state, "found"))
			CHECK(costs(j, "throttled-clocks", true, 8000, 2000) &&
				num(rule(j, "throttled-clocks"), "at_ns") > 0 &&
				num(rule(j, "throttled-clocks"), "duration_ns") == 8000);
		json_decref(j);
	}
}

static void random_clocks(void)
{
	unsigned found = 0;

	for (unsigned seed = 1; seed <= T_INPUTS(60u); seed++) {
		static uint64_t bits[12000], mhz[12000];
		int64_t end = 1000, at = 900 + rp_below(400), from = 1000;
		static bool busy[12000];
		uint64_t weighed = 0, held = 0, best = 0, gain;
		struct gpus g;
		struct nvml n;
		json_t *j;

		srand(seed);
		gpus_begin_with(&g, "{\"events\":\"api,gpu\"}", 1);
		n = nvml(&g, 3);
		memset(busy, 0, sizeof(busy));
		memset(bits, 0, sizeof(bits));
		memset(mhz, 0, sizeof(mhz));
		for (int64_t start = 1000; start < 9000; start += rp_below(300)) {
			int64_t stop = start + 20 + rp_below(200);

			launched(&g, start - 15, start, stop);
			end = stop > end ? stop : end;
			memset(busy + start, 1, (size_t)(stop - start));
		}
		sample(&g, &n, n.reasons, 100, 0x1);
		sample(&g, &n, n.mhz, 100, 1980);
		for (bits[100] = 1, mhz[100] = 1980; at < 10000; at += 100 + rp_below(400)) {
			bits[at] = rp_below(3) ? 0x100 : (uint64_t)1 << rp_below(9);
			mhz[at] = 1000 + (uint64_t)rp_below(1000);
			sample(&g, &n, n.reasons, at, bits[at]);
			sample(&g, &n, n.mhz, at, mhz[at]);
		}
		for (int64_t x = 101; x < 12000; x++) {
			bits[x] = bits[x] ? bits[x] : bits[x - 1];
			mhz[x] = mhz[x] ? mhz[x] : mhz[x - 1];
			best = mhz[x] > best ? mhz[x] : best;
			if (busy[x] && bits[x] & 0xec)
				held++, weighed += mhz[x];
		}
		gain = held - weighed / best;
		found += worth((double)gain, (double)(end - from));
		j = advice(&g);
		CHECK(costs(j, "throttled-clocks", worth((double)gain, (double)(end - from)),
			(double)held, (double)gain));
		json_decref(j);
	}
	CHECK(found > 5 && found < 60);
}

/* ---- memory ---- */

/* The GPU works from 10000 to 90000; an allocation of each size may be given back later. */
struct block {
	int64_t at, gone;
	int size;
};
static struct block blocks[1200];
static int nblocks;

static void put_row(struct trace *t, int type, int64_t start, int64_t stop, uint64_t a, uint64_t b)
{
	call(t, 0, type, start, stop, 0, 0, a, b);
}

static struct gt_reader *put_blocks(bool args, bool gpu, bool lost)
{
	struct gt_gpu_types types = { 0 };
	struct gt_gpu_work w;
	uint32_t device, stream;
	struct trace t;

	begin(&t, args);
	types.w = t.w;
	device = gt_writer_track(t.w,
		&(struct gt_track){ .parent = t.process,
			.name = GT_NONE,
			.source = str(&t, "cupti"),
			.kind = GT_TRACK_DEVICE });
	stream = gt_writer_track(t.w,
		&(struct gt_track){ .parent = device,
			.name = GT_NONE,
			.source = str(&t, "cupti"),
			.kind = GT_TRACK_STREAM });
	for (int i = 0; i < nblocks; i++) {
		put_row(&t, ALLOC, blocks[i].at - 1, blocks[i].at, 1000u << blocks[i].size,
			0x100000u + 256u * (unsigned)i);
		if (blocks[i].gone)
			put_row(&t, FREE, blocks[i].gone, blocks[i].gone + 1,
				0x100000u + 256u * (unsigned)i, 0);
	}
	w = gpus_work(stream, 10000, 90000);
	if (gpu)
		gt_gpu_put_kernel(
			&types, &w, &(struct gt_gpu_kernel){ .name = str(&t, "_Z3addPf") }, &t.err);
	if (lost)
		gt_writer_loss(t.w, GT_SCOPE_TRACK, t.thread[1], 50000, 50100, 1, &t.err);
	gt_gpu_types_release(&types);
	return end(&t);
}

static uint64_t live_at(int size, int64_t x)
{
	uint64_t n = 0;

	for (int i = 0; i < nblocks; i++)
		n += blocks[i].size == size && blocks[i].at <= x &&
			(!blocks[i].gone || blocks[i].gone > x);
	return n;
}

static void random_memory(void)
{
	unsigned found = 0;

	for (unsigned seed = 1; seed <= T_INPUTS(30u); seed++) {
		uint64_t bytes = 0, most = 0, most_bytes = 0, all = 0;
		char want[80] = "";
		json_t *j;

		srand(seed);
		nblocks = 0;
		for (int64_t at = 1000; at < 99000; at += 100 + rp_below(400)) {
			struct block b = { at, 0, rp_below(3) };

			if (rp_below(10) < (int)seed % 8 + 3 || (b.size == 1 && seed % 2))
				b.gone = at + 50 + rp_below(rp_below(3) ? 2000 : 60000);
			b.gone = b.gone > 99900 ? 0 : b.gone;
			blocks[nblocks++] = b;
		}
		for (int s = 0; s < 3; s++) {
			uint64_t least[9];
			int grew = 0;

			for (int k = 8; k >= 0; k--) {
				least[k] = k < 8 ? least[k + 1] : UINT64_MAX;
				for (int64_t x = 10000 + k * 10000;
					x < (k < 8 ? 20000 + k * 10000 : 100000); x++)
					least[k] =
						live_at(s, x) < least[k] ? live_at(s, x) : least[k];
			}
			for (int k = 0; k < 8; k++)
				grew += least[k + 1] > least[k];
			if (grew < 6 || least[8] - least[0] < 10)
				continue;
			all += least[8] - least[0];
			bytes += (least[8] - least[0]) * (1000u << s);
			if ((least[8] - least[0]) * (1000u << s) > most_bytes)
				most_bytes = (least[8] - least[0]) * (1000u << s),
				most = least[8] - least[0];
		}
		j = advice_of(put_blocks(true, true, false), &plain);
		snprintf(want, sizeof(want), "%llu of %llu blocks, allocated by",
			(unsigned long long)most, (unsigned long long)all);
		CHECK(bytes ? num(rule(j, "leak"), "bytes") == (double)bytes
			    : says(j, "leak", "clean"));
		CHECK(!bytes || (absent(rule(j, "leak"), "gain_ns") && because(j, "leak", want)));
		snprintf(want, sizeof(want), "%.3f MiB allocated in the window are never freed",
			(double)bytes / (1 << 20));
		CHECK(!bytes || because(j, "leak", want));
		found += bytes > 0;
		json_decref(j);
	}
	CHECK(found > 5 && found < 30);
}

static void a_leak(void)
{
	/* grows; alive at the end, but all from the start; given back at last; likewise with no GPU
	 * recorded; no arguments; an event was lost, which may have been a free */
	static const char *const states[] = { "found", "clean", "clean", "found", "cannot answer",
		"cannot answer" };

	for (int how = 0; how < 6; how++) {
		json_t *j;

		nblocks = 40;
		for (int i = 0; i < 40; i++)
			blocks[i] = (struct block){ how == 1 ? 2000 + i * 100 : 9000 + i * 2000,
				how == 2 ? 95000 + i : 0, 2 };
		j = advice_of(put_blocks(how != 4, how != 3, how == 5), &plain);
		CHECK(says(j, "leak", states[how]) || !printf("# how %d\n", how));
		if (!how)
			CHECK(because(j, "leak",
				      "39 of 39 blocks, allocated by cuMemAlloc_v2, 4000 bytes each") &&
				because(j, "leak", "8 of 8 parts") &&
				num(rule(j, "leak"), "tid") == 100 &&
				num(rule(j, "leak"), "duration_ns") == 1);
		json_decref(j);
	}
}

/* The default report answers all rules, also those that read the trace twice. */
static void among_others(void)
{
	struct gt_analysis_options o = plain;
	json_t *j;

	o.in_default_report = true;
	plain_turns();
	nblocks = 0;
	j = advice_of(put_turns(&(struct gpus){ 0 }), &o);
	CHECK(says(j, "serialised-streams", "found") && says(j, "large-gap", "clean"));
	CHECK(says(j, "leak", "clean") && !says(j, "low-utilisation", "cannot answer"));
	json_decref(j);
}

T_MAIN(T(streams_that_take_turns), T(streams_with_a_reason), T(unknown_dependencies_of_streams),
	T(random_streams), T(random_gaps_and_regions), T(one_large_gap), T(one_region),
	T(clocks_that_are_held_down), T(random_clocks), T(random_memory), T(a_leak),
	T(among_others))
