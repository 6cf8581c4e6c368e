/* The screen in memory: its cells, where text is cut, and its printed form. And the colours. */
#define _GNU_SOURCE /* wcwidth */
#include <math.h>
#include <wchar.h>
#include <locale.h>
#include "tests/unit/viewer/term/emulator.h"
#include "tests/unit/t.h"
#include "viewer/term/glyphs.h"
#include "viewer/term/screen.h"

#define LOOK(...) look_of((uint8_t[3]){ __VA_ARGS__ }) /* ink, paper, style; missing ones are 0 */
#define KERNEL (GT_INK_CATEGORY + GT_CAT_KERNEL)
#define COPY (GT_INK_CATEGORY + GT_CAT_COPY)
#define SYNC (GT_INK_CATEGORY + GT_CAT_SYNC)

static struct gt_look look_of(const uint8_t v[3]) { return (struct gt_look){ v[0], v[1], v[2] }; }

static uint64_t rng = 88172645463325252u;
static uint32_t dice(uint32_t n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)(rng >> 20) % n;
}

/* The printed form of the screen, which the caller frees; NULL: it failed. */
static char *printed(const struct gt_screen *s, enum gt_colours colours)
{
	struct gt_out out;
	char *text = NULL;

	gt_out_memory(&out);
	if (!gt_screen_print(s, colours, &out)) {
		gt_out_add(&out, "", 1);
		text = strdup(out.data);
	}
	gt_out_close(&out, NULL);
	return text;
}

static bool prints(const struct gt_screen *s, const char *wanted)
{
	char *text = printed(s, GT_MONO);
	bool same = text && !strcmp(text, wanted);

	if (!same)
		printf("printed '%s', not '%s'\n", text ? text : "", wanted);
	free(text);
	return same;
}

static void sizes(void)
{
	struct gt_screen s = { .ascii = true };

	CHECK(prints(&s, "")); /* none yet */
	gt_screen_clear(&s);
	gt_screen_put(&s, 0, 0, 'x', LOOK(0));
	gt_screen_fill(&s, -5, -5, 100, 100, 'x', LOOK(0));
	CHECK_EQ(gt_screen_text(&s, 0, 0, -1, "abc", LOOK(0)), 0);
	CHECK(!gt_screen_resize(&s, 0, 0) && s.width == 1 && s.height == 1 && s.ascii);
	CHECK(prints(&s, "\n"));
	CHECK(gt_screen_text(&s, 0, 0, -1, "a", LOOK(0)) == 1 && prints(&s, "a\n"));
	CHECK(gt_screen_text(&s, 0, 0, -1, "ab", LOOK(0)) == 1 && prints(&s, "~\n"));
	CHECK(!gt_screen_resize(&s, 100000, 100000) && s.width == GT_SCREEN_MOST &&
		s.height == GT_SCREEN_MOST);
	gt_screen_put(&s, 1023, 1023, 'z', LOOK(0));
	gt_screen_put(&s, 1024, 0, 'z', LOOK(0));
	gt_screen_put(&s, 0, 1024, 'z', LOOK(0));
	CHECK(s.spots[1024 * 1024 - 1].ch == 'z' && s.spots[1024].ch == ' ');
	CHECK(!gt_screen_resize(&s, 3, 2) && prints(&s, "\n\n")); /* resized is empty */
	gt_screen_release(&s);
	CHECK(!s.spots && !s.width && s.ascii);
	gt_screen_release(&s);
}

static void text_is_cut(void)
{
	struct gt_screen s = { 0 };

	CHECK(!gt_screen_resize(&s, 10, 1));
#define TEXT(columns, wanted, ...)                                                                 \
	do {                                                                                       \
		gt_screen_clear(&s);                                                               \
		CHECK(gt_screen_text(&s, __VA_ARGS__, LOOK(0)) == (columns));                      \
		CHECK(prints(&s, wanted));                                                         \
	} while (0)
	TEXT(5, "hello\n", 0, 0, -1, "hello");
	TEXT(10, "0123456789\n", 0, 0, -1, "0123456789");
	TEXT(10, "012345678…\n", 0, 0, -1, "0123456789a");
	TEXT(4, "  012…\n", 2, 0, 4, "01234567");
	TEXT(4, "  0123\n", 2, 0, 4, "0123");
	TEXT(2, "        0…\n", 8, 0, 50, "0123"); /* the edge is nearer than its width */
	TEXT(1, "…\n", 0, 0, 1, "ab");
	TEXT(0, "\n", 0, 0, 0, "ab");
	TEXT(0, "\n", 0, 0, -1, "");
	TEXT(0, "\n", 10, 0, -1, "ab");
	TEXT(0, "\n", INT32_MAX, 0, INT32_MAX, "ab");
	TEXT(4, "cd\n", -2, 0, -1, "abcd");
	TEXT(4, "\n", INT32_MIN, 0, -1, "abcd");
	TEXT(3, "a…\n", -1, 0, 3, "xabcd");
	TEXT(4, "\n", 0, 1, -1, "abcd");
	TEXT(4, "\n", 0, -1, -1, "abcd");
	s.ascii = true;
	TEXT(3, "ab~\n", 0, 0, 3, "abcd");
	gt_screen_clear(&s);
	CHECK(gt_screen_printf(&s, 1, 0, 6, LOOK(0), "%d/%s", 12, "long name") == 6 &&
		prints(&s, " 12/lo~\n"));
	gt_screen_release(&s);
}

