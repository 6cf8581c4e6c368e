/* A character is its UTF-8 bytes. Ctrl clears its upper three bits, and Alt adds an ESC before it.
 * All other keys are sequences that begin with ESC, so the key Esc is an ESC that no other byte
 * follows within a short time: the caller waits for that time and then sets `last`.
 *
 * - ESC [ 1 ; 5 D: arrows, Home, End. The second number is 1 + Shift 1 + Alt 2 + Ctrl 4.
 * - ESC [ 5 ; 2 ~: PgUp, F5 and others by number. rxvt ends with $, ^ or @ instead of "; 2 ~".
 * - ESC O A: the same keys in application mode, and the keypad.
 * - ESC [ [ A: F1 to F5 on the Linux console.
 * - ESC [ 97 ; 5 u: any character with modifiers (newer terminals, on request).
 * - ESC [ < 0 ; 5 ; 9 M and ESC [ M abc: the mouse, as numbers and (older) as bytes.
 * - ESC ] ... BEL and ESC P ... ESC \: replies of the terminal; they are ignored.
 *
 * The input may be anything, such as a pasted file or noise. Each call makes progress.
 *
 * ncurses (keypad, getmouse) does not replace this decoder. It was tried (6.4, 46 inputs): it
 * returns the bytes of a sequence that the terminfo entry lacks as separate keys, which would run
 * commands. These are replies, Alt with a key, keys of xterm under TERM=screen or linux (Ctrl with
 * an arrow under tmux), and CSI u. It cannot report the end of the input. It reads the mouse only
 * in the protocol of the entry, which is limited to 223 columns in many databases. The sequences of
 * the entry are passed as `own`. */
#include "viewer/term/key_decoder.h"

#include <string.h>
#include "formats/text/utf8.h"

#define ESC 27

static size_t decode_character(const uint8_t *p, size_t n, bool last, struct gt_key *k)
{
	/* number of continuation bytes, by the upper four bits */
	static const uint8_t more[16] = { [12] = 1, 1, 2, 3 };
	size_t len;

	if (n <= more[*p >> 4] && !last)
		return 0;
	k->key = *p;
	if (*p == 13)
		k->key = GT_KEY_ENTER;
	if (*p == 8)
		k->key = GT_KEY_BACKSPACE;
	if (!*p)
		*k = (struct gt_key){ .key = ' ', .modifiers = GT_MOD_CTRL };
	if (*p < 0x80)
		return 1;
	len = gt_utf8_get((const char *)p, n, &k->key);
	if (k->key == UINT32_MAX || (k->key >= 0x80 && k->key < 0xa0))
		k->key = GT_KEY_NONE;
	return len;
}

/* ---- the mouse ---- */

static uint16_t coordinate(unsigned n)
{
	return n < 1 ? 0 : n > UINT16_MAX ? UINT16_MAX : (uint16_t)(n - 1);
}

/* Bits of an event: 1 and 2: the button; 4: Shift; 8: Alt; 16: Ctrl; 32: movement; 64: the wheel;
 * 128: additional buttons. */
static void decode_mouse(unsigned bits, unsigned x, unsigned y, bool released, struct gt_key *k)
{
	static const uint32_t wheel[4] = { GT_KEY_WHEEL_UP, GT_KEY_WHEEL_DOWN, GT_KEY_WHEEL_UP,
		GT_KEY_WHEEL_DOWN };
	uint8_t mods = (bits & 4 ? GT_MOD_SHIFT : 0) | (bits & 8 ? GT_MOD_ALT : 0) |
		(bits & 16 ? GT_MOD_CTRL : 0);

	if (bits & ~127u || (bits & 64 && released) || (!(bits & 64) && bits & 3))
		return;
	*k = (struct gt_key){ .x = coordinate(x), .y = coordinate(y), .modifiers = mods };
	if (bits & 64) {
		k->key = wheel[bits & 3];
		k->modifiers |= bits & 2 ? GT_MOD_SHIFT : 0;
	} else {
		k->key = released ? GT_KEY_RELEASE : bits & 32 ? GT_KEY_DRAG : GT_KEY_PRESS;
	}
}

/* After ESC [ M: three bytes, each 32 larger than its value. A release has button 3 instead of the
 * button that was released. */
static size_t decode_byte_mouse(const uint8_t *p, size_t n, bool last, struct gt_key *k)
{
	unsigned bits;

	if (n < 6)
		return last ? n : 0;
	bits = p[3] - 32u;
	if (p[3] >= 32 && p[4] > 32 && p[5] > 32)
		decode_mouse((bits & 67) == 3 ? bits & ~3u : bits, p[4] - 32u, p[5] - 32u,
			(bits & 99) == 3, k);
	return 6;
}

/* ---- ESC [ ---- */

