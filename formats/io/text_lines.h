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
	uint64_t offset; /* bytes of the text before it */
	bool cut;        /* it has no newline: the end of the text */
	/* the rest is private */
	struct gt_in *in; /* borrowed */
	char *chunk, *line;
	size_t at, end, len;
	uint64_t taken; /* bytes of the text that became lines */
};
/* 0 or -ENOMEM; release it in both cases. */
int gt_text_lines_init(struct gt_text_lines *l, struct gt_in *in, struct gt_err *err);
void gt_text_lines_release(struct gt_text_lines *l);
/* The next line without its newline (and carriage return): borrowed until the next call, and
 * NUL-terminated; the caller may change it. 1, 0 at the end, or negative. */
int gt_text_lines_next(struct gt_text_lines *l, char **line, size_t *len, struct gt_err *err);

/* Calls fn for each line, until it returns something else than 0. Returns that, 0, or negative. An
 * error of fn about the line (-EBADMSG, -E2BIG) gets its offset, unless it has one. *cut: the last
 * line has no newline. */
typedef int gt_text_line_fn(void *arg, char *line, size_t len, struct gt_err *err);
int gt_text_each_line(
	struct gt_in *in, gt_text_line_fn *fn, void *arg, bool *cut, struct gt_err *err);
/* The same for the first `most` lines of a text in memory, of which fn gets 500 bytes at most. */
int gt_text_first_lines(const char *text, size_t len, unsigned most,
	int (*fn)(const char *line, void *arg), void *arg);

/* The number behind a word: "corr=7" has 7 for "corr=". False: the text does not begin so. *after,
 * if not NULL, is the text behind the number. */
bool gt_text_number(const char *text, const char *word, uint64_t *value, const char **after);
/* The events that bpftrace lost, of its line "Lost 42 events"; 0: the line says nothing of it. */
uint64_t gt_text_lost_events(const char *line);
#endif
