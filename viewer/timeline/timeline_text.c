/* The lines of text of a frame: details of the cursor's cell, the status line with warnings and
 * the visible range, and the title with unfinished calls and the legend of colours. */
#include "viewer/timeline/timeline_draw_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "viewer/cells/unfinished_calls.h"
#include "viewer/util/number_text.h"
#include "formats/base/numbers.h"

/* Writes the sums of a cell; state: what its busy time is. Returns the number of columns. */
static int put_busy_words(const struct gt_cell_sums *c, const char *state, uint64_t width, int y,
	int x, struct gt_screen *to)
{
	char share[GT_BRIEF];
	int before = x;

	gt_brief_share(share, c->busy, width);
	x += gt_screen_printf(to, x, y, -1, gt_look_plain, "%s%s %s, %" PRIu64 " begin",
		c->sureness == GT_CELL_ROUGH ? "about " : "", share, state, c->count);
	if (c->count)
		x += gt_screen_printf(to, x, y, -1, gt_look_plain, ", longest %s",
			gt_number_text(GT_C_NS, c->longest).text);
	if (c->bytes)
		x += gt_screen_printf(to, x, y, -1, gt_look_plain, ", %s",
			gt_number_text(GT_C_BYTES, c->bytes).text);
	if (c->busy)
		x += gt_screen_printf(to, x, y, -1, gt_look_plain, ", mostly %s",
			gt_cell_category_word(c->category));
	if (c->open)
		x += gt_screen_printf(
			to, x, y, -1, gt_look_warn, ", %" PRIu32 " still open", c->open);
	return x + gt_screen_text(to, x, y, -1, "  ", gt_look_plain) - before;
}

static int put_cell_words(const struct gt_lane_line *line, const struct gt_cell_sums *c,
	uint64_t width, int y, int x, struct gt_screen *to)
{
	if (c->sureness == GT_CELL_UNKNOWN)
		return gt_screen_text(to, x, y, -1, "not known yet  ", gt_look_faint);
	if (c->sureness == GT_CELL_DAMAGED)
		return gt_screen_text(to, x, y, -1, "cannot be read  ", gt_hole_look);
	if (line->aspect == GT_ASPECT_SAMPLES || line->aspect == GT_ASPECT_INSTANTS)
		return gt_sample_line_words(line, c, width, y, x, to);
	return put_busy_words(c, line->aspect == GT_ASPECT_STATES ? "off the processor" : "busy",
		width, y, x, to);
}

static struct gt_scaled gauge_value(bool bytes, double value)
{
	struct gt_scaled s;

	if (bytes && value >= 0)
		return gt_number_text(GT_C_BYTES, (uint64_t)value);
	snprintf(s.text, sizeof(s.text), "%.15g", value);
	return s;
}

static int put_gauge_words(
	const struct gt_counter_cell *c, bool queue, bool bytes, int y, int x, struct gt_screen *to)
{
	struct gt_scaled last = gauge_value(bytes, c->last);
	const char *sure = c->is_lower_bound ? "at least " : c->is_estimate ? "likely " : "";
	const char *unit = !queue ? "" : c->last == 1 ? " launch waits" : " launches wait";

	if (!c->known)
		return x +
			gt_screen_text(to, x, y, -1, queue ? "not known yet  " : "not known  ",
				gt_look_faint);
	if (c->low == c->high)
		return x +
			gt_screen_printf(
				to, x, y, -1, gt_look_plain, "%s%s%s  ", sure, last.text, unit);
	return x +
		gt_screen_printf(to, x, y, -1, gt_look_plain, "%s%s to %s, then %s%s  ", sure,
			gauge_value(bytes, c->low).text, gauge_value(bytes, c->high).text,
			last.text, unit);
}

void gt_detail_draw(const struct gt_picture *p, struct gt_screen *to)
{
	const struct gt_cell_window *w = &p->scene->window;
	const struct gt_lane_line *line =
		gt_picture_has_cursor(p) ? &p->lanes->lines[p->cursor] : NULL;
	char path[300], when[GT_TIME_ROOM];
	int64_t at;
	int x;

	if (!line)
		return;
	at = gt_cell_start(w, p->column) < p->scene->extent.from ? p->scene->extent.from
								 : gt_cell_start(w, p->column);
	gt_time_text(&p->scene->times, at, gt_time_step(w), gt_window_end(w), when);
	x = gt_screen_printf(to, 0, p->at.detail, -1, gt_look_plain, "%s  ", when);
	if (gt_lane_is_counter(line))
		x = put_gauge_words(&p->gauges[(p->cursor - p->top) * p->at.cells + p->column],
			line->kind == GT_LANE_QUEUE, gt_counts_bytes(p, line), p->at.detail, x, to);
	else if (line->aspect)
		x += put_cell_words(line, &p->cells[(p->cursor - p->top) * p->at.cells + p->column],
			gt_cell_width(w, p->column), p->at.detail, x, to);
	gt_lanes_path(p->lanes, line, path, sizeof(path));
	gt_screen_text(to, x, p->at.detail, -1, path, gt_look_faint);
}

