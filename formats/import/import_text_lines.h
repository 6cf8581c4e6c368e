/* Lines of text of other tools, for importers. */
#ifndef GT_IMPORT_TEXT_LINES_H
#define GT_IMPORT_TEXT_LINES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

struct gt_in;

#define GT_TEXT_LINE 8192u /* bytes of a line; the rest of a longer one is not read */

/* Calls fn for each line, without its line feed and a zero behind it; the text is borrowed for the
 * call, and fn may change it. 0, or the first result of fn or of reading that is not 0; its place
 * in err, unless it has one, is the beginning of the line. *unfinished: the last line has no line
 * feed.
 */
typedef int gt_text_line_fn(void *arg, char *line, size_t len, struct gt_err *err);
int gt_text_lines(
	struct gt_in *in, gt_text_line_fn *fn, void *arg, bool *unfinished, struct gt_err *err);
/* The events that bpftrace lost, of its line "Lost 42 events"; 0: the line says nothing of it. */
uint64_t gt_text_lost_events(const char *line);
/* The number behind a word: "corr=7" has 7 for "corr=". False: the text does not begin so. *after,
 * if not NULL, is the text behind the number. */
bool gt_text_number(const char *text, const char *word, uint64_t *value, const char **after);
#endif
