/* Division of a text into lines for a terminal. */
#ifndef GT_WORD_WRAP_H
#define GT_WORD_WRAP_H
#include <stddef.h>

/* Bytes of s that a line of `width` columns takes: at most up to a newline. A longer text is
 * divided at a blank, which the next line leaves out; else behind a '/', ',' or ';'; else within a
 * word. A drawing (no letter or digit) is not divided, and nothing is if the width is 12 or less.
 */
size_t gt_line_length(const char *s, size_t width);
#endif
