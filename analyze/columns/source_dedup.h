/* Removes duplicates: if two sources recorded one thread, each layer is counted from one of
 * them. Also removes threads of gt and CUPTI (recorder_threads.h). */
#ifndef GT_SOURCE_DEDUP_H
#define GT_SOURCE_DEDUP_H
#include "formats/trace/read/reader.h"

/* Rows of source `from` that are hidden because source `by` has them. String ids; GT_NONE:
 * several or unknown. */
struct gt_source_pair {
	uint32_t from, by;
	uint64_t calls, others;
};
/* Rows of a segment that are hidden as duplicates, whatever else a filter leaves out. */
struct gt_duplicate_counts {
	uint64_t rows[GT_KINDS];
	/* tracks of a process or thread that another track represents */
	uint32_t processes, threads;
	uint32_t recorder_threads; /* threads of gt and CUPTI, which are hidden, too */
	const struct gt_source_pair *list;
	uint32_t n;
};

struct gt_source_dedup;
/* Reads the rows of threads that have tracks of two sources, if there are any. The caller frees
 * the result. NULL with err filled in. */
struct gt_source_dedup *gt_source_dedup_new(struct gt_reader *r, struct gt_err *err);
void gt_source_dedup_free(struct gt_source_dedup *s); /* NULL is allowed */
/* hide duplicates from a scan; filter borrows s */
void gt_source_dedup_hide(const struct gt_source_dedup *s, struct gt_filter *filter);
/* of[t] = the track that represents the thread of track t, for threads with two sources. Other
 * elements stay unchanged. */
void gt_source_dedup_map_threads(const struct gt_source_dedup *s, uint32_t segment, uint32_t *of);
const struct gt_duplicate_counts *gt_source_dedup_counts(
	const struct gt_source_dedup *s, uint32_t segment);
#endif
