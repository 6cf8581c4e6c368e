/* The slow path of a call's entry and exit: a first call, a nested call, a full chunk, losses.
 * Also records other than calls. */
#define _GNU_SOURCE
#include "collect/guest/core/guest_ring.h"

#include <linux/futex.h>
#include <time.h>
#include "collect/guest/core/guest_hooks.h"

#define STACK (16u << 20) /* bytes; addresses further apart are on two different stacks */
#define TEXT_MAX (30u << 10)
#define UNCERTAIN_MAX 8 /* calls during which an entry without a start is tolerated */

/* ---- counts of calls without a record ---- */

void gt_ring_count_abandoned(struct gt_tcb *t)
{
	__atomic_store_n(&t->ring->abandoned, t->ring->abandoned + 1, __ATOMIC_RELAXED);
}
void gt_ring_count_in_handler(struct gt_tcb *t)
{
	__atomic_store_n(&t->ring->in_handler, t->ring->in_handler + 1, __ATOMIC_RELAXED);
}

/* ---- entry ---- */

/* Removes open calls that longjmp or an exception has left: a call whose frame ends below the new
 * wrapper's frame will not return.
 *
 * Exception: an entry without a start, while the new call may come from a signal handler that has
 * interrupted the wrapper between claiming the entry and storing its start. A call left at that
 * moment looks the same, so such an entry is removed after UNCERTAIN_MAX further calls. That is
 * no loss, as its function was not called. */
void gt_ring_pop_abandoned(struct gt_tcb *t, uintptr_t frame)
{
	while (t->depth) {
		uint32_t depth = t->depth & 255;
		uintptr_t outer = depth ? t->frames[depth - 1] : UINTPTR_MAX;
		uint64_t start;

		if (outer > frame || frame - outer > STACK) {
			t->uncertain_entries = 0;
			return;
		}
		start = t->ring->open[depth - 1].start;
		if (!start && !(t->depth & GT_COMMITTING) && t->uncertain_entries++ < UNCERTAIN_MAX)
			return;
		if (start && (t->ring->word & 255) >= depth)
			gt_ring_count_abandoned(t);
		gt_ring_close_call(t, depth - 1);
	}
}

bool gt_call_enter_slow(struct gt_call *c, uintptr_t frame)
{
	struct gt_tcb *t = gt_self;

	if (gt_inside)
		return false;
	if (!t->ring) {
		t = gt_register_thread();
		if (!t || !__atomic_load_n(gt_recording, __ATOMIC_RELAXED))
			return false;
	}
	gt_ring_pop_abandoned(t, frame);
	if (gt_shared->gate[c->id] == GT_GATE_OFF)
		return false;
	if (gt_shared->gate[c->id] == GT_GATE_SAMPLE &&
		t->calls_seen[c->id]++ % (gt_shared->sample ? gt_shared->sample : 1)) {
		__atomic_store_n(&t->ring->sampled_out, t->ring->sampled_out + 1, __ATOMIC_RELAXED);
		return false;
	}
	if (t->depth & GT_COMMITTING) {
		gt_ring_count_in_handler(t);
		return false;
	}
	if (t->depth >= GT_RING_OPEN_MAX) {
		__atomic_store_n(&t->ring->deep, t->ring->deep + 1, __ATOMIC_RELAXED);
		return false;
	}
	c->t = t;
	c->depth = t->depth;
	if (t->stacks && gt_shared->stack_of[c->id])
		c->stack = gt_stack_take(t, gt_shared->stack_of[c->id]);
	return t->ring; /* NULL: a signal handler has forked meanwhile, and this is the child */
}

/* ---- chunks ---- */

static struct gt_ring_chunk *chunk(uint32_t i)
{
	return (void *)((uint8_t *)gt_shared + gt_shared->chunks_at +
		(uint64_t)i * gt_shared->chunk_bytes);
}

static uint64_t payload(void) { return gt_shared->chunk_bytes - sizeof(struct gt_ring_chunk); }

static uint32_t pop_chunk(void)
{
	const struct gt_index_stack free_chunks = { &gt_shared->free_head, (uint8_t *)chunk(0),
		gt_shared->chunk_bytes, 0, gt_shared->nchunks };
	uint32_t i;

	if (!gt_index_stack_pop(&free_chunks, &i))
		return GT_RING_NIL;
	__atomic_fetch_sub(&gt_shared->free_count, 1, __ATOMIC_RELAXED);
	return i;
}

/* The recorder does not drain this ring any more. The ring gets no further chunk, as no chunk
 * would come back. */
static bool is_given_up(const struct gt_tcb *t)
{
	return __atomic_load_n(&t->ring->given_up, __ATOMIC_ACQUIRE);
}

/* A thread may have ring_max bytes of chunks, including full chunks that the recorder has not
 * drained yet. */
