/* Threads in a recorded process that are not the program's: gtcollect's library or CUPTI has
 * started them. Their tracks have these names; reports leave them out. */
#ifndef GT_RECORDER_THREADS_H
#define GT_RECORDER_THREADS_H

#define GT_OWN_THREAD_NAME "[gt]"
#define GT_CUPTI_THREAD_NAME "[CUPTI]"
#endif
