/* Threads in a recorded process that are not the program's: gtcollect's library or CUPTI has
 * started them. Their tracks have these names; reports leave them out. gtcollect adds
 * GT_PROGRAM_THREAD_SUFFIX to the name of a thread of the program that has one of them. */
#ifndef GT_RECORDER_THREADS_H
#define GT_RECORDER_THREADS_H
#include <stdbool.h>
#include <string.h>

#define GT_OWN_THREAD_NAME "[gt]"
#define GT_CUPTI_THREAD_NAME "[CUPTI]"
#define GT_PROGRAM_THREAD_SUFFIX " (program)"

static inline bool gt_is_recorder_thread_name(const char *name)
{
	return !strcmp(name, GT_OWN_THREAD_NAME) || !strcmp(name, GT_CUPTI_THREAD_NAME);
}
#endif
