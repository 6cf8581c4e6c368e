#include "tests/unit/t.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <pty.h>
#include <unistd.h>
#include "analyze/core/report.h"
#include "formats/table/table.h"
#include "tests/unit/formats/table/tables.h"

static const struct gt_column columns[] = {
	{ "name", "Name", GT_C_TEXT },
	{ "count", "Count", GT_C_COUNT },
	{ "total_ns", "Total", GT_C_NS },
	{ "peak_bytes", "Peak", GT_C_BYTES },
	{ "share_percent", "Share", GT_C_PERCENT },
	{ "at_ns", "At", GT_C_TIME },
	{ "rate", "Rate", GT_C_REAL },
};
#define N (sizeof(columns) / sizeof(*columns))

static void add(struct gt_table *t, const char *name, int64_t count, int64_t ns, int64_t bytes,
	int64_t share)
{
	gt_table_add(t,
		(struct gt_cell[]){ { .s = name }, { .i = count }, { .i = ns }, { .i = bytes },
			{ .i = share }, { .i = 1500000000 }, { .d = 2.5 } });
}

static void text(void)
{
	struct gt_table *t = gt_table_new("calls", "Calls", columns, N);
	const char *s;

	add(t, "cuMemAlloc_v2", 12, 1234567, 1536, 1234);
	add(t, "b", 1, 999, 512, 5);
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
	struct gt_table *t = gt_table_new("calls", NULL, columns, 3);
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
	struct gt_table *t = gt_table_new("summary", "Memory", columns + 2, 3);

	gt_table_add(t, (struct gt_cell[]){ { .i = 15234000 }, { .i = 524288000 }, { .i = 1250 } });
	gt_table_as_list(t);
	CHECK(!strcmp(print(&t, 1, GT_TEXT),
		"Memory\n  Total: 15.23 ms\n  Peak: 500.0 MiB\n  Share: 12.50 %\n"));
	gt_table_free(t);
}

