/* Cells from upper summaries: whole buckets within cells give exact sums; the parts of the ends of
 * the window are read later; wider buckets are spread over their cells as rough sums. */
#include <stdlib.h>

#include "formats/base/sorted.h"
#include "viewer/cells/lane_cells_internal.h"

/* The first bucket that ends after `from`. */
static uint32_t first_bucket(const struct gt_level *l, int64_t from)
{
	return (uint32_t)GT_LOWER_BOUND(
		i, 0, l->n, l->buckets[i].start + (int64_t)l->buckets[i].width <= from);
}

static const struct gt_level *finest_level(const struct gt_upper *u)
{
	unsigned i = 0;

	while (u && i < u->nlevels && !u->levels[i].n)
		i++;
	return u && i < u->nlevels ? &u->levels[i] : NULL;
}

/* The coarsest level whose buckets each lie within a cell; else, with *fits false, the finest one.
 * NULL: there are no levels. */
static const struct gt_level *choose_level(const struct gt_upper *u, unsigned shift, bool *fits)
{
	const struct gt_level *best = finest_level(u);

	for (unsigned i = 0; u && i < u->nlevels; i++)
		if (u->levels[i].n && u->levels[i].shift <= shift)
			best = &u->levels[i];
	*fits = best && best->shift <= shift;
	return best;
}

static int sum_level(struct gt_lane_strip *strip, unsigned depth, const struct gt_level *l,
	const struct gt_range *range)
{
	int code = 0;

	for (uint32_t i = first_bucket(l, range->from);
		!code && i < l->n && l->buckets[i].start < range->to; i++)
		code = gt_grid_add_bucket(&strip->grid, depth, &l->buckets[i]);
	return code;
}

static int64_t round_up(int64_t t, unsigned shift)
{
	return gt_round_down((int64_t)((uint64_t)t + (1ull << shift) - 1), shift);
}

/* Adds the wide buckets within the range, and the finest ones where these do not fit. The range
 * begins and ends at finest buckets. */
static int sum_levels(struct gt_lane_strip *strip, unsigned depth, const struct gt_upper *u,
	const struct gt_level *l, struct gt_range range)
{
	const struct gt_level *finest = finest_level(u);
	struct gt_range wide = { round_up(range.from, l->shift),
		gt_round_down(range.to, l->shift) };
	int code;

	if (l == finest || wide.from >= wide.to)
		return sum_level(strip, depth, finest, &range);
	code = sum_level(strip, depth, l, &wide);
	if (!code && range.from < wide.from)
		code = sum_level(strip, depth, finest, &(struct gt_range){ range.from, wide.from });
	if (!code && range.to > wide.to)
		code = sum_level(strip, depth, finest, &(struct gt_range){ wide.to, range.to });
	return code;
}

static int set_end(struct gt_lane_strip *strip, unsigned which, int64_t from, int64_t to)
{
	struct gt_lane_strip_end *end;

	if (!strip->ends && !(strip->ends = calloc(GT_LANE_ENDS, sizeof(*strip->ends))))
		return -ENOMEM;
	end = &strip->ends[which];
	end->open = true;
	end->edges[0] = from;
	end->edges[1] = to;
	gt_grid_place_between(&end->grid, end->edges, 1);
	return 0;
}

/* Reduces the range to whole buckets of 2^shift ns. Rows give the rest. A bucket that contains an
 * end of the window counts as whole if there are no rows beyond that end. */
static int cut_ends(const struct gt_segment *seg, struct gt_lane_strip *strip, unsigned shift,
	bool entering, struct gt_range *range)
{
	bool first = range->from <= seg->min_start, last = range->to > seg->max_end;
	int64_t from = first ? gt_round_down(range->from, shift) : round_up(range->from, shift),
		to = last ? round_up(range->to, shift) : gt_round_down(range->to, shift);
	int code = 0;

	if (from > to) /* both ends are in one bucket */
		from = to = range->to;
	if (!first && (from != range->from || entering))
		code = set_end(strip, 0, range->from, from < range->to ? from : range->to);
	if (!code && !last && to != range->to)
		code = set_end(strip, 1, to > range->from ? to : range->from, range->to);
	*range = (struct gt_range){ from, to };
	return code;
}