static bool may_hold_more(const struct gt_tcb *t)
{
	uint64_t drained = __atomic_load_n(&t->ring->consumed, __ATOMIC_ACQUIRE) / payload();
	uint64_t filled = t->chunk == GT_RING_NIL ? 0 : t->number + 1;

	return (filled - drained + 1) * gt_shared->chunk_bytes <= gt_shared->ring_max ||
		filled <= drained;
}

bool gt_ring_take_chunk(struct gt_tcb *t)
{
	uint32_t i = !is_given_up(t) && may_hold_more(t) ? pop_chunk() : GT_RING_NIL;
	struct gt_ring_chunk *new;

	if (i == GT_RING_NIL)
		return false;
	__atomic_store_n(&t->ring->taken, i, __ATOMIC_RELEASE);
	new = chunk(i);
	new->next = GT_RING_NIL;
	new->owner = (uint32_t)(t->ring - gt_threads());
	new->number = t->chunk == GT_RING_NIL ? 0 : t->number + 1;
	if (t->chunk == GT_RING_NIL) {
		__atomic_store_n(&t->ring->first, i, __ATOMIC_RELEASE);
	} else {
		if (t->position < t->limit)
			*(uint64_t *)(t->base + t->position) = 0;
		__atomic_store_n(&chunk(t->chunk)->next, i, __ATOMIC_RELEASE);
	}
	t->chunk = i;
	t->number = new->number;
	t->position = t->number * payload();
	t->limit = t->position + payload();
	t->base = new->payload - t->position;
	return true;
}

/* False: the slot was overwritten, and may belong to another thread. */
static bool owns_slot(const struct gt_tcb *t)
{
	return __atomic_load_n(&t->ring->state, __ATOMIC_ACQUIRE) == GT_SLOT_LIVE &&
		__atomic_load_n(&t->ring->generation, __ATOMIC_ACQUIRE) == t->generation;
}

/* --lossless: waits until a chunk is free. False: the recorder has died or does not drain this
 * ring any more. */
static bool wait_for_chunk(struct gt_tcb *t)
{
	struct timespec wait = { .tv_nsec = 50000000 };
	int saved = errno;
	bool got = false;

	__atomic_fetch_add(&gt_shared->waiters, 1, __ATOMIC_SEQ_CST);
	while (!got) {
		uint32_t space = __atomic_load_n(&gt_shared->space, __ATOMIC_SEQ_CST);

		if (gt_owner_has_died()) {
			gt_stop_recording();
			break;
		}
		got = gt_ring_take_chunk(t);
		if (!got && (is_given_up(t) || !owns_slot(t)))
			break;
		if (!got)
			syscall(SYS_futex, &gt_shared->space, FUTEX_WAIT, space, &wait, NULL, 0);
	}
	__atomic_fetch_sub(&gt_shared->waiters, 1, __ATOMIC_SEQ_CST);
	errno = saved;
	return got;
}

uint8_t *gt_ring_reserve(struct gt_tcb *t, uint32_t bytes)
{
	if (!t->ring) /* cleared: this is a child that was forked inside this call */
		return NULL;
	if (t->position + bytes > t->limit) {
		if (bytes > payload())
			return NULL;
		if (gt_owner_has_died()) {
			gt_stop_recording();
			return NULL;
		}
		if (!gt_ring_take_chunk(t) && !(gt_shared->lossless && wait_for_chunk(t)))
			return NULL;
	}
	return t->base + t->position;
}

void gt_ring_count_drop(struct gt_tcb *t, uint64_t from, uint64_t to)
{
	if (!t->ring)
		return;
	if (!t->ring->dropped)
		__atomic_store_n(&t->ring->dropped_from, from, __ATOMIC_RELAXED);
	__atomic_store_n(&t->ring->dropped_to, to, __ATOMIC_RELAXED);
	__atomic_store_n(&t->ring->dropped, t->ring->dropped + 1, __ATOMIC_RELEASE);
}

/* ---- exit ---- */

static void put_call(
	struct gt_tcb *t, const struct gt_call *c, int32_t ret, const uint64_t *words, uint32_t n)
{
	uint32_t stacked = c->stack != 0,
		 bytes = (uint32_t)sizeof(struct gt_rec) + 8 * (n + stacked);
	struct gt_rec *rec = (struct gt_rec *)gt_ring_reserve(t, bytes);

	if (!rec) {
		gt_ring_count_drop(t, c->start, c->end);
		return;
	}
	rec->start = c->start;
	rec->end = c->end;
	rec->id = c->id;
	rec->nargs = (uint8_t)(stacked ? GT_REC_STACKED | (n + 1) : n);
	rec->kind_depth = (uint8_t)c->depth;
	rec->ret = ret;
	if (n)
		memcpy(rec->args, words, 8 * (size_t)n);
	if (stacked)
		rec->args[n] = c->stack;
	t->position += bytes;
}