static void hostile_text(void)
{
	struct gt_screen s = { 0 };
	char *huge = malloc(1 << 20);

	CHECK(!gt_screen_resize(&s, 12, 1));
	TEXT(6, "a?b?c?\n", 0, 0, -1,
		"a\x1b"
		"b\nc\x7f"); /* control characters */
	TEXT(3, "a?b\n", 0, 0, -1,
		"a\xc2\x9b"
		"b"); /* CSI of eight bits */
	/* marks on a character that is not shown */
	TEXT(3, "??x\n", 0, 0, -1, "\xcc\x81\x1b\xcc\x81x");
	TEXT(3, "??x\n", 0, 0, -1,
		"\xe2\x80\xaeא"
		"x"); /* from the right */
	/* reverses the text after it */
	TEXT(3, "a?b\n", 0, 0, -1,
		"a\u2066"
		"b");
	TEXT(4, "a??b\n", 0, 0, -1,
		"a\u200b\ufeff"
		"b"); /* hides */
	/* the terminal decides its width */
	TEXT(3, "???\n", 0, 0, -1, "\U0001f1e9\U0001f1ea\u2764");
	TEXT(4, "?a?b\n", 0, 0, -1,
		"\xff"
		"a\x80"
		"b");                                    /* no UTF-8 */
	TEXT(3, "???\n", 0, 0, -1, "\xe2\x82\xc0");      /* cut in the middle */
	TEXT(2, "a…\n", 0, 0, -1, "a\xe2\x82");          /* ends in the middle */
	TEXT(2, "??\n", 0, 0, -1, "\xc0\xaf");           /* overlong */
	TEXT(3, "???\n", 0, 0, -1, "\xed\xa0\x80");      /* a surrogate */
	TEXT(4, "????\n", 0, 0, -1, "\xf4\x90\x80\x80"); /* beyond the last */
	memset(huge, 0xe2, (1 << 20) - 1);
	huge[(1 << 20) - 1] = 0;
	TEXT(12, "???????????…\n", 0, 0, -1, huge);
	CHECK_EQ(gt_screen_printf(&s, 0, 0, -1, LOOK(0), "%s", huge), 12);
	free(huge);
	gt_screen_put(&s, 0, 0, 0, LOOK(0));
	gt_screen_put(&s, 1, 0, UINT32_MAX, LOOK(0));
	gt_screen_put(&s, 2, 0, 0x1b, LOOK(0));
	CHECK(s.spots[0].ch == '?' && s.spots[1].ch == '?' && s.spots[2].ch == '?');
	gt_screen_release(&s);
}

static void wide_text(void)
{
	struct gt_screen s = { 0 };

	CHECK(!gt_screen_resize(&s, 8, 1));
	TEXT(4, "é漢x\n", 0, 0, -1, "é漢x");
	CHECK(s.spots[1].ch == 0x6f22 && s.spots[2].ch == GT_RIGHT_HALF && s.spots[3].ch == 'x');
	TEXT(8, "漢字漢字\n", 0, 0, -1, "漢字漢字");
	TEXT(7, "漢字漢…\n", 0, 0, -1, "漢字漢字x"); /* no half of the last one */
	TEXT(3, "漢…\n", 0, 0, 4, "漢字漢");
	TEXT(3, "漢…\n", 0, 0, 3, "漢字");
	TEXT(4, "漢字\n", 0, 0, 4, "漢字");
	TEXT(1, "…\n", 0, 0, 1, "漢");
	TEXT(1, "       …\n", 7, 0, -1, "漢");
	/* half of it is left of the screen */
	TEXT(4, " 字\n", -1, 0, -1, "漢字");
	TEXT(3, "🚀x\n", 0, 0, -1, "🚀x");
	/* how it is to look is left to the terminal */
	TEXT(3, "👍x\n", 0, 0, -1, "👍\U0001f3fd\ufe0fx");
	TEXT(4, "👩💻\n", 0, 0, -1, "👩\u200d💻");
	gt_screen_release(&s);
}