/* The text says whether data is missing anywhere in the trace, not only in the visible range. */
static int draw_warnings(const struct gt_picture *p, int x, struct gt_screen *to)
{
	const struct gt_scene *s = p->scene;
	struct gt_trouble t;
	bool unread = false, simulated = false;
	size_t damaged = 0;

	while (gt_scene_damage(s, damaged, &t))
		damaged++;
	for (uint32_t i = 0; i < gt_reader_segments(s->reader); i++) {
		unread |= !gt_reader_segment(s->reader, i)->closed;
		simulated |= gt_reader_segment(s->reader, i)->simulated;
	}
	if (simulated)
		x += gt_screen_text(to, x, p->at.status, -1, "SIMULATED GPU  ", gt_hole_look);
	if (damaged)
		x += gt_screen_printf(
			to, x, p->at.status, -1, gt_hole_look, "%zu DAMAGED  ", damaged);
	if (s->lost)
		x += gt_screen_printf(to, x, p->at.status, -1, gt_hole_look, "%" PRIu64 " LOSS%s  ",
			s->lost, s->lost == 1 ? "" : "ES");
	if (unread)
		x += gt_screen_text(to, x, p->at.status, -1,
			s->growing ? "RECORDING  " : "NOT CLOSED  ", gt_hole_look);
	return x;
}

/* Unfinished calls: the program probably hung or died in one of them. */
static int draw_open(const struct gt_picture *p, int x, int y, bool brief, struct gt_screen *to)
{
	const struct gt_archive *a = p->scene->archive;
	const struct gt_unfinished_call *longest = gt_unfinished_calls_next(a, NULL);
	uint64_t n = gt_archive_unfinished_count(a);
	size_t known;

	if (n && brief)
		return x + gt_screen_printf(to, x, y, -1, gt_look_warn, "%" PRIu64 " OPEN  ", n);
	if (n)
		x += gt_screen_printf(to, x, y, -1, gt_look_warn, "  %" PRIu64 " call%s %s", n,
			gt_plural(n, "s"),
			p->scene->growing ? "open at the moment" : "still open at the end");
	gt_archive_unfinished_calls(a, &known);
	if (known < n)
		x += gt_screen_printf(to, x, y, -1, gt_look_warn, ", %zu of them known", known);
	if (longest) {
		x += gt_screen_text(to, x, y, -1, n == 1 ? ": " : ", the longest ", gt_look_warn);
		x += gt_screen_text(to, x, y, 40,
			gt_type_name(gt_reader_segment(p->scene->reader, longest->segment),
				longest->type),
			gt_look_warn);
		x += gt_screen_printf(to, x, y, -1, gt_look_warn, " %s%s",
			gt_number_text(GT_C_NS, (uint64_t)(longest->end - longest->start)).text,
			p->scene->is_static ? "" : " (:open)");
	}
	return x;
}

void gt_status_draw(const struct gt_picture *p, struct gt_screen *to)
{
	static const char *const measures[] = { "busy share", "count", "longest", "bytes" };
	const struct gt_cell_window *w = &p->scene->window;
	const struct gt_time_extent *e = &p->scene->extent;
	int64_t from = gt_cell_start(w, 0), end = gt_window_end(w), step = gt_time_step(w);
	char a[GT_TIME_ROOM], b[GT_TIME_ROOM];
	int x = draw_warnings(p, 0, to), y = p->at.status;

	if (p->at.title < 0)
		x = draw_open(p, x, y, true, to);
	from = from < e->from ? e->from : from;
	end = end > e->to - 1 ? e->to - 1 : end;
	gt_time_text(&p->scene->times, from, step, end, a);
	gt_time_text(&p->scene->times, end, step, end, b);
	x += gt_screen_printf(to, x, y, -1, gt_look_title, "%s", measures[p->heights]);
	x += gt_screen_printf(to, x, y, -1, gt_look_plain, "  %s to %s (%s)  ", a, b,
		gt_number_text(GT_C_NS, end > from ? (uint64_t)(end - from) : 0).text);
	if (p->percent < 100)
		x += gt_screen_printf(to, x, y, -1, gt_look_warn, "%u%% refined  ", p->percent);
	x += gt_screen_printf(to, x, y, -1, gt_look_plain, "cell %s  ",
		gt_number_text(GT_C_NS, gt_window_cell_width(w)).text);
	if (p->lanes->filter[0])
		x += gt_screen_printf(
			to, x, y, -1, gt_look_warn, "lanes with '%s'  ", p->lanes->filter);
	x += gt_screen_printf(to, x, y, -1, gt_look_plain, "lanes %zu to %zu of %zu  ",
		p->lanes->n ? p->top + 1 : 0,
		p->lanes->n < p->top + p->at.nlanes ? p->lanes->n : p->top + p->at.nlanes,
		p->lanes->n);
	if (!p->scene->is_static && p->at.height < 11) /* without a key bar */
		gt_screen_text(to, x, y, -1, "? help", gt_look_faint);
}

