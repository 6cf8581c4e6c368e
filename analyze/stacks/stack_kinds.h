/* What a thread does, by its stack: of a sample or of a wait. */
#ifndef GT_STACK_KINDS_H
#define GT_STACK_KINDS_H
#include "formats/trace/read/reader.h"

enum gt_stack_runs {
	GT_RUNS_UNKNOWN, /* no such stack, or nothing is known of its innermost frame */
	/* the innermost frame is Python, or a function of the interpreter (libpython, python3) */
	GT_RUNS_PYTHON,
	GT_RUNS_NATIVE
};
enum gt_stack_runs gt_stack_runs(const struct gt_segment *seg, uint64_t stack);
/* Is a wait with this stack one for CPython's global interpreter lock? It is if the stack has a
 * function that takes this lock, or if the interpreter itself called the function of the C library
 * that waits for a condition: CPython's other locks are semaphores. */
bool gt_stack_waits_for_gil(const struct gt_segment *seg, uint64_t stack);
#endif
