/* What a thread waits for in a system call. */
#ifndef GT_WAIT_REASON_H
#define GT_WAIT_REASON_H
#include <stdbool.h>
#include <stdint.h>
#include "formats/trace/write/sched_rows.h"

/* number: of the system call. GT_SCHED_OTHER: nothing is known of it. */
enum gt_sched_state gt_wait_reason(int64_t number);
/* Does it read from the file of its first argument? */
bool gt_wait_reads(int64_t number);
/* What a thread waits for that reads from this file: PIPE, SOCKET or IO. */
enum gt_sched_state gt_wait_of_file(uint32_t tgid, uint32_t tid, uint64_t fd);
/* Are its first arguments an array of struct pollfd and its length? */
bool gt_wait_polls(int64_t number);
#endif
