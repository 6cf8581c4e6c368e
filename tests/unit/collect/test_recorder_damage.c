/* A program overwrites the memory that it shares with the recorder. The recorder continues,
 * abandons at most the rings of that program, and reports it; other programs lose no records. */
#define _GNU_SOURCE
#include <pthread.h>
#include "collect/ipc/shared_memory.h"
#include "tests/unit/collect/damage.h"
#include "tests/unit/collect/rings.h"

enum { BAD, GOOD }; /* slots, of a process each */

static struct pen bad, good;
static uint64_t seed;

static void event(struct pen *p, unsigned id, int64_t start, const uint64_t *words, unsigned n)
{
	struct gt_rec head = { .start = (uint64_t)start,
		.end = (uint64_t)start + 1,
		.id = (uint16_t)id,
		.nargs = (uint8_t)n,
		.kind_depth = GT_REC_EVENT << 5 };

	put(p, &head, words, n * 8);
	publish(p);
}

static bool start(void)
{
	with_gpu = with_memory = true;
	if (!begin(GT_ARGS_KEY))
		return false;
	with_gpu = with_memory = false;
	new_process(1, 4343, 1);
	bad = new_thread(BAD, 0);
	good = new_thread(GOOD, 1);
	return true;
}

/* One record of each kind, and a call that is open. */
static void make_records(struct pen *p)
{
	unsigned launch = gt_api_find("cuLaunchKernel"), n = key_fields(launch);
	uint64_t words[GT_FIELDS_MAX] = { 0x77, 1, 1, 1, 1, 1, 1 }, hash = gt_ring_hash("text", 4);
	uint64_t ioctl[] = { (uint64_t)GT_DEV_CTL << 32, 0xc030462b, 0xcbc0, 0x51 },
		 one = 1ull << 32 | 1;
	int64_t t = past(400000);

	call(p, "cuCtxGetCurrent", t, t + 10);
	call(p, "cuCtxGetCurrent", t + 11, t + 12);
	text(p, GT_REC_NAME, 0x77, "kernel");
	text(p, GT_REC_STRING, hash, "text");
	text(p, GT_REC_UNKNOWN_FUNCTION, 1, "cuNew");
	event(p, GT_EV_GPU_STATE, t + 20, (uint64_t[]){ GT_GPU_ON, hash, 0 }, 3);
	event(p, GT_EV_GPU_STATE, t + 30, (uint64_t[]){ GT_GPU_YIELDED, hash, 0 }, 3);
	event(p, GT_EV_GPU_STATE, t + 40, (uint64_t[]){ GT_GPU_RESUMED, hash, 0 }, 3);
	leave(p, launch, t + 50, t + 60, 0, words, n);
	event(p, GT_EV_INJECTED_CALL, t + 50, (uint64_t[]){ 5 | 307ull << 32, 1000 + p->slot }, 2);
	event(p, GT_EV_KERNEL, t + 70, (uint64_t[]){ 5, 1, 7, 0, one, one, one, 0, hash }, 9);
	event(p, GT_EV_COPY, t + 81, (uint64_t[]){ 6, 1, 7, 0, 4, 0 }, 6);
	event(p, GT_EV_GPU_LOST, t + 82, (uint64_t[]){ 3, GT_GPU_LOST_FOREIGN }, 2);
	event(p, GT_EV_PUSH, t + 90, (uint64_t[]){ 0, hash, 0, 0, 0, 0 }, 6);
	event(p, GT_EV_POP, t + 91, (uint64_t[]){ 0, 0 }, 2);
	leave(p, GT_ID_IOCTL, t + 100, t + 110, 0, ioctl, 4);
	leave(p, gt_api_find("cuMemAlloc_v2"), t + 120, t + 130, 0, (uint64_t[]){ 4096, 4096 }, 2);
	enter(p, launch, t + 200);
}

enum { GOOD_CALLS = 5 };

static void make_good_calls(void)
{
	for (int i = 0; i < GOOD_CALLS; i++) {
		int64_t t = gt_clock_monotonic();

		call(&good, "cuCtxGetCurrent", t - 20, t - 10);
	}
}

/* Ends the recording. Does the file have all calls of the other process, and is it complete? */
static bool others_are_whole(uint64_t calls)
{
	struct gt_filter all = { 0 };
	struct gt_reader *reader = end();
	struct gt_iter *it = reader ? gt_iter_open(reader, &all, &err) : NULL;
	const struct gt_segment *seg = reader ? gt_reader_segment(reader, 0) : NULL;
	struct gt_event ev;
	int more = -1;

	while (it && (more = gt_iter_next(it, &ev, &err)) > 0) {
		uint32_t of = ev.track == GT_NONE ? GT_NONE : gt_track_process(seg, ev.track);

		if (of == GT_NONE || seg->tracks[of].id != 4343)
			continue;
		calls -= ev.kind == GT_CALL;
		if (ev.kind == GT_LOST)
			calls += 1u << 20;
	}
	gt_iter_close(it);
	gt_reader_close(reader);
	return !more && !calls;
}

/* Overwrites this word while the recorder is at it: after one pass, before the next. */
static bool survives(uint64_t *word, unsigned value)
{
	*word = damage_value(value, *word, &seed);
	for (int i = 0; i < 2; i++) {
		make_good_calls();
		if (gt_recorder_pass(r, &err) < 0)
			return false;
	}
	return others_are_whole(2 * GOOD_CALLS);
}

#define SAY(...)                                                                                   \
	do {                                                                                       \
		static char said[400];                                                             \
                                                                                                   \
		snprintf(said, sizeof(said), __VA_ARGS__);                                         \
		t_failed = said;                                                                   \
		t_line = __LINE__;                                                                 \
		return;                                                                            \
	} while (0)

