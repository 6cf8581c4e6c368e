/* Rows in aligned columns, as wide as the terminal.
 *
 * If the grid is too wide, it becomes narrower step by step, until it fits:
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
 *
 * The width of a column depends on all rows that are aligned together. So the texts of their cells
 * are stored first, and printed when the widths are known. A source may have millions of rows. Into
 * a file, these are written directly with the widths so far (row_writer.h), in batches that are
 * aligned together; only rows that do not fit are stored.
 */
#include "formats/table/table_internal.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/numbers.h"
#include "formats/text/utf8.h"
#include "formats/table/name_ellipsis.h"
#include "formats/table/figures.h"
#include "formats/table/table_layout.h"
#include "formats/table/row_writer.h"

#define NAME_WIDTH 20u   /* names keep so many columns before other columns are hidden, */
#define BESIDE_WIDTH 11u /* or so many if they are not in the first column */
#define NS_DIGITS 3u     /* digits of a time after the microseconds */
#define GAP 2u
/* A wider text exceeds its column: else one name would make every row as wide. */
#define ALIGNED 1000u
#define CACHE_MOST (64u << 10) /* bytes of texts that are cached from one batch to the next */
#define BATCH 1000u            /* rows of a source that are aligned together */

/* the text of a cell: cache.bytes.data + at, with a 0 behind */
struct grid_cell {
	size_t at;
	uint32_t len, width;
	enum gt_tone tone;
	bool absent;
};
struct grid {
	const struct gt_table *t;
	unsigned ncolumns, norder, rows;
	struct grid_cell *texts; /* of `rows` rows */
	size_t texts_cap;
	struct gt_text_cache cache;
	size_t *cells, *widths, indent; /* cells: width of the widest one of the column */
	unsigned *order;                /* columns that may be hidden, the first to go first */
	/* tall: titles continue in further lines; brief: times are cut; plain: no colours and no
	 * end of the line, as in a file */
	bool *hidden, tall, brief, plain;
	struct gt_row_column *shown; /* those that are not hidden */
	unsigned nshown;
	struct gt_row_writer writer; /* writes plain rows */
	/* Of a source, if it is plain: the rows of the batch. Rows that the writer refused are a
	 * line "\0" here, and are in `texts`. */
	struct gt_out batch;
	unsigned refused;
};

static const char *title_of(const struct grid *g, unsigned column)
{
	return g->t->columns[column].title;
}
static char *text_of(const struct grid *g, const struct grid_cell *s)
{
	return g->cache.bytes.data + s->at;
}

/* Bytes of the first word of a title. A % belongs to the word before it. */
static size_t title_word(const char *title)
{
	size_t len = strcspn(title, " ");

	return !strncmp(title + len, " %", 2) ? len + 2 : len;
}

/* Bytes of a title that fit into one line of that width: whole words, at least one. */
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

/* The width of its widest word, or of all of it. */
static size_t title_width(const struct grid *g, unsigned column)
{
	const char *title = title_of(g, column);
	size_t most = 0;

	if (!g->tall)
		return gt_utf8_width(title);
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
		/* these may continue in the next line */
		bool words = i + 1 == g->ncolumns && g->t->columns[i].kind == GT_C_WHOLE;

		if (!g->hidden[i])
			total += (words && g->widths[i] > NAME_WIDTH ? NAME_WIDTH : g->widths[i]) +
				(total > g->indent ? GAP : 0);
	}
	return total;
}

/* By how many columns of the terminal a column of names can shrink. */
static size_t can_shrink(const struct grid *g, unsigned column, size_t floor)
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
static void measure(struct grid *g)
{
	const struct grid_cell *s = g->texts;

	for (unsigned row = 0; row < g->rows; row++)
		for (unsigned i = 0; i < g->ncolumns; i++, s++)
			if (s->width > g->cells[i]) /* rare */
				g->cells[i] = s->width < ALIGNED ? s->width : ALIGNED;
}