static void marks(void)
{
	struct gt_screen s = { 0 };

	CHECK(!gt_screen_resize(&s, 8, 1));
	TEXT(2, "e\u0301x\n", 0, 0, -1, "e\u0301x");
	/* the largest number that fits */
	TEXT(1, "e\u0301\u0302\n", 0, 0, -1, "e\u0301\u0302\u0303\u0304");
	TEXT(2, "か\u3099\n", 0, 0, -1, "か\u3099");
	/* a syllable in pieces */
	TEXT(2, "\u1112\u1161\u11ab\n", 0, 0, -1, "\u1112\u1161\u11ab");
	TEXT(2, "e\u0301…\n", 0, 0, 2, "e\u0301xy");
	TEXT(1, "e\u0301\n", 0, 0, 1, "e\u0301"); /* a mark is no more text */
	gt_screen_put(&s, 0, 0, 'a', LOOK(0));
	CHECK(prints(&s, "a\n"));
	s.ascii = true;
	TEXT(7, "ex????y\n", 0, 0, -1, "e\u0301x漢字y"); /* columns stay where they are */
	gt_screen_release(&s);
}

/* After any half of it is overwritten, the other half becomes blank, and nothing else moves. */
static void wide_in_halves(void)
{
	struct gt_screen s = { 0 };

	CHECK(!gt_screen_resize(&s, 8, 1));
#define OVER(wanted, ...)                                                                          \
	do {                                                                                       \
		gt_screen_clear(&s);                                                               \
		gt_screen_text(&s, 0, 0, -1, "漢字漢字", LOOK(KERNEL, COPY));                      \
		__VA_ARGS__;                                                                       \
		CHECK(prints(&s, wanted));                                                         \
	} while (0)
	OVER(" a字漢字\n", gt_screen_put(&s, 1, 0, 'a', LOOK(0)));
	OVER("a 字漢字\n", gt_screen_put(&s, 0, 0, 'a', LOOK(0)));
	OVER(" 水 漢字\n", gt_screen_put(&s, 1, 0, 0x6c34, LOOK(0)));
	/* wide in the last column is not put */
	OVER("漢字漢\n", gt_screen_put(&s, 7, 0, 0x6c34, LOOK(0)));
	OVER("  字漢字\n", gt_screen_put(&s, -1, 0, 0x6c34, LOOK(0)));
	OVER("漢 xx 字\n", gt_screen_fill(&s, 3, 0, 2, 1, 'x', LOOK(0)));
	OVER("xxxxxxxx\n", gt_screen_fill(&s, 0, 0, 8, 1, 'x', LOOK(0)));
	OVER("漢 …漢字\n", gt_screen_text(&s, 3, 0, 1, "ab", LOOK(0)));
	OVER("漢字漢字\n", gt_screen_add_style(&s, 3, 0, 1, 1, GT_BOLD),
		gt_screen_set_paper(&s, 4, 0, 1, 1, GT_INK_CURSOR));
	CHECK(s.spots[2].look.style == GT_BOLD && s.spots[3].look.style == GT_BOLD &&
		!s.spots[1].look.style && !s.spots[4].look.style);
	CHECK(s.spots[4].look.paper == GT_INK_CURSOR && s.spots[5].look.paper == GT_INK_CURSOR &&
		s.spots[6].look.paper == COPY);
	gt_screen_release(&s);
}

