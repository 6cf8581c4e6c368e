/* The thread that reads finished CUDA events and writes their times to its ring;
 * guest_event_timing.c describes the method. */
#define _GNU_SOURCE
#include "collect/guest/events/guest_events_internal.h"

#include <linux/futex.h>
#include <time.h>
#include "collect/guest/core/guest_objects.h"

#define BUDGET 512u /* pairs read before other threads may take the lock */
#define SOON_NS 2000000
/* A call does not wake the guest's thread, which would need a system call. So there must be pairs
 * for this time. */
#define LATER_NS 10000000
#define REFERENCE_NS 1000000000ull /* maximum age of a reference */
#define RETRY_NS 5000000ull        /* between two attempts, if the GPU is busy */
#define FINE_NS 20000u             /* width of a pair of host times that is good enough */
#define WIDE_NS 200000u            /* width that is too wide for the first reference */
#define RELEASE_MAX 64u            /* pairs that a context releases at a time for other contexts */
#define TRIES 8
#define TRIES_FIRST 20

bool gt_events_lock(int tries)
{
	while (__atomic_exchange_n(&gt_events->reading, 1, __ATOMIC_ACQUIRE)) {
		if (!tries--)
			return false;
		gt_sleep(50000);
	}
	return true;
}

void gt_events_unlock(void) { __atomic_store_n(&gt_events->reading, 0, __ATOMIC_RELEASE); }

void gt_events_report_state(enum gt_gpu_state state, const char *text, uint64_t detail)
{
	struct gt_tcb *t = gt_producer_ring();

	gt_debug("CUDA events:", text, (int64_t)detail);
	if (t)
		gt_ring_put_gpu_state(t, gt_now(t), state, text, detail);
}

/* ---- references ---- */

static uint64_t abs_ns(int64_t ns) { return (uint64_t)(ns < 0 ? -ns : ns); }

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

static int64_t ns_of(float ms) { return (int64_t)((double)ms * 1e6); }

/* Records an event and queries it until it is finished. False: it is not finished within limit. */
static bool try_reference(
	const struct gt_event_context *c, uint64_t event, int64_t limit, int64_t *from, int64_t *to)
{
	int32_t code;

	*from = (int64_t)gt_slow_clock();
	if (gt_cu.record(event, c->stream))
		return false;
	while ((code = gt_cu.query(event)) == NOT_READY && (int64_t)gt_slow_clock() - *from < limit)
		syscall(SYS_sched_yield); /* other threads want the driver's lock, too */
	*to = (int64_t)gt_slow_clock();
	return !code;
}

static void put_error(uint64_t error)
{
	if (error <= gt_events->error + gt_events->error / 4)
		return;
	gt_events->error = error;
	gt_events_report_state(GT_GPU_EVENTS_ERROR, "", error);
}

/* The reference's host time: halfway between the middle of its own pair and the prediction of the
 * previous reference. */
static void set_reference(struct gt_event_context *c, uint64_t event, int64_t from, int64_t to)
{
	struct gt_event_reference r = { event, from + (to - from) / 2, 0 };
	float ms = 0;

	if (c->reference.event && !gt_cu.elapsed(&ms, c->reference.event, event))
		r.host = clamp(r.host + (c->reference.host + ns_of(ms) - r.host) / 2, from, to);
	r.error = abs_ns(r.host - from) > abs_ns(to - r.host) ? abs_ns(r.host - from)
							      : abs_ns(to - r.host);
	c->spare = c->reference.event;
	c->reference = r;
	put_error(r.error);
}

static bool make_reference_events(struct gt_event_context *c, uint64_t made[2])
{
	if (!c->stream && gt_cu.stream(&c->stream, NON_BLOCKING)) {
		c->stream = 0;
		return false;
	}
	made[0] = c->spare;
	c->spare = made[1] = 0;
	for (int i = 0; i < 2; i++)
		if (!made[i] && gt_cu.create(&made[i], 0)) {
			made[i] = 0;
			return false;
		}
	return true;
}

/* Maximum width of a pair that improves on the present reference, whose error grows with clock
 * drift (50 ppm). The first one should be good, but the number of attempts is limited. */
