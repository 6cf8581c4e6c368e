/* Errors as values. First error wins: the deepest function that knows what went wrong fills it in,
 * everyone above returns the code, and only a main() prints. */
#ifndef GT_ERR_H
#define GT_ERR_H
#include <errno.h>
#include <stdint.h>

#define GT_NO_OFFSET UINT64_MAX

struct gt_err {
	int code; /* negative errno, 0 while all is well */
	/* byte in the input where it was noticed; GT_NO_OFFSET when it has no place */
	uint64_t offset;
	char text[200]; /* one line: no newline, no full stop */
};
#define GT_ERR_INIT                                                                                \
	{                                                                                          \
		.code = 0, .offset = GT_NO_OFFSET                                                  \
	}

/* Both return `code`, which must be negative. A NULL err is fine; an err that is already set is
 * left alone. */
int gt_err_set(struct gt_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int gt_err_at(struct gt_err *err, uint64_t offset, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Prints "TOOL: FILE: byte N: text\n" to stderr, leaving out what is not known. Printable as a
 * whole (printable.h). For main() only. file may be NULL. */
void gt_err_print(const char *tool, const char *file, const struct gt_err *err);
#endif
