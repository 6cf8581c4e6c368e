/* Tables as text and as data: figures and their units, sorting, the formats that programs read. */
#include "tests/unit/t.h"

#include <jansson.h>
#include <math.h>
#include "tests/unit/formats/table/tables.h"

static void text(void)
{
	struct gt_table *t = gt_table_new("calls", "Calls", call_columns, CALL_COLUMNS);
	const char *s;

	add_call(t, "cuMemAlloc_v2", 12, 1234567, 1536, 1234);
	add_call(t, "b", 1, 999, 512, 5);
	gt_table_note(t, "sampled %d in %d", 1, 100);
	s = print(&t, 1, GT_TEXT);
	CHECK(!strcmp(s,
		"Calls\n  (sampled 1 in 100)\n"
		"  Name           Count     Total       Peak  Share           At   Rate\n"
		"  cuMemAlloc_v2     12  1.235 ms  1.500 KiB  12.34  1.500000000  2.500\n"
		"  b                  1    999 ns      512 B   0.05  1.500000000  2.500\n"));
	gt_table_free(t);
}

/* Changes have their sign; figures of several kinds stand in one column, each in its own unit. */
static void changes_and_mixed_figures(void)
{
	static const struct gt_column cols[] = { { "figure", "Figure", GT_C_TEXT },
		{ "value", "Value", GT_C_FIGURE }, { "by_ns", "By", GT_C_NS } };
	struct gt_table *t = gt_table_new("figures", NULL, cols, 3);
	unsigned n;

	gt_table_add(t,
		(struct gt_cell[]){ { .s = "a" }, { .i = 1500, .kind = GT_C_NS },
			{ .i = 12, .change = true } });
	gt_table_add(t,
		(struct gt_cell[]){ { .s = "b" }, { .i = 1536, .kind = GT_C_BYTES },
			{ .i = -12, .change = true } });
	gt_table_add(t,
		(struct gt_cell[]){ { .s = "c" }, { .i = -5, .kind = GT_C_PERCENT, .change = true },
			{ .i = 0, .change = true } });
	gt_table_add(t,
		(struct gt_cell[]){ { .s = "d" }, { .d = 0.5, .kind = GT_C_REAL, .change = true },
			{ .absent = true, .change = true } });
	CHECK(!strcmp(print(&t, 1, GT_TEXT),
		"  Figure      Value      By\n"
		"  a        1.500 us  +12 ns\n"
		"  b       1.500 KiB  -12 ns\n"
		"  c         -0.05 %    0 ns\n"
		"  d         +0.5000       -\n"));
	CHECK_STR(print(&t, 1, GT_TSV),
		"figure\tvalue\tby_ns\na\t1500\t12\nb\t1536\t-12\nc\t-0.05\t0\nd\t0.5\t\n");
	CHECK(gt_table_columns(t, &n) == cols && n == 3 && gt_table_column(t, "by_ns") == 2 &&
		gt_table_column(t, "by") == -1);
	CHECK(gt_table_cell(t, 1, 1)->i == 1536 && !strcmp(gt_table_cell(t, 3, 0)->s, "d") &&
		gt_table_cell(t, 3, 2)->absent);
	gt_table_free(t);
}

/* Four significant digits, as times and sizes have; whole numbers and large ones without a
 * fraction. */
