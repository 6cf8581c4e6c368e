/* GT_BISECT(i, from, to, before): the first index in [from, to) for which the expression `before`
 * of `i` is false, or `to`. The expression is true for a first part of the indices, and false for
 * the rest. */
#ifndef GT_BISECT_H
#define GT_BISECT_H
#include <stddef.h>

#define GT_BISECT(i, from, to, before)                                                             \
	__extension__({                                                                            \
		size_t low_ = (from), high_ = (to);                                                \
		while (low_ < high_) {                                                             \
			size_t i = low_ + (high_ - low_) / 2;                                      \
			if (before)                                                                \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})
#endif
