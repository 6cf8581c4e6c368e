/* Errors as values. The deepest function that knows the reason fills the error in, its callers
 * return the code, and only a main() prints. The first error is not overwritten. */
#ifndef GT_ERR_H
#define GT_ERR_H
#include <errno.h>
#include <stdint.h>

#define GT_NO_OFFSET UINT64_MAX

struct gt_err {
	int code;        /* negative errno; 0: no error */
	uint64_t offset; /* byte of the input where it was found, or GT_NO_OFFSET */
	char text[200];  /* one line: no newline, no full stop */
};
#define GT_ERR_INIT                                                                                \
	{                                                                                          \
		.code = 0, .offset = GT_NO_OFFSET                                                  \
	}

/* Both return `code`, which must be negative. err may be NULL. An err that is already set does not
 * change. */
int gt_err_set(struct gt_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int gt_err_at(struct gt_err *err, uint64_t offset, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Adds to the text of an error, as far as there is space. */
void gt_err_append(struct gt_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints "TOOL: FILE: byte N: text\n" to stderr, made printable (printable.h). FILE is omitted if
 * file is NULL, "byte N" if there is no offset. For main() only. */
void gt_err_print(const char *tool, const char *file, const struct gt_err *err);
#endif
