#include "formats/table/row_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

#define CELL_ROOM 64u         /* bytes of any number or short text that is not aligned */
#define ROW_MOST (32u << 10)  /* bytes of a row that is not aligned */
#define SLACK (4u * GT_PIECE) /* bytes behind a row that may be overwritten */
/* bytes of all texts: forms that come later are written by the recipe of form 0 */
#define TEXTS_MOST (2u << 20)
#define IMPOSSIBLE UINT32_MAX /* size of a recipe: rows of the form are refused */

/* How a step writes its cell. SAME_...: the cell is part of the text, and only compared. Cells that
 * are not aligned: NUMBER, TEXT, DATA or OTHER. END: there are no more cells. */
enum step_kind {
	SAME_NUMBER,
	SAME_TEXT,
	NUMBER,
	TEXT,
	DATA,
	OTHER,
	ALIGNED_NS,
	ALIGNED_TIME,
	ALIGNED_COUNT,
	ALIGNED_TEXT,
	ALIGNED_OTHER,
	END
};
/* A text, and the cell behind it. Before an aligned number the text has the column of that number,
 * blank: the number ends where the column ends. kept: bytes of the text up to its last cell, which
 * stay if only empty cells follow. */
struct gt_row_step {
	union {
		int64_t i;
		const char *s;
	}; /* of SAME_... */
	uint32_t text;
	uint16_t len, kept, width, column, source;
	uint8_t kind;
};

static enum step_kind kind_of(const struct gt_row_writer *w, const struct gt_column *col)
{
	bool aligned = w->format->aligned;

	switch (col->kind) {
	case GT_C_TEXT:
	case GT_C_WHOLE: return aligned ? ALIGNED_TEXT : TEXT;
	case GT_C_DATA: return aligned ? ALIGNED_TEXT : w->format->keys ? DATA : TEXT;
	case GT_C_NS: return aligned ? ALIGNED_NS : NUMBER;
	case GT_C_TIME: return aligned ? ALIGNED_TIME : NUMBER;
	case GT_C_COUNT: return aligned ? ALIGNED_COUNT : NUMBER;
	case GT_C_BYTES: return aligned ? ALIGNED_OTHER : NUMBER;
	default: return aligned ? ALIGNED_OTHER : OTHER;
	}
}

/* Aligned text shows the cells of one column in another one (gt_table_replace_column). */
static unsigned source_of(const struct gt_row_writer *w, unsigned column)
{
	const struct gt_table *t = w->t;

	return w->format->aligned && t->replaced != t->by && column == (unsigned)t->replaced
		? (unsigned)t->by
		: column;
}

const struct gt_row_format gt_row_text = { .spell = gt_out_printable, .end = "", .aligned = true };

/* ---- cells ---- */

static inline struct gt_cached_text spell(struct gt_row_writer *w, const struct gt_cell *c)
{
	if (c->absent)
		return gt_text_cache_get(w->cache, c->s ? c->s : "-", !c->s);
	return gt_text_cache_get(w->cache, c->s ? c->s : "", c->s && c->lasting);
}

/* A number that is not aligned: ns and bytes as they are, hundredths as a decimal. */
static char *put_number(const struct gt_row_writer *w, char *p, const struct gt_column *col,
	const struct gt_cell *c)
{
	enum gt_cell_kind kind = gt_kind_of(col, c);

	if (c->absent || (kind == GT_C_REAL && !isfinite(c->d)))
		return stpcpy(p, w->format->absent);
	if (kind == GT_C_REAL)
		return gt_put_general(p, c->d);
	return kind == GT_C_PERCENT ? gt_put_hundredths(p, c->i) : gt_put_i64(p, c->i);
}

static inline void put_blanks(char *p, size_t n)
{
	memcpy(p, "                ", GT_PIECE);
	for (size_t i = GT_PIECE; i < n; i += GT_PIECE)
		memcpy(p + i, "                ", GT_PIECE);
}

/* ---- recipes ---- */

/* Adds a known cell to the text of a recipe. *end: where the text of the last cell ends that is not
 * empty. False: the cell does not fit. */
