/* Tables as text for people: title, notes, then rows as a grid (table_grid.c) or one row as a list.
 * On a terminal, lines are as wide as it is (COLUMNS, or the window's width). In a file no line is
 * broken or cut. No line ends in spaces.
 */
#include "formats/table/table_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/text/printable.h"
#include "formats/cmdline/terminal.h"
#include "formats/text/word_wrap.h"
#include "formats/table/figures.h"

#define PARAGRAPH_WIDTH 100u /* columns; longer lines are hard to read */

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

void gt_put_words(struct gt_out *out, enum gt_tone tone, const char *s, size_t column,
	size_t indent, size_t limit)
{
	for (size_t n; *s; s += *s == ' ' || *s == '\n') {
		n = gt_line_length(s,
			limit == SIZE_MAX        ? limit
				: limit > column ? limit - column
						 : 0);
		gt_put_toned(out, tone, s, n);
		s += n;
		column = indent;
		if (*s) {
			gt_out_str(out, "\n");
			gt_put_spaces(out, indent);
		}
	}
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

static void print_line(struct gt_out *out, const char *before, const struct gt_text_line *l,
	const char *after, size_t limit)
{
	struct gt_buf b = { 0 };
	char *line;

	gt_buf_printf(&b, "%s%s%s", before, l->text, after);
	gt_buf_byte(&b, 0);
	line = b.failed ? NULL : gt_printable((char *)b.data, 0);
	if (line && l->paragraph) {
		gt_put_words(out, l->tone, line, 0, l->indent,
			limit < PARAGRAPH_WIDTH ? limit : PARAGRAPH_WIDTH);
		gt_out_str(out, "\n");
	} else if (line)
		gt_put_wrapped(out, l->tone, line, limit);
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
			print_line(out, "",
				&(struct gt_text_line){ .text = line, .tone = GT_TONE_HEADING }, "",
				limit);
		else
			gt_out_fail(out, -ENOMEM);
		free(line);
	}
}

void gt_table_put_notes(const struct gt_table *t, size_t limit, struct gt_out *out)
{
	for (size_t i = 0; i < t->nnotes; i++)
		print_line(out, "  (",
			&(struct gt_text_line){ .text = t->notes[i].text,
				.tone = t->is_warning ? GT_TONE_DOUBT : GT_TONE_NOTE },
			")", limit);
}

void gt_table_put_head(const struct gt_table *t, bool lines, size_t limit, struct gt_out *out)
{
	gt_table_put_title(t, limit, out);
	for (size_t i = 0; lines && i < t->nlines; i++)
		print_line(out, "", &t->lines[i], "", limit);
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
