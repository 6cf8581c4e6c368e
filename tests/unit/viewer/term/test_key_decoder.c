/* Keys as words and scripts, and as the bytes that terminals send. */
#include <errno.h>
#include "tests/unit/t.h"
#include "tests/unit/viewer/key_script.h"
#include "viewer/term/key_decoder.h"

static bool same(struct gt_key a, struct gt_key b)
{
	return a.key == b.key && a.modifiers == b.modifiers && a.x == b.x && a.y == b.y;
}

static uint64_t rng = 88172645463325252u;
static uint32_t dice(uint32_t n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)(rng >> 20) % n;
}

/* The words of all keys of a script, each in < >; "error at REST" where it is not understood. */
static const char *words(const char *script)
{
	static char text[1000];
	struct key_script s = { .at = script };
	struct gt_key k;
	char word[GT_KEY_WORD];
	size_t n = 0;
	int r;

	text[0] = 0;
	while ((r = key_script_next(&s, &k)) > 0 && n < 900)
		n += (size_t)snprintf(
			text + n, sizeof(text) - n, "<%s>", gt_key_word(k, word) ? word : "NULL");
	if (r < 0)
		snprintf(text + n, sizeof(text) - n, " error at %s", s.at);
	return text;
}
#define SCRIPT(script, wanted)                                                                     \
	do {                                                                                       \
		const char *got_ = words(script);                                                  \
		if (strcmp(got_, wanted))                                                          \
			printf("%s: %s\n", script, got_);                                          \
		CHECK(!strcmp(got_, wanted));                                                      \
	} while (0)

static void scripts(void)
{
	SCRIPT("", "");
	SCRIPT("  \n\t ", "");
	SCRIPT("a Left C-c PgDn < F1 F12", "<a><Left><C-c><PgDn><<><F1><F12>");
	SCRIPT("left LEFT Return esc pageup é 'a'", "<Left><Left><Enter><Esc><PgUp><é><a>");
	SCRIPT("C-a C-z C-[ C-\\ C-] C-^ C-_ C-Space C-i C-m C-h",
		"<C-a><C-z><Esc><C-\\><C-]><C-^><C-_><C-Space><Tab><Enter><Backspace>");
	SCRIPT("S-Left S-Right S-Up S-Tab C-Left C-S-Left S-C-Left M-x M-S-Tab C-M-F5",
		"<S-Left><S-Right><S-Up><S-Tab><C-Left><C-S-Left><C-S-Left><M-x><M-S-Tab><C-M-F5>");
	SCRIPT("- C-- M-- + = ' ' Space Quote", "<-><C--><M--><+><=><Space><Space><Quote>");
	SCRIPT("/ 'ge mm' Enter", "</><g><e><Space><m><m><Enter>");
	SCRIPT("'it''s' ''", "<i><t><Quote><s>");
	SCRIPT("'a''' x", "<a><Quote><x>");
	SCRIPT("'é→'", "<é><→>");
	SCRIPT("click 10,5", "<press 10,5><release 10,5>");
	SCRIPT("C-click 10,5 x", "<C-press 10,5><C-release 10,5><x>");
	SCRIPT("double 1,2", "<press 1,2><release 1,2><second-press 1,2><release 1,2>");
	SCRIPT("drag 10,5 30,6 q", "<press 10,5><drag 30,6><release 30,6><q>");
	SCRIPT("press 1,1 drag 2,2 release 3,3", "<press 1,1><drag 2,2><release 3,3>");
	SCRIPT("S-wheel-up 40,9 wheel-down 0,65535", "<S-wheel-up 40,9><wheel-down 0,65535>");
	SCRIPT("resize 80x24 hangup", "<resize 80x24><hangup>");
}

