/* A small terminal emulator: it interprets the sequences that ncurses sends to an xterm and its
 * relatives, and the output of gt_screen_print, and gives the resulting screen. It keeps the
 * first sequence that it does not know, so that a test does not accept a screen of which the
 * emulator missed a part. */
#ifndef EMULATOR_H
#define EMULATOR_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "viewer/term/screen.h"

/* and 0xRRGGBB: a colour that came as such; below 256 one of the palette; GT_COLOUR_DEFAULT */
#define EMULATED_RGB 0x1000000
/* ch: GT_RIGHT_HALF */
struct emulated {
	uint32_t ch;
	struct gt_resolved_look look;
	uint16_t marks[GT_LETTER_MARKS];
};
struct emulator {
	int w, h, x, y;
	/* the last column was written: the next character goes to the next line */
	bool wrap;
	struct gt_resolved_look pen;
	struct emulated *cells;
	bool alternate, hidden, mouse, sgr_mouse, application, graphics;
	bool lf_is_crlf;
	unsigned enquiries, clears; /* ENQ marks, for tests that wait for their output */
	char seq[160];              /* bytes of an incomplete sequence */
	size_t nseq;
	char unknown[200]; /* the first that it did not understand */
};
static const struct gt_resolved_look emulator_plain = { GT_COLOUR_DEFAULT, GT_COLOUR_DEFAULT, 0 };

static inline void emulator_resize(struct emulator *e, int w, int h, uint32_t ch)
{
	e->cells = realloc(e->cells, (size_t)w * (size_t)h * sizeof(*e->cells));
	e->w = w;
	e->h = h;
	for (int i = 0; i < w * h; i++)
		e->cells[i] = (struct emulated){ .ch = ch, .look = emulator_plain };
	e->x = e->x < w ? e->x : w - 1;
	e->y = e->y < h ? e->y : h - 1;
	e->wrap = false;
}

static inline void emulator_open(struct emulator *e, int w, int h)
{
	*e = (struct emulator){ .pen = emulator_plain };
	emulator_resize(e, w, h, ' ');
}

/* Cells from..to of the screen, in reading order, become blank with the pen's paper. */
static inline void emulator_erase(struct emulator *e, int from, int to)
{
	/* as where something is put */
	if (from > 0 && from < to && e->cells[from].ch == GT_RIGHT_HALF)
		e->cells[from - 1].ch = ' ';
	if (from < to && to > 0 && to < e->w * e->h && e->cells[to].ch == GT_RIGHT_HALF)
		e->cells[to].ch = ' ';
	for (int i = from < 0 ? 0 : from; i < to && i < e->w * e->h; i++)
		e->cells[i] = (struct emulated){ .ch = ' ',
			.look = { GT_COLOUR_DEFAULT, e->pen.paper, 0 } };
}

static inline void emulator_dunno(struct emulator *e, const char *what)
{
	size_t n = 0;

	if (e->unknown[0])
		return;
	for (const char *s = what; *s && n < 80; s++)
		n += (size_t)snprintf(e->unknown + n, sizeof(e->unknown) - n,
			*s & 0x60 ? "%c" : "^%c", *s & 0x60 ? *s : *s + 64);
	if (!*what)
		strcpy(e->unknown, "nothing");
}

/* A combining mark is added to the last character. */
static inline void emulator_mark(struct emulator *e, uint32_t ch)
{
	struct emulated *c = &e->cells[e->y * e->w + e->x - !e->wrap];
	unsigned n = 0;

	c -= c > e->cells && c->ch == GT_RIGHT_HALF;
	while (n < GT_LETTER_MARKS && c->marks[n])
		n++;
	if (n == GT_LETTER_MARKS || (!e->x && !e->wrap))
		emulator_dunno(e, "a mark");
	else
		c->marks[n] = (uint16_t)ch;
}

