#define _GNU_SOURCE /* vasprintf */
#include "formats/text/printable.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "formats/text/utf8.h"

size_t gt_printable_char(const char *s, bool *shown)
{
	uint32_t ch = (unsigned char)*s;
	size_t n = ch < 0x80 ? 1 : gt_utf8_get(s, strnlen(s, 4), &ch);

	*shown = ch != UINT32_MAX && !gt_utf8_is_control(ch);
	return n;
}

char *gt_printable_put(char *to, size_t size, const char **from)
{
	const char *s = *from, *most = s + size - 4;

	while (*s && s <= most) {
		bool shown = *s >= ' ' && *s < 0x7f;
		size_t n = shown ? 1 : gt_printable_char(s, &shown);

		if (shown)
			memcpy(to, s, n);
		else
			*to = '?';
		to += shown ? n : 1;
		s += n;
	}
	*from = s;
	return to;
}

char *gt_printable(const char *s, unsigned indent)
{
	size_t n = strlen(s) + 1;
	char *copy = malloc(indent + n);

	if (!copy)
		return NULL;
	memset(copy, ' ', indent);
	*gt_printable_put(copy + indent, n + 3, &s) = '\0';
	return copy;
}

void gt_printable_write(FILE *to, const char *s)
{
	char piece[512];

	while (*s)
		fwrite(piece, 1, (size_t)(gt_printable_put(piece, sizeof(piece), &s) - piece), to);
}

/* stderr has no buffer. So the line is built first, and printed at once: the output of other
 * processes cannot split it. */
void gt_message(FILE *to, const char *tool, const char *fmt, ...)
{
	char cut[512], *text = NULL, *line;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	va_start(ap, fmt);
	if (!text)
		vsnprintf(cut, sizeof(cut), fmt, ap);
	va_end(ap);
	line = text ? gt_printable(text, 0) : NULL;
	if (line) {
		fprintf(to, "%s: %s\n", tool, line);
	} else { /* no memory */
		fprintf(to, "%s: ", tool);
		gt_printable_write(to, text ? text : cut);
		fputc('\n', to);
	}
	free(line);
	free(text);
}
