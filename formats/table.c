/* Results as tables. Cells are kept as values and become text when printed, each format in its own way: people get scaled
 * units in aligned columns, programs get whole numbers whose unit stands in the key.
 *
 * Text fits the terminal where there is one (COLUMNS, or the window's width): the first text column gives way, down to a few
 * characters, and what still does not fit runs over, for a clipped number would be a wrong one. Into a file nothing is
 * clipped. No line ends in spaces.
 */
#define _GNU_SOURCE	/* vasprintf */
#include "formats/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "formats/base/buf.h"

#define TEXT_WIDTH_MIN 12u	/* a text column is not squeezed below this */
#define GAP 2u

struct gt_table {
	const char *name, *title;
	const struct gt_column *columns;
	unsigned ncolumns, nrows;
	struct gt_cell *cells;
	size_t cap;
	char **notes, **lines;
	size_t nnotes, notes_cap, nlines, lines_cap;
	bool list, failed;
};

struct gt_table *gt_table_new(const char *name, const char *title, const struct gt_column *columns, unsigned ncolumns)
{
	struct gt_table *t = calloc(1, sizeof(*t));

	if (t)
		*t = (struct gt_table){ .name = name, .title = title, .columns = columns, .ncolumns = ncolumns };
	return t;
}

static struct gt_cell *row_of(const struct gt_table *t, unsigned row) { return t->cells + (size_t)row * t->ncolumns; }

void gt_table_add(struct gt_table *t, const struct gt_cell *cells)
{
	struct gt_cell *to;

	if (!t || t->failed || gt_grow(&t->cells, &t->cap, ((size_t)t->nrows + 1) * t->ncolumns, sizeof(*t->cells))) {
		if (t)
			t->failed = true;
		return;
	}
	to = row_of(t, t->nrows++);
	for (unsigned i = 0; i < t->ncolumns; i++) {
		to[i] = cells[i];
		to[i].s = NULL;
		if (t->columns[i].kind != GT_C_TEXT || cells[i].absent)
			continue;
		to[i].s = strdup(cells[i].s ? cells[i].s : "");
		t->failed |= !to[i].s;
	}
}

static void keep_line(struct gt_table *t, char ***lines, size_t *n, size_t *cap, const char *fmt, va_list ap)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, ap) < 0 || gt_grow(lines, cap, *n + 1, sizeof(**lines))) {
		t->failed = true;
		free(text);
		return;
	}
	(*lines)[(*n)++] = text;
}

void gt_table_note(struct gt_table *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	keep_line(t, &t->notes, &t->nnotes, &t->notes_cap, fmt, ap);
	va_end(ap);
}

void gt_table_say(struct gt_table *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	keep_line(t, &t->lines, &t->nlines, &t->lines_cap, fmt, ap);
	va_end(ap);
}

unsigned gt_table_rows(const struct gt_table *t) { return t->nrows; }
void gt_table_as_list(struct gt_table *t) { t->list = true; }

static void free_rows(struct gt_table *t, unsigned from)
{
	for (size_t i = (size_t)from * t->ncolumns; i < (size_t)t->nrows * t->ncolumns; i++)
		free((char *)t->cells[i].s);
	t->nrows = from < t->nrows ? from : t->nrows;
}

void gt_table_free(struct gt_table *t)
{
	if (!t)
		return;
	free_rows(t, 0);
	for (size_t i = 0; i < t->nnotes; i++)
		free(t->notes[i]);
	for (size_t i = 0; i < t->nlines; i++)
		free(t->lines[i]);
	free(t->lines);
	free(t->notes);
	free(t->cells);
	free(t);
}

/* ---- sorting: a merge sort over row numbers, so that equal rows keep their order ---- */

struct sorting { const struct gt_table *t; unsigned column, text; bool descending; };

static int compare_cells(enum gt_cell_kind kind, const struct gt_cell *a, const struct gt_cell *b)
{
	if (kind == GT_C_TEXT)
		return strcmp(a->s ? a->s : "", b->s ? b->s : "");
	if (kind == GT_C_REAL)
		return (a->d > b->d) - (a->d < b->d);
	return (a->i > b->i) - (a->i < b->i);
}

