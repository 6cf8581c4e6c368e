/* Draws histograms as text. The longest bar of a group has the full width. p50, p90 and p99 are
 * marked beside the bars that contain them; their values are in the line under the group's name.
 * Three or more empty lines become one. */
#include "analyze/query/histogram_draw.h"

#include <stdio.h>
#include <string.h>
#include "formats/table/name_ellipsis.h"

#define LINES 16u /* steps of a group, if its values are close together */
/* Widths of the columns of a line: the lower bound of a step with the text around it, a share, a
 * sum, a bar, the marks behind it. */
#define FROM_WIDTH 16u
#define SHARE_WIDTH 10u
#define SUM_WIDTH 11u
#define NARROWEST 4u
#define NARROW 12u /* below this width of a bar, sums and shares are left out */
#define WIDEST 60u
#define MARKS_WIDTH 12u

static const struct {
	const char *name;
	double q;
} marks[GT_HISTOGRAM_MARKS] = { { "p50", 0.50 }, { "p90", 0.90 }, { "p99", 0.99 } };

void gt_histogram_make(struct gt_histogram *d, const struct gt_hist *h, int64_t least, int64_t most)
{
	gt_bar_scale_make(&d->steps, h, LINES);
	d->most = most;
	for (unsigned i = 0; i < GT_HISTOGRAM_MARKS; i++)
		d->at[i] = gt_hist_quantile(h, marks[i].q, least, most);
}

void gt_histogram_add_amounts(struct gt_histogram *d, const struct gt_hist *amounts)
{
	d->summed = true;
	for (unsigned b = 0; b < GT_HIST_BUCKETS; b++) {
		const struct gt_hist_bucket *octave = amounts->octave[b / GT_HIST_OCTAVE];

		if (octave && octave[b % GT_HIST_OCTAVE].count) {
			uint64_t *to = &d->amounts[gt_bar_step_of(&d->steps, gt_hist_low(b)) -
				d->steps.first];

			*to = gt_sat_add(*to, octave[b % GT_HIST_OCTAVE].count);
		}
	}
}

/* ---- for programs ---- */

int gt_histogram_add_rows(struct gt_table *t, const struct gt_histogram *d, struct gt_cell *cells,
	unsigned nby, struct gt_err *err)
{
	int64_t shares[GT_BAR_STEPS_MAX];
	int rc = gt_compute_shares(d->steps.counts, d->steps.n, shares, err);

	for (unsigned i = 0; !rc && i < d->steps.n; i++) {
		struct gt_cell *c = cells + nby;

		if (!d->steps.counts[i])
			continue;
		c[0] = gt_cell_u(gt_bar_step_low(&d->steps, d->steps.first + i));
		c[1] = gt_cell_u(gt_bar_step_low(&d->steps, d->steps.first + i + 1));
		c[2] = gt_cell_u(d->steps.counts[i]);
		c[3] = gt_cell_i(shares[i]);
		if (d->summed)
			c[4] = gt_cell_u(d->amounts[i]);
		gt_table_add(t, cells);
	}
	return rc;
}

/* ---- for people ---- */

struct gt_histogram_layout gt_histogram_layout(size_t width, uint64_t most, bool summed)
{
	struct gt_histogram_layout l = { .count = (unsigned)snprintf(
						 NULL, 0, "%llu", (unsigned long long)most),
		.utf8 = gt_bars_utf8() };
	unsigned beside = FROM_WIDTH + l.count + 2 + MARKS_WIDTH;

	l.summed = summed && width >= beside + SUM_WIDTH + NARROW;
	beside += l.summed ? SUM_WIDTH : 0;
	l.share = width >= beside + SHARE_WIDTH + NARROW;
	beside += l.share ? SHARE_WIDTH : 0;
	l.cells = width < beside + NARROWEST ? NARROWEST
		: width < beside + WIDEST    ? (unsigned)width - beside
					     : WIDEST;
	return l;
}

int gt_histogram_clip_labels(char **labels, size_t n, size_t width)
{
	return width < SIZE_MAX
		? gt_clip(labels, n, width > GT_CLIP_MIN + 2 ? width - 2 : GT_CLIP_MIN)
		: 0;
}

/* Prints the number of values and the quantiles. */
static void say_figures(struct gt_table *t, const struct gt_histogram *d)
{
	char values[GT_HISTOGRAM_MARKS + 1][40];

	for (unsigned i = 0; i < GT_HISTOGRAM_MARKS; i++)
		gt_put_scaled(values[i], sizeof(values[i]), d->kind, d->at[i]);
	gt_put_scaled(values[GT_HISTOGRAM_MARKS], sizeof(*values), d->kind, d->most);
	gt_table_add_line(t, "    %llu %s%s, p50 %s, p90 %s, p99 %s, max %s",
		(unsigned long long)d->steps.total, d->of, gt_plural(d->steps.total, "s"),
		values[0], values[1], values[2], values[3]);
}

static void say_bar(struct gt_table *t, const struct gt_histogram *d,
	const struct gt_histogram_layout *l, unsigned i, int64_t share)
{
	char bar[WIDEST * 3 + 1], from[40], percent[20] = "", sum[40], behind[MARKS_WIDTH + 1] = "";
	unsigned step = d->steps.first + i;

	gt_bar(bar, d->steps.counts[i], d->steps.most, l->cells, l->utf8);
	gt_put_scaled(from, sizeof(from), d->kind, gt_clamp(gt_bar_step_low(&d->steps, step)));
	gt_put_scaled(sum, sizeof(sum), GT_C_NS, d->summed ? gt_clamp(d->amounts[i]) : 0);
	if (l->share)
		snprintf(percent, sizeof(percent), "%5d.%02d %%", (int)(share / 100),
			(int)(share % 100));
	for (unsigned m = 0; m < GT_HISTOGRAM_MARKS; m++)
		if (gt_bar_step_of(&d->steps, (uint64_t)d->at[m]) == step)
			sprintf(behind + strlen(behind), " %s", marks[m].name);
	gt_table_add_line(t, "    %*s  %*llu%s%*s%s%s%s", (int)FROM_WIDTH - 6, from, (int)l->count,
		(unsigned long long)d->steps.counts[i], percent, l->summed ? (int)SUM_WIDTH : 0,
		l->summed ? sum : "", *bar ? "  " : "", bar, behind);
}

static unsigned empty_from(const struct gt_bar_scale *s, unsigned i)
{
	unsigned n = 0;

	while (i + n < s->n && !s->counts[i + n])
		n++;
	return n;
}

int gt_histogram_draw(struct gt_table *t, const struct gt_histogram *d,
	const struct gt_histogram_layout *l, const char *label, struct gt_err *err)
{
	int64_t shares[GT_BAR_STEPS_MAX];
	int rc = gt_compute_shares(d->steps.counts, d->steps.n, shares, err);

	if (rc)
		return rc;
	gt_table_add_line(t, "  %s", label);
	say_figures(t, d);
	for (unsigned i = 0; i < d->steps.n; i++) {
		unsigned empty = empty_from(&d->steps, i);

		if (empty >= 3) {
			gt_table_add_line(t, "    %*s", (int)FROM_WIDTH - 6, "..");
			i += empty - 1;
		} else {
			say_bar(t, d, l, i, shares[i]);
		}
	}
	return 0;
}
