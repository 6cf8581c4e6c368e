/* Live bytes, as the recorder computes them from the calls in rings that the tests write. */
#include "collect/recorder/memory_counters.h"
#include "formats/trace/read/live_allocations.h"
#include "tests/unit/collect/rings.h"

#define MIB (1ull << 20)
#define MS 1000000ll

/* ---- calls ---- */

/* at: the time from which it counts. */
static void made(
	struct pen *p, const char *name, int64_t at, int ret, uint64_t a, uint64_t b, uint64_t c)
{
	unsigned id = gt_api_find(name);
	bool begins = gt_api[id].op == GT_OP_FREE || gt_api[id].op == GT_OP_UNMAP;

	leave(p, id, begins ? at : at - 5, begins ? at + 5 : at, ret, (uint64_t[]){ a, b, c },
		key_fields(id));
}

static void allocate(struct pen *p, int64_t at, uint64_t address, uint64_t bytes)
{
	made(p, "cuMemAlloc_v2", at, 0, address, bytes, 0);
}
static void give_back(struct pen *p, int64_t at, uint64_t address)
{
	made(p, "cuMemFree_v2", at, 0, address, 0, 0);
}

static void on_device(struct pen *p, uint64_t device)
{
	struct gt_rec head = { .start = 1,
		.end = 1,
		.id = GT_EV_DEVICE,
		.nargs = 1,
		.kind_depth = GT_REC_EVENT << 5 };

	put(p, &head, &device, 8);
	publish(p);
}

static bool begins(void)
{
	bool fine;

	with_memory = true;
	fine = begin(GT_ARGS_KEY);
	with_memory = false;
	return fine;
}

/* ---- samples ---- */

#define SAMPLES 4000
static struct sample {
	int64_t at;
	uint64_t value;
	bool uncertain;
	char name[32];
	int device;
	uint32_t process;
} samples[SAMPLES];
static unsigned nsamples;

static bool take_samples(struct gt_reader *reader)
{
	struct gt_filter counters = { .kinds = GT_BIT(GT_COUNTER) };
	struct gt_iter *it = reader ? gt_iter_open(reader, &counters, &err) : NULL;
	struct gt_event ev;

	for (nsamples = 0; it && nsamples < SAMPLES && gt_iter_next(it, &ev, &err) > 0;
		nsamples++) {
		struct sample *s = &samples[nsamples];
		const struct gt_track *t = &ev.seg->tracks[ev.track];

		*s = (struct sample){ .at = ev.row.start,
			.value = ev.args[0],
			.uncertain = ev.args[1],
			.device = t->kind == GT_TRACK_DEVICE ? (int)t->id : -1,
			.process = t->kind == GT_TRACK_DEVICE ? t->parent : ev.track };
		snprintf(s->name, sizeof(s->name), "%s", gt_type_name(ev.seg, ev.row.type));
	}
	gt_iter_close(it);
	gt_reader_close(reader);
	return it;
}

static const struct sample *last_of(const char *name, int device)
{
	const struct sample *found = NULL;

	for (unsigned i = 0; i < nsamples; i++)
		if (!strcmp(samples[i].name, name) && samples[i].device == device)
			found = &samples[i];
	return found;
}

static uint64_t value_of(const char *name, int device)
{
	return last_of(name, device) ? last_of(name, device)->value : UINT64_MAX;
}

static const struct sample *peak_of(const char *name, int device)
{
	const struct sample *found = NULL;

	for (unsigned i = 0; i < nsamples; i++)
		if (!strcmp(samples[i].name, name) && samples[i].device == device &&
			(!found || samples[i].value > found->value))
			found = &samples[i];
	return found;
}

/* ---- tests ---- */

