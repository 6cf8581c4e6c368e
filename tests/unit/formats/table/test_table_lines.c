/* Rows of a source as text: random tables compared with lines that this test formats in a simple
 * way; and figures compared with printf's. */
#include "tests/unit/t.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "formats/table/figures.h"

#define COLUMNS 8
#define ROWS 5300
#define BATCH 1000 /* rows that are aligned together */
#define FORMS 23

static const struct gt_column columns[COLUMNS] = {
	{ "a", "A", GT_C_TIME },
	{ "b", "Bee", GT_C_NS },
	{ "c", "C c", GT_C_TEXT },
	{ "d", "D", GT_C_COUNT },
	{ "e", "E", GT_C_BYTES },
	{ "f", "F", GT_C_PERCENT },
	{ "g", "Gee", GT_C_WHOLE },
	{ "h", "", GT_C_TEXT },
};

struct random_table {
	unsigned seed, next, magnitude;
	bool forms, instead;
	struct gt_cell cells[ROWS][COLUMNS];
	unsigned form[ROWS];
	char texts[ROWS][COLUMNS][24], *longest;
	struct gt_cell given[COLUMNS]; /* the current row, */
	char passing[COLUMNS][24];     /* and its texts that do not last */
};

static unsigned below(unsigned n) { return (unsigned)rand() % n; }

/* Sometimes larger ones, with time. */
static int64_t number(unsigned row)
{
	int64_t v = rand();

	v = v % (below(200) ? 1000 + row : below(3) ? 2000000 : 4000000000000000);
	return below(40) ? v : -v;
}

static void random_text(struct random_table *r, char *to)
{
	static const char *const words[] = { "", "x", "gemm", "add ", " two words",
		"\xc3\xa9t\xc3\xa9", "a\tb\x7f", "cuLaunchKernel" };
	const char *word = words[below(r->seed % 3 ? 8 : 5)];

	snprintf(to, 24, "%s%.*d", word, (int)below(2), (int)below(below(300) ? 3 : 1000000));
}

static struct gt_cell random_cell(struct random_table *r, unsigned row, unsigned column)
{
	bool text = gt_is_text(&columns[column]);
	struct gt_cell c = { .absent = !below(7),
		.change = !below(9),
		.i = number(row),
		.indent = text && !below(30) ? 2 : 0 };

	if (text || !below(5))
		random_text(r, r->texts[row][column]);
	if (text || (c.absent && *r->texts[row][column] && !below(2)))
		c.s = r->texts[row][column];
	if (text && !below(4000))
		c.s = r->longest;
	c.lasting = c.s && below(2);
	return c;
}

/* As the cell is in the row before of its form: nearly always in some columns, never in others; or
 * but for how it is shown. */
static void repeat(struct gt_cell *c, const struct gt_cell *last, unsigned which, bool text)
{
	unsigned other = below(12);

	if (!which || (!below(which * 40) && other > 2))
		return;
	*c = *last;
	c->absent ^= other == 0 && !below(which * 10);
	c->change ^= other == 1 && !below(which * 10);
	c->indent = other == 2 && text && !below(which * 10) ? 2 - c->indent : c->indent;
}

/* Rows of a form have the cells that are fixed from the first of it. */
static void fill(struct random_table *r, unsigned seed)
{
	static unsigned first[FORMS + 1], last[FORMS + 1];
	static bool fixed[FORMS + 1][COLUMNS];

	srand(seed);
	r->seed = seed;
	r->next = 0;
	r->forms = seed % 2;
	r->instead = seed % 5 == 0;
	memset(first, 0xff, sizeof(first));
	for (unsigned row = 0; row < ROWS; row++) {
		unsigned form = r->forms ? below(FORMS + 1) : 0;

		r->form[row] = form;
		for (unsigned i = 0; i < COLUMNS; i++) {
			struct gt_cell *c = &r->cells[row][i];

			*c = random_cell(r, row, i);
			if (form && first[form] == UINT32_MAX)
				fixed[form][i] = below(2);
			if (form && first[form] < row && fixed[form][i])
				*c = r->cells[first[form]][i];
			else if (form && first[form] < row)
				repeat(c, &r->cells[last[form]][i], (seed + i) % 3,
					gt_is_text(&columns[i]));
			c->fixed = form && fixed[form][i];
		}
		first[form] = first[form] == UINT32_MAX ? row : first[form];
		last[form] = row;
	}
}

static int next_row(void *arg, struct gt_row_at_hand *row, struct gt_err *err)
{
	struct random_table *r = arg;

	if (r->next == ROWS)
		return 0;
	memcpy(r->given, r->cells[r->next], sizeof(r->given));
	for (unsigned i = 0; i < COLUMNS; i++)
		if (r->given[i].s && !r->given[i].lasting && r->given[i].s != r->longest)
			r->given[i].s = strcpy(r->passing[i], r->given[i].s);
	*row = (struct gt_row_at_hand){ r->given, r->form[r->next++] };
	return 1;
}

