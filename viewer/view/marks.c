#include "viewer/view/marks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "viewer/cells/lane_cells.h"
#include "formats/base/numbers.h"
#include "viewer/util/number_text.h"

#define TOP_LINES 3 /* of samples between the marks */

static void drop_measure(struct gt_marks *m)
{
	gt_measure_free(m->measure);
	gt_sample_lines_free(m->lines);
	m->measure = NULL;
	m->lines = NULL;
	m->exact = false;
	m->lane.strip.aspect = 0;
}

void gt_marks_release(struct gt_marks *m) { drop_measure(m); }

void gt_marks_jump(struct gt_marks *m, int64_t from, int64_t to)
{
	if (m->n && !m->set_by_jump)
		return;
	drop_measure(m);
	m->n = 2;
	m->at[0] = from;
	m->at[1] = to;
	m->set_by_jump = true;
}

void gt_marks_clear(struct gt_marks *m)
{
	drop_measure(m);
	m->n = 0;
}

bool gt_marks_between(const struct gt_marks *m, int64_t *from, int64_t *to)
{
	if (m->n < 2 || m->at[0] == m->at[1])
		return false;
	*from = m->at[0] < m->at[1] ? m->at[0] : m->at[1];
	*to = m->at[0] < m->at[1] ? m->at[1] : m->at[0];
	return true;
}

void gt_marks_set(struct gt_marks *m, int64_t t)
{
	drop_measure(m);
	m->n = m->set_by_jump ? 0 : m->n % 2;
	m->set_by_jump = false;
	m->at[m->n++] = t;
}

int gt_marks_select_lane(struct gt_marks *m, const struct gt_lane_key *lane, struct gt_err *err)
{
	int64_t from, to;

	m->lane.depth = lane->depth;
	if (m->n < 2 || gt_same_strip(&m->lane.strip, &lane->strip))
		return 0;
	drop_measure(m);
	m->lane = *lane;
	if (!lane->strip.aspect || m->at[0] == m->at[1])
		return 0;
	m->measure = gt_measure_new(m->archive, &lane->strip, m->at[0], m->at[1], err);
	if (m->measure && lane->strip.aspect == GT_ASPECT_SAMPLES &&
		gt_marks_between(m, &from, &to))
		m->lines = gt_sample_lines_new(m->archive, &lane->strip, from, to, err);
	return m->measure && (m->lines || lane->strip.aspect != GT_ASPECT_SAMPLES) ? 0 : err->code;
}

int gt_marks_step(struct gt_marks *m, uint64_t us, struct gt_err *err)
{
	int rc = m->measure && !m->exact ? gt_measure_step(m->measure, us, err) : 0;

	if (!rc && m->lines && !m->exact)
		rc = gt_sample_lines_step(m->lines, us, err);

	m->exact |= !rc;
	return rc;
}

/* The edge is the end of the row at `from`, or the start of the next row. */
int gt_marks_snap(struct gt_archive *a, const struct gt_lane_key *lane, int64_t from, int64_t to,
	int64_t *edge, struct gt_err *err)
{
	int64_t offset = gt_archive_offset(a, lane->strip.segment), best = to;
	struct gt_event_ref row, here = gt_event_ref_of_time(from + offset, true);
	int code = gt_event_at(a, lane, from + offset, from + offset + 1, &row, err);

	if (code > 0)
		best = row.start == from + offset ? from : gt_event_ref_end(&row) - offset;
	if (code >= 0 && best > from)
		code = gt_event_next(a, lane, &here, true, &row, err);
	if (code > 0 && row.start - offset < best && best > from)
		best = row.start - offset;
	*edge = best < to ? best : from;
	return code < 0 ? code : 0;
}

/* ---- drawing ---- */

/* Draws a line between the marks, or underlines the axis. */
static void draw_between(const struct gt_cell_window *w, const int64_t column[2],
	const struct gt_marks_at *at, struct gt_screen *to)
{
	int64_t low = column[0] < column[1] ? column[0] : column[1],
		high = column[0] < column[1] ? column[1] : column[0];

	low = low < 0 ? 0 : low;
	high = high >= (int64_t)w->cells ? (int64_t)w->cells - 1 : high;
	if (low <= high && !at->own)
		gt_screen_add_style(
			to, at->left + (int)low, at->line, (int)(high - low + 1), 1, GT_UNDERLINE);
	for (; at->own && low <= high; low++)
		if (gt_screen_is_blank(to, at->left + (int)low, at->line))
			gt_screen_put(to, at->left + (int)low, at->line, 0x2500, gt_look_axis);
}

