/* What of gtcollect works on this machine, and why a program may have made no CUDA call. */
#ifndef GT_DOCTOR_H
#define GT_DOCTOR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Prints a line for each thing that matters. 0 when recording works, 1 when something is in its
 * way. */
int gt_doctor(FILE *to);

/* Does a CUDA driver's library load here? Tried in a child. */
bool gt_doctor_libcuda(void);

/* Why LD_PRELOAD cannot reach into this command, in words; NULL when nothing is seen. */
const char *gt_doctor_command(const char *command);
#endif