/* Text is wrapped to the next line between whole characters. */
static void lines(void)
{
	struct gt_screen s = { 0 };

	CHECK(!gt_screen_resize(&s, 6, 3));
	CHECK(gt_screen_count_lines("", 4) == 1 && gt_screen_count_lines("abcd", 4) == 1 &&
		gt_screen_count_lines("abcde", 4) == 2);
	CHECK(gt_screen_count_lines("漢字漢字", 5) == 2 &&
		gt_screen_count_lines("漢字漢字", 3) == 4 && gt_screen_count_lines("漢字", 1) == 2);
	gt_screen_put_lines(&s, 1, 0, 5, 3, "漢字漢字漢字", LOOK(0));
	CHECK(prints(&s, " 漢字\n 漢字\n 漢字\n"));
	gt_screen_clear(&s);
	gt_screen_put_lines(&s, 1, 0, 5, 2, "漢字ae\u0301b漢字", LOOK(0));
	CHECK(prints(&s, " 漢字a\n e\u0301b漢…\n\n"));
	/* words stay whole */
	CHECK(gt_screen_count_lines("ab cd ef", 5) == 2 &&
		gt_screen_count_lines("ab cd ef", 4) == 3 &&
		gt_screen_count_lines("abcd ef", 4) == 2);
	gt_screen_clear(&s);
	gt_screen_put_lines(&s, 0, 0, 6, 3, "ab cde fghijklm no", LOOK(0));
	CHECK(prints(&s, "ab cde\nfghijk\nlm no\n"));
	gt_screen_clear(&s);
	gt_screen_put_lines(&s, 0, 0, 6, 2, "ab cdef ghijk", LOOK(0));
	CHECK(prints(&s, "ab\ncdef …\n\n"));
	gt_screen_release(&s);
}

static void ascii(void)
{
	struct gt_screen s = { .ascii = true };

	CHECK(!gt_screen_resize(&s, 40, 1));
	TEXT(9, " .:-=+*#@\n", 0, 0, -1, " ▁▂▃▄▅▆▇█");
	TEXT(8, ".:-=+*#@\n", 0, 0, -1, "▏▎▍▌▋▊▉█");
	TEXT(9, "|-++++/+|\n", 0, 0, -1, "│─┼┌┐└╱╋║");
	TEXT(8, "u x~->?~\n", 0, 0, -1, "µ ×…–→é≈");
	TEXT(4, " .=@\n", 0, 0, -1, "⠀⠁⠏⣿");
	for (unsigned n = 0; n <= 9; n++)
		gt_screen_put(&s, (int)n, 0, gt_block_glyph(n), LOOK(0));
	CHECK(prints(&s, " .:-=+*#@@\n"));
	for (uint32_t ch = 0; ch < 0x30000; ch++) {
		uint32_t a = gt_glyph_ascii(ch);

		CHECK(a >= 0x20 && a < 0x7f);
		CHECK(ch < 0x20 || ch > 0x7e || a == ch);
	}
	s.ascii = false;
	for (unsigned n = 0; n <= 9; n++)
		gt_screen_put(&s, (int)n, 0, gt_block_glyph(n), LOOK(0));
	CHECK(prints(&s, " ▁▂▃▄▅▆▇██\n"));
	gt_screen_release(&s);
}

/* Our column counts equal those of the C library; and bytes to characters and back. */
static void columns(void)
{
	char utf8[8] = "";
	uint32_t back;

	static const uint32_t others[] = { 0, 0x1f, 0x7f, 0x9b, 0xad, 0x301, 0x5d0, 0x202e, 0x200d,
		0x1f1e9, UINT32_MAX };

	CHECK(gt_glyph_columns(' ') == 1 && gt_glyph_columns('~') == 1 &&
		gt_glyph_columns(0xe9) == 1 && gt_glyph_columns(0x2588) == 1);
	CHECK(gt_glyph_columns(0x6f22) == 2 && gt_glyph_columns(0x1f600) == 2 &&
		gt_glyph_columns(0xac00) == 2);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		CHECK(!gt_glyph_columns(others[i]));
	for (uint32_t ch = 1; ch < 0x110000; ch += ch < 0x3000 ? 1 : 37) {
		size_t n = gt_utf8_put(utf8, ch);

		if (ch >= 0xd800 && ch < 0xe000)
			continue;
		CHECK(gt_utf8_get(utf8, n, &back) == n && back == ch);
		CHECK(n == 1 || (gt_utf8_get(utf8, n - 1, &back) == 1 && back == UINT32_MAX));
	}
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		SKIP("no locale C.UTF-8");
	for (uint32_t ch = 1; ch < 0x110000; ch++) {
		int theirs = wcwidth((wchar_t)ch); /* -1: newer than the library */

		CHECK(!gt_glyph_columns(ch) || theirs == (int)gt_glyph_columns(ch) ||
			(theirs < 0 && gt_glyph_columns(ch) == 2));
		CHECK(gt_utf8_columns(ch) || theirs <= 0 || (ch >= 0x1f3fb && ch <= 0x1f3ff));
		CHECK(gt_utf8_columns(ch) < 2 || theirs == 2 || theirs < 0);
	}
	setlocale(LC_CTYPE, "C");
}