static int compare_rows(const struct sorting *s, unsigned x, unsigned y)
{
	const struct gt_cell *a = row_of(s->t, x), *b = row_of(s->t, y);
	const struct gt_cell *ca = &a[s->column], *cb = &b[s->column];
	int order;

	if (ca->absent != cb->absent)
		return ca->absent ? 1 : -1;	/* what is not known comes last, whichever way */
	order = ca->absent ? 0 : compare_cells(s->t->columns[s->column].kind, ca, cb);
	if (s->descending)
		order = -order;
	if (!order && s->text < s->t->ncolumns)
		order = compare_cells(GT_C_TEXT, &a[s->text], &b[s->text]);
	return order;
}

static void merge_sort(const struct sorting *s, unsigned *rows, unsigned *spare, unsigned n)
{
	unsigned half = n / 2, i = 0, j = half;

	if (n < 2)
		return;
	merge_sort(s, rows, spare, half);
	merge_sort(s, rows + half, spare, n - half);
	for (unsigned k = 0; k < n; k++)
		spare[k] = j >= n || (i < half && compare_rows(s, rows[i], rows[j]) <= 0) ? rows[i++] : rows[j++];
	memcpy(rows, spare, n * sizeof(*rows));
}

static int put_in_order(struct gt_table *t, const unsigned *rows)
{
	struct gt_cell *cells = malloc(((size_t)t->nrows * t->ncolumns + 1) * sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	for (unsigned i = 0; i < t->nrows; i++)
		memcpy(cells + (size_t)i * t->ncolumns, row_of(t, rows[i]), t->ncolumns * sizeof(*cells));
	free(t->cells);
	t->cells = cells;
	t->cap = (size_t)t->nrows * t->ncolumns;
	return 0;
}

void gt_table_sort(struct gt_table *t, unsigned column, bool descending, unsigned top)
{
	struct sorting s = { t, column, 0, descending };
	unsigned *rows = calloc((size_t)t->nrows * 2 + 1, sizeof(*rows)), dropped;

	while (s.text < t->ncolumns && t->columns[s.text].kind != GT_C_TEXT)
		s.text++;
	for (unsigned i = 0; rows && i < t->nrows; i++)
		rows[i] = i;
	if (rows)
		merge_sort(&s, rows, rows + t->nrows, t->nrows);
	if (!rows || put_in_order(t, rows))
		t->failed = true;
	free(rows);
	if (!top || t->nrows <= top)
		return;
	dropped = t->nrows - top;
	free_rows(t, top);
	gt_table_note(t, "%u more row%s below --top %u left out", dropped, dropped == 1 ? "" : "s", top);
}

/* ---- cells as text ---- */

/* Four significant digits: 1.234, 12.34, 123.4; but never four digits of fraction for whole things. */
static int put_scaled(char *to, size_t size, double v, const char *unit)
{
	double a = fabs(v);
	int decimals = a < 9.9995 ? 3 : a < 99.995 ? 2 : a < 999.95 ? 1 : 0;

	return snprintf(to, size, "%.*f %s", decimals, v, unit);
}

struct scale { double from, by; const char *unit; };

static void put_unit(char *to, size_t size, int64_t v, const struct scale *scales, const char *plain)
{
	double a = fabs((double)v);

	for (; scales->unit; scales++)
		if (a >= scales->from) {
			put_scaled(to, size, (double)v / scales->by, scales->unit);
			return;
		}
	snprintf(to, size, "%" PRId64 " %s", v, plain);
}

/* A unit begins where rounding to four digits would reach it, so that 999.96 us is 1.000 ms and never "1000 us". */
static const struct scale times[] = { { 999950000.0, 1e9, "s" }, { 999950.0, 1e6, "ms" }, { 1e3, 1e3, "us" }, { 0, 0, NULL } };
static const struct scale sizes[] = {{0x1p50, 0x1p50, "PiB"}, {0x1p40, 0x1p40, "TiB"}, {0x1p30, 0x1p30, "GiB"},
				     {0x1p20, 0x1p20, "MiB"}, {0x1p10, 0x1p10, "KiB"}, {0, 0, NULL}};

/* After `indent` spaces. Control characters would break lines or speak to the terminal. */
static char *printable(const char *s, unsigned indent)
{
	size_t n = strlen(s) + 1;
	char *copy = malloc(indent + n);

	if (!copy)
		return NULL;
	memset(copy, ' ', indent);
	memcpy(copy + indent, s, n);
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	return copy;
}

/* The cell as people read it: new. NULL: no memory. */
static char *cell_text(const struct gt_column *col, const struct gt_cell *c, const char *absent)
{
	char text[64], *end = text;

	if (c->absent)
		return strdup(absent);
	switch (col->kind) {
	case GT_C_TEXT:
		return printable(c->s ? c->s : "", c->indent);
	case GT_C_COUNT:
		end = gt_put_i64(text, c->i);
		break;
	case GT_C_NS:
		put_unit(text, sizeof(text), c->i, times, "ns");
		return strdup(text);
	case GT_C_TIME:
		end = gt_put_s(text, c->i);
		break;
	case GT_C_BYTES:
		put_unit(text, sizeof(text), c->i, sizes, "B");
		return strdup(text);
	case GT_C_PERCENT:
		snprintf(text, sizeof(text), "%s%" PRId64 ".%02d", c->i < 0 && c->i > -100 ? "-" : "", c->i / 100,
			 abs((int)(c->i % 100)));
		return strdup(text);
	case GT_C_REAL:
		if (isfinite(c->d))
			snprintf(text, sizeof(text), "%.6g", c->d);
		else
			strcpy(text, "-");
		return strdup(text);
	}
	*end = '\0';
	return strdup(text);
}

/* Columns a string takes: characters, not bytes. Wide ones are taken for one. */
static size_t width_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* ---- text ---- */

static size_t terminal_width(struct gt_out *out)
{
	int fd = out->sink ? gt_out_fd(out) : -1;
	const char *columns = getenv("COLUMNS");
	struct winsize ws;
	long n;

	if (fd < 0 || !isatty(fd))
		return SIZE_MAX;
	n = columns ? strtol(columns, NULL, 10) : 0;
	if (n <= 0 && !ioctl(fd, TIOCGWINSZ, &ws))
		n = ws.ws_col;
	return n > 0 ? (size_t)n : 80;
}

static void spaces(struct gt_out *out, size_t n)
{
	while (n--)
		gt_out_str(out, " ");
}

/* At most `width` characters, with ".." for the rest. */
static size_t put_clipped(struct gt_out *out, const char *s, size_t width)
{
	size_t n = 0, len = strlen(s);

	if (width_of(s) <= width) {
		gt_out_str(out, s);
		return width_of(s);
	}
	for (len = 0; s[len]; len++) {
		if (((unsigned char)s[len] & 0xc0) != 0x80 && n++ == width - 2)
			break;
	}
	gt_out_add(out, s, len);
	gt_out_str(out, "..");
	return width;
}

struct grid { const struct gt_table *t; unsigned ncolumns; char **texts; size_t *widths; size_t indent; };

/* The first text column gives way when the line is too long. */
static void squeeze(struct grid *g, size_t limit)
{
	size_t total = g->indent;
	unsigned first = g->ncolumns;

	for (unsigned i = 0; i < g->ncolumns; i++) {
		total += g->widths[i] + (i ? GAP : 0);
		if (first == g->ncolumns && g->t->columns[i].kind == GT_C_TEXT)
			first = i;
	}
	if (total <= limit || first == g->ncolumns)
		return;
	g->widths[first] = g->widths[first] > total - limit + TEXT_WIDTH_MIN ? g->widths[first] - (total - limit) :
			   g->widths[first] < TEXT_WIDTH_MIN ? g->widths[first] : TEXT_WIDTH_MIN;
}

static void print_line(struct gt_out *out, const struct grid *g, char *const *texts)
{
	size_t owed = g->indent;	/* spaces to come, should anything follow them */

	for (unsigned i = 0; i < g->ncolumns; i++) {
		bool left = g->t->columns[i].kind == GT_C_TEXT;
		size_t w = width_of(texts[i]), shown = w < g->widths[i] || !left ? w : g->widths[i];

		owed += i ? GAP : 0;
		if (!left && g->widths[i] > w)
			owed += g->widths[i] - w;
		if (shown) {
			spaces(out, owed);
			owed = 0;
			put_clipped(out, texts[i], left ? g->widths[i] : SIZE_MAX);
		}
		if (left)
			owed += g->widths[i] - shown;
	}
	gt_out_str(out, "\n");
}

/* Text leaves out the columns at the end that have no title. */
static unsigned text_columns(const struct gt_table *t)
{
	unsigned n = t->ncolumns;

	while (n && !t->columns[n - 1].title)
		n--;
	return n;
}

static int print_grid(struct gt_out *out, const struct gt_table *t, size_t limit)
{
	unsigned n = text_columns(t);
	size_t ncells = ((size_t)t->nrows + 1) * n;
	struct grid g = { t, n, calloc(ncells + 1, sizeof(char *)), calloc(n + 1, sizeof(size_t)), 2 };
	int rc = g.texts && g.widths ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < ncells; i++) {
		const struct gt_column *col = &t->columns[i % n];

		g.texts[i] = i < n ? strdup(col->title) : cell_text(col, &row_of(t, (unsigned)(i / n) - 1)[i % n], "-");
		if (!g.texts[i])
			rc = -ENOMEM;
		else if (width_of(g.texts[i]) > g.widths[i % n])
			g.widths[i % n] = width_of(g.texts[i]);
	}
	if (!rc) {
		squeeze(&g, limit);
		for (size_t row = 0; row <= t->nrows; row++)
			print_line(out, &g, g.texts + row * n);
	}
	for (size_t i = 0; g.texts && i < ncells; i++)
		free(g.texts[i]);
	free(g.texts);
	free(g.widths);
	return rc;
}