static int64_t wide_enough(struct gt_event_context *c)
{
	if (c->reference.event)
		return (int64_t)(2 * c->reference.error +
			(gt_slow_clock() - (uint64_t)c->reference.host) / 10000);
	return c->tries++ < TRIES_FIRST && !gt_events->ending ? (int64_t)WIDE_NS : INT64_MAX;
}

/* Takes the tightest of some attempts. The context is current. */
static void refresh_reference(struct gt_event_context *c)
{
	uint64_t made[2] = { 0, 0 }, tight;
	int64_t from, to, best_from = 0, best = wide_enough(c),
			  limit = c->reference.event ? 1000000 : 8000000;
	bool any = false;

	if (make_reference_events(c, made)) {
		for (int i = 0; i < TRIES && (!any || best > (int64_t)FINE_NS); i++) {
			if (!try_reference(c, made[1], limit, &from, &to))
				break;
			if (to - from >= best)
				continue;
			best_from = from, best = to - from, any = true;
			tight = made[1], made[1] = made[0], made[0] = tight;
		}
		if (any)
			set_reference(c, made[0], best_from, best_from + best);
	}
	for (int i = any; i < 2; i++) /* keeps at most one event */
		if (made[i] && !c->spare)
			c->spare = made[i];
		else if (made[i])
			gt_cu.destroy(made[i]);
}

/* Makes the context current, gives it an id, and refreshes its reference if needed. False:
 * nothing can be read yet. */
static bool prepare(struct gt_event_context *c)
{
	uint64_t now = gt_slow_clock();

	if (gt_cu.set(c->handle))
		return false;
	if (!c->id) {
		if (gt_cu.device(&c->device))
			return false;
		c->id = ++gt_events->contexts;
	}
	if ((!c->reference.event || now - (uint64_t)c->reference.host > REFERENCE_NS) &&
		(gt_events->ending || now >= c->next_refresh)) {
		c->next_refresh = now + RETRY_NS;
		refresh_reference(c);
	}
	return c->reference.event;
}

/* ---- records ---- */

/* Streams have small numbers, in order of their first use in a context; the legacy default stream
 * is 0. */
static uint32_t number_of(struct gt_event_context *c, uint64_t stream, int32_t tid)
{
	uint32_t at = (uint32_t)((stream * 0x9e3779b97f4a7c15ull + c->id) >> 40);
	struct gt_event_stream *p;

	if (stream == LEGACY)
		return 0;
	tid = stream == PER_THREAD ? tid : 0;
	at += (uint32_t)tid;
	for (uint32_t k = 0; k < 64; k++) {
		p = &gt_events->streams_known[(at + k) % STREAMS];
		if (!p->used)
			*p = (struct gt_event_stream){ c->id, ++c->streams, stream, tid, true };
		if (p->context == c->id && p->stream == stream && p->tid == tid)
			return p->number;
	}
	return UINT32_MAX; /* there are too many streams */
}

static uint32_t device_of(uint64_t handle)
{
	struct gt_event_context *c = handle ? gt_events_find_context(handle) : NULL;

	return c && c->id ? (uint32_t)c->device : UINT32_MAX;
}

/* Memory kind from a letter of the function's name (HtoD and the like), in CUPTI's numbers. */
static uint8_t memory_of(char letter) { return letter == 'D' ? 3 : letter == 'A' ? 4 : 0; }

static bool is_async(const struct gt_api *api) { return strstr(api->name, "Async"); }

static void set_copy_kinds(struct gt_ev_work *work, const struct gt_api *api)
{
	static const uint8_t directions[] = { [GT_DIR_HTOD] = 1,
		[GT_DIR_DTOH] = 2,
		[GT_DIR_DTOD] = 8,
		[GT_DIR_HTOH] = 9,
		[GT_DIR_PEER] = 10 };
	const char *to = strstr(api->name, "to");
	bool named = to && strchr("HDA", to[-1]) && strchr("HDA", to[2]);

	work->copy.kind = directions[api->direction];
	work->copy.source = named ? memory_of(to[-1]) : api->direction == GT_DIR_PEER ? 3 : 0;
	work->copy.destination = named ? memory_of(to[2]) : work->copy.source;
	work->copy.async = is_async(api);
}