/* A part of the shared memory: where it begins, and how many bytes of it are damaged. */
typedef uint64_t *part_fn(size_t *bytes);

/* Damages one word in each recording: every stride-th word of the part, with each value; sanitized,
 * a third of them. early: before the recorder has read anything. */
static void damage_part(part_fn *part, unsigned stride, bool early)
{
	size_t bytes = 8;
	uint64_t *at;

	seed = 1;
	stride *= T_SANITIZED ? 3 : 1;
	for (size_t i = 0; i < bytes; i += 8ul * stride)
		for (unsigned v = 0; v < DAMAGE_VALUES; v++) {
			if (!start())
				SAY("no rings: %s", err.text);
			make_records(&bad);
			if (!early && gt_recorder_pass(r, &err) < 0)
				SAY("the first pass failed: %s", err.text);
			at = part(&bytes);
			if (!survives(at + i / 8, v))
				SAY("byte %zu, value %u: %s", i, v,
					err.code ? err.text : "rows are missing");
		}
}

static uint64_t *header(size_t *bytes)
{
	*bytes = offsetof(struct gt_session, range_name);
	return (uint64_t *)rings.s;
}

static uint64_t *counters(size_t *bytes)
{
	*bytes = sizeof(*rings.s) - offsetof(struct gt_session, recording);
	return (uint64_t *)&rings.s->recording;
}

static uint64_t *process(size_t *bytes)
{
	*bytes = sizeof(*rings.procs);
	return (uint64_t *)rings.procs;
}

static uint64_t *thread(size_t *bytes)
{
	*bytes = sizeof(*rings.threads);
	return (uint64_t *)rings.threads;
}

static uint64_t *bits(size_t *bytes)
{
	*bytes = GT_BITS * rings.s->bits_bytes;
	return rings.bits[0];
}

static uint64_t *chunk(size_t *bytes)
{
	*bytes = sizeof(struct gt_ring_chunk) + bad.at;
	return (uint64_t *)gt_rings_chunk(&rings, bad.chunk);
}

static void damaged_header(void) { damage_part(header, 1, false); }
static void damaged_counters(void) { damage_part(counters, 1, false); }
static void damaged_bits_of_new_slots(void) { damage_part(bits, 1, false); }
static void damaged_process_slot(void) { damage_part(process, 1, false); }
static void damaged_process_slot_from_the_start(void) { damage_part(process, 1, true); }
static void damaged_thread_slot(void) { damage_part(thread, 1, false); }
static void damaged_thread_slot_from_the_start(void) { damage_part(thread, 3, true); }
static void damaged_records(void) { damage_part(chunk, 1, true); }

/* A thread that overwrites words of one process at any moment. */
static struct {
	bool stop;
	uint64_t seed;
} damager;

static void *overwrite(void *arg)
{
	uint64_t *const parts[] = { (uint64_t *)&rings.threads[BAD], (uint64_t *)&rings.procs[0],
		(uint64_t *)gt_rings_chunk(&rings, bad.chunk) };
	const size_t words[] = { sizeof(rings.threads[0]) / 8, sizeof(rings.procs[0]) / 8, 256 };

	while (!__atomic_load_n(&damager.stop, __ATOMIC_RELAXED)) {
		unsigned part = damage_random(&damager.seed) % 3;

		damage_word(parts[part], words[part], &damager.seed);
	}
	return arg;
}

static void damage_at_any_moment(void)
{
	for (uint64_t run = 1; run <= T_INPUTS(60); run++) {
		pthread_t thread;
		bool fine = true;

		CHECK(start());
		make_records(&bad);
		damager.stop = false;
		damager.seed = run;
		CHECK(!pthread_create(&thread, NULL, overwrite, NULL));
		for (int i = 0; fine && i < 40; i++) {
			make_good_calls();
			fine = gt_recorder_pass(r, &err) >= 0;
		}
		__atomic_store_n(&damager.stop, true, __ATOMIC_RELAXED);
		pthread_join(thread, NULL);
		if (!fine)
			SAY("run %d: %s", (int)run, err.text);
		if (!others_are_whole(40 * GOOD_CALLS))
			SAY("run %d: rows are missing: %s", (int)run, err.code ? err.text : "");
	}
}

/* The recorder's own words in a ring. A thread that waits for memory reads them. */
static void progress_is_reported_again(void)
{
	struct gt_ring_thread *ring;

	CHECK(start());
	ring = &rings.threads[BAD];
	make_records(&bad);
	CHECK(gt_recorder_pass(r, &err) >= 0 && ring->consumed);
	ring->consumed = INT64_MAX;
	for (int i = 0; i < 10000 && ring->consumed == INT64_MAX; i++) {
		CHECK(gt_recorder_pass(r, &err) >= 0);
		usleep(1000);
	}
	CHECK(ring->consumed <= ring->word >> 8 && !ring->given_up);
	ring->word = UINT64_MAX;
	CHECK(gt_recorder_pass(r, &err) >= 0 && ring->given_up);
	ring->given_up = 0;
	for (int i = 0; i < 10000 && !ring->given_up; i++) {
		CHECK(gt_recorder_pass(r, &err) >= 0);
		usleep(1000);
	}
	CHECK(ring->given_up);
	gt_reader_close(end());
}

T_MAIN(T(damaged_header), T(damaged_counters), T(damaged_bits_of_new_slots),
	T(damaged_process_slot), T(damaged_process_slot_from_the_start), T(damaged_thread_slot),
	T(damaged_thread_slot_from_the_start), T(damaged_records), T(damage_at_any_moment),
	T(progress_is_reported_again))
