/* Exact cells that are reused from the previous request. */
#include <stdlib.h>
#include <string.h>

#include "viewer/cells/lane_cells_internal.h"

/* Before which time nothing has come for a strip since it was wanted last; segment's time. */
static int64_t floor_of(const struct gt_lane_cells *s, const struct gt_strip_key *of)
{
	const struct gt_segment *seg =
		gt_reader_segment(gt_archive_reader(s->archive), of->segment);
	uint32_t kinds = gt_strip_kinds(of) & ~s->visits.without;
	int64_t floor = INT64_MAX, one;

	if (!s->since.n)
		return INT64_MAX;
	if (!of->derived)
		return gt_unchanged_until_time(&s->since, of->segment, of->track, kinds);
	for (uint32_t t = 0; t < seg->ntracks; t++)
		if (gt_archive_joins(s->archive, of->segment, t, of->track)) {
			one = gt_unchanged_until_time(&s->since, of->segment, t, kinds);
			floor = one < floor ? one : floor;
		}
	return floor;
}

/* The range in which all cells were exact; segment's time. It includes all time before the first
 * row. */
static struct gt_range certain(const struct gt_lane_cells *s, const struct gt_lane_strip *was)
{
	uint32_t segment = was->of.segment;
	int64_t low = s->since.n
		? gt_unchanged_until_start(&s->since, segment)
		: gt_reader_segment(gt_archive_reader(s->archive), segment)->min_start;
	int64_t from = was->edges[0], end = was->edges[s->was_window.cells];
	int64_t taken = was->edges[was->taken], to = was->until > taken ? was->until : taken;

	return (struct gt_range){ low >= from ? INT64_MIN : from,
		was->complete || to > end ? end : to };
}

/* Number of the strip's first cells that are unchanged. */
static unsigned count_taken(const struct gt_lane_cells *s, const struct gt_lane_strip *strip,
	const struct gt_lane_strip *was)
{
	struct gt_range known = certain(s, was);
	int64_t floor = floor_of(s, &strip->of), to = floor < known.to ? floor : known.to, n;
	struct gt_edges edges = gt_edges_of(strip->edges, s->window.cells);

	if (s->has_entering && !(s->was_entering && gt_same_window(&s->window, &s->was_window)))
		return 0; /* the rows at its start are not known */
	if (was->ends || strip->edges[0] < known.from || to <= strip->edges[0] ||
		!gt_window_consists_of(&s->window, &s->was_window))
		return 0;
	n = gt_edges_find(&edges, to);
	return n < s->window.cells ? (unsigned)n : s->window.cells;
}

static int take_holes(
	const struct gt_lane_cells *s, struct gt_lane_strip *strip, const struct gt_lane_strip *was)
{
	struct gt_edges edges = gt_edges_of(strip->edges, s->window.cells);

	if (was->holes && !strip->holes && !(strip->holes = calloc(s->window.cells, 1)))
		return -ENOMEM;
	for (unsigned i = 0; was->holes && i < s->was_window.cells; i++) {
		int64_t c = gt_edges_find(&edges, was->edges[i]);

		if (was->holes[i] && c >= 0 && c < strip->taken)
			strip->holes[c] = 1;
	}
	return 0;
}

/* An empty grid of n cells from cell `first` on. Cells of an aligned window are found faster. */
void gt_lane_cells_place_grid(const struct gt_lane_cells *s, const struct gt_lane_strip *strip,
	unsigned first, unsigned n, struct gt_grid *g)
{
	const struct gt_cell_window *w = &s->window;
	int64_t start = strip->edges[first];

	if (gt_window_is_aligned(w) && gt_round_down(start, w->shift) == start)
		gt_grid_place(g, start >> w->shift, w->shift, n);
	else
		gt_grid_place_between(g, strip->edges + first, n);
}

/* Reuses the exact cells of the same strip. */
int gt_lane_cells_reuse(struct gt_lane_cells *s, struct gt_lane_strip *strip)
{
	const struct gt_lane_strip *was = s->was, *end = was + s->nwas;
	int code;

	while (was < end && !gt_same_strip(&was->of, &strip->of))
		was++;
	strip->taken = was < end ? count_taken(s, strip, was) : 0;
	if (!strip->taken)
		return 0;
	gt_lane_cells_place_grid(s, strip, 0, strip->taken, &strip->before);
	code = gt_grid_add_grid(&strip->before, &was->before);
	if (!code)
		code = gt_grid_add_grid(&strip->before, &was->grid);
	if (!code)
		code = take_holes(s, strip, was);
	gt_grid_release(&strip->grid);
	gt_lane_cells_place_grid(
		s, strip, strip->taken, s->window.cells - strip->taken, &strip->grid);
	strip->unsure = was->unsure;
	if (s->has_entering && was->entering) {
		strip->entering = malloc(GT_SUMMARY_DEPTHS * sizeof(*strip->entering));
		if (!strip->entering)
			return -ENOMEM;
		memcpy(strip->entering, was->entering,
			GT_SUMMARY_DEPTHS * sizeof(*strip->entering));
	}
	strip->complete = strip->taken == s->window.cells;
	return code;
}