/* Spreads a bucket over the cells that it covers. The cell of a single row is unknown, except
 * for the longest row. */
static void spread_bucket(
	struct gt_cell_sums *cells, const struct gt_bucket *b, const struct gt_edges *edges)
{
	int64_t end = b->start + (int64_t)b->width, first = gt_edges_find(edges, b->start),
		longest = gt_edges_find(edges, b->longest_at);

	for (int64_t i = first < 0 ? 0 : first; i < (int64_t)edges->n && edges->at[i] < end; i++) {
		int64_t from = edges->at[i] > b->start ? edges->at[i] : b->start,
			to = edges->at[i + 1] < end ? edges->at[i + 1] : end;
		double share = (double)(to - from) / (double)b->width;
		uint64_t width = (uint64_t)(edges->at[i + 1] - edges->at[i]);

		cells[i].busy += (uint64_t)((double)b->busy * share);
		cells[i].count += (uint64_t)((double)b->count * share);
		cells[i].bytes += (uint64_t)((double)b->bytes * share);
		cells[i].longest = i == longest ? b->longest : cells[i].longest;
		cells[i].category = b->category;
		if (cells[i].busy > width)
			cells[i].busy = width;
	}
}

static int spread_level(const struct gt_lane_cells *s, struct gt_lane_strip *strip, unsigned depth,
	const struct gt_level *l, const struct gt_range *range)
{
	struct gt_cell_sums *cells = strip->rough[depth] = calloc(s->window.cells, sizeof(*cells));
	struct gt_edges edges = gt_edges_of(strip->edges, s->window.cells);

	if (!cells)
		return -ENOMEM;
	for (unsigned i = 0; i < s->window.cells; i++)
		cells[i].sureness = GT_CELL_ROUGH;
	for (uint32_t i = first_bucket(l, range->from); i < l->n && l->buckets[i].start < range->to;
		i++)
		spread_bucket(cells, &l->buckets[i], &edges);
	return 0;
}

static const struct gt_upper *upper_of(
	const struct gt_lane_cells *s, const struct gt_lane_strip *strip, unsigned depth)
{
	return gt_archive_upper(s->archive, strip->of.segment, strip->of.track, strip->of.aspect,
		strip->of.derived, depth);
}

/* All depths have levels that fit: their sums, without the ends. */
static int sum_uppers(const struct gt_lane_cells *s, struct gt_lane_strip *strip)
{
	const struct gt_segment *seg =
		gt_reader_segment(gt_archive_reader(s->archive), strip->of.segment);
	struct gt_range range = gt_lane_cells_range(s, strip->of.segment);
	unsigned finest = 0;
	bool fits;
	int code;

	for (unsigned d = 0; d < GT_SUMMARY_DEPTHS; d++) {
		const struct gt_level *l = finest_level(upper_of(s, strip, d));

		finest = l && l->shift > finest ? l->shift : finest;
	}
	code = cut_ends(seg, strip, finest, s->has_entering, &range);
	for (unsigned d = 0; !code && d < GT_SUMMARY_DEPTHS; d++) {
		const struct gt_upper *u = upper_of(s, strip, d);
		const struct gt_level *l = choose_level(u, s->window.shift, &fits);

		code = l && range.from < range.to ? sum_levels(strip, d, u, l, range) : 0;
	}
	strip->complete = true;
	return code;
}

int gt_lane_cells_from_uppers(const struct gt_lane_cells *s, struct gt_lane_strip *strip)
{
	struct gt_range range = gt_lane_cells_range(s, strip->of.segment);
	bool any = false, all = true, fits;
	int code = 0;

	for (unsigned d = 0; d < GT_SUMMARY_DEPTHS; d++)
		if (choose_level(upper_of(s, strip, d), s->window.shift, &fits)) {
			any = true;
			all &= fits;
		}
	if (any && all &&
		!(strip->of.aspect == GT_ASPECT_WORK &&
			gt_lane_cells_needs_rows(s, strip->of.segment)))
		return sum_uppers(s, strip);
	for (unsigned d = 0; !code && d < GT_SUMMARY_DEPTHS; d++) {
		const struct gt_level *l =
			choose_level(upper_of(s, strip, d), s->window.shift, &fits);

		code = l ? spread_level(s, strip, d, l, &range) : 0;
	}
	return code;
}