static const uint32_t by_number[] = {
	/* the number in ESC [ 5 ~ */
	[1] = GT_KEY_HOME,
	GT_KEY_INSERT,
	GT_KEY_DELETE,
	GT_KEY_END,
	GT_KEY_PAGE_UP,
	GT_KEY_PAGE_DOWN,
	GT_KEY_HOME,
	GT_KEY_END,
	[11] = GT_KEY_F1,
	GT_KEY_F1 + 1,
	GT_KEY_F1 + 2,
	GT_KEY_F1 + 3,
	GT_KEY_F1 + 4,
	[17] = GT_KEY_F1 + 5,
	GT_KEY_F1 + 6,
	GT_KEY_F1 + 7,
	GT_KEY_F1 + 8,
	GT_KEY_F1 + 9,
	[23] = GT_KEY_F1 + 10,
	GT_KEY_F1 + 11,
};

static uint32_t by_letter(uint8_t c)
{
	static const struct {
		char letter;
		uint32_t key;
	} letters[] = {
		{ 'A', GT_KEY_UP },
		{ 'B', GT_KEY_DOWN },
		{ 'C', GT_KEY_RIGHT },
		{ 'D', GT_KEY_LEFT },
		{ 'F', GT_KEY_END },
		{ 'H', GT_KEY_HOME },
		{ 'P', GT_KEY_F1 },
		{ 'Q', GT_KEY_F1 + 1 },
		{ 'R', GT_KEY_F1 + 2 },
		{ 'S', GT_KEY_F1 + 3 },
		{ 'Z', GT_KEY_BACKTAB },
	};

	for (size_t i = 0; i < sizeof(letters) / sizeof(*letters); i++)
		if (letters[i].letter == (char)c)
			return letters[i].key;
	return GT_KEY_NONE;
}

/* n: 1 + Shift 1 + Alt 2 + Ctrl 4 + Meta 8. Meta counts as Alt. */
static uint8_t modifiers_of(unsigned n)
{
	n = n ? n - 1 : 0;
	return (n & 1 ? GT_MOD_SHIFT : 0) | (n & 2 || n & 8 ? GT_MOD_ALT : 0) |
		(n & 4 ? GT_MOD_CTRL : 0);
}

/* A character given by its number. */
static void character_by_number(unsigned ch, uint8_t mods, struct gt_key *k)
{
	uint8_t ascii = ch < 0x80 ? (uint8_t)ch : 0;

	k->key = ch < 0x110000 && ch >= 0x80 ? ch : GT_KEY_NONE;
	if (!ascii)
		return;
	decode_character(&ascii, 1, true, k);
	if (mods & GT_MOD_SHIFT && ascii > 32 && ascii < 127) {
		k->key -= ascii >= 'a' && ascii <= 'z' ? 32 : 0;
		mods &= (uint8_t)~GT_MOD_SHIFT;
	}
	gt_key_normalize(k, mods);
}

struct csi {
	char private;
	uint8_t final;
	unsigned n, v[4];
};

static void csi_key(const struct csi *c, struct gt_key *k)
{
	uint8_t mods = modifiers_of(c->v[1]);
	static const struct {
		char end;
		uint8_t modifiers;
	} rxvt[] = {
		{ '~', 0 },
		{ '$', GT_MOD_SHIFT },
		{ '^', GT_MOD_CTRL },
		{ '@', GT_MOD_SHIFT | GT_MOD_CTRL },
	};

	if (c->private == '<' && (c->final == 'M' || c->final == 'm'))
		decode_mouse(c->v[0], c->v[1], c->v[2], c->final == 'm', k);
	if (c->private)
		return;
	if (c->final == 'u' || (c->final == '~' && c->v[0] == 27)) {
		character_by_number(c->v[c->final == 'u' ? 0 : 2], mods, k);
		return;
	}
	k->key = by_letter(c->final);
	if (c->final >= 'a' && c->final <= 'd') {
		k->key = by_letter(c->final - 32);
		mods |= GT_MOD_SHIFT;
	}
	for (size_t i = 0; i < sizeof(rxvt) / sizeof(*rxvt); i++)
		if (c->final == (uint8_t)rxvt[i].end) {
			k->key = c->v[0] < sizeof(by_number) / sizeof(*by_number)
				? by_number[c->v[0]]
				: GT_KEY_NONE;
			mods |= rxvt[i].modifiers;
		}
	if (k->key)
		gt_key_normalize(k, mods);
}

