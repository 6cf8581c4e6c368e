/* Samples of this process's threads, each by a timer of its own.
 *
 * Where the kernel refuses perf events, gtcollect sets GT_RING_SAMPLES in the program's
 * environment. Then each thread has a timer of its processor time, whose signal is handled in that
 * thread. */
#ifndef GT_THREAD_TIMERS_H
#define GT_THREAD_TIMERS_H
#include "collect/guest/core/guest_hooks.h"

/* ns. The kernel looks at such timers 100 to 1000 times in a second, and then only at those of the
 * threads that run. So a sample may come late. If it is this late, and directly behind a system
 * call, the thread has blocked the signal meanwhile: the sample stands for this time only. */
#define GT_SAMPLE_REACH (20 * 1000000ull)
#endif