static inline void emulator_put(struct emulator *e, uint32_t ch)
{
	unsigned columns = gt_utf8_columns(ch);
	struct emulated *c;

	if (!columns) {
		emulator_mark(e, ch);
		return;
	}
	if (e->wrap) {
		e->x = 0;
		e->y += e->y + 1 < e->h;
		e->wrap = false;
	}
	if (e->x + (int)columns > e->w) { /* it was meant for a wider screen */
		columns = 1;
		ch = '?';
	}
	c = &e->cells[e->y * e->w + e->x];
	/* if one half is overwritten, the other becomes blank */
	if (c->ch == GT_RIGHT_HALF)
		c[-1].ch = ' ';
	if (e->x + (int)columns < e->w && c[columns].ch == GT_RIGHT_HALF)
		c[columns].ch = ' ';
	*c = (struct emulated){ .ch = ch, .look = e->pen };
	if (columns > 1)
		c[1] = (struct emulated){ .ch = GT_RIGHT_HALF, .look = e->pen };
	e->wrap = e->x + (int)columns >= e->w;
	e->x = e->wrap ? e->w - 1 : e->x + (int)columns;
}

static inline void emulator_go(struct emulator *e, int x, int y)
{
	e->x = x < 0 ? 0 : x < e->w ? x : e->w - 1;
	e->y = y < 0 ? 0 : y < e->h ? y : e->h - 1;
	e->wrap = false;
}

/* 38 and 48: returns how many of the numbers belong to it. */
static inline int emulator_colour(struct emulator *e, const int *v, int n)
{
	int32_t *to = v[0] == 38 ? &e->pen.ink : &e->pen.paper;

	if (n >= 3 && v[1] == 5) {
		*to = v[2];
		return 3;
	}
	if (n >= 5 && v[1] == 2) {
		*to = EMULATED_RGB | v[2] << 16 | v[3] << 8 | v[4];
		return 5;
	}
	emulator_dunno(e, "a colour");
	return n;
}

static inline void emulator_sgr(struct emulator *e, const int *v, int n)
{
	static const struct {
		int on, off;
		uint8_t style;
	} styles[] = {
		{ 1, 22, GT_BOLD },
		{ 2, 22, GT_DIM },
		{ 4, 24, GT_UNDERLINE },
		{ 7, 27, GT_REVERSE },
	};

	for (int i = 0; i < n; i++) {
		bool known = !v[i] || v[i] == 10 || v[i] == 39 || v[i] == 49;

		if (!v[i])
			e->pen = emulator_plain;
		for (size_t k = 0; k < 4; k++) {
			known |= v[i] == styles[k].on || v[i] == styles[k].off;
			e->pen.style |= v[i] == styles[k].on ? styles[k].style : 0;
			e->pen.style &= (uint8_t) ~(v[i] == styles[k].off ? styles[k].style : 0);
		}
		if (v[i] == 39)
			e->pen.ink = GT_COLOUR_DEFAULT;
		else if (v[i] == 49)
			e->pen.paper = GT_COLOUR_DEFAULT;
		else if (v[i] == 38 || v[i] == 48)
			i += emulator_colour(e, v + i, n - i) - 1;
		else if (v[i] >= 30 && v[i] <= 37)
			e->pen.ink = v[i] - 30;
		else if (v[i] >= 40 && v[i] <= 47)
			e->pen.paper = v[i] - 40;
		else if (v[i] >= 90 && v[i] <= 97)
			e->pen.ink = v[i] - 82;
		else if (v[i] >= 100 && v[i] <= 107)
			e->pen.paper = v[i] - 92;
		else if (!known)
			emulator_dunno(e, e->seq);
	}
}

static inline void emulator_mode(struct emulator *e, int mode, bool on)
{
	switch (mode) {
	case 1: e->application = on; break;
	case 25: e->hidden = !on; break;
	case 1049:
	case 47:
	case 1047:
		if (on != e->alternate)
			emulator_erase(e, 0, e->w * e->h);
		e->alternate = on;
		break;
	case 1002: e->mouse = on; break;
	case 1006: e->sgr_mouse = on; break;
	case 12:
	case 7: break;
	default: emulator_dunno(e, e->seq);
	}
}

