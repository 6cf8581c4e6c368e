/* Sets the widths of the columns of a grid. If the grid is too wide, it becomes narrower step by
 * step, until it fits:
 *  1. names are cut in the middle, down to NAME_WIDTH;
 *  2. times are cut to microseconds;
 *  3. titles of several words continue in a second line;
 *  4. columns without information are hidden;
 *  5. names that are not in the first column become shorter, down to BESIDE_WIDTH;
 *  6. columns that the report allows to hide are hidden; one that fits after all, because a wider
 * one is hidden, is shown again;
 *  7. names are cut to the shortest unique ones.
 * A note lists the hidden columns. A line that is still too long exceeds the terminal, because a
 * cut number would be wrong.
 */
#include "formats/table/table_grid_internal.h"

#include <stdlib.h>
#include <string.h>
#include "formats/text/utf8.h"
#include "formats/table/figures.h"
#include "formats/table/name_ellipsis.h"

#define NAME_WIDTH 20u   /* names keep so many columns before other columns are hidden, */
#define BESIDE_WIDTH 11u /* or so many if they are not in the first column */
#define NS_DIGITS 3u     /* digits of a time after the microseconds */
/* A wider text exceeds its column: else one name would make every row as wide. */
#define ALIGNED 1000u

/* Bytes of the first word of a title. A % belongs to the word before it. */
static size_t title_word(const char *title)
{
	size_t len = strcspn(title, " ");

	return !strncmp(title + len, " %", 2) ? len + 2 : len;
}

size_t gt_title_line(const char *title, size_t width)
{
	size_t at = title_word(title);

	for (size_t next; title[at]; at = next) {
		next = at + 1 + title_word(title + at + 1);
		if (next > width)
			break;
	}
	return at;
}

unsigned gt_title_lines(const char *title, size_t width)
{
	unsigned n = 0;

	for (size_t len; *title; title += len + (title[len] == ' '), n++)
		len = gt_title_line(title, width);
	return n;
}

/* The width of its widest word, or of all of it. */
static size_t title_width(const struct gt_table_grid *g, unsigned column)
{
	const char *title = gt_table_grid_title(g, column);
	size_t most = 0;

	if (!g->tall)
		return gt_utf8_width(title);
	for (size_t len; *title; title += len + (title[len] == ' ')) {
		len = title_word(title);
		most = len > most ? len : most;
	}
	return most;
}

static size_t total_width(const struct gt_table_grid *g)
{
	size_t total = g->indent;

	for (unsigned i = 0; i < g->ncolumns; i++) {
		/* these may continue in the next line */
		bool words = i + 1 == g->ncolumns && g->t->columns[i].kind == GT_C_WHOLE;

		if (!g->hidden[i])
			total += (words && g->widths[i] > NAME_WIDTH ? NAME_WIDTH : g->widths[i]) +
				(total > g->indent ? GT_TABLE_GRID_GAP : 0);
	}
	return total;
}

/* By how many columns of the terminal a column of names can shrink. */
static size_t can_shrink(const struct gt_table_grid *g, unsigned column, size_t floor)
{
	size_t title = title_width(g, column), least = title > floor ? title : floor;

	return g->hidden[column] || g->t->columns[column].kind != GT_C_TEXT ||
			g->widths[column] < least
		? 0
		: g->widths[column] - least;
}

/* Shrinks the widest column of names to the width of the next one, repeatedly, down to `first` for
 * the first column, whose names identify the row, and to `others` elsewhere. Does the grid fit
 * then? */
static bool squeeze(struct gt_table_grid *g, size_t limit, size_t first, size_t others)
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
			size_t can = can_shrink(g, i, i == lead ? first : others);

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

/* Sets the widths of the cells, which include those of earlier rows. */
static void measure(struct gt_table_grid *g)
{
	const struct gt_table_grid_cell *s = g->texts;

	for (unsigned row = 0; row < g->rows; row++)
		for (unsigned i = 0; i < g->ncolumns; i++, s++)
			if (s->width > g->cells[i]) /* rare */
				g->cells[i] = s->width < ALIGNED ? s->width : ALIGNED;
}

/* Removes the last digits of times. It does not round, so that the event is after a --from of that
 * time. */
static void cut_times(struct gt_table_grid *g)
{
	for (size_t i = 0; i < (size_t)g->rows * g->ncolumns; i++) {
		struct gt_table_grid_cell *s = &g->texts[i];

		if (g->t->columns[i % g->ncolumns].kind != GT_C_TIME || s->absent)
			continue;
		s->len -= NS_DIGITS;
		s->width -= NS_DIGITS;
		gt_table_grid_text(g, s)[s->len] = '\0';
	}
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
	return a->absent == b->absent && a->i == b->i &&
		!strcmp(a->s ? a->s : "", b->s ? b->s : "");
}

/* Is each cell 0, empty or absent, or has the column a place that is the same in all rows? */
static bool has_no_information(const struct gt_table *t, unsigned column)
{
	struct gt_cell first =
		t->nrows ? *gt_table_cell(t, 0, column) : (struct gt_cell){ .absent = true };
	bool zero = true, same = is_place(t->columns[column].key) && !t->incomplete;

	for (unsigned row = 0; row < t->nrows; row++) {
		const struct gt_cell *c = gt_table_cell(t, row, column);

		zero &= c->absent ||
			(gt_is_text(&t->columns[column]) ? !c->s || !*c->s : !c->i && c->d == 0.0);
		same &= same_cell(c, &first);
	}
	return zero || same;
}

