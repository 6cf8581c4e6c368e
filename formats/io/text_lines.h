/* The lines of a text stream, one at a time, for importers of text. */
#ifndef GT_TEXT_LINES_H
#define GT_TEXT_LINES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

#define GT_TEXT_LINE_MAX (64u << 10) /* bytes of a line that are read; the rest is dropped */

struct gt_in;
struct gt_text_lines {
	uint64_t number; /* of the last line that was returned, from 1 */
	bool cut;        /* it has no newline: the end of the text */
	/* the rest is private */
	struct gt_in *in; /* borrowed */
	char *chunk, *line;
	size_t at, end, len;
};
/* 0 or -ENOMEM; release it in both cases. */
int gt_text_lines_init(struct gt_text_lines *l, struct gt_in *in, struct gt_err *err);
void gt_text_lines_release(struct gt_text_lines *l);
/* The next line without its newline (and carriage return): borrowed until the next call, and
 * NUL-terminated. 1, 0 at the end, or negative. */
int gt_text_lines_next(struct gt_text_lines *l, const char **line, size_t *len, struct gt_err *err);
#endif