void gt_marks_draw(const struct gt_marks *m, const struct gt_cell_window *w,
	const struct gt_marks_at *at, struct gt_screen *to)
{
	const struct gt_look label = { GT_INK_TEXT, GT_INK_MARK, GT_BOLD };
	int64_t column[2];

	for (unsigned i = 0; i < m->n; i++)
		column[i] = gt_window_column(w, m->at[i]);
	if (m->n == 2)
		draw_between(w, column, at, to);
	for (unsigned i = 0; i < m->n; i++) {
		int x = at->left + (int)column[i];

		if (column[i] < 0 || column[i] >= (int64_t)w->cells)
			continue;
		for (unsigned k = 0; k < at->nlanes; k++)
			if (gt_screen_is_blank(to, x, at->lanes + (int)k))
				gt_screen_put(to, x, at->lanes + (int)k, 0x250a, gt_look_axis);
		gt_screen_put(to, x, at->line, i ? 'B' : 'A', label);
	}
}

static uint64_t distance(const struct gt_marks *m)
{
	return m->at[0] < m->at[1] ? (uint64_t)m->at[1] - (uint64_t)m->at[0]
				   : (uint64_t)m->at[0] - (uint64_t)m->at[1];
}

/* Only copies move bytes while they are busy; a rate over other work would be meaningless. */
static bool is_of_copies(enum gt_aspect a)
{
	return a == GT_ASPECT_HTOD || a == GT_ASPECT_DTOH || a == GT_ASPECT_COPIES;
}

static size_t put_figures(
	const struct gt_marks *m, uint64_t ns, const char *lane, char *to, size_t room)
{
	struct gt_measured f = gt_measure_of(m->measure, m->lane.depth);
	char share[GT_BRIEF], rate[GT_NUMBER_TEXT];
	uint64_t within = f.busy ? f.busy : ns;
	size_t n;

	if (!m->exact)
		return (size_t)snprintf(to, room, "  measuring...");
	if (m->lines) {
		n = (size_t)snprintf(
			to, room, "  %" PRIu64 " sample%s: ", f.count, gt_plural(f.count, "s"));
		if (n < room)
			gt_sample_lines_put(m->lines, TOP_LINES, to + n, room - n);
		return strlen(to);
	}
	gt_brief_share(share, f.busy, ns);
	n = (size_t)snprintf(to, room, "  %s: busy %s%s (%s), %" PRIu64 " begin", lane,
		f.rough ? "about " : "", gt_number_text(GT_C_NS, f.busy).text, share, f.count);
	if (f.bytes && n < room)
		n += (size_t)snprintf(
			to + n, room - n, ", %s", gt_number_text(GT_C_BYTES, f.bytes).text);
	if (f.bytes && is_of_copies(m->lane.strip.aspect) && n < room)
		n += (size_t)snprintf(to + n, room - n, ", %s while busy",
			gt_number_text_rate(rate, f.bytes, within));
	if (f.holes && n < room)
		n += (size_t)snprintf(to + n, room - n, ", without unreadable data");
	return n;
}

bool gt_marks_describe(const struct gt_marks *m, const struct gt_time_shown *times, int64_t most,
	const char *lane, char *to, size_t room)
{
	char a[GT_TIME_ROOM], b[GT_TIME_ROOM];
	size_t n;

	if (!m->n)
		return false;
	gt_time_text(times, m->at[0], 1, most, a);
	if (m->n == 1) {
		snprintf(to, room, "A %s", a);
		return true;
	}
	gt_time_text(times, m->at[1], 1, most, b);
	n = (size_t)snprintf(to, room, "A-B %s", gt_number_text(GT_C_NS, distance(m)).text);
	if (m->measure && n < room)
		n += put_figures(m, distance(m), lane, to + n, room - n);
	if (n < room)
		snprintf(to + n, room - n, "  A %s  B %s", a, b);
	return true;
}
