#include "formats/python/python_text.h"

#include "formats/python/python_read.h"

bool gt_python_characters(const struct gt_python_layout *l, const void *object, uint64_t text_type,
	struct gt_python_characters *c)
{
	const uint8_t *at = object;
	uint32_t bits; /* 3: bytes per character, 1: "compact", 1: "ASCII" */

	if (GT_READ(uint64_t, at + l->type) != text_type)
		return false;
	bits = GT_READ(uint32_t, at + l->text_state) >> l->text_shift;
	c->n = GT_READ(uint64_t, at + l->text_length);
	c->width = bits & 7;
	c->is_ascii = bits & 16;
	c->offset = c->is_ascii ? l->ascii_data : l->other_data;
	return (bits & 8) && (c->width == 1 || c->width == 2 || c->width == 4) && c->n <= INT32_MAX;
}

static char *append_utf8(char *at, uint32_t c)
{
	if (c >= 0xd800 && c < 0xe000)
		c = 0xfffd;
	if (c < 0x80) {
		*at++ = (char)c;
		return at;
	}
	if (c < 0x800) {
		*at++ = (char)(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		*at++ = (char)(0xe0 | c >> 12);
		*at++ = (char)(0x80 | (c >> 6 & 63));
	} else {
		*at++ = (char)(0xf0 | (c >> 18 & 7));
		*at++ = (char)(0x80 | (c >> 12 & 63));
		*at++ = (char)(0x80 | (c >> 6 & 63));
	}
	*at++ = (char)(0x80 | (c & 63));
	return at;
}

uint32_t gt_python_utf8(const void *from, unsigned width, uint64_t n, char *text, size_t size)
{
	const uintptr_t data = (uintptr_t)from;
	char *at = text;

	for (uint64_t i = 0; i < n && at + 4 <= text + size; i++)
		at = append_utf8(at,
			width == 1           ? GT_READ(uint8_t, data + i)
				: width == 2 ? GT_READ(uint16_t, data + 2 * i)
					     : GT_READ(uint32_t, data + 4 * i));
	return (uint32_t)(at - text);
}
