/* Finds the period of a long sequence of symbols: the step of a program, by its launches. */
#ifndef GT_PERIOD_H
#define GT_PERIOD_H
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

#define GT_PERIOD_LEAST 3u     /* smallest number of whole periods */
#define GT_PERIOD_BEFORE 4096u /* symbols between the start of a period and its anchor, at most */

struct gt_period {
	uint32_t anchor; /* occurs once in a usual period */
	uint32_t before; /* the period begins this many symbols before its anchor */
	uint32_t length; /* of the usual period */
	uint32_t count;  /* intervals between one anchor and the next */
	/* the number of these that are equal, symbol by symbol; 1 if no two are */
	uint32_t usual;
	/* 0 .. 1: share of the symbols between the first and the last anchor that are in a usual
	 * period, too; symbols that a period lacks reduce it */
	double regular;
};
/* symbols: n numbers below nsymbols. Time: at most about 50 passes over the symbols; memory: 40
 * bytes per different symbol and 4 per symbol. Returns 1; 0: nothing repeats, and
 * *why is the reason (a static sentence); or negative. */
int gt_period_find(const uint32_t *symbols, size_t n, uint32_t nsymbols, struct gt_period *p,
	const char **why, struct gt_err *err);
#endif
