/* Writes rows of a table, in all formats. Lists have millions of rows of twenty cells, so speed
 * counts.
 *
 * Rows of one form (table.h) are written by a recipe: steps of a text and a cell in turn. The text
 * of a step has what all rows of the form have there: separators, JSON keys, blanks, and the cells
 * that are fixed. Many other cells are equal in all rows of a form nevertheless: the registers of a
 * kernel, its block. So at first the texts have all cells of the form's first row that can be
 * compared cheaply, and for later rows these are only compared. If one differs, the recipe is
 * written again without it.
 *
 * Text for people is aligned: each cell has a column of a width that the caller sets. A row with a
 * cell that does not fit is refused; the caller prints it in another way. */
#ifndef GT_ROW_WRITER_H
#define GT_ROW_WRITER_H
#include "formats/table/figures.h"
#include "formats/table/table_internal.h"
#include "formats/table/text_cache.h"

/* How a format writes rows. */
struct gt_row_format {
	gt_text_speller *spell;
	const char *absent;    /* an absent cell */
	const char *separator; /* before each cell but the first */
	const char *begin, *end;
	bool keys;    /* JSON: the column's key before each cell */
	bool aligned; /* text */
};
extern const struct gt_row_format gt_row_text;

/* A column that is written. width: in columns of the terminal; 0 if not aligned. */
struct gt_row_column {
	unsigned column, width;
};
/* bytes of an aligned row: a batch of longer ones would take too much memory */
#define GT_ALIGNED_ROW_MOST (2u << 10)

struct gt_row_writer {
	const struct gt_table *t;
	const struct gt_row_format *format;
	struct gt_out *out; /* borrowed: rows are written there */
	struct gt_text_cache
		*cache; /* borrowed: texts of cells. Its owner may clear it between rows */
	struct gt_row_column *columns;
	unsigned ncolumns, indent,
		gap;             /* indent, gap: spaces before the first column and the others */
	size_t width, size_most; /* bytes of an aligned row; of any row at most */
	struct gt_out texts, scratch; /* texts of all steps; of a recipe that is being written */
	struct gt_row_step *steps;
	size_t nsteps, steps_cap;
	/* By form: its steps begin at steps[first]. size: bytes of a row at most, except for long
	 * texts. 0: unknown yet. Any cell of form 0 may differ. */
	struct gt_row_recipe {
		uint32_t first, size;
	} * recipes;
	struct gt_second second;
};

/* The caller then sets out, indent, gap and the columns. Close it also on failure. 0 or -ENOMEM. */
int gt_row_writer_open(struct gt_row_writer *w, const struct gt_table *t,
	const struct gt_row_format *format, struct gt_text_cache *cache);
/* Sets the columns and forgets all recipes. */
void gt_row_writer_set_columns(
	struct gt_row_writer *w, const struct gt_row_column *columns, unsigned n);
/* Writes one row. False: nothing was written, because a cell is too wide for its column or has more
 * bytes than terminal columns, because the row is too long, or without memory. */
bool gt_row_writer_put(struct gt_row_writer *w, const struct gt_row_at_hand *row);
/* The first error, or 0. */
int gt_row_writer_close(struct gt_row_writer *w);
#endif
