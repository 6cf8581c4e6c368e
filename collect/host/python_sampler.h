/* Reads the frames of Python of each sampled thread, in a thread of its own, as soon as the kernel
 * reports the sample. So they are those of a moment up to 4 ms after the sample. If that is over,
 * they are not read. While no process has an interpreter, the thread wakes up for several samples
 * together. The same thread looks at threads that wait (wait_looks.h). */
#ifndef GT_PYTHON_SAMPLER_H
#define GT_PYTHON_SAMPLER_H
#include "collect/host/perf_rings.h"
#include "collect/host/remote_python.h"
#include "collect/host/wait_looks.h"

struct gt_python_sampler;
struct gt_python_sample {
	uint32_t tid;
	bool is_late;         /* the frames were not read in time */
	uint64_t time, delay; /* ns: of the sample; until its frames had been read */
	struct gt_remote_stack stack;
};

/* new: close it. rings: borrowed. waits: it looks at threads that wait. NULL: no memory, or no
 * thread. */
struct gt_python_sampler *gt_python_sampler_open(struct gt_perf_rings *rings, bool waits);
/* Searches for the interpreter of a process, before its first sample has to wait for that. */
void gt_python_sampler_search(struct gt_python_sampler *s, uint32_t tgid);
/* The frames of a sample; NULL: they were not read. Borrowed until gt_python_sampler_forget. */
const struct gt_python_sample *gt_python_sampler_find(
	struct gt_python_sampler *s, uint32_t tid, uint64_t time);
/* Samples until this time are not needed any more. */
void gt_python_sampler_forget(struct gt_python_sampler *s, uint64_t until);
/* As gt_wait_looks_take. Their code objects are valid until gt_python_sampler_forget. */
struct gt_thread_look *const *gt_python_sampler_waits(struct gt_python_sampler *s, size_t *n);
/* Ends the thread. The samples that it has read stay. */
void gt_python_sampler_stop(struct gt_python_sampler *s);
void gt_python_sampler_close(struct gt_python_sampler *s); /* NULL is fine */
#endif