static void bytes_are_reported_per_device_and_kind(void)
{
	struct pen p;
	int64_t t = past(900 * MS);

	CHECK(begins());
	p = new_thread(0, 0);
	allocate(&p, t, 0x10, 1); /* before any device is known */
	on_device(&p, 0);
	allocate(&p, t += 20 * MS, 0x1000, 100);
	made(&p, "cuMemAllocAsync", t, 0, 0x2000, 200, 7);
	made(&p, "cuMemAllocManaged", t + 6, 0, 0x3000, 300, 0);
	made(&p, "cuMemHostAlloc", t + 9, 0, 0x4000, 400, 0);
	made(&p, "cuMemHostRegister_v2", t + 11, 0, 0x5000, 50, 0);
	made(&p, "cuArrayCreate_v2", t + 13, 0, 0x1000, 600, 0);
	made(&p, "cuMemCreate", t + 15, 0, 0x1000, 700, 1);
	made(&p, "cuMemCreate", t + 17, 0, 0x1001, 7, UINT64_MAX); /* of the host */
	on_device(&p, 1);
	allocate(&p, t + 30, 0x6000, 1000);
	made(&p, "cuMemHostUnregister", t + 40 * MS, 0, 0x5000, 0, 0);
	CHECK(take_samples(end()));
	CHECK(value_of("live_device_bytes", -1) == 1 && value_of("live_device_bytes", 0) == 100 &&
		value_of("live_device_bytes", 1) == 1000);
	CHECK(value_of("live_pool_bytes", 0) == 200 && value_of("live_array_bytes", 0) == 600);
	CHECK(value_of("live_virtual_bytes", 1) == 700 && value_of("live_virtual_bytes", -1) == 7);
	CHECK(value_of("live_managed_bytes", -1) == 300 && value_of("live_host_bytes", -1) == 400);
	CHECK(peak_of("live_host_bytes", -1)->value == 450 && nsamples == 11);
	for (unsigned i = 0; i < nsamples; i++)
		CHECK(!samples[i].uncertain);
}

/* A million pairs give a few rows; the size and time of the peak are exact. */
static void the_peak_is_exact_however_many_there_are(void)
{
	struct pen p;
	int64_t t = past(2000 * MS), peak_at = 0;
	uint64_t live = 0, peak = 0, seed = 1, n = 0;
	uint64_t sizes[64] = { 0 };
	const struct sample *s;

	CHECK(begins());
	p = new_thread(0, 0);
	on_device(&p, 0);
	for (int i = 0; i < 400000; i++, t += 2000) {
		unsigned k = (unsigned)((seed = seed * 6364136223846793005ull +
							1442695040888963407ull) >>
			58);

		if (sizes[k]) {
			give_back(&p, t, 0x1000 + k);
			live -= sizes[k];
			sizes[k] = 0;
		} else {
			allocate(&p, t, 0x1000 + k, sizes[k] = (seed >> 20 & 0xfff) + 1);
			live += sizes[k];
		}
		if (live > peak)
			peak = live, peak_at = t;
		if (++n % 20000 == 0)
			CHECK(gt_recorder_pass(r, &err) >= 0);
	}
	CHECK(take_samples(end()) && nsamples > 100 && nsamples < 4 * (80 + 20));
	s = peak_of("live_device_bytes", 0);
	CHECK(s->value == peak && s->at == peak_at);
	CHECK(value_of("live_device_bytes", 0) == live);
}

/* A free counts from its start, but is reported when it has returned: calls of other threads in
 * between wait for it. */
static void a_free_that_runs_is_waited_for(void)
{
	struct pen a, b;
	int64_t t = past(500 * MS), now;
	unsigned id = gt_api_find("cuMemFree_v2");

	CHECK(begins());
	a = new_thread(0, 0);
	b = new_thread(1, 0);
	on_device(&a, 0);
	on_device(&b, 0);
	allocate(&a, t, 0x1000, 100);
	allocate(&a, t + 1, 0x1100, 1);
	enter(&a, id, t + 20 * MS);
	/* the program has released it already */
	allocate(&b, t + 30 * MS, 0x1000, 90);
	allocate(&b, t + 60 * MS, 0x2000, 15);
	for (int i = 0; i < 5; i++)
		CHECK(gt_recorder_pass(r, &err) >= 0);
	now = gt_clock_monotonic();
	leave(&a, id, t + 20 * MS, now, 0, (uint64_t[]){ 0x1000 }, 1);
	wait_until(now + 1);
	CHECK(gt_recorder_pass(r, &err) >= 0);
	give_back(&b, gt_clock_monotonic() - 5, 0x1000);
	CHECK(take_samples(end()));
	CHECK(peak_of("live_device_bytes", 0)->value == 106 &&
		value_of("live_device_bytes", 0) == 16);
	for (unsigned i = 0; i < nsamples; i++)
		CHECK(!samples[i].uncertain);
}

/* A free that never returns does not make other calls wait without limit; but the value is then
 * uncertain. */
