/* Prints rows of a trace as lines of text, one each, as strace prints system calls. */
#ifndef GT_ROW_LINES_H
#define GT_ROW_LINES_H
#include "formats/export/exporters.h"

/* Prints the row as one line. origin: ns, the time that is printed as 0. */
void gt_row_line_print(struct gt_out *out, const struct gt_event *ev, int64_t origin);
#endif
