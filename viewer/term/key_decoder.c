/* What terminals send for a key has grown for fifty years. A character is itself in UTF-8, Ctrl
 * takes three bits away, and Alt puts ESC before. All else begins with ESC too, so that ESC alone
 * is known only by what does not follow: who calls waits a moment, then says `last`.
 *
 *   ESC [ 1 ; 5 D      arrows and their like, the second number saying 1 + Shift 1, Alt 2, Ctrl 4
 * (xterm, and most since) ESC [ 5 ; 2 ~      PgUp and its like, by number; rxvt ends with $ ^ @
 * instead of ~ ; 2 ESC O A            the same keys in application mode, and those of the keypad
 *   ESC [ [ A          F1 to F5 on the Linux console
 *   ESC [ 97 ; 5 u     any character with modifiers (newer terminals, when asked to)
 *   ESC [ < 0 ; 5 ; 9 M, ESC [ M abc      the mouse, in numbers and, older, in bytes
 *   ESC ] ... BEL, ESC P ... ESC \        answers to questions; nobody asked, so they mean nothing
 *
 * Anything may come: a user pastes a file, a line has noise. So every way through here ends, with
 * bytes that mean nothing if need be.
 */
#include "viewer/term/key_decoder.h"

#include <string.h>
#include "formats/text/utf8.h"

#define ESC 27

static size_t character(const uint8_t *p, size_t n, bool last, struct gt_key *k)
{
	/* bytes that follow, by the first four bits */
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
		*k = (struct gt_key){ .key = ' ', .with = GT_WITH_CTRL };
	if (*p < 0x80)
		return 1;
	len = gt_utf8_get((const char *)p, n, &k->key);
	if (k->key == UINT32_MAX || (k->key >= 0x80 && k->key < 0xa0))
		k->key = GT_KEY_NONE;
	return len;
}

/* ---- the mouse ---- */

static uint16_t place(unsigned n)
{
	return n < 1 ? 0 : n > UINT16_MAX ? UINT16_MAX : (uint16_t)(n - 1);
}

/* Bits of an event: 0 to 1 the button, 4 Shift, 8 Alt, 16 Ctrl, 32 it moves, 64 the wheel, 128
 * buttons that few mice have. */
static void mouse(unsigned bits, unsigned x, unsigned y, bool released, struct gt_key *k)
{
	static const uint32_t wheel[4] = { GT_KEY_WHEEL_UP, GT_KEY_WHEEL_DOWN, GT_KEY_WHEEL_UP,
		GT_KEY_WHEEL_DOWN };
	uint8_t with = (bits & 4 ? GT_WITH_SHIFT : 0) | (bits & 8 ? GT_WITH_ALT : 0) |
		(bits & 16 ? GT_WITH_CTRL : 0);

	if (bits & ~127u || (bits & 64 && released) || (!(bits & 64) && bits & 3))
		return;
	*k = (struct gt_key){ .x = place(x), .y = place(y), .with = with };
	if (bits & 64) {
		k->key = wheel[bits & 3];
		k->with |= bits & 2 ? GT_WITH_SHIFT : 0;
	} else {
		k->key = released ? GT_KEY_RELEASE : bits & 32 ? GT_KEY_DRAG : GT_KEY_PRESS;
	}
}

/* Behind ESC [ M: three bytes, each 32 more than what it says. The button is not told when it is
 * let go: 3. */
static size_t old_mouse(const uint8_t *p, size_t n, bool last, struct gt_key *k)
{
	unsigned bits;

	if (n < 6)
		return last ? n : 0;
	bits = p[3] - 32u;
	if (p[3] >= 32 && p[4] > 32 && p[5] > 32)
		mouse((bits & 67) == 3 ? bits & ~3u : bits, p[4] - 32u, p[5] - 32u,
			(bits & 99) == 3, k);
	return 6;
}

/* ---- ESC [ ---- */

