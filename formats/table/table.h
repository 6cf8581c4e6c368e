/* A result: typed columns and rows, printed as text, csv, tsv or json. Reports fill tables and
 * never print. JSON keys are the column keys, which carry their unit (`total_ns`, `peak_bytes`,
 * `share_percent`); text headings are the column titles. A cell may be absent: text prints "not
 * recorded" or "-", csv an empty cell, json null. */
#ifndef GT_TABLE_H
#define GT_TABLE_H
#include <stdbool.h>
#include <stdint.h>
#include "formats/base/err.h"
#include "formats/io/stream_out.h"
#include "formats/table/text_style.h"

enum gt_cell_kind {
	/* a string, copied; text cuts it in the middle where the terminal is narrow */
	GT_C_TEXT,
	/* a string that is never cut: a drawing, a handle; words in a last column go on in the next
	   line */
	GT_C_WHOLE,
	GT_C_COUNT,   /* a whole number */
	GT_C_NS,      /* a duration in ns; text scales it (1.234 ms) */
	GT_C_TIME,    /* ns since the report's origin; text prints seconds with 9 decimals */
	GT_C_BYTES,   /* text scales it (1.50 MiB) */
	GT_C_PERCENT, /* hundredths of a percent as a whole number; text 12.34 */
	GT_C_REAL,    /* a double */
	GT_C_FIGURE /* any number, whose kind its cell tells: for figures of several reports in one
		     * column, with a column beside them that tells programs the unit */
};
struct gt_column {               /* static storage, borrowed */
	const char *key, *title; /* title NULL: not in text; such columns come last */
	enum gt_cell_kind kind;
};
/* s: copied on add; of an absent cell, what text says in its place. indent: spaces that text, and
 * text only, puts before it. change: text puts a + before it where it is positive. lasting: s stays
 * where it is, and as it is, for as long as its source (gt_row_source) has rows, so that it is
 * looked at only once. fixed: see gt_row_at_hand. kind: of the number in a column of GT_C_FIGURE.
 * tone: of text where it has colours. */
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
/* name is the JSON key of the table, title its heading in text (NULL: none). new. */
struct gt_table *gt_table_new(
	const char *name, const char *title, const struct gt_column *columns, unsigned ncolumns);
