/* The fast path: the code path of most calls, as short as possible.
 *
 * Nine of ten calls of a PyTorch program are getters that take some 20 ns and have no arguments
 * worth recording. Between two of them the program executes more code than the first-level cache
 * holds. So the cost of a wrapper there is less its instructions than the cache lines and pages
 * of its code and data. Therefore all such functions (integers and pointers only, at most six, no
 * key arguments) share one body, which stays in the cache; each has only a stub that loads its
 * id. The body reads and writes the thread's control block (one line, and one for the function's
 * address, mostly in the same page), the ring's line with the word and the open call, and the
 * record.
 *
 * Functions whose key arguments are in registers or on the stack (launches, copies, frees) pass
 * them to gt_keyed_call_begin and gt_keyed_call_end, which are shared likewise. Only arguments
 * that must be fetched or computed need the table in guest_args.c.
 *
 * All other cases go to the function's own typed wrapper: a first call, a nested call, a filter,
 * a pause, a range, --args all, a clock that is not the tick counter. */
#include "collect/guest/core/guest_fast_path.h"
#include "collect/guest/core/guest_args.h"

__attribute__((noinline, cold)) int32_t gt_call_record_slow(
	int32_t ret, uint64_t start, uint64_t end, uint32_t id, const uint64_t *words, uint32_t n)
{
	struct gt_call c = { .t = gt_self, .start = start, .end = end, .id = (uint16_t)id };

	gt_call_record_words(&c, ret, words, n);
	return ret;
}

static __attribute__((noinline, cold)) int32_t record_keyed_slow(
	struct gt_tcb *t, const struct gt_keyed_call *k, uint64_t end, int32_t ret)
{
	struct gt_call c = {
		.t = t, .start = k->start, .end = end, .id = k->id, .stack = k->stack
	};

	gt_call_record_words(&c, ret, k->words, k->n);
	return ret;
}

#if defined(GT_ARCH_PLAIN) && !defined(GT_HOSTED)
_Static_assert(offsetof(struct gt_tcb, ring) == GT_TCB_RING &&
		offsetof(struct gt_tcb, base) == GT_TCB_BASE &&
		offsetof(struct gt_tcb, position) == GT_TCB_POSITION &&
		offsetof(struct gt_tcb, limit) == GT_TCB_LIMIT &&
		offsetof(struct gt_tcb, depth) == GT_TCB_DEPTH &&
		offsetof(struct gt_tcb, frames) == GT_TCB_FRAME &&
		offsetof(struct gt_tcb, fast) == GT_TCB_FAST,
	"arch_*.h knows the control block");
#define FROM_WORD(field)                                                                           \
	(offsetof(struct gt_ring_thread, open[0].field) - offsetof(struct gt_ring_thread, word))
_Static_assert(offsetof(struct gt_ring_thread, word) == GT_RING_WORD &&
		FROM_WORD(start) == GT_WORD_START && FROM_WORD(id) == GT_WORD_ID &&
		FROM_WORD(pass) == GT_WORD_PASS,
	"arch_*.h knows the ring");
GT_ARCH_PLAIN_BODY(gt_fast_call, gt_self, gt_typed, gt_call_record_slow);
#else
typedef int32_t six_words(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* The code of the exit from the fast path is in other cache lines. */
static __attribute__((noinline, cold)) int32_t call_typed(
	uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t id)
{
	/* frame of gt_fast_call, which jumps here */
	gt_ring_pop_abandoned(gt_self, (uintptr_t)__builtin_frame_address(0));
	return ((six_words *)gt_typed[id])(a0, a1, a2, a3, a4, a5);
}

/* Registers without a parameter of the function are passed on unchanged. */
__attribute__((noinline, aligned(64))) int32_t gt_fast_call(
	uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t id)
{
	struct gt_tcb *t = gt_self;
	six_words *real = (six_words *)t->fast[id];
	uint32_t head = (uint32_t)id;
	uint64_t start, end, at, *rec;
	struct gt_ring_open *open;
	int32_t ret;

	if (gt_unlikely(!real || !gt_fast_path_is_allowed(t)))
		return call_typed(a0, a1, a2, a3, a4, a5, id);
	open = gt_ring_claim_entry(t, 0, (uintptr_t)__builtin_frame_address(0));
	memcpy(&open->id, &head, sizeof(head));
	start = gt_ticks();
	__atomic_store_n(&open->start, start, __ATOMIC_RELEASE);
	gt_ring_publish_depth(t->ring, 1);
	ret = real(a0, a1, a2, a3, a4, a5);
	end = gt_ticks();
	gt_ring_begin_commit(t);
	at = t->position;
	if (gt_unlikely(at + sizeof(struct gt_rec) > t->limit))
		return gt_call_record_slow(ret, start, end, head, NULL, 0);
	rec = (uint64_t *)(t->base + at);
	rec[0] = start;
	rec[1] = end;
	rec[2] = id | (uint64_t)(uint32_t)ret << 32;
	t->position = at + sizeof(struct gt_rec);
	gt_ring_close_call(t, 0);
	return ret;
}
#endif

__attribute__((hot)) bool gt_keyed_call_begin(struct gt_tcb *t, struct gt_keyed_call *k)
{
	uint32_t n = k->n < GT_RING_OPEN_ARGS ? k->n : GT_RING_OPEN_ARGS, head;
	struct gt_ring_open *o;

	k->stack = gt_unlikely(t->stacks) && gt_shared->stack_of[k->id]
		? gt_stack_take(t, gt_shared->stack_of[k->id])
		: 0;
	if (gt_unlikely(k->stack && !t->ring))
		return false;
	o = gt_ring_claim_entry(t, 0, (uintptr_t)k);
	for (uint32_t i = 0; i < n; i++)
		o->args[i] = k->words[i];
	head = gt_call_open_head(o, k->id, n, k->stack);
	memcpy(&o->id, &head, sizeof(head));
	k->start = gt_ticks();
	__atomic_store_n(&o->start, k->start, __ATOMIC_RELEASE);
	gt_ring_publish_depth(t->ring, 1);
	return true;
}

/* The cache lines of the next record are in the cache of the recorder's processor, which has read
 * the previous contents. A launch waits for its writes before it notifies the GPU, so these lines
 * must be here before. */
static inline void prefetch_next(const uint64_t *rec)
{
	for (int line = 0; line < 3; line++)
		gt_prefetch_to_write(rec + 8 * line);
}

__attribute__((hot)) int32_t gt_keyed_call_end(
	struct gt_tcb *t, const struct gt_keyed_call *k, int32_t ret)
{
	uint64_t end = gt_ticks(), at, *rec;
	uint32_t n = k->n;

	gt_ring_begin_commit(t);
	if (k->func != GT_NO_FUNC && !ret && k->words[k->func] && t->ring)
		gt_put_kernel_name(t, k->words[k->func]);
	at = t->position;
	if (gt_unlikely(at + sizeof(struct gt_rec) + 8 * n + 8 > t->limit))
		return record_keyed_slow(t, k, end, ret);
	rec = (uint64_t *)(t->base + at);
	rec[0] = k->start;
	rec[1] = end;
	for (uint32_t i = 0; i < n; i++)
		rec[3 + i] = k->words[i];
	rec[2] = k->id | (uint64_t)(uint32_t)ret << 32;
	if (k->stack) {
		rec[2] |= GT_REC_STACKED << 16;
		rec[3 + n++] = k->stack;
	}
	rec[2] |= (uint64_t)n << 16;
	t->position = at + sizeof(struct gt_rec) + 8 * n;
	prefetch_next(rec + 3 + n);
	gt_ring_close_call(t, 0);
	return ret;
}
