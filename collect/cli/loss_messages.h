/* The losses of a recording: their number, and messages for the end of gtcollect. */
#ifndef GT_LOSS_MESSAGES_H
#define GT_LOSS_MESSAGES_H
#include <stdio.h>
#include "collect/source/source.h"
#include "collect/recorder/recorder.h"

struct gt_losses {
	const struct gt_recorder_totals *totals;
	const struct gt_sources *sources; /* the sampled ones */
	bool verbose;                     /* names each function that is newer than the table */
	bool cupti_only;                  /* CUDA events were not tried: the user can choose them */
};
/* Calls, records of GPU work and counter values that were lost. */
uint64_t gt_losses_count(const struct gt_losses *l);
/* Prints a line for each kind of loss, and what to do about it. program: the prefix of each line.
 */
void gt_losses_print(const struct gt_losses *l, const char *program, FILE *to);
#endif
