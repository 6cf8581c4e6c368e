/* Lines of samples: the samples of a thread as ticks, and its state if only samples tell it. Lines
 * of all other instants look the same.
 *
 * A sample says that the thread runs at one moment, and for how much processor time it stands (its
 * period). A cell of the line of states has the share that its samples stand for as its height. A
 * cell that is shorter than a period has a tick instead: the rest of the period may be in other
 * cells. Cells without samples are empty: no sample says why a thread does not run, or that it does
 * not. */
#include "viewer/timeline/timeline_draw_internal.h"

#include <inttypes.h>
#include <string.h>
#include "formats/base/numbers.h"
#include "viewer/util/number_text.h"

#define TICK 0x257b /* half a heavy line */

/* A visible time of fewer periods has too few samples for a share of running. */
#define PERIODS_LEAST 10u

/* The time that the samples of a cell stand for, ns. */
static uint64_t sampled(const struct gt_cell_sums *c) { return c->bytes; }

/* ns: the mean; 0: no sample */
static uint64_t period_of(const struct gt_cell_sums *c)
{
	return c->count ? sampled(c) / c->count : 0;
}

static void put_tick(const struct gt_cell_sums *c, uint8_t ink, int x, int y, struct gt_screen *to)
{
	const struct gt_look look = { ink, GT_INK_NONE, 0 };

	if (c->count && c->sureness == GT_CELL_EXACT)
		gt_screen_put(to, x, y, TICK, look);
	else
		gt_cell_draw(to, x, y, c, c->count ? 1 : 0);
}

/* Samples are ticks: a line each, or where cells have several, their number as a height. */
static void draw_samples(
	const struct gt_picture *p, const struct gt_cell_sums *cells, int y, struct gt_screen *to)
{
	uint64_t largest = 0;

	for (unsigned i = 0; i < p->at.cells; i++)
		largest = cells[i].count > largest ? cells[i].count : largest;
	for (unsigned i = 0; i < p->at.cells; i++) {
		int x = (int)(p->at.left + i);

		if (largest == 1)
			put_tick(&cells[i], gt_category_ink(cells[i].category), x, y, to);
		else
			gt_cell_draw(to, x, y, &cells[i], gt_part_eighths(cells[i].count, largest));
	}
}

static void draw_running(
	const struct gt_picture *p, const struct gt_cell_sums *cells, int y, struct gt_screen *to)
{
	for (unsigned i = 0; i < p->at.cells; i++) {
		const struct gt_cell_sums *c = &cells[i];
		uint64_t width = gt_cell_width(&p->scene->window, i);
		int x = (int)(p->at.left + i);

		if (c->sureness != GT_CELL_EXACT || width < period_of(c))
			put_tick(c, GT_INK_TEXT, x, y, to);
		else if (c->count)
			gt_screen_put(to, x, y, gt_block_glyph(gt_busy_eighths(sampled(c), width)),
				gt_look_plain);
	}
}

void gt_sample_line_draw(const struct gt_picture *p, const struct gt_lane_line *line,
	const struct gt_cell_sums *cells, int y, struct gt_screen *to)
{
	if (line->kind == GT_LANE_SAMPLED_STATE)
		draw_running(p, cells, y, to);
	else
		draw_samples(p, cells, y, to);
}

/* ---- figures ---- */

void gt_sample_line_figure(const struct gt_picture *p, const struct gt_lane_line *line,
	const struct gt_cell_sums *cells, char to[GT_BRIEF + 1])
{
	uint64_t visible = gt_visible_ns(p);
	struct gt_cell_sums all = { .count = 0 };

	for (unsigned i = 0; i < p->at.cells; i++) {
		all.count = gt_sat_add(all.count, cells[i].count);
		all.bytes = gt_sat_add(all.bytes, cells[i].bytes);
	}
	if (line->kind != GT_LANE_SAMPLED_STATE) {
		gt_brief_count(to, all.count);
	} else if (!all.count || visible / PERIODS_LEAST < period_of(&all)) {
		strcpy(to, "?");
	} else {
		to[0] = '~';
		gt_brief_share(to + 1, all.bytes < visible ? all.bytes : visible, visible);
	}
}

int gt_sample_line_words(const struct gt_lane_line *line, const struct gt_cell_sums *c,
	uint64_t width, int y, int x, struct gt_screen *to)
{
	char share[GT_BRIEF] = "";

	if (line->kind == GT_LANE_SAMPLED_STATE && c->count && width >= period_of(c)) {
		gt_brief_share(share, sampled(c) < width ? sampled(c) : width, width);
		return gt_screen_printf(to, x, y, -1, gt_look_plain,
			"about %s running, by %" PRIu64 " sample%s  ", share, c->count,
			gt_plural(c->count, "s"));
	}
	if (line->kind == GT_LANE_SAMPLED_STATE && !c->count)
		return gt_screen_text(to, x, y, -1, "no sample  ", gt_look_plain);
	return gt_screen_printf(to, x, y, -1, gt_look_plain, "%s%" PRIu64 " %s%s  ",
		line->kind == GT_LANE_SAMPLED_STATE ? "found running by " : "", c->count,
		line->aspect == GT_ASPECT_INSTANTS ? "instant" : "sample",
		gt_plural(c->count, "s"));
}