static void describe_kernel(struct gt_ev_kernel *e, struct gt_tcb *t, const struct gt_event_pair *b)
{
	uint32_t name_length = (uint32_t)b->name;

	for (unsigned i = 0; b->ngrid && i < 3; i++)
		e->grid[i] = i < b->ngrid ? b->grid[i] : 1;
	if (b->nblock == 3)
		memcpy(e->block, b->block, sizeof(e->block));
	e->shared_dynamic = b->shared;
	if (name_length)
		e->name = gt_ring_put_string_n(
			t, gt_process_state->texts + (b->name >> 32), name_length);
}

static bool put_work(struct gt_tcb *t, struct gt_event_context *c, const struct gt_event_pair *b,
	int64_t start, int64_t end)
{
	const struct gt_api *api = &gt_api[b->id];
	struct gt_ev_timed e = { .tid = b->tid, .id = b->id, .call_start = b->start };
	enum gt_ring_event id = GT_EV_TIMED_GRAPH;
	size_t bytes = sizeof(e.work);

	e.work.correlation = ++gt_events->work_ids;
	e.work.device = (uint32_t)c->device;
	e.work.context = c->id;
	e.work.stream = number_of(c, b->stream, b->tid);
	if (api->op == GT_OP_LAUNCH) {
		id = GT_EV_TIMED_KERNEL, bytes = sizeof(e.kernel);
		describe_kernel(&e.kernel, t, b);
	} else if (api->op == GT_OP_COPY) {
		id = GT_EV_TIMED_COPY, bytes = sizeof(e.copy);
		set_copy_kinds(&e.work, api);
		e.copy.bytes = b->bytes;
		/* the destination's context comes first */
		e.copy.source = device_of(b->peers[1]);
		e.copy.destination = device_of(b->peers[0]);
	} else if (api->op == GT_OP_SET) {
		id = GT_EV_TIMED_SET, bytes = sizeof(e.set);
		e.work.set.memory = memory_of('D');
		e.work.set.async = is_async(api);
		e.set.bytes = b->bytes;
		e.set.value = b->value;
	}
	return gt_ring_put_event(t, id, (uint64_t)start, (uint64_t)end, &e,
		offsetof(struct gt_ev_timed, work) + bytes);
}

static void put_untimed(void)
{
	uint64_t now = gt_slow_clock();
	struct gt_tcb *t = NULL;

	for (uint32_t i = 0; i < GT_UNTIMED_COUNT; i++) {
		uint64_t n = __atomic_load_n(&gt_events->untimed[i], __ATOMIC_RELAXED);
		struct gt_ev_loss e = { .count = n - gt_events->reported[i], .reason = i };

		if (e.count && (t || (t = gt_producer_ring())) &&
			gt_ring_put_event(t, GT_EV_UNTIMED, now, now, &e, sizeof(e)))
			gt_events->reported[i] = n;
	}
}

/* ---- a round ---- */

/* Appends the pairs submitted since the last round, in the order of their calls. */
static void take_submitted(void)
{
	uint32_t i = __atomic_exchange_n(&gt_events->submitted, 0, __ATOMIC_ACQUIRE), back = 0,
		 next, last = i;

	for (; i; i = next) {
		next = gt_event_pair_at(i)->next;
		gt_event_pair_at(i)->next = back;
		back = i;
		gt_events->waiting++;
	}
	if (!back)
		return;
	if (gt_events->last)
		gt_event_pair_at(gt_events->last)->next = back;
	else
		gt_events->first = back;
	gt_events->last = last;
}

/* Streams whose next event is not finished: their later events need no query. It is a set of
 * bits; two streams that share a bit by chance do not share it in the next round. */
struct blocked {
	uint64_t salt, bits[256];
};

static uint64_t *bit_of(struct blocked *s, uint64_t key, uint64_t *mask)
{
	uint64_t hash = (key ^ s->salt) * 0x9e3779b97f4a7c15ull;

	hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15ull;
	*mask = 1ull << (hash >> 58);
	return &s->bits[hash >> 50 & 255];
}

