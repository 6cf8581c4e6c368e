/* Allocated memory over time and its cost: known figures, and random programs compared with a
 * count that replays each call. */
#define _GNU_SOURCE
#include <math.h>
#include "analyze/core/run.h"
#include "tests/unit/gpus.h"
#include "tests/unit/reports.h"

static const char *const memory_only[] = { "memory", NULL };

static void who_held_the_peak(void)
{
	struct trace t;
	const json_t *r;
	json_t *j;

	begin(&t, true);
	call(&t, 0, ALLOC, 100, 110, 0, 0, 1000, 0xa000);
	call(&t, 0, ALLOC, 120, 130, 0, 0, 1000, 0xb000);
	call(&t, 1, ALLOC, 140, 150, 0, 0, 64, 0xc000);
	call(&t, 1, ALLOC, 150, 155, 0, 2, 9999, 0);  /* failed */
	call(&t, 0, FREE, 200, 203, 0, 0, 0xa000, 0); /* the peak was before: 2064 */
	/* reached again; the value is the same, so the first time counts */
	call(&t, 0, ALLOC, 210, 217, 0, 0, 1000, 0xa000);
	call(&t, 0, FREE, 220, 224, 0, 0, 0xb000, 0);
	call(&t, 0, ALLOC, 300, 310, 0, 0, 500, 0xd000);
	call(&t, 0, INIT, 1090, 1100, 0, 0, 0, 0);
	j = report(end(&t), memory_only, &plain);
	CHECK_EQ(rows(j, "memory_peak"), 2);
	r = row(j, "memory_peak", 0);
	CHECK(is(r, "call", "cuMemAlloc_v2") && is(r, "kind", "device") &&
		num(r, "size_bytes") == 1000 && num(r, "count") == 2);
	CHECK(num(r, "bytes") == 2000 && num(r, "share_percent") == 96.9 &&
		num(row(j, "memory_peak", 1), "size_bytes") == 64);
	CHECK(rows(j, "memory_live") == 3 && num(row(j, "memory_live", 0), "size_bytes") == 1000 &&
		num(row(j, "memory_live", 0), "count") == 1);
	CHECK(num(row(j, "memory_live", 0), "allocations") == 3 &&
		num(row(j, "memory_live", 1), "bytes") == 500);
	CHECK_EQ(rows(j, "memory_churn"), 1);
	r = row(j, "memory_churn", 0);
	/* the free at 220 released memory that was not requested again */
	CHECK(num(r, "again") == 1 && num(r, "again_ns") == 7 && num(r, "free_ns") == 3 &&
		num(r, "cost_ns") == 10);
	CHECK(num(r, "again_per_s") == 1e6 && num(r, "allocations") == 3);
	CHECK(rows(j, "memory_over_time") == 1 &&
		num(row(j, "memory_over_time", 0), "peak_bytes") == 2064);
	/* cells of 16.67 ns: 1000 from 110, 2000 from 130, 2064 from 150, 1064 from 200, 2064 from
	 * 217, 1064 from 220, 1564 from 310 */
	CHECK(is(row(j, "memory_over_time", 0), "strip",
		"=@@@@@+@++++################################################"));
	CHECK(rows(j, "memory_frees") == 1 && num(row(j, "memory_frees", 0), "count") == 2 &&
		num(row(j, "memory_frees", 0), "total_ns") == 7);
	CHECK(absent(row(j, "memory_frees", 0), "waited") &&
		noted(j, "memory_frees", "cannot answer"));
	CHECK(rows(j, "memory_devices") == 0 && noted(j, "memory_devices", "not recorded"));
	json_decref(j);
}

