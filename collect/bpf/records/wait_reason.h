/* What a thread waited for, from its system call and its state. */
#ifndef GT_WAIT_REASON_H
#define GT_WAIT_REASON_H
#include "collect/bpf/bpf_events.h"
#include "formats/trace/write/sched_rows.h"

enum gt_sched_state gt_wait_reason(const struct gt_bpf_sched *s);
#endif
