/* Whether an allocation has failed. A program that prints an answer or writes a file asks before it
 * ends: code that went on without the memory has left something out, and the program must say so.
 *
 * The programs are linked with --wrap (Makefile), so that each call of malloc and its like in them
 * reports its failure here. Memory that jansson asks for goes the same way (json_build.c), and an
 * error of -ENOMEM sets it, too (err.c). Unit tests are linked without --wrap. */
#ifndef GT_ALLOC_FAILURE_H
#define GT_ALLOC_FAILURE_H
#include <stdbool.h>

#define GT_ALLOC_FAILURE_TEXT "out of memory: the output would be incomplete"

bool gt_alloc_failed(void); /* since the start or the last clear, on any thread */
void gt_alloc_failure_set(void);
void gt_alloc_failure_clear(void);
#endif
