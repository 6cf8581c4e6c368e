/* Binary heaps over arrays. GT_HEAP(NAME, TYPE, BEFORE) defines two functions on elements of TYPE:
 *
 *   NAME_up(arg, heap, i, one)       puts `one` into the free place i, or above it
 *   NAME_down(arg, heap, n, i, one)  puts `one` into the free place i of n, or below it
 *
 * BEFORE(arg, const TYPE *a, const TYPE *b) says whether a comes before b; heap[0] is the first
 * element. arg is what BEFORE needs, or NULL. To add an element: NAME_up(arg, heap, n++, one). To
 * remove the first: NAME_down(arg, heap, n, 0, heap[n]) after n--, also where n is 0 then. */
#ifndef GT_HEAP_H
#define GT_HEAP_H
#include <stddef.h>

#define GT_HEAP(NAME, TYPE, BEFORE)                                                                \
	static inline void NAME##_up(const void *arg, TYPE *heap, size_t i, TYPE one)              \
	{                                                                                          \
		for (; i && BEFORE(arg, &one, &heap[(i - 1) / 2]); i = (i - 1) / 2)                \
			heap[i] = heap[(i - 1) / 2];                                               \
		heap[i] = one;                                                                     \
	}                                                                                          \
	static inline void NAME##_down(const void *arg, TYPE *heap, size_t n, size_t i, TYPE one)  \
	{                                                                                          \
		for (size_t child; (child = 2 * i + 1) < n; i = child) {                           \
			child += child + 1 < n && BEFORE(arg, &heap[child + 1], &heap[child]);     \
			if (!BEFORE(arg, &heap[child], &one))                                      \
				break;                                                             \
			heap[i] = heap[child];                                                     \
		}                                                                                  \
		heap[i] = one;                                                                     \
	}
#endif
