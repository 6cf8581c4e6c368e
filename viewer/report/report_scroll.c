#include "viewer/report/report_scroll.h"

const struct gt_report_page_line *gt_report_scroll_line(
	const struct gt_report_scroll *s, size_t line)
{
	return line < s->page.nlines ? &s->page.lines[line] : NULL;
}

const struct gt_report_page_table *gt_report_scroll_table(
	const struct gt_report_scroll *s, size_t line)
{
	const struct gt_report_page_line *l = gt_report_scroll_line(s, line);

	return l ? &s->page.tables[l->table] : NULL;
}

/* Number of title lines that stay at the top although their lines are above it. */
static unsigned sticky_titles(const struct gt_report_scroll *s, size_t top)
{
	const struct gt_report_page_table *t = gt_report_scroll_table(s, top);
	unsigned n = t && t->layout ? gt_layout_title_lines(t->layout) : 0;

	return n && n + 1 < s->body && top > t->titles &&
			gt_report_page_row(&s->page, top + n) >= 0 &&
			gt_report_scroll_table(s, top + n) == t
		? n
		: 0;
}

void gt_report_scroll_update(struct gt_report_scroll *s)
{
	size_t n = s->page.nlines, body = s->body ? s->body : 1;

	if (s->is_static) {
		s->top = 0;
		return;
	}
	if (s->cursor < n && gt_report_page_next_row(&s->page, s->cursor, -1) == s->cursor &&
		s->cursor < body)
		s->top = 0;
	if (s->cursor >= s->top + body)
		s->top = s->cursor - body + 1;
	if (s->top + body > n)
		s->top = n > body ? n - body : 0;
	if (s->cursor < s->top)
		s->top = s->cursor;
	while (s->top && s->cursor < s->top + sticky_titles(s, s->top))
		s->top--;
}

void gt_report_scroll_to(struct gt_report_scroll *s, size_t line)
{
	s->cursor = line < s->page.nlines ? line : s->page.nlines ? s->page.nlines - 1 : 0;
	if (gt_report_page_row(&s->page, s->cursor) < 0)
		s->cursor = gt_report_page_next_row(&s->page, s->cursor, 1);
	if (gt_report_page_row(&s->page, s->cursor) < 0)
		s->cursor = gt_report_page_next_row(&s->page, s->cursor, -1);
	gt_report_scroll_update(s);
}

void gt_report_scroll_move(struct gt_report_scroll *s, int64_t by)
{
	for (size_t at = s->cursor, next; by; by += by > 0 ? -1 : 1, at = next) {
		next = gt_report_page_next_row(&s->page, at, by > 0 ? 1 : -1);
		s->cursor = next;
		if (next == at)
			break;
	}
	gt_report_scroll_update(s);
}

void gt_report_scroll_slide(struct gt_report_scroll *s, int64_t by)
{
	int64_t top = (int64_t)s->top + by, most = (int64_t)s->page.nlines - s->body;

	top = top > most ? most : top;
	s->top = top < 0 ? 0 : (size_t)top;
	if (s->cursor < s->top + sticky_titles(s, s->top))
		s->cursor =
			gt_report_page_next_row(&s->page, s->top + sticky_titles(s, s->top) - 1, 1);
	if (s->cursor >= s->top + s->body)
		s->cursor = gt_report_page_next_row(&s->page, s->top + s->body, -1);
}

void gt_report_scroll_next_table(struct gt_report_scroll *s, int by)
{
	const struct gt_report_page_line *l = gt_report_scroll_line(s, s->cursor);
	int64_t i = l ? l->table : 0;

	for (i += by; i >= 0 && i < s->page.ntables; i += by)
		if (s->page.tables[i].order) {
			s->top = s->page.tables[i].rows;
			while (s->top && s->page.lines[s->top - 1].table == i &&
				s->page.lines[s->top - 1].kind != GT_LINE_BLANK)
				s->top--; /* with its title */
			s->cursor = s->page.tables[i].rows;
			s->column = 0;
			gt_report_scroll_update(s);
			return;
		}
}

void gt_report_scroll_step_column(struct gt_report_scroll *s, int by)
{
	const struct gt_report_page_table *t = gt_report_scroll_table(s, s->cursor);
	int64_t to = (int64_t)s->column + (by > 0 ? 1 : -1);
	unsigned n = 0;

	if (t && t->layout)
		gt_layout_columns(t->layout, &n);
	s->column = to < 0 || !n ? 0 : to >= n ? n - 1 : (unsigned)to;
}

size_t gt_report_scroll_line_at(const struct gt_report_scroll *s, int y)
{
	size_t i = y < 1 ? SIZE_MAX : (size_t)y - 1;
	unsigned sticky = sticky_titles(s, s->top);

	if (i >= s->body || s->top + i >= s->page.nlines)
		return SIZE_MAX;
	return i < sticky ? gt_report_scroll_table(s, s->top)->titles + i : s->top + i;
}
