#ifndef GT_NUMBERS_H
#define GT_NUMBERS_H
#include <stdint.h>

/* a + b, or UINT64_MAX if that is too large */
static inline uint64_t gt_sat_add(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

/* The ending of a word after the number n: none for 1. */
static inline const char *gt_plural(uint64_t n, const char *ending) { return n == 1 ? "" : ending; }
#endif
