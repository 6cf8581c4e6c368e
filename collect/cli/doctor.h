/* gtcollect --doctor: what works on this machine. Also possible reasons why a recording has no
 * CUDA call. */
#ifndef GT_DOCTOR_H
#define GT_DOCTOR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Prints a line per check. 0: recording works; 1: it does not. */
int gt_doctor(FILE *to);

/* Can libcuda.so.1 be loaded here? Tried in a child process. */
bool gt_doctor_libcuda(void);

/* Why LD_PRELOAD has no effect on this command, as text; NULL: no reason found. */
const char *gt_doctor_command(const char *command);
#endif