static void rectangles(void)
{
	struct gt_screen s = { 0 };

	CHECK(!gt_screen_resize(&s, 4, 3));
	gt_screen_fill(&s, -2, 1, 4, 100, 'x', LOOK(KERNEL, 0, GT_BOLD));
	CHECK(prints(&s, "\nxx\nxx\n"));
	gt_screen_fill(&s, 3, -7, INT32_MAX, INT32_MAX, 'y', LOOK(0));
	CHECK(prints(&s, "   y\nxx y\nxx y\n"));
	gt_screen_fill(&s, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, 'z', LOOK(0));
	gt_screen_fill(&s, 0, 0, -1, 1, 'z', LOOK(0));
	gt_screen_fill(&s, 0, 0, 1, INT32_MIN, 'z', LOOK(0));
	gt_screen_add_style(&s, 1, 0, 1, 2, GT_UNDERLINE);
	gt_screen_set_paper(&s, 1, 1, 50, 1, GT_INK_CURSOR);
	CHECK(prints(&s, "   y\nxx y\nxx y\n"));
	CHECK(s.spots[5].look.style == (GT_BOLD | GT_UNDERLINE) && s.spots[5].look.ink == KERNEL &&
		s.spots[5].look.paper == GT_INK_CURSOR);
	CHECK(s.spots[1].look.style == GT_UNDERLINE && s.spots[1].look.paper == 0 &&
		s.spots[7].look.paper == GT_INK_CURSOR);
	CHECK(s.spots[4].look.style == GT_BOLD && s.spots[4].look.paper == 0 &&
		s.spots[9].look.style == GT_BOLD);
	gt_screen_release(&s);
}

/* ---- ANSI ---- */

static void ansi_exactly(void)
{
	struct gt_screen s = { 0 };
	char *text;

	CHECK(!gt_screen_resize(&s, 6, 2));
	gt_screen_text(&s, 0, 0, -1, "ab", LOOK(KERNEL));
	gt_screen_text(&s, 2, 0, -1, "c", LOOK(0, GT_INK_CURSOR, GT_UNDERLINE));
	gt_screen_text(&s, 0, 1, -1, "d", LOOK(0));
#define ANSI(depth, wanted)                                                                        \
	do {                                                                                       \
		text = printed(&s, depth);                                                         \
		CHECK(text);                                                                       \
		CHECK(!strcmp(text, wanted));                                                      \
		free(text);                                                                        \
	} while (0)
	ANSI(GT_MONO, "abc\nd\n");
	ANSI(GT_COLOURS_8, "\x1b[0;34mab\x1b[0;4;7mc\x1b[0m\nd\n");
	ANSI(GT_COLOURS_256, "\x1b[0;38;5;27mab\x1b[0;4;38;5;16;48;5;221mc\x1b[0m\nd\n");
	ANSI(GT_COLOURS_TRUE,
		"\x1b[0;38;2;0;95;255mab\x1b[0;4;38;2;0;0;0;48;2;255;215;95mc\x1b[0m\nd\n");
	gt_screen_clear(&s);
	/* spaces with a background are printed, others are not */
	gt_screen_fill(&s, 0, 0, 3, 1, ' ', LOOK(0, KERNEL));
	gt_screen_fill(&s, 3, 0, 3, 1, ' ', LOOK(KERNEL, 0, GT_BOLD));
	ANSI(GT_COLOURS_8, "\x1b[0;37;44m   \x1b[0m\n\n");
	gt_screen_release(&s);
}

static struct gt_look any_look(void)
{
	return LOOK((uint8_t)dice(GT_INKS), dice(3) ? 0 : (uint8_t)dice(GT_INKS),
		(uint8_t)(dice(2) ? 0 : dice(16)));
}

static void scribble(struct gt_screen *s)
{
	static const char *const words[] = { "void gemm<float, 128>(float*)", "▁▂▃▄▅▆▇█", "│├─┤",
		"µs … 漢字", "\x1b[31m", "memcpy", "学習🚀x가e\u0301がé" };

	for (unsigned i = 0, n = dice(60); i < n; i++) {
		int x = (int)dice(s->width + 8) - 4, y = (int)dice(s->height + 4) - 2,
		    w = (int)dice(30) - 1;

		switch (dice(5)) {
		case 0: gt_screen_text(s, x, y, w, words[dice(7)], any_look()); break;
		case 1:
			gt_screen_fill(s, x, y, w, (int)dice(5),
				dice(2) ? ' ' : 0x2590 - (uint32_t)dice(9), any_look());
			break;
		case 2: gt_screen_add_style(s, x, y, w, (int)dice(5), (uint8_t)dice(16)); break;
		case 3:
			gt_screen_set_paper(s, x, y, w, (int)dice(5), (uint8_t)dice(GT_INKS));
			break;
		default:
			gt_screen_put(
				s, x, y, dice(2) ? dice(0x2600) : 0x4e00 + dice(100), any_look());
		}
	}
}

