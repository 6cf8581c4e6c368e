#include "viewer/report/report_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/merge_sort.h"

/* ---- lines ---- */

static int add_line(
	struct gt_report_page *p, enum gt_report_page_line_kind kind, uint32_t table, size_t at)
{
	if (gt_grow(&p->lines, &p->cap, p->nlines + 1, sizeof(*p->lines)))
		return -ENOMEM;
	p->lines[p->nlines++] = (struct gt_report_page_line){ (uint8_t)kind, table, (uint32_t)at };
	return 0;
}

/* Adds printed text line by line; the first `headings` lines are the title. */
static int add_words(
	struct gt_report_page *p, uint32_t table, char *text, size_t len, size_t headings)
{
	int rc = 0;

	for (char *s = text, *end;
		!rc && s < text + len && (end = memchr(s, '\n', (size_t)(text + len - s)));
		s = end + 1) {
		rc = add_line(p, headings ? GT_LINE_HEADING : GT_LINE_WORDS, table, p->texts.len);
		headings -= headings > 0;
		gt_buf_add(&p->texts, s, (size_t)(end - s));
		gt_buf_byte(&p->texts, 0);
	}
	return rc ? rc : p->texts.failed ? -ENOMEM : 0;
}

static size_t count_lines(const char *s, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += s[i] == '\n';
	return n;
}

static int add_head(struct gt_report_page *p, uint32_t i, unsigned width)
{
	struct gt_report_page_table *t = &p->tables[i];
	struct gt_out title, all;
	int rc;

	gt_out_memory(&title);
	gt_out_memory(&all);
	gt_table_put_title(t->table, width, &title);
	gt_table_put_head(t->table, !t->order, width, &all);
	rc = title.failed || all.failed
		? -ENOMEM
		: add_words(p, i, all.data, all.len, count_lines(title.data, title.len));
	gt_out_close(&title, NULL);
	gt_out_close(&all, NULL);
	return rc;
}

static int add_rows(struct gt_report_page *p, uint32_t i)
{
	struct gt_report_page_table *t = &p->tables[i];
	unsigned n = gt_table_rows(t->table),
		 titles = t->layout ? gt_layout_title_lines(t->layout) : 0;
	int rc = 0;

	t->titles = p->nlines;
	for (unsigned k = 0; !rc && k < titles; k++)
		rc = add_line(p, GT_LINE_TITLES, i, k);
	t->rows = p->nlines;
	for (unsigned k = 0; !rc && t->order && k < n; k++)
		rc = add_line(p, GT_LINE_ROW, i, k);
	return rc;
}

static int lay_one(struct gt_report_page *p, uint32_t i, unsigned width, struct gt_err *err)
{
	struct gt_report_page_table *t = &p->tables[i];
	unsigned n = gt_table_rows(t->table);
	int rc = p->nlines ? add_line(p, GT_LINE_BLANK, i, 0) : 0;

	if (!rc && n) {
		t->layout = gt_table_layout_new(t->table, width, err);
		t->order = malloc(n * sizeof(*t->order));
		rc = !t->layout ? err->code : t->order ? 0 : -ENOMEM;
	}
	t->before = p->nrows;
	p->nrows += n;
	for (unsigned k = 0; !rc && k < n; k++)
		t->order[k] = k;
	if (!rc)
		rc = add_head(p, i, width);
	return rc ? rc : add_rows(p, i);
}

/* Adds the notes of a table, as words of the last table. */
static int add_notes(struct gt_report_page *p, const struct gt_table *about, unsigned width)
{
	struct gt_out notes;
	int rc = p->nlines && gt_table_get_note(about, 0)
		? add_line(p, GT_LINE_BLANK, p->ntables - 1, 0)
		: 0;

	gt_out_memory(&notes);
	gt_table_put_notes(about, width, &notes);
	rc = rc ? rc
		: notes.failed
		? -ENOMEM
		: add_words(p, p->ntables ? p->ntables - 1 : 0, notes.data, notes.len, 0);
	gt_out_close(&notes, NULL);
	return rc;
}

int gt_report_page_lay(struct gt_report_page *p, struct gt_table *const *tables, unsigned n,
	const struct gt_table *about, bool above, unsigned width, struct gt_err *err)
{
	int rc = 0;

	gt_report_page_release(p);
	p->tables = calloc(n + 1ul, sizeof(*p->tables));
	if (!p->tables)
		return gt_err_set(err, -ENOMEM, "out of memory");
	if (about && above)
		rc = add_notes(p, about, width);
	for (unsigned i = 0; !rc && i < n; i++) {
		if (gt_table_is_left_out(tables[i]))
			continue;
		p->tables[p->ntables] =
			(struct gt_report_page_table){ .table = tables[i], .sorted = -1 };
		rc = lay_one(p, p->ntables++, width, err);
	}
	if (!rc && about && !above)
		rc = add_notes(p, about, width);
	return rc ? gt_err_set(err, rc, "out of memory") : 0;
}

void gt_report_page_release(struct gt_report_page *p)
{
	for (unsigned i = 0; i < p->ntables; i++) {
		gt_table_layout_free(p->tables[i].layout);
		free(p->tables[i].order);
	}
	free(p->tables);
	free(p->lines);
	gt_buf_release(&p->texts);
	*p = (struct gt_report_page){ .tables = NULL };
}

