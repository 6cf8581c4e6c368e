#include "formats/table/table_lines.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

/* of all forms: those that come later are written as form 0 is, of which any cell may differ */
#define TEXTS_MOST (1u << 20)
#define NEVER UINT32_MAX /* in place of the first step: not by steps */

/* What is done with a cell: it is put as those of its column are (enum gt_cell_kind), or it stands
 * in the text, and whether it is the same is all that is looked at. END: there are no more cells.
 */
enum { SAME_NUMBER = GT_C_FIGURE + 1, SAME_TEXT, END };
/* A text, and the cell that comes behind it, as wide as its column. The text has that column,
 * blank, where it is one of figures: it ends where these end. kept: how much of the text is there
 * even if nothing follows. Steps whose cells are the same have no text of their own. */
struct gt_line_step {
	union {
		int64_t i;
		const char *s;
	}; /* of a cell that is the same */
	uint32_t text;
	uint16_t len, kept, width, column, source;
	uint8_t kind;
};
#define NO_COLUMN UINT16_MAX

/* ---- recipes ---- */

static unsigned source_of(const struct gt_table *t, unsigned column)
{
	return t->replaced != t->by && column == (unsigned)t->replaced ? (unsigned)t->by : column;
}

static inline struct gt_word word_of(struct gt_words *words, const struct gt_cell *c)
{
	if (c->absent)
		return gt_words_get(words, c->s ? c->s : "-", !c->s);
	return gt_words_get(words, c->s ? c->s : "", c->s && c->lasting);
}

/* A cell that is known beforehand, into its column at p; *end becomes where it ends. False: it does
 * not fit. */
static bool put_known(struct gt_lines *l, char *p, const struct gt_line_column *col,
	const struct gt_cell *c, char **end)
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
	p += col->left ? 0 : col->width - width;
	memcpy(p, s, len);
	*end = len ? p + len : *end;
	return true;
}

static inline bool is_same_number(const struct gt_line_step *step, const struct gt_cell *c)
{
	return c->i == step->i && !c->absent && !c->change;
}

/* A text that lasts stays as it is where it is, whether it is the cell's or stands for it. */
static inline bool is_same_text(const struct gt_line_step *step, const struct gt_cell *c)
{
	return c->s == step->s && !c->indent;
}

static bool differs(const struct gt_line_step *step, const struct gt_cell *c)
{
	return (step->kind == SAME_NUMBER && !is_same_number(step, c)) ||
		(step->kind == SAME_TEXT && !is_same_text(step, c));
}

/* The step for a cell of a form's first row (NULL: for any row): as if all others were the same. */
static struct gt_line_step first_step(const struct gt_column *of, const struct gt_cell *c)
{
	if (c && gt_is_text(of) && c->lasting && c->s)
		return (struct gt_line_step){ .kind = SAME_TEXT, .s = c->s };
	if (c && !gt_is_text(of) && of->kind != GT_C_REAL && of->kind != GT_C_FIGURE)
		return (struct gt_line_step){ .kind = SAME_NUMBER, .i = c->i };
	return (struct gt_line_step){ .kind = (uint8_t)of->kind };
}

/* the next step; where its text begins, and what it has ends */
struct recipe {
	struct gt_line_step *step;
	char *line, *run, *end;
};

/* A step of that kind behind the text so far, for the column at p. */
static void add_step(
	struct gt_lines *l, struct recipe *r, unsigned column, struct gt_line_step step, char *p)
{
	const struct gt_line_column *col = &l->columns[column];
	bool same = step.kind == SAME_NUMBER || step.kind == SAME_TEXT,
	     left = gt_is_text(&l->t->columns[col->column]);

	step.column = (uint16_t)col->column;
	step.source = (uint16_t)source_of(l->t, col->column);
	step.width = (uint16_t)col->width;
	step.text = (uint32_t)(r->run - l->texts.data);
	if (!same) {
		step.kept = r->end > r->run ? (uint16_t)(r->end - r->run) : 0;
		step.len = (uint16_t)(p + (left ? 0 : col->width) - r->run);
		r->run = p + col->width;
	}
	*r->step++ = step;
}

/* The steps of a form whose row is at hand, for all cells that are not fixed; none is where there
 * are no cells. again: there are such steps, and what differs from them is not the same. */
