/* What kind of work a GPU row is, for all reports that tell computing from moving data. One rule in
 * one place. */
#ifndef GT_WORK_KIND_H
#define GT_WORK_KIND_H
#include "formats/trace/read/reader.h"

/* In the order in which work that overlaps counts once: time under compute is compute, what is left
 * under communication is that. */
enum gt_work_kind {
	GT_WORK_COMPUTE, /* kernels, graphs as a whole, and all that is nothing else */
	/* kernels that exchange data between GPUs: their function begins as one in work_kind.c does
	 */
	GT_WORK_COMMUNICATION,
	GT_WORK_COPY, /* copies and sets: both move memory and compute nothing */
	GT_WORK_KINDS
};
/* Of a type of GT_GPU rows. Looks at the name: call it once per type, not per row. type may be
 * NULL. */
enum gt_work_kind gt_work_kind(const struct gt_segment *seg, const struct gt_type *type);
const char *gt_work_kind_word(enum gt_work_kind kind); /* "compute", "communication", "copies" */
#endif