static void a_free_that_never_ends_is_not(void)
{
	struct pen a, b;
	int64_t t = past(900 * MS);

	CHECK(begins());
	a = new_thread(0, 0);
	b = new_thread(1, 0);
	on_device(&a, 0);
	on_device(&b, 0);
	allocate(&a, t, 0x1000, 100);
	enter(&a, gt_api_find("cuMemFree_v2"), t + MS);
	for (uint64_t i = 0; i < 70000; i++) {
		allocate(&b, t + 2 * MS + (int64_t)i * 10, 0x10000 + i, 1);
		if (i % 1000 == 0)
			CHECK(gt_recorder_pass(r, &err) >= 0);
	}
	CHECK(take_samples(end()) && value_of("live_device_bytes", 0) == 70100 &&
		last_of("live_device_bytes", 0)->uncertain);
}

static void frees_that_mean_nothing_change_nothing(void)
{
	struct pen p;
	int64_t t = past(900 * MS);

	CHECK(begins());
	p = new_thread(0, 0);
	on_device(&p, 0);
	give_back(&p, t, 0x9000); /* unknown */
	allocate(&p, t += 20 * MS, 0x1000, 100);
	allocate(&p, t += 20 * MS, 0x2000, 11);
	give_back(&p, t += 20 * MS, 0x1000);
	give_back(&p, t += 20 * MS, 0x1000); /* twice */
	give_back(&p, t += 20 * MS, 0);
	made(&p, "cuMemFree_v2", t += 20 * MS, 1, 0x2000, 0, 0); /* refused */
	made(&p, "cuMemAlloc_v2", t += 20 * MS, 2, 0x3000, 1000, 0);
	/* a handle from another process */
	made(&p, "cuMemRelease", t += 20 * MS, 0, 0x2000, 0, 0);
	made(&p, "cuIpcCloseMemHandle", t += 20 * MS, 0, 0x2000, 0, 0);
	CHECK(take_samples(end()) && nsamples == 3 && value_of("live_device_bytes", 0) == 11 &&
		!last_of("live_device_bytes", 0)->uncertain);
}

/* An allocation at an address that is still allocated shows that a free was missed. */
static void a_missed_free_is_made_up_for(void)
{
	struct pen p;
	int64_t t = past(900 * MS);

	CHECK(begins());
	p = new_thread(0, 0);
	on_device(&p, 0);
	allocate(&p, t, 0x1000, 100);
	allocate(&p, t += 20 * MS, 0x1000, 30);
	made(&p, "cuMemHostAlloc", t += 20 * MS, 0, 0x1000, 7, 0);
	CHECK(take_samples(end()) && peak_of("live_device_bytes", 0)->value == 100 &&
		value_of("live_device_bytes", 0) == 0);
	CHECK_EQ(value_of("live_host_bytes", -1), 7);
}

/* Released right after it was mapped, as some programs do: the memory lives until it is
 * unmapped. */
static void mapped_memory_lives_without_its_handle(void)
{
	struct pen p;
	int64_t t = past(900 * MS);

	CHECK(begins());
	p = new_thread(0, 0);
	made(&p, "cuMemCreate", t, 0, 77, 2 * MIB, 0);
	made(&p, "cuMemCreate", t + 2, 0, 78, 2 * MIB, 0);
	made(&p, "cuMemMap", t + 4, 0, 0x100000000, 2 * MIB, 77);
	made(&p, "cuMemMap", t + 6, 0, 0x100000000 + 2 * MIB, 2 * MIB, 78);
	made(&p, "cuMemRelease", t + 8, 0, 77, 0, 0);
	made(&p, "cuMemRelease", t += 20 * MS, 0, 78, 0, 0);
	made(&p, "cuMemUnmap", t += 20 * MS, 0, 0x100000000, 4 * MIB, 0);
	CHECK(take_samples(end()) && nsamples == 4);
	CHECK(samples[0].value == 2 * MIB && samples[1].value == 4 * MIB && samples[3].value == 0 &&
		samples[3].at == t);
}

static void after_a_loss_it_is_not_certain(void)
{
	struct pen p;
	int64_t t = past(900 * MS);

	CHECK(begins());
	p = new_thread(0, 0);
	on_device(&p, 0);
	allocate(&p, t, 0x1000, 100);
	for (int i = 0; i < 3; i++)
		CHECK(gt_recorder_pass(r, &err) >= 0);
	rings.threads[0].dropped_from = rings.threads[0].dropped_to = (uint64_t)t + 1;
	rings.threads[0].dropped = 1;
	allocate(&p, t + 100 * MS, 0x2000, 100);
	CHECK(take_samples(end()));
	CHECK(!samples[0].uncertain && samples[0].value == 100 &&
		last_of("live_device_bytes", 0)->uncertain &&
		value_of("live_device_bytes", 0) == 200);
}

