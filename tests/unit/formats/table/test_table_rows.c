/* Tables whose rows come from a source, one after the other, as they are printed. */
#include "tests/unit/t.h"

#include <fcntl.h>
#include <unistd.h>
#include "tests/unit/formats/table/tables.h"

struct counting {
	int next, n, fails_at, closed;
	char text[32];
};

static int count_on(void *arg, struct gt_row_at_hand *row, struct gt_err *err)
{
	struct counting *c = arg;
	struct gt_cell *cells = row->cells;

	if (c->next == c->fails_at)
		return gt_err_set(err, -EIO, "the source broke");
	if (c->next == c->n)
		return 0;
	snprintf(c->text, sizeof(c->text), "row %d", c->next); /* valid until the next row */
	cells[0] = (struct gt_cell){ .s = c->text };
	cells[1] =
		c->next % 2 ? (struct gt_cell){ .absent = true } : (struct gt_cell){ .i = c->next };
	c->next++;
	return 1;
}

static void count_close(void *arg) { ((struct counting *)arg)->closed++; }

static const struct gt_column two[] = { { "name", "Name", GT_C_TEXT },
	{ "count", "Count", GT_C_COUNT } };

/* fails_at: the row at which the source fails; -1: none */
static struct gt_table *counted(struct counting *c, int n, int fails_at)
{
	struct gt_table *t = gt_table_new("counted", "Counted", two, 2);
	struct gt_err err = GT_ERR_INIT;

	*c = (struct counting){ .n = n, .fails_at = fails_at };
	if (!gt_table_stream(t, &(struct gt_row_source){ count_on, count_close, c }, &err))
		return t;
	gt_table_free(t);
	return NULL;
}

static void a_source_gives_the_rows(void)
{
	static const enum gt_table_format all[] = { GT_TEXT, GT_CSV, GT_TSV, GT_JSON };
	struct counting c;

	for (unsigned i = 0; i < 4; i++) {
		struct gt_table *t = counted(&c, 3, -1),
				*held = gt_table_new("counted", "Counted", two, 2);
		char *want;

		for (int k = 0; k < 3; k++) {
			char name[8] = { 'r', 'o', 'w', ' ', (char)('0' + k) };

			gt_table_add(held,
				(struct gt_cell[]){ { .s = name }, { .absent = k % 2, .i = k } });
		}
		CHECK(t && gt_table_rows(t) == 1 && c.next == 1);
		gt_table_note(t, "noted");
		gt_table_note(held, "noted");
		want = strdup(print(&held, 1, all[i]));
		CHECK(want && !strcmp(print(&t, 1, all[i]), want) && c.closed == 1);
		free(want);
		gt_table_free(t);
		gt_table_free(held);
		CHECK_EQ(c.closed, 1);
	}
}

static void a_source_may_have_no_rows(void)
{
	struct counting c;
	struct gt_table *t = counted(&c, 0, -1);

	CHECK(t && !gt_table_rows(t) && c.closed == 1);
	CHECK_STR(print(&t, 1, GT_TEXT), "Counted\n  none\n");
	CHECK_STR(print(&t, 1, GT_JSON),
		"{\n  \"counted\": {\n    \"rows\": [],\n    \"columns\": [\"name\", \"count\"],\n    \"notes\": [],\n    \"state\": \"answered\"\n  }\n}\n");
	gt_table_free(t);
}

/* Columns grow with later rows, and no title is printed between rows. */
static void long_sources_are_aligned_by_the_thousand(void)
{
	struct counting c;
	struct gt_table *t = counted(&c, 2500, -1);
	const char *s = print(&t, 1, GT_TEXT), *at;

	CHECK(strstr(s, "Counted\n  Name     Count\n  row 0        0\n  row 1        -\n") == s);
	CHECK(strstr(s, "\n  row 999      -\n  row 1000   1000\n") &&
		strstr(s, "\n  row 2498   2498\n  row 2499      -\n"));
	CHECK((at = strstr(s, "Name")) && !strstr(at + 1, "Name") && c.next == 2500);
	gt_table_free(t);
}

static void a_source_may_break(void)
{
	static const enum gt_table_format all[] = { GT_TEXT, GT_CSV, GT_JSON };
	struct counting c;

	CHECK(!counted(&c, 3, 0) && c.closed == 1);
	for (unsigned i = 0; i < 3; i++) {
		struct gt_err err = GT_ERR_INIT;
		struct gt_table *t = counted(&c, 3, 2);
		struct gt_out o;

		gt_out_memory(&o);
		CHECK(t && gt_tables_print(&t, 1, all[i], NULL, &o, &err) == -EIO &&
			!strcmp(err.text, "the source broke"));
		gt_out_close(&o, NULL);
		gt_table_free(t);
		CHECK_EQ(c.closed, 1);
	}
}

