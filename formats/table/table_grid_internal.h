/* Shared by table_grid.c (prints a grid), table_grid_fit.c (makes it as narrow as the terminal) and
 * table_layout.c (hands it to the viewer). */
#ifndef GT_TABLE_GRID_INTERNAL_H
#define GT_TABLE_GRID_INTERNAL_H
#include "formats/table/row_writer.h"
#include "formats/table/table_internal.h"
#include "formats/table/text_cache.h"

#define GT_TABLE_GRID_GAP 2u /* blanks between two columns */

/* the text of a cell: cache.bytes.data + at, with a 0 behind */
struct gt_table_grid_cell {
	size_t at;
	uint32_t len, width;
	enum gt_tone tone;
	bool absent;
};
struct gt_table_grid {
	const struct gt_table *t;
	unsigned ncolumns, norder, rows;
	struct gt_table_grid_cell *texts; /* of `rows` rows */
	size_t texts_cap;
	struct gt_text_cache cache;
	size_t *cells, *widths, indent; /* cells: width of the widest one of the column */
	unsigned *order;                /* columns that may be hidden, the first to go first */
	/* tall: titles continue in further lines; brief: times are cut; plain: no colours and no
	 * end of the line, as in a file */
	bool *hidden, tall, brief, plain;
	struct gt_row_column *shown; /* those that are not hidden */
	unsigned nshown;
	struct gt_row_writer writer; /* writes plain rows */
	/* Of a source, if it is plain: the rows of the batch. Rows that the writer refused are a
	 * line "\0" here, and are in `texts`. */
	struct gt_out batch;
	unsigned refused;
};

static inline const char *gt_table_grid_title(const struct gt_table_grid *g, unsigned column)
{
	return g->t->columns[column].title;
}
static inline char *gt_table_grid_text(
	const struct gt_table_grid *g, const struct gt_table_grid_cell *s)
{
	return g->cache.bytes.data + s->at;
}
/* 0 or -ENOMEM; close it in both cases. */
int gt_table_grid_open(struct gt_table_grid *g, const struct gt_table *t);
void gt_table_grid_close(struct gt_table_grid *g);
/* Adds the texts of all stored rows. 0, or not 0: no memory. */
int gt_table_grid_add_stored_rows(struct gt_table_grid *g);
/* Sets all widths. printed: the titles are printed, so hidden columns and titles cannot change. 0,
 * or not 0: no memory. */
int gt_table_grid_fit(struct gt_table_grid *g, size_t limit, bool printed);
/* Bytes of a title that fit into one line of that width: whole words, at least one. */
size_t gt_title_line(const char *title, size_t width);
unsigned gt_title_lines(const char *title, size_t width);
#endif