static void sorting(void)
{
	struct gt_table *t = gt_table_new("calls", NULL, columns, 3);

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
	struct gt_table *t = gt_table_new("calls", "Calls", columns, 1), *two[2] = { t, t };

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
	struct gt_table *t = gt_table_new("calls", "Calls", columns, 1);

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
	struct gt_table *t = gt_table_new("calls", "Calls", columns, N),
			*empty = gt_table_new("none", NULL, columns, N);
	struct gt_table *both[2] = { t, empty };
	json_t *j, *row;

	add(t, "bad \xff utf8 \" \\ \x01", INT64_MIN, INT64_MAX, 0, -5);
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

static void no_trailing_spaces(void)
{
	static const struct gt_column last_text[] = { { "n", "Number", GT_C_COUNT },
		{ "s", "A long title", GT_C_TEXT } };
	struct gt_table *t = gt_table_new("x", "Title", last_text, 2);

	gt_table_add(t, (struct gt_cell[]){ { .i = 1 }, { .s = "" } });
	gt_table_add(t, (struct gt_cell[]){ { .i = 1 }, { .s = "short" } });
	gt_table_add(t, (struct gt_cell[]){ { .i = 1 }, { .absent = true } });
	CHECK(!strstr(print(&t, 1, GT_TEXT), " \n"));
	gt_table_free(t);
}

static void control_characters_stay_inside(void)
{
	struct gt_table *t = gt_table_new("x", NULL, columns, 1);

	gt_table_add(t, &(struct gt_cell){ .s = "a\x1b[31m\nb" });
	CHECK_STR(print(&t, 1, GT_TEXT), "  Name\n  a?[31m?b\n");
	gt_table_free(t);
}

static void hidden_characters_stay_inside(void)
{
	struct gt_table *t = gt_table_new("x", NULL, columns, 1);

	gt_table_add(t,
		&(struct gt_cell){ .s = "a\u202e"
					"b\u200b"
					"c\xc2\x9b"
					"d\xff"
					"e\xe2\x82" });
	CHECK_STR(print(&t, 1, GT_TEXT), "  Name\n  a?b?c?d?e??\n");
	gt_table_free(t);
}

/* Columns of a terminal, not characters; and enough of them for a line to have more bytes than it
 * has columns. */
static void wide_characters_are_aligned(void)
{
	static const struct gt_column two[] = { { "a", "A", GT_C_TEXT }, { "n", "N", GT_C_COUNT },
		{ "b", "B", GT_C_TEXT } };
	struct gt_table *t = gt_table_new("x", NULL, two, 3);

	gt_table_add(t, (struct gt_cell[]){ { .s = "学習 1" }, { .i = 1 }, { .s = "🚀" } });
	gt_table_add(t, (struct gt_cell[]){ { .s = "e\u0301tape 12" }, { .i = 22 }, { .s = "x" } });
	gt_table_add(t, (struct gt_cell[]){ { .s = "äöü" }, { .i = 333 }, { .s = "가" } });
	CHECK(!strcmp(print(&t, 1, GT_TEXT),
		"  A           N  B\n"
		"  学習 1      1  🚀\n"
		"  e\u0301tape 12   22  x\n"
		"  äöü       333  가\n"));
	gt_table_free(t);
}

/* The output on a terminal of that many columns: static, valid until the next call. NULL: there
 * are no pseudo terminals. */
static const char *on_terminal(struct gt_table *t, unsigned short width)
{
	struct winsize ws = { .ws_row = 24, .ws_col = width };
	static char got[4000];
	char path[64];
	struct gt_out o;
	int master, slave;
	size_t len = 0;
	ssize_t n;

	if (openpty(&master, &slave, NULL, NULL, &ws))
		return NULL;
	unsetenv("COLUMNS");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", slave);
	if (gt_out_open(&o, path, false, NULL) || gt_tables_print(&t, 1, GT_TEXT, NULL, &o, NULL) ||
		gt_out_close(&o, NULL))
		return "failed";
	close(slave);
	/* it comes in pieces, as it likes; then EIO */
	while ((n = read(master, got + len, sizeof(got) - 1 - len)) > 0)
		len += (size_t)n;
	got[len] = '\0';
	for (char *from = got, *to = got; (*to = *from); from++)
		to += *to != '\r';
	close(master);
	return got;
}

/* The longest line, in columns. */
static size_t widest(const char *text)
{
	size_t most = 0;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		most = strcspn(text, "\n") > most ? strcspn(text, "\n") : most;
	return most;
}

/* On a terminal of 40 columns the name is shortened; numbers never are. */
static void narrow_terminal(void)
{
	struct gt_table *t = gt_table_new("x", NULL, columns, 3);
	const char *s;

	gt_table_add(t,
		(struct gt_cell[]){ { .s = "cuMemcpyHtoDAsync_v2_and_so_on_and_on" },
			{ .i = 123456 }, { .i = 1234567 } });
	gt_table_add(t,
		(struct gt_cell[]){
			{ .s = "cuMemcpyDtoHAsync_v2_and_so_on_and_on" }, { .i = 1 }, { .i = 1 } });
	s = on_terminal(t, 40);
	if (!s)
		SKIP("no pseudo terminals");
	CHECK(!strcmp(s,
		"  Name                   Count     Total\n"
		"  cuMemcpyHto.._and_on  123456  1.235 ms\n"
		"  cuMemcpyDto.._and_on       1      1 ns\n"));
	CHECK(strstr(on_terminal(t, 80), "cuMemcpyDtoHAsync_v2_and_so_on_and_on"));
	gt_table_free(t);
}

/* In a narrower window columns are removed, those without figures first, and the text names
 * them; programs get all columns. */
static void columns_give_way(void)
{
	struct gt_table *t = gt_table_new("x", NULL, columns, N);
	const char *s;

	add(t, "cuMemcpyHtoDAsync_v2", 12, 1234567, 0, 1234);
	gt_table_set_hideable(t, "at_ns total_ns peak_bytes rate");
	s = on_terminal(t, 60);
	if (!s)
		SKIP("no pseudo terminals");
	CHECK(!strcmp(s,
		"  (2 columns left out: Peak, At; a wider terminal or\n    --format csv shows them)\n"
		"  Name                  Count     Total  Share   Rate\n"
		"  cuMemcpyHtoDAsync_v2     12  1.235 ms  12.34  2.500\n"));
	s = on_terminal(t, 24);
	CHECK(strstr(s, "  (4 columns left out:\n    Total, Peak, At,\n    Rate;") &&
		strstr(s, "12.34\n") && widest(s) <= 24);
	CHECK(!strstr(print(&t, 1, GT_TEXT), "left out") &&
		strstr(print(&t, 1, GT_CSV), "peak_bytes"));
	gt_table_free(t);
}

/* A note about hidden rows names the smallest --top that shows them. */
static void more_rows(void)
{
	static const struct gt_column one[] = { { "n", "N", GT_C_COUNT } };
	struct gt_table *t = gt_table_new("x", "X", one, 1);
	const char *s;

	gt_table_note_cut(t, 3, 3);
	gt_table_note_cut(t, 4, 3);
	gt_table_note_more(t, 2, 0);
	gt_table_note_cut(t, GT_TABLE_MOST + 2, GT_TABLE_MOST - 5);
	gt_table_note_cut(t, GT_TABLE_MOST + 1, GT_TABLE_MOST);
	s = print(&t, 1, GT_TEXT);
	CHECK(!strcmp(s,
		"X\n  (1 more row: --top 0 or --top 4 shows it)\n  (2 more rows: --top 0 shows them)\n"
		"  (7 more rows: --top 0 shows 5 of them)\n  (1 more row left out: a table holds 100000 at most)\n  none\n"));
	gt_table_free(t);
}

/* Escapes stand around words, so nothing moves because of them; other formats never have any. */
static void colours_move_nothing(void)
{
	static const struct gt_column cols[] = { { "part", "Part", GT_C_TEXT },
		{ "failed", "Failed", GT_C_COUNT }, { "bar", "Bar", GT_C_WHOLE } };
	struct gt_table *t = gt_table_new("x", "Parts\nof it", cols, 3);
	struct gt_out o;
	char got[1000];

	gt_table_add(t,
		(struct gt_cell[]){ { .s = "compute", .tone = GT_TONE_COMPUTE },
			{ .i = 7, .tone = GT_TONE_BAD },
			{ .s = "##=  -", .tone = GT_TONE_MARKS } });
	gt_table_add(t, (struct gt_cell[]){ { .s = "b" }, { .i = 10 }, { .s = "." } });
	gt_table_note(t, "a note");
	gt_out_memory(&o);
	o.colours = true;
	CHECK(!gt_tables_print(&t, 1, GT_TEXT, NULL, &o, NULL));
	snprintf(got, sizeof(got), "%.*s", (int)o.len, o.data);
	CHECK(!strcmp(got,
		"\x1b[1mParts\x1b[0m\n\x1b[1mof it\x1b[0m\n\x1b[2m  (a note)\x1b[0m\n"
		"  \x1b[1mPart\x1b[0m     \x1b[1mFailed\x1b[0m  \x1b[1mBar\x1b[0m\n"
		"  \x1b[32mcompute\x1b[0m       \x1b[31m7\x1b[0m  \x1b[32m##\x1b[0m\x1b[35m=\x1b[0m  \x1b[36m-\x1b[0m\n"
		"  b            10  .\n"));
	for (char *from = got, *to = got; (*to = *from);
		to += *from != '\x1b', from += strcspn(from, "m") * (*from == '\x1b') + 1)
		;
	CHECK(!strcmp(got, print(&t, 1, GT_TEXT)));
	for (int f = GT_CSV; f <= GT_JSON; f++) {
		o.len = 0;
		CHECK(!gt_tables_print(&t, 1, (enum gt_table_format)f, NULL, &o, NULL) &&
			!memchr(o.data, '\x1b', o.len));
	}
	gt_table_set_warning(t);
	gt_table_set_tone(t, GT_TONE_GOOD);
	gt_table_add_line(t, "clean");
	o.len = 0;
	CHECK(!gt_tables_print(&t, 1, GT_TEXT, NULL, &o, NULL));
	gt_out_add(&o, "", 1);
	CHECK(strstr(o.data, "\x1b[32mclean\x1b[0m\n\x1b[33m  (a note)\x1b[0m\n"));
	gt_out_close(&o, NULL);
	gt_table_free(t);
}

/* Before a column is removed, times lose their nanoseconds, headings are wrapped to a second
 * line, and names other than the first become shorter. */
static void columns_become_narrower_first(void)
{
	static const struct gt_column cols[] = { { "name", "Name", GT_C_TEXT },
		{ "after", "After", GT_C_TEXT }, { "at_ns", "Start", GT_C_TIME },
		{ "mean_ns", "Longest GPU wait %", GT_C_NS }, { "n", "N", GT_C_COUNT } };
	struct gt_table *t = gt_table_new("x", NULL, cols, 5);
	const char *s;

	gt_table_add(t,
		(struct gt_cell[]){ { .s = "cuMemcpyHtoDAsync_v2" },
			{ .s = "cuDevicePrimaryCtxRetain" }, { .i = 1234567891 }, { .i = 5 },
			{ .i = 1 } });
	gt_table_add(t,
		(struct gt_cell[]){ { .s = "cuInit" }, { .s = "-" }, { .absent = true }, { .i = 5 },
			{ .i = 1 } });
	gt_table_set_hideable(t, "n mean_ns");
	s = on_terminal(t, 70);
	if (!s)
		SKIP("no pseudo terminals");
	CHECK(!strcmp(s,
		"                                                            Longest\n"
		"                                                                GPU\n"
		"  Name                  After                        Start   wait %  N\n"
		"  cuMemcpyHtoDAsync_v2  cuDevicePrimaryCtxRetain  1.234567     5 ns  1\n"
		"  cuInit                -                                -     5 ns  1\n"));
	s = on_terminal(t, 62);
	CHECK(strstr(s, "  cuMemcpyHtoDAsync_v2  cuDevice..Retain  1.234567     5 ns  1\n") &&
		widest(s) == 62);
	gt_table_free(t);
}

/* A wide column was removed: a narrow column that was removed before it fits again. */
static void what_finds_room_comes_back(void)
{
	static const struct gt_column cols[] = { { "name", "Name", GT_C_TEXT },
		{ "n", "Narrow", GT_C_COUNT }, { "w", "Waiting", GT_C_WHOLE },
		{ "zero", "Zero", GT_C_COUNT }, { "k", "Kept", GT_C_COUNT } };
	struct gt_table *t = gt_table_new("x", NULL, cols, 5);
	const char *s;

	gt_table_add(t,
		(struct gt_cell[]){ { .s = "a" }, { .i = 1 },
			{ .s = "a drawing of some thirty columns" }, { .i = 0 }, { .i = 3 } });
	gt_table_set_hideable(t, "zero n w");
	s = on_terminal(t, 30);
	if (!s)
		SKIP("no pseudo terminals");
	CHECK(strstr(s, "left out:\n    Waiting, Zero;") &&
		strstr(s, "  Name  Narrow  Kept\n  a          1     3\n"));
	gt_table_free(t);
}

/* A process column with one value, or an empty column, is removed before a name becomes too
 * short to read. If there are more rows than these, the process column stays: it may have other
 * values. */
static void what_tells_nothing_goes_before_names(void)
{
	static const struct gt_column cols[] = { { "pid", "PID", GT_C_COUNT },
		{ "n", "N", GT_C_COUNT }, { "error", "Error", GT_C_TEXT },
		{ "bar", "Bar", GT_C_WHOLE }, { "k", "K", GT_C_COUNT } };
	struct gt_table *t = gt_table_new("x", NULL, cols, 5);

	for (int i = 1; i <= 2; i++)
		gt_table_add(t,
			(struct gt_cell[]){ { .i = 7 }, { .i = i },
				{ .s = "CUDA_ERROR_INVALID_CONTEXT" }, { .s = "" }, { .i = i } });
	gt_table_set_hideable(t, "n bar pid");
	if (!on_terminal(t, 40))
		SKIP("no pseudo terminals");
	CHECK(strstr(on_terminal(t, 40), "    7  1  CUDA_ERROR_I.._CONTEXT       1\n"));
	CHECK(strstr(on_terminal(t, 32), "left out: PID, Bar;") &&
		strstr(on_terminal(t, 32), "  1  CUDA_ERROR_IN..D_CONTEXT  1\n"));
	gt_table_note_more(t, 5, 0);
	CHECK(strstr(on_terminal(t, 32), "left out: Bar; a") &&
		strstr(on_terminal(t, 32), "    7  1  CUDA_ERROR..CONTEXT  1\n"));
	gt_table_free(t);
}

/* If some rows are missing, a place is not reported as the place of all rows, in any way of
 * writing it. */
static void places_stay_where_rows_are_missing(void)
{
	static const struct gt_column cols[] = { { "pid", "PID", GT_C_COUNT },
		{ "n", "N", GT_C_COUNT }, { "error", "Error", GT_C_TEXT },
		{ "k", "K", GT_C_COUNT } };
	static const struct {
		struct gt_top_n keep;
		bool some;
		const char *says;
	} all[] = { { { .n = 2, .max = 2, .offered = 2 }, false, "" },
		{ { .n = 2, .max = 2, .offered = 3 }, true, "1 more row" },
		{ { .n = 2, .max = 2, .offered = GT_TOP_N_MAX + 1 }, true, "gtexport --jsonl" },
		{ { .n = 2, .max = GT_TOP_N_MAX, .offered = GT_TOP_N_MAX + 1 }, true,
			"at most 100000" } };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct gt_table *t = gt_table_new("x", NULL, cols, 4);
		const char *note;

		for (int k = 1; k <= 2; k++)
			gt_table_add(t,
				(struct gt_cell[]){ { .i = 7 }, { .i = k },
					{ .s = "CUDA_ERROR_INVALID_CONTEXT" }, { .i = k } });
		gt_table_set_hideable(t, "n pid");
		gt_note_top_n(t, &all[i].keep);
		note = gt_table_get_note(t, 0);
		CHECK(!note == !all[i].some && (!note || strstr(note, all[i].says)));
		if (!on_terminal(t, 24))
			SKIP("no pseudo terminals");
		CHECK(!strstr(on_terminal(t, 24), "PID  N") == !all[i].some);
		gt_table_free(t);
	}
}

