/* The reports that answer a query: what they share. */
#ifndef GT_QUERY_REPORT_H
#define GT_QUERY_REPORT_H
#include "analyze/query/query_groups.h"
#include "analyze/order/time_merge.h"

struct gt_query_state {
	struct gt_report_state asked;
	const struct gt_query *q;	/* NULL: nothing was asked */
	struct gt_query_rows *rows;
	struct gt_query_groups groups;
	uint64_t matched;
	/* for unions */
	struct gt_time_merge line;	/* of the segment at hand */
	const struct gt_segment *seg;
	uint64_t block, late;
	bool unions;
};
int gt_query_init(struct gt_query_state *s, const struct gt_query *q, struct gt_reader *r, const struct gt_analysis_options *opt,
		  struct gt_err *err);
/* As in struct gt_analysis. */
int gt_query_block(void *state, const struct gt_cols *cols, struct gt_err *err);
int gt_query_merge(void *into, void *from, struct gt_err *err);
void gt_query_release(void *state);

/* There were too many groups: says so, and returns true. */
bool gt_query_cannot(const struct gt_query_state *s, struct gt_table *t);
struct gt_query_sorted { const struct gt_query_groups *groups; struct gt_cell cell; size_t group; bool real; };
struct gt_query_sorted *gt_query_in_order(const struct gt_query_groups *g);	/* as the table has them. new; NULL: no memory */
/* Notes of how many rows that matched there is no figure, because they do not have its field. */
void gt_query_note_sums(const struct gt_query_state *s, struct gt_table *t);
/* The layer that all rows which could match are of, of which nothing was recorded, or is left; or GT_LAYER_COUNT. */
unsigned gt_query_unrecorded(const struct gt_query_state *s);
#endif
