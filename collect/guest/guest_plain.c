/* The way of most calls, as short as it can be.
 *
 * Nine calls in ten of a PyTorch program are getters that take some 20 ns and have no arguments worth recording. Between two of
 * them the program runs through more code than the first-level cache holds, so what a wrapper costs there is less its
 * instructions than the cache lines they stand on. All such functions (integers and pointers only, at most six, no key
 * arguments) therefore share one body, which stays warm; what is each one's own is a stub that loads its id.
 *
 * Functions with key arguments that lie in registers or on the stack (launches, copies, frees) hand these to gt_begin and gt_end,
 * which are shared likewise; only where something has to be fetched or computed does guest_args.c work by its table.
 *
 * Whatever is not the usual case goes to the function's own, typed wrapper: a first call, a call inside another one, a filter, a
 * pause, --args all, a clock that is not the tick counter. */
#include "collect/guest/guest.h"

void *gt_fast[GT_API_MAX];

typedef int32_t six(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* The two ways out of the short way, kept out of its cache lines. */
static __attribute__((noinline, cold))
int32_t typed(uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t id)
{
	gt_pop_abandoned(gt_self, (uintptr_t)__builtin_frame_address(0));	/* gt_plain's own: it jumps here */
	return ((six *)gt_typed[id])(a0, a1, a2, a3, a4, a5);
}

static __attribute__((noinline, cold))
int32_t record_slowly(struct gt_tcb *t, uint64_t id, int32_t ret, uint64_t start, uint64_t end, const uint64_t *words, uint32_t n)
{
	struct gt_call c = { .t = t, .start = start, .end = end, .id = (uint16_t)id };

	gt_record_words(&c, ret, words, n);
	return ret;
}

/* Registers that a function has no parameters in are handed on as they came. */
__attribute__((noinline, aligned(64)))
int32_t gt_plain(uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t id)
{
	struct gt_tcb *t = gt_self;
	six *real = (six *)__atomic_load_n(&gt_fast[id], __ATOMIC_RELAXED);
	struct gt_ring_thread *ring = t->ring;
	uint64_t start, end, at, *rec;
	int32_t ret;

	if (gt_unlikely(!real || !t->plain || t->depth || !__atomic_load_n(gt_live, __ATOMIC_RELAXED)))
		return typed(a0, a1, a2, a3, a4, a5, id);
	t->frames[0] = (uintptr_t)__builtin_frame_address(0);
	memcpy(&ring->open[0].id, &id, sizeof(id));
	t->depth = 1;
	start = gt_ticks();
	__atomic_store_n(&ring->open[0].start, start, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->word, t->position << 8 | 1, __ATOMIC_RELEASE);
	ret = real(a0, a1, a2, a3, a4, a5);
	end = gt_ticks();
	at = t->position;
	if (gt_unlikely(at + sizeof(struct gt_rec) > t->limit))
		return record_slowly(t, id, ret, start, end, NULL, 0);
	rec = (uint64_t *)(t->base + at);
	rec[0] = start;
	rec[1] = end;
	rec[2] = id | (uint64_t)(uint32_t)ret << 32;
	at += sizeof(struct gt_rec);
	t->position = at;
	t->depth = 0;
	__atomic_store_n(&t->ring->word, at << 8, __ATOMIC_RELEASE);
	return ret;
}

void gt_begin(struct gt_tcb *t, struct gt_keyed *k)
{
	struct gt_ring_open *o = &t->ring->open[0];
	uint32_t n = k->n < GT_RING_OPEN_ARGS ? k->n : GT_RING_OPEN_ARGS;
	uint64_t head = k->id | (uint64_t)n << 16;

	t->frames[0] = (uintptr_t)k;
	for (uint32_t i = 0; i < n; i++)
		o->args[i] = k->words[i];
	memcpy(&o->id, &head, sizeof(head));
	t->depth = 1;
	k->start = gt_ticks();
	__atomic_store_n(&o->start, k->start, __ATOMIC_RELAXED);
	__atomic_store_n(&t->ring->word, t->position << 8 | 1, __ATOMIC_RELEASE);
}

int32_t gt_end(struct gt_tcb *t, const struct gt_keyed *k, int32_t ret)
{
	uint64_t end = gt_ticks(), at, *rec;

	if (k->func != GT_NO_FUNC && !ret && k->words[k->func] && t->ring)
		gt_tell_name(t, k->words[k->func]);
	at = t->position;
	if (gt_unlikely(at + sizeof(struct gt_rec) + 8 * k->n > t->limit))
		return record_slowly(t, k->id, ret, k->start, end, k->words, k->n);
	rec = (uint64_t *)(t->base + at);
	rec[0] = k->start;
	rec[1] = end;
	rec[2] = k->id | (uint64_t)k->n << 16 | (uint64_t)(uint32_t)ret << 32;
	for (uint32_t i = 0; i < k->n; i++)
		rec[3 + i] = k->words[i];
	at += sizeof(struct gt_rec) + 8 * k->n;
	t->position = at;
	t->depth = 0;
	__atomic_store_n(&t->ring->word, at << 8, __ATOMIC_RELEASE);
	return ret;
}
