/* Rows in aligned columns, as wide as the terminal (table_grid_fit.c).
 *
 * The width of a column depends on all rows that are aligned together. So the texts of their cells
 * are stored first, and printed when the widths are known. A source may have millions of rows. Into
 * a file, these are written directly with the widths so far (row_writer.h), in batches that are
 * aligned together; only rows that do not fit are stored.
 */
#include "formats/table/table_grid_internal.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/numbers.h"
#include "formats/text/utf8.h"
#include "formats/table/figures.h"

#define CACHE_MOST (64u << 10) /* bytes of texts that are cached from one batch to the next */
#define BATCH 1000u            /* rows of a source that are aligned together */

/* "  (2 columns left out: p50, Failed)" */
static void print_hidden(
	struct gt_out *out, const struct gt_table_grid *g, size_t limit, bool *hint)
{
	struct gt_buf b = { 0 };
	unsigned n = 0, named = 0;

	for (unsigned i = 0; i < g->ncolumns; i++)
		n += g->hidden[i];
	if (!n || g->t->brief)
		return;
	gt_buf_printf(&b, "  (%u column%s left out: ", n, gt_plural(n, "s"));
	for (unsigned i = 0; i < g->ncolumns; i++)
		if (g->hidden[i])
			gt_buf_printf(&b, "%s%s", named++ ? ", " : "", g->t->columns[i].title);
	gt_buf_printf(&b, "%s)", *hint ? "" : "; a wider terminal or --format csv shows them");
	gt_buf_byte(&b, 0);
	gt_put_wrapped(
		out, GT_TONE_NOTE, b.failed ? "  (some columns left out)" : (char *)b.data, limit);
	*hint = true;
	gt_buf_release(&b);
}

/* owed: spaces to print before the next cell that is not empty. at: columns printed. */
struct line {
	size_t owed, at;
};

/* Prints a cell of that width, if it is not empty. limit: the width at which to break it. */
static void print_cell(struct gt_out *out, const struct gt_table_grid *g, struct line *line,
	unsigned column, const char *text, size_t width, enum gt_tone tone, size_t limit)
{
	size_t pad = g->widths[column] > width ? g->widths[column] - width : 0;
	size_t last = g->t->wrap_width && g->t->wrap_width < limit ? g->t->wrap_width : limit;
	bool left = gt_is_text(&g->t->columns[column]);

	line->owed += left ? 0 : pad;
	if (width) {
		gt_put_spaces(out, line->owed);
		line->at += line->owed;
		gt_put_words(out, tone, text, line->at, line->at,
			column + 1 == g->ncolumns && left ? last : SIZE_MAX);
		line->at += width;
		line->owed = 0;
	}
	line->owed += GT_TABLE_GRID_GAP + (left ? pad : 0);
}

static void print_row(struct gt_out *out, const struct gt_table_grid *g,
	const struct gt_table_grid_cell *row, size_t limit)
{
	struct line line = { .owed = g->indent };

	for (unsigned i = 0; i < g->ncolumns; i++)
		if (!g->hidden[i])
			print_cell(out, g, &line, i, gt_table_grid_text(g, &row[i]), row[i].width,
				row[i].tone, limit);
	gt_out_str(out, "\n");
}

/* Which columns are printed, and how wide they are. */
static void set_shown(struct gt_table_grid *g)
{
	g->nshown = 0;
	for (unsigned i = 0; i < g->ncolumns; i++)
		if (!g->hidden[i])
			g->shown[g->nshown++] = (struct gt_row_column){ i, (unsigned)g->widths[i] };
}

/* The titles, line by line. A title of fewer lines than others is at the bottom. */
static int print_titles(struct gt_out *out, const struct gt_table_grid *g, size_t limit)
{
	const char **rest = calloc(g->ncolumns + 1, sizeof(*rest));
	unsigned left = 0, failed = !rest;

	for (unsigned i = 0; rest && i < g->ncolumns; i++) {
		rest[i] = gt_table_grid_title(g, i);
		if (!g->hidden[i] && gt_title_lines(rest[i], g->widths[i]) > left)
			left = gt_title_lines(rest[i], g->widths[i]);
	}
	for (; left && !failed; left--) {
		struct line line = { .owed = g->indent };

		for (unsigned i = 0; i < g->ncolumns && !failed; i++) {
			size_t len = gt_title_lines(rest[i], g->widths[i]) < left
				? 0
				: gt_title_line(rest[i], g->widths[i]);
			char *word = strndup(rest[i], len);

			failed = !word;
			if (word && !g->hidden[i])
				print_cell(out, g, &line, i, word, gt_utf8_width(word),
					GT_TONE_HEADING, limit);
			free(word);
			rest[i] += len + (len && rest[i][len] == ' ');
		}
		gt_out_str(out, "\n");
	}
	free(rest);
	return failed ? -ENOMEM : 0;
}

