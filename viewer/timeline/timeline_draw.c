/* The parts of a frame from the top: title; overview of the whole run with a bracket at the
 * visible range; time axis; marks and bookmarks (timeline_interaction.h); missing data; lanes;
 * details of the cursor's cell; the visible range. The title has the legend of colours at its
 * right. Without enough lines, parts are left out: the title first, the lanes last.
 *
 * The height of a cell is its value, its colour the category with the most time. Unknown cells
 * are dotted and rough ones are dim. A cross marks a damaged block, and a triangle an unfinished
 * call. In the line of a thread's states, a dash is a cell in which it runs. All of this is also
 * readable without colours: reasons why it does not run are letters then. */
#include "viewer/timeline/timeline_draw_internal.h"

#include <string.h>
#include "viewer/util/number_text.h"
#include "formats/base/numbers.h"

#define CROSS 0x2573
#define DASHES_DOWN 0x254e
#define GRID 0x2506
#define FOLDED 0x25b8
#define UNFOLDED 0x25be

const struct gt_look gt_hole_look = { GT_INK_HOLE, GT_INK_NONE, GT_BOLD };

const struct gt_look gt_unfinished_end_look = { GT_INK_WARN, GT_INK_NONE, GT_BOLD };

/* ---- figures ---- */

unsigned gt_busy_eighths(uint64_t busy, uint64_t width)
{
	unsigned eighths =
		busy >= width ? 8 : (unsigned)(((unsigned __int128)busy * 8 + width / 2) / width);

	if (!busy || busy >= width)
		return busy ? 8 : 0;
	return eighths < 1 ? 1 : eighths > 7 ? 7 : eighths;
}

unsigned gt_part_eighths(uint64_t value, uint64_t largest)
{
	return value >= largest ? (value ? 8 : 0) : gt_busy_eighths(value, largest);
}

static uint64_t height_of(const struct gt_cell_sums *c, enum gt_height m)
{
	switch (m) {
	case GT_HEIGHT_COUNT: return c->count;
	case GT_HEIGHT_LONGEST: return c->longest;
	case GT_HEIGHT_BYTES: return c->bytes;
	default: return c->busy;
	}
}

uint64_t gt_visible_ns(const struct gt_picture *p)
{
	const struct gt_time_extent *e = &p->scene->extent;
	int64_t from = gt_cell_start(&p->scene->window, 0), end = gt_window_end(&p->scene->window);

	from = from < e->from ? e->from : from;
	end = end > e->to - 1 ? e->to - 1 : end; /* the extent has one more */
	return end > from ? (uint64_t)(end - from) : 1;
}

static void put_figure(
	const struct gt_picture *p, uint64_t sum, uint64_t longest, char to[GT_BRIEF])
{
	if (p->heights == GT_HEIGHT_BUSY)
		gt_brief_share(to, sum, gt_visible_ns(p));
	else if (p->heights == GT_HEIGHT_COUNT)
		gt_brief_count(to, sum);
	else if (p->heights == GT_HEIGHT_LONGEST)
		gt_brief_ns(to, longest);
	else
		gt_brief_bytes(to, sum);
}

/* Totals of the line: busy share of the visible time, or count, longest and bytes of the events
 * that overlap it, as in reports. */
static void put_line_figure(const struct gt_picture *p, const struct gt_cell_sums *cells,
	const struct gt_cell_sums *entering, char to[GT_BRIEF + 1])
{
	bool more = entering && p->heights != GT_HEIGHT_BUSY;
	uint64_t sum = more ? height_of(entering, p->heights) : 0,
		 longest = more ? entering->longest : 0;
	bool rough = more && entering->sureness != GT_CELL_EXACT;

	for (unsigned i = 0; i < p->at.cells; i++) {
		if (cells[i].sureness == GT_CELL_UNKNOWN || cells[i].sureness == GT_CELL_DAMAGED) {
			strcpy(to, "?");
			return;
		}
		rough |= cells[i].sureness == GT_CELL_ROUGH;
		sum = gt_sat_add(sum, height_of(&cells[i], p->heights));
		longest = cells[i].longest > longest ? cells[i].longest : longest;
	}
	to[0] = '~';
	put_figure(p, sum, longest, to + rough);
}

