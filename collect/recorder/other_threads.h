/* Threads that the trace has no track of: they run in the place of recorded ones, or wake them. */
#ifndef GT_OTHER_THREADS_H
#define GT_OTHER_THREADS_H
#include <stddef.h>
#include <stdint.h>
#include "formats/base/map.h"

#define GT_OTHER_THREADS_MAX 4096u /* later ones have no name */
struct gt_other_thread {
	int32_t pid, tid; /* in gtcollect's pid namespace; the key */
	char name[16];    /* as /proc has it when it is first seen; empty: it had ended */
};
struct gt_other_threads { /* zeroed: empty */
	struct gt_map map;
	struct gt_other_thread *list;
	size_t n, cap;
};

/* Reads the thread's name, if it is new. */
void gt_other_threads_add(struct gt_other_threads *o, int32_t pid, int32_t tid);
void gt_other_threads_release(struct gt_other_threads *o);
#endif