static void wrong_scripts(void)
{
	SCRIPT("a Lefty b", "<a> error at Lefty b");
	SCRIPT("ab", " error at ab");
	SCRIPT("F0", " error at F0");
	SCRIPT("F13", " error at F13");
	SCRIPT("F01", " error at F01");
	SCRIPT("F1x", " error at F1x");
	SCRIPT("C-", " error at C-");
	SCRIPT("c-c", " error at c-c");
	SCRIPT("'abc", "<a><b><c> error at ");
	SCRIPT("'a\nb'", "<a> error at \nb'");
	SCRIPT("click", " error at click");
	SCRIPT("click 10", " error at click 10");
	SCRIPT("click 10,", " error at click 10,");
	SCRIPT("click ,10", " error at click ,10");
	SCRIPT("click 1,2,3", " error at click 1,2,3");
	SCRIPT("click 10x5", " error at click 10x5");
	SCRIPT("wheel-up 70000,1", " error at wheel-up 70000,1");
	SCRIPT("wheel-up 1,99999999999999999999", " error at wheel-up 1,99999999999999999999");
	SCRIPT("resize 80,24", " error at resize 80,24");
	SCRIPT("drag 1,2 3,", "<drag 1,2> error at 3,");
	SCRIPT("x \xff y", "<x> error at \xff y");
	SCRIPT("\x01", " error at \x01");
}

/* Each named key is decoded from its name in a script; scripts without meaning end, too. */
static void words_and_back(void)
{
	char word[GT_KEY_WORD], text[40];
	struct gt_key k, back;

	for (uint32_t key = 1; key <= GT_KEY_WHEEL_DOWN;
		key += key < T_INPUTS(0x3000u) || key >= 0x10ff00 ? 1
			: T_SANITIZED                             ? 389
								  : 97)
		for (uint8_t with = 0; with < 8; with++) {
			struct key_script s = { .at = word };
			bool place = key >= GT_KEY_PRESS || key == GT_KEY_RESIZE;

			k = (struct gt_key){ .key = key,
				.modifiers = with,
				.x = place ? 65535 : 0,
				.y = place ? 65535 : 0 };
			if ((key >= 0xd800 && key < 0xe000) || key == 8 || key == 13)
				continue;
			CHECK(gt_key_word(k, word) == word && strlen(word) < sizeof(word));
			CHECK(key_script_next(&s, &back) == 1 && back.key && !*s.at);
			if (!with || place || (key >= GT_KEY_F1 && key <= GT_KEY_F12))
				CHECK(same(k, back));
		}
	CHECK(!gt_key_word((struct gt_key){ 0 }, word) &&
		!gt_key_word((struct gt_key){ .key = GT_KEY_WHEEL_DOWN + 1 }, word));
	for (int round = 0; round < T_INPUTS(20000); round++) {
		struct key_script s = { .at = text };
		size_t n = dice(sizeof(text));
		int r, keys = 0;

		for (size_t i = 0; i < n; i++)
			text[i] = "abCMSF-123,x' \tdclickragesz\xc3\xa9\xff"[dice(31)];
		text[n] = 0;
		while ((r = key_script_next(&s, &k)) > 0)
			CHECK(++keys < 200);
		CHECK(r == 0 ? !*s.at : r == -EINVAL && s.at >= text && s.at <= text + n);
	}
}

/* ---- bytes ---- */

