/* A buffered byte sink for everything that is printed or exported. Errors (a full disk) are
 * remembered and come out of gt_out_close, so nothing that writes has to check each line; long
 * loops may look at `failed`. */
#ifndef GT_OUT_H
#define GT_OUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "formats/base/err.h"
#include "formats/text/digits.h"

struct gt_out {
	char *data;
	size_t len, cap;
	struct gt_out_sink *sink; /* where full buffers go: fd, or gz by the file's name */
	int failed;               /* negative errno of the first failure */
	/* does it show them? False unless its owner says so (gt_terminal_colours, tone.h) */
	bool colours;
};
/* "-" is stdout; a name that ends in .gz is compressed. Without force an existing file is refused
 * (-EEXIST). The file has its name from gt_out_close on, if nothing failed: what ends the program
 * before leaves none, and what it was to replace. */
int gt_out_open(struct gt_out *o, const char *path, bool force, struct gt_err *err);
/* Into what is open already: fd is taken over, but for stdout, even on failure; a negative errno is
 * why it could not be opened. `name` is what it is, or will be, called. */
int gt_out_open_fd(struct gt_out *o, int fd, const char *name, struct gt_err *err);
/* -EEXIST when opening or writing `path` would destroy the file that `input` names ("-" is stdin).
 * 0 otherwise. */
int gt_out_would_destroy(const char *path, const char *input, struct gt_err *err);
void gt_out_memory(struct gt_out *o);                   /* collects in data/len; for tests */
int gt_out_close(struct gt_out *o, struct gt_err *err); /* flushes; the first error since open */
/* For a writer that puts whole files through a descriptor itself: everything so far is written,
 * then the descriptor, borrowed. -EINVAL when the output is compressed or in memory. */
int gt_out_fd(struct gt_out *o);
void gt_out_fail(struct gt_out *o, int code);      /* gt_out_close returns the first such code */
void gt_out_flush_(struct gt_out *o, size_t room); /* makes room for that many bytes */
/* All so far is where it goes, but for what a compressor holds back: before anything goes to
 * stderr, which may be the same place. */
static inline void gt_out_flush(struct gt_out *o) { gt_out_flush_(o, 0); }

/* At least n bytes to write into, n <= 64 KiB, and what digits spill (digits.h); follow with
 * gt_out_used(o, end). */
static inline char *gt_out_room(struct gt_out *o, size_t n)
{
	if (__builtin_expect(o->cap - o->len < n, 0))
		gt_out_flush_(o, n);
	return o->data + o->len;
}
static inline void gt_out_used(struct gt_out *o, char *end) { o->len = (size_t)(end - o->data); }

void gt_out_add(struct gt_out *o, const void *bytes, size_t n); /* any n */
void gt_out_str(struct gt_out *o, const char *s);
/* made printable (formats/text/printable.h) */
void gt_out_printable(struct gt_out *o, const char *s);
void gt_out_printf(struct gt_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A JSON string with its quotes. Invalid UTF-8 becomes U+FFFD; gt_utf8_is_control characters are
 * escaped. */
void gt_out_json(struct gt_out *o, const char *s, size_t len);
#endif
