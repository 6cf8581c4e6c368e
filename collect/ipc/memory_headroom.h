/* How much memory may still be reserved here, by the machine and by the control groups around us. Asked before the rings are
 * reserved, because a group that overflows kills the program, and that would be our fault. */
#ifndef GT_MEMORY_HEADROOM_H
#define GT_MEMORY_HEADROOM_H
#include <stddef.h>
#include <stdint.h>

/* Bytes that may still be taken; UINT64_MAX when nothing limits it. `what` (of size bytes) names the tightest limit. */
uint64_t gt_memory_headroom(char *what, size_t size);
#endif
