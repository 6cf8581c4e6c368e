/* Shared by table_rows.c (stores rows), table.c (notes), table_text.c and table_grid.c (text for
 * people), table_csv_json.c and row_writer.c. */
#ifndef GT_TABLE_INTERNAL_H
#define GT_TABLE_INTERNAL_H
#include <stddef.h>
#include "formats/table/table.h"

struct gt_stored_cell;
struct gt_table_texts;
struct gt_text_line {
	char *text;
	enum gt_tone tone;
	bool paragraph;  /* gt_table_add_paragraph */
	unsigned indent; /* of it */
};

struct gt_table {
	const char *name, *title;
	const char *prefix; /* of the name in JSON, or NULL */
	const char *report; /* that it is a part of, or NULL */
	const struct gt_column *columns;
	unsigned ncolumns, nrows, skip; /* skip: leading cells that gt_table_add ignores */
	enum gt_answer answer;
	struct gt_stored_cell *cells; /* of nrows rows (table_rows.c) */
	size_t cap;
	struct gt_cell *row;          /* an unpacked one */
	struct gt_table_texts *texts; /* of the stored cells */
	struct gt_text_line *notes, *lines;
	/* ncannot: the first so many notes begin with "cannot answer:" */
	size_t nnotes, notes_cap, nlines, lines_cap, ncannot;
	enum gt_tone tone; /* of the next line */
	const char *hideable_keys;
	size_t wrap_width; /* columns of a line; 0: the terminal's */
	/* text has the cells of the column `by` in the column `replaced`, unless both are 0 */
	int replaced, by;
	/* next NULL: there is none, or it has ended. Stored rows come before its rows */
	struct gt_row_source source;
	struct gt_cell *pulled; /* its row */
	struct gt_column *own;  /* columns, if one of them is relabelled */
	unsigned labelled;      /* that one */
	const char *const *labels;
	size_t nlabels;
	bool list, is_warning, incomplete, failed, widen_names;
	bool shares_answer; /* gt_table_share_answer */
	bool brief;         /* gt_table_set_brief */
};

static inline bool gt_is_text(const struct gt_column *col) { return col->kind <= GT_C_DATA; }
static inline enum gt_cell_kind gt_kind_of(const struct gt_column *col, const struct gt_cell *c)
{
	return col->kind == GT_C_FIGURE ? c->kind : col->kind;
}
/* A stored row, borrowed until the next call or gt_table_cell. */
const struct gt_cell *gt_row_of(const struct gt_table *t, unsigned row);
/* Pulls rows from the source until n are stored, or all. 0 or negative. */
int gt_table_store_rows(struct gt_table *t, unsigned n, struct gt_err *err);
void gt_table_release_rows(struct gt_table *t); /* also closes the source */
/* The next row of the source, borrowed until the next call. 1, 0 at the end, or negative. */
int gt_table_pull(struct gt_table *t, struct gt_row_at_hand *row, struct gt_err *err);

/* How many columns text has: those at the end without a title are not in text. */
unsigned gt_text_columns(const struct gt_table *t);
/* Prints one line. If it is broken, further lines are indented by two more columns. */
void gt_put_wrapped(struct gt_out *out, enum gt_tone tone, const char *s, size_t limit);
void gt_put_spaces(struct gt_out *out, size_t n);

/* These print tables. 0 or negative. */
int gt_print_text(
	struct gt_table *const *tables, unsigned n, struct gt_out *out, struct gt_err *err);
/* *hint: the note on hidden columns has said how to see them. */
int gt_print_grid(
	struct gt_out *out, struct gt_table *t, size_t limit, bool *hint, struct gt_err *err);
int gt_print_separated(struct gt_table *const *tables, unsigned n, const char *label,
	struct gt_out *out, bool tabs, struct gt_err *err);
int gt_print_json(
	struct gt_table *const *tables, unsigned n, struct gt_out *out, struct gt_err *err);
/* Of a source, at most GT_TABLE_MOST rows. */
int gt_print_openmetrics(
	struct gt_table *const *tables, unsigned n, struct gt_out *out, struct gt_err *err);
#endif