/* A list has room for the exact figure: "524288000 bytes (500.00 MiB)", "15.234 ms". */
static char *list_text(const struct gt_column *col, const struct gt_cell *c)
{
	char text[96];

	if (c->absent || (col->kind != GT_C_BYTES && col->kind != GT_C_NS))
		return cell_text(col, c, "not recorded");
	if (col->kind == GT_C_BYTES)
		snprintf(text, sizeof(text), "%" PRId64 " bytes (%.2f MiB)", c->i, (double)c->i / 0x1p20);
	else
		snprintf(text, sizeof(text), "%.3f ms", (double)c->i / 1e6);
	return strdup(text);
}

static int print_list(struct gt_out *out, const struct gt_table *t)
{
	for (unsigned row = 0; row < t->nrows; row++)
		for (unsigned i = 0; i < text_columns(t); i++) {
			const struct gt_cell *c = &row_of(t, row)[i];
			char *text = list_text(&t->columns[i], c);

			if (!text)
				return -ENOMEM;
			gt_out_printf(out, "  %s:", t->columns[i].title);
			if (*text)
				gt_out_printf(out, " %s", text);
			if (!c->absent && t->columns[i].kind == GT_C_PERCENT)
				gt_out_str(out, " %");
			gt_out_str(out, "\n");
			free(text);
		}
	return 0;
}

