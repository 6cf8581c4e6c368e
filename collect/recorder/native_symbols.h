/* Names of native functions in the frames of stacks, and on request lines, at the end of a
 * recording: from the files that the program had loaded, if these are still there, and from their
 * debug files in /usr/lib/debug. */
#ifndef GT_NATIVE_SYMBOLS_H
#define GT_NATIVE_SYMBOLS_H
#include "formats/trace/write/writer.h"

/* Adds the functions to the frames that lack theirs, and lines. A frame whose file is missing, has
 * another build id, or has no symbol there, stays as it is. lines_ns: the time for lines, 0: none
 * are read. */
struct gt_native_symbols_missing {
	/* libraries whose files have other build ids now: their frames have no names */
	uint32_t replaced;
	/* libraries without lines, because the time was over, or because their DWARF is damaged */
	uint32_t without_lines;
};
struct gt_native_symbols_missing gt_native_symbols_resolve(struct gt_writer *w, int64_t lines_ns);
#endif
