/* Sorted arrays: comparison of keys, and binary search. */
#ifndef GT_SORTED_H
#define GT_SORTED_H
#include <stddef.h>

/* -1, 0 or 1, for qsort(). Several keys: GT_COMPARE(a, b) ?: GT_COMPARE(c, d) */
#define GT_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

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