void gt_call_record_words(const struct gt_call *c, int32_t ret, const uint64_t *words, uint32_t n)
{
	struct gt_tcb *t = c->t;

	put_call(t, c, ret, words, n);
	if (t->ring)
		gt_ring_close_call(t, c->depth);
	else
		t->depth = 0;
}

void gt_call_record_finished(
	uint32_t id, uint64_t start, uint64_t end, int32_t ret, const uint64_t *words, uint32_t n)
{
	/* false: the times were read before the session's clock was known */
	bool known = gt_self->ring;
	struct gt_call c;

	if (!gt_call_enter(&c, id))
		return;
	c.end = known ? end : gt_now(c.t);
	c.start = known ? start : c.end;
	gt_ring_begin_commit(c.t);
	gt_call_record_words(&c, ret, words, n);
}

/* ---- texts ---- */

uint32_t gt_ring_text_length(const char *text)
{
	uint64_t most =
		payload() - 2 * sizeof(struct gt_rec) - sizeof(((struct gt_ring_thread *)0)->name);

	return (uint32_t)strnlen(text, most < TEXT_MAX ? most : TEXT_MAX);
}

/* Begins a record other than a call, with space for its words; NULL: there is no space. */
static struct gt_rec *begin(struct gt_tcb *t, enum gt_rec_kind kind, uint32_t words)
{
	uint32_t depth = t->depth;
	struct gt_rec *rec;

	gt_ring_begin_commit(t);
	rec = (struct gt_rec *)gt_ring_reserve(t, (uint32_t)sizeof(*rec) + 8 * words);
	if (!rec) {
		t->depth = depth;
		return NULL;
	}
	rec->id = 0;
	rec->nargs = 0;
	rec->kind_depth = (uint8_t)(kind << 5 | (depth & 31));
	rec->ret = 0;
	return rec;
}

/* depth: its value before begin(). */
static bool publish(struct gt_tcb *t, uint32_t words, uint32_t depth)
{
	t->position += sizeof(struct gt_rec) + 8 * (uint64_t)words;
	gt_ring_publish(t, depth);
	return true;
}

bool gt_ring_put_text(
	struct gt_tcb *t, enum gt_rec_kind kind, uint64_t start, const char *text, uint32_t len)
{
	uint32_t words = (len + 7) / 8, depth = t->depth;
	struct gt_rec *rec = begin(t, kind, words);

	if (!rec)
		return false;
	if (len)
		rec->args[words - 1] = 0;
	memcpy(rec->args, text, len);
	rec->start = start;
	rec->end = len;
	return publish(t, words, depth);
}

bool gt_ring_put_event(struct gt_tcb *t, enum gt_ring_event id, uint64_t start, uint64_t end,
	const void *event, size_t bytes)
{
	uint32_t n = (uint32_t)(bytes / 8), depth = t->depth;
	struct gt_rec *rec = begin(t, GT_REC_EVENT, n);

	if (!rec)
		return false;
	rec->start = start ? start : 1;
	rec->end = end;
	rec->id = (uint16_t)id;
	rec->nargs = (uint8_t)n;
	memcpy(rec->args, event, bytes);
	return publish(t, n, depth);
}

void gt_ring_put_gpu_state(
	struct gt_tcb *t, uint64_t from, enum gt_gpu_state state, const char *text, uint64_t detail)
{
	struct gt_ev_state e = {
		.state = state, .text = gt_ring_put_string(t, text), .detail = detail
	};

	gt_ring_put_event(t, GT_EV_GPU_STATE, from, gt_now(t), &e, sizeof(e));
}

/* Each thread writes its own texts, so that a ring is complete in whatever order the rings are
 * read. */
uint64_t gt_ring_put_string_n(struct gt_tcb *t, const char *text, uint32_t len)
{
	uint64_t hash = gt_ring_hash(text, len), *sent = &t->sent_texts[hash % GT_SENT_TEXTS];

	if (*sent != hash && gt_ring_put_text(t, GT_REC_STRING, hash, text, len))
		*sent = hash;
	return hash;
}

uint64_t gt_ring_put_string(struct gt_tcb *t, const char *text)
{
	return gt_ring_put_string_n(t, text, gt_ring_text_length(text));
}

void gt_record_unknown_function(const char *name)
{
	struct gt_call c = { .t = gt_self };
	uint64_t hash;

	if (!__atomic_load_n(gt_recording, __ATOMIC_RELAXED) || gt_inside ||
		(!c.t->ring && !gt_register_thread()))
		return;
	c.t = gt_self;
	/* the complement is a separate key in sent_texts */
	hash = ~gt_ring_hash(name, gt_ring_text_length(name));
	if (c.t->sent_texts[hash % GT_SENT_TEXTS] == hash)
		return;
	gt_debug("not in the table:", name, 0);
	if (gt_ring_put_text(c.t, GT_REC_UNKNOWN_FUNCTION, ~hash, name, gt_ring_text_length(name)))
		c.t->sent_texts[hash % GT_SENT_TEXTS] = hash;
}
