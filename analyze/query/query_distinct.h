/* Different values in groups, counted exactly: distinct(FIELD) of a query. */
#ifndef GT_QUERY_DISTINCT_H
#define GT_QUERY_DISTINCT_H
#include <stdbool.h>
#include <stdint.h>

#define GT_DISTINCT_MOST (3u << 18)	/* of all groups and fields together; 16 MiB */

enum gt_distinct_kind {	/* 5 the number and 5 as text are two values, 5 and 5.0 are one */
	GT_DISTINCT_NONE,
	GT_DISTINCT_NUMBER,	/* from 0 on */
	GT_DISTINCT_BELOW,	/* a whole number below 0, as int64_t */
	GT_DISTINCT_REAL,	/* any other, its bits */
	GT_DISTINCT_TEXT,	/* by its number */
};
struct gt_distinct_value { uint64_t value; uint32_t group; uint8_t field, kind; };
/* Zero-initialised is empty and valid. full: a value was left out, and no count is known any more. */
struct gt_distinct {
	struct gt_distinct_value *slots;
	uint32_t used, mask;
	bool full;
};

/* 1: it was not there before; 0: it was, or there is no room; negative: no memory. */
int gt_distinct_add(struct gt_distinct *d, const struct gt_distinct_value *v);
struct gt_distinct_value gt_distinct_whole(int64_t v);	/* kind and value */
struct gt_distinct_value gt_distinct_real(double v);
void gt_distinct_release(struct gt_distinct *d);
#endif