static bool is_blocked(struct blocked *s, uint64_t key)
{
	uint64_t mask, *word = bit_of(s, key, &mask);

	return *word & mask;
}

static void block(struct blocked *s, uint64_t key)
{
	uint64_t mask, *word = bit_of(s, key, &mask);

	*word |= mask;
}

static uint64_t key_of(const struct gt_event_pair *b)
{
	return (b->stream + (b->stream == PER_THREAD ? (uint64_t)b->tid << 32 : 0)) ^
		(uint64_t)(b->context + 1u) << 48;
}

/* True: the pair is done. The context is current. */
static bool read_pair(struct gt_event_context *c, const struct gt_event_pair *b)
{
	float since = 0, took = 0;
	int32_t code = gt_cu.elapsed(&took, b->begin, b->end);
	struct gt_tcb *t;
	int64_t start;

	if (!code)
		code = gt_cu.elapsed(&since, c->reference.event, b->begin);
	if (code == NOT_READY)
		return false;
	if (code) {
		gt_events_count_untimed(
			code == CAPTURED_EVENT ? GT_UNTIMED_CAPTURE : GT_UNTIMED_ERROR);
		return true;
	}
	start = c->reference.host + ns_of(since);
	t = gt_producer_ring();
	if (!t)
		gt_count_untraced();
	else if (!put_work(t, c, b, start, start + ns_of(took)))
		gt_ring_count_drop(t, gt_now(t), gt_now(t));
	return true;
}

static void unlink_pair(struct gt_event_pair *b, struct gt_event_pair *before)
{
	if (before)
		before->next = b->next;
	else
		gt_events->first = b->next;
	if (gt_events->last == gt_event_pair_index(b))
		gt_events->last = before ? gt_event_pair_index(before) : 0;
	gt_events->waiting--;
}

/* Makes the pair's context current. 1: the pair can be read; 0: not now; -1: never. */
static int ready(struct gt_event_context *c, const struct gt_event_pair *b, struct blocked *s,
	struct gt_event_context **at)
{
	if (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE) != LIVE)
		return -1;
	if (is_blocked(s, key_of(b)) || is_blocked(s, c->handle))
		return 0;
	if (*at == c)
		return 1;
	*at = c;
	if (prepare(c))
		return 1;
	*at = NULL;
	block(s, c->handle);
	return 0;
}

uint32_t gt_events_read_finished(uint32_t budget, uint64_t only)
{
	struct gt_event_pair *b, *before = NULL, *next;
	struct blocked s = { .salt = gt_slow_clock() };
	struct gt_event_context *at = NULL;
	uint32_t done = 0;

	take_submitted();
	for (b = gt_event_pair_at(gt_events->first); b && budget; b = next) {
		struct gt_event_context *c = gt_event_pair_context(b);
		int may = only && c->handle != only ? 0 : ready(c, b, &s, &at);

		next = gt_event_pair_at(b->next);
		if (may > 0)
			budget--;
		if (may < 0)
			gt_events_count_untimed(GT_UNTIMED_CONTEXT);
		if (may < 0 || (may && read_pair(c, b))) {
			unlink_pair(b, before);
			gt_event_pair_release(b);
			done++;
			continue;
		}
		if (may)
			block(&s, key_of(b));
		before = b;
	}
	return done;
}

/* The pairs of destroyed contexts, none of which is in use, go to the other contexts, without
 * events. */
static void recycle_dead_contexts(void)
{
	struct gt_event_pair *b;

	for (struct gt_event_context *c = gt_events->context; c < gt_events->context + CONTEXTS;
		c++) {
		c->create_failed = 0;
		if (c->state != DEAD)
			continue;
		while ((b = gt_event_pair_pop(&c->free)))
			gt_event_pair_push(&gt_events->without_events, b);
		if (__atomic_load_n(&c->in_use, __ATOMIC_ACQUIRE))
			continue;
		*c = (struct gt_event_context){ .state = TAKEN, .free = c->free };
		__atomic_store_n(&c->state, FREE, __ATOMIC_RELEASE);
	}
}

