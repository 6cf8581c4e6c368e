/* The fast path: a short code path shared by most calls. guest_fast_path.c says which calls take
 * it, and why. */
#ifndef GT_GUEST_FAST_PATH_H
#define GT_GUEST_FAST_PATH_H
#include "collect/guest/core/guest_hooks.h"
#include "collect/guest/core/guest_resolve.h"
#include "collect/guest/core/guest_ring.h"

/* generated: the typed wrappers by id, used when the fast path does not apply */
extern void *const gt_typed[];

/* The shared body of all plain functions (integers and pointers only, no key arguments). Only their
 * stubs call it. */
int32_t gt_fast_call(
	uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t id);
/* May this call take the fast path? The caller has seen that t->fast[id] is set, so t has a ring.
 */
static inline __attribute__((always_inline)) bool gt_fast_path_is_allowed(const struct gt_tcb *t)
{
	return gt_likely(!t->depth && !__atomic_load_n(&t->ring->open[0].pass, __ATOMIC_RELAXED));
}
/* Enables the fast path of a function for this thread. Called by its typed wrapper after
 * gt_call_enter returned true. */
static inline void gt_fast_path_enable(struct gt_tcb *t, uint32_t id, void *real)
{
	/* the shared body of plain functions takes no stacks */
	if (gt_unlikely(!t->fast[id]) && t->fast_path && gt_shared->gate[id] == GT_GATE_ON &&
		(!gt_shared->stack_of[id] || gt_typed[id] == gt_wrapper[id]) &&
		!__atomic_load_n(&gt_captures_active, __ATOMIC_RELAXED))
		t->fast[id] = real;
}
/* Disables the fast path of a function for all threads until it is enabled again. */
void gt_fast_path_disable(uint32_t id);

/* A call of a function all of whose key arguments are values of its parameters. */
struct gt_keyed_call {
	uint16_t id;
	/* number of words; index of the word that is a kernel's handle, GT_NO_FUNC: none */
	uint8_t n, func;
	uint32_t stack; /* 0: it carries none */
	uint64_t start;
	const uint64_t *words;
};
#define GT_NO_FUNC 255
/* False: the ring is gone, because this is a child that was forked meanwhile (by a signal handler).
 */
bool gt_keyed_call_begin(struct gt_tcb *t, struct gt_keyed_call *k);
/* returns ret */
int32_t gt_keyed_call_end(struct gt_tcb *t, const struct gt_keyed_call *k, int32_t ret);
/* Writes the record of a call that does not fit the current chunk. Returns ret. */
int32_t gt_call_record_slow(
	int32_t ret, uint64_t start, uint64_t end, uint32_t id, const uint64_t *words, uint32_t n);
#endif
