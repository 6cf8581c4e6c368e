#include "formats/table_lines.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/figures.h"

#define TEXTS_MOST (1u << 20)	/* of all steps: forms that come later are written as form 0 is, of which any cell may differ */
#define NEVER UINT32_MAX		/* in place of the first step: not by steps */

enum step_kind { TEXT, FIGURE, END };
/* A text, and the cell that comes behind it, as wide as its column. The text has that column, blank, where it is one of figures: it ends where
 * these end. kept: how much of the text is there even if nothing follows. */
struct gt_line_step { uint32_t text; uint16_t len, kept, width, column, source; uint8_t kind; };

/* ---- recipes ---- */

static unsigned source_of(const struct gt_table *t, unsigned column)
{
	return t->replaced != t->by && column == (unsigned)t->replaced ? (unsigned)t->by : column;
}

static void put_spaces(struct gt_out *out, size_t n)
{
	for (; n; n--)
		gt_out_add(out, " ", 1);
}

static inline struct gt_word word_of(struct gt_words *words, const struct gt_cell *c)
{
	if (c->absent)
		return gt_words_get(words, c->s ? c->s : "-", !c->s);
	return gt_words_get(words, c->s ? c->s : "", c->s && c->lasting);
}

/* A fixed cell, as wide as its column. False: it does not fit. */
static bool put_fixed(struct gt_lines *l, const struct gt_line_column *col, const struct gt_cell *c, struct gt_line_step *step)
{
	const struct gt_column *of = &l->t->columns[col->column];
	char figure[GT_FIGURE_ROOM + GT_PIECE];
	const char *s = figure;
	uint32_t len, width;

	if (c->absent || gt_is_text(of)) {
		struct gt_word word = word_of(l->words, c);

		s = l->words->bytes.data + word.at;
		len = word.len;
		width = word.width;
	} else {
		len = width = (uint32_t)(gt_put_figure(figure, of, c) - figure);
	}
	if (c->indent || len != width || width > col->width)
		return false;
	put_spaces(&l->texts, col->left ? 0 : col->width - width);
	gt_out_add(&l->texts, s, len);
	step->kept = len ? (uint16_t)(l->texts.len - step->text) : step->kept;
	put_spaces(&l->texts, col->left ? col->width - width : 0);
	return true;
}

static bool add_step(struct gt_lines *l, const struct gt_line_step *step)
{
	if (gt_grow(&l->steps, &l->steps_cap, l->nsteps + 1, sizeof(*l->steps)))
		l->texts.failed = -ENOMEM;
	if (l->texts.failed)
		return false;
	l->steps[l->nsteps] = *step;
	l->steps[l->nsteps++].len = (uint16_t)(l->texts.len - step->text);
	return true;
}

/* Steps for all cells that are not fixed; none is where there are no cells. */
static bool add_steps(struct gt_lines *l, const struct gt_cell *cells)
{
	struct gt_line_step step = { .text = (uint32_t)l->texts.len };

	put_spaces(&l->texts, l->indent);
	for (unsigned i = 0; i < l->ncolumns; i++) {
		const struct gt_line_column *col = &l->columns[i];
		unsigned source = source_of(l->t, col->column);

		put_spaces(&l->texts, i ? l->gap : 0);
		if (cells && cells[source].fixed) {
			if (!put_fixed(l, col, &cells[source], &step))
				return false;
			continue;
		}
		step.width = (uint16_t)col->width;
		step.column = (uint16_t)col->column;
		step.source = (uint16_t)source;
		step.kind = gt_is_text(&l->t->columns[col->column]) ? TEXT : FIGURE;
		put_spaces(&l->texts, step.kind == FIGURE ? col->width : 0);
		if (!add_step(l, &step))
			return false;
		step.text = (uint32_t)l->texts.len;
		step.kept = 0;
	}
	step.kind = END;
	if (!add_step(l, &step))
		return false;
	gt_out_room(&l->texts, GT_PIECE);
	return true;
}

/* The first step of rows of this form; the first of them is at hand. NULL: they cannot be written by steps. */
static const struct gt_line_step *steps_of(struct gt_lines *l, const struct gt_row_at_hand *row)
{
	unsigned form = l->first[row->form] || l->texts.len < TEXTS_MOST ? row->form : 0;
	size_t texts = l->texts.len, n = l->nsteps;

	if (!l->first[form]) {
		l->first[form] = add_steps(l, form ? row->cells : NULL) ? (uint32_t)n + 1 : NEVER;
		if (l->first[form] == NEVER) {
			l->texts.len = texts;
			l->nsteps = n;
		}
	}
	return l->first[form] == NEVER ? NULL : l->steps + l->first[form] - 1;
}

/* ---- lines ---- */

static inline void put_blanks(char *p, size_t n)
{
	memcpy(p, "                ", GT_PIECE);
	for (size_t i = GT_PIECE; i < n; i += GT_PIECE)
		memcpy(p + i, "                ", GT_PIECE);
}

