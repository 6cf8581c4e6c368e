/* A stack of numbered objects that threads and processes use without a lock: free chunks of the
 * rings, free buffers.
 *
 * Each object has a link, the number of the object below it. The head is one word: tag << 32 |
 * number of the top object. The tag rises with each push. So if another thread has popped the top
 * object and pushed it again, the exchange of the head fails, and the link that was read before is
 * not used. */
#ifndef GT_INDEX_STACK_H
#define GT_INDEX_STACK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_index_stack {
	uint64_t *head;
	uint8_t *links;      /* address of the link (uint32_t) of object 0 */
	size_t stride;       /* bytes from one link to the next */
	uint32_t first, end; /* a number outside of these means: the stack is empty */
};

static inline uint32_t *gt_index_stack_link(const struct gt_index_stack *s, uint32_t i)
{
	return (uint32_t *)(s->links + i * s->stride);
}

static inline void gt_index_stack_push(const struct gt_index_stack *s, uint32_t i)
{
	uint64_t head = __atomic_load_n(s->head, __ATOMIC_ACQUIRE), with;

	do {
		__atomic_store_n(gt_index_stack_link(s, i), (uint32_t)head, __ATOMIC_RELAXED);
		with = ((head >> 32) + 1) << 32 | i;
	} while (!__atomic_compare_exchange_n(
		s->head, &head, with, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
}

/* False: the stack is empty. */
static inline bool gt_index_stack_pop(const struct gt_index_stack *s, uint32_t *i)
{
	uint64_t head = __atomic_load_n(s->head, __ATOMIC_ACQUIRE), below;

	do {
		*i = (uint32_t)head;
		if (*i < s->first || *i >= s->end)
			return false;
		below = head >> 32 << 32 |
			__atomic_load_n(gt_index_stack_link(s, *i), __ATOMIC_RELAXED);
	} while (!__atomic_compare_exchange_n(
		s->head, &head, below, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
	return true;
}
#endif