/* Moves the rest of the line from `at` on by n columns, to the left if n is negative. */
static inline void emulator_shift(struct emulator *e, int at, int n)
{
	struct emulated *line = e->cells + e->y * e->w;
	int room = e->w - at, k = n < 0 ? -n : n;

	k = k < room ? k : room;
	memmove(line + at + (n > 0 ? k : 0), line + at + (n < 0 ? k : 0),
		(size_t)(room - k) * sizeof(*line));
	emulator_erase(
		e, e->y * e->w + (n > 0 ? at : e->w - k), e->y * e->w + (n > 0 ? at + k : e->w));
}

static inline void emulator_csi(struct emulator *e)
{
	char final = e->seq[e->nseq - 1], private = strchr("?>=<", e->seq[2]) ? e->seq[2] : 0;
	int v[16] = { 0 }, n = 0, at = e->y * e->w + e->x, here = e->y * e->w;
	bool colon = false;

	for (const char *s = e->seq + 2 + !!private; *s && n < 15; s++) {
		if (*s >= '0' && *s <= '9')
			v[n] = v[n] * 10 + *s - '0';
		else if (*s == ';' || *s == ':')
			/* 38:2::R:G:B has an empty one */
			n += !(*s == ':' && colon && s[-1] == ':');
		colon |= *s == ':';
	}
	n++;
	if (private && (private != '?' || !strchr("hlc", final))) {
		emulator_dunno(e, e->seq);
		return;
	}
	switch (final) {
	case 'A': emulator_go(e, e->x, e->y - (v[0] ? v[0] : 1)); break;
	case 'B': emulator_go(e, e->x, e->y + (v[0] ? v[0] : 1)); break;
	case 'C': emulator_go(e, e->x + (v[0] ? v[0] : 1), e->y); break;
	case 'D': emulator_go(e, e->x - (v[0] ? v[0] : 1), e->y); break;
	case 'G': emulator_go(e, v[0] - 1, e->y); break;
	case 'd': emulator_go(e, e->x, v[0] - 1); break;
	case 'H':
	case 'f': emulator_go(e, v[1] - 1, v[0] - 1); break;
	case 'J':
		e->clears += v[0] == 2 || !at;
		emulator_erase(e, v[0] ? 0 : at, v[0] == 1 ? at + 1 : e->w * e->h);
		break;
	case 'K': emulator_erase(e, v[0] ? here : at, v[0] == 1 ? at + 1 : here + e->w); break;
	case 'X':
		emulator_erase(e, at,
			at + (v[0] ? v[0] : 1) < here + e->w ? at + (v[0] ? v[0] : 1)
							     : here + e->w);
		break;
	case '@': emulator_shift(e, e->x, v[0] ? v[0] : 1); break;
	case 'P': emulator_shift(e, e->x, -(v[0] ? v[0] : 1)); break;
	case 'b':
		for (int k = at ? e->cells[at - !e->wrap].ch : 0, i = 0; i < v[0]; i++)
			emulator_put(e, (uint32_t)k);
		break;
	case 'm': emulator_sgr(e, v, n); break;
	case 'h':
	case 'l':
		for (int i = 0; i < n && private; i++)
			emulator_mode(e, v[i], final == 'h');
		if (!private && v[0] != 4 && v[0] != 34)
			emulator_dunno(e, e->seq);
		break;
	case 'r': emulator_go(e, 0, 0); break; /* of the whole screen, as at the start */
	case 't':
	case 'c': break; /* titles; the Linux console's cursor */
	default: emulator_dunno(e, e->seq);
	}
}

static inline void emulator_control(struct emulator *e, char c)
{
	switch (c) {
	case '\r': emulator_go(e, 0, e->y); break;
	case '\n': emulator_go(e, e->lf_is_crlf ? 0 : e->x, e->y + 1); break;
	case '\b': emulator_go(e, e->x - 1, e->y); break;
	case '\t': emulator_go(e, (e->x | 7) + 1, e->y); break;
	case 5: e->enquiries++; break;
	case 0:
	case 7:
	case 15: break;
	default: emulator_dunno(e, (char[2]){ c, 0 });
	}
}