static bool add_cell(struct gt_row_writer *w, const struct gt_row_column *col,
	const struct gt_cell *c, size_t *end)
{
	const struct gt_column *of = &w->t->columns[col->column];
	struct gt_out *text = &w->scratch;
	char figure[GT_FIGURE_ROOM + GT_PIECE];
	const char *s = figure;
	uint32_t len, width;

	if (!w->format->aligned) {
		if (kind_of(w, of) == DATA && !c->absent)
			gt_out_str(text, c->s);
		else if (gt_is_text(of) && !c->absent)
			w->format->spell(text, c->s ? c->s : "");
		else
			gt_out_commit(text, put_number(w, gt_out_reserve(text, CELL_ROOM), of, c));
		return true;
	}
	if (c->absent || gt_is_text(of)) {
		struct gt_cached_text one = spell(w, c);

		s = w->cache->bytes.data + one.at;
		len = one.len;
		width = one.width;
	} else {
		len = width = (uint32_t)(gt_put_figure(figure, of, c) - figure);
	}
	if (c->indent || len != width || width > col->width)
		return false;
	gt_put_spaces(text, gt_is_text(of) ? 0 : col->width - width);
	gt_out_add(text, s, len);
	*end = len ? text->len : *end;
	gt_put_spaces(text, gt_is_text(of) ? col->width - width : 0);
	return true;
}

/* The separator and key before a cell, or the blanks. */
static void add_lead(struct gt_row_writer *w, unsigned i)
{
	const struct gt_row_format *f = w->format;

	if (f->aligned) {
		gt_put_spaces(&w->scratch, i ? w->gap : w->indent);
		return;
	}
	gt_out_str(&w->scratch, i ? f->separator : f->begin);
	if (!f->keys)
		return;
	f->spell(&w->scratch, w->t->columns[w->columns[i].column].key);
	gt_out_str(&w->scratch, ": ");
}

static inline bool is_same(const struct gt_row_step *step, const struct gt_cell *c)
{
	return step->kind == SAME_NUMBER ? c->i == step->i && !c->absent && !c->change
					 : c->s == step->s && !c->absent && !c->indent;
}

/* The step for a cell of a form's first row: as if it were equal in all rows. c NULL: any row. */
static struct gt_row_step first_step(
	const struct gt_row_writer *w, const struct gt_column *of, const struct gt_cell *c)
{
	if (c && gt_is_text(of) && kind_of(w, of) != DATA && c->lasting && c->s)
		return (struct gt_row_step){ .kind = SAME_TEXT, .s = c->s };
	if (c && !gt_is_text(of) && of->kind != GT_C_REAL && of->kind != GT_C_FIGURE)
		return (struct gt_row_step){ .kind = SAME_NUMBER, .i = c->i };
	return (struct gt_row_step){ .kind = (uint8_t)kind_of(w, of) };
}

/* Ends the text of a step. begin, *end: of that text, and of its last cell that is not empty. */
static void end_text(struct gt_row_writer *w, struct gt_row_step *step, size_t begin, size_t end)
{
	step->len = (uint16_t)(w->scratch.len - begin);
	step->kept = end > begin ? (uint16_t)(end - begin) : 0;
}

/* Writes the steps of a form whose row has these cells (NULL: of any row), and their text into
 * scratch, which will be at `text`. again: the steps exist, and cells that differ from them are no
 * longer part of the text. Returns how many steps, 0 if a fixed cell does not fit. */
static size_t write_recipe(struct gt_row_writer *w, struct gt_row_step *to, uint32_t text,
	const struct gt_cell *cells, bool again)
{
	struct gt_row_step *step = to;
	size_t begin = 0, end = 0;

	w->scratch.len = 0;
	for (unsigned i = 0; i < w->ncolumns; i++) {
		const struct gt_row_column *col = &w->columns[i];
		const struct gt_column *of = &w->t->columns[col->column];
		const struct gt_cell *c = cells ? &cells[source_of(w, col->column)] : NULL;
		struct gt_row_step one;

		add_lead(w, i);
		if (again ? step->kind == END || step->column != col->column : c && c->fixed) {
			if (!add_cell(w, col, c, &end))
				return 0;
			continue;
		}
		one = again ? *step : first_step(w, of, c);
		if (one.kind <= SAME_TEXT && !(is_same(&one, c) && add_cell(w, col, c, &end)))
			one.kind = (uint8_t)kind_of(w, of);
		one.column = (uint16_t)col->column;
		one.source = (uint16_t)source_of(w, col->column);
		one.width = (uint16_t)(w->format->aligned ? col->width : CELL_ROOM);
		one.text = text + (uint32_t)begin;
		if (one.kind > SAME_TEXT) {
			gt_put_spaces(&w->scratch, gt_is_text(of) ? 0 : col->width);
			end_text(w, &one, begin, end);
			begin = w->scratch.len;
		}
		*step++ = one;
	}
	gt_out_str(&w->scratch, w->format->end);
	*step = (struct gt_row_step){ .kind = END, .text = text + (uint32_t)begin };
	end_text(w, step, begin, w->format->aligned ? end : w->scratch.len);
	return (size_t)(step + 1 - to);
}

