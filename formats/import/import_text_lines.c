#include "formats/import/import_text_lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/io/stream_in.h"

#define CHUNK (64u << 10)

struct lines {
	char text[GT_TEXT_LINE + 1];
	size_t len;    /* bytes of the line in text */
	bool pending;  /* bytes of the line were read */
	uint64_t read; /* bytes before the line */
	char chunk[CHUNK];
};

static int end_line(struct lines *l, gt_text_line_fn *fn, void *arg, struct gt_err *err)
{
	int rc;

	l->text[l->len] = '\0';
	rc = fn(arg, l->text, l->len, err);
	l->len = 0;
	l->pending = false;
	if (rc < 0 && err && err->offset == GT_NO_OFFSET && (rc == -EBADMSG || rc == -E2BIG))
		err->offset = l->read;
	return rc;
}

static int add_chunk(
	struct lines *l, size_t n, gt_text_line_fn *fn, void *arg, uint64_t at, struct gt_err *err)
{
	const char *p = l->chunk, *end = p + n;
	int rc = 0;

	while (!rc && p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		size_t part = (size_t)((newline ? newline : end) - p),
		       space = GT_TEXT_LINE - l->len;

		memcpy(l->text + l->len, p, part < space ? part : space);
		l->len += part < space ? part : space;
		l->pending = true;
		p += part + (newline != NULL);
		if (newline) {
			rc = end_line(l, fn, arg, err);
			l->read = at + (uint64_t)(p - l->chunk);
		}
	}
	return rc;
}

int gt_text_lines(
	struct gt_in *in, gt_text_line_fn *fn, void *arg, bool *unfinished, struct gt_err *err)
{
	struct lines *l = calloc(1, sizeof(*l));
	uint64_t at = 0;
	ssize_t n;
	int rc = 0;

	if (!l)
		return gt_err_set(err, -ENOMEM, "out of memory (reading lines)");
	while (!rc && (n = gt_in_read(in, l->chunk, CHUNK, err)) != 0) {
		rc = n < 0 ? (int)n : add_chunk(l, (size_t)n, fn, arg, at, err);
		at += n > 0 ? (uint64_t)n : 0;
	}
	*unfinished = !rc && l->pending;
	if (*unfinished)
		rc = end_line(l, fn, arg, err);
	free(l);
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
