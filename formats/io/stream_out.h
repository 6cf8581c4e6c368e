/* A buffered output for everything that is printed or exported. It stores the first error (a full
 * disk), and gt_out_close returns it, so writers need not check each call. Long loops may check
 * `failed`. */
#ifndef GT_STREAM_OUT_H
#define GT_STREAM_OUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "formats/base/err.h"
#include "formats/text/digits.h"

struct gt_out {
	char *data;
	size_t len, cap;
	struct gt_out_sink *sink; /* full buffers are written there; NULL: memory */
	int failed;               /* negative errno of the first failure */
	bool colours;             /* print colours; the owner sets it (gt_terminal_colours) */
};
/* "-" is standard output. If the name ends in .gz the output is compressed. Without force an
 * existing file is an error (-EEXIST). The file gets its name in gt_out_close, if nothing failed: a
 * program that ends earlier leaves no new file, and does not replace an old one. */
int gt_out_open(struct gt_out *o, const char *path, bool force, struct gt_err *err);
/* Writes into an open descriptor. Takes ownership of it, also on failure, except for standard
 * output. A negative fd is the errno of the caller's failed open. `name`: for error messages, and
 * for .gz. */
int gt_out_open_fd(struct gt_out *o, int fd, const char *name, struct gt_err *err);
/* -EEXIST if writing `path` would overwrite the file that `input` names ("-" is standard input).
 * 0 otherwise. */
int gt_out_would_destroy(const char *path, const char *input, struct gt_err *err);
void gt_out_memory(struct gt_out *o);                   /* collects the output in data and len */
int gt_out_close(struct gt_out *o, struct gt_err *err); /* flushes; the first error since open */
/* For callers that write to the descriptor themselves: flushes, and returns it, borrowed. -EINVAL
 * if the output is compressed or in memory. */
int gt_out_fd(struct gt_out *o);
/* Output beyond this number of bytes fails with -E2BIG: of an uncompressed file. */
void gt_out_limit(struct gt_out *o, uint64_t bytes);
void gt_out_fail(struct gt_out *o, int code); /* sets an error, if there is none yet */
void gt_out_flush_(struct gt_out *o, size_t room);
/* Writes the buffer. Call it before printing to stderr, which may be the same terminal or file. */
static inline void gt_out_flush(struct gt_out *o) { gt_out_flush_(o, 0); }

/* At least n writable bytes, n <= 64 KiB, and GT_DIGITS_SPILL more. The caller writes there, then
 * calls gt_out_commit(o, end). */
static inline char *gt_out_reserve(struct gt_out *o, size_t n)
{
	if (__builtin_expect(o->cap - o->len < n, 0))
		gt_out_flush_(o, n);
	return o->data + o->len;
}
static inline void gt_out_commit(struct gt_out *o, char *end) { o->len = (size_t)(end - o->data); }

void gt_out_add(struct gt_out *o, const void *bytes, size_t n); /* any n */
/* Adds a temporary file, from its start. 0, or negative if it cannot be read. */
int gt_out_add_file(struct gt_out *o, int fd, struct gt_err *err);
/* The compiler copies a literal in place. */
static inline __attribute__((always_inline)) void gt_out_str(struct gt_out *o, const char *s)
{
	size_t n = strlen(s);

	if (__builtin_constant_p(n) && n < 256) {
		memcpy(gt_out_reserve(o, n), s, n);
		o->len += n;
	} else {
		gt_out_add(o, s, n);
	}
}
/* The text, made printable (formats/text/printable.h). */
void gt_out_printable(struct gt_out *o, const char *s);
void gt_out_printf(struct gt_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A JSON string with its quotes. Invalid UTF-8 becomes U+FFFD. Characters for which
 * gt_utf8_is_control is true are escaped. */
void gt_out_json(struct gt_out *o, const char *s, size_t len);
#endif