/* Paths and other long words go on in the next line; nothing of them is lost. */
static void long_words_are_broken(void)
{
	static const struct gt_column one[] = { { "v", "Value", GT_C_WHOLE } };
	struct gt_table *t = gt_table_new("x", NULL, one, 1);
	const char *s;

	gt_table_note(t, "/a/rather/long/path/to/a/recording.zst");
	gt_table_add(t, (struct gt_cell[]){ { .s = "0123456789abcdef0123456789abcdef" } });
	s = on_terminal(t, 24);
	if (!s)
		SKIP("no pseudo terminals");
	CHECK_STR(s,
		"  (/a/rather/long/path/\n    to/a/recording.zst)\n  Value\n  0123456789abcdef012345\n  6789abcdef\n");
	gt_table_free(t);
}

/* The columns of the last line except for the text after the name; the name contains no two
 * consecutive spaces. */
static size_t name_width(const char *text)
{
	const char *last = text, *end;

	for (const char *p = text; (p = strchr(p, '\n')) && p[1];)
		last = ++p;
	end = strstr(last + 2, "  ");
	return end ? (size_t)(end - last) - 2 : 0;
}

/* Names that were asked for in full get two fifths of the terminal, and columns go for that. */
static void columns_give_way_to_names(void)
{
	struct gt_table *t = gt_table_new("x", NULL, columns, N);
	size_t plain[100];
	bool more = false;

	add(t, "void_a_function_with_a_very_long_name<float>(float*,_float*)", 12, 1234567, 10,
		1234);
	gt_table_set_hideable(t, "at_ns total_ns peak_bytes rate");
	if (!on_terminal(t, 70))
		SKIP("no pseudo terminals");
	for (unsigned short w = 50; w < 100; w++)
		plain[w] = name_width(on_terminal(t, w));
	gt_table_widen_names(t);
	for (unsigned short w = 50; w < 100; w++) {
		size_t now = name_width(on_terminal(t, w));

		CHECK(now >= plain[w] && now >= w / 5u * 2 && widest(on_terminal(t, w)) <= w);
		more |= now > plain[w];
	}
	CHECK(more);
	gt_table_free(t);
}

