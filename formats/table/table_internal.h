/* What the files of tables share: table_rows.c (holds rows), table.c (notes), table_text.c and
 * table_grid.c (text for people), table_programs.c. */
#ifndef GT_TABLE_INSIDE_H
#define GT_TABLE_INSIDE_H
#include <stddef.h>
#include "formats/table/table.h"

struct gt_held_cell;
struct gt_table_texts;
struct gt_text_line {
	char *text;
	enum gt_tone tone;
};

struct gt_table {
	const char *name, *title;
	const struct gt_column *columns;
	unsigned ncolumns, nrows;
	enum gt_answer answer;
	struct gt_held_cell *cells; /* nrows of them (table_rows.c) */
	size_t cap;
	struct gt_cell *row;          /* one, unpacked */
	struct gt_table_texts *texts; /* those of its cells */
	struct gt_text_line *notes, *lines;
	/* ncannot: of the notes, the first ones */
	size_t nnotes, notes_cap, nlines, lines_cap, ncannot;
	enum gt_tone tone; /* of the next line */
	const char *gives_way;
	size_t fold; /* columns of a line; 0: as the terminal has them */
	/* columns: text has the cells of the second in the first; none where both are 0 */
	int replaced, by;
	/* next NULL: there is none, or it is at its end; rows in cells come before its */
	struct gt_row_source source;
	struct gt_cell *pulled; /* room for its row */
	struct gt_column *own;  /* columns, where one of them was relabelled */
	unsigned labelled;      /* which */
	const char *const *labels;
	size_t nlabels;
	bool list, warns, more, failed, names_matter; /* more: rows that are not here */
	bool follows;                                 /* text leaves it out */
};

static inline bool gt_is_text(const struct gt_column *col)
{
	return col->kind == GT_C_TEXT || col->kind == GT_C_WHOLE;
}
static inline enum gt_cell_kind gt_kind_of(const struct gt_column *col, const struct gt_cell *c)
{
	return col->kind == GT_C_FIGURE ? c->kind : col->kind;
}
/* borrowed until the next one or gt_table_cell */
const struct gt_cell *gt_row_of(const struct gt_table *t, unsigned row);
/* Pulls rows of its source until it holds n, or all there are. 0 or negative. */
int gt_table_hold(struct gt_table *t, unsigned n, struct gt_err *err);
void gt_table_keep_rows(struct gt_table *t, unsigned n); /* the first n at most */
void gt_table_release_rows(struct gt_table *t);          /* and its source */
/* The next row of its source, borrowed until the next one is pulled. 1, 0 when there is no more, or
 * negative. */
int gt_table_pull(struct gt_table *t, struct gt_row_at_hand *row, struct gt_err *err);

/* text leaves out the columns at the end that have no title */
unsigned gt_text_columns(const struct gt_table *t);
/* limit: the terminal's width. Words that begin at `column`, broken where the terminal ends; what
 * goes on begins at `indent`. */
void gt_put_words(struct gt_out *out, enum gt_tone tone, const char *s, size_t column,
	size_t indent, size_t limit);
/* One line; what goes on is indented as far as it is, and two more. */
void gt_put_wrapped(struct gt_out *out, enum gt_tone tone, const char *s, size_t limit);
void gt_put_spaces(struct gt_out *out, size_t n);

/* 0 or negative. */
int gt_print_text(
	struct gt_table *const *tables, unsigned n, struct gt_out *out, struct gt_err *err);
/* *told: was it said already where columns that are left out can be seen? */
int gt_print_grid(
	struct gt_out *out, struct gt_table *t, size_t limit, bool *told, struct gt_err *err);
int gt_print_separated(struct gt_table *const *tables, unsigned n, const char *label,
	struct gt_out *out, bool tabs, struct gt_err *err);
int gt_print_json(
	struct gt_table *const *tables, unsigned n, struct gt_out *out, struct gt_err *err);
#endif
