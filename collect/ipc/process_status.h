/* Numbers of a process in /proc/PID/status. */
#ifndef GT_PROCESS_STATUS_H
#define GT_PROCESS_STATUS_H
#include <stdint.h>
#include <sys/types.h>

/* pid: 0: gtcollect. name: without the colon; base: as of strtoull(). -1: it is not there. */
int64_t gt_process_status(pid_t pid, const char *name, int base);
/* Why gtcollect may not read a process: "only its user ...". */
const char *gt_process_refusal(void);
#endif