/* One row of ncolumns cells. Memory failure is remembered and reported by gt_tables_print. */
void gt_table_add(struct gt_table *t, const struct gt_cell *cells);
/* A line under the heading (text), a member of "notes" (json): "sampled 1 in 100". */
void gt_table_note(struct gt_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Notes how many more rows there are than the table has, if any, and which --top shows them:
 * enough, or 0 for all (0: that only). */
void gt_table_note_more(struct gt_table *t, size_t more, size_t enough);
/* Likewise, of n rows of which the table shows fewer: none holds more than GT_TABLE_MOST, so that
 * memory stays bounded. */
void gt_table_note_cut(struct gt_table *t, size_t n, size_t shown);
/* there are more, which its notes say in words of their own */
void gt_table_lacks_rows(struct gt_table *t);
#define GT_TABLE_MOST 100000
/* its notes cast doubt on figures, and are to be seen */
void gt_table_warns(struct gt_table *t);
/* Whether it answers its question, for who wants no more than that ("state" in json): it does,
 * unless it is told otherwise. gt_table_cannot also notes "cannot answer: ..."; gt_table_found is
 * for a table that looks for faults and has found one. */
enum gt_answer {
	GT_ANSWERED,
	GT_FOUND,
	GT_CANNOT,
	GT_CANNOT_PART /* it cannot, but other tables of its report answer */
};
void gt_table_cannot(struct gt_table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void gt_table_found(struct gt_table *t);
void gt_table_is_part(struct gt_table *t); /* makes GT_CANNOT_PART of GT_CANNOT */
/* Its answer is that of `first`, which stands before it and says why: where it has no rows, text
 * leaves it out. */
void gt_table_follows(struct gt_table *t, const struct gt_table *first);
enum gt_answer gt_table_answer(const struct gt_table *t);
/* What text prints in place of the rows, line by line, and in which tone from now on; the other
 * formats do not have it. */
void gt_table_tone(struct gt_table *t, enum gt_tone tone);
void gt_table_say(struct gt_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Columns that text may leave out, and says so, where the terminal is too narrow even for short
 * names: their keys, the first to go first, but those whose figures are all 0 before the others;
 * one that finds room after all comes back, the last gone first. What names a row and what rows are
 * sorted by comes last or is not in the list. Borrowed. */
void gt_table_gives_way(struct gt_table *t, const char *keys);
/* On a narrow terminal more columns give way to texts: these get two fifths of it, where that can
 * be. */
void gt_table_names_matter(struct gt_table *t);
/* Words in its last column go on in the next line where a line would be longer than `width`
 * columns, into a file, too. */
void gt_table_folds(struct gt_table *t, size_t width);
/* Text prints the cells of the column `other` in the place of those of the column `key`, under its
 * title; both are texts. The other formats have each as it is. A table without the column `key`
 * stays as it is. */
void gt_table_instead(struct gt_table *t, const char *key, const char *other);
/* A row of a source. cells: the table's, which the source fills in, or the source's own, which it
 * puts here. form: 0, or 1 to GT_ROW_FORMS, of rows whose cells are at the same place, and equal
 * where they are `fixed`: these are looked at once for all. */
struct gt_row_at_hand {
	struct gt_cell *cells;
	unsigned form;
};
#define GT_ROW_FORMS 4096
/* Rows that are too many to hold come from a source, one at a time, as they are printed: memory
 * does not grow with them. A table has either such a source or rows that were added; it is printed
 * once, and not sorted. */
struct gt_row_source {
	/* The next row: sets each of ncolumns cells. Texts in them that do not last are borrowed
	 * until the next call. 1, 0 at the end, negative; not called again after these. */
	int (*next)(void *arg, struct gt_row_at_hand *row, struct gt_err *err);
	void (*close)(void *arg); /* called once, by gt_table_free at the latest */
	void *arg;
};
/* The table takes the source over, whatever is returned: 0, or what its first row, which is asked
 * for here, failed with. What the source reads from must live until the table is freed. */
int gt_table_stream(struct gt_table *t, const struct gt_row_source *source, struct gt_err *err);
unsigned gt_table_rows(const struct gt_table *t); /* of a source: 1 if it has any, else 0 */
const char *gt_table_name(const struct gt_table *t);
/* NULL: there are no more. Borrowed */
const char *gt_table_get_note(const struct gt_table *t, size_t i);
const struct gt_column *gt_table_columns(const struct gt_table *t, unsigned *n);
int gt_table_column(const struct gt_table *t, const char *key); /* its number, or -1 */
/* Borrowed until another cell of its column is asked for; a text in it until the table changes. */
const struct gt_cell *gt_table_cell(const struct gt_table *t, unsigned row, unsigned column);
/* Sorts by column, largest first if descending; ties by the first text column. Keeps the first
 * `top` rows (0: all) and notes how many were left out. */
void gt_table_sort(struct gt_table *t, unsigned column, bool descending, unsigned top);
/* The column of this key, which must hold counts, becomes `by`, of texts: instead of i it says
 * labels[i]. Nothing happens where the table has no such column. To be done before it is printed;
 * by and labels are borrowed. */
void gt_table_relabel(struct gt_table *t, const char *key, const struct gt_column *by,
	const char *const *labels, size_t n);
/* A table of one row prints in text as "  Title: value" lines (a list), not as a grid. */
void gt_table_as_list(struct gt_table *t);
bool gt_table_failed(const struct gt_table *t); /* no memory for some of it */
bool gt_table_is_list(const struct gt_table *t);
/* by text: it has nothing to say beside the table that it follows */
bool gt_table_is_left_out(const struct gt_table *t);
/* What text says of a cell, of whichever column. new: free it. NULL: no memory. */
char *gt_table_cell_text(const struct gt_table *t, unsigned row, unsigned column);
bool gt_table_is_text(const struct gt_table *t, unsigned column); /* are its cells texts? */
/* Which of two cells of a column, both there, comes first where small ones do: negative, 0,
 * positive. */
int gt_table_compare(const struct gt_table *t, unsigned column, const struct gt_cell *a,
	const struct gt_cell *b);
void gt_table_put_title(const struct gt_table *t, size_t width, struct gt_out *out);
void gt_table_put_notes(const struct gt_table *t, size_t width, struct gt_out *out);
/* What text has above the rows: title, notes; in their place, what is said there (`said`). Lines of
 * `width` columns at most. */
void gt_table_put_head(const struct gt_table *t, bool said, size_t width, struct gt_out *out);
void gt_table_free(struct gt_table *t); /* NULL is fine */

enum gt_table_format { GT_TEXT, GT_CSV, GT_TSV, GT_JSON };
/* Prints several tables as one document: text one below the other; json one object of tables,
 * "name": {"rows": [{key: value,
 * ...}, ...], "notes": [...], "state": "answered", "found" or "cannot answer"}, and always valid
 * (bad UTF-8 becomes U+FFFD, control characters are escaped); csv and tsv each table with a header
 * row and without its notes. These two put a line "# NAME" above each table where there are several
 * or a label is given ("# NAME LABEL"), and a blank line between. Rows of a source are aligned in
 * text a thousand at a time. */
/* A number as text has it in a column of this kind (GT_C_COUNT, GT_C_NS or GT_C_BYTES): "1.234 ms".
 */
void gt_put_scaled(char *to, size_t size, enum gt_cell_kind kind, int64_t v);
struct gt_scaled {
	char text[32];
};
/* likewise, for prose: gt_scaled(GT_C_NS, ns).text */
struct gt_scaled gt_scaled(enum gt_cell_kind kind, int64_t v);
/* of the terminal that out is, in columns; SIZE_MAX: it is none */
size_t gt_tables_width(struct gt_out *out);
int gt_tables_print(struct gt_table *const *tables, unsigned n, enum gt_table_format format,
	const char *label, struct gt_out *out, struct gt_err *err);
#endif
