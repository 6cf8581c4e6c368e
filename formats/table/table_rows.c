/* The rows of a table: stored, pulled from a source, sorted.
 *
 * A report may have a hundred thousand rows of twenty cells. So cells are stored packed: a number
 * or a pointer and attributes, 16 bytes. Texts are in chunks, and a cell shares the text of the
 * cell above if they are equal (the process, the device). gt_table_cell unpacks a cell into a row
 * that the table has for that.
 */
#include "formats/table/table_internal.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/merge_sort.h"

#define CHUNK_LEAST 512u
#define CHUNK_MOST (64u << 10)

struct gt_stored_cell {
	union {
		int64_t i;
		double d;
		const char *s;
	}; /* s: of texts and of absent cells */
	uint16_t indent;
	uint8_t kind, tone;
	bool absent, change;
};
_Static_assert(sizeof(struct gt_stored_cell) <= 16, "a table has many cells");
struct gt_table_texts {
	struct gt_table_texts *next;
	size_t len, cap;
	char bytes[];
};

static struct gt_stored_cell *stored_row(const struct gt_table *t, unsigned row)
{
	return t->cells + (size_t)row * t->ncolumns;
}

/* ---- texts ---- */

static struct gt_table_texts *new_chunk(struct gt_table *t, size_t least)
{
	size_t cap = t->texts ? t->texts->cap * 2 : CHUNK_LEAST;
	struct gt_table_texts *c;

	cap = cap < CHUNK_MOST ? cap : CHUNK_MOST;
	cap = cap > least ? cap : least;
	if (!(c = malloc(sizeof(*c) + cap)))
		return NULL;
	c->next = t->texts;
	c->len = 0;
	c->cap = cap;
	return t->texts = c;
}

/* A copy that is valid as long as the rows. last: the text of the cell above, or NULL. */
static const char *store_text(struct gt_table *t, const char *s, const char *last)
{
	struct gt_table_texts *c = t->texts;
	size_t n;

	if (last && !strcmp(last, s))
		return last;
	n = strlen(s) + 1;
	if ((!c || c->cap - c->len < n) && !(c = new_chunk(t, n))) {
		t->failed = true;
		return NULL;
	}
	memcpy(c->bytes + c->len, s, n);
	c->len += n;
	return c->bytes + c->len - n;
}

static void free_texts(struct gt_table *t)
{
	while (t->texts) {
		struct gt_table_texts *next = t->texts->next;

		free(t->texts);
		t->texts = next;
	}
}

/* ---- cells ---- */

static bool has_text(const struct gt_column *col, bool absent) { return absent || gt_is_text(col); }

static struct gt_stored_cell pack(struct gt_table *t, const struct gt_column *col,
	const struct gt_cell *c, const struct gt_stored_cell *above)
{
	struct gt_stored_cell to = { .indent = c->indent < UINT16_MAX ? (uint16_t)c->indent
								      : UINT16_MAX,
		.kind = (uint8_t)c->kind,
		.tone = (uint8_t)c->tone,
		.absent = c->absent,
		.change = c->change };
	const char *s = c->s || c->absent ? c->s : "";

	if (has_text(col, c->absent))
		to.s = s ? store_text(t, s, above && has_text(col, above->absent) ? above->s : NULL)
			 : NULL;
	else if (gt_kind_of(col, c) == GT_C_REAL)
		to.d = c->d;
	else
		to.i = c->i;
	return to;
}

const struct gt_cell *gt_table_cell(const struct gt_table *t, unsigned row, unsigned column)
{
	const struct gt_stored_cell *from = &stored_row(t, row)[column];
	const struct gt_column *col = &t->columns[column];
	struct gt_cell *to = &t->row[column];

	*to = (struct gt_cell){ .absent = from->absent,
		.change = from->change,
		.kind = from->kind,
		.tone = from->tone,
		.indent = from->indent,
		.lasting = true };
	if (has_text(col, from->absent))
		to->s = from->s;
	else if (gt_kind_of(col, to) == GT_C_REAL)
		to->d = from->d;
	else
		to->i = from->i;
	return to;
}

const struct gt_cell *gt_row_of(const struct gt_table *t, unsigned row)
{
	for (unsigned i = 0; i < t->ncolumns; i++)
		gt_table_cell(t, row, i);
	return t->row;
}

void gt_table_add(struct gt_table *t, const struct gt_cell *cells)
{
	const struct gt_stored_cell *above;
	struct gt_stored_cell *to;

	if (!t || t->failed ||
		gt_grow(&t->cells, &t->cap, ((size_t)t->nrows + 1) * t->ncolumns,
			sizeof(*t->cells))) {
		if (t)
			t->failed = true;
		return;
	}
	above = t->nrows ? stored_row(t, t->nrows - 1) : NULL;
	to = stored_row(t, t->nrows++);
	for (unsigned i = 0; i < t->ncolumns; i++)
		to[i] = pack(t, &t->columns[i], &cells[t->skip + i], above ? &above[i] : NULL);
}

static void cut_rows(struct gt_table *t, unsigned n)
{
	t->nrows = n < t->nrows ? n : t->nrows;
	if (!t->nrows)
		free_texts(t);
}

/* ---- numbers replaced by labels ---- */

static const char *label_of(const struct gt_table *t, int64_t i)
{
	return i >= 0 && (size_t)i < t->nlabels ? t->labels[i] : "?";
}

