/* Rows as lines of a grid whose columns have their widths already. Rows of a source come in batches
 * that are aligned together, but nearly always a batch needs no more room than the one before. So a
 * row is written into its line at once; where a cell turns out to be too wide, its column becomes
 * wider, and the lines of the batch are laid out anew.
 *
 * Lines are written by a recipe, as those for programs are (table_programs.c): a text that stands
 * in each line of its form, fixed cells and what lies between them, then a cell, and so on to the
 * end.
 *
 * Many cells that are not fixed are the same in all rows of a form nevertheless: the registers of a
 * kernel, its block. So at first the text of a form has all that its first row says, and of its
 * other rows cells are only compared. One that differs is put from then on, and the recipe is
 * written anew without it. */
#ifndef GT_TABLE_LINES_H
#define GT_TABLE_LINES_H
#include "formats/table/figures.h"
#include "formats/table/table_internal.h"
#include "formats/table/text_cache.h"

/* that is shown; width in columns of a terminal; left: aligned there */
struct gt_line_column {
	unsigned column, width;
	bool left;
};
struct gt_lines {
	const struct gt_table *t;
	struct gt_words *words;
	struct gt_line_column *columns;
	unsigned ncolumns, indent, gap;
	struct gt_out bytes; /* lines of the batch, one behind the other */
	struct gt_out texts; /* of all steps */
	struct gt_line_step *steps;
	size_t nsteps, steps_cap;
	/* bytes of a line at most; and what it takes to write one */
	size_t width, room;
	struct gt_second second;
	unsigned left;   /* lines of the batch that were left */
	uint32_t *first; /* by form: 1 + its first step; 0: not known yet */
};
/* bytes of a line: a batch of longer ones would take too much memory, and none is one */
#define GT_LINES_MOST (2u << 10)

/* words: where texts are spelled; cleared by its owner whenever it likes. indent: 2 or more. Close
 * it either way. 0 or -ENOMEM. */
int gt_lines_open(struct gt_lines *l, const struct gt_table *t, struct gt_words *words,
	unsigned indent, unsigned gap);
void gt_lines_close(struct gt_lines *l);
/* How columns are, from now on; the lines there are are laid out anew. Only widths may change, and
 * only grow. 0 or -ENOMEM. */
int gt_lines_set(struct gt_lines *l, const struct gt_line_column *columns, unsigned n);
/* a new batch */
static inline void gt_lines_clear(struct gt_lines *l) { l->bytes.len = l->left = 0; }
/* One more line. False: it cannot be one, because a cell is too wide or has more bytes than
 * columns, or there is no memory. */
bool gt_lines_add(struct gt_lines *l, const struct gt_row_at_hand *row);
/* in its place comes one that is printed otherwise */
void gt_lines_leave(struct gt_lines *l);
/* The lines up to the next one that was left, *n bytes that end with it: returned, to be handed in
 * for those behind it; NULL: there is no more. from NULL: those from the first on. */
const char *gt_lines_next(const struct gt_lines *l, const char *from, size_t *n);
static inline int gt_lines_failed(const struct gt_lines *l)
{
	return l->bytes.failed ? l->bytes.failed : l->texts.failed;
}
#endif