static size_t decode_csi(const uint8_t *p, size_t n, bool last, struct gt_key *k)
{
	struct csi c = { 0 };
	size_t i = 2;

	if (n > 2 && p[2] == 'M')
		return decode_byte_mouse(p, n, last, k);
	if (n > 2 && p[2] == '[') {
		if (n > 3)
			k->key = p[3] >= 'A' && p[3] <= 'E' ? GT_KEY_F1 + p[3] - 'A' : GT_KEY_NONE;
		return n > 3 ? 4 : last ? 3 : 0;
	}
	if (i < n && p[i] >= '<' && p[i] <= '?')
		c.private = (char)p[i++];
	for (; i < n && i < GT_KEY_DECODE_MAX; i++) {
		if (p[i] >= '0' && p[i] <= '9') {
			c.v[c.n] = c.v[c.n] < 1000000 ? c.v[c.n] * 10 + p[i] - '0' : c.v[c.n];
		} else if (p[i] == ';' || p[i] == ':') {
			c.n += c.n < 3;
		} else if (p[i] >= 0x40 || (p[i] == '$' && !c.private)) {
			c.final = p[i];
			if (p[i] < 0x7f)
				csi_key(&c, k);
			return p[i] < 0x7f ? i + 1 : i;
		} else if (p[i] < 0x20) {
			return i; /* a control character ends an incomplete sequence */
		}
	}
	return i < GT_KEY_DECODE_MAX && !last ? 0 : i;
}

/* ESC O and a letter. The digits and signs of the keypad are the letters minus 64. */
static size_t decode_ss3(const uint8_t *p, size_t n, bool last, struct gt_key *k)
{
	if (n < 3)
		return last ? n : 0;
	k->key = by_letter(p[2]);
	if (p[2] == 'M')
		k->key = GT_KEY_ENTER;
	if (p[2] >= 'j' && p[2] <= 'y')
		k->key = p[2] - 64u;
	if (p[2] >= 'a' && p[2] <= 'd') { /* rxvt */
		k->key = by_letter(p[2] - 32);
		gt_key_normalize(k, GT_MOD_CTRL);
	}
	return 3;
}

/* A reply ends at BEL or ESC \. One without an end takes all bytes. */
static size_t reply_length(const uint8_t *p, size_t n, bool last)
{
	for (size_t i = 2; i < n; i++) {
		if (p[i] == 7)
			return i + 1;
		if (p[i] == ESC && i + 1 < n)
			return p[i + 1] == '\\' ? i + 2 : i;
	}
	return last || n >= GT_KEY_DECODE_MAX ? n : 0;
}

/* The longest sequence of the terminfo entry that the bytes begin with. *incomplete: they may be
 * the beginning of one. */
static const struct gt_key_sequence *find_own(const uint8_t *p, size_t n,
	const struct gt_key_sequence *own, size_t nown, bool *incomplete)
{
	const struct gt_key_sequence *best = NULL;

	for (size_t i = 0; i < nown; i++) {
		size_t len = own[i].len < n ? own[i].len : n;

		if (memcmp(own[i].bytes, p, len))
			continue;
		if (len < own[i].len)
			*incomplete = true;
		else if (!best || best->len < len)
			best = &own[i];
	}
	return best;
}

/* ESC before bytes that are no sequence: Alt with a character or with a key that has a sequence, or
 * the key Esc twice. */
static size_t decode_alt(const uint8_t *p, size_t n, bool last, const struct gt_key_sequence *own,
	size_t nown, struct gt_key *k)
{
	bool nested = p[1] == ESC && !(n > 2 && p[2] == ESC) && !(n == 2 && last);
	size_t used = nested  ? gt_key_decode(p + 1, n - 1, last, own, nown, k)
		: p[1] != ESC ? decode_character(p + 1, n - 1, last, k)
			      : 1;

	if (!used)
		return 0;
	if (p[1] == ESC && (!nested || k->key < 0x110000)) {
		*k = (struct gt_key){ .key = GT_KEY_ESC };
		return 1;
	}
	k->modifiers |= k->key ? GT_MOD_ALT : 0;
	return used + 1;
}

size_t gt_key_decode(const uint8_t *p, size_t n, bool last, const struct gt_key_sequence *own,
	size_t nown, struct gt_key *k)
{
	const struct gt_key_sequence *s;
	bool incomplete = false;

	*k = (struct gt_key){ .key = GT_KEY_NONE };
	if (!n)
		return 0;
	if (*p != ESC)
		return decode_character(p, n, last, k);
	s = find_own(p, n, own, nown, &incomplete);
	if (incomplete && !last)
		return 0;
	if (s) {
		*k = s->key;
		return s->len;
	}
	if (n == 1) {
		k->key = last ? GT_KEY_ESC : GT_KEY_NONE;
		return last;
	}
	if (n == 2 && last) /* too short for a sequence */
		return decode_alt(p, n, last, own, nown, k);
	if (p[1] == '[')
		return decode_csi(p, n, last, k);
	if (p[1] == 'O')
		return decode_ss3(p, n, last, k);
	if (memchr("]P_^X", p[1], 5))
		return reply_length(p, n, last);
	return decode_alt(p, n, last, own, nown, k);
}