/* The recipe of a form that has none yet. */
static void add_recipe(struct gt_row_writer *w, unsigned form, const struct gt_cell *cells)
{
	struct gt_row_recipe *recipe = &w->recipes[form];
	size_t n = 1, size = SIZE_MAX;

	if (w->texts.len < TEXTS_MOST || !form) {
		if (gt_grow(&w->steps, &w->steps_cap, w->nsteps + w->ncolumns + 1,
			    sizeof(*w->steps)))
			w->texts.failed = -ENOMEM;
		else
			n = write_recipe(
				w, w->steps + w->nsteps, (uint32_t)w->texts.len, cells, false);
		size = w->format->aligned ? w->width : w->scratch.len + n * CELL_ROOM;
		size += SLACK;
	}
	if (w->texts.failed || w->scratch.failed || !n || (size > w->size_most && !form)) {
		recipe->size = IMPOSSIBLE;
	} else if (size > w->size_most) {
		*recipe = w->recipes[0];
	} else {
		gt_out_add(&w->texts, w->scratch.data, w->scratch.len);
		gt_out_reserve(&w->texts, GT_PIECE);
		*recipe = (struct gt_row_recipe){ (uint32_t)w->nsteps, (uint32_t)size };
		w->nsteps += n;
	}
}

/* Removes cells from the texts of a recipe that were equal until now and differ in this row. So the
 * text becomes shorter, or stays as long. False: there are no such cells. */
static __attribute__((noinline)) bool relearn(
	struct gt_row_writer *w, struct gt_row_step *steps, const struct gt_cell *cells)
{
	const struct gt_row_step *step = steps;
	uint32_t text = steps->text;

	while (step->kind != END && (step->kind > SAME_TEXT || is_same(step, &cells[step->source])))
		step++;
	if (step->kind == END || !write_recipe(w, steps, text, cells, true) || w->scratch.failed)
		return false;
	memcpy(w->texts.data + text, w->scratch.data, w->scratch.len);
	return true;
}

/* ---- rows ---- */

/* A number of any kind that ends at p, or the text of an absent cell. False: it does not fit, or
 * is empty. */
static __attribute__((noinline)) bool put_aligned_other(
	struct gt_row_writer *w, char *p, const struct gt_row_step *step, const struct gt_cell *c)
{
	struct gt_cached_text one;

	if (!c->absent)
		return gt_put_figure_right(
			p - step->width, step->width, &w->t->columns[step->column], c);
	one = spell(w, c);
	if (!one.len || one.len != one.width || one.width > step->width || c->indent)
		return false;
	gt_put_pieces(p - one.len, w->cache->bytes.data + one.at, one.len);
	return true;
}

/* A text that begins at p: where it ends. NULL: it does not fit. */
static inline char *put_aligned_text(
	struct gt_row_writer *w, char *p, const struct gt_row_step *step, const struct gt_cell *c)
{
	struct gt_cached_text one = spell(w, c);

	if (one.len != one.width || one.width > step->width || c->indent)
		return NULL;
	gt_put_pieces(p, w->cache->bytes.data + one.at, one.len);
	put_blanks(p + one.len, step->width - one.len);
	return p + one.len;
}

/* Bytes that are more than CELL_ROOM go into the output at once, with the row up to
 * them: so before that the cells after them are compared. size: of the rest of the row. NULL: one
 * of these differs. */
static char *put_long(struct gt_row_writer *w, char *p, const struct gt_row_step *step,
	const struct gt_cell *cells, size_t size, const char *bytes, size_t len)
{
	for (const struct gt_row_step *s = step + 1; s->kind != END; s++)
		if (s->kind <= SAME_TEXT && !is_same(s, &cells[s->source]))
			return NULL;
	gt_out_commit(w->out, p);
	gt_out_add(w->out, bytes, len);
	return gt_out_reserve(w->out, size);
}

/* A text that is not aligned. */
static char *put_text(struct gt_row_writer *w, char *p, const struct gt_row_step *step,
	const struct gt_cell *cells, size_t size)
{
	const struct gt_cell *c = &cells[step->source];
	struct gt_cached_text one =
		gt_text_cache_get(w->cache, c->s ? c->s : "", c->s && c->lasting);
	const char *bytes = w->cache->bytes.data + one.at;

	return one.len <= CELL_ROOM ? gt_put_pieces(p, bytes, one.len)
				    : put_long(w, p, step, cells, size, bytes, one.len);
}

