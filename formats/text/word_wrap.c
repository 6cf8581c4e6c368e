/* Division of a text into lines (word_wrap.h). */
#include "formats/text/word_wrap.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "formats/text/utf8.h"

#define TOO_NARROW 12u /* columns, for words */

size_t gt_line_length(const char *s, size_t width)
{
	size_t blank = 0, mark = 0, most = 0, i = strspn(s, " "), n = i;
	bool word = false;
	struct gt_letter l;

	if (width == SIZE_MAX || width <= TOO_NARROW)
		return strcspn(s, "\n");
	for (; s[i] && s[i] != '\n' && n <= width; n += l.columns) {
		size_t next = (size_t)(gt_letter_next(s + i, &l) - s);

		word |= l.ch < 0x80 ? isalnum((int)l.ch) : l.columns > 1;
		most = i;
		if (s[i] == ' ')
			blank = i;
		else if (n < width && strchr("/,;", s[i]))
			mark = next;
		i = next;
	}
	if (n <= width)
		return i;
	if (blank || mark)
		return blank ? blank : mark;
	return word ? most : strcspn(s, "\n");
}
