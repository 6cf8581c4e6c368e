/* Rows in aligned columns, as wide as the terminal is.
 *
 * Where there is not enough room the grid becomes narrower step by step, until it fits: names are cut in the middle, down to
 * NAME_WIDTH; times end at microseconds; headings of several words go on in a second line; columns go that tell nothing here;
 * names that do not lead the row become shorter still; then go other columns that the report can do without. Those left out are
 * said; one that has room after all, because a wider one had to go, comes back. At last names are cut down to what can be told
 * apart. What still does not fit runs over, for a clipped number would be a wrong one.
 */
#include "formats/table_inside.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/clip.h"

#define NAME_WIDTH 20u	/* columns go before a name gets less than this, */
#define BESIDE_WIDTH 11u	/* or those behind the first column less than this */
#define NS_DIGITS 3u	/* of a time, behind the microseconds */
#define GAP 2u
#define ALIGNED 1000u	/* a text that is wider runs over, or every row would be as wide as the name of one */
#define STREAM_ROWS 1000u	/* of a source that text aligns at a time */

/* texts: the titles, then a row each. cells: how wide the widest one is, without the title. tall: titles go on in further lines;
 * brief: times are cut. */
struct grid {
	const struct gt_table *t;
	unsigned ncolumns, norder;
	char **texts;
	size_t *cells, *widths, indent;
	unsigned *order;	/* columns that may be left out, the first to go first */
	bool *hidden, tall, brief;
};

/* How many bytes a word of a title has: a % belongs to the word before it. */
static size_t title_word(const char *title)
{
	size_t len = strcspn(title, " ");

	return !strncmp(title + len, " %", 2) ? len + 2 : len;
}

/* How many bytes of a title stand in one line of that width: words, one at least. */
static size_t title_line(const char *title, size_t width)
{
	size_t at = title_word(title);

	for (size_t next; title[at]; at = next) {
		next = at + 1 + title_word(title + at + 1);
		if (next > width)
			break;
	}
	return at;
}

static unsigned title_lines(const char *title, size_t width)
{
	unsigned n = 0;

	for (size_t len; *title; title += len + (title[len] == ' '), n++)
		len = title_line(title, width);
	return n;
}

/* The widest word of it, or all of it. */
static size_t title_width(const struct grid *g, unsigned column)
{
	const char *title = g->texts[column];
	size_t most = 0;

	if (!g->tall)
		return gt_clip_width(title);
	for (size_t len; *title; title += len + (title[len] == ' ')) {
		len = title_word(title);
		most = len > most ? len : most;
	}
	return most;
}

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

/* What the column of names can give. */
static size_t can_give(const struct grid *g, unsigned column, size_t floor)
{
	size_t title = title_width(g, column), least = title > floor ? title : floor;

	return g->hidden[column] || g->t->columns[column].kind != GT_C_TEXT || g->widths[column] < least ? 0 : g->widths[column] - least;
}

/* Takes from the widest column of names until it is as wide as the next one, again and again, down to `first` where they stand in the
 * first column, and so are what the row is about, and `others` elsewhere. Does it fit then? */
