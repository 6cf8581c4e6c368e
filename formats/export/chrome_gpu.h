/* What a Chrome trace says of GPU work: categories and arguments under the names that Kineto (the
 * profiler inside PyTorch) gives them, so that what reads its traces reads ours.
 * tests/golden/chrome-fields lists them, with why some are not there. */
#ifndef GT_CHROME_GPU_H
#define GT_CHROME_GPU_H
#include "formats/io/stream_out.h"
#include "formats/trace/read/reader.h"

/* The category of rows of a type that a GPU did (layer gpu), or NULL: as that of other types. */
const char *gt_chrome_gpu_category(const struct gt_type *type);
/* Is it a type of formats/cuda/gpu_rows.h, whose rows say by which call they were launched? */
bool gt_chrome_gpu_type(const struct gt_type *type);
/* ,"args":{...} of one row of such a type. base: ns, where the trace's time begins. */
void gt_chrome_gpu_args(struct gt_out *out, const struct gt_segment *seg, uint32_t track,
	const struct gt_row *row, const uint64_t *args, int64_t base);
#endif