static void reals(void)
{
	static const struct gt_column cols[] = { { "v", "V", GT_C_REAL } };
	static const struct {
		double v;
		const char *text;
	} cases[] = {
		{ 48.0904, "48.09" },
		{ 0.00511423, "0.005114" },
		{ 0.0931917, "0.09319" },
		{ 9.24236, "9.242" },
		{ 1035.88, "1036" },
		{ 735.947, "735.9" },
		{ 999.96, "1000" },
		{ 0.99996, "1.000" },
		{ 2, "2" },
		{ 0, "0" },
		{ -1.5, "-1.500" },
		{ 1234567.8, "1234568" },
		{ 1.5e-7, "1.500e-07" },
		{ 1e18, "1e+18" },
		{ INFINITY, "-" },
		{ NAN, "-" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gt_table *t = gt_table_new("t", NULL, cols, 1);
		char want[40];

		gt_table_add(t, (struct gt_cell[]){ { .d = cases[i].v } });
		snprintf(want, sizeof(want), "%s\n", cases[i].text);
		CHECK(strstr(print(&t, 1, GT_TEXT), want) != NULL);
		gt_table_free(t);
	}
	CHECK(!strcmp(gt_scaled(GT_C_NS, 5981118000).text, "5.981 s") &&
		!strcmp(gt_scaled(GT_C_BYTES, 1536).text, "1.500 KiB"));
}

/* A column without title is for programs only; lines that are said stand in place of rows, for
 * people only. */
static void text_leaves_out_what_programs_read(void)
{
	static const struct gt_column two[] = { { "kernel", "Kernel", GT_C_TEXT },
		{ "name", NULL, GT_C_TEXT } };
	struct gt_table *t = gt_table_new("kernels", NULL, two, 2);

	gt_table_add(t, (struct gt_cell[]){ { .s = "f<4>" }, { .s = "_Z1fILi4EEvv" } });
	CHECK_STR(print(&t, 1, GT_TEXT), "  Kernel\n  f<4>\n");
	CHECK(strstr(print(&t, 1, GT_CSV), "f<4>,_Z1fILi4EEvv"));
	gt_table_as_list(t);
	CHECK_STR(print(&t, 1, GT_TEXT), "  Kernel: f<4>\n");
	gt_table_add_line(t, "one kernel, %s", "twice");
	CHECK_STR(print(&t, 1, GT_TEXT), "one kernel, twice\n");
	CHECK(strstr(print(&t, 1, GT_CSV), "f<4>,_Z1fILi4EEvv") &&
		strstr(print(&t, 1, GT_JSON), "\"name\": \"_Z1f"));
	gt_table_free(t);
}

static void only_text_indents(void)
{
	static const struct gt_column one[] = { { "call", "Call", GT_C_TEXT } };
	struct gt_table *t = gt_table_new("calls", NULL, one, 1);

	gt_table_add(t, (struct gt_cell[]){ { .s = "outer" } });
	gt_table_add(t, (struct gt_cell[]){ { .s = "inner\n", .indent = 2 } });
	CHECK_STR(print(&t, 1, GT_TEXT), "  Call\n  outer\n    inner?\n");
	CHECK(strstr(print(&t, 1, GT_CSV), "\n\"inner\n\"") &&
		strstr(print(&t, 1, GT_TSV), "\ninner\\n\n"));
	CHECK(strstr(print(&t, 1, GT_JSON), "{\"call\": \"inner\\n\"}"));
	gt_table_free(t);
}

/* The result of printf. */
static void scale_by_printf(char *to, size_t size, enum gt_cell_kind kind, int64_t v)
{
	static const struct {
		double from, by;
		const char *unit;
	} units[2][6] = { { { 0x1p50, 0x1p50, "PiB" }, { 0x1p40, 0x1p40, "TiB" },
				  { 0x1p30, 0x1p30, "GiB" }, { 0x1p20, 0x1p20, "MiB" },
				  { 0x1p10, 0x1p10, "KiB" } },
		{ { 999950000.0, 1e9, "s" }, { 999950.0, 1e6, "ms" }, { 1e3, 1e3, "us" } } };
	double a;

	for (unsigned i = 0; i < 6 && units[kind == GT_C_NS][i].unit; i++)
		if (fabs((double)v) >= units[kind == GT_C_NS][i].from) {
			a = fabs((double)v / units[kind == GT_C_NS][i].by);
			snprintf(to, size, "%.*f %s",
				a < 9.9995           ? 3
					: a < 99.995 ? 2
					: a < 999.95 ? 1
						     : 0,
				(double)v / units[kind == GT_C_NS][i].by,
				units[kind == GT_C_NS][i].unit);
			return;
		}
	snprintf(to, size, "%lld %s", (long long)v, kind == GT_C_NS ? "ns" : "B");
}

/* Any size, many of them in the middle between two that are shown, or next to it. */
static void scaled_as_printf_does(void)
{
	uint64_t seed = 7;
	unsigned wrong = 0;

	for (unsigned i = 0; i < 400000; i++) {
		enum gt_cell_kind kind = i % 2 ? GT_C_NS : GT_C_BYTES;
		int64_t v, unit = kind == GT_C_NS ? 1000 : 1024;
		char want[64];

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		v = (int64_t)(seed >> 1 >> (seed >> 7) % 60);
		if (i % 3 == 0)
			v = (int64_t)(seed >> 20) % 2000000 * 5 * (seed >> 60 & 1 ? unit / 8 : 1) +
				(int64_t)(seed >> 40) % 3 - 1;
		if (i % 3 == 1)
			v = (int64_t)(seed >> 20) % 20000 * (unit / 2) *
				(seed >> 60 & 1 ? unit : 1);
		v = seed >> 61 & 1 ? -v : v;
		scale_by_printf(want, sizeof(want), kind, v);
		wrong += strcmp(gt_scaled(kind, v).text, want) != 0;
	}
	CHECK(!wrong);
	CHECK(!strcmp(gt_scaled(GT_C_NS, INT64_MIN).text, "-9223372037 s") &&
		!strcmp(gt_scaled(GT_C_BYTES, INT64_MAX).text, "8192 PiB"));
}

static void durations(void)
{
	static const struct gt_column one[] = { { "d_ns", "D", GT_C_NS } };
	static const struct {
		int64_t ns;
		const char *want;
	} cases[] = {
		{ 0, "0 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.000 us" },
		{ 12345, "12.35 us" },
		{ 999949, "999.9 us" },
		{ 999960, "1.000 ms" },
		{ 123456789, "123.5 ms" },
		{ 999949999, "999.9 ms" },
		{ 999960000, "1.000 s" },
		{ 61000000000, "61.00 s" },
		{ -1500, "-1.500 us" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gt_table *t = gt_table_new("d", NULL, one, 1);
		char want[64];

		gt_table_add(t, &(struct gt_cell){ .i = cases[i].ns });
		snprintf(want, sizeof(want), "%*s\n  %s\n", (int)strlen(cases[i].want) + 2, "D",
			cases[i].want);
		CHECK(!strcmp(print(&t, 1, GT_TEXT), want));
		gt_table_free(t);
	}
}

static void absent_cells(void)
{
	struct gt_table *t = gt_table_new("calls", NULL, call_columns, 3);
	struct gt_cell cells[3] = { { .absent = true }, { .absent = true }, { .i = 5 } };
	json_t *j, *row;

	gt_table_add(t, cells);
	CHECK_STR(print(&t, 1, GT_TEXT), "  Name  Count  Total\n  -         -   5 ns\n");
	CHECK_STR(print(&t, 1, GT_CSV), "name,count,total_ns\r\n,,5\r\n");
	j = json_loads(print(&t, 1, GT_JSON), 0, NULL);
	row = json_array_get(json_object_get(json_object_get(j, "calls"), "rows"), 0);
	CHECK(json_is_null(json_object_get(row, "name")) &&
		json_integer_value(json_object_get(row, "total_ns")) == 5);
	json_decref(j);
	gt_table_as_list(t);
	CHECK_STR(print(&t, 1, GT_TEXT),
		"  Name: not recorded\n  Count: not recorded\n  Total: 5 ns\n");
	gt_table_free(t);
}

/* As the summary of a trace has them, in the units of all other tables. */
static void list(void)
{
	struct gt_table *t = gt_table_new("summary", "Memory", call_columns + 2, 3);

	gt_table_add(t, (struct gt_cell[]){ { .i = 15234000 }, { .i = 524288000 }, { .i = 1250 } });
	gt_table_as_list(t);
	CHECK(!strcmp(print(&t, 1, GT_TEXT),
		"Memory\n  Total: 15.23 ms\n  Peak: 500.0 MiB\n  Share: 12.50 %\n"));
	gt_table_free(t);
}

static void sorting(void)
{
	struct gt_table *t = gt_table_new("calls", NULL, call_columns, 3);

	gt_table_add(t, (struct gt_cell[]){ { .s = "c" }, { .i = 5 }, { .i = 1 } });
	gt_table_add(t, (struct gt_cell[]){ { .s = "a" }, { .i = 5 }, { .i = 2 } });
	gt_table_add(t, (struct gt_cell[]){ { .s = "z" }, { .absent = true }, { .i = 3 } });
	gt_table_add(t, (struct gt_cell[]){ { .s = "b" }, { .i = 9 }, { .i = 4 } });
	gt_table_sort(t, "count", 0);
	CHECK_STR(
		print(&t, 1, GT_TSV), "name\tcount\ttotal_ns\nb\t9\t4\na\t5\t2\nc\t5\t1\nz\t\t3\n");
	gt_table_sort(t, "total_ns", 2);
	CHECK_EQ(gt_table_rows(t), 2);
	CHECK_STR(print(&t, 1, GT_TSV), "name\tcount\ttotal_ns\nb\t9\t4\nz\t\t3\n");
	CHECK(strstr(print(&t, 1, GT_TEXT), "2 more rows: --top 0 or --top 4 shows them"));
	gt_table_free(t);
}

static void separated(void)
{
	struct gt_table *t = gt_table_new("calls", "Calls", call_columns, 1), *two[2] = { t, t };

	gt_table_add(t, &(struct gt_cell){ .s = "a,\"b\"\nc\\\td" });
	CHECK_STR(print(&t, 1, GT_CSV), "name\r\n\"a,\"\"b\"\"\nc\\\td\"\r\n");
	CHECK_STR(print(two, 2, GT_TSV),
		"# calls\nname\na,\"b\"\\nc\\\\\\td\n\n# calls\nname\na,\"b\"\\nc\\\\\\td\n");
	gt_table_free(t);
}

static void separated_is_harmless(void)
{
	static const char *const texts[] = { "e\x1b[2J\r\xc2\x9b\xff", "=1+1", "+a", "-b\n", "@c",
		"\tx", "-5", "+1.5e3", "-", "\xc3\xa4" };
	struct gt_table *t = gt_table_new("calls", "Calls", call_columns, 1);

	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		gt_table_add(t, &(struct gt_cell){ .s = texts[i] });
	CHECK(!strcmp(print(&t, 1, GT_CSV),
		"name\r\n\"e?[2J???\"\r\n\"'=1+1\"\r\n\"'+a\"\r\n\"'-b\n\"\r\n\"'@c\"\r\n\"'\tx\"\r\n"
		"-5\r\n+1.5e3\r\n-\r\n\xc3\xa4\r\n"));
	CHECK_STR(print(&t, 1, GT_TSV),
		"name\ne?[2J\\r??\n'=1+1\n'+a\n'-b\\n\n'@c\n'\\tx\n-5\n+1.5e3\n-\n\xc3\xa4\n");
	CHECK(strstr(print(&t, 1, GT_JSON), "\"e\\u001b[2J\\r\\u009b\xef\xbf\xbd\""));
	gt_table_free(t);
}

/* JSON keeps data as they are, also long ones and those of rows that differ from the first one. */
static void data_keep_their_type(void)
{
	static const struct gt_column cols[] = { { "n", "N", GT_C_COUNT }, { "d", "D", GT_C_DATA },
		{ "s", "S", GT_C_TEXT } };
	struct gt_table *t = gt_table_new("data", NULL, cols, 3);
	char list[600] = "[0";
	json_t *j, *rows;
	const char *text;

	for (int i = 1; i < 100; i++)
		sprintf(list + strlen(list), ", %d", i);
	strcat(list, "]");
	for (int i = 0; i < 6; i++)
		gt_table_add(t,
			(struct gt_cell[]){ { .i = i },
				{ .s = i % 3 == 0            ? "true"
						: i % 3 == 1 ? list
							     : "{\"a\": \"b\"}",
					.absent = i == 5 },
				{ .s = "true" } });
	j = json_loads(print(&t, 1, GT_JSON), JSON_REJECT_DUPLICATES, NULL);
	rows = json_object_get(json_object_get(j, "data"), "rows");
	for (size_t i = 0; i < 6; i++) {
		const json_t *d = json_object_get(json_array_get(rows, i), "d");

		CHECK(i == 5                 ? json_is_null(d)
				: i % 3 == 0 ? json_is_true(d)
				: i % 3 == 1 ? json_array_size(d) == 100
					     : json_is_string(json_object_get(d, "a")));
		CHECK(json_is_string(json_object_get(json_array_get(rows, i), "s")));
	}
	json_decref(j);
	text = print(&t, 1, GT_CSV);
	CHECK(!strncmp(text, "n,s\r\n0,true\r\n1,true\r\n", 21));
	CHECK(strstr(print(&t, 1, GT_TEXT), "  0  true "));
	gt_table_free(t);
}

static void json_is_always_valid(void)
{
	struct gt_table *t = gt_table_new("calls", "Calls", call_columns, CALL_COLUMNS),
			*empty = gt_table_new("none", NULL, call_columns, CALL_COLUMNS);
	struct gt_table *both[2] = { t, empty };
	json_t *j, *row;

	add_call(t, "bad \xff utf8 \" \\ \x01", INT64_MIN, INT64_MAX, 0, -5);
	gt_table_add(t,
		(struct gt_cell[]){ { .s = NULL }, { .i = 0 }, { .i = 0 }, { .i = 0 }, { .i = 0 },
			{ .i = 0 }, { .d = NAN } });
	gt_table_note(t, "a \"note\"");
	j = json_loads(print(both, 2, GT_JSON), JSON_REJECT_DUPLICATES, NULL);
	CHECK(j && json_array_size(json_object_get(json_object_get(j, "calls"), "rows")) == 2);
	CHECK_EQ(json_array_size(json_object_get(json_object_get(j, "none"), "rows")), 0);
	row = json_object_get(json_object_get(j, "none"), "columns");
	CHECK_STR(json_string_value(json_array_get(row, 0)), "name");
	row = json_array_get(json_object_get(json_object_get(j, "calls"), "rows"), 0);
	CHECK_EQ(json_integer_value(json_object_get(row, "total_ns")), INT64_MAX);
	CHECK(fabs(json_real_value(json_object_get(row, "share_percent")) + 0.05) < 1e-9);
	row = json_array_get(json_object_get(json_object_get(j, "calls"), "rows"), 1);
	CHECK(json_is_null(json_object_get(row, "rate")));
	json_decref(j);
	CHECK((j = json_loads(print(both, 0, GT_JSON), 0, NULL)));
	json_decref(j);
	gt_table_free(t);
	gt_table_free(empty);
}

static void control_characters_stay_inside(void)
{
	struct gt_table *t = gt_table_new("x", NULL, call_columns, 1);

	gt_table_add(t, &(struct gt_cell){ .s = "a\x1b[31m\nb" });
	CHECK_STR(print(&t, 1, GT_TEXT), "  Name\n  a?[31m?b\n");
	gt_table_free(t);
}

static void hidden_characters_stay_inside(void)
{
	struct gt_table *t = gt_table_new("x", NULL, call_columns, 1);

	gt_table_add(t,
		&(struct gt_cell){ .s = "a\u202e"
					"b\u200b"
					"c\xc2\x9b"
					"d\xff"
					"e\xe2\x82" });
	CHECK_STR(print(&t, 1, GT_TEXT), "  Name\n  a?b?c?d?e??\n");
	gt_table_free(t);
}

/* One table has no title; several tables, and tables of several files, have titles. */
static void tables_of_programs_have_names(void)
{
	struct gt_table *t = gt_table_new("calls", "Calls", call_columns, 2), *two[2] = { t, t };
	static const char want[] = "# calls a?b.zst\nname\tcount\n# calls\t5\n";
	struct gt_out o;

	gt_table_add(t, (struct gt_cell[]){ { .s = "# calls" }, { .i = 5 } });
	gt_table_note(t, "a note");
	CHECK_STR(print(&t, 1, GT_CSV), "name,count\r\n\"# calls\",5\r\n");
	CHECK_STR(print(two, 2, GT_CSV),
		"# calls\r\nname,count\r\n\"# calls\",5\r\n\r\n# calls\r\nname,count\r\n\"# calls\",5\r\n");
	CHECK(!strcmp(gt_table_name(t), "calls") && !strcmp(gt_table_get_note(t, 0), "a note") &&
		!gt_table_get_note(t, 1));
	gt_out_memory(&o);
	CHECK(!gt_tables_print(&t, 1, GT_TSV, "a\nb.zst", &o, NULL));
	CHECK(o.len == strlen(want) && !memcmp(o.data, want, o.len));
	gt_out_close(&o, NULL);
	gt_table_free(t);
}

/* The reason for a missing figure is printed where the reader looks for the figure. */
static void absent_cells_say_why(void)
{
	struct gt_table *t = gt_table_new("calls", NULL, call_columns, 2);

	gt_table_add(t,
		(struct gt_cell[]){ { .absent = true, .s = "left out" },
			{ .absent = true, .s = "not asked for" } });
	gt_table_as_list(t);
	CHECK_STR(print(&t, 1, GT_TEXT), "  Name: left out\n  Count: not asked for\n");
	CHECK(!strcmp(print(&t, 1, GT_CSV), "name,count\r\n,\r\n") &&
		strstr(print(&t, 1, GT_JSON), "\"count\": null"));
	gt_table_free(t);
}

/* Whether a table has an answer is in its notes for people, and in a separate field for
 * programs. */
static void answers(void)
{
	static const struct gt_column one[] = { { "n", "N", GT_C_COUNT } };
	struct gt_table *t[3];
	const char *s;

	for (int i = 0; i < 3; i++)
		t[i] = gt_table_new(i == 0 ? "first"
				: i == 1   ? "second"
					   : "third",
			i == 0           ? "First"
				: i == 1 ? "Second"
					 : "Third",
			one, 1);
	gt_table_note(t[0], "a note");
	gt_table_set_unanswered(t[0], "%s", "this");
	gt_table_set_unanswered(t[0], "%s", "that");
	gt_table_share_answer(t[1], t[0]);
	gt_table_add(t[2], (struct gt_cell[]){ { .i = 1 } });
	gt_table_share_answer(t[2], t[0]);
	CHECK(gt_table_answer(t[0]) == GT_UNANSWERED && gt_table_answer(t[1]) == GT_UNANSWERED &&
		gt_table_answer(t[2]) == GT_UNANSWERED);
	CHECK(!strcmp(print(t, 3, GT_TEXT),
		"First\n  (cannot answer: this)\n  (cannot answer: that)\n  (a note)\n\nThird\n  N\n  1\n"));
	s = print(t, 2, GT_JSON);
	CHECK(strstr(s,
		"\"notes\": [\"cannot answer: this\", \"cannot answer: that\", \"a note\"],\n    \"state\": \"cannot answer\""));
	CHECK(strstr(s, "\"second\"") &&
		strstr(strstr(s, "\"second\""),
			"[\"cannot answer: this\", \"cannot answer: that\"]"));
	gt_table_set_part(t[0]);
	gt_table_set_found(t[2]);
	gt_table_set_part(t[2]);
	CHECK(gt_table_answer(t[0]) == GT_UNANSWERED_PART && gt_table_answer(t[2]) == GT_FOUND);
	CHECK(strstr(print(t, 1, GT_JSON), "\"state\": \"cannot answer\"") &&
		strstr(print(t + 2, 1, GT_JSON), "\"state\": \"found\""));
	for (int i = 0; i < 3; i++)
		gt_table_free(t[i]);
}

/* Each column of numbers is a family with its unit; texts and ids are labels, and rows with equal
 * labels are numbered. */
static void openmetrics(void)
{
	static const struct gt_column cols[] = { { "name", "Name", GT_C_TEXT },
		{ "device", "Device", GT_C_COUNT }, { "total_ns", "Total", GT_C_NS },
		{ "share_percent", "Share", GT_C_PERCENT }, { "peak_bytes", "Peak", GT_C_BYTES },
		{ "count", NULL, GT_C_COUNT }, { "rate", NULL, GT_C_REAL },
		{ "list", NULL, GT_C_DATA } };
	struct gt_table *t = gt_table_new("top", "Top", cols, 8);
	const char *s;

	gt_table_add(t,
		(struct gt_cell[]){ { .s = "a\"b\\\n\x1b" }, { .i = 0 }, { .i = 1500000000 },
			{ .i = 1234 }, { .i = 4096 }, { .i = 3 }, { .d = 0.5 }, { .s = "[1]" } });
	gt_table_add(t,
		(struct gt_cell[]){ { .s = "c" }, { .i = 1 }, { .i = -5 }, { .i = 0 },
			{ .absent = true }, { .i = 4 }, { .d = INFINITY }, { .s = "[]" } });
	s = print(&t, 1, GT_OPENMETRICS);
	CHECK_STR(s,
		"# TYPE gt_top__total_seconds gauge\n# UNIT gt_top__total_seconds seconds\n"
		"# HELP gt_top__total_seconds Total\n"
		"gt_top__total_seconds{name=\"a\\\"b\\\\??\",device=\"0\"} 1.500000000\n"
		"gt_top__total_seconds{name=\"c\",device=\"1\"} -0.000000005\n"
		"# TYPE gt_top__share_ratio gauge\n# UNIT gt_top__share_ratio ratio\n"
		"# HELP gt_top__share_ratio Share\n"
		"gt_top__share_ratio{name=\"a\\\"b\\\\??\",device=\"0\"} 0.1234\n"
		"gt_top__share_ratio{name=\"c\",device=\"1\"} 0.0000\n"
		"# TYPE gt_top__peak_bytes gauge\n# UNIT gt_top__peak_bytes bytes\n"
		"# HELP gt_top__peak_bytes Peak\n"
		"gt_top__peak_bytes{name=\"a\\\"b\\\\??\",device=\"0\"} 4096\n"
		"# TYPE gt_top__count gauge\n"
		"gt_top__count{name=\"a\\\"b\\\\??\",device=\"0\"} 3\n"
		"gt_top__count{name=\"c\",device=\"1\"} 4\n"
		"# TYPE gt_top__rate gauge\n"
		"gt_top__rate{name=\"a\\\"b\\\\??\",device=\"0\"} 0.5\n"
		"gt_top__rate{name=\"c\",device=\"1\"} +Inf\n"
		"# EOF\n");
	gt_table_add(t,
		(struct gt_cell[]){ { .s = "c" }, { .i = 1 }, { .i = 1 }, { .i = 0 }, { .i = 1 },
			{ .i = 4 }, { .d = 1 }, { .s = "[]" } });
	s = print(&t, 1, GT_OPENMETRICS);
	CHECK(strstr(s, "gt_top__count{name=\"c\",device=\"1\",row=\"2\"} 4\n") &&
		strstr(s, "gt_top__count{name=\"c\",device=\"1\",row=\"3\"} 4\n"));
	gt_table_free(t);
}

/* The texts of the header are labels of one family, not of all its figures. */
static void openmetrics_of_the_header(void)
{
	static const struct gt_column cols[] = { { "file", "File", GT_C_TEXT },
		{ "recording", "Recording", GT_C_COUNT }, { "host", "Host", GT_C_TEXT },
		{ "calls", NULL, GT_C_COUNT } };
	struct gt_table *t = gt_table_new("header", NULL, cols, 4);

	gt_table_add(
		t, (struct gt_cell[]){ { .s = "a.zst" }, { .i = 1 }, { .s = "h" }, { .i = 5 } });
	CHECK_STR(print(&t, 1, GT_OPENMETRICS),
		"# TYPE gt_header__info gauge\n"
		"gt_header__info{file=\"a.zst\",recording=\"1\",host=\"h\"} 1\n"
		"# TYPE gt_header__calls gauge\n"
		"gt_header__calls{recording=\"1\",host=\"h\"} 5\n"
		"# EOF\n");
	gt_table_free(t);
}

T_MAIN(T(reals), T(openmetrics), T(openmetrics_of_the_header), T(answers), T(text),
	T(changes_and_mixed_figures), T(text_leaves_out_what_programs_read), T(only_text_indents),
	T(durations), T(scaled_as_printf_does), T(absent_cells), T(list), T(sorting), T(separated),
	T(separated_is_harmless), T(data_keep_their_type), T(json_is_always_valid),
	T(control_characters_stay_inside), T(hidden_characters_stay_inside),
	T(tables_of_programs_have_names), T(absent_cells_say_why))