static bool squeeze(struct grid *g, size_t limit, size_t first, size_t others)
{
	unsigned lead = 0;

	while (lead < g->ncolumns && g->hidden[lead])
		lead++;
	for (unsigned i = 0; i < g->ncolumns; i++) {
		size_t title = title_width(g, i);

		g->widths[i] = title > g->cells[i] ? title : g->cells[i];
	}
	for (size_t total = total_width(g), step; total > limit; total -= step) {
		size_t widest = 0, next = 0;
		unsigned from = 0;

		for (unsigned i = 0; i < g->ncolumns; i++) {
			size_t can = can_give(g, i, i == lead ? first : others);

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

/* How wide its cells are, and at least as wide as those of the rows before. */
static void measure(struct grid *g)
{
	for (size_t i = g->ncolumns; i < (g->t->nrows + 1ul) * g->ncolumns; i++) {
		size_t width = gt_clip_width(g->texts[i]), *widest = &g->cells[i % g->ncolumns];

		width = width < ALIGNED ? width : ALIGNED;
		*widest = width > *widest ? width : *widest;
	}
}

/* Times without their last digits: cut, not rounded, so that --from such a time begins before what is there. */
static void cut_times(struct grid *g)
{
	for (size_t i = g->ncolumns; i < (g->t->nrows + 1ul) * g->ncolumns; i++)
		if (g->t->columns[i % g->ncolumns].kind == GT_C_TIME &&
		    !gt_table_cell(g->t, (unsigned)(i / g->ncolumns) - 1, (unsigned)(i % g->ncolumns))->absent)
			g->texts[i][strlen(g->texts[i]) - NS_DIGITS] = '\0';
}

static bool is_place(const char *key)
{
	static const char *const places[] = { "recording", "rank", "pid", "process", "device" };

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!strcmp(key, places[i]))
			return true;
	return false;
}

static bool same_cell(const struct gt_cell *a, const struct gt_cell *b)
{
	return a->absent == b->absent && a->i == b->i && !strcmp(a->s ? a->s : "", b->s ? b->s : "");
}

/* A number that is 0 wherever there is one, a text that is empty; a place that is the same in all rows that there are. */
static bool tells_nothing(const struct gt_table *t, unsigned column)
{
	struct gt_cell first = t->nrows ? *gt_table_cell(t, 0, column) : (struct gt_cell){ .absent = true };
	bool zero = true, same = is_place(t->columns[column].key) && !t->more;

	for (unsigned row = 0; row < t->nrows; row++) {
		const struct gt_cell *c = gt_table_cell(t, row, column);

		zero &= c->absent || (gt_is_text(&t->columns[column]) ? !c->s || !*c->s : !c->i && c->d == 0.0);
		same &= same_cell(c, &first);
	}
	return zero || same;
}

/* The columns that may go, those that tell nothing first: how many these are. */
static unsigned put_order(struct grid *g)
{
	unsigned nothing = 0;

	for (unsigned pass = 0; pass < 2; pass++) {
		for (const char *k = g->t->gives_way ? g->t->gives_way : ""; *k; k += strcspn(k, " "), k += *k == ' ')
			for (unsigned i = 0; i < g->ncolumns; i++) {
				size_t len = strcspn(k, " ");

				if (!strncmp(g->t->columns[i].key, k, len) && !g->t->columns[i].key[len] &&
				    tells_nothing(g->t, i) == !pass && g->norder < g->ncolumns)
					g->order[g->norder++] = i;
			}
		nothing = pass ? nothing : g->norder;
	}
	return nothing;
}

/* Leaves out those from `from` to before `to` in that order, until the others fit. */
static bool hide(struct grid *g, size_t limit, unsigned from, unsigned to, size_t first, size_t others)
{
	for (unsigned i = from; i < to; i++) {
		g->hidden[g->order[i]] = true;
		if (squeeze(g, limit, first, others))
			return true;
	}
	return false;
}

/* Takes back, the last gone first, what finds room without names giving way further. */
static void take_back(struct grid *g, size_t limit, unsigned from)
{
	for (unsigned i = g->norder; i-- > from; ) {
		if (!g->hidden[g->order[i]])
			continue;
		g->hidden[g->order[i]] = false;
		g->hidden[g->order[i]] = !squeeze(g, limit, NAME_WIDTH, NAME_WIDTH);
	}
	squeeze(g, limit, NAME_WIDTH, BESIDE_WIDTH);
}

/* Titles in one line again, where there is room. */
static void widen_titles(struct grid *g, size_t limit)
{
	size_t total = total_width(g);

	for (unsigned i = 0; i < g->ncolumns; i++) {
		size_t title = gt_clip_width(g->texts[i]), more = title > g->widths[i] ? title - g->widths[i] : 0;

		if (g->hidden[i] || total > limit || more > limit - total)
			continue;
		g->widths[i] += more;
		total += more;
	}
}

/* Where names matter more than figures: as many columns go as leave two fifths to each. */
static bool favour_names(struct grid *g, size_t limit)
{
	size_t wide = limit / 5 * 2;

	if (!g->t->names_matter)
		return false;
	if (squeeze(g, limit, wide, wide) || hide(g, limit, 0, g->norder, wide, wide))
		return true;
	memset(g->hidden, 0, g->ncolumns * sizeof(*g->hidden));
	return false;
}

/* One step after the other, until it fits. */
static void choose(struct grid *g, size_t limit)
{
	size_t name = g->t->names_matter ? limit / 5 * 2 : NAME_WIDTH;
	unsigned nothing;
	bool fits;

	if (squeeze(g, limit, name, name))
		return;
	g->brief = true;
	cut_times(g);
	memset(g->cells, 0, g->ncolumns * sizeof(*g->cells));
	measure(g);
	if (squeeze(g, limit, name, name))
		return;
	g->tall = true;
	nothing = put_order(g);
	fits = favour_names(g, limit) || squeeze(g, limit, NAME_WIDTH, NAME_WIDTH) || hide(g, limit, 0, nothing, NAME_WIDTH, NAME_WIDTH) ||
	       squeeze(g, limit, NAME_WIDTH, BESIDE_WIDTH);
	if (!fits && hide(g, limit, nothing, g->norder, NAME_WIDTH, BESIDE_WIDTH))
		take_back(g, limit, nothing);
	else if (!fits)
		squeeze(g, limit, GT_CLIP_MIN, GT_CLIP_MIN);
	widen_titles(g, limit);
}

/* settled: the titles are printed, and so it is which columns there are and how they look. */
static int fit(struct grid *g, size_t limit, bool settled)
{
	int rc = 0;

	if (settled && g->brief)
		cut_times(g);
	measure(g);
	if (!settled)
		choose(g, limit);
	else if (!squeeze(g, limit, NAME_WIDTH, BESIDE_WIDTH))
		squeeze(g, limit, GT_CLIP_MIN, GT_CLIP_MIN);
	for (unsigned i = 0; !rc && i < g->ncolumns; i++)
		if (g->widths[i] < g->cells[i])
			rc = gt_clip(g->texts + g->ncolumns + i, g->ncolumns, g->t->nrows, g->widths[i]);
	return rc;
}

/* "  (2 columns left out: p50, Failed)" */
static void say_hidden(struct gt_out *out, const struct grid *g, size_t limit, bool *told)
{
	struct gt_buf b = { 0 };
	unsigned n = 0, said = 0;

	for (unsigned i = 0; i < g->ncolumns; i++)
		n += g->hidden[i];
	if (!n)
		return;
	gt_buf_printf(&b, "  (%u column%s left out: ", n, n == 1 ? "" : "s");
	for (unsigned i = 0; i < g->ncolumns; i++)
		if (g->hidden[i])
			gt_buf_printf(&b, "%s%s", said++ ? ", " : "", g->t->columns[i].title);
	gt_buf_printf(&b, "%s)", *told ? "" : "; a wider terminal or --format csv shows them");
	gt_buf_byte(&b, 0);
	gt_put_wrapped(out, GT_TONE_NOTE, b.failed ? "  (some columns left out)" : (char *)b.data, limit);
	*told = true;
	gt_buf_release(&b);
}

static void print_line(struct gt_out *out, const struct grid *g, char *const *texts, const struct gt_cell *cells, size_t limit)
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
			gt_put_words(out, cells ? cells[i].tone : GT_TONE_HEADING, texts[i], at, at,
				     i + 1 == g->ncolumns && left ? limit : SIZE_MAX);
			at += w;
			owed = 0;
		}
		owed += GAP + (left ? pad : 0);
	}
	gt_out_str(out, "\n");
}