static bool write_recipe(
	struct gt_lines *l, struct recipe *r, const struct gt_cell *cells, bool again)
{
	char *p = r->line + l->indent;

	memset(r->line, ' ', l->width);
	r->run = r->end = r->line;
	for (unsigned i = 0; i < l->ncolumns; p += l->columns[i++].width + l->gap) {
		const struct gt_line_column *col = &l->columns[i];
		const struct gt_column *of = &l->t->columns[col->column];
		const struct gt_cell *c = cells ? &cells[source_of(l->t, col->column)] : NULL;
		struct gt_line_step step;

		if (again ? r->step->column != col->column : c && c->fixed) {
			if (!put_known(l, p, col, c, &r->end))
				return false;
			continue;
		}
		step = again ? *r->step : first_step(of, c);
		if (differs(&step, c) ||
			(step.kind > GT_C_FIGURE && !put_known(l, p, col, c, &r->end)))
			step.kind = (uint8_t)of->kind;
		add_step(l, r, i, step, p);
	}
	*r->step++ = (struct gt_line_step){ .kind = END,
		.column = NO_COLUMN,
		.text = (uint32_t)(r->run - l->texts.data),
		.len = (uint16_t)(p - r->run),
		.kept = (uint16_t)(r->end > r->run ? r->end - r->run : 0) };
	return true;
}

/* 1 + the first step of a form that had none. */
static uint32_t new_form(struct gt_lines *l, const struct gt_cell *cells)
{
	struct recipe r = { .line = gt_out_room(&l->texts, l->width + GT_PIECE) };
	size_t n = l->nsteps;

	if (gt_grow(&l->steps, &l->steps_cap, n + l->ncolumns + 1, sizeof(*l->steps)))
		l->texts.failed = -ENOMEM;
	if (l->texts.failed)
		return NEVER;
	r.step = l->steps + n;
	if (!write_recipe(l, &r, cells, false))
		return NEVER;
	l->nsteps = (size_t)(r.step - l->steps);
	l->texts.len += l->width;
	return (uint32_t)n + 1;
}

/* The first step of rows of this form; the first of them is at hand. NULL: they cannot be written
 * by steps. */
static inline struct gt_line_step *steps_of(struct gt_lines *l, const struct gt_row_at_hand *row)
{
	unsigned form = l->first[row->form] || l->texts.len < TEXTS_MOST ? row->form : 0;

	if (!l->first[form])
		l->first[form] = new_form(l, form ? row->cells : NULL);
	return l->first[form] == NEVER ? NULL : l->steps + l->first[form] - 1;
}

/* Cells that were the same until now, and differ in this row: they are put from now on. False:
 * there are none. */
static __attribute__((noinline)) bool relearn(
	struct gt_lines *l, struct gt_line_step *steps, const struct gt_cell *cells)
{
	const struct gt_line_step *step = steps;

	while (step->kind != END && !differs(step, &cells[step->source]))
		step++;
	return step->kind != END &&
		write_recipe(l,
			&(struct recipe){ .step = steps, .line = l->texts.data + steps->text },
			cells, true);
}

/* ---- lines ---- */

static inline void put_blanks(char *p, size_t n)
{
	memcpy(p, "                ", GT_PIECE);
	for (size_t i = GT_PIECE; i < n; i += GT_PIECE)
		memcpy(p + i, "                ", GT_PIECE);
}

/* A figure of any kind, or what stands for one that is absent; it ends at p. False: it does not
 * fit, or is nothing. */
static __attribute__((noinline)) bool put_figure(
	struct gt_lines *l, char *p, const struct gt_line_step *step, const struct gt_cell *c)
{
	struct gt_word word;

	if (!c->absent)
		return gt_put_figure_right(
			p - step->width, step->width, &l->t->columns[step->column], c);
	word = word_of(l->words, c);
	if (!word.len || word.len != word.width || word.width > step->width || c->indent)
		return false;
	gt_put_pieces(p - word.len, l->words->bytes.data + word.at, word.len);
	return true;
}

/* A text that begins at p: where it ends. NULL: it does not fit. */
static inline char *put_text(
	struct gt_lines *l, char *p, const struct gt_line_step *step, const struct gt_cell *c)
{
	struct gt_word word = word_of(l->words, c);

