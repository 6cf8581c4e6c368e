/* Sorted arrays: sorting, comparison of keys, and binary search. */
#ifndef GT_SORTED_H
#define GT_SORTED_H
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Sorts n items; list may be NULL if n is 0, unlike that of qsort(). */
#define GT_SORT(list, n, compare) gt_sort(list, n, sizeof(*(list)), compare)
static inline void gt_sort(
	void *list, size_t n, size_t size, int (*compare)(const void *a, const void *b))
{
	if (n)
		qsort(list, n, size, compare);
}

/* -1, 0 or 1, for GT_SORT(). Several keys: GT_COMPARE(a, b) ?: GT_COMPARE(c, d) */
#define GT_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Compares texts of these lengths by their bytes; of two with the same beginning the shorter one is
 * first. */
static inline int gt_compare_texts(const char *a, size_t na, const char *b, size_t nb)
{
	return memcmp(a, b, na < nb ? na : nb) ?: GT_COMPARE(na, nb);
}

/* The first index of [from, to) for which the expression `is_before` of the index `i` is false;
 * `to` if it is true for all. It must be true for the first ones only. */
#define GT_LOWER_BOUND(i, from, to, is_before)                                                     \
	({                                                                                         \
		size_t low_ = (from), high_ = (to);                                                \
                                                                                                   \
		while (low_ < high_) {                                                             \
			size_t i = low_ + (high_ - low_) / 2;                                      \
                                                                                                   \
			if (is_before)                                                             \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})
#endif
