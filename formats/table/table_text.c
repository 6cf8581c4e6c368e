/* Tables as text for people: title, notes, then rows as a grid (table_grid.c) or one row as a list.
 * On a terminal, lines are as wide as it is (COLUMNS, or the window's width). In a file no line is
 * broken or cut. No line ends in spaces.
 */
#include "formats/table/table_internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/text/printable.h"
#include "formats/cmdline/terminal.h"
#include "formats/text/utf8.h"
#include "formats/table/figures.h"

/* ---- text ---- */

size_t gt_tables_width(struct gt_out *out)
{
	return gt_terminal_width(out->sink ? gt_out_fd(out) : -1);
}

void gt_put_spaces(struct gt_out *out, size_t n)
{
	while (n--)
		gt_out_str(out, " ");
}

/* Bytes of s for a line of `room` columns: up to a blank, which the break replaces; else up to a
 * place where a path or a list can be broken; else as many as fit, if there is a letter or digit (a
 * drawing is not broken). 0: do not break it. */
static size_t breaks_at(const char *s, size_t room)
{
	size_t blank = 0, mark = 0, i = strspn(s, " ");
	bool word = false;
	struct gt_letter l;

	for (size_t n = i; s[i] && n <= room; n += l.columns) {
		const char *next = gt_letter_next(s + i, &l);

		word |= l.ch < 0x80 ? isalnum((int)l.ch) : l.columns > 1;
		if (s[i] == ' ')
			blank = i;
		else if (n < room && strchr("/,;", s[i]))
			mark = (size_t)(next - s);
		i = (size_t)(next - s);
	}
	if (blank || mark)
		return blank ? blank : mark;
	return word ? (size_t)(gt_utf8_most(s, room) - s) : 0;
}

void gt_put_words(struct gt_out *out, enum gt_tone tone, const char *s, size_t column,
	size_t indent, size_t limit)
{
	size_t room = limit > column ? limit - column : 0, at;

	while (limit < SIZE_MAX && gt_utf8_width(s) > room && room > 12 &&
		(at = breaks_at(s, room))) {
		gt_put_toned(out, tone, s, at);
		gt_out_str(out, "\n");
		gt_put_spaces(out, indent);
		s += at + (s[at] == ' ');
		room = limit > indent ? limit - indent : 0;
	}
	gt_put_toned(out, tone, s, strlen(s));
}

void gt_put_wrapped(struct gt_out *out, enum gt_tone tone, const char *s, size_t limit)
{
	gt_put_words(out, tone, s, 0, strspn(s, " ") + 2, limit);
	gt_out_str(out, "\n");
}

/* new: a cell as text; `absent` for one without a value or reason. NULL: no memory. */
static char *cell_text(const struct gt_column *column, const struct gt_cell *c, const char *absent)
{
	char text[GT_FIGURE_ROOM];

	if (c->absent)
		return gt_printable(c->s ? c->s : absent, 0);
	if (gt_is_text(column))
		return gt_printable(c->s ? c->s : "", c->indent);
	*gt_put_figure(text, column, c) = '\0';
	return strdup(text);
}

char *gt_table_cell_text(const struct gt_table *t, unsigned row, unsigned column)
{
	return cell_text(&t->columns[column], gt_table_cell(t, row, column), "-");
}

static int print_list(struct gt_out *out, const struct gt_table *t, size_t limit)
{
	struct gt_buf b = { 0 };
	int rc;

	for (unsigned row = 0; row < t->nrows; row++)
		for (unsigned i = 0; i < gt_text_columns(t); i++) {
			const struct gt_cell *c = gt_table_cell(t, row, i);
			char *text = cell_text(&t->columns[i], c, "not recorded");

			gt_buf_clear(&b);
			gt_buf_printf(&b, "  %s:%s%s%s", t->columns[i].title,
				text && *text ? " " : "", text ? text : "",
				!c->absent && t->columns[i].kind == GT_C_PERCENT ? " %" : "");
			gt_buf_byte(&b, 0);
			b.failed |= !text;
			free(text);
			if (!b.failed)
				gt_put_wrapped(out, c->tone, (char *)b.data, limit);
		}
	rc = b.failed ? -ENOMEM : 0;
	gt_buf_release(&b);
	return rc;
}

static void print_line(struct gt_out *out, const char *before, const char *text, const char *after,
	enum gt_tone tone, size_t limit)
{
	struct gt_buf b = { 0 };
	char *line;

	gt_buf_printf(&b, "%s%s%s", before, text, after);
	gt_buf_byte(&b, 0);
	line = b.failed ? NULL : gt_printable((char *)b.data, 0);
	if (line)
		gt_put_wrapped(out, tone, line, limit);
	else
		gt_out_fail(out, -ENOMEM);
	free(line);
	gt_buf_release(&b);
}

/* A title may be of several lines. */
void gt_table_put_title(const struct gt_table *t, size_t limit, struct gt_out *out)
{
	const char *title = t->title;

	for (size_t n; title; title = title[n] ? title + n + 1 : NULL) {
		char *line = strndup(title, n = strcspn(title, "\n"));

		if (line)
			print_line(out, "", line, "", GT_TONE_HEADING, limit);
		else
			gt_out_fail(out, -ENOMEM);
		free(line);
	}
}

void gt_table_put_notes(const struct gt_table *t, size_t limit, struct gt_out *out)
{
	for (size_t i = 0; i < t->nnotes; i++)
		print_line(out, "  (", t->notes[i].text, ")",
			t->is_warning ? GT_TONE_DOUBT : GT_TONE_NOTE, limit);
}

void gt_table_put_head(const struct gt_table *t, bool lines, size_t limit, struct gt_out *out)
{
	gt_table_put_title(t, limit, out);
	for (size_t i = 0; lines && i < t->nlines; i++)
		print_line(out, "", t->lines[i].text, "", t->lines[i].tone, limit);
	gt_table_put_notes(t, limit, out);
}

int gt_print_text(
	struct gt_table *const *tables, unsigned n, struct gt_out *out, struct gt_err *err)
{
	size_t limit = gt_tables_width(out);
	bool hint = false;
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++) {
		struct gt_table *t = tables[i];

		if (gt_table_is_left_out(t))
			continue;
		if (i)
			gt_out_str(out, "\n");
		gt_table_put_head(t, true, limit, out);
		if (t->nlines)
			continue;
		/* a table that cannot answer does not know whether there are none */
		if (!t->nrows && t->answer < GT_UNANSWERED)
			gt_out_str(out, "  none\n");
		else if (t->nrows)
			rc = t->list ? print_list(out, t, limit)
				     : gt_print_grid(out, t, limit, &hint, err);
	}
	return rc;
}
