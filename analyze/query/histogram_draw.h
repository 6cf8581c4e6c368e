/* Histograms as tables: ranges with counts for programs, bars for people. What the reports `histogram` of rows and of gaps share. */
#ifndef GT_HISTOGRAM_DRAW_H
#define GT_HISTOGRAM_DRAW_H
#include "analyze/stats/text_bars.h"
#include "analyze/core/report.h"

#define GT_HISTOGRAM_MARKS 3
#define GT_HISTOGRAM_COLUMNS 5	/* from, to, count, share, and amounts */

struct gt_histogram {
	const char *of;			/* "row": what is counted */
	enum gt_cell_kind kind;		/* of the values */
	struct gt_bar_scale steps;
	int64_t at[GT_HISTOGRAM_MARKS], most;	/* p50, p90, p99; the largest value */
	bool summed;
	uint64_t amounts[GT_BAR_STEPS_MAX];	/* ns, of each step, if they are summed */
};
/* d has `of` and `kind`, and is 0 else. */
void gt_histogram_make(struct gt_histogram *d, const struct gt_hist *h, int64_t least, int64_t most);
/* Sums of the same values, by bucket. */
void gt_histogram_add_amounts(struct gt_histogram *d, const struct gt_hist *amounts);
/* Adds a row for each range that is not empty: cells has nby filled in, and room for the rest. */
int gt_histogram_add_rows(struct gt_table *t, const struct gt_histogram *d, struct gt_cell *cells, unsigned nby, struct gt_err *err);

/* How wide everything is in text. */
struct gt_histogram_layout { unsigned count, cells; bool share, summed, utf8; };	/* digits of a count, columns of a bar */
struct gt_histogram_layout gt_histogram_layout(size_t width, uint64_t most, bool summed);
/* n labels, none wider than the terminal: labels[] is changed. 0 or -ENOMEM. */
int gt_histogram_clip_labels(char **labels, size_t n, size_t width);
int gt_histogram_draw(struct gt_table *t, const struct gt_histogram *d, const struct gt_histogram_layout *l, const char *label, struct gt_err *err);
#endif