/* A missed free ends the old allocation, and does not count as a free. */
static void missed_frees_are_none(void)
{
	struct trace t;
	json_t *j;

	begin(&t, true);
	call(&t, 0, ALLOC, 100, 110, 0, 0, 1000, 0xa000);
	call(&t, 0, ALLOC, 120, 130, 0, 0, 1000, 0xa000);
	call(&t, 0, ALLOC, 140, 150, 0, 0, 1000, 0xb000);
	j = report(end(&t), memory_only, &plain);
	CHECK(rows(j, "memory_churn") == 0 && rows(j, "memory_live") == 1 &&
		num(row(j, "memory_live", 0), "count") == 2);
	CHECK(num(row(j, "memory_peak", 0), "count") == 2 && noted(j, "memory", "missed: "));
	json_decref(j);
}

/* Memory that was allocated before the selected time range is in no figure of the range, and a
 * note says so. */
static void what_was_before_is_not_alive(void)
{
	static const struct {
		int64_t from, to;
		double peak;
		bool said;
	} looks[] = {
		{ INT64_MIN, INT64_MAX, 3000, false },
		{ 100, 400, 3000, false },
		{ INT64_MIN, 250, 1000, false },
		{ 200, 400, 2000, true },
		{ 200, INT64_MAX, 2000, true },
	};

	for (size_t i = 0; i < sizeof(looks) / sizeof(*looks); i++) {
		struct gt_analysis_options o = plain;
		struct trace t;
		json_t *j;

		begin(&t, true);
		call(&t, 0, ALLOC, 100, 110, 0, 0, 1000, 0xa000);
		call(&t, 0, ALLOC, 300, 310, 0, 0, 2000, 0xb000);
		o.filter = (struct gt_filter){
			.ranged = true, .from = looks[i].from, .to = looks[i].to
		};
		j = report(end(&t), memory_only, &o);
		CHECK(num(row(j, "memory", 0), "peak_bytes") == looks[i].peak);
		CHECK(noted(j, "memory",
			      "memory allocated before the selected range is not counted") ==
			looks[i].said);
		json_decref(j);
	}
}

/* Without arguments memory is unknown, and not 0. */
static void no_arguments_no_answer(void)
{
	struct trace t;
	json_t *j;

	known(&t, false);
	j = report(end(&t), memory_only, &plain);
	CHECK(rows(j, "memory") > 0 && rows(j, "memory_peak") == 0 &&
		noted(j, "memory_peak", "cannot answer"));
	CHECK(noted(j, "memory_live", "cannot answer") &&
		noted(j, "memory_churn", "cannot answer") &&
		noted(j, "memory_over_time", "cannot"));
	CHECK(rows(j, "memory_frees") == 1 && num(row(j, "memory_frees", 0), "count") == 2);
	json_decref(j);
}

/* The default report omits the table memory_peak. */
static void only_when_asked(void)
{
	struct gt_analysis_options o = plain;
	struct trace t;
	json_t *j;

	known(&t, true);
	o.in_default_report = true;
	j = report(end(&t), memory_only, &o);
	CHECK(rows(j, "memory") == 2 && rows(j, "memory_processes") == 1 &&
		!json_object_get(j, "memory_peak"));
	CHECK(noted(j, "memory_processes", "gtanalyze memory"));
	json_decref(j);
}

