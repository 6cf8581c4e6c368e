/* Tables as programs read them, csv, tsv and json: every row whole, numbers in whole ns and bytes. */
#include "formats/table_inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_whole(const struct gt_column *col)
{
	return col->kind == GT_C_COUNT || col->kind == GT_C_NS || col->kind == GT_C_TIME || col->kind == GT_C_BYTES;
}

/* The number as it is: ns, bytes, hundredths as a decimal. Absent and infinite cells are `none`. */
static void put_number(struct gt_out *out, const struct gt_column *col, const struct gt_cell *c, const char *none)
{
	enum gt_cell_kind kind = gt_kind_of(col, c);

	if (kind == GT_C_REAL && !isfinite(c->d))
		gt_out_str(out, none);
	else if (kind == GT_C_REAL)
		gt_out_printf(out, "%.15g", c->d);
	else if (kind == GT_C_PERCENT)
		gt_out_printf(out, "%s%" PRId64 ".%02d", c->i < 0 && c->i > -100 ? "-" : "", c->i / 100, abs((int)(c->i % 100)));
	else
		gt_out_used(out, gt_put_i64(gt_out_room(out, 32), c->i));
}

/* RFC 4180: quoted when it must be, quotes doubled; and never like a line that introduces a table. */
static void put_csv(struct gt_out *out, const char *s)
{
	static const bool special[256] = { [0] = true, [','] = true, ['"'] = true, ['\r'] = true, ['\n'] = true };
	size_t n = 0;

	while (!special[(unsigned char)s[n]])
		n++;
	if (!s[n] && *s != ' ' && *s != '#') {
		gt_out_add(out, s, n);
		return;
	}
	gt_out_add(out, "\"", 1);
	for (const char *quote; (quote = strchr(s, '"')); s = quote + 1) {
		gt_out_add(out, s, (size_t)(quote - s));
		gt_out_add(out, "\"\"", 2);
	}
	gt_out_str(out, s);
	gt_out_add(out, "\"", 1);
}

static void put_tsv(struct gt_out *out, const char *s)
{
	static const char plain[] = "\t\n\r\\", letter[] = "tnr\\";

	for (; *s; s++) {
		const char *at = strchr(plain, *s);

		if (at)
			gt_out_printf(out, "\\%c", letter[at - plain]);
		else
			gt_out_add(out, s, 1);
	}
}

static void separated_titles(struct gt_out *out, const struct gt_table *t, bool tabs)
{
	for (unsigned i = 0; i < t->ncolumns; i++) {
		gt_out_str(out, !i ? "" : tabs ? "\t" : ",");
		(tabs ? put_tsv : put_csv)(out, t->columns[i].key);
	}
	gt_out_str(out, tabs ? "\n" : "\r\n");
}

/* Lists have millions of rows: most cells are whole numbers, and many of those a digit. */
static void separated_row(struct gt_out *out, const struct gt_table *t, const struct gt_cell *cells, bool tabs)
{
	for (unsigned i = 0; i < t->ncolumns; i++) {
		const struct gt_column *col = &t->columns[i];
		const struct gt_cell *c = &cells[i];
		char *p = gt_out_room(out, 40);

		if (i)
			*p++ = tabs ? '\t' : ',';
		if (!c->absent && is_whole(col))
			p = (uint64_t)c->i < 10 ? (*p = (char)('0' + c->i), p + 1) : gt_put_i64(p, c->i);
		gt_out_used(out, p);
		if (c->absent || is_whole(col))
			continue;
		if (!gt_is_text(col))
			put_number(out, col, c, "");
		else if (c->s)
			(tabs ? put_tsv : put_csv)(out, c->s);
	}
	gt_out_add(out, tabs ? "\n" : "\r\n", tabs ? 1 : 2);
}

static int separated_table(struct gt_out *out, struct gt_table *t, bool tabs, struct gt_err *err)
{
	const struct gt_cell *cells;
	int more = 0;

	separated_titles(out, t, tabs);
	for (unsigned row = 0; row < t->nrows; row++)
		separated_row(out, t, gt_row_of(t, row), tabs);
	while (!out->failed && (more = gt_table_pull(t, &cells, err)) > 0)
		separated_row(out, t, cells, tabs);
	return more < 0 ? more : 0;
}

int gt_print_separated(struct gt_table *const *tables, unsigned n, const char *label, struct gt_out *out, bool tabs,
			   struct gt_err *err)
{
	const char *eol = tabs ? "\n" : "\r\n";
	char *name = label ? gt_printable(label, 0) : NULL;
	int rc = 0;

	for (unsigned k = 0; !rc && k < n; k++) {
		gt_out_str(out, k ? eol : "");
		if (n > 1 || label)
			gt_out_printf(out, "# %s%s%s%s", tables[k]->name, name ? " " : "", name ? name : "", eol);
		rc = separated_table(out, tables[k], tabs, err);
	}
	free(name);
	return rc;
}

static void json_row(struct gt_out *out, const struct gt_table *t, const struct gt_cell *cells)
{
	for (unsigned i = 0; i < t->ncolumns; i++) {
		gt_out_str(out, i ? ", " : "{");
		gt_out_json(out, t->columns[i].key, strlen(t->columns[i].key));
		gt_out_str(out, ": ");
		if (cells[i].absent)
			gt_out_str(out, "null");
		else if (gt_is_text(&t->columns[i]))
			gt_out_json(out, cells[i].s ? cells[i].s : "", cells[i].s ? strlen(cells[i].s) : 0);
		else
			put_number(out, &t->columns[i], &cells[i], "null");
	}
	gt_out_str(out, "}");
}

static int json_rows(struct gt_out *out, struct gt_table *t, struct gt_err *err)
{
	const struct gt_cell *cells;
	int more = 0;

	for (unsigned i = 0; i < t->nrows; i++) {
		gt_out_str(out, i ? ",\n      " : "\n      ");
		json_row(out, t, gt_row_of(t, i));
	}
	while (!out->failed && (more = gt_table_pull(t, &cells, err)) > 0) {	/* behind the first, which is held */
		gt_out_str(out, ",\n      ");
		json_row(out, t, cells);
	}
	return more < 0 ? more : 0;
}

static int json_table(struct gt_out *out, struct gt_table *t, struct gt_err *err)
{
	static const char *const states[] = { [GT_ANSWERED] = "answered", [GT_FOUND] = "found", [GT_CANNOT] = "cannot answer",
					      [GT_CANNOT_PART] = "cannot answer" };
	int rc;

	gt_out_str(out, "  ");
	gt_out_json(out, t->name, strlen(t->name));
	gt_out_str(out, ": {\n    \"rows\": [");
	rc = json_rows(out, t, err);
	gt_out_str(out, t->nrows ? "\n    ],\n    \"notes\": [" : "],\n    \"notes\": [");
	for (size_t i = 0; i < t->nnotes; i++) {
		gt_out_str(out, i ? ", " : "");
		gt_out_json(out, t->notes[i].text, strlen(t->notes[i].text));
	}
	gt_out_printf(out, "],\n    \"state\": \"%s\"\n  }", states[t->answer]);
	return rc;
}

int gt_print_json(struct gt_table *const *tables, unsigned n, struct gt_out *out, struct gt_err *err)
{
	int rc = 0;

	gt_out_str(out, "{\n");
	for (unsigned i = 0; !rc && i < n; i++) {
		gt_out_str(out, i ? ",\n" : "");
		rc = json_table(out, tables[i], err);
	}
	gt_out_str(out, "\n}\n");
	return rc;
}