static void ansi_parsed_back(void)
{
	struct gt_screen s = { 0 };
	struct emulator e;
	char *text;

	for (int round = 0; round < 400; round++) {
		enum gt_colours depth = GT_COLOURS_8 + round % 3;

		s.ascii = dice(4) == 0;
		CHECK(!gt_screen_resize(&s, 1 + dice(round % 50 ? 60 : 900), 1 + dice(12)));
		scribble(&s);
		text = printed(&s, depth);
		CHECK(text);
		emulator_open(&e, (int)s.width, (int)s.height + 1);
		e.lf_is_crlf = true;
		emulator_feed(&e, text, strlen(text));
		CHECK(!e.unknown[0] && e.y == (int)s.height &&
			!memcmp(&e.pen, &emulator_plain, sizeof(e.pen)));
		for (size_t i = 0; i < (size_t)s.width * s.height; i++) {
			struct emulated c = e.cells[i];

			/* black: ncurses has a number of the palette for it, this has not */
			if (c.look.ink == EMULATED_RGB)
				c.look.ink = 0;
			CHECK(emulator_shows(&c, &s.spots[i],
				gt_look_resolve(s.spots[i].look, depth), depth, 0xff));
			CHECK(!s.ascii || s.spots[i].ch < 0x7f);
		}
		free(text);
		free(e.cells);
	}
	gt_screen_release(&s);
}

/* ---- colours ---- */

struct rgb {
	double v[3];
};

static double linear(int c)
{
	return c / 255.0 <= 0.04045 ? c / 255.0 / 12.92 : pow((c / 255.0 + 0.055) / 1.055, 2.4);
}

static struct rgb of_256(int n)
{
	static const int levels[] = { 0, 95, 135, 175, 215, 255 };
	int grey = 8 + 10 * (n - 232);

	if (n >= 232)
		return (struct rgb){ { linear(grey), linear(grey), linear(grey) } };
	n -= 16;
	return (struct rgb){ { linear(levels[n / 36]), linear(levels[n / 6 % 6]),
		linear(levels[n % 6]) } };
}

static struct rgb of_ink(unsigned ink, enum gt_colours depth)
{
	const struct gt_ink_look *k = &gt_inks[ink];

	return depth == GT_COLOURS_256
		? of_256(k->of_256)
		: (struct rgb){ { linear(k->r), linear(k->g), linear(k->b) } };
}

static double luminance(struct rgb c)
{
	return 0.2126 * c.v[0] + 0.7152 * c.v[1] + 0.0722 * c.v[2];
}

static double contrast(struct rgb a, struct rgb b)
{
	double x = luminance(a) + 0.05, y = luminance(b) + 0.05;

	return x > y ? x / y : y / x;
}

/* How far apart two colours are in CIE L*a*b*, seen by an eye as the matrix says. */
static double apart(struct rgb a, struct rgb b, const double eye[3][3])
{
	double lab[2][3];

	for (int k = 0; k < 2; k++) {
		const double *v = k ? b.v : a.v;
		double s[3], f[3];

		for (int i = 0; i < 3; i++)
			s[i] = fmin(
				1, fmax(0, eye[i][0] * v[0] + eye[i][1] * v[1] + eye[i][2] * v[2]));
		f[0] = cbrt((0.4124 * s[0] + 0.3576 * s[1] + 0.1805 * s[2]) / 0.95047);
		f[1] = cbrt(0.2126 * s[0] + 0.7152 * s[1] + 0.0722 * s[2]);
		f[2] = cbrt((0.0193 * s[0] + 0.1192 * s[1] + 0.9505 * s[2]) / 1.08883);
		lab[k][0] = 116 * f[1] - 16;
		lab[k][1] = 500 * (f[0] - f[1]);
		lab[k][2] = 200 * (f[1] - f[2]);
	}
	return sqrt(pow(lab[0][0] - lab[1][0], 2) + pow(lab[0][1] - lab[1][1], 2) +
		pow(lab[0][2] - lab[1][2], 2));
}

/* Normal sight, and without red, green or blue receptors (Machado, Oliveira and Fernandes, 2009).
 */
