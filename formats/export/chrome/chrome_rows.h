/* What a row is in a Chrome or Perfetto trace: its name and its category, as Kineto has them. */
#ifndef GT_CHROME_ROWS_H
#define GT_CHROME_ROWS_H
#include "formats/export/chrome/chrome_gpu.h"
#include "formats/names/kernel_names.h"
#include "formats/trace/read/reader.h"

/* The demangled name of a kernel, the name of another type. NULL: no memory. */
const char *gt_chrome_name(struct gt_kernel_names *full_names, const struct gt_segment *seg,
	uint32_t type, char buffer[GT_CHROME_GPU_NAME]);
const char *gt_chrome_category(const struct gt_segment *seg, const struct gt_type *type);
/* The field of a range with the category that Kineto gave it (cpu_op), or GT_NONE. */
uint32_t gt_chrome_category_field(const struct gt_segment *seg, const struct gt_type *type);
/* Is it a wait of a stream, which works meanwhile, or a state of a thread off the processor? */
bool gt_chrome_waits(const struct gt_event *ev);
/* Is it an allocation or free by an allocator in the program? Kineto writes these as instants. */
bool gt_chrome_is_allocation(const struct gt_event *ev);
const char *gt_chrome_instant_category(const struct gt_event *ev);
#endif