unsigned gt_text_columns(const struct gt_table *t)
{
	unsigned n = t->ncolumns;

	while (n && !t->columns[n - 1].title)
		n--;
	return n;
}

/* ---- texts of cells ---- */

static struct gt_cached_text indented_text(struct gt_table_grid *g, const struct gt_cell *c)
{
	struct gt_cached_text text;
	size_t at = g->cache.bytes.len;

	gt_put_spaces(&g->cache.bytes, c->indent);
	text = gt_text_cache_add(&g->cache, c->s ? c->s : "");
	return (struct gt_cached_text){
		.at = at, .len = text.len + c->indent, .width = text.width + c->indent
	};
}

static void set_text(struct gt_table_grid *g, struct gt_table_grid_cell *to,
	const struct gt_column *col, const struct gt_cell *c)
{
	struct gt_out *bytes = &g->cache.bytes;
	struct gt_cached_text text = { .at = bytes->len };
	char *p;

	if (c->absent) {
		text = gt_text_cache_get(&g->cache, c->s ? c->s : "-", !c->s);
	} else if (gt_is_text(col)) {
		text = c->indent
			? indented_text(g, c)
			: gt_text_cache_get(&g->cache, c->s ? c->s : "", c->s && c->lasting);
	} else {
		p = gt_put_figure(gt_out_reserve(bytes, GT_FIGURE_ROOM + GT_PIECE), col, c);
		text.len = text.width = (uint32_t)(p - bytes->data - text.at);
		*p++ = '\0';
		gt_out_commit(bytes, p);
	}
	to->at = text.at;
	to->len = text.len;
	to->width = text.width;
	to->absent = c->absent;
}

static int add_row(struct gt_table_grid *g, const struct gt_cell *cells)
{
	const struct gt_table *t = g->t;
	struct gt_table_grid_cell *to;

	if (gt_grow(&g->texts, &g->texts_cap, (g->rows + 1ul) * g->ncolumns, sizeof(*g->texts)))
		return -ENOMEM;
	to = g->texts + (size_t)g->rows++ * g->ncolumns;
	for (unsigned i = 0; i < g->ncolumns; i++) {
		bool replaced = t->replaced != t->by && i == (unsigned)t->replaced;

		set_text(g, &to[i], &t->columns[i], &cells[replaced ? (unsigned)t->by : i]);
		to[i].tone = cells[i].tone;
	}
	return g->cache.bytes.failed;
}

int gt_table_grid_add_stored_rows(struct gt_table_grid *g)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < g->t->nrows; i++)
		rc = add_row(g, gt_row_of(g->t, i));
	return rc;
}

/* ---- batches of a source ---- */

static bool is_wider(const struct gt_table_grid *g, const struct gt_table_grid_cell *row)
{
	for (unsigned i = 0; i < g->nshown; i++)
		if (row[g->shown[i].column].width > g->shown[i].width)
			return true;
	return false;
}

/* A line of the batch with the new widths: blanks are inserted before a number and behind a text.
 * The line of a refused row is shorter than the indentation, and does not change. */
static void realign_line(
	const struct gt_table_grid *g, const char *line, size_t n, struct gt_out *to)
{
	const struct gt_row_column *old = g->writer.columns;
	size_t at = g->indent, from = 0;

	for (unsigned i = 0; i < g->nshown; at += old[i++].width + GT_TABLE_GRID_GAP) {
		bool left = gt_is_text(&g->t->columns[old[i].column]);
		size_t in = at + (left ? old[i].width : 0);

		if (in >= n)
			break;
		gt_out_add(to, line + from, in - from);
		gt_put_spaces(to, g->shown[i].width - old[i].width);
		from = in;
	}
	gt_out_add(to, line + from, n - from);
	gt_out_add(to, "\n", 1);
}

/* Columns have become wider. */
static void realign_batch(struct gt_table_grid *g)
{
	struct gt_out to;
	const char *end = g->batch.data + g->batch.len;

	gt_out_memory(&to);
	for (const char *line = g->batch.data, *next; line < end; line = next + 1) {
		next = memchr(line, '\n', (size_t)(end - line));
		realign_line(g, line, (size_t)(next - line), &to);
	}
	gt_out_close(&g->batch, NULL);
	g->batch = to;
	gt_row_writer_set_columns(&g->writer, g->shown, g->nshown);
}

/* A row that the writer refused is printed when all widths of the batch are known. */
static int add_refused_row(struct gt_table_grid *g, const struct gt_cell *cells)
{
	int rc = add_row(g, cells);

	gt_out_add(&g->batch, "\0\n", 2);
	g->refused++;
	if (rc || !is_wider(g, g->texts + (g->rows - 1ul) * g->ncolumns))
		return rc;
	rc = gt_table_grid_fit(g, SIZE_MAX, true);
	set_shown(g);
	realign_batch(g);
	return rc;
}

