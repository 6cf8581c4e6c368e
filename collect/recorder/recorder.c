/* A pass takes an anchor of the clocks, T, and reads every ring up to the last record that ended
 * by T. Records that ended later wait for the next pass. So no time after the last anchor is
 * converted, and each pass is a cut at one time.
 *
 * An epoch closes at such a cut, and the calls that were running at T are written as open. A call
 * that began by T and had not ended is either on the thread's stack of open calls, or already in
 * the ring as a record that ended after T. One store by the guest moves it from the stack to the
 * ring, so a consistent read (word, stack, word again) finds each call exactly once. The start
 * written for an open call, in ns, is kept and used again for the row of the finished call.
 *
 * The record of a launch has the handle of its function. The name of that function was recorded
 * earlier, perhaps by another thread whose ring is read later. Such a thread stalls until all rings
 * have been searched for names, and continues in the same pass. */
#define _GNU_SOURCE
#include "collect/recorder/recorder_internal.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EPOCH_LENGTH GT_SECOND
#define LEVEL 3 /* of zstd */
/* without rows: a sign of life for readers of the file */
#define IDLE_EPOCH_LENGTH (9 * GT_SECOND)
#define ANCHOR_EVERY (5 * GT_SECOND)
#define CHECK_ALIVE_EVERY (GT_SECOND / 10) /* the interval of liveness checks */
#define SCAN_EVERY (10 * GT_SECOND)        /* the interval at which all slots are checked */
/* an earlier start, before the recorder was opened, is damage */
#define PAST_MAX (3600 * GT_SECOND)

static int report_open(struct gt_recorder *r, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err)
{
	r->totals.open++;
	return gt_writer_open_call(r->w, track, row, args, err);
}

/* Chooses a cheaper compression level when rings are fuller. The larger of two ratios decides: the
 * fullest ring to its limit, and all rings to their memory. The last level takes half the time and
 * three times the bytes. */
static void set_level(struct gt_recorder *r, uint64_t most, uint64_t sum)
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

/* Reads the positions of all rings. */
static int look_at_rings(struct gt_recorder *r, bool closing, struct gt_err *err)
{
	uint64_t most = 0, sum = 0, left;
	int code = 0;

	for (uint32_t k = 0; !code && k < r->nlive; k++) {
		struct gt_traced_thread *t = gt_live_thread(r, k);

		t->stalled = false;
		if (t->broken) /* again, because the program may have overwritten it */
			__atomic_store_n(&gt_ring_of(r, t)->given_up, 1, __ATOMIC_RELEASE);
		if (t->broken)
			continue;
		gt_ring_reader_look(r, t, gt_ring_of(r, t), closing);
		if (t->broken)
			code = gt_ring_reader_abandon(r, t, err);
		left = t->limit - t->c.at;
		most = left > most ? left : most;
		sum += left;
	}
	set_level(r, most, sum);
	return code;
}

/* Writes the rows of GPU work and memory that are complete by now. */
static int flush_ready(struct gt_recorder *r, bool looked, struct gt_err *err)
{
	int code = gt_dispatch_flush_ready(r, err);

	return code || !r->memory ? code : gt_memory_calls_flush_ready(r, looked, err);
}

static int drain_all(struct gt_recorder *r, bool closing, struct gt_err *err)
{
	bool stalled = false;
	bool looked = closing || r->memory_pending;
	int code = look_at_rings(r, looked, err);

	r->may_stall = true;
	for (uint32_t k = 0; !code && k < r->nlive; k++) {
		struct gt_traced_thread *t = gt_live_thread(r, k);

		if (!t->broken && t->limit > t->c.at)
			code = gt_ring_reader_drain(r, t, gt_ring_of(r, t), err);
		stalled |= t->stalled;
	}
	r->may_stall = false;
	if (code || !stalled)
		return code ? code : flush_ready(r, looked, err);
	gt_registry_attach(r);
	gt_ring_reader_search_names(r);
	for (uint32_t k = 0; !code && k < r->nlive; k++)
		if (gt_live_thread(r, k)->stalled)
			code = gt_ring_reader_drain(
				r, gt_live_thread(r, k), gt_ring_of(r, gt_live_thread(r, k)), err);
	return code ? code : flush_ready(r, looked, err);
}

static int write_anchor(struct gt_recorder *r, struct gt_err *err)
{
	r->anchored_at = r->now.monotonic;
	return gt_writer_anchor(r->w, &r->now, err);
}