static void frees_that_wait_and_devices(void)
{
	struct gpus g;
	struct gt_field f[2];
	struct gt_type type = { .category = GT_CAT_MEMORY,
		.op = GT_OP_FREE,
		.memkind = GT_MEM_DEVICE,
		.fields = f,
		.nfields = 1 };
	uint32_t free_, counter;
	json_t *j;

	gpus_begin_with(&g, NULL, 1);
	f[0] = (struct gt_field){ gt_writer_string(g.w, "dptr"), GT_F_HEX, GT_R_ADDR };
	type.name = gt_writer_string(g.w, "cuMemFree_v2");
	free_ = gt_writer_type(g.w, &type);
	f[0] = (struct gt_field){ gt_writer_string(g.w, "value"), GT_F_U64, GT_R_VALUE };
	f[1] = (struct gt_field){ gt_writer_string(g.w, "uncertain"), GT_F_BOOL, GT_R_UNCERTAIN };
	type = (struct gt_type){ .name = gt_writer_string(g.w, "live_device_bytes"),
		.category = GT_CAT_MEMORY,
		.memkind = GT_MEM_DEVICE,
		.fields = f,
		.nfields = 2 };
	counter = gt_writer_type(g.w, &type);
	for (int i = 0; i < 3; i++) {
		struct gt_row row = {
			.start = 100 * i, .end = 100 * i + 50, .type = free_, .nargs = 1
		};
		struct gt_row sample = {
			.start = 100 * i, .end = 100 * i, .type = counter, .nargs = 2
		};

		gt_writer_row(g.w, GT_CALL, g.thread[0], &row, (uint64_t[]){ 0x1000 }, &g.err);
		gt_writer_row(g.w, GT_COUNTER, g.device[0], &sample,
			(uint64_t[]){ (uint64_t[]){ 5, 70, 3 }[i], i == 1 }, &g.err);
	}
	gpus_plain(&g, 0, g.stream[0][0], 90, 130);
	j = report(gpus_end(&g), memory_only, &plain);
	CHECK(rows(j, "memory_frees") == 1 && num(row(j, "memory_frees", 0), "count") == 3 &&
		num(row(j, "memory_frees", 0), "total_ns") == 150);
	CHECK(num(row(j, "memory_frees", 0), "waited") == 1 &&
		num(row(j, "memory_frees", 0), "wait_ns") == 50);
	CHECK_EQ(num(row(j, "memory_frees", 0), "gpu_busy_ns"), 30);
	CHECK(rows(j, "memory_devices") == 1 && num(row(j, "memory_devices", 0), "device") == 0 &&
		is(row(j, "memory_devices", 0), "kind", "device"));
	CHECK(num(row(j, "memory_devices", 0), "peak_bytes") == 70 &&
		num(row(j, "memory_devices", 0), "peak_at_ns") == 100);
	CHECK(num(row(j, "memory_devices", 0), "live_bytes") == 3 &&
		noted(j, "memory_devices", "were not seen"));
	json_decref(j);
}

/* Live memory of device 0 as the recorder counts it, and a call that frees: at 100 to 150, and once
 * more at 300 to 350 if `late`. The last sample, of 0, is of 300. */
static struct gt_reader *counted(bool late, int samples)
{
	struct gpus g;
	struct gt_field f = { 0 };
	struct gt_type type = {
		.category = GT_CAT_MEMORY, .memkind = GT_MEM_DEVICE, .fields = &f, .nfields = 1
	};
	uint32_t free_, counter;

	gpus_begin_with(&g, NULL, 1);
	f = (struct gt_field){ gt_writer_string(g.w, "value"), GT_F_U64, GT_R_VALUE };
	type.name = gt_writer_string(g.w, "live_device_bytes");
	counter = gt_writer_type(g.w, &type);
	f = (struct gt_field){ gt_writer_string(g.w, "dptr"), GT_F_HEX, GT_R_ADDR };
	type.op = GT_OP_FREE;
	type.name = gt_writer_string(g.w, "cuMemFree_v2");
	free_ = gt_writer_type(g.w, &type);
	for (int64_t at = 100; at <= (late ? 300 : 100); at += 200) {
		struct gt_row row = { .start = at, .end = at + 50, .type = free_, .nargs = 1 };

		gt_writer_row(g.w, GT_CALL, g.thread[0], &row, (uint64_t[]){ 0x1000 }, &g.err);
	}
	for (int i = 3 - samples; i < 3; i++) {
		struct gt_row row = {
			.start = 100 * (i + 1), .end = 100 * (i + 1), .type = counter, .nargs = 1
		};

		gt_writer_row(g.w, GT_COUNTER, g.device[0], &row,
			(uint64_t[]){ (uint64_t[]){ 70, 5, 0 }[i] }, &g.err);
	}
	return gpus_end(&g);
}

