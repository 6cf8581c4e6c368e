/* Rows in aligned columns, as wide as the terminal is.
 *
 * Where there is not enough room names give way first, cut in the middle, then the columns that the report can do without, which is
 * said, then names once more. What still does not fit runs over, for a clipped number would be a wrong one.
 */
#include "formats/table_inside.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/clip.h"

#define NAME_WIDTH 20u	/* columns go before a name gets less than this */
#define GAP 2u
#define ALIGNED 1000u	/* a text that is wider runs over, or every row would be as wide as the name of one */
#define STREAM_ROWS 1000u	/* of a source that text aligns at a time */

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
		gt_put_wrapped(out, b.failed ? "  (too narrow for some columns)" : (char *)b.data, limit);
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
			gt_put_spaces(out, owed);
			at += owed;
			gt_put_words(out, texts[i], at, at, i + 1 == g->ncolumns && left ? limit : SIZE_MAX);
			at += w;
			owed = 0;
		}
		owed += GAP + (left ? pad : 0);
	}
	gt_out_str(out, "\n");
}

unsigned gt_text_columns(const struct gt_table *t)
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

		g->texts[i] = i < n ? strdup(col->title) : gt_cell_words(col, gt_table_cell(t, (unsigned)(i / n) - 1, (unsigned)from), "-");
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

int gt_print_grid(struct gt_out *out, struct gt_table *t, size_t limit, struct gt_err *err)
{
	unsigned n = gt_text_columns(t);
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