/* ---- rows ---- */

int64_t gt_report_page_row(const struct gt_report_page *p, size_t line)
{
	const struct gt_report_page_line *l = line < p->nlines ? &p->lines[line] : NULL;

	return l && l->kind == GT_LINE_ROW ? (int64_t)p->tables[l->table].order[l->at] : -1;
}

size_t gt_report_page_line_of(const struct gt_report_page *p, uint32_t table, int64_t row)
{
	const struct gt_report_page_table *t = table < p->ntables ? &p->tables[table] : NULL;
	unsigned n = t && t->order ? gt_table_rows(t->table) : 0;

	for (unsigned i = 0; i < n; i++)
		if (t->order[i] == row)
			return t->rows + i;
	return t ? t->rows : 0;
}

size_t gt_report_page_next_row(const struct gt_report_page *p, size_t line, int step)
{
	/* below 0 the index wraps, which is after the end */
	for (size_t at = line + (size_t)step; at < p->nlines; at += (size_t)step)
		if (p->lines[at].kind == GT_LINE_ROW)
			return at;
	return line;
}

/* ---- search ---- */

static int matches(const void *arg, size_t item, const struct gt_search_regex *e)
{
	const struct gt_report_page_table *t = ((const struct gt_report_page *)arg)->tables;
	const struct gt_column *columns;
	unsigned n;
	int found = 0;

	while (item - t->before >= gt_table_rows(t->table))
		t++;
	columns = gt_table_columns(t->table, &n);
	for (unsigned i = 0; !found && i < n; i++) {
		char *text = columns[i].title
			? gt_table_cell_text(t->table, (unsigned)(item - t->before), i)
			: NULL;

		if (columns[i].title)
			found = !text ? -ENOMEM : gt_search_regex_matches(e, text);
		free(text);
	}
	return found;
}

static size_t item_at(const void *arg, size_t line)
{
	const struct gt_report_page *p = arg;
	int64_t row = gt_report_page_row(p, line);

	return row < 0 ? SIZE_MAX : p->tables[p->lines[line].table].before + (size_t)row;
}

struct gt_items gt_report_page_items(const struct gt_report_page *p)
{
	return (struct gt_items){ .what = "row",
		.n = p->nrows,
		.nplaces = p->nlines,
		.matches = matches,
		.item_at = item_at,
		.arg = p };
}

/* ---- sorting: a stable merge sort ---- */

struct sorting {
	const struct gt_table *t;
	unsigned column;
	bool descending;
};

static bool before(const void *arg, uint32_t a, uint32_t b)
{
	const struct sorting *s = arg;
	struct gt_cell ca = *gt_table_cell(s->t, a, s->column),
		       cb = *gt_table_cell(s->t, b, s->column);
	int order;

	if (ca.absent || cb.absent)
		return cb.absent && !ca.absent;
	order = gt_table_compare(s->t, s->column, &ca, &cb);
	return s->descending ? order > 0 : order < 0;
}

int gt_report_page_sort(struct gt_report_page *p, uint32_t table, int column, bool descending)
{
	struct gt_report_page_table *t = table < p->ntables ? &p->tables[table] : NULL;
	unsigned n = t && t->order ? gt_table_rows(t->table) : 0;
	uint32_t *spare = calloc(n + 1ul, sizeof(*spare));

	if (!spare)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++)
		t->order[i] = i;
	if (n && column >= 0)
		gt_merge_sort(t->order, spare, n, before,
			&(struct sorting){ t->table, (unsigned)column, descending });
	if (t) {
		t->sorted = column;
		t->descending = descending;
	}
	free(spare);
	return 0;
}

/* ---- the rest of a row ---- */

/* Is the text completely visible in its column? */
static bool is_seen(const struct gt_report_page_table *t, unsigned column, uint32_t row,
	unsigned width, const char *text)
{
	unsigned n;
	const struct gt_layout_column *shown = gt_layout_columns(t->layout, &n);

	for (unsigned i = 0; i < n; i++)
		if (shown[i].column == column)
			return shown[i].at + shown[i].width <= width &&
				!strcmp(gt_layout_cell(t->layout, row, i).text, text);
	return false;
}

void gt_report_page_rest(const struct gt_report_page *p, uint32_t table, uint32_t row,
	unsigned width, struct gt_buf *to)
{
	const struct gt_report_page_table *t = &p->tables[table];
	unsigned n, said = 0;
	const struct gt_column *columns = gt_table_columns(t->table, &n);

	for (unsigned i = 0; i < n; i++) {
		char *text = gt_table_cell_text(t->table, row, i);
		bool words = gt_table_is_text(t->table, i);

		/* columns without a title are for programs, as are keys */
		if (text && *text &&
			(columns[i].title || (words && strcmp(columns[i].key, "key"))) &&
			!is_seen(t, i, row, width, text))
			gt_buf_printf(to, "%s%s: %s", said++ ? "; " : "",
				columns[i].title ? columns[i].title : columns[i].key, text);
		to->failed |= !text;
		free(text);
	}
	gt_buf_byte(to, 0);
}
