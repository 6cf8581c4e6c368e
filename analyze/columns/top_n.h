/* The best n of many rows: slowest calls, first events, largest gaps. Ties are broken by all
 * fields, so the result does not depend on the order in which rows are offered. */
#ifndef GT_TOP_N_H
#define GT_TOP_N_H
#include <stddef.h>
#include "formats/trace/read/reader.h"
#include "formats/table/table.h"

/* limit for --top 0 and for larger numbers: it bounds memory */
#define GT_TOP_N_MAX GT_TABLE_MOST

struct gt_top_entry {
	int64_t score; /* larger is better */
	int64_t start, dur;
	const struct gt_segment *seg;
	uint32_t track, type;
	int32_t ret;
	uint8_t depth;
	uint64_t a, b, c; /* for the report's own use */
};
struct gt_top_n {
	/* a heap, worst entry first; after gt_top_n_sort: sorted, best first */
	struct gt_top_entry *list;
	size_t n, cap, max;
	uint64_t offered;
};

static inline void gt_top_n_init(struct gt_top_n *k, unsigned top)
{
	k->max = top && top < GT_TOP_N_MAX ? top : GT_TOP_N_MAX;
}
/* Would a row with this score enter? */
static inline bool gt_top_n_would_enter(const struct gt_top_n *k, int64_t score)
{
	return k->n < k->max || score >= k->list[0].score;
}
/* counts the row as offered in any case */
static inline bool gt_top_n_offer(struct gt_top_n *k, int64_t score)
{
	k->offered++;
	return gt_top_n_would_enter(k, score);
}
/* counts n rows that would not enter */
static inline void gt_top_n_skip(struct gt_top_n *k, uint64_t n) { k->offered += n; }
int gt_top_n_add(struct gt_top_n *k, const struct gt_top_entry *one, struct gt_err *err);
int gt_top_n_merge(struct gt_top_n *into, const struct gt_top_n *from, struct gt_err *err);
void gt_top_n_sort(struct gt_top_n *k); /* no gt_top_n_add after this */
void gt_top_n_release(struct gt_top_n *k);
/* The entry for row i of a run. */
struct gt_top_entry gt_top_entry_of_row(const struct gt_cols *cols, uint32_t i, int64_t score);
#endif
