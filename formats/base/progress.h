/* The progress of reading, for programs that show it. Readers report bytes of files, once for each
 * block: no row costs anything. */
#ifndef GT_PROGRESS_H
#define GT_PROGRESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_progress_sink {
	/* `bytes` more are going to be read (0: their number is unknown), for an activity:
	 * "reading". */
	void (*begin)(const char *activity, uint64_t bytes);
	void (*add)(uint64_t bytes); /* they were read; on any thread */
};
extern const struct gt_progress_sink *gt_progress_sink; /* NULL: none; read and set atomically */

static inline bool gt_progress_is_wanted(void)
{
	return __atomic_load_n(&gt_progress_sink, __ATOMIC_ACQUIRE) != NULL;
}
static inline void gt_progress_begin(const char *activity, uint64_t bytes)
{
	const struct gt_progress_sink *s = __atomic_load_n(&gt_progress_sink, __ATOMIC_ACQUIRE);

	if (s)
		s->begin(activity, bytes);
}
static inline void gt_progress_add(uint64_t bytes)
{
	const struct gt_progress_sink *s = __atomic_load_n(&gt_progress_sink, __ATOMIC_ACQUIRE);

	if (s)
		s->add(bytes);
}
#endif
