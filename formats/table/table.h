/* A result: typed columns and rows, printed as text, csv, tsv, json or OpenMetrics. Reports fill
 * tables and never print. JSON keys are the column keys, which contain the unit (`total_ns`,
 * `peak_bytes`, `share_percent`); text shows the column titles. A cell may be absent: text prints
 * "not recorded" or
 * "-", csv an empty cell, json null. */
#ifndef GT_TABLE_H
#define GT_TABLE_H
#include <stdbool.h>
#include <stdint.h>
#include "formats/base/err.h"
#include "formats/io/stream_out.h"
#include "formats/table/text_style.h"

enum gt_cell_kind {
	/* a string, copied; text cuts it in the middle on a narrow terminal */
	GT_C_TEXT,
	/* a string that is never cut: a drawing, a handle. In the last column its words continue in
	   the next line */
	GT_C_WHOLE,
	/* a string that is JSON: true, false, a list, a number. JSON has it as it is; csv and tsv
	   do not have the column */
	GT_C_DATA,
	GT_C_COUNT,   /* a whole number */
	GT_C_NS,      /* a duration in ns; text scales it (1.234 ms) */
	GT_C_TIME,    /* ns since the report's origin; text prints seconds with 9 decimals */
	GT_C_BYTES,   /* text scales it (1.50 MiB) */
	GT_C_PERCENT, /* hundredths of a percent as a whole number; text 12.34 */
	GT_C_REAL,    /* a double */
	GT_C_FIGURE /* any number, of the kind that its cell has: for numbers of several reports in
		     * one column. Another column then has the unit, for programs */
};
struct gt_column {               /* static storage, borrowed */
	const char *key, *title; /* title NULL: not in text; such columns are last */
	enum gt_cell_kind kind;
};
/* s: copied on add; for an absent cell, the text that replaces it. indent: spaces before it, only
 * in text. change: text prints a + before it if it is positive. lasting: s neither moves nor
 * changes while its source (gt_row_source) has rows, so it may be cached by address. fixed: see
 * gt_row_at_hand. kind: of the number in a column of GT_C_FIGURE. tone: its colour in text. */
struct gt_cell {
	bool absent, change, lasting, fixed;
	enum gt_cell_kind kind;
	enum gt_tone tone;
	unsigned indent;
	int64_t i;
	double d;
	const char *s;
};

struct gt_table;
/* new: a table. name: its JSON key. title: its heading in text, or NULL. */
struct gt_table *gt_table_new(
	const char *name, const char *title, const struct gt_column *columns, unsigned ncolumns);
