/* A process that continues stopped processes if gtcollect is killed while it sets probes in them.
 * It waits for the end of gtcollect and does nothing else. */
#ifndef GT_STOP_GUARD_H
#define GT_STOP_GUARD_H
#include <sys/types.h>
#include "formats/base/err.h"

struct gt_stop_guard {
	pid_t pid; /* 0: there is none */
	int pipe;  /* closed by the end of gtcollect */
};
/* stopped: a map whose keys are the processes to continue. 0 or negative. */
int gt_stop_guard_start(struct gt_stop_guard *g, int stopped, struct gt_err *err);
void gt_stop_guard_end(struct gt_stop_guard *g);
#endif
