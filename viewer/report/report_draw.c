#include "viewer/report/report_draw.h"

#include <string.h>
#include "analyze/gpu/work_kind.h"
#include "formats/base/numbers.h"
#include "viewer/view/view_common.h"

#define LOOK(ink, style) ((struct gt_look){ ink, GT_INK_NONE, style })

static struct gt_look look_of(enum gt_tone tone)
{
	static const uint8_t inks[GT_TONES] = {
		[GT_TONE_NONE] = GT_INK_TEXT,
		[GT_TONE_HEADING] = GT_INK_TITLE,
		[GT_TONE_NOTE] = GT_INK_FAINT,
		[GT_TONE_GOOD] = GT_INK_TEXT,
		[GT_TONE_DOUBT] = GT_INK_WARN,
		[GT_TONE_BAD] = GT_INK_ERROR,
		[GT_TONE_COMPUTE] = GT_INK_CATEGORY + GT_CAT_KERNEL,
		[GT_TONE_COMMUNICATION] = GT_INK_COMM,
		[GT_TONE_COPY] = GT_INK_CATEGORY + GT_CAT_COPY,
		[GT_TONE_IDLE] = GT_INK_FAINT,
		[GT_TONE_MARKS] = GT_INK_TEXT,
	};

	return LOOK(inks[tone], 0);
}

static void draw_titles(const struct gt_report_picture *p, struct gt_screen *to, int y,
	uint32_t table, unsigned line, bool at_hand)
{
	const struct gt_report_page_table *t = &p->sheet->page.tables[table];
	unsigned n;
	const struct gt_layout_column *c = gt_layout_columns(t->layout, &n);

	for (unsigned i = 0; i < n; i++) {
		size_t len;
		const char *title = gt_layout_title(t->layout, i, line, &len);
		struct gt_look look = LOOK(GT_INK_TITLE,
			GT_BOLD | (at_hand && i == p->sheet->column ? GT_REVERSE : 0));
		int x = (int)(c[i].at +
			(c[i].align_left || len > c[i].width ? 0 : c[i].width - len));

		if (t->sorted == (int)c[i].column)
			look.style |= GT_UNDERLINE;
		gt_screen_printf(to, x, y, -1, look, "%.*s", (int)len, title);
	}
}

/* Names of communication kernels have their colour. */
static struct gt_look look_of_cell(
	const struct gt_table *t, uint32_t row, unsigned column, enum gt_tone tone)
{
	const struct gt_cell *c =
		gt_table_is_text(t, column) ? gt_table_cell(t, row, column) : NULL;

	if (tone == GT_TONE_NONE && c && !c->absent && c->s && gt_is_communication(c->s))
		tone = GT_TONE_COMMUNICATION;
	return look_of(tone);
}

/* A cut figure would be wrong: a column that does not fit is left out, and a mark says that there
 * is more. */
static void draw_row(const struct gt_report_picture *p, struct gt_screen *to, int y, size_t line)
{
	const struct gt_report_page_table *t = gt_report_scroll_table(p->sheet, line);
	uint32_t row = (uint32_t)gt_report_page_row(&p->sheet->page, line);
	const struct gt_items items = gt_report_page_items(&p->sheet->page);
	bool found = gt_item_search_has(p->search, items.item_at(items.arg, line));
	unsigned n;
	const struct gt_layout_column *c = gt_layout_columns(t->layout, &n);

	for (unsigned i = 0; i < n; i++) {
		struct gt_layout_cell cell = gt_layout_cell(t->layout, row, i);
		struct gt_look look;
		unsigned x = c[i].at +
			(c[i].align_left || cell.width > c[i].width ? 0 : c[i].width - cell.width);

		if (x + cell.width > to->width && !gt_table_is_text(t->table, c[i].column)) {
			gt_screen_put(to, (int)to->width - 1, y, 0x2026, gt_look_faint);
			break;
		}
		look = look_of_cell(t->table, row, c[i].column, cell.tone);
		if (found && gt_search_regex_matches(gt_item_search_regex(p->search), cell.text))
			look.paper = GT_INK_FOUND;
		gt_screen_text(to, (int)x, y, -1, cell.text, look);
	}
}

static void draw_line(const struct gt_report_picture *p, struct gt_screen *to, int y, size_t line)
{
	const struct gt_report_page_line *l = &p->sheet->page.lines[line];
	const struct gt_report_page_line *cursor =
		gt_report_scroll_line(p->sheet, p->sheet->cursor);
	const char *text = (const char *)p->sheet->page.texts.data + l->at;

	switch (l->kind) {
	case GT_LINE_HEADING: gt_screen_text(to, 0, y, -1, text, gt_look_heading); break;
	case GT_LINE_WORDS:
		gt_screen_text(to, 0, y, -1, text,
			strstr(text, "cannot answer") ? gt_look_warn : gt_look_faint);
		break;
	case GT_LINE_TITLES:
		draw_titles(p, to, y, l->table, l->at,
			!p->scene->is_static && cursor && cursor->table == l->table);
		break;
	case GT_LINE_ROW:
		draw_row(p, to, y, line);
		if (line == p->sheet->cursor && !p->scene->is_static)
			gt_screen_add_style(to, 0, y, (int)to->width, 1, GT_REVERSE);
		break;
	default: break;
	}
}

