/* Entry and exit of a recorded call, and records in a thread's ring (ring.h describes their
 * layout).
 *
 * A wrapper calls gt_call_enter; if that returns true, it calls gt_call_start, the real function,
 * gt_call_stop, and one of the gt_call_record functions. The usual case is inline here;
 * guest_ring.c has the slow path: a first call, a nested one, a full chunk, losses. A thread writes
 * only to its own ring. */
#ifndef GT_GUEST_RING_H
#define GT_GUEST_RING_H
#include "collect/guest/core/guest_session.h"

/* ---- steps of a call ---- */
/* This bit is set in depth while a record is written. If a signal handler calls the driver in that
 * time, the position is taken but not yet advanced: the handler's call is counted as lost. */
#define GT_COMMITTING 0x100u
static inline void gt_ring_begin_commit(struct gt_tcb *t)
{
	__atomic_store_n(&t->depth, t->depth | GT_COMMITTING, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
/* Takes an entry of the open calls before anything is written there: a signal handler that calls
 * the driver from now on takes the next entry. The entry is valid only when its start is set, which
 * is stored last; gt_ring_close_call cleared the start of the previous call. frame: low end of the
 * call's stack frame. */
static inline struct gt_ring_open *gt_ring_claim_entry(
	struct gt_tcb *t, uint32_t depth, uintptr_t frame)
{
	__atomic_store_n(&t->depth, depth + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->frames[depth] = frame;
	return &t->ring->open[depth];
}
/* Publishes the number of open calls only: a signal handler may have moved the position meanwhile.
 * Writes one byte, as both supported processors are little-endian. */
static inline void gt_ring_publish_depth(struct gt_ring_thread *ring, uint32_t depth)
{
	__atomic_store_n((uint8_t *)&ring->word, (uint8_t)depth, __ATOMIC_RELEASE);
}
/* Publishes the position and ends the commit, in this order: while the word is stale no handler may
 * write. */
static inline void gt_ring_publish(struct gt_tcb *t, uint32_t depth)
{
	__atomic_store_n(&t->ring->word, t->position << 8 | (depth & 255), __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&t->depth, depth, __ATOMIC_RELAXED);
}
/* The same at the end of the call at this depth. */
static inline void gt_ring_close_call(struct gt_tcb *t, uint32_t depth)
{
	__atomic_store_n(&t->ring->word, t->position << 8 | depth, __ATOMIC_RELEASE);
	__atomic_store_n(&t->ring->open[depth].start, 0, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&t->depth, depth, __ATOMIC_RELAXED);
}

/* ---- a call ---- */
struct gt_call {
	struct gt_tcb *t;
	uint64_t start, end;
	uint32_t depth;
	uint32_t stack; /* 0: it carries none */
	uint16_t id;
};

bool gt_call_enter_slow(struct gt_call *c, uintptr_t frame);
/* True: the call is recorded, and gt_call_start, the call, gt_call_stop and one gt_call_record must
 * follow. */
static inline __attribute__((always_inline)) bool gt_call_enter(struct gt_call *c, uint32_t id)
{
	struct gt_tcb *t = gt_self;

	if (gt_unlikely(!__atomic_load_n(gt_recording, __ATOMIC_RELAXED)))
		return false;
	c->t = t;
	c->id = (uint16_t)id;
	c->depth = c->stack = 0;
	if (gt_likely(t->ring && !t->depth && !t->stacks && gt_shared->gate[id] == GT_GATE_ON))
		return true;
	return gt_call_enter_slow(c, (uintptr_t)__builtin_frame_address(0));
}

static inline struct gt_ring_open *gt_call_claim_entry(const struct gt_call *c)
{
	return gt_ring_claim_entry(c->t, c->depth, (uintptr_t)c);
}

_Static_assert(offsetof(struct gt_ring_open, nargs) == offsetof(struct gt_ring_open, id) + 2,
	"gt_call_start's head");
/* Id and number of words of an open call; its stack replaces the last word if there is no space. */
static inline uint32_t gt_call_open_head(
	struct gt_ring_open *o, uint32_t id, uint32_t nargs, uint32_t stack)
{
	if (gt_likely(!stack))
		return id | nargs << 16;
	nargs = nargs < GT_RING_OPEN_ARGS ? nargs : GT_RING_OPEN_ARGS - 1;
	o->args[nargs++] = stack;
	return id | (GT_REC_STACKED | nargs) << 16;
}

/* Publishes the call as begun. The first nargs words of open->args are filled in (after
 * gt_call_claim_entry). */
static inline void gt_call_start(struct gt_call *c, uint32_t nargs)
{
	struct gt_tcb *t = c->t;
	struct gt_ring_open *o = gt_call_claim_entry(c);
	uint32_t head = gt_call_open_head(o, c->id, nargs, c->stack);

	memcpy(&o->id, &head, sizeof(head));
	c->start = gt_now(t);
	__atomic_store_n(&o->start, c->start, __ATOMIC_RELEASE);
	gt_ring_publish_depth(t->ring, c->depth + 1);
}

static inline void gt_call_stop(struct gt_call *c)
{
	c->end = gt_now(c->t);
	gt_ring_begin_commit(c->t);
}

void gt_call_record_words(const struct gt_call *c, int32_t ret, const uint64_t *words, uint32_t n);
/* Writes the record of a call without argument words. */
static inline void gt_call_record(const struct gt_call *c, int32_t ret)
{
	struct gt_tcb *t = c->t;
	uint64_t at = t->position, *rec = (uint64_t *)(t->base + at);

	if (gt_unlikely(at + sizeof(struct gt_rec) > t->limit || c->stack)) {
		gt_call_record_words(c, ret, NULL, 0);
		return;
	}
	rec[0] = c->start;
	rec[1] = c->end;
	rec[2] = c->id | (uint64_t)c->depth << 24 | (uint64_t)(uint32_t)ret << 32;
	t->position = at + sizeof(struct gt_rec);
	gt_ring_close_call(t, c->depth);
}
_Static_assert(!GT_REC_CALL && offsetof(struct gt_rec, kind_depth) == 19 &&
		offsetof(struct gt_rec, ret) == 20,
	"gt_call_record");

/* Records a call after it has returned. Times are replaced by now if the thread had no ring when
 * they were read. */
void gt_call_record_finished(
	uint32_t id, uint64_t start, uint64_t end, int32_t ret, const uint64_t *words, uint32_t n);
/* Removes open calls that longjmp or an exception has left; frame: stack frame of a new wrapper. */
void gt_ring_pop_abandoned(struct gt_tcb *t, uintptr_t frame);

/* ---- space and losses ---- */
/* Returns the address of t->position after making sure that this many bytes fit there. NULL: they
 * do not; the caller counts a loss. Under --lossless it waits for a free chunk. */
uint8_t *gt_ring_reserve(struct gt_tcb *t, uint32_t bytes);
/* appends a free chunk to the chain without waiting; false: there is none */
bool gt_ring_take_chunk(struct gt_tcb *t);
/* counts a call for which there is no chunk */
void gt_ring_count_drop(struct gt_tcb *t, uint64_t from, uint64_t to);
/* counts a call that longjmp or an exception has left */
void gt_ring_count_abandoned(struct gt_tcb *t);
/* counts a call that a signal handler made while a record was written */
void gt_ring_count_in_handler(struct gt_tcb *t);

/* ---- records other than calls; false: there was no space ---- */
bool gt_ring_put_text(
	struct gt_tcb *t, enum gt_rec_kind kind, uint64_t start, const char *text, uint32_t len);
/* event: a struct gt_ev_* (ring_events.h), of whole words */
bool gt_ring_put_event(struct gt_tcb *t, enum gt_ring_event id, uint64_t start, uint64_t end,
	const void *event, size_t bytes);
/* length of the text, cut to what a record may hold */
uint32_t gt_ring_text_length(const char *text);
/* Returns the text's hash, and writes the text to the ring unless this thread did so before. */
uint64_t gt_ring_put_string(struct gt_tcb *t, const char *text);
uint64_t gt_ring_put_string_n(struct gt_tcb *t, const char *text, uint32_t len);
/* from: when the state began to change, in ticks */
void gt_ring_put_gpu_state(struct gt_tcb *t, uint64_t from, enum gt_gpu_state state,
	const char *text, uint64_t detail);
/* records that the program has found a driver function that the table lacks */
void gt_record_unknown_function(const char *name);
#endif