/* Lists the columns that may be hidden, those without information first. Returns how many these
 * are. */
static unsigned order_columns(struct gt_table_grid *g)
{
	unsigned nothing = 0;

	for (unsigned pass = 0; pass < 2; pass++) {
		for (const char *k = g->t->hideable_keys ? g->t->hideable_keys : ""; *k;
			k += strcspn(k, " "), k += *k == ' ')
			for (unsigned i = 0; i < g->ncolumns; i++) {
				size_t len = strcspn(k, " ");

				if (!strncmp(g->t->columns[i].key, k, len) &&
					!g->t->columns[i].key[len] &&
					has_no_information(g->t, i) == !pass &&
					g->norder < g->ncolumns)
					g->order[g->norder++] = i;
			}
		nothing = pass ? nothing : g->norder;
	}
	return nothing;
}

/* Hides the columns `from` to before `to` in that order, until the others fit. */
static bool hide(struct gt_table_grid *g, size_t limit, unsigned from, unsigned to, size_t first,
	size_t others)
{
	for (unsigned i = from; i < to; i++) {
		g->hidden[g->order[i]] = true;
		if (squeeze(g, limit, first, others))
			return true;
	}
	return false;
}

/* Shows hidden columns again, the last hidden first, if they fit without shorter names. */
static void unhide(struct gt_table_grid *g, size_t limit, unsigned from)
{
	for (unsigned i = g->norder; i-- > from;) {
		if (!g->hidden[g->order[i]])
			continue;
		g->hidden[g->order[i]] = false;
		g->hidden[g->order[i]] = !squeeze(g, limit, NAME_WIDTH, NAME_WIDTH);
	}
	squeeze(g, limit, NAME_WIDTH, BESIDE_WIDTH);
}

/* Puts titles into one line again if they fit. */
static void widen_titles(struct gt_table_grid *g, size_t limit)
{
	size_t total = total_width(g);

	for (unsigned i = 0; i < g->ncolumns; i++) {
		size_t title = gt_utf8_width(gt_table_grid_title(g, i)),
		       more = title > g->widths[i] ? title - g->widths[i] : 0;

		if (g->hidden[i] || total > limit || more > limit - total)
			continue;
		g->widths[i] += more;
		total += more;
	}
}

/* If names matter more than numbers: hides as many columns as necessary to give each name two
 * fifths of the width. */
static bool favour_names(struct gt_table_grid *g, size_t limit)
{
	size_t wide = limit / 5 * 2;

	if (!g->t->widen_names)
		return false;
	if (squeeze(g, limit, wide, wide) || hide(g, limit, 0, g->norder, wide, wide))
		return true;
	memset(g->hidden, 0, g->ncolumns * sizeof(*g->hidden));
	return false;
}

/* One step after the other, until the grid fits. */
static void shrink(struct gt_table_grid *g, size_t limit)
{
	size_t name = g->t->widen_names ? limit / 5 * 2 : NAME_WIDTH;
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
	nothing = order_columns(g);
	fits = favour_names(g, limit) || squeeze(g, limit, NAME_WIDTH, NAME_WIDTH) ||
		hide(g, limit, 0, nothing, NAME_WIDTH, NAME_WIDTH) ||
		squeeze(g, limit, NAME_WIDTH, BESIDE_WIDTH);
	if (!fits && hide(g, limit, nothing, g->norder, NAME_WIDTH, BESIDE_WIDTH))
		unhide(g, limit, nothing);
	else if (!fits)
		squeeze(g, limit, GT_CLIP_MIN, GT_CLIP_MIN);
	widen_titles(g, limit);
}

/* Shortens the texts of a column that are too wide. */
static int clip(struct gt_table_grid *g, unsigned column)
{
	char **texts = calloc(g->rows + 1ul, sizeof(*texts));
	int rc = texts ? 0 : -ENOMEM;

	for (unsigned row = 0; !rc && row < g->rows; row++)
		rc = (texts[row] = strdup(
			      gt_table_grid_text(g, &g->texts[(size_t)row * g->ncolumns + column])))
			? 0
			: -ENOMEM;
	rc = rc ? rc : gt_clip(texts, g->rows, g->widths[column]);
	for (unsigned row = 0; texts && row < g->rows; row++) {
		struct gt_table_grid_cell *s = &g->texts[(size_t)row * g->ncolumns + column];

		rc = rc ? rc : g->cache.bytes.failed;
		if (!rc && strcmp(gt_table_grid_text(g, s), texts[row])) {
			s->at = g->cache.bytes.len;
			s->len = (uint32_t)strlen(texts[row]);
			s->width = (uint32_t)gt_utf8_width(texts[row]);
			gt_out_add(&g->cache.bytes, texts[row], s->len + 1ul);
		}
		free(texts[row]);
	}
	free(texts);
	gt_out_reserve(&g->cache.bytes, GT_PIECE);
	return rc ? rc : g->cache.bytes.failed;
}

int gt_table_grid_fit(struct gt_table_grid *g, size_t limit, bool printed)
{
	int rc = 0;

	if (printed && g->brief)
		cut_times(g);
	measure(g);
	if (!printed)
		shrink(g, limit);
	else if (!squeeze(g, limit, NAME_WIDTH, BESIDE_WIDTH))
		squeeze(g, limit, GT_CLIP_MIN, GT_CLIP_MIN);
	for (unsigned i = 0; !rc && i < g->ncolumns; i++)
		if (g->widths[i] < g->cells[i])
			rc = clip(g, i);
	return rc;
}