/* In text only one text stands for another. */
static void one_text_instead_of_another(void)
{
	static const struct gt_column two[] = { { "brief", "Name", GT_C_TEXT },
		{ "count", "Count", GT_C_COUNT }, { "name", NULL, GT_C_TEXT } };
	struct gt_table *t = gt_table_new("x", NULL, two, 3);

	gt_table_add(t, (struct gt_cell[]){ { .s = "add" }, { .i = 1 }, { .s = "add(float*)" } });
	gt_table_replace_column(t, "brief", "none");
	gt_table_replace_column(t, "none", "name");
	CHECK_STR(print(&t, 1, GT_TEXT), "  Name  Count\n  add       1\n");
	gt_table_replace_column(t, "brief", "name");
	CHECK_STR(print(&t, 1, GT_TEXT), "  Name         Count\n  add(float*)      1\n");
	CHECK_STR(print(&t, 1, GT_CSV), "brief,count,name\r\nadd,1,add(float*)\r\n");
	gt_table_free(t);
}

/* Notes are broken between words; a drawing is not cut, whatever it takes. */
static void words_and_drawings_stay_whole(void)
{
	static const struct gt_column two[] = { { "name", "Name", GT_C_TEXT },
		{ "strip", "Busy when", GT_C_WHOLE } };
	struct gt_table *t = gt_table_new("x", NULL, two, 2);
	const char *s;

	gt_table_add(
		t, (struct gt_cell[]){ { .s = "pt_autograd_0" }, { .s = "@@@@....@@@@....@@@@" } });
	gt_table_note(t, "a note of more words than there is room for");
	s = on_terminal(t, 30);
	if (!s)
		SKIP("no pseudo terminals");
	CHECK(strstr(s, "  (a note of more words than\n    there is room for)\n"));
	CHECK(strstr(s, "  pt_..d_0  @@@@....@@@@....@@@@\n"));
	gt_table_free(t);
	t = gt_table_new("x", NULL, two, 2);
	gt_table_add(t,
		(struct gt_cell[]){
			{ .s = "categories" }, { .s = "time of outermost calls by category" } });
	CHECK_STR(on_terminal(t, 40),
		"  Name        Busy when\n  categories  time of outermost calls by\n              category\n");
	gt_table_free(t);
}