static int close_epoch(struct gt_recorder *r, struct gt_err *err)
{
	int code = gt_registry_write_losses(r, err);

	r->totals.open = 0;
	for (uint32_t k = 0; !code && k < r->nlive; k++)
		if (!gt_live_thread(r, k)->broken)
			code = gt_ring_reader_each_open(r, gt_live_thread(r, k), report_open, err);
	for (size_t i = 0; !code && i < r->ndead_open; i++)
		code = report_open(
			r, r->dead_open[i].track, &r->dead_open[i].row, r->dead_open[i].args, err);
	if (!code && r->now.monotonic - r->anchored_at >= ANCHOR_EVERY)
		code = write_anchor(r, err);
	if (!code)
		code = gt_writer_epoch(r->w, r->now.monotonic, err);
	gt_clock_drop_before(&r->clock, r->now.ticks);
	r->epoch = r->now;
	r->active = false;
	return code;
}

static void wake_waiters(struct gt_recorder *r)
{
	struct gt_session *s = r->rings->s;

	if (!r->chunks_freed || !__atomic_load_n(&s->waiters, __ATOMIC_SEQ_CST))
		return;
	__atomic_fetch_add(&s->space, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &s->space, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static int64_t pass(struct gt_recorder *r, bool last, struct gt_err *err)
{
	bool closing;
	int64_t age;
	int code;

	r->bytes_read = r->chunks_freed = 0;
	r->now = gt_clock_add(&r->clock, gt_clock_anchor(r->clock.ticks));
	age = r->now.monotonic - r->epoch.monotonic;
	closing = last || age >= IDLE_EPOCH_LENGTH ||
		(r->active &&
			(age >= EPOCH_LENGTH || gt_writer_epoch_is_due(r->w, r->now.monotonic)));
	gt_registry_attach(r);
	if (r->now.monotonic - r->scanned_at >= SCAN_EVERY)
		gt_registry_scan(r);
	code = r->now.monotonic - r->checked_alive_at >= CHECK_ALIVE_EVERY
		? gt_registry_check_alive(r, err)
		: 0;
	if (!code)
		code = drain_all(r, closing, err);
	if (!code && last)
		code = gt_dispatch_end(r, err);
	if (!code && last) /* of all frames, before the last epoch takes them */
		r->totals.symbols_missing = gt_native_symbols_resolve(r->w, r->lines_ns);
	if (!code && closing)
		code = close_epoch(r, err);
	if (!code)
		code = gt_registry_reap(r, err);
	wake_waiters(r);
	return code ? code : (int64_t)r->bytes_read;
}

void gt_recorder_read_lines(struct gt_recorder *r, int64_t ns) { r->lines_ns = ns; }

int64_t gt_recorder_pass(struct gt_recorder *r, struct gt_err *err) { return pass(r, false, err); }

/* A pass disturbs the program: it takes a processor, and the cache lines that threads write to. So
 * there are as few passes as possible without losses: one whenever a small part of the free memory
 * has filled at the recent pace. If a quiet program becomes busy, the longest interval limits its
 * first burst: at one byte per ns, that interval fills only an eighth of the memory. */
#define FILL_PARTS 64
#define BURST_PARTS 8

int64_t gt_poll_interval(uint64_t space, int64_t taken, int64_t since)
{
	uint64_t burst = space / BURST_PARTS;
	int64_t most = burst > GT_POLL_MAX ? GT_POLL_MAX : (int64_t)burst;
	double fill = taken > 0 ? (double)(space / FILL_PARTS) / (double)taken * (double)since
				: GT_POLL_MAX;

	if (fill < (double)most)
		most = (int64_t)fill;
	return most > GT_POLL_MIN ? most : GT_POLL_MIN;
}

void gt_recorder_mark_active(struct gt_recorder *r) { r->active = true; }

static bool all_drained(const struct gt_recorder *r)
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

	r->checked_alive_at = 0;
	r->scanned_at = r->now.monotonic - SCAN_EVERY;
	r->finishing = true;
	/* processes that still run do not begin recorded calls any more, but may finish one */
	for (int i = 0; i < 100; i++) {
		code = pass(r, false, err);
		if (code < 0)
			return (int)code;
		if (!code && all_drained(r))
			break;
	}
	r->anchored_at = 0;
	code = pass(r, true, err);
	if (r->server)
		gt_guest_server_count_unrecorded(r->server, &r->totals.unrecorded);
	return code < 0 ? (int)code : 0;
}

unsigned gt_recorder_count_alive(struct gt_recorder *r)
{
	unsigned n = 0;

	for (uint32_t k = 0; k < r->nlive_procs; k++) {
		const struct gt_process *p = gt_live_process(r, k);

		n += !p->exited && p->guest.host_pid && !gt_guest_has_exited(&p->guest);
	}
	return n;
}

const struct gt_recorder_totals *gt_recorder_totals(struct gt_recorder *r)
{
	r->totals.others = &r->others;
	r->totals.own_slots = r->nthreads - r->rings->first_own;
	r->totals.unsampled = r->rings->s->unsampled;
	r->totals.unhelped = r->rings->s->unhelped;
	r->totals.unseen_waits = r->rings->unseen_waits;
	r->totals.process_losses = r->rings->process_losses;
	r->totals.clock_error = r->clock.max_error;
	r->totals.unknown_functions = r->unknown_functions;
	r->totals.nunknown_functions = r->nunknown_functions;
	r->totals.gpu = r->gpu ? gt_gpu_totals(r->gpu) : NULL;
	return &r->totals;
}

/* The memory counters need the arguments of all calls that allocate, free or map memory. */
static bool records_all_memory_calls(const struct gt_session *s)
{
	bool all = s->args != GT_ARGS_NONE;

	for (uint32_t id = 0; id < gt_api_count; id++)
		if (gt_api_is_memory(gt_api[id].op))
			all &= s->gate[id] == GT_GATE_ON;
	return all;
}

struct gt_recorder *gt_recorder_open(struct gt_rings *rings, struct gt_guest_server *server,
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
	r->server = server;
	r->w = w;
	r->has_range = rings->s->range != GT_RANGE_ALWAYS;
	r->level = LEVEL;
	gt_writer_set_level(w, r->level);
	r->source = gt_writer_string(w,
		rings->ebpf                ? "ebpf"
			: rings->s->inject ? "injection"
					   : "preload");
	r->version_id = gt_api_find("cuDriverGetVersion");
	gt_types_init(&r->types, w, rings->s->args);
	r->types.gpu = rings->s->gpu;
	r->memory = records_all_memory_calls(rings->s) ? gt_memory_open(w) : NULL;
	r->types.memory = r->memory;
	r->nvtx.w = w;
	r->probes.w = w;
	r->gpu = rings->s->gpu
		? gt_gpu_open(w, rings->s->partly, rings->s->gpu_more & GT_GPU_MORE_RUNTIME)
		: NULL;
	gt_clock_init(&r->clock, rings->s->ticks);
	r->now = r->epoch = gt_clock_add(&r->clock, gt_clock_anchor(r->clock.ticks));
	r->scanned_at = r->now.monotonic;
	r->earliest = r->now.monotonic > PAST_MAX ? r->now.monotonic - PAST_MAX : 0;
	if (write_anchor(r, err)) {
		gt_recorder_close(r);
		return NULL;
	}
	return r;
}

static void release_process(struct gt_recorder *r, struct gt_process *p)
{
	gt_reported_names_release(&p->known);
	gt_loaded_objects_release(&p->objects);
	gt_forward_stacks_release(&p->forward);
	gt_dispatch_release(r, p);
}

void gt_recorder_close(struct gt_recorder *r)
{
	if (!r)
		return;
	for (uint32_t k = 0; k < r->nlive_procs; k++)
		release_process(r, gt_live_process(r, k));
	for (uint32_t k = 0; k < r->nlive; k++) {
		gt_nvtx_stack_release(&gt_live_thread(r, k)->ranges);
		gt_thread_stacks_release(&gt_live_thread(r, k)->stacks);
	}
	gt_gpu_close(r->gpu);
	gt_memory_close(r->memory);
	gt_nvtx_release(&r->nvtx);
	gt_probe_rows_release(&r->probes);
	gt_other_threads_release(&r->others);
	for (size_t i = 0; i < r->nunknown_functions; i++)
		free(r->unknown_functions[i].name);
	gt_types_release(&r->types);
	free(r->unknown_functions);
	free(r->dead_open);
	gt_map_release(&r->thread_tracks_map);
	free(r->thread_tracks);
	free(r->procs);
	free(r->threads);
	free(r->live);
	free(r->live_procs);
	free(r->text);
	free(r);
}