	if (word.len != word.width || word.width > step->width || c->indent)
		return NULL;
	gt_put_pieces(p, l->words->bytes.data + word.at, word.len);
	put_blanks(p + word.len, step->width - word.len);
	return p + word.len;
}

/* The line at p: where it ends. NULL: a cell does not fit, or is no longer the same. Most are times
 * and counts. */
static inline char *put_line(
	struct gt_lines *l, const struct gt_line_step *step, const struct gt_cell *cells, char *p)
{
	char *end = p;

	for (;; step++) {
		const struct gt_cell *c = &cells[step->source];
		char *text = p;

		if (step->kind == SAME_NUMBER ? is_same_number(step, c)
					      : step->kind == SAME_TEXT && is_same_text(step, c))
			continue;
		p = gt_put_pieces(p, l->texts.data + step->text, step->len);
		if (step->kind == GT_C_NS ? gt_put_plain_time(p, step->width, c)
				: step->kind == GT_C_TIME
				? gt_put_plain_seconds(p, step->width, c, &l->second)
				: step->kind == GT_C_COUNT &&
					gt_put_plain_count(p, step->width, c)) {
			end = p;
		} else if (step->kind <= GT_C_WHOLE) {
			char *after = put_text(l, p, step, c);

			if (!after)
				return NULL;
			end = after > p ? after : step->kept ? text + step->kept : end;
			p += step->width;
		} else if (step->kind == END) {
			return step->kept ? text + step->kept : end;
		} else if (step->kind <= GT_C_FIGURE && put_figure(l, p, step, c)) {
			end = p;
		} else {
			return NULL;
		}
	}
}

bool gt_lines_add(struct gt_lines *l, const struct gt_row_at_hand *row)
{
	struct gt_line_step *steps = steps_of(l, row);
	char *p = gt_out_room(&l->bytes, l->room), *end;

	if (!steps)
		return false;
	do
		end = put_line(l, steps, row->cells, p);
	while (!end && relearn(l, steps, row->cells));
	if (!end)
		return false;
	*end++ = '\n';
	gt_out_used(&l->bytes, end);
	return true;
}

void gt_lines_leave(struct gt_lines *l)
{
	gt_out_add(&l->bytes, "\0\n", 2);
	l->left++;
}

const char *gt_lines_next(const struct gt_lines *l, const char *from, size_t *n)
{
	const char *s = from ? from + 2 : l->bytes.data, *end = l->bytes.data + l->bytes.len;
	const char *left = l->left ? memchr(s, '\0', (size_t)(end - s)) : NULL;

	*n = (size_t)((left ? left : end) - s);
	return left;
}

static void put_spaces(struct gt_out *out, size_t n)
{
	for (; n; n--)
		gt_out_add(out, " ", 1);
}

/* The line as it is with wider columns: blanks come in before what stands at the right of its
 * column, and behind what stands at the left. One that was left is shorter than lines are indented,
 * and stays. */
static void lay_out(const struct gt_lines *l, const struct gt_line_column *wider, const char *line,
	size_t n, struct gt_out *to)
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
		for (const char *line = l->bytes.data, *end = line + l->bytes.len, *next;
			line < end; line = next + 1) {
			next = memchr(line, '\n', (size_t)(end - line));
			lay_out(l, columns, line, (size_t)(next - line), &to);
		}
		gt_out_close(&l->bytes, NULL);
		l->bytes = to;
	}
	memcpy(l->columns, columns, n * sizeof(*columns));
	l->ncolumns = n;
	l->width = l->indent;
	for (unsigned i = 0; i < n; i++)
		l->width += columns[i].width + l->gap;
	l->room = l->width + 4 * GT_PIECE;
	l->texts.len = l->nsteps = 0;
	/* NEVER, or not known yet */
	memset(l->first, l->room > GT_LINES_MOST ? 0xff : 0,
		(GT_ROW_FORMS + 1) * sizeof(*l->first));
	return l->bytes.failed;
}

int gt_lines_open(struct gt_lines *l, const struct gt_table *t, struct gt_words *words,
	unsigned indent, unsigned gap)
{
	*l = (struct gt_lines){
		.t = t, .words = words, .indent = indent, .gap = gap, .second = gt_second_of(0)
	};
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