static void print_lines(struct gt_out *out, const char *fmt, char *const *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *line = printable(lines[i], 0);

		gt_out_printf(out, fmt, line ? line : "");
		free(line);
	}
}

static int print_text(struct gt_table *const *tables, unsigned n, struct gt_out *out)
{
	size_t limit = terminal_width(out);
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++) {
		const struct gt_table *t = tables[i];

		if (i)
			gt_out_str(out, "\n");
		if (t->title)
			gt_out_printf(out, "%s\n", t->title);
		print_lines(out, "%s\n", t->lines, t->nlines);
		print_lines(out, "  (%s)\n", t->notes, t->nnotes);
		if (t->nlines)
			continue;
		if (!t->nrows)
			gt_out_str(out, "  none\n");
		else
			rc = t->list ? print_list(out, t) : print_grid(out, t, limit);
	}
	return rc;
}

/* ---- for programs ---- */

/* The number as it is: ns, bytes, hundredths as a decimal. Absent and infinite cells are `none`. */
static void put_number(struct gt_out *out, const struct gt_column *col, const struct gt_cell *c, const char *none)
{
	char text[64];

	if (col->kind == GT_C_REAL && !isfinite(c->d))
		gt_out_str(out, none);
	else if (col->kind == GT_C_REAL)
		gt_out_printf(out, "%.15g", c->d);
	else if (col->kind == GT_C_PERCENT)
		gt_out_printf(out, "%s%" PRId64 ".%02d", c->i < 0 && c->i > -100 ? "-" : "", c->i / 100, abs((int)(c->i % 100)));
	else
		gt_out_add(out, text, (size_t)(gt_put_i64(text, c->i) - text));
}