/* ---- a line of cells ---- */

uint8_t gt_category_ink(unsigned category)
{
	return category == GT_CELL_COMMUNICATION ? GT_INK_COMM
		: category < GT_CATEGORY_COUNT   ? (uint8_t)(GT_INK_CATEGORY + category)
						 : GT_INK_CATEGORY;
}

uint32_t gt_cell_glyph(const struct gt_screen *to, unsigned category, unsigned eighths)
{
	static const uint32_t shades[] = { 0x2591, 0x2591, 0x2591, 0x2592, 0x2592, 0x2592, 0x2593,
		0x2593, 0x2593 };

	if (to->mono && gt_state_letter(category))
		return (uint32_t)gt_state_letter(category) + (eighths < 5 ? 'a' - 'A' : 0);
	if (!to->mono || category != GT_CELL_COMMUNICATION)
		return gt_block_glyph(eighths);
	return to->ascii ? (eighths < 5 ? 'c' : 'C') : shades[eighths < 8 ? eighths : 8];
}

void gt_cell_draw(
	struct gt_screen *to, int x, int y, const struct gt_cell_sums *c, unsigned eighths)
{
	struct gt_look look = { gt_category_ink(c->category), GT_INK_NONE, 0 };

	if (c->sureness == GT_CELL_DAMAGED) {
		gt_screen_put(to, x, y, CROSS, gt_hole_look);
	} else if (c->sureness == GT_CELL_UNKNOWN) {
		gt_screen_put(to, x, y, to->ascii ? '?' : MIDDLE_DOT, gt_look_faint);
	} else if (c->open) {
		gt_screen_put(to, x, y, GT_OPEN_END, gt_unfinished_end_look);
	} else if (eighths) {
		look.style = c->sureness == GT_CELL_ROUGH ? GT_DIM : 0;
		gt_screen_put(to, x, y, gt_cell_glyph(to, c->category, eighths), look);
	}
}

static void draw_cells(
	const struct gt_picture *p, const struct gt_cell_sums *cells, int y, struct gt_screen *to)
{
	const struct gt_cell_window *w = &p->scene->window;
	uint64_t largest = 0, even = gt_window_is_aligned(w) ? gt_window_cell_width(w) : 0;

	for (unsigned i = 0; p->heights != GT_HEIGHT_BUSY && i < p->at.cells; i++)
		largest = height_of(&cells[i], p->heights) > largest
			? height_of(&cells[i], p->heights)
			: largest;
	for (unsigned i = 0; i < p->at.cells; i++) {
		uint64_t v = height_of(&cells[i], p->heights);

		gt_cell_draw(to, (int)(p->at.left + i), y, &cells[i],
			p->heights == GT_HEIGHT_BUSY
				? gt_busy_eighths(v, even ? even : gt_cell_width(w, i))
				: gt_part_eighths(v, largest));
	}
}

/* Between two intervals off the processor, the thread runs. */
static void draw_running(
	const struct gt_picture *p, const struct gt_cell_sums *cells, int y, struct gt_screen *to)
{
	unsigned first = 0, last = p->at.cells;

	while (first < last && !cells[first].busy)
		first++;
	while (last > first && !cells[last - 1].busy)
		last--;
	for (unsigned i = first; i < last; i++)
		if (!cells[i].busy && cells[i].sureness == GT_CELL_EXACT)
			gt_screen_put(to, (int)(p->at.left + i), y, LINE_ACROSS, gt_look_axis);
}

/* ---- a line of a counter ---- */

unsigned gt_counter_level(double value, double least, double most)
{
	double level =
		most > least ? (value - least) * (GT_COUNTER_LEVELS - 1) / (most - least) : 0;

	return !(level > 0)     ? 0
		: level < 1     ? 1
		: value >= most ? GT_COUNTER_LEVELS - 1
				: (unsigned)level;
}

/* A Braille character: its left column covers the levels `low` to `high`, its right one is the dot
 * at `last`. */
