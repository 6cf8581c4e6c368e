/* Shared by the timers of threads and the functions of libc that are replaced for them. */
#ifndef GT_TIMERS_INTERNAL_H
#define GT_TIMERS_INTERNAL_H
#include <signal.h>
#include "collect/guest/stack/thread_timers.h"

/* 0: threads are not sampled */
extern int gt_timer_signal;
/* Has a timer of ours sent it? */
bool gt_is_timer_signal(const siginfo_t *info);
/* Of this thread. */
void gt_start_timer(void);
/* Ends the samples of this process, and counts it: the program uses the signal itself, or (true)
 * limits its system calls. To ignore a signal removes those that wait for threads that block it. A
 * child of vfork has actions of its own: it ends nothing. */
void gt_timers_give_way(bool limits_itself);
#endif
