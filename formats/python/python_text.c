#include "formats/python/python_text.h"

/* of any address, as damaged pointers are */
#define READ(type, address)                                                                        \
	(((const struct { type value; } __attribute__((packed, may_alias)) *)(address))->value)

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
			width == 1           ? READ(uint8_t, data + i)
				: width == 2 ? READ(uint16_t, data + 2 * i)
					     : READ(uint32_t, data + 4 * i));
	return (uint32_t)(at - text);
}
