/* What a thread does, by the stack of a sample. */
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
#endif
