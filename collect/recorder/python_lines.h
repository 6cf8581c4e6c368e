/* Lines of Python instructions, from the line table of a code object. */
#ifndef GT_PYTHON_LINES_H
#define GT_PYTHON_LINES_H
#include <stddef.h>
#include <stdint.h>

/* version: 0x0309 to 0x030e (3.14). first_line, table: of the code object (co_firstlineno;
 * co_lnotab in 3.9, co_linetable after it). offset: of the instruction, in bytes; "negative" as
 * an unsigned number: the frame has not started, which is at the first line.
 * Returns the line, from 0; -1: the instruction has no line, or the table is damaged. */
int32_t gt_python_line(
	uint32_t version, uint32_t first_line, const uint8_t *table, size_t n, uint32_t offset);
#endif
