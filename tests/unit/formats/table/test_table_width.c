/* Tables on terminals: what gives way where they are narrow, wide characters, colours. */
#include "tests/unit/t.h"

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>
#include "analyze/core/report.h"
#include "tests/unit/formats/table/tables.h"

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
	struct gt_table *t = gt_table_new("x", NULL, call_columns, 3);
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
	struct gt_table *t = gt_table_new("x", NULL, call_columns, CALL_COLUMNS);
	const char *s;

	add_call(t, "cuMemcpyHtoDAsync_v2", 12, 1234567, 0, 1234);
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
	struct gt_table *t = gt_table_new("x", NULL, call_columns, CALL_COLUMNS);
	size_t plain[100];
	bool more = false;

	add_call(t, "void_a_function_with_a_very_long_name<float>(float*,_float*)", 12, 1234567, 10,
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

T_MAIN(T(long_words_are_folded_into_files), T(no_trailing_spaces), T(wide_characters_are_aligned),
	T(narrow_terminal), T(columns_give_way), T(columns_give_way_to_names),
	T(one_text_instead_of_another), T(more_rows), T(colours_move_nothing),
	T(columns_become_narrower_first), T(what_finds_room_comes_back),
	T(what_tells_nothing_goes_before_names), T(long_words_are_broken),
	T(places_stay_where_rows_are_missing), T(words_and_drawings_stay_whole))