/* One table has no title; several tables, and tables of several files, have titles. */
static void tables_of_programs_have_names(void)
{
	struct gt_table *t = gt_table_new("calls", "Calls", columns, 2), *two[2] = { t, t };
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
	struct gt_table *t = gt_table_new("calls", NULL, columns, 2);

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

/* No terminal, and lines of 40 columns all the same, where that was asked for. */
static void long_words_are_folded_into_files(void)
{
	static const struct gt_column cols[] = { { "key", "Key", GT_C_TEXT },
		{ "value", "Value", GT_C_WHOLE } };
	struct gt_err e = GT_ERR_INIT;

	for (int folds = 0; folds < 2; folds++) {
		struct gt_table *t = gt_table_new("t", NULL, cols, 2);
		struct gt_out o;

		gt_table_add(t,
			(struct gt_cell[]){ { .s = "k" },
				{ .s = "{\"id\":0,\"name\":\"one\",\"memory\":150109880320}" } });
		if (folds)
			gt_table_wrap_last_column(t, 40);
		gt_out_memory(&o);
		CHECK(!gt_tables_print(&t, 1, GT_TEXT, NULL, &o, &e));
		CHECK((strstr(o.data, "\"name\":\"one\",\n") != NULL) == folds);
		gt_out_close(&o, &e);
		gt_out_memory(&o);
		CHECK(!gt_tables_print(&t, 1, GT_TSV, NULL, &o, &e) &&
			strstr(o.data, "one\",\"memory\":150109880320}\n"));
		gt_out_close(&o, &e);
		gt_table_free(t);
	}
}

T_MAIN(T(long_words_are_folded_into_files), T(reals), T(answers), T(text),
	T(changes_and_mixed_figures), T(text_leaves_out_what_programs_read), T(only_text_indents),
	T(durations), T(scaled_as_printf_does), T(absent_cells), T(list), T(sorting), T(separated),
	T(separated_is_harmless), T(data_keep_their_type), T(json_is_always_valid),
	T(no_trailing_spaces), T(control_characters_stay_inside), T(hidden_characters_stay_inside),
	T(wide_characters_are_aligned), T(narrow_terminal), T(columns_give_way),
	T(columns_give_way_to_names), T(one_text_instead_of_another), T(more_rows),
	T(colours_move_nothing), T(columns_become_narrower_first), T(what_finds_room_comes_back),
	T(what_tells_nothing_goes_before_names), T(long_words_are_broken),
	T(places_stay_where_rows_are_missing), T(words_and_drawings_stay_whole),
	T(tables_of_programs_have_names), T(absent_cells_say_why))