/* A figure that ends at p. False: it does not fit, or is nothing. */
static inline bool put_figure(struct gt_lines *l, char *p, const struct gt_line_step *step, const struct gt_cell *c)
{
	struct gt_word word;

	if (!c->absent)
		return gt_put_figure_right(p - step->width, step->width, &l->t->columns[step->column], c);
	word = word_of(l->words, c);
	if (!word.len || word.len != word.width || word.width > step->width || c->indent)
		return false;
	gt_put_pieces(p - word.len, l->words->bytes.data + word.at, word.len);
	return true;
}

/* A text that begins at p: where it ends. NULL: it does not fit. */
static inline char *put_text(struct gt_lines *l, char *p, const struct gt_line_step *step, const struct gt_cell *c)
{
	struct gt_word word = word_of(l->words, c);

	if (word.len != word.width || word.width > step->width || c->indent)
		return NULL;
	gt_put_pieces(p, l->words->bytes.data + word.at, word.len);
	put_blanks(p + word.len, step->width - word.len);
	return p + word.len;
}

bool gt_lines_add(struct gt_lines *l, const struct gt_row_at_hand *row)
{
	const struct gt_line_step *step = steps_of(l, row);
	char *p = gt_out_room(&l->bytes, l->room), *end = p, *after;

	if (!step)
		return false;
	for (;; step++) {
		const struct gt_cell *c = &row->cells[step->source];

		gt_put_pieces(p, l->texts.data + step->text, step->len);
		end = step->kept ? p + step->kept : end;
		p += step->len;
		if (step->kind == FIGURE) {
			if (!put_figure(l, p, step, c))
				return false;
			end = p;
		} else if (step->kind == TEXT) {
			if (!(after = put_text(l, p, step, c)))
				return false;
			end = after > p ? after : end;
			p += step->width;
		} else {
			break;
		}
	}
	*end++ = '\n';
	gt_out_used(&l->bytes, end);
	return true;
}

void gt_lines_leave(struct gt_lines *l) { gt_out_add(&l->bytes, "\0\n", 2); }

const char *gt_lines_next(const struct gt_lines *l, const char *from, size_t *n)
{
	const char *s = from ? from + 2 : l->bytes.data, *end = l->bytes.data + l->bytes.len, *left = memchr(s, '\0', (size_t)(end - s));

	*n = (size_t)((left ? left : end) - s);
	return left;
}

/* The line as it is with wider columns: blanks come in before what stands at the right of its column, and behind what stands at the left. One
 * that was left is shorter than lines are indented, and stays. */
static void lay_out(const struct gt_lines *l, const struct gt_line_column *wider, const char *line, size_t n, struct gt_out *to)
{
	size_t at = l->indent, from = 0;

	for (unsigned i = 0; i < l->ncolumns; at += l->columns[i++].width + l->gap) {
		size_t in = at + (l->columns[i].left ? l->columns[i].width : 0);

		if (in >= n)
			break;
		gt_out_add(to, line + from, in - from);
		put_spaces(to, wider[i].width - l->columns[i].width);
		from = in;
	}
	gt_out_add(to, line + from, n - from);
	gt_out_add(to, "\n", 1);
}

int gt_lines_set(struct gt_lines *l, const struct gt_line_column *columns, unsigned n)
{
	struct gt_out to;

	if (l->bytes.len) {
		gt_out_memory(&to);
		for (const char *line = l->bytes.data, *end = line + l->bytes.len, *next; line < end; line = next + 1) {
			next = memchr(line, '\n', (size_t)(end - line));
			lay_out(l, columns, line, (size_t)(next - line), &to);
		}
		gt_out_close(&l->bytes, NULL);
		l->bytes = to;
	}
	memcpy(l->columns, columns, n * sizeof(*columns));
	l->ncolumns = n;
	l->room = l->indent + 4 * GT_PIECE;
	for (unsigned i = 0; i < n; i++)
		l->room += columns[i].width + l->gap;
	l->texts.len = l->nsteps = 0;
	memset(l->first, l->room > GT_LINES_MOST ? 0xff : 0, (GT_ROW_FORMS + 1) * sizeof(*l->first));	/* NEVER, or not known yet */
	return l->bytes.failed;
}

int gt_lines_open(struct gt_lines *l, const struct gt_table *t, struct gt_words *words, unsigned indent, unsigned gap)
{
	*l = (struct gt_lines){ .t = t, .words = words, .indent = indent, .gap = gap };
	gt_out_memory(&l->bytes);
	gt_out_memory(&l->texts);
	l->columns = calloc(t->ncolumns + 1ul, sizeof(*l->columns));
	l->first = calloc(GT_ROW_FORMS + 1, sizeof(*l->first));
	return l->columns && l->first ? gt_lines_failed(l) : -ENOMEM;
}

void gt_lines_close(struct gt_lines *l)
{
	gt_out_close(&l->bytes, NULL);
	gt_out_close(&l->texts, NULL);
	free(l->columns);
	free(l->steps);
	free(l->first);
}