/* JSON. */
static char *put_data(struct gt_row_writer *w, char *p, const struct gt_row_step *step,
	const struct gt_cell *cells, size_t size)
{
	const char *s = cells[step->source].s ? cells[step->source].s : "null";
	size_t len = strlen(s);

	return len <= CELL_ROOM ? (char *)memcpy(p, s, len) + len
				: put_long(w, p, step, cells, size, s, len);
}

/* Writes the row at p: returns where it ends. NULL: a cell does not fit, or differs from the text.
 * Most cells are equal ones, times and counts. */
static inline char *put_cells(struct gt_row_writer *w, const struct gt_row_step *step,
	const struct gt_cell *cells, char *p, size_t size)
{
	char *end = p;

	for (;; step++) {
		const struct gt_cell *c = &cells[step->source];
		char *text = p;

		if (step->kind <= SAME_TEXT) {
			if (!is_same(step, c))
				return NULL;
			continue;
		}
		p = gt_put_pieces(p, w->texts.data + step->text, step->len);
		if (step->kind == NUMBER && !c->absent) {
			p = gt_put_i64(p, c->i);
		} else if (step->kind == ALIGNED_NS ? gt_put_plain_time(p, step->width, c)
				: step->kind == ALIGNED_TIME
				? gt_put_plain_seconds(p, step->width, c, &w->second)
				: step->kind == ALIGNED_COUNT &&
					gt_put_plain_count(p, step->width, c)) {
			end = p;
		} else if (step->kind == ALIGNED_TEXT) {
			char *after = put_aligned_text(w, p, step, c);

			if (!after)
				return NULL;
			end = after > p ? after : step->kept ? text + step->kept : end;
			p += step->width;
		} else if (step->kind == END) {
			return step->kept ? text + step->kept : end;
		} else if (step->kind >= ALIGNED_NS) {
			if (!put_aligned_other(w, p, step, c))
				return NULL;
			end = p;
		} else if (step->kind == TEXT && !c->absent) {
			if (!(p = put_text(w, p, step, cells, size)))
				return NULL;
		} else if (step->kind == DATA && !c->absent) {
			if (!(p = put_data(w, p, step, cells, size)))
				return NULL;
		} else {
			p = put_number(w, p, &w->t->columns[step->column], c);
		}
	}
}

bool gt_row_writer_put(struct gt_row_writer *w, const struct gt_row_at_hand *row)
{
	struct gt_row_recipe *recipe = &w->recipes[row->form];
	struct gt_row_step *steps;
	char *p, *end;

	if (!recipe->size)
		add_recipe(w, row->form, row->form ? row->cells : NULL);
	if (recipe->size == IMPOSSIBLE)
		return false;
	steps = w->steps + recipe->first;
	do {
		p = gt_out_reserve(w->out, recipe->size);
		end = put_cells(w, steps, row->cells, p, recipe->size);
	} while (!end && relearn(w, steps, row->cells));
	if (!end)
		return false;
	if (w->format->aligned)
		*end++ = '\n';
	gt_out_commit(w->out, end);
	return true;
}

/* ---- opening and closing ---- */

void gt_row_writer_set_columns(
	struct gt_row_writer *w, const struct gt_row_column *columns, unsigned n)
{
	memcpy(w->columns, columns, n * sizeof(*columns));
	w->ncolumns = n;
	w->width = w->indent;
	for (unsigned i = 0; i < n; i++)
		w->width += columns[i].width + w->gap;
	w->texts.len = w->nsteps = 0;
	memset(w->recipes, 0, (GT_ROW_FORMS + 1) * sizeof(*w->recipes));
	add_recipe(w, 0, NULL);
}

int gt_row_writer_open(struct gt_row_writer *w, const struct gt_table *t,
	const struct gt_row_format *format, struct gt_text_cache *cache)
{
	*w = (struct gt_row_writer){ .t = t,
		.format = format,
		.cache = cache,
		.size_most = format->aligned ? GT_ALIGNED_ROW_MOST : ROW_MOST,
		.second = gt_second_of(0),
		.columns = calloc(t->ncolumns + 1ul, sizeof(*w->columns)),
		.recipes = calloc(GT_ROW_FORMS + 1, sizeof(*w->recipes)) };
	gt_out_memory(&w->texts);
	gt_out_memory(&w->scratch);
	return w->columns && w->recipes ? 0 : -ENOMEM;
}

int gt_row_writer_close(struct gt_row_writer *w)
{
	int texts = gt_out_close(&w->texts, NULL), scratch = gt_out_close(&w->scratch, NULL);

	free(w->columns);
	free(w->steps);
	free(w->recipes);
	return texts ? texts : scratch;
}