static uint32_t line_glyph(unsigned low, unsigned high, unsigned last, bool ascii)
{
	static const uint8_t left[] = { 0x40, 0x04, 0x02, 0x01 },
			     right[] = { 0x80, 0x20, 0x10, 0x08 };
	static const char levels[] = "_-~^";
	uint32_t dots = right[last];

	for (; low <= high; low++)
		dots |= left[low];
	return ascii ? (uint32_t)levels[high] : 0x2800 + dots;
}

/* A line from value to value. In a cell with several values, it covers all of them. */
static void draw_gauge(const struct gt_picture *p, const struct gt_lane_line *line,
	const struct gt_counter_cell *cells, int y, struct gt_screen *to)
{
	const struct gt_type *types = gt_reader_segment(p->scene->reader, line->segment)->types;
	unsigned category =
		line->kind == GT_LANE_QUEUE ? GT_CAT_KERNEL : types[line->type].category;
	struct gt_look look = { (uint8_t)(GT_INK_CATEGORY + category), GT_INK_NONE, 0 };
	int64_t end = gt_window_column(&p->scene->window, p->scene->extent.to - 1);
	double least = 0, most = 0;

	for (unsigned i = 0; i < p->at.cells; i++)
		if (cells[i].known) {
			least = cells[i].low < least ? cells[i].low : least;
			most = cells[i].high > most ? cells[i].high : most;
		}
	for (unsigned i = 0; i < p->at.cells && i <= end; i++) {
		int x = (int)(p->at.left + i);

		if (!cells[i].known)
			gt_screen_put(to, x, y, to->ascii ? '?' : MIDDLE_DOT, gt_look_faint);
		else if (cells[i].high > least || cells[i].low < 0)
			gt_screen_put(to, x, y,
				line_glyph(gt_counter_level(cells[i].low, least, most),
					gt_counter_level(cells[i].high, least, most),
					gt_counter_level(cells[i].last, least, most), to->ascii),
				look);
	}
}

bool gt_counts_bytes(const struct gt_picture *p, const struct gt_lane_line *line)
{
	const char *name = line->kind == GT_LANE_COUNTER
		? gt_type_name(gt_reader_segment(p->scene->reader, line->segment), line->type)
		: "";
	size_t n = strlen(name);

	return n >= 6 && !strcmp(name + n - 6, "_bytes");
}

/* Writes the largest value; '~' precedes an uncertain one. A counter's value before its first
 * sample is unknown. Waiting launches become known for every cell; until then there is no
 * largest value. */
static void put_gauge_figure(const struct gt_picture *p, const struct gt_lane_line *line,
	const struct gt_counter_cell *cells, char to[GT_BRIEF + 1])
{
	int64_t last = gt_window_column(&p->scene->window, p->scene->extent.to - 1);
	bool any = false, all = true, rough = cells[0].is_lower_bound || cells[0].is_estimate;
	double most = 0;

	for (unsigned i = 0; i < p->at.cells && i <= last; i++) {
		all &= cells[i].known;
		if (!cells[i].known)
			continue;
		most = !any || cells[i].high > most ? cells[i].high : most;
		any = true;
	}
	to[0] = '~';
	if (any && (all || line->kind != GT_LANE_QUEUE))
		most >= 0 && gt_counts_bytes(p, line) ? gt_brief_bytes(to + rough, (uint64_t)most)
						      : gt_brief_value(to + rough, most);
	else
		strcpy(to, "?");
}

/* ---- the axis and missing data ---- */

/* A faint line at each tick of the axis, where lanes are empty. ASCII has no character for it that
 * is not a height. */
static void draw_grid(const struct gt_picture *p, struct gt_screen *to)
{
	const struct gt_look look = { GT_INK_AXIS, GT_INK_NONE, GT_DIM };
	struct gt_tick ticks[GT_SCREEN_MOST / 4];
	unsigned n = gt_time_axis(
		&p->scene->window, &p->scene->times, ticks, sizeof(ticks) / sizeof(*ticks));
	int64_t last = gt_window_column(&p->scene->window, p->scene->extent.to - 1);

	for (unsigned i = 0; i < n && ticks[i].column <= last; i++)
		for (size_t k = 0; k < p->at.nlanes && p->top + k < p->lanes->n; k++) {
			int x = (int)(p->at.left + ticks[i].column), y = p->at.lanes + (int)k;

			if (!to->ascii && ticks[i].column && gt_screen_is_blank(to, x, y))
				gt_screen_put(to, x, y, GRID, look);
		}
}

