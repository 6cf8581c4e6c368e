/* Counts different values per group exactly: distinct(FIELD) of a query. */
#ifndef GT_QUERY_DISTINCT_H
#define GT_QUERY_DISTINCT_H
#include <stdbool.h>
#include <stdint.h>

#define GT_DISTINCT_MOST (3u << 18) /* over all groups and fields; 16 MiB */

enum gt_distinct_kind { /* the number 5 and the text 5 are different values, 5 and 5.0 are equal */
	GT_DISTINCT_NONE,
	GT_DISTINCT_NUMBER, /* from 0 on */
	GT_DISTINCT_BELOW,  /* negative integer, as int64_t */
	GT_DISTINCT_REAL,   /* other numbers, as bits */
	GT_DISTINCT_TEXT,   /* index of a text */
};
struct gt_distinct_value {
	uint64_t value;
	uint32_t group;
	uint8_t field, kind;
};
/* Zero-initialised: empty and valid. full: a value was left out, and all counts are unknown. */
struct gt_distinct {
	struct gt_distinct_value *slots;
	uint32_t used, mask;
	bool full;
};

/* 1: the value is new; 0: known, or the table is full; negative: no memory. */
int gt_distinct_add(struct gt_distinct *d, const struct gt_distinct_value *v);
struct gt_distinct_value gt_distinct_whole(int64_t v); /* sets kind and value */
struct gt_distinct_value gt_distinct_real(double v);
void gt_distinct_release(struct gt_distinct *d);
#endif