/* No further allocation follows: the uncertainty is reported nevertheless. */
static void a_loss_without_a_later_call_is_reported(void)
{
	struct pen p;
	int64_t t = past(900 * MS);

	CHECK(begins());
	p = new_thread(0, 0);
	on_device(&p, 0);
	allocate(&p, t, 0x1000, 100);
	for (int i = 0; i < 3; i++)
		CHECK(gt_recorder_pass(r, &err) >= 0);
	rings.procs[0].untraced = 1;
	CHECK(take_samples(end()) && nsamples == 2 && !samples[0].uncertain &&
		samples[1].uncertain && samples[1].value == 100);
}

static void a_size_that_is_not_known_is_not_certain(void)
{
	struct pen p;
	int64_t t = past(900 * MS);

	CHECK(begins());
	p = new_thread(0, 0);
	on_device(&p, 0);
	made(&p, "cuArrayCreate_v2", t, 0, 0x1000, 0, 0); /* compressed */
	allocate(&p, t + 20 * MS, 0x1000, 100);
	CHECK(take_samples(end()) && last_of("live_device_bytes", 0)->uncertain);
}

static void what_a_context_takes_with_it(void)
{
	struct pen p;
	int64_t t = past(900 * MS);

	CHECK(begins());
	p = new_thread(0, 0);
	on_device(&p, 0);
	allocate(&p, t, 0x1000, 100);
	give_back(&p, t += 20 * MS, 0x1000);
	made(&p, "cuCtxDestroy_v2", t += 20 * MS, 0, 0xc, 0, 0);
	allocate(&p, t += 20 * MS, 0x1000, 100);
	for (int i = 0; i < 3; i++)
		CHECK(gt_recorder_pass(r, &err) >= 0);
	made(&p, "cuDevicePrimaryCtxReset_v2", t += 20 * MS, 0, 0, 0, 0);
	CHECK(take_samples(end()) && nsamples == 4);
	CHECK(!samples[2].uncertain && samples[2].value == 100 && samples[3].uncertain);
}

/* A forked child holds no memory of its parent and frees none of it; a process that has ended
 * holds no memory. */
static void processes_hold_their_own(void)
{
	struct pen a, b;
	int64_t t = past(900 * MS);
	uint32_t parent;

	CHECK(begins());
	a = new_thread(0, 0);
	on_device(&a, 0);
	allocate(&a, t, 0x1000, 100);
	CHECK(gt_recorder_pass(r, &err) >= 0);
	new_process(1, 4243, 4242);
	b = new_thread(1, 1);
	on_device(&b, 0);
	give_back(&b, t + 20 * MS, 0x1000);
	allocate(&b, t + 40 * MS, 0x2000, 7);
	CHECK(take_samples(end()) && nsamples == 2 && samples[0].value == 100 &&
		samples[1].value == 7);
	parent = samples[0].process;
	CHECK(parent != samples[1].process);
}

/* Calls live_bytes.c directly: a process that has ended has no new rows, but one with the value
 * 0. */
static uint32_t track_zero(void *arg, uint32_t device) { return (void)arg, (void)device, 0; }
static void who_is_gone_holds_nothing(void)
{
	struct gt_memory_process *q = NULL;
	struct gt_memory *m;
	int64_t t = past(900 * MS);
	bool wrote;

	CHECK(begins());
	new_thread(0, 0);
	CHECK(gt_recorder_pass(r, &err) >= 0); /* makes track 0 */
	m = gt_memory_open(w);
	CHECK(m &&
		!gt_memory_call(&q, 0, false,
			&(struct gt_memory_call){ GT_OP_ALLOC, GT_MEM_HOST, 0, t, 0x1000, 5 }));
	CHECK(gt_memory_has_pending(q) &&
		!gt_memory_flush_ready(m, q, t - 1, track_zero, NULL, &wrote, &err) && !wrote &&
		gt_memory_has_pending(q));
	CHECK(!gt_memory_flush_ready(m, q, t, track_zero, NULL, &wrote, &err) && wrote &&
		!gt_memory_has_pending(q));
	CHECK(!gt_memory_end(m, q, t + 50 * MS, true, track_zero, NULL, &err));
	gt_memory_process_close(q);
	gt_memory_close(m);
	CHECK(take_samples(end()) && nsamples == 2 && samples[1].value == 0 &&
		samples[1].at == t + 50 * MS);
}

