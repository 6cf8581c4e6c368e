/* Tables as programs read them, csv, tsv and json: every row whole, numbers in whole ns and bytes.
 *
 * Lists have millions of rows of twenty cells, and most of a row is what many others have, too. So
 * a row is written by a recipe: a text that stands in each row of its form (table.h), then a cell,
 * and so on to the end. Names among these cells are spelled once (table_words.h), and the output
 * hears of a row when it is complete.
 */
#include "formats/table/table_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/text/printable.h"
#include "formats/table/text_cache.h"

static bool is_whole(const struct gt_column *col)
{
	return col->kind == GT_C_COUNT || col->kind == GT_C_NS || col->kind == GT_C_TIME ||
		col->kind == GT_C_BYTES;
}

/* The number as it is: ns, bytes, hundredths as a decimal. An infinite one is `none`. */
static char *put_number(
	char *p, const struct gt_column *col, const struct gt_cell *c, const char *none)
{
	enum gt_cell_kind kind = gt_kind_of(col, c);

	if (kind == GT_C_REAL)
		return isfinite(c->d) ? gt_put_general(p, c->d) : stpcpy(p, none);
	return kind == GT_C_PERCENT ? gt_put_hundredths(p, c->i) : gt_put_i64(p, c->i);
}

/* Would a spreadsheet run it? A number is none, nor is a sign alone. */
static bool is_formula(const char *s)
{
	char *end;

	if (!*s || !s[1] || !strchr("=+-@\t", *s))
		return false;
	strtod(s, &end);
	return *end;
}

/* RFC 4180: quoted when it must be, quotes doubled; and never like a line that introduces a table.
 */
static void put_csv_slowly(struct gt_out *out, const char *s)
{
	bool formula = is_formula(s), quoted = formula || strchr(" #", *s) || strpbrk(s, ",\"\r\n"),
	     shown;

	gt_out_str(out, formula ? "\"'" : quoted ? "\"" : "");
	for (size_t n; *s; s += n) {
		n = gt_printable_char(s, &shown);
		if (*s == '"')
			gt_out_add(out, "\"\"", 2);
		else if (shown || *s == '\n' || *s == '\t')
			gt_out_add(out, s, n);
		else
			gt_out_add(out, "?", 1);
	}
	gt_out_str(out, quoted ? "\"" : "");
}

static void put_csv(struct gt_out *out, const char *s)
{
	static const bool special[256] = {
		[0 ... 0x1f] = true, ['"'] = true, [','] = true, [0x7f ... 0xff] = true
	};
	size_t n = 0;

	while (!special[(unsigned char)s[n]])
		n++;
	if (s[n] || (*s && strchr(" #=+-@", *s)))
		put_csv_slowly(out, s);
	else
		gt_out_add(out, s, n);
}

static void put_tsv(struct gt_out *out, const char *s)
{
	static const char plain[] = "\t\n\r\\", letter[] = "tnr\\";
	size_t n;
	bool shown;

	gt_out_str(out, is_formula(s) ? "'" : "");
	for (; *s; s += n) {
		const char *at = strchr(plain, *s);

		n = gt_printable_char(s, &shown);
		if (at)
			gt_out_printf(out, "\\%c", letter[at - plain]);
		else
			gt_out_add(out, shown ? s : "?", shown ? n : 1);
	}
}

/* ---- recipes ---- */

enum cell_kind { WHOLE, TEXT, OTHER, END };
/* A text, and the cell that comes behind it. */
struct step {
	uint32_t text, len;
	uint16_t column;
	uint8_t kind;
};
struct recipes {
	const struct gt_table *t;
	enum gt_table_format format;
	struct gt_out texts; /* of all steps */
	struct step *steps;
	size_t n, cap;
	/* By form: its steps begin at steps[first]; room: bytes that a row takes at most, but for
	 * long texts, 0: not known yet. Any cell of form 0 may differ. */
	struct recipe {
		uint32_t first, room;
	} list[GT_ROW_FORMS + 1];
};
#define CELL_ROOM 64u         /* any number, or a short word */
#define ROOM_MOST (32u << 10) /* of a row; */
/* of all texts: forms that come later are written as form 0 is */
#define TEXTS_MOST (4u << 20)

typedef void speller(struct gt_out *out, const char *s);
static void put_json(struct gt_out *out, const char *s) { gt_out_json(out, s, strlen(s)); }
static speller *speller_of(enum gt_table_format f)
{
	return f == GT_JSON ? put_json : f == GT_TSV ? put_tsv : put_csv;
}
static const char *none_of(enum gt_table_format f) { return f == GT_JSON ? "null" : ""; }