static const uint32_t by_number[] = {
	/* as in ESC [ 5 ~ */
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

/* 1 + Shift 1, Alt 2, Ctrl 4; Meta (8) is Alt to us. */
static uint8_t modifiers(unsigned n)
{
	n = n ? n - 1 : 0;
	return (n & 1 ? GT_WITH_SHIFT : 0) | (n & 2 || n & 8 ? GT_WITH_ALT : 0) |
		(n & 4 ? GT_WITH_CTRL : 0);
}

/* A character that came as a number. */
static void numbered(unsigned ch, uint8_t with, struct gt_key *k)
{
	uint8_t ascii = ch < 0x80 ? (uint8_t)ch : 0;

	k->key = ch < 0x110000 && ch >= 0x80 ? ch : GT_KEY_NONE;
	if (!ascii)
		return;
	character(&ascii, 1, true, k);
	if (with & GT_WITH_SHIFT && ascii > 32 && ascii < 127) {
		k->key -= ascii >= 'a' && ascii <= 'z' ? 32 : 0;
		with &= (uint8_t)~GT_WITH_SHIFT;
	}
	gt_key_normalize(k, with);
}

struct csi {
	char private;
	uint8_t final;
	unsigned n, v[4];
};

static void csi_key(const struct csi *c, struct gt_key *k)
{
	uint8_t with = modifiers(c->v[1]);
	static const struct {
		char end;
		uint8_t with;
	} rxvt[] = {
		{ '~', 0 },
		{ '$', GT_WITH_SHIFT },
		{ '^', GT_WITH_CTRL },
		{ '@', GT_WITH_SHIFT | GT_WITH_CTRL },
	};

	if (c->private == '<' && (c->final == 'M' || c->final == 'm'))
		mouse(c->v[0], c->v[1], c->v[2], c->final == 'm', k);
	if (c->private)
		return;
	if (c->final == 'u' || (c->final == '~' && c->v[0] == 27)) {
		numbered(c->v[c->final == 'u' ? 0 : 2], with, k);
		return;
	}
	k->key = by_letter(c->final);
	if (c->final >= 'a' && c->final <= 'd') {
		k->key = by_letter(c->final - 32);
		with |= GT_WITH_SHIFT;
	}
	for (size_t i = 0; i < sizeof(rxvt) / sizeof(*rxvt); i++)
		if (c->final == (uint8_t)rxvt[i].end) {
			k->key = c->v[0] < sizeof(by_number) / sizeof(*by_number)
				? by_number[c->v[0]]
				: GT_KEY_NONE;
			with |= rxvt[i].with;
		}
	if (k->key)
		gt_key_normalize(k, with);
}

static size_t csi(const uint8_t *p, size_t n, bool last, struct gt_key *k)
{
	struct csi c = { 0 };
	size_t i = 2;

	if (n > 2 && p[2] == 'M')
		return old_mouse(p, n, last, k);
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
			return i; /* cut short: what follows is something else */
		}
	}
	return i < GT_KEY_DECODE_MAX && !last ? 0 : i;
}

/* ESC O: the keypad's digits and signs are those letters less 64. */
static size_t ss3(const uint8_t *p, size_t n, bool last, struct gt_key *k)
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
		gt_key_normalize(k, GT_WITH_CTRL);
	}
	return 3;
}

/* An answer: up to BEL or ESC \. One that does not end is as long as there are bytes. */
static size_t answer(const uint8_t *p, size_t n, bool last)
{
	for (size_t i = 2; i < n; i++) {
		if (p[i] == 7)
			return i + 1;
		if (p[i] == ESC && i + 1 < n)
			return p[i + 1] == '\\' ? i + 2 : i;
	}
	return last || n >= GT_KEY_DECODE_MAX ? n : 0;
}

/* The longest of the terminal's own that begins here. */
static const struct gt_key_sequence *find(
	const uint8_t *p, size_t n, const struct gt_key_sequence *own, size_t nown, bool *may)
{
	const struct gt_key_sequence *best = NULL;

	for (size_t i = 0; i < nown; i++) {
		size_t len = own[i].len < n ? own[i].len : n;

		if (memcmp(own[i].bytes, p, len))
			continue;
		if (len < own[i].len)
			*may = true;
		else if (!best || best->len < len)
			best = &own[i];
	}
	return best;
}

/* Behind ESC stands what is no sequence: Alt with a character, or with a key that has a sequence
 * itself, or ESC twice. */
static size_t with_alt(const uint8_t *p, size_t n, bool last, const struct gt_key_sequence *own,
	size_t nown, struct gt_key *k)
{
	bool again = p[1] == ESC && !(n > 2 && p[2] == ESC) && !(n == 2 && last);
	size_t used = again   ? gt_key_decode(p + 1, n - 1, last, own, nown, k)
		: p[1] != ESC ? character(p + 1, n - 1, last, k)
			      : 1;

	if (!used)
		return 0;
	if (p[1] == ESC && (!again || k->key < 0x110000)) {
		*k = (struct gt_key){ .key = GT_KEY_ESC };
		return 1;
	}
	k->with |= k->key ? GT_WITH_ALT : 0;
	return used + 1;
}

size_t gt_key_decode(const uint8_t *p, size_t n, bool last, const struct gt_key_sequence *own,
	size_t nown, struct gt_key *k)
{
	const struct gt_key_sequence *s;
	bool may = false;

	*k = (struct gt_key){ .key = GT_KEY_NONE };
	if (!n)
		return 0;
	if (*p != ESC)
		return character(p, n, last, k);
	s = find(p, n, own, nown, &may);
	if (may && !last)
		return 0;
	if (s) {
		*k = s->key;
		return s->len;
	}
	if (n == 1) {
		k->key = last ? GT_KEY_ESC : GT_KEY_NONE;
		return last;
	}
	if (n == 2 && last) /* no more will come, so it is no sequence */
		return with_alt(p, n, last, own, nown, k);
	if (p[1] == '[')
		return csi(p, n, last, k);
	if (p[1] == 'O')
		return ss3(p, n, last, k);
	if (memchr("]P_^X", p[1], 5))
		return answer(p, n, last);
	return with_alt(p, n, last, own, nown, k);
}
