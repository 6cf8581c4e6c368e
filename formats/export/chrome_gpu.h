/* GPU work in a Chrome trace: categories and arguments have the names that Kineto
 * (the profiler in PyTorch) gives them, so that programs that read its traces can read
 * gt's. tests/golden/chrome-fields lists them, and the reasons for missing ones. */
#ifndef GT_CHROME_GPU_H
#define GT_CHROME_GPU_H
#include "formats/io/stream_out.h"
#include "formats/trace/read/reader.h"

/* The category of rows of a GPU type (layer gpu), or NULL: the same as for other types. */
const char *gt_chrome_gpu_category(const struct gt_type *type);
/* Is it a type of formats/cuda/gpu_rows.h, whose rows name the call that launched them? */
bool gt_chrome_gpu_type(const struct gt_type *type);
#define GT_CHROME_GPU_NAME 128
/* Kineto's name of a copy, set or wait: "Memcpy HtoD (Pageable -> Device)"; the name itself of
 * other types. */
const char *gt_chrome_gpu_name(
	const struct gt_type *type, const char *name, char buffer[GT_CHROME_GPU_NAME]);
/* Writes ,"args":{...} of one row of such a type. base: ns, time 0 of the trace. correlation: its
 * id in the Chrome trace; 0: it has none. caller: JSON, the frame that launched it; NULL: unknown.
 */
void gt_chrome_gpu_args(struct gt_out *out, const struct gt_segment *seg, uint32_t track,
	const struct gt_row *row, const uint64_t *args, int64_t base, uint64_t correlation,
	const char *caller);
#endif
