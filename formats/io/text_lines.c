#include "formats/io/text_lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
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
	l->taken += n + (newline != NULL);
	return newline;
}

int gt_text_lines_next(struct gt_text_lines *l, char **line, size_t *len, struct gt_err *err)
{
	bool any = false, whole = false;

	l->len = 0;
	l->offset = l->taken;
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

int gt_text_each_line(
	struct gt_in *in, gt_text_line_fn *fn, void *arg, bool *cut, struct gt_err *err)
{
	struct gt_text_lines l;
	char *line;
	size_t len;
	int more, rc = gt_text_lines_init(&l, in, err);

	while (!rc && (more = gt_text_lines_next(&l, &line, &len, err))) {
		rc = more < 0 ? more : fn(arg, line, len, err);
		if (more > 0 && (rc == -EBADMSG || rc == -E2BIG) && err &&
			err->offset == GT_NO_OFFSET)
			err->offset = l.offset;
	}
	*cut = !rc && l.cut;
	gt_text_lines_release(&l);
	return rc;
}

int gt_text_first_lines(const char *text, size_t len, unsigned most,
	int (*fn)(const char *line, void *arg), void *arg)
{
	char line[501];
	int rc = 0;

	while (len && most-- && !rc) {
		const char *newline = memchr(text, '\n', len);
		size_t n = newline ? (size_t)(newline - text) : len;

		snprintf(line, sizeof(line), "%.*s", (int)(n < 500 ? n : 500), text);
		rc = fn(line, arg);
		n += newline != NULL;
		text += n;
		len -= n;
	}
	return rc;
}

bool gt_text_number(const char *text, const char *word, uint64_t *value, const char **after)
{
	size_t n = strlen(word);
	char *end;

	if (strncmp(text, word, n) || !isdigit((unsigned char)text[n]))
		return false;
	errno = 0;
	*value = strtoull(text + n, &end, 10);
	if (after)
		*after = end;
	return !errno;
}

uint64_t gt_text_lost_events(const char *line)
{
	const char *after;
	uint64_t n;

	return gt_text_number(line, "Lost ", &n, &after) && !strncmp(after, " events", 7) ? n : 0;
}