/* What stands before a cell. */
static void put_lead(const struct recipes *r, unsigned column, struct gt_out *to)
{
	if (r->format != GT_JSON) {
		gt_out_str(to, !column ? "" : r->format == GT_TSV ? "\t" : ",");
		return;
	}
	gt_out_str(to, column ? ", " : ",\n      {");
	put_json(to, r->t->columns[column].key);
	gt_out_str(to, ": ");
}

static void put_cell(
	const struct recipes *r, unsigned column, const struct gt_cell *c, struct gt_out *to)
{
	const struct gt_column *col = &r->t->columns[column];

	if (c->absent)
		gt_out_str(to, none_of(r->format));
	else if (gt_is_text(col))
		speller_of(r->format)(to, c->s ? c->s : "");
	else
		gt_out_used(to, put_number(gt_out_room(to, CELL_ROOM), col, c, none_of(r->format)));
}

static int add_step(struct recipes *r, size_t text, unsigned column, enum cell_kind kind)
{
	if (r->texts.failed || gt_grow(&r->steps, &r->cap, r->n + 1, sizeof(*r->steps)))
		return -ENOMEM;
	r->steps[r->n++] = (struct step){ (uint32_t)text, (uint32_t)(r->texts.len - text),
		(uint16_t)column, (uint8_t)kind };
	return 0;
}

/* Steps for all but the cells that are fixed; none is if there are no cells. 0 or -ENOMEM. */
static int add_steps(struct recipes *r, const struct gt_cell *cells)
{
	size_t text = r->texts.len;
	int rc = 0;

	for (unsigned i = 0; !rc && i < r->t->ncolumns; i++) {
		const struct gt_column *col = &r->t->columns[i];

		put_lead(r, i, &r->texts);
		if (cells && cells[i].fixed) {
			put_cell(r, i, &cells[i], &r->texts);
			continue;
		}
		rc = add_step(r, text, i, gt_is_text(col) ? TEXT : is_whole(col) ? WHOLE : OTHER);
		text = r->texts.len;
	}
	gt_out_str(&r->texts, r->format == GT_JSON ? "}" : r->format == GT_TSV ? "\n" : "\r\n");
	gt_out_room(&r->texts, GT_PIECE);
	return rc ? rc : add_step(r, text, 0, END);
}

/* How rows of a form are written: the first of them is at hand. */
static int make_recipe(struct recipes *r, unsigned form, const struct gt_cell *cells)
{
	size_t texts = r->texts.len, first = r->n, room;
	int rc = texts < TEXTS_MOST ? add_steps(r, cells) : 0;

	if (rc)
		return rc;
	room = r->texts.len - texts + (r->n - first) * CELL_ROOM + GT_PIECE;
	if (r->n > first && room <= ROOM_MOST)
		r->list[form] = (struct recipe){ (uint32_t)first, (uint32_t)room };
	else
		r->list[form] = r->list[0];
	return r->list[form].room ? 0 : -E2BIG;
}

/* ---- rows ---- */

struct sheet { /* a table in one of the formats */
	struct gt_out *out;
	struct recipes recipes;
	struct gt_words words;
};
#define WORDS_MOST (256u << 10) /* bytes of words that are remembered */

static int open_sheet(
	struct sheet *s, const struct gt_table *t, enum gt_table_format format, struct gt_out *out)
{
	*s = (struct sheet){ .out = out, .recipes = { .t = t, .format = format } };
	gt_words_init(&s->words, speller_of(format));
	gt_out_memory(&s->recipes.texts);
	return make_recipe(&s->recipes, 0, NULL);
}

/* The first error, of rc and its own. */
static int close_sheet(struct sheet *s, int rc)
{
	rc = rc ? rc : s->words.bytes.failed;
	gt_words_release(&s->words);
	gt_out_close(&s->recipes.texts, NULL);
	free(s->recipes.steps);
	return rc;
}

/* room: what the rest of the row takes. */
static char *put_text(struct sheet *s, char *p, const struct gt_cell *c, size_t room)
{
	const char *text = c->s ? c->s : "";

	if (c->lasting) {
		struct gt_word word = gt_words_get(&s->words, text, true);

		if (word.len <= CELL_ROOM)
			return gt_put_pieces(p, s->words.bytes.data + word.at, word.len);
		gt_out_used(s->out, p);
		gt_out_add(s->out, s->words.bytes.data + word.at, word.len);
	} else {
		gt_out_used(s->out, p);
		s->words.spell(s->out, text);
	}
	return gt_out_room(s->out, room);
}

