#include "formats/io/text_lines.h"

#include <stdlib.h>
#include <string.h>
#include "formats/io/stream_in.h"

#define CHUNK (64u << 10)

int gt_text_lines_init(struct gt_text_lines *l, struct gt_in *in, struct gt_err *err)
{
	*l = (struct gt_text_lines){
		.in = in, .chunk = malloc(CHUNK), .line = malloc(GT_TEXT_LINE_MAX + 1)
	};
	return l->chunk && l->line ? 0 : gt_err_set(err, -ENOMEM, "out of memory (reading)");
}

void gt_text_lines_release(struct gt_text_lines *l)
{
	free(l->chunk);
	free(l->line);
	l->chunk = l->line = NULL;
}

/* Moves bytes of the chunk to the line, up to a newline. Is there one? */
static bool take_bytes(struct gt_text_lines *l)
{
	const char *from = l->chunk + l->at, *newline = memchr(from, '\n', l->end - l->at);
	size_t n = newline ? (size_t)(newline - from) : l->end - l->at;
	size_t space = GT_TEXT_LINE_MAX - l->len, part = n < space ? n : space;

	memcpy(l->line + l->len, from, part);
	l->len += part;
	l->at += n + (newline != NULL);
	return newline;
}

int gt_text_lines_next(struct gt_text_lines *l, const char **line, size_t *len, struct gt_err *err)
{
	bool any = false, whole = false;

	l->len = 0;
	while (!whole) {
		if (l->at == l->end) {
			ssize_t n = gt_in_read(l->in, l->chunk, CHUNK, err);

			if (n < 0)
				return (int)n;
			if (!n)
				break;
			l->at = 0;
			l->end = (size_t)n;
		}
		any = true;
		whole = take_bytes(l);
	}
	if (!any)
		return 0;
	l->cut = !whole;
	l->number++;
	if (l->len && l->line[l->len - 1] == '\r')
		l->len--;
	l->line[l->len] = 0;
	*line = l->line;
	*len = l->len;
	return 1;
}