static int pull_batch(struct gt_table_grid *g, struct gt_table *t, struct gt_err *err)
{
	struct gt_row_at_hand row;
	int rc = 0, more = 1;

	if (g->rows || g->cache.bytes.len > CACHE_MOST)
		gt_text_cache_clear(&g->cache);
	g->rows = g->refused = 0;
	g->batch.len = 0;
	for (unsigned n = 0; !rc && n < BATCH && (more = gt_table_pull(t, &row, err)) > 0; n++)
		if (!g->plain)
			rc = add_row(g, row.cells);
		else if (!gt_row_writer_put(&g->writer, &row))
			rc = add_refused_row(g, row.cells);
	if (!rc)
		rc = g->writer.texts.failed ? g->writer.texts.failed : g->batch.failed;
	return more < 0 ? more : rc;
}

static void print_batch(struct gt_out *out, const struct gt_table_grid *g)
{
	const char *from = g->batch.data, *end = from + g->batch.len, *refused;

	for (unsigned row = 0; row < g->refused; row++, from = refused + 2) {
		refused = memchr(from, '\0', (size_t)(end - from));
		gt_out_add(out, from, (size_t)(refused - from));
		print_row(out, g, g->texts + (size_t)row * g->ncolumns, SIZE_MAX);
	}
	gt_out_add(out, from, (size_t)(end - from));
}

/* ---- the grid ---- */

int gt_table_grid_open(struct gt_table_grid *g, const struct gt_table *t)
{
	unsigned n = gt_text_columns(t);

	*g = (struct gt_table_grid){ .t = t,
		.ncolumns = n,
		.indent = 2,
		.cells = calloc(2ul * n + 1, sizeof(*g->cells)),
		.order = calloc(n + 1, sizeof(*g->order)),
		.hidden = calloc(n + 1, sizeof(*g->hidden)),
		.shown = calloc(n + 1, sizeof(*g->shown)) };
	gt_text_cache_init(&g->cache, gt_out_printable);
	g->widths = g->cells + n;
	return g->cells && g->order && g->hidden && g->shown ? 0 : -ENOMEM;
}

void gt_table_grid_close(struct gt_table_grid *g)
{
	gt_text_cache_release(&g->cache);
	free(g->texts);
	free(g->shown);
	free(g->cells);
	free(g->order);
	free(g->hidden);
}

/* The stored rows, below the titles. */
static int print_stored_rows(struct gt_out *out, struct gt_table_grid *g, size_t limit, bool *hint)
{
	int rc = gt_table_grid_add_stored_rows(g);

	rc = rc ? rc : gt_table_grid_fit(g, limit, false);
	if (rc)
		return rc;
	print_hidden(out, g, limit, hint);
	rc = print_titles(out, g, limit);
	set_shown(g);
	if (g->plain)
		gt_row_writer_set_columns(&g->writer, g->shown, g->nshown);
	for (unsigned i = 0; !rc && i < g->rows; i++) {
		const struct gt_row_at_hand row = { (struct gt_cell *)gt_row_of(g->t, i), 0 };

		if (!g->plain || !gt_row_writer_put(&g->writer, &row))
			print_row(out, g, g->texts + (size_t)i * g->ncolumns, limit);
	}
	return rc;
}

/* The other rows of the source, batch by batch. */
static int print_source(struct gt_out *out, struct gt_table_grid *g, struct gt_table *t,
	size_t limit, struct gt_err *err)
{
	int rc = 0;

	gt_out_memory(&g->batch);
	g->writer.out = &g->batch;
	while (!rc && t->source.next && !out->failed) {
		rc = pull_batch(g, t, err);
		if (!rc && g->plain)
			print_batch(out, g);
		else if (!rc && !(rc = gt_table_grid_fit(g, limit, true)))
			for (unsigned i = 0; i < g->rows; i++)
				print_row(out, g, g->texts + (size_t)i * g->ncolumns, limit);
	}
	gt_out_close(&g->batch, NULL);
	return rc;
}

int gt_print_grid(
	struct gt_out *out, struct gt_table *t, size_t limit, bool *hint, struct gt_err *err)
{
	struct gt_table_grid g;
	int rc = gt_table_grid_open(&g, t), failed;

	g.plain = limit == SIZE_MAX && !t->wrap_width && !out->colours;
	if (!rc)
		rc = gt_row_writer_open(&g.writer, t, &gt_row_text, &g.cache);
	g.writer.out = out;
	g.writer.indent = (unsigned)g.indent;
	g.writer.gap = GT_TABLE_GRID_GAP;
	if (!rc)
		rc = gt_table_store_rows(t, BATCH, err);
	if (!rc)
		rc = print_stored_rows(out, &g, limit, hint);
	if (!rc && t->source.next)
		rc = print_source(out, &g, t, limit, err);
	failed = gt_row_writer_close(&g.writer);
	gt_table_grid_close(&g);
	return rc ? rc : failed;
}
