/* How the program ended, for the last line of gtcollect. */
#ifndef GT_EXIT_SUMMARY_H
#define GT_EXIT_SUMMARY_H
#include <stddef.h>
#include "collect/cli/child_process.h"

/* Words like "killed by SIGSEGV in cuLaunchKernel" or "2 calls open at the end"; "" when there is
 * nothing to tell. `open`: calls that the recorder left open; `trace`: the closed file, which knows
 * which these are, or NULL. */
void gt_exit_describe(
	char *to, size_t size, const struct gt_child *l, uint64_t open, const char *trace);
#endif
