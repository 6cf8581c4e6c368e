/* The best few of many rows: slowest calls, first events, largest gaps. Ties are broken by all that tells rows apart, so what is kept
 * does not depend on the order in which rows were offered. */
#ifndef GT_KEEP_H
#define GT_KEEP_H
#include <stddef.h>
#include "formats/trace/read/reader.h"
#include "formats/table/table.h"

#define GT_KEEP_ALL GT_TABLE_MOST	/* what --top 0 means here, and more than that: memory stays bounded */

struct gt_kept {
	int64_t score;			/* the greater the better */
	int64_t start, dur;
	const struct gt_segment *seg;
	uint32_t track, type;
	int32_t ret;
	uint8_t depth;
	uint64_t a, b;			/* the report's */
};
struct gt_keep {
	struct gt_kept *list;		/* a heap, the worst first; sorted, the best first, by gt_keep_sort */
	size_t n, cap, max;
	uint64_t offered;
};

static inline void gt_keep_init(struct gt_keep *k, unsigned top) { k->max = top && top < GT_KEEP_ALL ? top : GT_KEEP_ALL; }
/* Would a row with this score stand a chance? */
static inline bool gt_keep_would(const struct gt_keep *k, int64_t score) { return k->n < k->max || score >= k->list[0].score; }
static inline bool gt_keep_wants(struct gt_keep *k, int64_t score)	/* counts it as offered either way */
{
	k->offered++;
	return gt_keep_would(k, score);
}
static inline void gt_keep_skip(struct gt_keep *k, uint64_t n) { k->offered += n; }	/* n more that it would not want */
int gt_keep_add(struct gt_keep *k, const struct gt_kept *one, struct gt_err *err);
int gt_keep_merge(struct gt_keep *into, const struct gt_keep *from, struct gt_err *err);
void gt_keep_sort(struct gt_keep *k);	/* no more adding after this */
void gt_keep_release(struct gt_keep *k);
/* Row i of a run, scored. */
struct gt_kept gt_kept_row(const struct gt_cols *cols, uint32_t i, int64_t score);
#endif
