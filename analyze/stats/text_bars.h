/* Histograms drawn with letters: bars below one another, or a line of eight heights. In blocks where the locale is UTF-8, in ASCII
 * elsewhere. */
#ifndef GT_TEXT_BARS_H
#define GT_TEXT_BARS_H
#include <stdbool.h>
#include <stddef.h>
#include "analyze/stats/hist.h"
#include "formats/table/table.h"

bool gt_bars_utf8(void);	/* what LC_ALL, LC_CTYPE or LANG says */

/* Values in steps: powers of two, or 2, 4 ... 64 steps to each where all values are close together. Step 0 is the value 0. */
#define GT_BAR_STEPS_MAX 80u
struct gt_bar_scale {
	unsigned cut;			/* steps to a power of two: 1 << cut */
	unsigned first, n;		/* the first step with a value, and steps from there to the last one with a value; n 0: no values */
	uint64_t counts[GT_BAR_STEPS_MAX];	/* of first + i */
	uint64_t total, most;		/* of all, and the largest */
};
/* As fine as `lines` steps allow, but at least powers of two. */
void gt_bar_scale_make(struct gt_bar_scale *s, const struct gt_hist *h, unsigned lines);
unsigned gt_bar_step_of(const struct gt_bar_scale *s, uint64_t value);
uint64_t gt_bar_step_low(const struct gt_bar_scale *s, unsigned step);	/* the least value of a step */

/* n of most, as a bar that has `cells` columns at most: to[] gets up to 3 bytes for each, and a 0. What is not 0 can be seen. */
void gt_bar(char *to, uint64_t n, uint64_t most, unsigned cells, bool utf8);

/* Several histograms on one scale: a cell for each power of two, for several where there are many, or 2, 4 or 8 cells to each where all
 * values are close together. Zero-initialised: none yet. */
#define GT_SPARK_CELLS 24u
struct gt_spark_scale { uint64_t low, high; bool any; };	/* the least and the greatest value */
void gt_spark_scale_add(struct gt_spark_scale *scale, const struct gt_hist *h);
/* text has room for 3 bytes a cell and a 0. */
void gt_spark(char text[3 * GT_SPARK_CELLS + 1], const struct gt_spark_scale *scale, const struct gt_hist *h, bool utf8);
#define GT_SPARK_COLUMN { "spark", "Spread", GT_C_WHOLE }
void gt_spark_note(struct gt_table *t, const struct gt_spark_scale *scale);	/* what the cells are, in ns */
#endif
