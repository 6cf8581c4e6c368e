/* Whether an allocation has failed. A program that prints a report or writes a file checks it
 * before it exits: code that continued without the memory has omitted something, and the program
 * must say so.
 *
 * The programs are linked with --wrap (Makefile): each failure of malloc and similar functions in
 * them is noted here. jansson's allocations are noted by json_build.c, errors of -ENOMEM by err.c.
 * Unit tests are linked without --wrap. */
#ifndef GT_ALLOC_FAILURE_H
#define GT_ALLOC_FAILURE_H
#include <stdbool.h>

#define GT_ALLOC_FAILURE_TEXT "out of memory: the output would be incomplete"

bool gt_alloc_failed(void); /* since the start or the last clear, on any thread */
void gt_alloc_failure_set(void);
void gt_alloc_failure_clear(void);
#endif
