/* One pass takes an anchor of the clocks, T, and then walks every ring up to the last record that
 * ended by T. What ended later waits for the next pass, so no time is ever converted that lies
 * beyond the last anchor, and every pass is a clean cut.
 *
 * Closing an epoch is such a cut, with the calls that were running at T reported as open. Where is
 * a call that began by T and had not ended? Either on the thread's stack of open calls, or in the
 * ring already, held back because it ended after T. One store by the guest moves it from the one to
 * the other, so one consistent look (word, stack, word again) sees each exactly once. The ns
 * reported as its start is remembered and used again when its row comes.
 *
 * A launch carries the handle of its function; the name came earlier, perhaps by another thread
 * whose ring is walked later. Such a thread stalls until all rings were searched for names, and
 * goes on in the same pass.
 */
#define _GNU_SOURCE
#include "collect/recorder/recorder_internal.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EPOCH GT_SECOND
#define LEVEL 3                    /* of zstd */
#define IDLE_EPOCH (9 * GT_SECOND) /* nothing moves: say so from time to time */
#define ANCHOR_EVERY (5 * GT_SECOND)
#define ROLL_CALL (GT_SECOND / 10) /* the interval of liveness checks */
#define SCAN (10 * GT_SECOND)      /* how often all slots are looked at */
#define FAR (3600 * GT_SECOND)     /* no call began so long before the recorder was opened */

static int report_open(struct gt_recorder *r, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err)
{
	r->totals.open++;
	return gt_writer_open_call(r->w, track, row, args, err);
}

/* Compression gets cheaper as the rings fill up, and better again when there is time. The fuller
 * of two decides: the fullest ring compared with its limit, and all rings together. At the last
 * level almost nothing is compressed, which takes three times the bytes and half the time. */
static void choose_level(struct gt_recorder *r, uint64_t most, uint64_t sum)
{
	static const int levels[] = { LEVEL, 1, -1000, -1000 };
	const struct gt_rings *o = r->rings;
	uint64_t one = most * 4 / o->ring_max,
		 all = sum * 4 / ((uint64_t)o->nchunks * o->chunk_bytes),
		 quarters = one > all ? one : all;
	int level = levels[quarters < 3 ? quarters : 3];

	if (level == r->level)
		return;
	r->level = level;
	gt_writer_set_level(r->w, level);
}

/* Sees what there is in all rings up to now. */
static int look_all(struct gt_recorder *r, bool closing, struct gt_err *err)
{
	uint64_t most = 0, sum = 0, left;
	int code = 0;

	for (uint32_t k = 0; !code && k < r->nlive; k++) {
		struct gt_traced_thread *t = gt_live_thread(r, k);

		t->stalled = false;
		if (t->broken) /* the program may overwrite this, too */
			__atomic_store_n(&gt_ring_of(r, t)->given_up, 1, __ATOMIC_RELEASE);
		if (t->broken)
			continue;
		gt_follow_look(r, t, gt_ring_of(r, t), closing);
		if (t->broken)
			code = gt_follow_give_up(r, t, err);
		left = t->limit - t->c.at;
		most = left > most ? left : most;
		sum += left;
	}
	choose_level(r, most, sum);
	return code;
}

/* Rows that wait for more than their own call. */
static int settle(struct gt_recorder *r, bool looked, struct gt_err *err)
{
	int code = gt_events_settle(r, err);

	return code || !r->memory ? code : gt_holdings_settle(r, looked, err);
}

static int take_all(struct gt_recorder *r, bool closing, struct gt_err *err)
{
	bool stalled = false;
	bool looked = closing || r->memory_waits;
	int code = look_all(r, looked, err);

	r->patient = true;
	for (uint32_t k = 0; !code && k < r->nlive; k++) {
		struct gt_traced_thread *t = gt_live_thread(r, k);

		if (!t->broken && t->limit > t->c.at)
			code = gt_follow_drain(r, t, gt_ring_of(r, t), err);
		stalled |= t->stalled;
	}
	r->patient = false;
	if (code || !stalled)
		return code ? code : settle(r, looked, err);
	gt_roll_adopt(r);
	gt_follow_search_names(r);
	for (uint32_t k = 0; !code && k < r->nlive; k++)
		if (gt_live_thread(r, k)->stalled)
			code = gt_follow_drain(
				r, gt_live_thread(r, k), gt_ring_of(r, gt_live_thread(r, k)), err);
	return code ? code : settle(r, looked, err);
}