/* RFC 4180: quoted when it must be, quotes doubled. */
static void put_csv(struct gt_out *out, const char *s)
{
	if (!s[strcspn(s, ",\"\r\n")] && *s != ' ') {
		gt_out_str(out, s);
		return;
	}
	gt_out_str(out, "\"");
	for (; *s; s++)
		gt_out_add(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
	gt_out_str(out, "\"");
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

static void print_separated(struct gt_table *const *tables, unsigned n, struct gt_out *out, bool tabs)
{
	const char *sep = tabs ? "\t" : ",", *eol = tabs ? "\n" : "\r\n";
	void (*put)(struct gt_out *, const char *) = tabs ? put_tsv : put_csv;

	for (unsigned k = 0; k < n; k++) {
		const struct gt_table *t = tables[k];

		gt_out_str(out, k ? eol : "");
		for (unsigned i = 0; i < t->ncolumns; i++) {
			gt_out_str(out, i ? sep : "");
			put(out, t->columns[i].key);
		}
		gt_out_str(out, eol);
		for (size_t i = 0; i < (size_t)t->nrows * t->ncolumns; i++) {
			const struct gt_column *col = &t->columns[i % t->ncolumns];
			const struct gt_cell *c = &t->cells[i];

			gt_out_str(out, i % t->ncolumns ? sep : "");
			if (!c->absent && col->kind == GT_C_TEXT)
				put(out, c->s ? c->s : "");
			else if (!c->absent)
				put_number(out, col, c, "");
			gt_out_str(out, (i + 1) % t->ncolumns ? "" : eol);
		}
	}
}

static void json_row(struct gt_out *out, const struct gt_table *t, const struct gt_cell *cells)
{
	for (unsigned i = 0; i < t->ncolumns; i++) {
		gt_out_str(out, i ? ", " : "{");
		gt_out_json(out, t->columns[i].key, strlen(t->columns[i].key));
		gt_out_str(out, ": ");
		if (cells[i].absent)
			gt_out_str(out, "null");
		else if (t->columns[i].kind == GT_C_TEXT)
			gt_out_json(out, cells[i].s ? cells[i].s : "", cells[i].s ? strlen(cells[i].s) : 0);
		else
			put_number(out, &t->columns[i], &cells[i], "null");
	}
	gt_out_str(out, "}");
}

static void json_table(struct gt_out *out, const struct gt_table *t)
{
	gt_out_str(out, "  ");
	gt_out_json(out, t->name, strlen(t->name));
	gt_out_str(out, ": {\n    \"rows\": [");
	for (unsigned i = 0; i < t->nrows; i++) {
		gt_out_str(out, i ? ",\n      " : "\n      ");
		json_row(out, t, row_of(t, i));
	}
	gt_out_str(out, t->nrows ? "\n    ],\n    \"notes\": [" : "],\n    \"notes\": [");
	for (size_t i = 0; i < t->nnotes; i++) {
		gt_out_str(out, i ? ", " : "");
		gt_out_json(out, t->notes[i], strlen(t->notes[i]));
	}
	gt_out_str(out, "]\n  }");
}

int gt_tables_print(struct gt_table *const *tables, unsigned n, enum gt_table_format format, struct gt_out *out,
		    struct gt_err *err)
{
	int rc = 0;

	for (unsigned i = 0; i < n; i++)
		if (!tables[i] || tables[i]->failed)
			return gt_err_set(err, -ENOMEM, "out of memory while making the report");
	if (format == GT_TEXT)
		rc = print_text(tables, n, out);
	else if (format != GT_JSON)
		print_separated(tables, n, out, format == GT_TSV);
	else {
		gt_out_str(out, "{\n");
		for (unsigned i = 0; i < n; i++) {
			gt_out_str(out, i ? ",\n" : "");
			json_table(out, tables[i]);
		}
		gt_out_str(out, "\n}\n");
	}
	if (rc)
		return gt_err_set(err, rc, "out of memory while printing the report");
	return 0;
}