void gt_table_relabel(struct gt_table *t, const char *key, const struct gt_column *by,
	const char *const *labels, size_t n)
{
	int column = t ? gt_table_column(t, key) : -1;

	if (column < 0 || t->own)
		return;
	t->own = malloc(t->ncolumns * sizeof(*t->own));
	if (!t->own) {
		t->failed = true;
		return;
	}
	memcpy(t->own, t->columns, t->ncolumns * sizeof(*t->own));
	t->own[column] = *by;
	t->columns = t->own;
	t->labelled = (unsigned)column;
	t->labels = labels;
	t->nlabels = n;
	for (unsigned row = 0; row < t->nrows; row++) {
		struct gt_stored_cell *c = &stored_row(t, row)[column];

		if (!c->absent)
			c->s = label_of(t, c->i);
	}
}

/* ---- rows from a source ---- */

static void close_source(struct gt_table *t)
{
	if (t->source.next && t->source.close)
		t->source.close(t->source.arg);
	t->source = (struct gt_row_source){ .next = NULL };
	free(t->pulled);
	t->pulled = NULL;
}

void gt_table_release_rows(struct gt_table *t)
{
	close_source(t);
	cut_rows(t, 0);
	free(t->cells);
	free(t->row);
}

int gt_table_pull(struct gt_table *t, struct gt_row_at_hand *row, struct gt_err *err)
{
	struct gt_cell *labelled;
	int more;

	if (!t->source.next)
		return 0;
	*row = (struct gt_row_at_hand){ .cells = t->pulled };
	more = t->source.next(t->source.arg, row, err);
	labelled = more > 0 && t->own ? &row->cells[t->labelled] : NULL;
	if (labelled && !labelled->absent) {
		labelled->s = label_of(t, labelled->i);
		labelled->lasting = true;
	}
	if (more <= 0)
		close_source(t);
	return more;
}

int gt_table_store_rows(struct gt_table *t, unsigned n, struct gt_err *err)
{
	struct gt_row_at_hand row;
	int more = 0;

	while (t->nrows < n && !t->failed && (more = gt_table_pull(t, &row, err)) > 0)
		gt_table_add(t, row.cells);
	return more < 0 ? more : t->failed ? gt_err_set(err, -ENOMEM, "out of memory (table)") : 0;
}

int gt_table_stream(struct gt_table *t, const struct gt_row_source *source, struct gt_err *err)
{
	t->source = *source;
	t->pulled = calloc(t->ncolumns, sizeof(*t->pulled));
	return t->pulled ? gt_table_store_rows(t, 1, err)
			 : gt_err_set(err, -ENOMEM, "out of memory (table)");
}

/* ---- sorting ---- */

struct sorting {
	const struct gt_table *t;
	unsigned column, text;
};

static int compare_cells(
	enum gt_cell_kind kind, const struct gt_stored_cell *a, const struct gt_stored_cell *b)
{
	if (kind <= GT_C_DATA)
		return strcmp(a->s ? a->s : "", b->s ? b->s : "");
	if (kind == GT_C_REAL)
		return (a->d > b->d) - (a->d < b->d);
	return (a->i > b->i) - (a->i < b->i);
}

static int compare_rows(const struct sorting *s, unsigned x, unsigned y)
{
	const struct gt_stored_cell *a = stored_row(s->t, x), *b = stored_row(s->t, y);
	const struct gt_stored_cell *ca = &a[s->column], *cb = &b[s->column];
	int order;

	if (ca->absent != cb->absent)
		return ca->absent ? 1 : -1;
	order = ca->absent ? 0 : compare_cells(s->t->columns[s->column].kind, cb, ca);
	if (!order && s->text < s->t->ncolumns)
		order = compare_cells(GT_C_TEXT, &a[s->text], &b[s->text]);
	return order;
}

static bool before(const void *arg, uint32_t a, uint32_t b) { return compare_rows(arg, a, b) < 0; }

/* Row i becomes what row rows[i] was. Follows each cycle of this permutation. */
static int put_in_order(struct gt_table *t, uint32_t *rows)
{
	size_t bytes = t->ncolumns * sizeof(*t->cells);
	struct gt_stored_cell *first = malloc(bytes + 1);

	for (unsigned i = 0; first && i < t->nrows; i++) {
		unsigned at = i;

		if (rows[i] == i)
			continue;
		memcpy(first, stored_row(t, i), bytes);
		for (unsigned next; (next = rows[at]) != i; at = next) {
			memcpy(stored_row(t, at), stored_row(t, next), bytes);
			rows[at] = at;
		}
		memcpy(stored_row(t, at), first, bytes);
		rows[at] = at;
	}
	free(first);
	return first ? 0 : -ENOMEM;
}

void gt_table_sort(struct gt_table *t, const char *key, unsigned top)
{
	struct sorting s = { t, (unsigned)gt_table_column(t, key), 0 };
	uint32_t *rows = calloc((size_t)t->nrows * 2 + 1, sizeof(*rows));

	while (s.text < t->ncolumns && !gt_is_text(&t->columns[s.text]))
		s.text++;
	for (unsigned i = 0; rows && i < t->nrows; i++)
		rows[i] = i;
	if (rows)
		gt_merge_sort(rows, rows + t->nrows, t->nrows, before, &s);
	if (!rows || put_in_order(t, rows))
		t->failed = true;
	free(rows);
	if (!top || t->nrows <= top)
		return;
	gt_table_note_more(t, t->nrows - top, t->nrows);
	cut_rows(t, top);
}