static const double eyes[4][3][3] = {
	{ { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
	{ { 0.152286, 1.052583, -0.204868 }, { 0.114503, 0.786281, 0.099216 },
		{ -0.003882, -0.048116, 1.051998 } },
	{ { 0.367322, 0.860646, -0.227968 }, { 0.280085, 0.672501, 0.047413 },
		{ -0.011820, 0.042940, 0.968881 } },
	{ { 1.255528, -0.076749, -0.178779 }, { -0.078411, 0.930809, 0.147602 },
		{ 0.004733, 0.691367, 0.303900 } },
};
static const unsigned four[] = { KERNEL, COPY, GT_INK_COMM, SYNC };

static void distinguished_by_all(void)
{
	for (int depth = GT_COLOURS_256; depth <= GT_COLOURS_TRUE; depth++)
		for (int a = 0; a < 4; a++)
			for (int b = 0; b < a; b++)
				for (int eye = 0; eye < 4; eye++)
					CHECK(apart(of_ink(four[a], depth), of_ink(four[b], depth),
						      eyes[eye]) > 20);
	for (int a = 0; a < 4; a++)
		for (int b = 0; b < a; b++) {
			CHECK(gt_inks[four[a]].of_8 != gt_inks[four[b]].of_8);
			/* without colours */
			CHECK(gt_inks[four[a]].style != gt_inks[four[b]].style);
		}
}

static bool is_paper(unsigned ink) { return ink >= GT_INK_CURSOR && ink <= GT_INK_FOUND; }

static void read_on_dark_and_light(void)
{
	const struct rgb black = { { 0, 0, 0 } }, white = { { 1, 1, 1 } };

	for (int depth = GT_COLOURS_256; depth <= GT_COLOURS_TRUE; depth++)
		for (unsigned ink = 0; ink < GT_INKS; ink++) {
			struct rgb c;

			CHECK(gt_inks[ink].word);
			if (gt_inks[ink].own == GT_COLOURS_TRUE)
				continue;
			c = of_ink(ink, depth);
			CHECK(gt_inks[ink].of_256 >= 16 && gt_inks[ink].of_8 < 8);
			CHECK(is_paper(ink) ? contrast(c, black) > 10
					    : contrast(c, black) >= 3 && contrast(c, white) >= 3);
		}
}

/* Text on any background, in any colour and at any colour depth never has the colour of the
 * background. */
static void read_on_papers(void)
{
	for (unsigned depth = GT_COLOURS_8; depth <= GT_COLOURS_TRUE; depth++)
		for (unsigned paper = 0; paper < GT_INKS; paper++)
			for (unsigned ink = 0; ink < GT_INKS; ink++) {
				struct gt_resolved_look s =
					gt_look_resolve(LOOK((uint8_t)ink, (uint8_t)paper), depth);

				CHECK((gt_inks[paper].own >= depth) ==
					(s.paper == GT_COLOUR_DEFAULT));
				CHECK(s.paper == GT_COLOUR_DEFAULT ||
					(s.ink != GT_COLOUR_DEFAULT && s.ink != s.paper));
				CHECK(s.paper != GT_COLOUR_DEFAULT ||
					(gt_inks[ink].own >= depth) ==
						(s.ink == GT_COLOUR_DEFAULT));
				/* black, red, blue and magenta are the dark ones */
				if (s.paper != GT_COLOUR_DEFAULT && depth == GT_COLOURS_8)
					CHECK((0x33 >> s.ink & 1) != (0x33 >> s.paper & 1));
				if (s.paper != GT_COLOUR_DEFAULT && depth == GT_COLOURS_256)
					CHECK(contrast(of_256(s.ink), of_256(s.paper)) >= 1.6);
				if (s.paper != GT_COLOUR_DEFAULT && depth == GT_COLOURS_256 &&
					gt_inks[ink].own == GT_COLOURS_TRUE)
					CHECK(contrast(of_256(s.ink), of_256(s.paper)) >= 4.5);
			}
	/* on a light paper, ink keeps its colour */
	for (int i = 0; i < 4; i++)
		CHECK(gt_look_resolve(LOOK((uint8_t)four[i], GT_INK_SELECTED), GT_COLOURS_256)
				.ink == gt_inks[four[i]].of_256);
}

static void without_colours(void)
{
	for (unsigned ink = 1; ink < GT_INKS; ink++) {
		struct gt_resolved_look s = gt_look_resolve(LOOK(0, (uint8_t)ink), GT_MONO);

		CHECK(s.ink == GT_COLOUR_DEFAULT && s.paper == GT_COLOUR_DEFAULT);
		/* a paper is seen */
		CHECK(ink == GT_INK_TEXT || s.style & (GT_REVERSE | GT_UNDERLINE));
	}
	CHECK(gt_look_resolve(LOOK(GT_INK_ERROR, 0, GT_UNDERLINE), GT_MONO).style ==
		(GT_BOLD | GT_UNDERLINE));
	CHECK_EQ(gt_look_resolve(LOOK(GT_INK_ERROR), GT_COLOURS_8).style, 0);
	CHECK_EQ(gt_look_resolve(LOOK(GT_INK_TITLE), GT_COLOURS_TRUE).style, GT_BOLD);
	CHECK_EQ(gt_look_resolve(LOOK(GT_INK_FAINT), GT_COLOURS_8).style, GT_DIM);
	CHECK_EQ(gt_look_resolve(LOOK(GT_INK_FAINT), GT_COLOURS_256).style, 0);
	CHECK_EQ(gt_look_resolve(LOOK(255, 255), GT_COLOURS_TRUE).ink,
		GT_COLOUR_DEFAULT); /* no such ink */
}

/* Letters are escaped, blocks are rectangles of their size, a reversed cell has a paper of its
 * ink's colour, and spaces are omitted. */
static void a_picture_has_what_the_screen_has(void)
{
	struct gt_screen s = { 0 };
	struct gt_out o;

	CHECK(!gt_screen_resize(&s, 6, 2));
	gt_screen_text(&s, 0, 0, -1, "a<&> ", (struct gt_look){ GT_INK_ERROR, 0, GT_BOLD });
	gt_screen_put(&s, 1, 1, 0x2584, (struct gt_look){ .ink = GT_INK_CATEGORY + GT_CAT_KERNEL });
	gt_screen_put(&s, 2, 1, 0x258e, (struct gt_look){ .ink = GT_INK_CATEGORY + GT_CAT_KERNEL });
	gt_screen_put(&s, 5, 1, 'x', (struct gt_look){ .style = GT_REVERSE });
	gt_out_memory(&o);
	CHECK(!gt_screen_svg(&s, &o));
	gt_out_add(&o, "", 1);
	CHECK(strstr(o.data, "<svg ") == o.data && strstr(o.data, "width=\"68\" height=\"54\"") &&
		strstr(o.data, "</svg>\n"));
	CHECK(strstr(o.data,
		"<text x=\"10\" y=\"23\" textLength=\"32\" fill=\"#d70000\" font-weight=\"bold\">a&lt;&amp;&gt;</text>"));
	CHECK(strstr(
		o.data, "<rect x=\"18\" y=\"35.5\" width=\"8\" height=\"8.5\" fill=\"#005fff\"/>"));
	CHECK(strstr(
		o.data, "<rect x=\"26\" y=\"27\" width=\"2\" height=\"17\" fill=\"#005fff\"/>"));
	CHECK(strstr(o.data,
		"<rect x=\"50\" y=\"27\" width=\"8\" height=\"17\" fill=\"#d3d7de\"/>\n<text x=\"50\" y=\"40\" textLength=\"8\" fill=\"#16181d\">x<"));
	CHECK(!strstr(o.data, "> <") && !strstr(o.data, "><text"));
	gt_out_close(&o, NULL);
	gt_screen_release(&s);
}

/* Wide characters have their own length, so that the text next to them stays in its columns. */
static void wide_in_a_picture(void)
{
	struct gt_screen s = { 0 };
	struct gt_out o;

	CHECK(!gt_screen_resize(&s, 10, 1));
	gt_screen_text(&s, 0, 0, -1, "a漢字<\u0301b", LOOK(0));
	gt_out_memory(&o);
	CHECK(!gt_screen_svg(&s, &o));
	gt_out_add(&o, "", 1);
	CHECK(strstr(o.data, "<text x=\"10\" y=\"23\" textLength=\"8\" fill=\"#d3d7de\">a</text>"));
	CHECK(strstr(
		o.data, "<text x=\"18\" y=\"23\" textLength=\"32\" fill=\"#d3d7de\">漢字</text>"));
	CHECK(strstr(o.data,
		"<text x=\"50\" y=\"23\" textLength=\"16\" fill=\"#d3d7de\">&lt;\u0301b</text>"));
	gt_out_close(&o, NULL);
	gt_screen_release(&s);
}

T_MAIN(T(a_picture_has_what_the_screen_has), T(wide_in_a_picture), T(sizes), T(text_is_cut),
	T(hostile_text), T(wide_text), T(marks), T(wide_in_halves), T(lines), T(ascii), T(columns),
	T(rectangles), T(ansi_exactly), T(ansi_parsed_back), T(distinguished_by_all),
	T(read_on_dark_and_light), T(read_on_papers), T(without_colours))
