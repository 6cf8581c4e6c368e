/* Results as tables. Cells are stored as values (table_rows.c) and converted to text when printed:
 * for people with scaled units in aligned columns (table_text.c, table_grid.c), for programs as
 * whole numbers whose unit is in the key (table_csv_json.c).
 */
#define _GNU_SOURCE /* vasprintf */
#include "formats/table/table_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/numbers.h"

struct gt_table *gt_table_new(
	const char *name, const char *title, const struct gt_column *columns, unsigned ncolumns)
{
	struct gt_table *t = calloc(1, sizeof(*t));
	struct gt_cell *row = calloc(ncolumns + 1ul, sizeof(*row));

	if (!t || !row) {
		free(t);
		free(row);
		return NULL;
	}
	*t = (struct gt_table){
		.name = name, .title = title, .columns = columns, .ncolumns = ncolumns, .row = row
	};
	return t;
}

void gt_table_skip_cells(struct gt_table *t, unsigned n) { t->skip = n; }

static void add_line(struct gt_table *t, struct gt_text_line **lines, size_t *n, size_t *cap,
	const char *fmt, va_list ap)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, ap) < 0 || gt_grow(lines, cap, *n + 1, sizeof(**lines))) {
		t->failed = true;
		free(text);
		return;
	}
	(*lines)[(*n)++] = (struct gt_text_line){ .text = text, .tone = t->tone };
}

void gt_table_set_unanswered(struct gt_table *t, const char *fmt, ...)
{
	struct gt_text_line note;
	char why[400];
	va_list ap;

	if (!t)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	gt_table_note(t, "cannot answer: %s", why);
	t->answer = GT_UNANSWERED;
	if (t->failed)
		return;
	note = t->notes[t->nnotes - 1]; /* moves before other notes */
	memmove(t->notes + t->ncannot + 1, t->notes + t->ncannot,
		(t->nnotes - 1 - t->ncannot) * sizeof(*t->notes));
	t->notes[t->ncannot++] = note;
}

void gt_table_set_found(struct gt_table *t) { t->answer = GT_FOUND; }
void gt_table_set_part(struct gt_table *t)
{
	t->answer = t->answer == GT_UNANSWERED ? GT_UNANSWERED_PART : t->answer;
}

void gt_table_share_answer(struct gt_table *t, const struct gt_table *first)
{
	for (size_t i = 0; !t->nrows && i < first->ncannot; i++)
		gt_table_note(t, "%s", first->notes[i].text);
	t->answer = first->answer;
	t->shares_answer = true;
}

enum gt_answer gt_table_answer(const struct gt_table *t) { return t->answer; }

void gt_table_note(struct gt_table *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(t, &t->notes, &t->nnotes, &t->notes_cap, fmt, ap);
	va_end(ap);
}

void gt_table_set_incomplete(struct gt_table *t) { t->incomplete = true; }

void gt_table_note_more(struct gt_table *t, size_t more, size_t enough)
{
	char top[40] = "";

	if (enough)
		snprintf(top, sizeof(top), " or --top %zu", enough);
	t->incomplete |= more > 0;
	if (more && !t->brief)
		gt_table_note(t, "%zu more row%s: --top 0%s shows %s", more, gt_plural(more, "s"),
			top, more == 1 ? "it" : "them");
}

void gt_table_note_cut(struct gt_table *t, size_t n, size_t shown)
{
	size_t more = n > shown ? n - shown : 0;

	if (n <= GT_TABLE_MOST) {
		gt_table_note_more(t, more, n);
		return;
	}
	t->incomplete |= more > 0;
	if (shown < GT_TABLE_MOST)
		gt_table_note(
			t, "%zu more rows: --top 0 shows %zu of them", more, GT_TABLE_MOST - shown);
	else if (more)
		gt_table_note(t, "%zu more row%s left out: a table holds %d at most", more,
			gt_plural(more, "s"), GT_TABLE_MOST);
}

void gt_table_add_line(struct gt_table *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(t, &t->lines, &t->nlines, &t->lines_cap, fmt, ap);
	va_end(ap);
}

