/* The kind of work of a GPU row, for all reports that separate computation from communication and
 * copies. */
#ifndef GT_WORK_KIND_H
#define GT_WORK_KIND_H
#include "formats/trace/read/reader.h"

/* Time in which several kinds overlap counts as the first of them. */
enum gt_work_kind {
	GT_WORK_COMPUTE, /* kernels, whole graphs, and all other work */
	/* kernels that exchange data between GPUs: their names begin with a prefix of work_kind.c
	 */
	GT_WORK_COMMUNICATION,
	GT_WORK_COPY, /* copies and sets */
	GT_WORK_KINDS
};
/* type: of GT_GPU rows; may be NULL. Compares names: call it once per type, not per row. */
enum gt_work_kind gt_work_kind(const struct gt_segment *seg, const struct gt_type *type);
bool gt_is_communication(const char *kernel);          /* by its name */
const char *gt_work_kind_word(enum gt_work_kind kind); /* "compute", "communication", "copies" */
#endif
