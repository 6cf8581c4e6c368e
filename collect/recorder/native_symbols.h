/* Names of native functions in the frames of stacks, at the end of a recording: from the symbol
 * tables of the files that the program had loaded, if these are still there. */
#ifndef GT_NATIVE_SYMBOLS_H
#define GT_NATIVE_SYMBOLS_H
#include "formats/trace/write/writer.h"

/* Adds the functions to the frames that lack theirs. A frame whose file is missing, has another
 * build id, or has no symbol there, stays as it is. */
void gt_native_symbols_resolve(struct gt_writer *w);
#endif
