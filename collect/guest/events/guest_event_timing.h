/* GPU times from CUDA events, where CUPTI is missing. gt_events_open and gt_events_shut are in guest_hooks.h. */
#ifndef GT_GUEST_EVENT_TIMING_H
#define GT_GUEST_EVENT_TIMING_H
#include "collect/guest/core/guest_hooks.h"

bool gt_events_start(const char *why);	/* why: the reason for not using CUPTI; false: the driver lacks a needed function */
void gt_events_capture_has_begun(void);	/* a capture was begun, or that failed; gt_before_begin_capture came before */
bool gt_events_forked(void);		/* the process that this one was forked from used CUDA events */
void gt_events_leave(void);		/* exec is about to replace the program: reads the finished events */
void gt_events_stay(void);		/* exec has failed */
#endif