/* A process that has ended holds no memory, but it has not freed that memory. */
static void a_process_ends_with_what_it_held(void)
{
	json_t *j = report(counted(false, 3), memory_only, &plain);

	CHECK(num(row(j, "memory_devices", 0), "live_bytes") == 5 &&
		num(row(j, "memory_devices", 0), "peak_bytes") == 70);
	json_decref(j);
	j = report(counted(true, 3), memory_only, &plain); /* freed */
	CHECK_EQ(num(row(j, "memory_devices", 0), "live_bytes"), 0);
	json_decref(j);
	/* earlier allocations are unknown */
	j = report(counted(false, 1), memory_only, &plain);
	CHECK(rows(j, "memory_devices") == 1 && absent(row(j, "memory_devices", 0), "live_bytes"));
	json_decref(j);
}

/* Two handles of this process, one of which is retained twice; one of another process, retained
 * twice; an imported one, whose release is recorded. */
static void holds_are_no_frees(void)
{
	struct trace t;
	uint32_t create, release, retain, import;
	const struct {
		int64_t at;
		uint32_t *type;
		uint64_t handle;
	} calls[] = {
		{ 100, &create, 1 }, { 110, &create, 2 }, { 120, &retain, 2 }, { 130, &release, 2 },
		{ 140, &release, 2 }, { 150, &release, 1 }, { 160, &retain, 7 },
		{ 170, &release, 7 }, { 180, &release, 7 }, { 190, &import, 8 },
		{ 200, &release, 8 }, { 210, &release, 9 }, /* this one was never recorded */
	};
	json_t *j;

	begin(&t, true);
	create = new_type(&t, "cuMemCreate",
		(struct gt_type){
			.category = GT_CAT_MEMORY, .op = GT_OP_ALLOC, .memkind = GT_MEM_PHYSICAL },
		GT_R_ADDR, GT_R_BYTES);
	release = new_type(&t, "cuMemRelease",
		(struct gt_type){
			.category = GT_CAT_MEMORY, .op = GT_OP_FREE, .memkind = GT_MEM_PHYSICAL },
		GT_R_ADDR, 0);
	retain = new_type(&t, "cuMemRetainAllocationHandle",
		(struct gt_type){
			.category = GT_CAT_MEMORY, .op = GT_OP_RETAIN, .memkind = GT_MEM_PHYSICAL },
		GT_R_ADDR, 0);
	import = new_type(&t, "cuMemImportFromShareableHandle",
		(struct gt_type){
			.category = GT_CAT_MEMORY, .op = GT_OP_IMPORT, .memkind = GT_MEM_PHYSICAL },
		GT_R_ADDR, 0);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		bool two = calls[i].type == &create;
		struct gt_row row = { calls[i].at, calls[i].at + 5, *calls[i].type, 0, 0,
			two ? 2 : 1 };

		gt_writer_row(t.w, GT_CALL, t.thread[0], &row,
			(uint64_t[]){ calls[i].handle, 4096 }, &t.err);
	}
	j = report(end(&t), memory_only, &plain);
	CHECK(is(row(j, "memory", 0), "kind", "physical") &&
		num(row(j, "memory", 0), "allocations") == 2);
	CHECK(num(row(j, "memory", 0), "frees") == 3 &&
		num(row(j, "memory", 0), "unknown_frees") == 1);
	CHECK(num(row(j, "memory", 0), "reference_frees") == 2 &&
		num(row(j, "memory", 0), "imported_frees") == 2);
	CHECK(num(row(j, "memory", 0), "freed_bytes") == 8192 &&
		num(row(j, "memory", 0), "live_count") == 0);
	CHECK(noted(j, "memory", "2 releases of physical memory that had another handle") &&
		noted(j, "memory", "2 releases of memory that was imported"));
	json_decref(j);
}

/* ---- beside a plain count ---- */

#define MOST 600
#define ADDRESSES 12
struct step {
	bool alloc, host;
	int thread;
	int64_t start, end, at;
	uint64_t bytes, addr;
};
struct tally {
	int64_t live, peak, allocs, again, again_ns, free_ns, spare, spare_ns;
};
static const uint64_t sizes[3] = { 64, 4096, 1000000 };