struct said {
	const char *bytes, *word;
};
static const struct said said[] = {
	{ "a", "a" },
	{ "Z", "Z" },
	{ " ", "Space" },
	{ "é", "é" },
	{ "→", "→" },
	{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
	{ "\r", "Enter" },
	{ "\n", "Enter" },
	{ "\t", "Tab" },
	{ "\x7f", "Backspace" },
	{ "\b", "Backspace" },
	{ "\x03", "C-c" },
	{ "\x1c", "C-\\" },
	{ "\x1bx", "M-x" },
	{ "\x1b\r", "M-Enter" },
	{ "\x1b\x7f", "M-Backspace" },
	{ "\x1bé", "M-é" },
	{ "\x1b[A", "Up" },
	{ "\x1b[B", "Down" },
	{ "\x1b[C", "Right" },
	{ "\x1b[D", "Left" },
	{ "\x1bOA", "Up" },
	{ "\x1bOH", "Home" },
	{ "\x1bOF", "End" },
	{ "\x1b[H", "Home" },
	{ "\x1b[F", "End" },
	{ "\x1b[1~", "Home" },
	{ "\x1b[4~", "End" },
	{ "\x1b[7~", "Home" },
	{ "\x1b[8~", "End" },
	{ "\x1b[2~", "Ins" },
	{ "\x1b[3~", "Del" },
	{ "\x1b[5~", "PgUp" },
	{ "\x1b[6~", "PgDn" },
	{ "\x1b[Z", "S-Tab" },
	{ "\x1bOP", "F1" },
	{ "\x1bOS", "F4" },
	{ "\x1b[11~", "F1" },
	{ "\x1b[15~", "F5" },
	{ "\x1b[17~", "F6" },
	{ "\x1b[21~", "F10" },
	{ "\x1b[23~", "F11" },
	{ "\x1b[24~", "F12" },
	{ "\x1b[[A", "F1" },
	{ "\x1b[[E", "F5" },
	{ "\x1b[1;2P", "S-F1" },
	{ "\x1b[24;5~", "C-F12" },
	{ "\x1b[1;2D", "S-Left" },
	{ "\x1b[1;2C", "S-Right" },
	{ "\x1b[1;2A", "S-Up" },
	{ "\x1b[1;3D", "M-Left" },
	{ "\x1b[1;5D", "C-Left" },
	{ "\x1b[1;6D", "C-S-Left" },
	{ "\x1b[1;8D", "C-M-S-Left" },
	{ "\x1b[1;9D", "M-Left" },
	{ "\x1b[5;5~", "C-PgUp" },
	{ "\x1b[3;2~", "S-Del" },
	{ "\x1b[d", "S-Left" },
	{ "\x1bOd", "C-Left" },
	{ "\x1b[a", "S-Up" },
	{ "\x1b[5$", "S-PgUp" },
	{ "\x1b[5^", "C-PgUp" },
	{ "\x1b[5@", "C-S-PgUp" },
	{ "\x1b\x1b[A", "M-Up" },
	{ "\x1b\x1bOA", "M-Up" },
	{ "\x1b\x1b[5~", "M-PgUp" },
	{ "\x1bOM", "Enter" },
	{ "\x1bOk", "+" },
	{ "\x1bOm", "-" },
	{ "\x1bOp", "0" },
	{ "\x1bOy", "9" },
	{ "\x1b[97;5u", "C-a" },
	{ "\x1b[13;5u", "C-Enter" },
	{ "\x1b[9;2u", "S-Tab" },
	{ "\x1b[27u", "Esc" },
	{ "\x1b[97;3u", "M-a" },
	{ "\x1b[97;2u", "A" },
	{ "\x1b[233u", "é" },
	{ "\x1b[27;5;9~", "C-Tab" },
	{ "\x1b[27;3;97~", "M-a" },
	{ "\x1b[<0;11;6M", "press 10,5" },
	{ "\x1b[<0;11;6m", "release 10,5" },
	{ "\x1b[<32;300;200M", "drag 299,199" },
	{ "\x1b[<16;1;1M", "C-press 0,0" },
	{ "\x1b[<64;1;1M", "wheel-up 0,0" },
	{ "\x1b[<65;1;1M", "wheel-down 0,0" },
	{ "\x1b[<80;1;2M", "C-wheel-up 0,1" },
	{ "\x1b[<69;1;2M", "S-wheel-down 0,1" },
	{ "\x1b[<72;1;2M", "M-wheel-up 0,1" },
	{ "\x1b[<66;1;1M", "S-wheel-up 0,0" },
	{ "\x1b[<67;1;1M", "S-wheel-down 0,0" },
	{ "\x1b[<0;0;0M", "press 0,0" },
	{ "\x1b[<0;99999999999;1M", "press 65535,0" },
	{ "\x1b[M !\"", "press 0,1" },
	{ "\x1b[M#!\"", "release 0,1" },
	{ "\x1b[M@!!", "drag 0,0" },
	{ "\x1b[M`!!", "wheel-up 0,0" },
	{ "\x1b[Mp!!", "C-wheel-up 0,0" },
};
static const char *const meaningless[] = {
	"\x80",
	"\xff",
	"\xc2\x9b",
	"\xed\xa0\x80",
	"\x1b[I",
	"\x1b[O",
	"\x1b[200~",
	"\x1b[99~",
	"\x1b[?1;2c",
	"\x1b[>0;1;2c",
	"\x1b]11;rgb:0/0/0\x07",
	"\x1b]11;x\x1b\\",
	"\x1bP1$r0m\x1b\\",
	"\x1b[<1;5;5M",
	"\x1b[<2;5;5m",
	"\x1b[<35;5;5M",
	"\x1b[<64;5;5m",
	"\x1b[<128;5;5M",
	"\x1b[<-1;5M",
	"\x1b[[Z",
	"\x1bOz",
	"\x1b[M\x1f!!",
	"\x1b[1;5z",
	"\x1b[M\"!!",
	"\x1b[1114112u",
	"\x1b[55296000u",
};
#define NSAID (sizeof(said) / sizeof(*said))

static size_t typed(const char *s, size_t n, bool last, struct gt_key *k)
{
	return gt_key_decode((const uint8_t *)s, n, last, NULL, 0, k);
}

static void bytes_of_keys(void)
{
	char word[GT_KEY_WORD];
	struct gt_key k;

	for (size_t i = 0; i < NSAID; i++) {
		size_t n = strlen(said[i].bytes);
		size_t used = typed(said[i].bytes, n, false, &k);

		if (used != n || !gt_key_word(k, word) || strcmp(word, said[i].word))
			printf("%s: %zu of %zu bytes are %s\n", said[i].word, used, n,
				k.key ? word : "nothing");
		CHECK(used == n && !strcmp(word, said[i].word));
		/* while it is not at its end it is nothing, unless that is all there will be */
		for (size_t part = 1; part < n; part++) {
			CHECK(typed(said[i].bytes, part, false, &k) == 0 && !k.key);
			CHECK((used = typed(said[i].bytes, part, true, &k)) >= 1 && used <= part);
		}
	}
	CHECK(typed("", 0, false, &k) == 0 && typed("", 0, true, &k) == 0);
	CHECK(typed("\0", 1, false, &k) == 1 &&
		same(k, (struct gt_key){ .key = ' ', .modifiers = GT_MOD_CTRL }));
}

static void nothing_is_meant(void)
{
	for (size_t i = 0; i < sizeof(meaningless) / sizeof(*meaningless); i++) {
		size_t n = strlen(meaningless[i]), at = 0;
		struct gt_key k = { 0 };

		while (at < n && !k.key) {
			size_t used = typed(meaningless[i] + at, n - at, false, &k);

			used = used ? used : typed(meaningless[i] + at, n - at, true, &k);
			CHECK(used);
			at += used;
		}
		if (k.key)
			printf("meaningless[%zu] is a key\n", i);
		CHECK(!k.key && at == n);
	}
}

static void escape_alone(void)
{
	struct gt_key k;

	CHECK_EQ(typed("\x1b", 1, false, &k), 0);
	CHECK(typed("\x1b", 1, true, &k) == 1 && k.key == GT_KEY_ESC && !k.modifiers);
	CHECK(typed("\x1b\x1b", 2, true, &k) == 1 && k.key == GT_KEY_ESC && !k.modifiers);
	CHECK(typed("\x1b\x1b\x1b", 3, false, &k) == 1 && k.key == GT_KEY_ESC);
	CHECK(typed("\x1b\x1bx", 3, false, &k) == 1 && k.key == GT_KEY_ESC);
	CHECK(typed("\x1b[", 2, true, &k) == 2 && k.key == '[' && k.modifiers == GT_MOD_ALT);
	CHECK(typed("\x1bO", 2, true, &k) == 2 && k.key == 'O' && k.modifiers == GT_MOD_ALT);
	CHECK(typed("\x1b]", 2, true, &k) == 2 && k.key == ']' && k.modifiers == GT_MOD_ALT);
	CHECK(typed("\x1b[1;\x1b[A", 7, false, &k) == 4 && !k.key); /* cut short by another */
	CHECK(typed("\x1b]0;\x1b[A", 7, false, &k) == 4 && !k.key);
}

/* A terminal's own sequences have priority, and of these the longest that fits. */
static void own_sequences(void)
{
	static const struct gt_key_sequence own[] = {
		{ "\x1b[A", 3, { .key = GT_KEY_HOME } },
		{ "\x1b[25~", 5, { .key = GT_KEY_F1, .modifiers = GT_MOD_SHIFT } },
		{ "\x1bk", 2, { .key = GT_KEY_UP } },
		{ "\x1bkk", 3, { .key = GT_KEY_DOWN } },
	};
	struct gt_key k;

#define OWN(s, last) gt_key_decode((const uint8_t *)(s), strlen(s), last, own, 4, &k)
	CHECK(OWN("\x1b[A", false) == 3 && k.key == GT_KEY_HOME);
	CHECK(OWN("\x1b[B", false) == 3 && k.key == GT_KEY_DOWN);
	CHECK(OWN("\x1b[25~", false) == 5 && k.key == GT_KEY_F1 && k.modifiers == GT_MOD_SHIFT);
	CHECK(OWN("\x1bk", false) == 0 && OWN("\x1bk", true) == 2 && k.key == GT_KEY_UP);
	CHECK(OWN("\x1bkk", false) == 3 && k.key == GT_KEY_DOWN);
	CHECK(OWN("\x1bkx", false) == 2 && k.key == GT_KEY_UP);
	CHECK(OWN("\x1b\x1bkk", false) == 4 && k.key == GT_KEY_DOWN && k.modifiers == GT_MOD_ALT);
}

/* For any bytes, in any pieces: all bytes are consumed, and the keys are the same as for the
 * whole input at once. */
static void any_bytes_at_all(void)
{
	static const char pieces[] =
		"\x1b\x1b\x1b[[[OM<;;:0123459~^$@ABCDZPu]P\\\x07\xc3\xa9\xe2\xff\0\r\x7f aZ";
	uint8_t bytes[300];

	for (int round = 0; round < T_INPUTS(20000); round++) {
		size_t n = 1 + dice(sizeof(bytes)), whole = 0, at = 0;
		struct gt_key keys[sizeof(bytes)], k;

		for (size_t i = 0; i < n; i++)
			bytes[i] = dice(10) ? (uint8_t)pieces[dice(sizeof(pieces) - 1)]
					    : (uint8_t)dice(256);
		for (size_t used; at < n; at += used) {
			CHECK((used = gt_key_decode(bytes + at, n - at, true, NULL, 0, &k)) >= 1 &&
				used <= n - at);
			keys[whole++] = k;
		}
		at = whole = 0;
		for (size_t seen = 1; at < n;) {
			size_t used = gt_key_decode(bytes + at, seen - at, seen == n, NULL, 0, &k);

			CHECK(used <= seen - at && (used || (seen < n && !k.key)));
			seen += !used;
			at += used;
			/* a buffer of that size does */
			CHECK(used || seen - at <= GT_KEY_DECODE_MAX + 1);
			if (used)
				CHECK(same(k, keys[whole++]));
			seen = seen > at ? seen : at + (at < n);
		}
	}
}

T_MAIN(T(scripts), T(wrong_scripts), T(words_and_back), T(bytes_of_keys), T(nothing_is_meant),
	T(escape_alone), T(own_sequences), T(any_bytes_at_all))
