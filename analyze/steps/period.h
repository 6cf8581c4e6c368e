/* What repeats in a long sequence of symbols: the steps of a program, by the operations it
 * launches. */
#ifndef GT_PERIOD_H
#define GT_PERIOD_H
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

#define GT_PERIOD_LEAST 3u     /* whole periods that there must be */
#define GT_PERIOD_BEFORE 4096u /* symbols that a period may begin before its anchor */

struct gt_period {
	uint32_t anchor; /* occurs once in a usual period */
	uint32_t before; /* the period begins this many symbols before its anchor */
	uint32_t length; /* of the usual period */
	uint32_t count;  /* intervals between one anchor and the next */
	/* of those, how many are alike, symbol by symbol; 1 where no two are */
	uint32_t usual;
	double regular; /* 0 .. 1: of all symbols between the first and the last anchor, those that
			 * a usual period has, too; what periods lack of it counts against it */
};
/* symbols: n numbers below nsymbols. Time is some 50 walks over the symbols at most, memory 32
 * bytes a symbol that there is and 16 an occurrence of the most frequent one. Returns 1; 0: nothing
 * repeats, and *why is a sentence that says so (static); negative. */
int gt_period_find(const uint32_t *symbols, size_t n, uint32_t nsymbols, struct gt_period *p,
	const char **why, struct gt_err *err);
#endif