void gt_table_add_paragraph(struct gt_table *t, unsigned indent, const char *fmt, ...)
{
	size_t n = t->nlines;
	va_list ap;

	va_start(ap, fmt);
	add_line(t, &t->lines, &t->nlines, &t->lines_cap, fmt, ap);
	va_end(ap);
	if (t->nlines > n) {
		t->lines[n].paragraph = true;
		t->lines[n].indent = indent;
	}
}

unsigned gt_table_rows(const struct gt_table *t) { return t->nrows; }
const char *gt_table_title(const struct gt_table *t) { return t->title; }
const char *gt_table_name(const struct gt_table *t) { return t->name; }

void gt_table_set_report(struct gt_table *t, const char *report) { t->report = report; }

const char *gt_table_report(const struct gt_table *t) { return t->report; }

void gt_table_set_prefix(struct gt_table *t, const char *prefix) { t->prefix = prefix; }

void gt_table_set_brief(struct gt_table *t) { t->brief = true; }
const char *gt_table_get_note(const struct gt_table *t, size_t i)
{
	return i < t->nnotes ? t->notes[i].text : NULL;
}

const struct gt_column *gt_table_columns(const struct gt_table *t, unsigned *n)
{
	*n = t->ncolumns;
	return t->columns;
}

int gt_table_column(const struct gt_table *t, const char *key)
{
	for (unsigned i = 0; i < t->ncolumns; i++)
		if (!strcmp(t->columns[i].key, key))
			return (int)i;
	return -1;
}

void gt_table_set_hideable(struct gt_table *t, const char *keys) { t->hideable_keys = keys; }

void gt_table_wrap_last_column(struct gt_table *t, size_t width) { t->wrap_width = width; }
void gt_table_widen_names(struct gt_table *t) { t->widen_names = true; }

void gt_table_replace_column(struct gt_table *t, const char *key, const char *other)
{
	int replaced = gt_table_column(t, key), by = gt_table_column(t, other);

	if (replaced >= 0 && by >= 0) {
		t->replaced = replaced;
		t->by = by;
	}
}
void gt_table_set_tone(struct gt_table *t, enum gt_tone tone) { t->tone = tone; }
void gt_table_set_warning(struct gt_table *t) { t->is_warning = true; }
void gt_table_as_list(struct gt_table *t) { t->list = true; }

bool gt_table_failed(const struct gt_table *t) { return t->failed; }
bool gt_table_is_left_out(const struct gt_table *t) { return t->shares_answer && !t->nrows; }

bool gt_table_is_text(const struct gt_table *t, unsigned column)
{
	return gt_is_text(&t->columns[column]);
}

int gt_table_compare(
	const struct gt_table *t, unsigned column, const struct gt_cell *a, const struct gt_cell *b)
{
	const struct gt_column *col = &t->columns[column];

	if (gt_is_text(col))
		return strcmp(a->s ? a->s : "", b->s ? b->s : "");
	if (gt_kind_of(col, a) == GT_C_REAL && gt_kind_of(col, b) == GT_C_REAL)
		return (a->d > b->d) - (a->d < b->d);
	return (a->i > b->i) - (a->i < b->i);
}

void gt_table_free(struct gt_table *t)
{
	if (!t)
		return;
	gt_table_release_rows(t);
	for (size_t i = 0; i < t->nnotes; i++)
		free(t->notes[i].text);
	for (size_t i = 0; i < t->nlines; i++)
		free(t->lines[i].text);
	free(t->lines);
	free(t->notes);
	free(t->own);
	free(t);
}

/* ---- printing ---- */

int gt_tables_print(struct gt_table *const *tables, unsigned n, enum gt_table_format format,
	const char *label, struct gt_out *out, struct gt_err *err)
{
	int rc;

	for (unsigned i = 0; i < n; i++)
		if (!tables[i] || tables[i]->failed)
			return gt_err_set(err, -ENOMEM, "out of memory while making the report");
	if (format == GT_TEXT)
		rc = gt_print_text(tables, n, out, err);
	else if (format == GT_JSON)
		rc = gt_print_json(tables, n, out, err);
	else if (format == GT_OPENMETRICS)
		rc = gt_print_openmetrics(tables, n, out, err);
	else
		rc = gt_print_separated(tables, n, label, out, format == GT_TSV, err);
	if (rc)
		return gt_err_set(err, rc, "out of memory while printing the report");
	return 0;
}
