/* Display names: the names of rows on the screen. Kernels have the short form of the reports;
 * all other names are as recorded. */
#ifndef GT_DISPLAY_NAME_H
#define GT_DISPLAY_NAME_H
#include "formats/names/kernel_names.h"
#include "formats/trace/read/reader.h"

struct gt_display_name {          /* zero-initialised but for the reader */
	struct gt_reader *reader; /* borrowed */
	struct gt_kernel_names *kernels;
};
/* Borrowed until release. */
const char *gt_display_name_of_type(
	struct gt_display_name *s, const struct gt_segment *seg, uint32_t type);
const char *gt_display_name_of_kernel(struct gt_display_name *s, const char *name);
void gt_display_name_release(struct gt_display_name *s);
#endif