/* Each row given to gt_table_add begins with n more cells, which the table ignores. */
void gt_table_skip_cells(struct gt_table *t, unsigned n);
/* Adds a row of ncolumns cells. gt_tables_print reports failed allocations. */
void gt_table_add(struct gt_table *t, const struct gt_cell *cells);
/* Adds a line below the heading (text), a member of "notes" (json): "sampled 1 in 100". */
void gt_table_note(struct gt_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* If there are more rows than the table has, notes how many, and which --top shows them: `enough`,
 * or 0 for all. enough 0: mentions only --top 0. */
void gt_table_note_more(struct gt_table *t, size_t more, size_t enough);
/* The same, if the table has `shown` of n rows. No table has more than GT_TABLE_MOST, to bound
 * memory. */
void gt_table_note_cut(struct gt_table *t, size_t n, size_t shown);
/* There are more rows, and the report notes that itself. */
void gt_table_set_incomplete(struct gt_table *t);
#define GT_TABLE_MOST 100000
/* Its notes are warnings. */
void gt_table_set_warning(struct gt_table *t);
/* Whether the table answers its question ("state" in json). By default it does.
 * gt_table_set_unanswered also notes "cannot answer: ...". gt_table_set_found: a table that
 * searches for faults has found one. */
enum gt_answer {
	GT_ANSWERED,
	GT_FOUND,
	GT_UNANSWERED,
	GT_UNANSWERED_PART /* it cannot, but other tables of its report do */
};
void gt_table_set_unanswered(struct gt_table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void gt_table_set_found(struct gt_table *t);
void gt_table_set_part(struct gt_table *t); /* makes GT_UNANSWERED_PART of GT_UNANSWERED */
/* Its answer is that of `first`, which is printed before it and has the reason. If it has no rows,
 * text omits it. */
void gt_table_share_answer(struct gt_table *t, const struct gt_table *first);
enum gt_answer gt_table_answer(const struct gt_table *t);
/* gt_table_add_line adds a line that text prints instead of the rows; other formats do not have it.
 * gt_table_set_tone sets the tone of the lines added later. */
void gt_table_set_tone(struct gt_table *t, enum gt_tone tone);
void gt_table_add_line(struct gt_table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The same with a text of several lines of at most 100 columns, also in a file. All but the first
 * begin at column `indent`. */
void gt_table_add_paragraph(struct gt_table *t, unsigned indent, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Keys of the columns that text may hide, and mention in a note, if the terminal is too narrow even
 * for short names. Columns without information are hidden first, then the others in this order.
 * Columns that identify a row, or by which rows are sorted, are last or not in the list. Borrowed.
 */
void gt_table_set_hideable(struct gt_table *t, const char *keys);
/* On a narrow terminal more columns are hidden, so that each text gets two fifths of it if
 * possible. */
void gt_table_widen_names(struct gt_table *t);
/* Words in its last column continue in the next line if a line would be longer than `width`
 * columns, also in a file. */
void gt_table_wrap_last_column(struct gt_table *t, size_t width);
/* Text prints the cells of the column `other` instead of those of the column `key`, under the title
 * of `key`; both are texts. Other formats print both. Nothing changes if a column is missing. */
void gt_table_replace_column(struct gt_table *t, const char *key, const char *other);
/* A row of a source. cells: memory of the table, which the source fills in, or the source sets this
 * to its own cells. form: 0, or a number from 1 to GT_ROW_FORMS. The cells of rows of one form are
 * at the same address, and those that are `fixed` are equal: these are formatted once. */
struct gt_row_at_hand {
	struct gt_cell *cells;
	unsigned form;
};
#define GT_ROW_FORMS 4096
/* If there are too many rows to store, a source returns them one at a time while the table is
 * printed. A table has either a source or added rows. With a source it can be printed only once,
 * and not sorted.
 */
struct gt_row_source {
	/* The next row: sets each of ncolumns cells. Texts that are not lasting are borrowed until
	 * the next call. 1, 0 at the end, or negative; not called again after these. */
	int (*next)(void *arg, struct gt_row_at_hand *row, struct gt_err *err);
	void (*close)(void *arg); /* called once, by gt_table_free at the latest */
	void *arg;
};
/* The table owns the source then, also after an error. Pulls the first row: 0, or its error. What
 * the source reads from must live until the table is freed. */
int gt_table_stream(struct gt_table *t, const struct gt_row_source *source, struct gt_err *err);
unsigned gt_table_rows(const struct gt_table *t); /* stored rows; of a source, only the first */
const char *gt_table_name(const struct gt_table *t);
/* The name of the report that the table is a part of, borrowed; NULL: unknown. */
void gt_table_set_report(struct gt_table *t, const char *report);
const char *gt_table_report(const struct gt_table *t);
const char *gt_table_title(const struct gt_table *t); /* NULL: none */
/* Note i, borrowed, or NULL. */
const char *gt_table_get_note(const struct gt_table *t, size_t i);
const struct gt_column *gt_table_columns(const struct gt_table *t, unsigned *n);
int gt_table_column(const struct gt_table *t, const char *key); /* its index, or -1 */
/* Borrowed until the next call for the same column; a text in it until the table changes. */
const struct gt_cell *gt_table_cell(const struct gt_table *t, unsigned row, unsigned column);
/* Sorts by the column with this key, largest first; equal rows by the first text column. Removes
 * all but the first `top` rows (0: none) and notes how many. */
void gt_table_sort(struct gt_table *t, const char *key, unsigned top);
/* Replaces the column of this key, of counts, by the text column `by`: i becomes labels[i]. Nothing
 * happens if the table has no such column. Before printing only. `by` and labels are borrowed. */
void gt_table_relabel(struct gt_table *t, const char *key, const struct gt_column *by,
	const char *const *labels, size_t n);
/* Its JSON key becomes prefix and name. Borrowed. */
void gt_table_set_prefix(struct gt_table *t, const char *prefix);
/* Text does not mention hidden columns and further rows: for a page that summarizes reports. */
void gt_table_set_brief(struct gt_table *t);
/* A table of one row prints in text as "  Title: value" lines (a list), not as a grid. */
void gt_table_as_list(struct gt_table *t);
bool gt_table_failed(const struct gt_table *t); /* an allocation failed */
/* Does text omit it, because it follows another table and has no rows? */
bool gt_table_is_left_out(const struct gt_table *t);
/* new: a cell as text. NULL: no memory. */
char *gt_table_cell_text(const struct gt_table *t, unsigned row, unsigned column);
bool gt_table_is_text(const struct gt_table *t, unsigned column); /* are its cells texts? */
/* Compares two cells of a column that are not absent: negative, 0, positive. */
int gt_table_compare(const struct gt_table *t, unsigned column, const struct gt_cell *a,
	const struct gt_cell *b);
void gt_table_put_title(const struct gt_table *t, size_t width, struct gt_out *out);
void gt_table_put_notes(const struct gt_table *t, size_t width, struct gt_out *out);
/* What text prints above the rows: title, lines of gt_table_add_line (only if `lines`), notes, in
 * lines of at most `width` columns. */
void gt_table_put_head(const struct gt_table *t, bool lines, size_t width, struct gt_out *out);
void gt_table_free(struct gt_table *t); /* NULL is fine */

enum gt_table_format { GT_TEXT, GT_CSV, GT_TSV, GT_JSON, GT_OPENMETRICS };
/* A number as in a column of this kind (GT_C_COUNT, GT_C_NS or GT_C_BYTES): "1.234 ms". */
void gt_put_scaled(char *to, size_t size, enum gt_cell_kind kind, int64_t v);
struct gt_scaled {
	char text[32];
};
/* The same for messages: gt_scaled(GT_C_NS, ns).text. */
struct gt_scaled gt_scaled(enum gt_cell_kind kind, int64_t v);
/* Columns of the terminal that `out` is; SIZE_MAX: it is not a terminal. */
size_t gt_tables_width(struct gt_out *out);
/* Prints words from `column` on, and breaks them at the width `limit`. Further lines begin at
 * `indent`. */
void gt_put_words(struct gt_out *out, enum gt_tone tone, const char *s, size_t column,
	size_t indent, size_t limit);
/* Prints several tables as one document. Text: one below the other; rows of a source are aligned a
 * thousand at a time. json: one object of tables, "name": {"rows": [{key: value, ...}, ...],
 * "notes":
 * [...], "state": "answered", "found" or "cannot answer"}; it is always valid (bad UTF-8 becomes
 * U+FFFD, control characters are escaped). csv and tsv: each table with a header row and without
 * its notes; if there are several tables or a label, with a line "# NAME" or "# NAME LABEL" above
 * each table and a blank line between. OpenMetrics: a family of samples for each column of numbers
 * (table_openmetrics.c). */
int gt_tables_print(struct gt_table *const *tables, unsigned n, enum gt_table_format format,
	const char *label, struct gt_out *out, struct gt_err *err);
#endif