static void draw_axis(const struct gt_picture *p, struct gt_screen *to)
{
	struct gt_tick ticks[GT_SCREEN_MOST / 4];
	unsigned n = gt_time_axis(
		&p->scene->window, &p->scene->times, ticks, sizeof(ticks) / sizeof(*ticks));
	int64_t last = gt_window_column(&p->scene->window, p->scene->extent.to - 1);

	if (p->scene->times.by_wall)
		gt_screen_text(to, 0, p->at.axis, (int)p->at.left - 1, "UTC", gt_look_faint);
	for (unsigned i = 0; i < n && ticks[i].column <= last; i++) {
		gt_screen_put(to, (int)(p->at.left + ticks[i].column), p->at.axis, LINE_DOWN,
			gt_look_axis);
		gt_screen_text(to, (int)(p->at.left + ticks[i].column) + 1, p->at.axis, -1,
			ticks[i].label, gt_look_plain);
	}
}

static const struct {
	uint32_t mark;
	char ascii;
	const char *word;
} troubles[] = {
	[GT_TROUBLE_LOST] = { '!', '!', "lost" },
	[GT_TROUBLE_DAMAGED] = { CROSS, 'X', "damaged" },
	[GT_TROUBLE_UNREAD] = { MIDDLE_DOT, '?', "not read" },
};

static void draw_trouble(
	const struct gt_picture *p, const struct gt_trouble *t, struct gt_screen *to)
{
	unsigned a, b;

	if (!gt_window_columns(&p->scene->window, t->from, t->to, &a, &b))
		return;
	gt_screen_fill(to, (int)(p->at.left + a), p->at.troubles, (int)(b - a + 1), 1,
		to->ascii ? (uint32_t)troubles[t->kind].ascii : troubles[t->kind].mark,
		gt_hole_look);
}

static void draw_troubles(const struct gt_picture *p, struct gt_screen *to)
{
	struct gt_trouble damage;

	gt_screen_text(to, 0, p->at.troubles, (int)p->at.left - 1,
		p->at.label < 14 ? "missing" : "not recorded or read", gt_look_warn);
	for (size_t i = 0; i < p->scene->ntroubles; i++)
		draw_trouble(p, &p->scene->troubles[i], to);
	for (size_t i = 0; gt_scene_damage(p->scene, i, &damage); i++)
		draw_trouble(p, &damage, to);
}

/* ---- lanes ---- */

/* Cuts the end of a long label, unless it is a number: threads of one name differ by their
 * number. */
static void put_label(
	struct gt_screen *to, int x, int y, int width, const char *label, struct gt_look look)
{
	const char *last = strrchr(label, ' ');
	int n = last && last[1] >= '0' && last[1] <= '9' ? (int)gt_utf8_width(last + 1) : 0;

	if (n && (int)gt_utf8_width(label) > width && n < width / 2) {
		gt_screen_text(to, x, y, width - n, label, look);
		gt_screen_text(to, x + width - n, y, n, last + 1, look);
	} else {
		gt_screen_text(to, x, y, width, label, look);
	}
}

static void draw_label(
	const struct gt_picture *p, const struct gt_lane_line *line, int y, struct gt_screen *to)
{
	struct gt_look look = gt_lane_is_part(line)              ? gt_look_faint
		: line->kind == GT_LANE_SEGMENT || !line->indent ? gt_look_title
								 : gt_look_plain;
	int x = line->indent < 8 ? line->indent : 8, width;
	char label[GT_LANE_LABEL];

	gt_lanes_label(p->lanes, line, label);
	if (p->at.label < 14 && x > 2)
		x = 2;
	if (line->is_foldable)
		gt_screen_put(to, x, y, line->folded ? FOLDED : UNFOLDED, gt_look_axis);
	width = (int)p->at.label - x - 2;
	if (width > 0)
		put_label(to, x + 2, y, width, label, look);
}

