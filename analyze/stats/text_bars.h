/* Histograms drawn as text: horizontal bars, or one line with eight heights. With block
 * characters if the locale is UTF-8, else in ASCII. */
#ifndef GT_TEXT_BARS_H
#define GT_TEXT_BARS_H
#include <stdbool.h>
#include <stddef.h>
#include "analyze/stats/hist.h"
#include "formats/table/table.h"

bool gt_bars_utf8(void); /* from LC_ALL, LC_CTYPE or LANG */

/* A scale of steps: powers of two, or 2, 4 ... 64 steps per power of two if all values are close
 * together. Step 0 is the value 0. */
#define GT_BAR_STEPS_MAX 80u
struct gt_bar_scale {
	unsigned cut; /* steps per power of two: 1 << cut */
	/* the first step with a value; the number of steps up to the last one with a value; n 0: no
	 * values */
	unsigned first, n;
	uint64_t counts[GT_BAR_STEPS_MAX]; /* of step first + i */
	uint64_t total, most;              /* sum and maximum of counts */
};
/* The finest scale with at most `lines` steps, but at least powers of two. */
void gt_bar_scale_make(struct gt_bar_scale *s, const struct gt_hist *h, unsigned lines);
unsigned gt_bar_step_of(const struct gt_bar_scale *s, uint64_t value);
/* smallest value of a step */
uint64_t gt_bar_step_low(const struct gt_bar_scale *s, unsigned step);

/* A bar of at most `cells` columns that shows n of `most`. to[] needs 3 bytes per column and 1
 * for the 0. A value above 0 is always visible. */
void gt_bar(char *to, uint64_t n, uint64_t most, unsigned cells, bool utf8);

/* One scale for several histograms: a cell per power of two, or per several powers if there are
 * many, or 2, 4 or 8 cells per power if all values are close together. Zero-initialised: no
 * histogram yet. */
#define GT_SPARK_CELLS 24u
struct gt_spark_scale {
	uint64_t low, high;
	bool any;
}; /* smallest and largest value */
void gt_spark_scale_add(struct gt_spark_scale *scale, const struct gt_hist *h);
/* text takes 3 bytes per cell and a 0. */
void gt_spark(char text[3 * GT_SPARK_CELLS + 1], const struct gt_spark_scale *scale,
	const struct gt_hist *h, bool utf8);
#define GT_SPARK_COLUMN                                                                            \
	{                                                                                          \
		"spark", "Spread", GT_C_WHOLE                                                      \
	}
/* notes the range of the cells, in ns */
void gt_spark_note(struct gt_table *t, const struct gt_spark_scale *scale);
#endif
