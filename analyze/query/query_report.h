/* Shared by the reports that evaluate a query: query and histogram. */
#ifndef GT_QUERY_REPORT_H
#define GT_QUERY_REPORT_H
#include "analyze/query/query_groups.h"
#include "analyze/order/time_merge.h"

/* Options of both. */
extern const struct gt_option_row gt_where_option;
/* Makes the query the settings of the report, and adapts the report's descriptor to it. q NULL:
 * returns the error. */
int gt_query_apply(struct gt_configured_report *c, struct gt_query *q, const struct gt_err *err);
/* free_settings of both */
void gt_query_free_settings(void *query);

struct gt_query_state {
	struct gt_report_state report;
	const struct gt_query *q; /* NULL: no query */
	struct gt_query_rows *rows;
	struct gt_query_groups groups;
	uint64_t matched;
	/* for unions */
	struct gt_time_merge line; /* of the current segment */
	const struct gt_segment *seg;
	uint64_t block, late;
	bool unions;
};
int gt_query_init(struct gt_query_state *s, const struct gt_query *q, struct gt_reader *r,
	const struct gt_analysis_options *opt, struct gt_err *err);
/* As in struct gt_analysis. */
int gt_query_block(void *state, const struct gt_cols *cols, struct gt_err *err);
int gt_query_merge(void *into, void *from, struct gt_err *err);
void gt_query_release(void *state);

/* If there were too many groups: notes it and returns true. */
bool gt_query_note_unanswered(const struct gt_query_state *s, struct gt_table *t);
struct gt_query_sorted {
	const struct gt_query_groups *groups;
	struct gt_cell cell;
	size_t group;
	bool real;
};
/* in the order of the table. The caller frees it. NULL: no memory */
struct gt_query_sorted *gt_query_in_order(const struct gt_query_groups *g);
/* Notes, per figure, how many matching rows lack its field. */
void gt_query_note_sums(const struct gt_query_state *s, struct gt_table *t);
/* The layer of all rows that could match, if none of it was recorded, or none is left. Else
 * GT_LAYER_COUNT. */
unsigned gt_query_unrecorded_layer(const struct gt_query_state *s);
#endif