/* Any but a whole number. */
static char *put_other(
	struct sheet *s, char *p, const struct step *step, const struct gt_cell *c, size_t room)
{
	if (step->kind == TEXT && !c->absent)
		return put_text(s, p, c, room);
	return c->absent ? stpcpy(p, none_of(s->recipes.format))
			 : put_number(p, &s->recipes.t->columns[step->column], c,
				   none_of(s->recipes.format));
}

/* skip: bytes of what comes before it. 0 or negative. */
static int put_row(struct sheet *s, const struct gt_row_at_hand *row, unsigned skip)
{
	struct recipe *recipe = &s->recipes.list[row->form];
	const struct step *step;
	const char *texts;
	char *p;
	int rc = recipe->room ? 0 : make_recipe(&s->recipes, row->form, row->cells);

	if (rc)
		return rc;
	if (s->words.bytes.len > WORDS_MOST)
		gt_words_clear(&s->words);
	texts = s->recipes.texts.data;
	step = s->recipes.steps + recipe->first;
	p = gt_out_room(s->out, recipe->room);
	p = gt_put_pieces(p, texts + step->text + skip, step->len - skip);
	for (; step->kind != END; step++, p = gt_put_pieces(p, texts + step->text, step->len)) {
		const struct gt_cell *c = &row->cells[step->column];

		p = step->kind == WHOLE && !c->absent ? gt_put_i64(p, c->i)
						      : put_other(s, p, step, c, recipe->room);
	}
	gt_out_used(s->out, p);
	return 0;
}

/* All rows. skip: bytes of what comes before the first of them. */
static int put_rows(struct gt_table *t, enum gt_table_format format, unsigned skip,
	struct gt_out *out, struct gt_err *err)
{
	struct gt_row_at_hand row;
	struct sheet s;
	int more = open_sheet(&s, t, format, out);

	for (unsigned i = 0; !more && i < t->nrows; i++)
		more = put_row(&s, &(struct gt_row_at_hand){ (struct gt_cell *)gt_row_of(t, i), 0 },
			i ? 0 : skip);
	/* behind the first, which is held */
	while (!more && !out->failed && (more = gt_table_pull(t, &row, err)) > 0)
		more = put_row(&s, &row, 0);
	return close_sheet(&s, more);
}

/* ---- tables ---- */

static int separated_table(struct gt_out *out, struct gt_table *t, bool tabs, struct gt_err *err)
{
	for (unsigned i = 0; i < t->ncolumns; i++) {
		gt_out_str(out, !i ? "" : tabs ? "\t" : ",");
		(tabs ? put_tsv : put_csv)(out, t->columns[i].key);
	}
	gt_out_str(out, tabs ? "\n" : "\r\n");
	return put_rows(t, tabs ? GT_TSV : GT_CSV, 0, out, err);
}

int gt_print_separated(struct gt_table *const *tables, unsigned n, const char *label,
	struct gt_out *out, bool tabs, struct gt_err *err)
{
	const char *eol = tabs ? "\n" : "\r\n";
	char *name = label ? gt_printable(label, 0) : NULL;
	int rc = 0;

	for (unsigned k = 0; !rc && k < n; k++) {
		gt_out_str(out, k ? eol : "");
		if (n > 1 || label)
			gt_out_printf(out, "# %s%s%s%s", tables[k]->name, name ? " " : "",
				name ? name : "", eol);
		rc = separated_table(out, tables[k], tabs, err);
	}
	free(name);
	return rc;
}

static int json_table(struct gt_out *out, struct gt_table *t, struct gt_err *err)
{
	static const char *const states[] = { [GT_ANSWERED] = "answered",
		[GT_FOUND] = "found",
		[GT_CANNOT] = "cannot answer",
		[GT_CANNOT_PART] = "cannot answer" };
	int rc;

	gt_out_str(out, "  ");
	gt_out_json(out, t->name, strlen(t->name));
	gt_out_str(out, ": {\n    \"rows\": [");
	rc = put_rows(t, GT_JSON, 1, out, err); /* no comma before the first */
	gt_out_str(out, t->nrows ? "\n    ],\n    \"notes\": [" : "],\n    \"notes\": [");
	for (size_t i = 0; i < t->nnotes; i++) {
		gt_out_str(out, i ? ", " : "");
		gt_out_json(out, t->notes[i].text, strlen(t->notes[i].text));
	}
	gt_out_printf(out, "],\n    \"state\": \"%s\"\n  }", states[t->answer]);
	return rc;
}

int gt_print_json(
	struct gt_table *const *tables, unsigned n, struct gt_out *out, struct gt_err *err)
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