static void draw_page(const struct gt_report_picture *p, struct gt_screen *to)
{
	for (unsigned i = 0; i < p->sheet->body; i++) {
		size_t line = gt_report_scroll_line_at(p->sheet, (int)i + 1);

		if (line != SIZE_MAX)
			draw_line(p, to, (int)i + 1, line);
	}
}

static void draw_waiting(const struct gt_report_picture *p, struct gt_screen *to)
{
	if (p->percent)
		gt_screen_printf(to, 1, 2, -1, gt_look_faint, "reading ... %u %%", p->percent);
	else
		gt_screen_text(to, 1, 2, -1, "reading ...", gt_look_faint);
}

static void draw_rest(const struct gt_report_picture *p, struct gt_screen *to)
{
	const struct gt_report_page_line *l = gt_report_scroll_line(p->sheet, p->sheet->cursor);
	int64_t row = gt_report_page_row(&p->sheet->page, p->sheet->cursor);
	struct gt_buf text = { .len = 0 };
	int y = (int)(p->height - 1 - p->rest);

	if (row < 0 || !p->rest)
		return;
	gt_report_page_rest(&p->sheet->page, l->table, (uint32_t)row, to->width, &text);
	if (!text.failed)
		gt_screen_put_lines(to, 0, y, to->width, p->rest, (char *)text.data, gt_look_axis);
	gt_buf_release(&text);
}

/* "/cuMem.*: 3 of 17" */
static int draw_finds(const struct gt_report_picture *p, struct gt_screen *to, int x, int y)
{
	const struct gt_look look = { GT_INK_TEXT, GT_INK_FOUND, 0 };
	const struct gt_items items = gt_report_page_items(&p->sheet->page);
	const char *expression = gt_item_search_regex(p->search)->text;
	int len = gt_search_regex_brief(expression);
	size_t n = gt_item_search_count(p->search),
	       rank = gt_item_search_rank(p->search, &items, p->sheet->cursor);

	if (gt_item_search_count_tried(p->search) < items.n)
		return gt_screen_printf(
			to, x, y, -1, look, " /%.*s: %zu so far ", len, expression, n);
	if (rank)
		return gt_screen_printf(
			to, x, y, -1, look, " /%.*s: %zu of %zu ", len, expression, rank, n);
	return gt_screen_printf(
		to, x, y, -1, look, " /%.*s: %zu row%s ", len, expression, n, gt_plural(n, "s"));
}

static void draw_status(const struct gt_report_picture *p, struct gt_screen *to)
{
	const struct gt_report_scroll *s = p->sheet;
	const struct gt_report_page_table *t = gt_report_scroll_table(s, s->cursor);
	int y = (int)p->height - 1, x;
	unsigned n;

	if (p->jump) {
		gt_screen_printf(to, 0, y, -1, gt_look_title,
			"searching for the first event ... %u %%",
			gt_event_search_percent(p->jump->search));
		return;
	}
	if (!t || !t->order) {
		if (!p->scene->is_static)
			gt_screen_printf(to, 0, y, -1, gt_look_faint,
				"no rows   %s%s1: the timeline   ?: keys",
				p->all || !p->gaps ? "" : "Enter: the whole gap   ",
				p->all ? "" : "s: more time   ");
		return;
	}
	if (p->scene->is_static) {
		gt_screen_printf(to, 0, y, -1, gt_look_faint, "lines %zu to %zu of %zu", s->top + 1,
			s->top + s->body < s->page.nlines ? s->top + s->body : s->page.nlines,
			s->page.nlines);
		return;
	}
	x = gt_screen_printf(to, 0, y, -1, gt_look_faint, "row %zu of %u", s->cursor - t->rows + 1,
		gt_table_rows(t->table));
	if (t->sorted >= 0)
		x += gt_screen_printf(to, x, y, -1, gt_look_faint, ", by %s%s",
			gt_table_columns(t->table, &n)[t->sorted].title,
			t->descending ? ", largest first" : "");
	if (p->search)
		x += 2 + draw_finds(p, to, x + 2, y);
	if (p->height == to->height) /* there is no key bar */
		gt_screen_text(to, x, y, -1, "   Enter: in the timeline   o: sort   ?: keys",
			gt_look_faint);
}

void gt_report_draw(const struct gt_report_picture *p, struct gt_screen *to)
{
	gt_screen_clear(to);
	if (!p->shown)
		draw_waiting(p, to);
	else if (p->shown->why[0])
		gt_screen_printf(
			to, 1, 2, -1, LOOK(GT_INK_ERROR, 0), "cannot answer: %s", p->shown->why);
	else
		draw_page(p, to);
	if (p->height > 1)
		gt_view_common_draw_top(p->scene, p->name, to);
	if (p->height > 2 && p->shown) {
		if (!p->scene->is_static)
			draw_rest(p, to);
		draw_status(p, to);
	}
}
