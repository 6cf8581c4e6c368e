/* --symbols DIR of the programs that read traces: native frames get functions, lines and inlined
 * functions from the files in these folders, by build id (debug_files.h), whenever a trace is
 * opened. */
#ifndef GT_TRACE_SYMBOLS_H
#define GT_TRACE_SYMBOLS_H
#include <stddef.h>
#include "formats/base/err.h"

/* Call it before the first trace is opened. folders: borrowed until the program ends; n 0: nothing
 * happens. 0; negative: one of them is no folder that can be read, and err names it. */
int gt_trace_symbols_start(const char *const *folders, size_t n, struct gt_err *err);
/* Prints on stderr the libraries without a file or without lines; one line for each reason. */
void gt_trace_symbols_report(const char *program);
void gt_trace_symbols_finish(void);
#endif
