/* Splits strace's output into lines. Of a long line the beginning and the end are read: strace
 * prints the result and the duration of a call behind its arguments. */
#include <stdlib.h>
#include <string.h>
#include "formats/import/strace/import_strace.h"
#include "formats/io/stream_in.h"

#define LINE_HEAD (64u << 10)
#define LINE_TAIL 1024u
#define CHUNK (64u << 10)

/* A line that is being read: its first LINE_HEAD bytes and its last LINE_TAIL ones. */
struct strace_buffer {
	char bytes[LINE_HEAD + 2 * LINE_TAIL];
	size_t len;
	size_t first; /* the bytes of an earlier line, which this one may continue; else 0 */
	gt_strace_line_fn *fn;
	void *arg;
};

static void add_piece(struct strace_buffer *b, const char *p, size_t n)
{
	while (n) {
		size_t space = sizeof(b->bytes) - b->len, part = n < space ? n : space;

		memcpy(b->bytes + b->len, p, part);
		b->len += part;
		p += part;
		n -= part;
		if (b->len == sizeof(b->bytes)) {
			memmove(b->bytes + LINE_HEAD, b->bytes + b->len - LINE_TAIL, LINE_TAIL);
			b->len = LINE_HEAD + LINE_TAIL;
		}
	}
}

/* On standard error strace prints "strace: Process 7 attached" into the line of the clone, whose
 * rest is the next line. True: the message is removed, and the rest is to come. */
static bool cut_attached(struct strace_buffer *b)
{
	static const char message[] = "strace: Process ", attached[] = " attached";
	size_t tail = sizeof(attached) - 1, len = b->len, digits;

	if (len < tail || memcmp(b->bytes + len - tail, attached, tail))
		return false;
	for (len -= tail, digits = len;
		len && b->bytes[len - 1] >= '0' && b->bytes[len - 1] <= '9';)
		len--;
	tail = sizeof(message) - 1;
	if (len == digits || len <= tail || memcmp(b->bytes + len - tail, message, tail))
		return false;
	b->first = b->len = len - tail;
	return true;
}

/* A line is complete. A rest begins with a blank or comma; any other line is one of its own. */
static int end_line(struct strace_buffer *b, struct gt_err *err)
{
	size_t first = b->first;
	int e = 0;

	b->first = 0;
	if (first && first < b->len && !strchr(" ,)<", b->bytes[first])) {
		e = b->fn(b->arg, b->bytes, first, err);
		b->len -= first;
		memmove(b->bytes, b->bytes + first, b->len);
	}
	if (!e && cut_attached(b))
		return 0;
	e = e ? e : b->fn(b->arg, b->bytes, b->len, err);
	b->len = 0;
	return e;
}

static int add_chunk(struct strace_buffer *b, const char *p, size_t n, struct gt_err *err)
{
	const char *end = p + n, *newline;
	int e = 0;

	for (; !e && (newline = memchr(p, '\n', (size_t)(end - p))); p = newline + 1) {
		add_piece(b, p, (size_t)(newline - p));
		e = end_line(b, err);
	}
	add_piece(b, p, (size_t)(end - p));
	return e;
}

int gt_strace_each_line(
	struct gt_in *in, gt_strace_line_fn *fn, void *arg, bool *truncated, struct gt_err *err)
{
	struct strace_buffer *b = malloc(sizeof(*b));
	char *chunk = malloc(CHUNK);
	ssize_t n = 0;
	int e = b && chunk ? 0
			   : gt_err_set(err, -ENOMEM, "out of memory (import of strace's output)");

	if (b) {
		b->len = b->first = 0;
		b->fn = fn;
		b->arg = arg;
	}
	while (!e && (n = gt_in_read(in, chunk, CHUNK, err)) > 0)
		e = add_chunk(b, chunk, (size_t)n, err);
	e = !e && n < 0 ? (int)n : e;
	*truncated = !e && b->len;
	if (*truncated)
		e = b->fn(b->arg, b->bytes, b->len, err);
	free(b);
	free(chunk);
	return e;
}
