/* Histograms as tables: ranges with counts for programs, bars for text. Shared by the histograms
 * of rows and of gaps. */
#ifndef GT_HISTOGRAM_DRAW_H
#define GT_HISTOGRAM_DRAW_H
#include "analyze/stats/text_bars.h"
#include "analyze/core/report.h"

#define GT_HISTOGRAM_MARKS 3
#define GT_HISTOGRAM_COLUMNS 5 /* from, to, count, share, and amount */

struct gt_histogram {
	const char *of;         /* "row": the counted thing */
	enum gt_cell_kind kind; /* of the values */
	struct gt_bar_scale steps;
	int64_t at[GT_HISTOGRAM_MARKS], most; /* p50, p90, p99; the maximum */
	bool summed;
	uint64_t amounts[GT_BAR_STEPS_MAX]; /* ns, of each step; valid if summed */
};
/* d has `of` and `kind` set; all else is 0. */
void gt_histogram_make(
	struct gt_histogram *d, const struct gt_hist *h, int64_t least, int64_t most);
/* Adds the sums of the same values, by bucket. */
void gt_histogram_add_amounts(struct gt_histogram *d, const struct gt_hist *amounts);
/* Adds a row for each non-empty range. The first nby cells are filled in; cells has space for
 * the others. */
int gt_histogram_add_rows(struct gt_table *t, const struct gt_histogram *d, struct gt_cell *cells,
	unsigned nby, struct gt_err *err);

/* Widths in text. */
/* digits of a count, columns of a bar */
struct gt_histogram_layout {
	unsigned count, cells;
	bool share, summed, utf8;
};
struct gt_histogram_layout gt_histogram_layout(size_t width, uint64_t most, bool summed);
/* Shortens n labels to the width of the terminal; changes labels[]. Returns 0 or -ENOMEM. */
int gt_histogram_clip_labels(char **labels, size_t n, size_t width);
int gt_histogram_draw(struct gt_table *t, const struct gt_histogram *d,
	const struct gt_histogram_layout *l, const char *label, struct gt_err *err);
#endif