/* ---- the plain way ---- */

static size_t width_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static const char *text_of(const struct random_table *r, unsigned row, unsigned column)
{
	static char text[8192];
	const struct gt_cell *c = &r->cells[row][r->instead && column == 2 ? 7 : column];
	char *end = text;

	if (c->absent) {
		end = stpcpy(text, c->s ? c->s : "-");
	} else if (gt_is_text(&columns[column])) {
		memset(text, ' ', c->indent);
		end = stpcpy(text + c->indent, c->s);
	} else {
		end = gt_put_figure(text, &columns[column], c);
	}
	*end = '\0';
	for (char *s = text; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
	return text;
}

static void put_line(
	struct gt_out *out, const struct random_table *r, int row, const size_t *widths)
{
	size_t owed = 2;

	for (unsigned i = 0; i < COLUMNS; i++) {
		const char *s = row < 0 ? columns[i].title : text_of(r, (unsigned)row, i);
		size_t n = width_of(s), pad = widths[i] > n ? widths[i] - n : 0;
		bool left = gt_is_text(&columns[i]);

		owed += left ? 0 : pad;
		if (n) {
			for (; owed; owed--)
				gt_out_str(out, " ");
			gt_out_str(out, s);
		}
		owed += 2 + (left ? pad : 0);
	}
	gt_out_str(out, "\n");
}

static void print_plainly(const struct random_table *r, struct gt_out *out)
{
	size_t widths[COLUMNS];

	gt_out_memory(out);
	gt_out_str(out, "Random\n");
	for (unsigned i = 0; i < COLUMNS; i++)
		widths[i] = strlen(columns[i].title);
	for (unsigned from = 0; from < ROWS; from += BATCH) {
		for (unsigned row = from; row < from + BATCH && row < ROWS; row++)
			for (unsigned i = 0; i < COLUMNS; i++) {
				size_t n = width_of(text_of(r, row, i));

				n = n < 1000 ? n : 1000; /* longer text exceeds its column */
				widths[i] = n > widths[i] ? n : widths[i];
			}
		if (!from)
			put_line(out, r, -1, widths);
		for (unsigned row = from; row < from + BATCH && row < ROWS; row++)
			put_line(out, r, (int)row, widths);
	}
}

/* The first line that differs. */
static void tell(const struct gt_out *a, const struct gt_out *b)
{
	size_t at = 0, line = 0;

	while (at < a->len && at < b->len && a->data[at] == b->data[at])
		line = a->data[at++] == '\n' ? at : line;
	printf("# %.*s\n# %.*s\n", (int)strcspn(a->data + line, "\n"), a->data + line,
		(int)strcspn(b->data + line, "\n"), b->data + line);
}

static void random_rows_are_aligned(void)
{
	struct random_table *r = calloc(1, sizeof(*r));

	r->longest = malloc(1501);
	memset(r->longest, 'l', 1500);
	r->longest[1500] = '\0';
	for (unsigned seed = 1; seed <= 16; seed++) {
		struct gt_table *t = gt_table_new("random", "Random", columns, COLUMNS);
		struct gt_out plain, have;
		bool ok;

		fill(r, seed);
		r->longest[70] = seed % 2 ? 'l' : '\0'; /* longer than is aligned; and only long */
		if (r->instead)
			gt_table_replace_column(t, "c", "h");
		gt_out_memory(&have);
		CHECK(!gt_table_stream(t, &(struct gt_row_source){ next_row, NULL, r }, NULL) &&
			!gt_tables_print(&t, 1, GT_TEXT, NULL, &have, NULL));
		print_plainly(r, &plain);
		ok = have.len == plain.len && !memcmp(have.data, plain.data, plain.len);
		if (!ok) {
			printf("# seed %u\n", seed);
			tell(&plain, &have);
		}
		CHECK(ok);
		gt_out_close(&plain, NULL);
		gt_out_close(&have, NULL);
		gt_table_free(t);
	}
	free(r->longest);
	free(r);
}

/* ---- figures ---- */

static void scale(char *to, size_t size, double v, bool bytes)
{
	static const struct {
		double from, by;
		const char *unit;
	} times[] = { { 999950000, 1e9, "s" }, { 999950, 1e6, "ms" }, { 1e3, 1e3, "us" },
		{ 0, 1, "ns" } },
	  sizes[] = { { 0x1p50, 0x1p50, "PiB" }, { 0x1p40, 0x1p40, "TiB" },
		  { 0x1p30, 0x1p30, "GiB" }, { 0x1p20, 0x1p20, "MiB" }, { 0x1p10, 0x1p10, "KiB" },
		  { 0, 1, "B" } };
	unsigned i = 0;
	double by, a;

	while (fabs(v) < (bytes ? sizes[i].from : times[i].from))
		i++;
	by = bytes ? sizes[i].by : times[i].by;
	a = fabs(v) / by;
	snprintf(to, size, "%.*f %s",
		by == 1              ? 0
			: a < 9.9995 ? 3
			: a < 99.995 ? 2
			: a < 999.95 ? 1
				     : 0,
		v / by, bytes ? sizes[i].unit : times[i].unit);
}

/* The ways that are taken most often; some figures they leave to others. */
static bool put_plain(char *end, size_t width, enum gt_cell_kind kind, int64_t v)
{
	static struct gt_second second;
	const struct gt_cell c = { .i = v };

	second = second.len ? second : gt_second_of(0);
	return kind == GT_C_NS      ? gt_put_plain_time(end, width, &c)
		: kind == GT_C_TIME ? gt_put_plain_seconds(end, width, &c, &second)
				    : kind == GT_C_COUNT && gt_put_plain_count(end, width, &c);
}

/* Values below 0, bytes, too many seconds, and durations that are too long or exactly between
 * two values of four digits. */
static bool is_left_to_others(enum gt_cell_kind kind, int64_t v)
{
	int64_t digits = v;

	while (digits > 0 && digits % 10 == 0)
		digits /= 10;
	return v < 0 || kind == GT_C_BYTES ||
		(kind == GT_C_NS && (v >= GT_FOURS_END || (digits >= 10000 && digits % 10 == 5))) ||
		(kind == GT_C_TIME && v >= 10000000000000000);
}

static bool is_plain(int64_t v, enum gt_cell_kind kind, const char *want)
{
	size_t n = strlen(want);
	char text[96];

	memset(text, '~', sizeof(text));
	if (!put_plain(text + n + 3, n + 1, kind, v))
		return is_left_to_others(kind, v);
	return !memcmp(text, "~~~", 3) && !memcmp(text + 3, want, n) &&
		!put_plain(text + n + 3, n - 1, kind, v);
}

static bool is_scaled(int64_t v, enum gt_cell_kind kind)
{
	const struct gt_column col = { "x", "X", kind };
	char want[64], right[96], figure[96];
	size_t n;

	if (kind == GT_C_COUNT)
		snprintf(want, sizeof(want), "%lld", (long long)v);
	else if (kind == GT_C_TIME)
		snprintf(want, sizeof(want), "%s%lld.%09lld", v < 0 ? "-" : "",
			(long long)llabs(v / 1000000000), (long long)llabs(v % 1000000000));
	else
		scale(want, sizeof(want), (double)v, kind == GT_C_BYTES);
	n = strlen(want);
	*gt_put_figure(figure, &col, &(struct gt_cell){ .i = v }) = '\0';
	memset(right, '~', sizeof(right));
	if (strcmp(figure, want) ||
		!gt_put_figure_right(right, n + 3, &col, &(struct gt_cell){ .i = v }) ||
		memcmp(right, "~~~", 3) || memcmp(right + 3, want, n) ||
		gt_put_figure_right(right + 30, n - 1, &col, &(struct gt_cell){ .i = v }) ||
		!is_plain(v, kind, want)) {
		printf("# %lld: %s, not %s\n", (long long)v, figure, want);
		return false;
	}
	return true;
}

static bool all_kinds(int64_t v)
{
	return is_scaled(v, GT_C_NS) && is_scaled(v, GT_C_BYTES) && is_scaled(v, GT_C_COUNT) &&
		is_scaled(v, GT_C_TIME);
}

static void figures_are_those_of_printf(void)
{
	for (int64_t v = 0; v < 200000; v++)
		CHECK(all_kinds(v));
	/* about all limits, and in the middle between two */
	for (int64_t ten = 1; ten < 1000000000000000; ten *= 10)
		for (int64_t of = 1; of < 100; of++)
			for (int64_t by = -6; by <= 6; by++)
				for (int half = 0; half < 2; half++)
					CHECK(all_kinds(ten * of + by + (half ? ten / 2 : 0)) &&
						all_kinds(
							ten * 1000 - (ten + 1) / 2 * of / 10 + by));
	srand(3);
	for (int i = 0; i < 300000; i++) {
		int64_t v = ((int64_t)rand() << 31 ^ rand()) >> (rand() % 52 + 11);

		CHECK(all_kinds(v) && all_kinds(-v));
	}
}

T_MAIN(T(random_rows_are_aligned), T(figures_are_those_of_printf))