/* The titles, line by line; one that takes fewer lines than others stands at the bottom. */
static int print_titles(struct gt_out *out, const struct grid *g, size_t limit)
{
	char **line = calloc(g->ncolumns + 1, sizeof(*line)), **rest = calloc(g->ncolumns + 1, sizeof(*rest));
	unsigned left = 0, failed = 0;

	for (unsigned i = 0; line && rest && i < g->ncolumns; i++) {
		rest[i] = g->texts[i];
		if (!g->hidden[i] && title_lines(rest[i], g->widths[i]) > left)
			left = title_lines(rest[i], g->widths[i]);
	}
	for (; line && rest && left && !failed; left--) {
		for (unsigned i = 0; i < g->ncolumns; i++) {
			size_t len = title_lines(rest[i], g->widths[i]) < left ? 0 : title_line(rest[i], g->widths[i]);

			line[i] = strndup(rest[i], len);
			failed |= !line[i];
			rest[i] += len + (len && rest[i][len] == ' ');
		}
		if (!failed)
			print_line(out, g, line, NULL, limit);
		for (unsigned i = 0; i < g->ncolumns; i++)
			free(line[i]);
	}
	failed |= !line || !rest;
	free(line);
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

/* Titles and rows as texts. */
static int grid_texts(struct grid *g)
{
	const struct gt_table *t = g->t;
	unsigned n = g->ncolumns;
	size_t ncells = ((size_t)t->nrows + 1) * n;

	g->texts = calloc(ncells + 1, sizeof(*g->texts));
	for (size_t i = 0; g->texts && i < ncells; i++) {
		const struct gt_column *col = &t->columns[i % n];
		size_t from = (int)(i % n) == t->replaced ? (size_t)t->by : i % n;

		g->texts[i] = i < n ? strdup(col->title) : gt_cell_words(col, gt_table_cell(t, (unsigned)(i / n) - 1, (unsigned)from), "-");
		if (!g->texts[i])
			return -ENOMEM;
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
static int print_rows(struct gt_out *out, struct grid *g, size_t limit, bool first, bool *told)
{
	int rc = grid_texts(g);

	if (!rc)
		rc = fit(g, limit, !first);
	if (!rc && first) {
		say_hidden(out, g, limit, told);
		rc = print_titles(out, g, limit);
	}
	for (unsigned row = 0; !rc && row < g->t->nrows; row++)
		print_line(out, g, g->texts + (row + 1ul) * g->ncolumns, gt_row_of(g->t, row), limit);
	free_texts(g);
	return rc;
}

int gt_print_grid(struct gt_out *out, struct gt_table *t, size_t limit, bool *told, struct gt_err *err)
{
	unsigned n = gt_text_columns(t);
	size_t *sizes = calloc(2ul * n + 1, sizeof(*sizes));
	struct grid g = { .t = t, .ncolumns = n, .cells = sizes, .indent = 2, .order = calloc(n + 1, sizeof(*g.order)),
			  .hidden = calloc(n + 1, sizeof(*g.hidden)) };
	int rc = sizes && g.order && g.hidden ? gt_table_hold(t, STREAM_ROWS, err) : -ENOMEM;

	g.widths = sizes + n;
	if (!rc)
		rc = print_rows(out, &g, limit, true, told);
	while (!rc && t->source.next && !out->failed) {
		gt_table_keep_rows(t, 0);
		rc = gt_table_hold(t, STREAM_ROWS, err);
		if (!rc)
			rc = print_rows(out, &g, limit, false, told);
	}
	free(sizes);
	free(g.order);
	free(g.hidden);
	return rc;
}
