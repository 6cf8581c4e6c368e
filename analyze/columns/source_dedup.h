/* Who recorded what: where two sources recorded one thread, each of its layers is counted from one of them. */
#ifndef GT_SOURCE_DEDUP_H
#define GT_SOURCE_DEDUP_H
#include "formats/trace/read/reader.h"

/* Rows of source `from` that are left out because source `by` has them. String ids; GT_NONE: several or unknown. */
struct gt_source_pair { uint32_t from, by; uint64_t calls, others; };
/* What is left out of a segment, whatever else a filter leaves out. */
struct gt_duplicate_counts {
	uint64_t rows[GT_KINDS];
	uint32_t processes, threads;		/* tracks of a process or thread that another track stands for */
	const struct gt_source_pair *list; uint32_t n;
};

struct gt_source_dedup;
/* Looks at the rows of threads that have tracks of two sources, if there are any. new: free it. NULL with err filled in. */
struct gt_source_dedup *gt_source_dedup_new(struct gt_reader *r, struct gt_err *err);
void gt_source_dedup_free(struct gt_source_dedup *s);					/* NULL is fine */
void gt_source_dedup_hide(const struct gt_source_dedup *s, struct gt_filter *filter);	/* leave them out of a scan; s is borrowed by it */
/* of[t] = the track that stands for the thread of track t, for those that two sources recorded. The others stay as they are. */
void gt_source_dedup_map_threads(const struct gt_source_dedup *s, uint32_t segment, uint32_t *of);
const struct gt_duplicate_counts *gt_source_dedup_counts(const struct gt_source_dedup *s, uint32_t segment);
#endif