/* The largest number of calls that one pass can deliver after a pause of the recorder: none of
 * them has to wait. */
static void many_at_once_are_certain(void)
{
	struct gt_memory_process *q = NULL;
	struct gt_memory *m;
	int64_t t = past(900 * MS);
	bool wrote, fine = true;

	CHECK(begins());
	new_thread(0, 0);
	CHECK(gt_recorder_pass(r, &err) >= 0); /* makes track 0 */
	m = gt_memory_open(w);
	for (uint64_t i = 0; i < 70000; i++)
		fine &= !gt_memory_call(&q, 0, false,
			&(struct gt_memory_call){
				GT_OP_ALLOC, GT_MEM_HOST, 0, t + (int64_t)i, 0x1000 + i, 1 });
	CHECK(m && fine &&
		!gt_memory_flush_ready(m, q, t + 70000, track_zero, NULL, &wrote, &err) && wrote);
	CHECK(!gt_memory_end(m, q, t + 50 * MS, false, track_zero, NULL, &err));
	gt_memory_process_close(q);
	gt_memory_close(m);
	CHECK(take_samples(end()) && nsamples == 2 && samples[1].value == 70000 &&
		!samples[0].uncertain && !samples[1].uncertain);
}

/* If not every allocation is recorded, there are no counters, rather than wrong ones. */
static void no_counters_of_some_calls(void)
{
	struct pen p;
	int64_t t = past(900 * MS);

	for (int how = 0; how < 3; how++) {
		struct gt_rings_options opt = { .memory = 4 << 20 };
		struct gt_writer_options wopt = { .rows_sorted = true };

		CHECK(!gt_rings_open(&rings, &opt, &err));
		rings.s->args = how ? GT_ARGS_KEY : GT_ARGS_NONE;
		gt_rings_set_recording(&rings, true);
		memset(rings.s->gate, GT_GATE_ON, gt_api_count);
		if (how)
			rings.s->gate[gt_api_find("cuMemFreeAsync_ptsz")] =
				how == 1 ? GT_GATE_OFF : GT_GATE_SAMPLE;
		strcpy(path, "/tmp/gt-test-memory-XXXXXX");
		w = gt_writer_open(mkstemp(path), &wopt, &err);
		r = w ? gt_recorder_open(&rings, NULL, w, &err) : NULL;
		CHECK(r);
		new_process(0, 4242, 1);
		p = new_thread(0, 0);
		if (how)
			allocate(&p, t, 0x1000, 100);
		else
			leave(&p, gt_api_find("cuMemAlloc_v2"), t, t + 1, 0, NULL, 0);
		CHECK(take_samples(end()) && !nsamples);
	}
}

/* Of a recorded range only the allocations within the range count. */
static void ranges_are_not_certain(void)
{
	struct pen p;
	int64_t t = past(900 * MS);

	with_range = true;
	CHECK(begins());
	with_range = false;
	p = new_thread(0, 0);
	on_device(&p, 0);
	allocate(&p, t, 0x1000, 100);
	CHECK(take_samples(end()) && nsamples >= 1 && samples[0].uncertain);
}

/* --delay: earlier allocations are not included. */
static void behind_a_delay_it_is_not_certain(void)
{
	struct pen p;
	int64_t t = past(900 * MS);

	CHECK(begins());
	gt_rings_set_recording(&rings, false);
	p = new_thread(0, 0);
	CHECK(gt_recorder_pass(r, &err) >= 0);
	gt_rings_set_recording(&rings, true);
	on_device(&p, 0);
	allocate(&p, t, 0x1000, 100);
	CHECK(take_samples(end()) && nsamples == 1 && samples[0].uncertain);
}

T_MAIN(T(bytes_are_reported_per_device_and_kind), T(the_peak_is_exact_however_many_there_are),
	T(a_free_that_runs_is_waited_for), T(a_free_that_never_ends_is_not),
	T(frees_that_mean_nothing_change_nothing), T(a_missed_free_is_made_up_for),
	T(mapped_memory_lives_without_its_handle), T(after_a_loss_it_is_not_certain),
	T(a_loss_without_a_later_call_is_reported), T(a_size_that_is_not_known_is_not_certain),
	T(what_a_context_takes_with_it), T(processes_hold_their_own), T(who_is_gone_holds_nothing),
	T(many_at_once_are_certain), T(no_counters_of_some_calls), T(ranges_are_not_certain),
	T(behind_a_delay_it_is_not_certain))
