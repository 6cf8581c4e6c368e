/* GPU times from CUDA events, where CUPTI is missing. gt_event_pair_begin and gt_event_pair_end are
 * in guest_hooks.h. */
#ifndef GT_GUEST_EVENT_TIMING_H
#define GT_GUEST_EVENT_TIMING_H
#include "collect/guest/core/guest_hooks.h"

/* why: the reason for not using CUPTI; false: the driver lacks a needed function */
bool gt_events_start(const char *why);
/* a capture was begun, or that failed; gt_before_begin_capture came before */
void gt_events_capture_began(void);
/* the process that this one was forked from used CUDA events */
bool gt_events_used_before_fork(void);
/* exec is about to replace the program: reads the finished events */
void gt_events_before_exec(void);
void gt_events_after_failed_exec(void); /* exec has failed */
#endif