/* Rows that use forms, with texts that stay valid, print like the same rows added one by one. */
struct formed {
	unsigned next, n, nforms;
	bool forms;
	struct gt_cell cells[6000][4];
	char text[16], lasting[300][64], *longest;
};

static const struct gt_column four[] = { { "name", "Name", GT_C_TEXT }, { "n", "N", GT_C_COUNT },
	{ "time_ns", "Time", GT_C_NS }, { "rate", NULL, GT_C_REAL } };

/* The cells of form i, except for those that differ from row to row. */
static void fill_form(const struct formed *f, unsigned i, struct gt_cell cells[4])
{
	cells[0] = i % 7 == 6
		? (struct gt_cell){ .absent = true, .fixed = true }
		: (struct gt_cell){ .s = i == 40 ? f->longest : f->lasting[i * 31 % 300],
			  .lasting = true,
			  .fixed = true };
	cells[1] = (struct gt_cell){ .i = i, .fixed = i % 3 == 0 };
	cells[2] = (struct gt_cell){ .absent = i % 2, .i = i, .fixed = true };
	cells[3] = (struct gt_cell){ .d = i / 8.0, .fixed = i % 5 == 0 };
}

static int form_on(void *arg, struct gt_row_at_hand *row, struct gt_err *err)
{
	struct formed *f = arg;
	unsigned r = f->next++, i = r * 7919u % f->nforms;
	struct gt_cell *cells = f->cells[i];

	if (r == f->n)
		return 0;
	fill_form(f, i, cells);
	if (i % 3)
		cells[1].i = r;
	if (i % 5)
		cells[3].d = r / 3.0;
	if (i % 4 == 1) /* a text that does not last, one that does */
		cells[0] = (struct gt_cell){ .s = strcpy(f->text, r % 2 ? "a,\"b\"" : "# c") };
	else if (i % 4 == 3)
		cells[0] = (struct gt_cell){ .s = f->lasting[r % 300], .lasting = true };
	if (f->forms) {
		*row = (struct gt_row_at_hand){ cells, i < GT_ROW_FORMS ? i + 1 : 0 };
		return 1;
	}
	for (unsigned c = 0; c < 4; c++) {
		row->cells[c] = cells[c];
		row->cells[c].fixed = row->cells[c].lasting = false;
	}
	return 1;
}

static void print_formed(struct formed *f, enum gt_table_format format, struct gt_out *out)
{
	struct gt_table *t = gt_table_new("formed", "Formed", four, 4);

	f->next = 0;
	gt_out_memory(out);
	CHECK(!gt_table_stream(t, &(struct gt_row_source){ form_on, NULL, f }, NULL) &&
		!gt_tables_print(&t, 1, format, NULL, out, NULL) && f->next > f->n);
	gt_table_free(t);
}

static void rows_of_forms_are_rows(void)
{
	static const enum gt_table_format all[] = { GT_TEXT, GT_CSV, GT_TSV, GT_JSON };
	struct formed *f = calloc(1, sizeof(*f));

	f->longest = malloc(70001); /* longer than a row's buffer */
	memset(memset(f->longest, '"', 70001), 'x', 69900);
	f->longest[70000] = '\0';
	for (unsigned i = 0; i < 300; i++)
		snprintf(f->lasting[i], sizeof(f->lasting[i]), "%.*s%u%s", (int)(i % 50),
			"void gemm\"<float>(int)\t\xc3\xa9,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,", i,
			i % 3 ? "" : "\"");
	for (unsigned i = 0; i < 8; i++) {
		struct gt_out plain, formed;

		f->n = i < 4 ? 2500 : 20000;
		f->nforms = i < 4 ? 41 : 6000;
		f->forms = false;
		print_formed(f, all[i % 4], &plain);
		f->forms = true;
		print_formed(f, all[i % 4], &formed);
		CHECK(plain.len == formed.len && !memcmp(plain.data, formed.data, plain.len));
		gt_out_close(&plain, NULL);
		gt_out_close(&formed, NULL);
	}
	free(f->longest);
	free(f);
}

/* The reader has closed the pipe: the source is not asked for the remaining rows. */
static void a_closed_output_ends_a_source(void)
{
	struct counting c;
	struct gt_table *t = counted(&c, 1000000, -1);
	struct gt_out o;

	gt_out_memory(&o);
	o.failed = -EPIPE;
	CHECK(t && !gt_tables_print(&t, 1, GT_CSV, NULL, &o, NULL) && c.next < 10 && !c.closed);
	gt_out_close(&o, NULL);
	gt_table_free(t);
	CHECK_EQ(c.closed, 1);
}

T_MAIN(T(a_source_gives_the_rows), T(a_source_may_have_no_rows),
	T(long_sources_are_aligned_by_the_thousand), T(a_source_may_break),
	T(a_closed_output_ends_a_source), T(rows_of_forms_are_rows))
