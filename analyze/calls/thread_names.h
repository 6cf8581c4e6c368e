/* Names of the threads of a trace by their ids, also of threads without rows that others name. */
#ifndef GT_THREAD_NAMES_H
#define GT_THREAD_NAMES_H
#include "analyze/stats/group_table.h"
#include "formats/trace/read/reader.h"

#define GT_THREAD_NAME 160
struct gt_thread_names {
	struct gt_group_table list;
};

/* Reads the names of all segments into *n, whose earlier content it does not look at. */
void gt_thread_names_read(struct gt_thread_names *n, struct gt_reader *r);
/* "loader 4711/4712": the name of the thread, or of its process, if the trace has it; its process,
 * and its id. */
void gt_thread_names_text(struct gt_thread_names *n, const struct gt_segment *seg, uint64_t pid,
	uint64_t tid, char text[GT_THREAD_NAME]);
void gt_thread_names_release(struct gt_thread_names *n); /* zeroed is fine */
#endif