/* One byte of a sequence. True: the sequence is complete. */
static inline bool emulator_sequence(struct emulator *e)
{
	char c = e->seq[e->nseq - 1];

	if (e->nseq < 2)
		return false;
	switch (e->seq[1]) {
	case '[':
		if (e->nseq < 3 || c < '@')
			return false;
		emulator_csi(e);
		return true;
	case '(':
	case ')':
		if (e->nseq == 3 && c != 'B' && c != '0')
			emulator_dunno(e, e->seq);
		return e->nseq == 3;
	case '=':
	case '>':
	case '7':
	case '8': return true;
	case 'M': emulator_go(e, e->x, e->y - 1); return true;
	default: emulator_dunno(e, e->seq); return true;
	}
}

static inline void emulator_feed(struct emulator *e, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t ch;

		if (e->nseq || bytes[i] == '\x1b' || (unsigned char)bytes[i] >= 0x80) {
			bool utf8 = (unsigned char)(e->nseq ? e->seq[0] : bytes[i]) >= 0x80;

			if (bytes[i] == '\x1b') /* aborts an unfinished sequence */
				e->nseq = 0;
			e->seq[e->nseq++] = bytes[i];
			e->seq[e->nseq] = 0;
			if (utf8 && bytes[i] != '\x1b') {
				if (gt_utf8_get(e->seq, e->nseq, &ch) == e->nseq &&
					ch != UINT32_MAX) {
					emulator_put(e, ch);
					e->nseq = 0;
				} else if (e->nseq > 3) {
					emulator_dunno(e, "bad UTF-8");
					e->nseq = 0;
				}
			} else if (emulator_sequence(e) || e->nseq + 2 > sizeof(e->seq)) {
				e->nseq = 0;
			}
		} else if ((unsigned char)bytes[i] < 32) {
			emulator_control(e, bytes[i]);
		} else {
			emulator_put(e, (unsigned char)bytes[i]);
		}
	}
}

/* The text of a line, without spaces at its end, in UTF-8. */
static inline const char *emulator_line(const struct emulator *e, int y, char to[4096])
{
	size_t n = 0, end = 0;

	for (int x = 0; x < e->w; x++) {
		n += e->cells[y * e->w + x].ch == GT_RIGHT_HALF
			? 0
			: gt_utf8_put(to + n, e->cells[y * e->w + x].ch);
		for (unsigned i = 0; i < GT_LETTER_MARKS && e->cells[y * e->w + x].marks[i]; i++)
			n += gt_utf8_put(to + n, e->cells[y * e->w + x].marks[i]);
		if (e->cells[y * e->w + x].ch != ' ')
			end = n;
	}
	to[end] = 0;
	return to;
}

static inline bool emulator_has(const struct emulator *e, const char *text)
{
	char line[4096];

	for (int y = 0; y < e->h; y++)
		if (strstr(emulator_line(e, y, line), text))
			return true;
	return false;
}

/* Does the cell have that look? Of a space, only visible properties are compared. styles: those
 * that the terminal supports. */
static inline bool emulator_shows(const struct emulated *c, const struct gt_spot *spot,
	struct gt_resolved_look look, enum gt_colours depth, uint8_t styles)
{
	uint32_t ch = spot->ch;
	uint8_t seen = ch == ' ' ? GT_REVERSE | GT_UNDERLINE : 0xff;
	bool ink_seen = ch != ' ' || look.style & (GT_REVERSE | GT_UNDERLINE);

	if (depth == GT_COLOURS_TRUE) { /* the first eight are those of the palette */
		look.ink = look.ink < 8 ? look.ink : EMULATED_RGB | look.ink;
		look.paper = look.paper < 8 ? look.paper : EMULATED_RGB | look.paper;
	}
	if (c->ch != ch || memcmp(c->marks, spot->marks, sizeof(c->marks)))
		return false;
	if (((c->look.style ^ look.style) & seen & styles) || c->look.paper != look.paper)
		return false;
	return !ink_seen || c->look.ink == look.ink;
}
#endif
