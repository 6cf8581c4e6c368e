#include "viewer/report/row_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "viewer/util/deadline.h"
#include "viewer/search/search_regex.h"

#define AT_ONCE 32u /* rows between two checks of the deadline */

struct gt_row_search {
	struct gt_search_regex expression;
	uint8_t **has;           /* by table and row; a table without rows has NULL */
	unsigned ntables, table; /* table, row: the next to search */
	unsigned row;
	size_t n;
};

struct gt_row_search *gt_row_search_new(const char *expression, struct gt_err *err)
{
	struct gt_row_search *f = calloc(1, sizeof(*f));

	if (f && !gt_search_regex_init(&f->expression, expression, err))
		return f;
	gt_err_set(err, -ENOMEM, "out of memory");
	free(f);
	return NULL;
}

static void drop_matches(struct gt_row_search *f)
{
	for (unsigned i = 0; f->has && i < f->ntables; i++)
		free(f->has[i]);
	free(f->has);
	f->has = NULL;
	f->ntables = f->table = f->row = 0;
	f->n = 0;
}

void gt_row_search_free(struct gt_row_search *f)
{
	if (!f)
		return;
	drop_matches(f);
	gt_search_regex_release(&f->expression);
	free(f);
}

static unsigned rows_of(const struct gt_report_page *p, unsigned table)
{
	return p->tables[table].order ? gt_table_rows(p->tables[table].table) : 0;
}

int gt_row_search_begin(struct gt_row_search *f, const struct gt_report_page *p, struct gt_err *err)
{
	drop_matches(f);
	f->has = calloc(p->ntables + 1ul, sizeof(*f->has));
	f->ntables = f->has ? p->ntables : 0;
	for (unsigned i = 0; i < f->ntables; i++)
		if (rows_of(p, i) && !(f->has[i] = calloc(rows_of(p, i), 1)))
			drop_matches(f);
	return f->has ? 0 : gt_err_set(err, -ENOMEM, "out of memory");
}

/* 1, 0 or -ENOMEM. */
static int matches(const struct gt_row_search *f, const struct gt_table *t, unsigned row)
{
	unsigned n;
	const struct gt_column *columns = gt_table_columns(t, &n);
	int found = 0;

	for (unsigned i = 0; !found && i < n; i++) {
		char *text = columns[i].title ? gt_table_cell_text(t, row, i) : NULL;

		if (columns[i].title)
			found = !text ? -ENOMEM : gt_search_regex_matches(&f->expression, text);
		free(text);
	}
	return found;
}

int gt_row_search_step(
	struct gt_row_search *f, const struct gt_report_page *p, uint64_t us, struct gt_err *err)
{
	uint64_t until = gt_deadline(us);

	for (unsigned n = 1; f->table < f->ntables; n++) {
		int found;

		if (f->row >= rows_of(p, f->table)) {
			f->table++;
			f->row = 0;
			continue;
		}
		found = matches(f, p->tables[f->table].table, f->row);
		if (found < 0)
			return gt_err_set(err, found, "out of memory");
		f->has[f->table][f->row++] = (uint8_t)found;
		f->n += (size_t)found;
		if (n % AT_ONCE == 0 && gt_is_over(until))
			return 1;
	}
	return 0;
}

bool gt_row_search_all(const struct gt_row_search *f) { return f->table >= f->ntables; }
bool gt_row_search_is_in(const struct gt_row_search *f, const char *text)
{
	return gt_search_regex_matches(&f->expression, text);
}
const char *gt_row_search_expression(const struct gt_row_search *f) { return f->expression.text; }

bool gt_row_search_has(const struct gt_row_search *f, const struct gt_report_page *p, size_t line)
{
	int64_t row = gt_report_page_row(p, line);

	return row >= 0 && p->lines[line].table < f->ntables && f->has[p->lines[line].table] &&
		f->has[p->lines[line].table][row];
}

size_t gt_row_search_next(const struct gt_row_search *f, const struct gt_report_page *p,
	size_t line, int step, bool here, bool *around)
{
	size_t at = line;

	*around = false;
	for (size_t i = !here; f->n && i <= p->nlines; i++) {
		if (i) {
			*around |= step > 0 ? at + 1 >= p->nlines : !at;
			at = step > 0 ? (at + 1 < p->nlines ? at + 1 : 0)
				: at  ? at - 1
				      : p->nlines - 1;
		}
		if (gt_row_search_has(f, p, at))
			return at;
	}
	return SIZE_MAX;
}

size_t gt_row_search_count(
	const struct gt_row_search *f, const struct gt_report_page *p, size_t line, size_t *rank)
{
	*rank = 0;
	if (gt_row_search_has(f, p, line))
		for (size_t i = 0; i <= line; i++)
			*rank += gt_row_search_has(f, p, i);
	return f->n;
}