/* Calls of two threads; no two count at the same time. */
static int make(struct step *list)
{
	int n = 0;

	for (int64_t now = 100; n < MOST && now < 20000; n++) {
		struct step *s = &list[n];

		*s = (struct step){ .alloc = rand() % 5 < 3,
			.host = rand() % 4 == 0,
			.thread = n % 2,
			.bytes = sizes[rand() % 3],
			.addr = 0x1000u * (1 + (unsigned)rand() % ADDRESSES) };
		s->start = now + 1 + rand() % 20;
		s->end = s->start + 1 + rand() % 30;
		s->at = s->alloc ? s->end : s->start;
		now = s->end;
	}
	return n;
}

static struct gt_reader *written(const struct step *list, int n)
{
	struct trace t;
	uint32_t types[2][2];

	begin(&t, true);
	for (int host = 0; host < 2; host++) {
		types[host][1] = new_type(&t, host ? "cuMemHostAlloc" : "cuMemAlloc_v2",
			(struct gt_type){ .category = GT_CAT_MEMORY,
				.op = GT_OP_ALLOC,
				.memkind = host ? GT_MEM_HOST : GT_MEM_DEVICE },
			GT_R_BYTES, GT_R_ADDR);
		types[host][0] = new_type(&t, host ? "cuMemFreeHost" : "cuMemFree_v2",
			(struct gt_type){ .category = GT_CAT_MEMORY,
				.op = GT_OP_FREE,
				.memkind = host ? GT_MEM_HOST : GT_MEM_DEVICE },
			GT_R_ADDR, 0);
	}
	for (int i = 0; i < n; i++) {
		const struct step *s = &list[i];
		struct gt_row row = { s->start, s->end, types[s->host][s->alloc], 0, 0,
			s->alloc ? 2 : 1 };

		gt_writer_row(t.w, GT_CALL, t.thread[s->thread], &row,
			s->alloc ? (uint64_t[]){ s->bytes, s->addr } : (uint64_t[]){ s->addr },
			&t.err);
		if (i % 100 == 99)
			gt_writer_epoch(t.w, s->end + 1, &t.err);
	}
	return end(&t);
}

struct played {
	struct tally of[2][3];
	uint64_t value[MOST + 1], peak;
};

/* group[a]: 1 + host * 3 + size of the allocation that is alive at address a, or 0. */
static void play(const struct step *list, int n, struct played *p)
{
	int group[ADDRESSES + 1] = { 0 };
	uint64_t live = 0;

	memset(p, 0, sizeof(*p));
	for (int i = 0; i < n; i++) {
		const struct step *s = &list[i];
		int *here = &group[s->addr / 0x1000], had = *here - 1,
		    size = s->bytes == 64  ? 0
			: s->bytes == 4096 ? 1
					   : 2;
		struct tally *old = had < 0 ? NULL : &p->of[had / 3][had % 3],
			     *new = &p->of[s->host][size];

		if (old) {
			old->live--;
			live -= sizes[had % 3];
		}
		if (s->alloc) {
			new->allocs++;
			new->live++;
			live += s->bytes;
			if (new->spare) {
				int64_t mean = new->spare_ns / new->spare--;

				new->again++, new->again_ns += s->end - s->start,
					new->free_ns += mean, new->spare_ns -= mean;
			}
		} else if (old) {
			old->spare++, old->spare_ns += s->end - s->start;
		}
		*here = s->alloc ? 1 + s->host * 3 + size : 0;
		p->value[i] = live;
		if (live > p->peak) {
			p->peak = live;
			for (int k = 0; k < 6; k++)
				p->of[k / 3][k % 3].peak = p->of[k / 3][k % 3].live;
		}
	}
}