/* Marks the first column after the end of the trace, so that the rest does not look idle. */
static void draw_end(const struct gt_picture *p, int y, struct gt_screen *to)
{
	int64_t column = gt_window_column(&p->scene->window, p->scene->extent.to - 1) + 1;

	if (column > 0 && column < (int64_t)p->at.cells)
		gt_screen_put(to, (int)(p->at.left + column), y, DASHES_DOWN, gt_look_axis);
}

static void draw_lane(const struct gt_picture *p, size_t i, struct gt_screen *to)
{
	const struct gt_lane_line *line = &p->lanes->lines[p->top + i];
	const struct gt_cell_sums *cells = p->cells + i * p->at.cells;
	int y = p->at.lanes + (int)i;
	char figure[GT_BRIEF + 1];

	draw_label(p, line, y, to);
	gt_screen_put(to, (int)p->at.left - 1, y, LINE_DOWN, gt_look_axis);
	draw_end(p, y, to);
	if (gt_lane_is_counter(line)) {
		draw_gauge(p, line, p->gauges + i * p->at.cells, y, to);
		put_gauge_figure(p, line, p->gauges + i * p->at.cells, figure);
	} else if (line->aspect == GT_ASPECT_SAMPLES || line->aspect == GT_ASPECT_INSTANTS) {
		gt_sample_line_draw(p, line, cells, y, to);
		gt_sample_line_figure(p, line, cells, figure);
	} else if (line->aspect) {
		draw_cells(p, cells, y, to);
		if (line->aspect == GT_ASPECT_STATES)
			draw_running(p, cells, y, to);
		put_line_figure(p, cells, p->entering ? &p->entering[i] : NULL, figure);
	} else {
		return;
	}
	if (!p->at.figure)
		return;
	gt_screen_printf(to, (int)p->at.label, y, (int)p->at.figure, gt_look_plain, "%*s",
		(int)p->at.figure, figure);
}

/* The filter may match no lane. */
static void draw_no_lanes(const struct gt_picture *p, struct gt_screen *to)
{
	if (p->at.nlanes && p->lanes->filter[0])
		gt_screen_printf(to, 1, p->at.lanes, -1, gt_look_warn,
			"no lane name contains '%s'%s", p->lanes->filter,
			p->scene->is_static ? "" : ": Esc shows all");
}

bool gt_picture_has_cursor(const struct gt_picture *p)
{
	return !p->scene->is_static && p->cursor >= p->top && p->cursor < p->lanes->n &&
		p->cursor - p->top < p->at.nlanes;
}

static void draw_cursor(const struct gt_picture *p, struct gt_screen *to)
{
	int y = p->at.lanes + (int)(p->cursor - p->top);

	if (!gt_picture_has_cursor(p))
		return;
	gt_screen_set_paper(to, 0, y, (int)p->at.left - 1, 1, GT_INK_SELECTED);
	gt_screen_set_paper(to, (int)(p->at.left + p->column), y, 1, 1, GT_INK_CURSOR);
	gt_screen_add_style(to, (int)(p->at.left + p->column), p->at.axis, 1, 1, GT_REVERSE);
}

void gt_picture_draw(const struct gt_picture *p, struct gt_screen *to)
{
	gt_screen_clear(to);
	if (p->at.title >= 0)
		gt_title_draw(p, to);
	if (p->at.map >= 0)
		gt_overview_draw(p, to);
	gt_bracket_draw(p, to);
	draw_axis(p, to);
	if (p->at.marks >= 0)
		gt_screen_text(to, 0, p->at.marks, (int)p->at.left - 1, "marks", gt_look_faint);
	if (p->at.troubles >= 0)
		draw_troubles(p, to);
	for (size_t i = 0; i < p->at.nlanes && p->top + i < p->lanes->n; i++)
		draw_lane(p, i, to);
	draw_grid(p, to);
	if (!p->lanes->n)
		draw_no_lanes(p, to);
	draw_cursor(p, to);
	if (p->at.detail >= 0)
		gt_detail_draw(p, to);
	if (p->at.status >= 0)
		gt_status_draw(p, to);
}