static int put_anchor(struct gt_recorder *r, struct gt_err *err)
{
	r->anchored = r->now.monotonic;
	return gt_writer_anchor(r->w, &r->now, err);
}

static int close_epoch(struct gt_recorder *r, struct gt_err *err)
{
	int code = gt_roll_tell_losses(r, err);

	r->totals.open = 0;
	for (uint32_t k = 0; !code && k < r->nlive; k++)
		if (!gt_live_thread(r, k)->broken)
			code = gt_follow_each_open(r, gt_live_thread(r, k), report_open, err);
	for (size_t i = 0; !code && i < r->ngraves; i++)
		code = report_open(
			r, r->graves[i].track, &r->graves[i].row, r->graves[i].args, err);
	if (!code && r->now.monotonic - r->anchored >= ANCHOR_EVERY)
		code = put_anchor(r, err);
	if (!code)
		code = gt_writer_epoch(r->w, r->now.monotonic, err);
	gt_clock_drop_before(&r->clock, r->now.ticks);
	r->epoch = r->now;
	r->active = false;
	return code;
}

static void wake_waiting(struct gt_recorder *r)
{
	struct gt_session *s = r->rings->s;

	if (!r->freed || !__atomic_load_n(&s->waiters, __ATOMIC_SEQ_CST))
		return;
	__atomic_fetch_add(&s->space, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &s->space, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static int64_t pass(struct gt_recorder *r, bool last, struct gt_err *err)
{
	bool closing;
	int64_t age;
	int code;

	r->taken = r->freed = 0;
	r->now = gt_clock_add(&r->clock, gt_clock_anchor(r->clock.ticks));
	age = r->now.monotonic - r->epoch.monotonic;
	closing = last || age >= IDLE_EPOCH ||
		(r->active && (age >= EPOCH || gt_writer_due(r->w, r->now.monotonic)));
	gt_roll_adopt(r);
	if (r->now.monotonic - r->scanned >= SCAN)
		gt_roll_scan(r);
	code = r->now.monotonic - r->called >= ROLL_CALL ? gt_roll_call(r, err) : 0;
	if (!code)
		code = take_all(r, closing, err);
	if (!code && last)
		code = gt_events_end(r, err);
	if (!code && closing)
		code = close_epoch(r, err);
	if (!code)
		code = gt_roll_bury(r, err);
	wake_waiting(r);
	return code ? code : (int64_t)r->taken;
}

int64_t gt_recorder_pass(struct gt_recorder *r, struct gt_err *err) { return pass(r, false, err); }

void gt_recorder_stir(struct gt_recorder *r) { r->active = true; }

static bool all_taken(const struct gt_recorder *r)
{
	for (uint32_t k = 0; k < r->nlive; k++) {
		const struct gt_traced_thread *t = &r->threads[r->live[k]];

		if (!t->broken && t->c.at != t->limit)
			return false;
	}
	return true;
}

int gt_recorder_finish(struct gt_recorder *r, struct gt_err *err)
{
	int64_t code;

	r->called = 0;
	r->scanned = r->now.monotonic - SCAN;
	r->finishing = true;
	/* processes that go on stop recording, yet may finish a call */
	for (int i = 0; i < 100; i++) {
		code = pass(r, false, err);
		if (code < 0)
			return (int)code;
		if (!code && all_taken(r))
			break;
	}
	r->anchored = 0;
	code = pass(r, true, err);
	if (r->door)
		gt_guest_server_unrecorded(r->door, &r->totals.unrecorded);
	return code < 0 ? (int)code : 0;
}

unsigned gt_recorder_alive(struct gt_recorder *r)
{
	unsigned n = 0;

	for (uint32_t k = 0; k < r->nlive_procs; k++) {
		const struct gt_process *p = gt_live_process(r, k);

		n += !p->gone && p->guest.host_pid && !gt_guest_has_exited(&p->guest);
	}
	return n;
}

const struct gt_recorder_totals *gt_recorder_totals(struct gt_recorder *r)
{
	r->totals.clock_error = r->clock.max_error;
	r->totals.missing = r->missing;
	r->totals.nmissing = r->nmissing;
	r->totals.gpu = r->gpu ? gt_gpu_totals(r->gpu) : NULL;
	return &r->totals;
}

/* Counters of memory are updated when a call that changes memory is recorded, from its
 * arguments. */
static bool tells_memory(const struct gt_session *s)
{
	bool all = s->args != GT_ARGS_NONE;

	for (uint32_t id = 0; id < gt_api_count; id++)
		if (gt_api_is_memory(gt_api[id].op))
			all &= s->gate[id] == GT_GATE_ON;
	return all;
}

struct gt_recorder *gt_recorder_open(struct gt_rings *rings, struct gt_guest_server *door,
	struct gt_writer *w, struct gt_err *err)
{
	struct gt_recorder *r = calloc(1, sizeof(*r));

	if (r) {
		r->nprocs = rings->nprocs;
		r->nthreads = rings->nthreads;
		r->payload = rings->chunk_bytes - sizeof(struct gt_ring_chunk);
		r->procs = calloc(r->nprocs, sizeof(*r->procs));
		r->threads = calloc(r->nthreads, sizeof(*r->threads));
		r->live = calloc(r->nthreads, sizeof(*r->live));
		r->live_procs = calloc(r->nprocs, sizeof(*r->live_procs));
		r->text = malloc(r->payload);
	}
	if (!r || !r->procs || !r->threads || !r->live || !r->live_procs || !r->text) {
		gt_err_set(err, -ENOMEM, "out of memory");
		gt_recorder_close(r);
		return NULL;
	}
	r->rings = rings;
	r->door = door;
	r->w = w;
	r->ranged = rings->s->range != GT_RANGE_ALWAYS;
	r->level = LEVEL;
	gt_writer_set_level(w, r->level);
	r->source = gt_writer_string(w, rings->s->inject ? "injection" : "preload");
	r->version_id = gt_api_find("cuDriverGetVersion");
	gt_types_init(&r->types, w, rings->s->args);
	r->types.causes = rings->s->gpu;
	r->memory = tells_memory(rings->s) ? gt_memory_open(w) : NULL;
	r->types.memory = r->memory;
	r->nvtx.w = w;
	r->gpu = rings->s->gpu
		? gt_gpu_open(w, rings->s->partly, rings->s->gpu_more & GT_GPU_MORE_RUNTIME)
		: NULL;
	gt_clock_init(&r->clock, rings->s->ticks);
	r->now = r->epoch = gt_clock_add(&r->clock, gt_clock_anchor(r->clock.ticks));
	r->scanned = r->now.monotonic;
	r->earliest = r->now.monotonic > FAR ? r->now.monotonic - FAR : 0;
	if (put_anchor(r, err)) {
		gt_recorder_close(r);
		return NULL;
	}
	return r;
}

static void forget_process(struct gt_recorder *r, struct gt_process *p)
{
	gt_known_release(&p->known);
	gt_events_forget(r, p);
}

void gt_recorder_close(struct gt_recorder *r)
{
	if (!r)
		return;
	for (uint32_t k = 0; k < r->nlive_procs; k++)
		forget_process(r, gt_live_process(r, k));
	for (uint32_t k = 0; k < r->nlive; k++)
		gt_nvtx_stack_release(&gt_live_thread(r, k)->ranges);
	gt_gpu_close(r->gpu);
	gt_memory_close(r->memory);
	gt_nvtx_release(&r->nvtx);
	for (size_t i = 0; i < r->nmissing; i++)
		free(r->missing[i].name);
	gt_types_release(&r->types);
	free(r->missing);
	free(r->graves);
	free(r->procs);
	free(r->threads);
	free(r->live);
	free(r->live_procs);
	free(r->text);
	free(r);
}