static void release_pairs(struct gt_event_context *c)
{
	struct gt_event_pair *b;

	for (uint32_t i = 0; i < RELEASE_MAX && (i || !gt_cu.set(c->handle)) &&
		(b = gt_event_pair_pop(&c->free));
		i++) {
		gt_cu.destroy(b->begin);
		gt_cu.destroy(b->end);
		gt_event_pair_push(&gt_events->without_events, b);
	}
}

/* If a context has found no pair, the other contexts release some unused ones. */
static void redistribute_pairs(void)
{
	struct gt_event_context *c;
	bool wanted = false;

	for (c = gt_events->context; c < gt_events->context + CONTEXTS; c++)
		wanted |= __atomic_load_n(&c->needs_pairs, __ATOMIC_RELAXED);
	for (c = gt_events->context; wanted && c < gt_events->context + CONTEXTS; c++)
		if (!__atomic_exchange_n(&c->needs_pairs, 0, __ATOMIC_RELAXED) &&
			__atomic_load_n(&c->state, __ATOMIC_ACQUIRE) == LIVE &&
			(uint32_t)__atomic_load_n(&c->free, __ATOMIC_RELAXED))
			release_pairs(c);
	if (wanted)
		gt_cu.set(0);
}

/* Returns the number of pairs that are not finished. */
static uint32_t read_round(void)
{
	uint32_t done;

	do {
		if (!gt_events_lock(100))
			return 1;
		done = gt_events_read_finished(BUDGET, 0);
		if (gt_events->waiting || done)
			gt_cu.set(0); /* a context that is current here could not end */
		if (done < BUDGET) {
			recycle_dead_contexts();
			redistribute_pairs();
		}
		put_untimed();
		gt_events_unlock();
	} while (done >= BUDGET);
	return gt_events->waiting;
}

static void sleep_until_wakeup(uint32_t wakeups, bool soon)
{
	const struct timespec wait = { .tv_nsec = soon ? SOON_NS : LATER_NS };

	__atomic_store_n(&gt_events->sleeping, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &gt_events->wakeups, FUTEX_WAIT, wakeups, &wait, NULL, 0);
	__atomic_store_n(&gt_events->sleeping, 0, __ATOMIC_RELEASE);
}

bool gt_events_lack_reference(void)
{
	const struct gt_event_context *c = gt_events->context;

	while (c < gt_events->context + CONTEXTS &&
		(c->state != LIVE || !c->in_use || c->reference.event))
		c++;
	return gt_events->waiting && c < gt_events->context + CONTEXTS;
}

/* The last round. It does not wait for unfinished events; the recorder finds their times missing.
 */
static void end_reading(void)
{
	uint32_t left;

	gt_events->ending = true;
	left = read_round();
	for (int i = 0; i < END_TRIES && left && gt_events_lack_reference(); i++) {
		gt_sleep(END_PAUSE_NS);
		left = read_round();
	}
	if (!left)
		gt_events_report_state(GT_GPU_OFF, "", 0);
}

static void *read_events(void *arg)
{
	int32_t mode = RELAXED;
	uint32_t on, wakeups, left;

	gt_inside = true;
	gt_note_started_thread(GT_STARTED_BY_GUEST);
	gt_cu.mode(&mode);
	while ((on = __atomic_load_n(&gt_events->on, __ATOMIC_ACQUIRE)) == ON) {
		wakeups = __atomic_load_n(&gt_events->wakeups, __ATOMIC_ACQUIRE);
		left = read_round();
		if (gt_owner_has_died() || gt_passive)
			break;
		sleep_until_wakeup(wakeups, left);
	}
	if (on == LAST)
		end_reading();
	gt_event_pairs_on = 0;
	__atomic_store_n(&gt_events->on, OFF, __ATOMIC_RELEASE);
	return arg;
}

/* ---- start and end ---- */

bool gt_events_start_thread(void) { return gt_start_thread(read_events, NULL); }

/* The guest's thread reads the finished events. That takes as long as its driver calls. */
void gt_events_stop(void)
{
	uint32_t on = ON;

	if (!__atomic_compare_exchange_n(
		    &gt_events->on, &on, LAST, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	gt_events_wake();
	for (int i = 0; i < 10000 && __atomic_load_n(&gt_events->on, __ATOMIC_ACQUIRE) != OFF; i++)
		gt_sleep(100000);
}