/* ---- the legend ---- */

#define LEGEND_LEAST 44 /* columns of the title before it */

/* The busy time of each category in the visible lanes. */
static void sum_categories(const struct gt_picture *p, uint64_t sum[GT_CELL_COMMUNICATION + 1])
{
	for (size_t i = 0; i < p->at.nlanes && p->top + i < p->lanes->n; i++)
		for (unsigned k = 0; k < p->at.cells && p->lanes->lines[p->top + i].aspect; k++) {
			const struct gt_cell_sums *c = &p->cells[i * p->at.cells + k];

			if (c->category <= GT_CELL_COMMUNICATION)
				sum[c->category] = gt_sat_add(sum[c->category], c->busy);
		}
}

/* The category with the most time. SIZE_MAX: no further one is visible. */
static size_t take_largest(uint64_t sum[GT_CELL_COMMUNICATION + 1])
{
	size_t best = 0;

	for (size_t c = 1; c <= GT_CELL_COMMUNICATION; c++)
		best = sum[c] > sum[best] ? c : best;
	if (!sum[best])
		return SIZE_MAX;
	sum[best] = 0;
	return best;
}

/* The mark of the category is a character, which needs a sign between it and a word. */
static bool is_letter(const struct gt_screen *to, unsigned category)
{
	return to->ascii || (to->mono && gt_state_letter(category));
}

/* The colours of the visible categories at the right of the title, as many as fit, the most
 * frequent at the left. Without colours only communication and states of threads differ. Returns
 * its first column. */
static int draw_legend(const struct gt_picture *p, struct gt_screen *to)
{
	uint64_t sum[GT_CELL_COMMUNICATION + 1] = { 0 };
	size_t list[GT_CELL_COMMUNICATION + 1], n = 0, c;
	int width = 0, x;

	sum_categories(p, sum);
	while ((c = take_largest(sum)) != SIZE_MAX) {
		int more = (int)strlen(gt_cell_category_word((unsigned)c)) + 3 +
			is_letter(to, (unsigned)c);

		if ((to->mono && c != GT_CELL_COMMUNICATION && !gt_state_letter((unsigned)c)) ||
			width + more + LEGEND_LEAST > (int)p->at.width)
			continue;
		list[n++] = c;
		width += more;
	}
	x = (int)p->at.width - width;
	for (size_t i = 0; i < n; i++) {
		const char *word = gt_cell_category_word((unsigned)list[i]);

		gt_screen_put(to, x + 1, p->at.title, gt_cell_glyph(to, (unsigned)list[i], 8),
			(struct gt_look){ gt_category_ink((unsigned)list[i]), GT_INK_NONE, 0 });
		if (is_letter(to, (unsigned)list[i]))
			gt_screen_put(to, ++x + 1, p->at.title, '=', gt_look_faint);
		x += 2 + gt_screen_text(to, x + 2, p->at.title, -1, word, gt_look_faint) + 1;
	}
	return (int)p->at.width - width;
}

void gt_title_draw(const struct gt_picture *p, struct gt_screen *to)
{
	int right = p->no_legend ? (int)p->at.width : draw_legend(p, to);

	int x = gt_screen_text(to, 0, p->at.title, -1, gt_scene_title(p->scene), gt_look_title);

	x += gt_screen_printf(to, x, p->at.title, -1, gt_look_plain, "  %s",
		gt_number_text(GT_C_NS, (uint64_t)(p->scene->extent.to - p->scene->extent.from) - 1)
			.text);
	x = draw_open(p, x, p->at.title, false, to);
	if (p->scene->excluded)
		x += gt_screen_printf(
			to, x, p->at.title, -1, gt_look_warn, "  without %s", p->scene->excluded);
	if (p->scene->command && right > x + 8)
		gt_screen_printf(to, x, p->at.title, right - x - 1, gt_look_faint, "  %s",
			p->scene->command);
}
