/* Results as tables. Cells are kept as values and become text when printed, each format in its own way: people get scaled
 * units in aligned columns, programs get whole numbers whose unit stands in the key.
 *
 * Text fits the terminal where there is one (COLUMNS, or the window's width): names give way first, cut in the middle, then the
 * columns that the report can do without, which is said, then names once more. What still does not fit runs over, for a clipped
 * number would be a wrong one. Into a file nothing is cut. No line ends in spaces.
 */
#define _GNU_SOURCE	/* vasprintf */
#include "formats/table_inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/clip.h"

#define NAME_WIDTH 20u	/* columns go before a name gets less than this */
#define GAP 2u
#define ALIGNED 1000u	/* a text that is wider runs over, or every row would be as wide as the name of one */
#define STREAM_ROWS 1000u	/* of a source that text aligns at a time */

struct gt_table *gt_table_new(const char *name, const char *title, const struct gt_column *columns, unsigned ncolumns)
{
	struct gt_table *t = calloc(1, sizeof(*t));
	struct gt_cell *row = calloc(ncolumns + 1ul, sizeof(*row));

	if (!t || !row) {
		free(t);
		free(row);
		return NULL;
	}
	*t = (struct gt_table){ .name = name, .title = title, .columns = columns, .ncolumns = ncolumns, .row = row };
	return t;
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

void gt_table_cannot(struct gt_table *t, const char *fmt, ...)
{
	char why[400], *note;
	va_list ap;

	if (!t)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	gt_table_note(t, "cannot answer: %s", why);
	t->answer = GT_CANNOT;
	if (t->failed)
		return;
	note = t->notes[t->nnotes - 1];		/* comes before what else there is to say */
	memmove(t->notes + t->ncannot + 1, t->notes + t->ncannot, (t->nnotes - 1 - t->ncannot) * sizeof(*t->notes));
	t->notes[t->ncannot++] = note;
}

void gt_table_found(struct gt_table *t) { t->answer = GT_FOUND; }
void gt_table_is_part(struct gt_table *t) { t->answer = t->answer == GT_CANNOT ? GT_CANNOT_PART : t->answer; }

void gt_table_follows(struct gt_table *t, const struct gt_table *first)
{
	for (size_t i = 0; !t->nrows && i < first->ncannot; i++)
		gt_table_note(t, "%s", first->notes[i]);
	t->answer = first->answer;
	t->follows = true;
}

enum gt_answer gt_table_answer(const struct gt_table *t) { return t->answer; }

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
const char *gt_table_name(const struct gt_table *t) { return t->name; }
const char *gt_table_get_note(const struct gt_table *t, size_t i) { return i < t->nnotes ? t->notes[i] : NULL; }

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

void gt_table_gives_way(struct gt_table *t, const char *keys) { t->gives_way = keys; }

void gt_table_names_matter(struct gt_table *t) { t->names_matter = true; }

void gt_table_instead(struct gt_table *t, const char *key, const char *other)
{
	int replaced = gt_table_column(t, key), by = gt_table_column(t, other);

	if (replaced >= 0 && by >= 0) {
		t->replaced = replaced;
		t->by = by;
	}
}
void gt_table_as_list(struct gt_table *t) { t->list = true; }

void gt_table_free(struct gt_table *t)
{
	if (!t)
		return;
	gt_table_release_rows(t);
	for (size_t i = 0; i < t->nnotes; i++)
		free(t->notes[i]);
	for (size_t i = 0; i < t->nlines; i++)
		free(t->lines[i]);
	free(t->lines);
	free(t->notes);
	free(t->own);
	free(t);
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

void gt_put_scaled(char *to, size_t size, enum gt_cell_kind kind, int64_t v)
{
	if (kind == GT_C_NS || kind == GT_C_BYTES)
		put_unit(to, size, v, kind == GT_C_NS ? times : sizes, kind == GT_C_NS ? "ns" : "B");
	else
		snprintf(to, size, "%" PRId64, v);
}

struct gt_scaled gt_scaled(enum gt_cell_kind kind, int64_t v)
{
	struct gt_scaled s;

	gt_put_scaled(s.text, sizeof(s.text), kind, v);
	return s;
}

/* Control characters would break lines or speak to the terminal. */
char *gt_printable(const char *s, unsigned indent)
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

/* Four significant digits, as of times and sizes; large numbers as the whole ones that they most often are, and whole ones as such. */
static void put_real(char *text, size_t size, double v)
{
	double a = fabs(v);

	if (!isfinite(v))
		snprintf(text, size, "-");
	else if (a < 1e15 && (a >= 999.95 || a == floor(a)))
		snprintf(text, size, "%.0f", v);
	else
		snprintf(text, size, a < 1e15 ? "%#.4g" : "%.4g", v);
}

static void put_figure(char *text, size_t size, enum gt_cell_kind kind, const struct gt_cell *c)
{
	switch (kind) {
	case GT_C_NS:
		put_unit(text, size, c->i, times, "ns");
		break;
	case GT_C_TIME:
		*gt_put_s(text, c->i) = '\0';
		break;
	case GT_C_BYTES:
		put_unit(text, size, c->i, sizes, "B");
		break;
	case GT_C_PERCENT:
		snprintf(text, size, "%s%" PRId64 ".%02d", c->i < 0 && c->i > -100 ? "-" : "", c->i / 100, abs((int)(c->i % 100)));
		break;
	case GT_C_REAL:
		put_real(text, size, c->d);
		break;
	default:
		*gt_put_i64(text, c->i) = '\0';
	}
}

/* The cell as people read it: new. NULL: no memory. */
static char *cell_text(const struct gt_column *col, const struct gt_cell *c, const char *absent)
{
	enum gt_cell_kind kind = gt_kind_of(col, c);
	bool more = c->change && (kind == GT_C_REAL ? c->d > 0 && isfinite(c->d) : c->i > 0);
	char text[64] = "+";

	if (c->absent)
		return strdup(c->s ? c->s : absent);
	if (gt_is_text(col))
		return gt_printable(c->s ? c->s : "", c->indent);
	put_figure(text + more, sizeof(text) - more, kind, c);
	if (col->kind == GT_C_FIGURE && kind == GT_C_PERCENT)	/* no heading says so */
		strcat(text, " %");
	return strdup(text);
}

/* ---- text ---- */

size_t gt_tables_width(struct gt_out *out)
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

/* Words that begin at `column`, broken where the terminal ends; what goes on begins at `indent`. */
static void put_words(struct gt_out *out, const char *s, size_t column, size_t indent, size_t limit)
{
	size_t room = limit > column ? limit - column : 0;

	while (limit < SIZE_MAX && gt_clip_width(s) > room && room > 12) {
		size_t at = 0;

		for (size_t i = strspn(s, " "), n = i; s[i] && n <= room; n += ((unsigned char)s[++i] & 0xc0) != 0x80)
			if (s[i] == ' ')
				at = i;
		if (!at)
			break;
		gt_out_add(out, s, at);
		gt_out_str(out, "\n");
		spaces(out, indent);
		s += at + 1;
		room = limit > indent ? limit - indent : 0;
	}
	gt_out_str(out, s);
}

/* One line; what goes on is indented as far as it is, and two more. */
static void put_wrapped(struct gt_out *out, const char *s, size_t limit)
{
	put_words(out, s, 0, strspn(s, " ") + 2, limit);
	gt_out_str(out, "\n");
}

/* texts: the titles, then a row each. */
struct grid { const struct gt_table *t; unsigned ncolumns; char **texts; size_t *natural, *widths; bool *hidden; size_t indent; };

static size_t total_width(const struct grid *g)
{
	size_t total = g->indent;

	for (unsigned i = 0; i < g->ncolumns; i++) {
		bool words = i + 1 == g->ncolumns && g->t->columns[i].kind == GT_C_WHOLE;	/* these may go on in the next line */

		if (!g->hidden[i])
			total += (words && g->widths[i] > NAME_WIDTH ? NAME_WIDTH : g->widths[i]) + (total > g->indent ? GAP : 0);
	}
	return total;
}

/* Takes from the widest column of names until it is as wide as the next one, again and again, down to `floor` each. Does it fit
 * then? */
static bool squeeze(struct grid *g, size_t limit, size_t floor)
{
	memcpy(g->widths, g->natural, g->ncolumns * sizeof(*g->widths));
	for (size_t total = total_width(g), step; total > limit; total -= step) {
		size_t widest = 0, next = 0;	/* what they can give */
		unsigned from = 0;

		for (unsigned i = 0; i < g->ncolumns; i++) {
			size_t title = gt_clip_width(g->t->columns[i].title), least = title > floor ? title : floor;
			size_t can = g->hidden[i] || g->t->columns[i].kind != GT_C_TEXT || g->widths[i] < least ? 0 : g->widths[i] - least;

			if (can > widest) {
				next = widest;
				widest = can;
				from = i;
			} else if (can > next) {
				next = can;
			}
		}
		if (!widest)
			return false;
		step = widest > next ? widest - next : 1;
		step = step < total - limit ? step : total - limit;
		g->widths[from] -= step;
	}
	return true;
}

/* A number that is 0 wherever there is one. */
static bool tells_nothing(const struct gt_table *t, unsigned column)
{
	for (unsigned row = 0; row < t->nrows; row++) {
		const struct gt_cell *c = gt_table_cell(t, row, column);

		if (!c->absent && (gt_is_text(&t->columns[column]) || c->i || c->d != 0.0))
			return false;
	}
	return true;
}

/* Leaves out columns that may be, first those that tell nothing, until the others fit. */
static bool hide(struct grid *g, size_t limit, size_t floor)
{
	const char *key = g->t->gives_way ? g->t->gives_way : "";

	for (unsigned pass = 0; pass < 2; pass++) {
		for (const char *k = key; *k; k += strcspn(k, " "), k += *k == ' ')
			for (unsigned i = 0; i < g->ncolumns; i++) {
				size_t len = strcspn(k, " ");

				if (g->hidden[i] || strncmp(g->t->columns[i].key, k, len) || g->t->columns[i].key[len] ||
				    (!pass && !tells_nothing(g->t, i)))
					continue;
				g->hidden[i] = true;
				if (squeeze(g, limit, floor))
					return true;
			}
	}
	return false;
}

/* With names of that width at least. settled: the titles are printed, and so it is which columns there are. */
static bool fits(struct grid *g, size_t limit, size_t floor, bool settled)
{
	if (!settled)
		memset(g->hidden, 0, g->ncolumns * sizeof(*g->hidden));
	return squeeze(g, limit, floor) || (!settled && hide(g, limit, floor));
}

static int fit(struct grid *g, size_t limit, bool settled)
{
	size_t wide = g->t->names_matter ? limit / 5 * 2 : NAME_WIDTH;
	int rc = 0;

	if (!fits(g, limit, wide, settled) && !fits(g, limit, NAME_WIDTH, settled))
		squeeze(g, limit, GT_CLIP_MIN);
	for (unsigned i = 0; !rc && i < g->ncolumns; i++)
		if (g->widths[i] < g->natural[i])
			rc = gt_clip(g->texts + g->ncolumns + i, g->ncolumns, g->t->nrows, g->widths[i]);
	return rc;
}

/* "  (too narrow for p50, Failed)" */
static void say_hidden(struct gt_out *out, const struct grid *g, size_t limit)
{
	struct gt_buf b = { 0 };

	for (unsigned i = 0; i < g->ncolumns; i++)
		if (g->hidden[i])
			gt_buf_printf(&b, "%s%s", b.len ? ", " : "  (too narrow for ", g->t->columns[i].title);
	if (b.len) {
		gt_buf_str(&b, ")");
		gt_buf_byte(&b, 0);
		put_wrapped(out, b.failed ? "  (too narrow for some columns)" : (char *)b.data, limit);
	}
	gt_buf_release(&b);
}

static void print_line(struct gt_out *out, const struct grid *g, char *const *texts, size_t limit)
{
	size_t owed = g->indent, at = 0;	/* spaces to come, should anything follow them; columns printed */

	for (unsigned i = 0; i < g->ncolumns; i++) {
		size_t w = gt_clip_width(texts[i]), pad = g->widths[i] > w ? g->widths[i] - w : 0;
		bool left = gt_is_text(&g->t->columns[i]);

		if (g->hidden[i])
			continue;
		owed += left ? 0 : pad;
		if (w) {
			spaces(out, owed);
			at += owed;
			put_words(out, texts[i], at, at, i + 1 == g->ncolumns && left ? limit : SIZE_MAX);
			at += w;
			owed = 0;
		}
		owed += GAP + (left ? pad : 0);
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

/* Titles and rows as texts, and how wide they would like to be: at least as wide as those of the rows before. */
static int grid_texts(struct grid *g)
{
	const struct gt_table *t = g->t;
	unsigned n = g->ncolumns;
	size_t ncells = ((size_t)t->nrows + 1) * n;

	g->texts = calloc(ncells + 1, sizeof(*g->texts));
	for (size_t i = 0; g->texts && i < ncells; i++) {
		const struct gt_column *col = &t->columns[i % n];
		size_t from = (int)(i % n) == t->replaced ? (size_t)t->by : i % n, width;

		g->texts[i] = i < n ? strdup(col->title) : cell_text(col, gt_table_cell(t, (unsigned)(i / n) - 1, (unsigned)from), "-");
		if (!g->texts[i])
			return -ENOMEM;
		width = gt_clip_width(g->texts[i]);
		width = width < ALIGNED ? width : ALIGNED;
		g->natural[i % n] = width > g->natural[i % n] ? width : g->natural[i % n];
	}
	return g->texts ? 0 : -ENOMEM;
}

static void free_texts(struct grid *g)
{
	for (size_t i = 0; g->texts && i < ((size_t)g->t->nrows + 1) * g->ncolumns; i++)
		free(g->texts[i]);
	free(g->texts);
	g->texts = NULL;
}

/* The rows at hand; titles and what is said above them with the first of all. */
static int print_rows(struct gt_out *out, struct grid *g, size_t limit, bool first)
{
	int rc = grid_texts(g);

	if (!rc)
		rc = fit(g, limit, !first);
	if (!rc && first)
		say_hidden(out, g, limit);
	for (size_t row = first ? 0 : 1; !rc && row <= g->t->nrows; row++)
		print_line(out, g, g->texts + row * g->ncolumns, limit);
	free_texts(g);
	return rc;
}

static int print_grid(struct gt_out *out, struct gt_table *t, size_t limit, struct gt_err *err)
{
	unsigned n = text_columns(t);
	struct grid g = { t, n, NULL, calloc(n + 1, sizeof(size_t)), calloc(n + 1, sizeof(size_t)), calloc(n + 1, sizeof(bool)), 2 };
	int rc = g.natural && g.widths && g.hidden ? gt_table_hold(t, STREAM_ROWS, err) : -ENOMEM;

	if (!rc)
		rc = print_rows(out, &g, limit, true);
	while (!rc && t->source.next && !out->failed) {
		gt_table_keep_rows(t, 0);
		rc = gt_table_hold(t, STREAM_ROWS, err);
		if (!rc)
			rc = print_rows(out, &g, limit, false);
	}
	free(g.natural);
	free(g.widths);
	free(g.hidden);
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

static int print_list(struct gt_out *out, const struct gt_table *t, size_t limit)
{
	struct gt_buf b = { 0 };
	int rc;

	for (unsigned row = 0; row < t->nrows; row++)
		for (unsigned i = 0; i < text_columns(t); i++) {
			const struct gt_cell *c = gt_table_cell(t, row, i);
			char *text = list_text(&t->columns[i], c);

			gt_buf_clear(&b);
			gt_buf_printf(&b, "  %s:%s%s%s", t->columns[i].title, text && *text ? " " : "", text ? text : "",
				      !c->absent && t->columns[i].kind == GT_C_PERCENT ? " %" : "");
			gt_buf_byte(&b, 0);
			b.failed |= !text;
			free(text);
			if (!b.failed)
				put_wrapped(out, (char *)b.data, limit);
		}
	rc = b.failed ? -ENOMEM : 0;
	gt_buf_release(&b);
	return rc;
}

static void print_lines(struct gt_out *out, const char *before, char *const *lines, size_t n, const char *after, size_t limit)
{
	for (size_t i = 0; i < n; i++) {
		struct gt_buf b = { 0 };
		char *line;

		gt_buf_printf(&b, "%s%s%s", before, lines[i], after);
		gt_buf_byte(&b, 0);
		line = b.failed ? NULL : gt_printable((char *)b.data, 0);
		put_wrapped(out, line ? line : lines[i], limit);
		free(line);
		gt_buf_release(&b);
	}
}

static int print_text(struct gt_table *const *tables, unsigned n, struct gt_out *out, struct gt_err *err)
{
	size_t limit = gt_tables_width(out);
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++) {
		struct gt_table *t = tables[i];

		if (t->follows && !t->nrows)
			continue;
		if (i)
			gt_out_str(out, "\n");
		if (t->title && strchr(t->title, '\n'))
			gt_out_printf(out, "%s\n", t->title);
		else if (t->title)
			put_wrapped(out, t->title, limit);
		print_lines(out, "", t->lines, t->nlines, "", limit);
		print_lines(out, "  (", t->notes, t->nnotes, ")", limit);
		if (t->nlines)
			continue;
		if (!t->nrows && t->answer < GT_CANNOT)	/* else nobody knows whether there is none */
			gt_out_str(out, "  none\n");
		else if (t->nrows)
			rc = t->list ? print_list(out, t, limit) : print_grid(out, t, limit, err);
	}
	return rc;
}

/* ---- printing ---- */

int gt_tables_print(struct gt_table *const *tables, unsigned n, enum gt_table_format format, const char *label,
		    struct gt_out *out, struct gt_err *err)
{
	int rc;

	for (unsigned i = 0; i < n; i++)
		if (!tables[i] || tables[i]->failed)
			return gt_err_set(err, -ENOMEM, "out of memory while making the report");
	if (format == GT_TEXT)
		rc = print_text(tables, n, out, err);
	else if (format == GT_JSON)
		rc = gt_print_json(tables, n, out, err);
	else
		rc = gt_print_separated(tables, n, label, out, format == GT_TSV, err);
	if (rc)
		return gt_err_set(err, rc, "out of memory while printing the report");
	return 0;
}