/* Removes the last digits of times. It does not round, so that the event is after a --from of that
 * time. */
static void cut_times(struct grid *g)
{
	for (size_t i = 0; i < (size_t)g->rows * g->ncolumns; i++) {
		struct grid_cell *s = &g->texts[i];

		if (g->t->columns[i % g->ncolumns].kind != GT_C_TIME || s->absent)
			continue;
		s->len -= NS_DIGITS;
		s->width -= NS_DIGITS;
		text_of(g, s)[s->len] = '\0';
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
static unsigned order_columns(struct grid *g)
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
static bool hide(
	struct grid *g, size_t limit, unsigned from, unsigned to, size_t first, size_t others)
{
	for (unsigned i = from; i < to; i++) {
		g->hidden[g->order[i]] = true;
		if (squeeze(g, limit, first, others))
			return true;
	}
	return false;
}

/* Shows hidden columns again, the last hidden first, if they fit without shorter names. */
static void unhide(struct grid *g, size_t limit, unsigned from)
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
static void widen_titles(struct grid *g, size_t limit)
{
	size_t total = total_width(g);

	for (unsigned i = 0; i < g->ncolumns; i++) {
		size_t title = gt_utf8_width(title_of(g, i)),
		       more = title > g->widths[i] ? title - g->widths[i] : 0;

		if (g->hidden[i] || total > limit || more > limit - total)
			continue;
		g->widths[i] += more;
		total += more;
	}
}

/* If names matter more than numbers: hides as many columns as necessary to give each name two
 * fifths of the width. */
static bool favour_names(struct grid *g, size_t limit)
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
static void shrink(struct grid *g, size_t limit)
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
static int clip(struct grid *g, unsigned column)
{
	char **texts = calloc(g->rows + 1ul, sizeof(*texts));
	int rc = texts ? 0 : -ENOMEM;

	for (unsigned row = 0; !rc && row < g->rows; row++)
		rc = (texts[row] = strdup(
			      text_of(g, &g->texts[(size_t)row * g->ncolumns + column])))
			? 0
			: -ENOMEM;
	rc = rc ? rc : gt_clip(texts, g->rows, g->widths[column]);
	for (unsigned row = 0; texts && row < g->rows; row++) {
		struct grid_cell *s = &g->texts[(size_t)row * g->ncolumns + column];

		rc = rc ? rc : g->cache.bytes.failed;
		if (!rc && strcmp(text_of(g, s), texts[row])) {
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

/* Sets all widths. printed: the titles are printed, so hidden columns and titles cannot change. */
static int fit(struct grid *g, size_t limit, bool printed)
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

/* "  (2 columns left out: p50, Failed)" */
static void print_hidden(struct gt_out *out, const struct grid *g, size_t limit, bool *hint)
{
	struct gt_buf b = { 0 };
	unsigned n = 0, named = 0;

	for (unsigned i = 0; i < g->ncolumns; i++)
		n += g->hidden[i];
	if (!n)
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
static void print_cell(struct gt_out *out, const struct grid *g, struct line *line, unsigned column,
	const char *text, size_t width, enum gt_tone tone, size_t limit)
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
	line->owed += GAP + (left ? pad : 0);
}

static void print_row(
	struct gt_out *out, const struct grid *g, const struct grid_cell *row, size_t limit)
{
	struct line line = { .owed = g->indent };

	for (unsigned i = 0; i < g->ncolumns; i++)
		if (!g->hidden[i])
			print_cell(out, g, &line, i, text_of(g, &row[i]), row[i].width, row[i].tone,
				limit);
	gt_out_str(out, "\n");
}

/* Which columns are printed, and how wide they are. */
static void set_shown(struct grid *g)
{
	g->nshown = 0;
	for (unsigned i = 0; i < g->ncolumns; i++)
		if (!g->hidden[i])
			g->shown[g->nshown++] = (struct gt_row_column){ i, (unsigned)g->widths[i] };
}

/* The titles, line by line. A title of fewer lines than others is at the bottom. */
static int print_titles(struct gt_out *out, const struct grid *g, size_t limit)
{
	const char **rest = calloc(g->ncolumns + 1, sizeof(*rest));
	unsigned left = 0, failed = !rest;

	for (unsigned i = 0; rest && i < g->ncolumns; i++) {
		rest[i] = title_of(g, i);
		if (!g->hidden[i] && title_lines(rest[i], g->widths[i]) > left)
			left = title_lines(rest[i], g->widths[i]);
	}
	for (; left && !failed; left--) {
		struct line line = { .owed = g->indent };

		for (unsigned i = 0; i < g->ncolumns && !failed; i++) {
			size_t len = title_lines(rest[i], g->widths[i]) < left
				? 0
				: title_line(rest[i], g->widths[i]);
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

static struct gt_cached_text indented_text(struct grid *g, const struct gt_cell *c)
{
	struct gt_cached_text text;
	size_t at = g->cache.bytes.len;

	gt_put_spaces(&g->cache.bytes, c->indent);
	text = gt_text_cache_add(&g->cache, c->s ? c->s : "");
	return (struct gt_cached_text){
		.at = at, .len = text.len + c->indent, .width = text.width + c->indent
	};
}

static void set_text(
	struct grid *g, struct grid_cell *to, const struct gt_column *col, const struct gt_cell *c)
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

static int add_row(struct grid *g, const struct gt_cell *cells)
{
	const struct gt_table *t = g->t;
	struct grid_cell *to;

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

static int add_stored_rows(struct grid *g)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < g->t->nrows; i++)
		rc = add_row(g, gt_row_of(g->t, i));
	return rc;
}

/* ---- batches of a source ---- */

static bool is_wider(const struct grid *g, const struct grid_cell *row)
{
	for (unsigned i = 0; i < g->nshown; i++)
		if (row[g->shown[i].column].width > g->shown[i].width)
			return true;
	return false;
}

/* A line of the batch with the new widths: blanks are inserted before a number and behind a text.
 * The line of a refused row is shorter than the indentation, and does not change. */
static void realign_line(const struct grid *g, const char *line, size_t n, struct gt_out *to)
{
	const struct gt_row_column *old = g->writer.columns;
	size_t at = g->indent, from = 0;

	for (unsigned i = 0; i < g->nshown; at += old[i++].width + GAP) {
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
static void realign_batch(struct grid *g)
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
static int add_refused_row(struct grid *g, const struct gt_cell *cells)
{
	int rc = add_row(g, cells);

	gt_out_add(&g->batch, "\0\n", 2);
	g->refused++;
	if (rc || !is_wider(g, g->texts + (g->rows - 1ul) * g->ncolumns))
		return rc;
	rc = fit(g, SIZE_MAX, true);
	set_shown(g);
	realign_batch(g);
	return rc;
}

static int pull_batch(struct grid *g, struct gt_table *t, struct gt_err *err)
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

static void print_batch(struct gt_out *out, const struct grid *g)
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

static int open_grid(struct grid *g, const struct gt_table *t)
{
	unsigned n = gt_text_columns(t);

	*g = (struct grid){ .t = t,
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

static void close_grid(struct grid *g)
{
	gt_text_cache_release(&g->cache);
	free(g->texts);
	free(g->shown);
	free(g->cells);
	free(g->order);
	free(g->hidden);
}

/* The stored rows, below the titles. */
static int print_stored_rows(struct gt_out *out, struct grid *g, size_t limit, bool *hint)
{
	int rc = add_stored_rows(g);

	rc = rc ? rc : fit(g, limit, false);
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
static int print_source(
	struct gt_out *out, struct grid *g, struct gt_table *t, size_t limit, struct gt_err *err)
{
	int rc = 0;

	gt_out_memory(&g->batch);
	g->writer.out = &g->batch;
	while (!rc && t->source.next && !out->failed) {
		rc = pull_batch(g, t, err);
		if (!rc && g->plain)
			print_batch(out, g);
		else if (!rc && !(rc = fit(g, limit, true)))
			for (unsigned i = 0; i < g->rows; i++)
				print_row(out, g, g->texts + (size_t)i * g->ncolumns, limit);
	}
	gt_out_close(&g->batch, NULL);
	return rc;
}

int gt_print_grid(
	struct gt_out *out, struct gt_table *t, size_t limit, bool *hint, struct gt_err *err)
{
	struct grid g;
	int rc = open_grid(&g, t), failed;

	g.plain = limit == SIZE_MAX && !t->wrap_width && !out->colours;
	if (!rc)
		rc = gt_row_writer_open(&g.writer, t, &gt_row_text, &g.cache);
	g.writer.out = out;
	g.writer.indent = (unsigned)g.indent;
	g.writer.gap = GAP;
	if (!rc)
		rc = gt_table_store_rows(t, BATCH, err);
	if (!rc)
		rc = print_stored_rows(out, &g, limit, hint);
	if (!rc && t->source.next)
		rc = print_source(out, &g, t, limit, err);
	failed = gt_row_writer_close(&g.writer);
	close_grid(&g);
	return rc ? rc : failed;
}

/* ---- the layout for the viewer ---- */

struct gt_table_layout {
	struct grid g;
	struct gt_layout_column *columns;
	unsigned n, title_lines;
};

static void place(struct gt_table_layout *l)
{
	size_t at = l->g.indent;

	for (unsigned i = 0; i < l->g.ncolumns; i++) {
		if (l->g.hidden[i])
			continue;
		l->columns[l->n++] = (struct gt_layout_column){ i, (unsigned)at,
			(unsigned)l->g.widths[i], gt_is_text(&l->g.t->columns[i]) };
		at += l->g.widths[i] + GAP;
		if (title_lines(title_of(&l->g, i), l->g.widths[i]) > l->title_lines)
			l->title_lines = title_lines(title_of(&l->g, i), l->g.widths[i]);
	}
}

struct gt_table_layout *gt_table_layout_new(
	const struct gt_table *t, size_t width, struct gt_err *err)
{
	struct gt_table_layout *l = calloc(1, sizeof(*l));
	int rc = l ? open_grid(&l->g, t) : -ENOMEM;

	if (!rc && !(l->columns = calloc(l->g.ncolumns + 1ul, sizeof(*l->columns))))
		rc = -ENOMEM;
	if (!rc)
		rc = add_stored_rows(&l->g);
	if (!rc)
		rc = fit(&l->g, width, false);
	if (!rc) {
		place(l);
		return l;
	}
	gt_table_layout_free(l);
	gt_err_set(err, rc, "out of memory (table layout)");
	return NULL;
}

void gt_table_layout_free(struct gt_table_layout *l)
{
	if (!l)
		return;
	close_grid(&l->g);
	free(l->columns);
	free(l);
}

const struct gt_layout_column *gt_layout_columns(const struct gt_table_layout *l, unsigned *n)
{
	*n = l->n;
	return l->columns;
}

unsigned gt_layout_title_lines(const struct gt_table_layout *l) { return l->title_lines; }

const char *gt_layout_title(const struct gt_table_layout *l, unsigned i, unsigned line, size_t *len)
{
	const char *title = title_of(&l->g, l->columns[i].column);
	unsigned above = l->title_lines - title_lines(title, l->columns[i].width);

	*len = 0;
	if (line < above)
		return title;
	for (; line > above; line--) {
		size_t n = title_line(title, l->columns[i].width);

		title += n + (title[n] == ' ');
	}
	*len = title_line(title, l->columns[i].width);
	return title;
}

struct gt_layout_cell gt_layout_cell(const struct gt_table_layout *l, unsigned row, unsigned i)
{
	const struct grid_cell *s = &l->g.texts[(size_t)row * l->g.ncolumns + l->columns[i].column];

	return (struct gt_layout_cell){ text_of(&l->g, s), s->width, s->tone };
}