static const json_t *find(const json_t *j, const char *table, int host, uint64_t size)
{
	for (size_t i = 0; i < rows(j, table); i++)
		if (is(row(j, table, i), "call", host ? "cuMemHostAlloc" : "cuMemAlloc_v2") &&
			num(row(j, table, i), "size_bytes") == (double)size)
			return row(j, table, i);
	return NULL;
}

static bool agree(const json_t *j, const struct played *p)
{
	bool ok = num(row(j, "memory_processes", 0), "peak_bytes") == (double)p->peak;

	for (int k = 0; k < 6; k++) {
		const struct tally *t = &p->of[k / 3][k % 3];
		const json_t *peak = find(j, "memory_peak", k / 3, sizes[k % 3]),
			     *live = find(j, "memory_live", k / 3, sizes[k % 3]);
		const json_t *churn = find(j, "memory_churn", k / 3, sizes[k % 3]);

		ok &= t->peak ? num(peak, "count") == (double)t->peak &&
				num(peak, "bytes") == (double)t->peak * (double)sizes[k % 3]
			      : !peak;
		ok &= t->live ? num(live, "count") == (double)t->live &&
				num(live, "allocations") == (double)t->allocs
			      : !live;
		ok &= t->again ? num(churn, "again") == (double)t->again &&
				num(churn, "again_ns") == (double)t->again_ns &&
				num(churn, "free_ns") == (double)t->free_ns
			       : !churn;
	}
	return ok;
}

/* The most that was alive in each of 60 cells, value after value. */
static bool same_strip(const char *strip, const struct step *list, int n, const struct played *p)
{
	int64_t from = list[0].start, width = 0;

	for (int i = 0; i < n; i++)
		width = list[i].end - from > width ? list[i].end - from : width;
	for (int64_t c = 0; c < 60; c++) {
		uint64_t most = 0;

		for (int i = 0; i < n; i++) {
			int64_t begins = (list[i].at - from) * 60,
				ends = i + 1 < n ? (list[i + 1].at - from) * 60 : width * 60;
			/* a step at the end of the window */
			bool last = c == 59 && begins >= c * width;

			if ((begins < (c + 1) * width && ends > c * width) || last)
				most = p->value[i] > most ? p->value[i] : most;
		}
		if (strip[c] !=
			" .:-=+*#%@"[most ? (most * 10 / p->peak > 9 ? 9
							    : most * 10 / p->peak
							    ? most * 10 / p->peak
							    : 1)
					  : 0])
			return false;
	}
	return true;
}

/* Of each process' peak, to the hundredth. */
static bool peaks_add_up(const json_t *j)
{
	bool ok = true;

	for (size_t i = 0; i < rows(j, "memory_peak"); i++) {
		double pid = num(row(j, "memory_peak", i), "pid"), all = 0;

		for (size_t k = 0; k < rows(j, "memory_peak"); k++)
			all += num(row(j, "memory_peak", k), "pid") == pid
				? num(row(j, "memory_peak", k), "share_percent") * 100
				: 0;
		ok &= llround(all) == 10000;
	}
	return ok;
}

static void memory_equals_a_plain_count(void)
{
	static struct step list[MOST];
	static struct played p;
	int64_t again = 0;

	for (unsigned seed = 1; seed <= 60; seed++) {
		int n;
		json_t *j;

		srand(seed);
		n = make(list);
		j = report(written(list, n), memory_only, &plain);
		play(list, n, &p);
		CHECK(agree(j, &p) && peaks_add_up(j));
		CHECK(same_strip(
			json_string_value(json_object_get(row(j, "memory_over_time", 0), "strip")),
			list, n, &p));
		for (int k = 0; k < 6; k++)
			again += p.of[k / 3][k % 3].again;
		json_decref(j);
	}
	CHECK(again > 1000);
}

T_MAIN(T(who_held_the_peak), T(missed_frees_are_none), T(what_was_before_is_not_alive),
	T(no_arguments_no_answer), T(only_when_asked), T(frees_that_wait_and_devices),
	T(a_process_ends_with_what_it_held), T(holds_are_no_frees), T(memory_equals_a_plain_count))
