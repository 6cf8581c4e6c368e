/* Binary search. */
#ifndef GT_LOWER_BOUND_H
#define GT_LOWER_BOUND_H
#include <stddef.h>

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
