#include "viewer/term/glyphs.h"

#include <stddef.h>
#include "formats/text/utf8.h"

struct range {
	uint16_t first, last;
};
/* characters of one column, in ascending order */
static const struct range single[] = {
	{ 0x0020, 0x007e },
	{ 0x00a0, 0x00ac },
	{ 0x00ae, 0x02ff },
	{ 0x0370, 0x0377 },
	{ 0x037a, 0x037f },
	{ 0x0384, 0x038a },
	{ 0x038c, 0x038c },
	{ 0x038e, 0x03a1 },
	{ 0x03a3, 0x0482 },
	{ 0x048a, 0x052f },
	{ 0x0531, 0x0556 },
	{ 0x0559, 0x058a },
	{ 0x10d0, 0x10ff },
	{ 0x1e00, 0x1f15 },
	{ 0x1f18, 0x1f1d },
	{ 0x1f20, 0x1f45 },
	{ 0x1f48, 0x1f4d },
	{ 0x1f50, 0x1f57 },
	{ 0x2010, 0x2027 },
	{ 0x2030, 0x205e },
	{ 0x2070, 0x2071 },
	{ 0x2074, 0x208e },
	{ 0x2090, 0x209c },
	{ 0x20a0, 0x20bf },
	{ 0x2100, 0x218b },
	{ 0x2190, 0x2319 },
	{ 0x231c, 0x2328 },
	{ 0x232b, 0x23e8 },
	{ 0x2400, 0x2426 },
	{ 0x2460, 0x25fc },
	{ 0x2605, 0x2606 },
	{ 0x2713, 0x2718 },
	{ 0x27c0, 0x2b1a },
	{ 0xff61, 0xff9f },
};

unsigned gt_glyph_columns(uint32_t ch)
{
	if (ch < 0x7f)
		return ch >= 0x20;
	for (size_t i = 1; i < sizeof(single) / sizeof(*single) && ch >= single[i].first; i++)
		if (ch <= single[i].last)
			return 1;
	return gt_utf8_columns(ch) == 2 ? 2 : 0;
}

static const char heights[] = " .:-=+*#@";

/* Box drawing characters. Only the listed ones are straight lines. */
static uint32_t line(uint32_t ch)
{
	static const uint16_t across[] = { 0x2500, 0x2501, 0x2504, 0x2505, 0x2508, 0x2509, 0x254c,
		0x254d, 0x2550, 0x2574, 0x2576, 0x2578, 0x257a, 0x257c, 0x257e },
			      down[] = { 0x2502, 0x2503, 0x2506, 0x2507, 0x250a, 0x250b, 0x254e,
				      0x254f, 0x2551, 0x2575, 0x2577, 0x2579, 0x257b, 0x257d,
				      0x257f };

	for (size_t i = 0; i < sizeof(across) / sizeof(*across); i++)
		if (ch == across[i] || ch == down[i])
			return ch == across[i] ? '-' : '|';
	return ch >= 0x2571 && ch <= 0x2573 ? (uint32_t) "/\\X"[ch - 0x2571] : '+';
}

static uint32_t block(uint32_t ch)
{
	static const char others[] = "|.:#-|"; /* U+2590 to U+2595 */

	if (ch == 0x2580)
		return '=';
	if (ch <= 0x2588)
		return (uint32_t)heights[ch - 0x2580];
	if (ch <= 0x258f)
		return (uint32_t)heights[0x2590 - ch];
	return ch <= 0x2595 ? (uint32_t)others[ch - 0x2590] : '+';
}

static uint32_t sign(uint32_t ch)
{
	static const struct {
		uint16_t sign;
		char ascii;
	} signs[] = {
		{ 0x00a0, ' ' },
		{ 0x00ab, '<' },
		{ 0x00b0, 'o' },
		{ 0x00b1, '+' },
		{ 0x00b5, 'u' },
		{ 0x00b7, '.' },
		{ 0x00bb, '>' },
		{ 0x00d7, 'x' },
		{ 0x00f7, '/' },
		{ 0x0394, 'D' },
		{ 0x03a3, 'S' },
		{ 0x03bc, 'u' },
		{ 0x2010, '-' },
		{ 0x2011, '-' },
		{ 0x2012, '-' },
		{ 0x2013, '-' },
		{ 0x2014, '-' },
		{ 0x2015, '-' },
		{ 0x2018, '\'' },
		{ 0x2019, '\'' },
		{ 0x201c, '"' },
		{ 0x201d, '"' },
		{ 0x2020, '+' },
		{ 0x2022, '*' },
		{ 0x2026, '~' },
		{ 0x2032, '\'' },
		{ 0x2039, '<' },
		{ 0x203a, '>' },
		{ 0x2190, '<' },
		{ 0x2191, '^' },
		{ 0x2192, '>' },
		{ 0x2193, 'v' },
		{ 0x2194, '-' },
		{ 0x2195, '|' },
		{ 0x21b5, '<' },
		{ 0x2206, 'D' },
		{ 0x2211, 'S' },
		{ 0x2212, '-' },
		{ 0x221e, '8' },
		{ 0x2248, '~' },
		{ 0x2264, '<' },
		{ 0x2265, '>' },
		{ 0x25a0, '#' },
		{ 0x25a1, 'o' },
		{ 0x25aa, '#' },
		{ 0x25b2, '^' },
		{ 0x25b4, '^' },
		{ 0x25b6, '>' },
		{ 0x25b8, '>' },
		{ 0x25ba, '>' },
		{ 0x25bc, 'v' },
		{ 0x25be, 'v' },
		{ 0x25c0, '<' },
		{ 0x25c2, '<' },
		{ 0x25c4, '<' },
		{ 0x25c6, '*' },
		{ 0x25c7, 'o' },
		{ 0x25cb, 'o' },
		{ 0x25cf, '*' },
		{ 0x2605, '*' },
		{ 0x2606, '*' },
		{ 0x2713, '+' },
		{ 0x2717, 'x' },
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (signs[i].sign == ch)
			return (uint32_t)signs[i].ascii;
	return '?';
}

uint32_t gt_glyph_ascii(uint32_t ch)
{
	if (ch >= 0x20 && ch < 0x7f)
		return ch;
	if (ch >= 0x2500 && ch < 0x2580)
		return line(ch);
	if (ch >= 0x2580 && ch < 0x25a0)
		return block(ch);
	if (ch >= 0x2800 && ch < 0x2900) /* Braille: the number of bits is the number of dots */
		return (uint32_t)heights[__builtin_popcount(ch & 0xff)];
	return sign(ch);
}
