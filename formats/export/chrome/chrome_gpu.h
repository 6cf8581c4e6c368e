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
/* An argument of a row, as Kineto names it. */
struct gt_chrome_arg {
	const char *name; /* of the trace, or constant */
	enum gt_chrome_arg_form {
		GT_ARG_FIELD,  /* value is of *field */
		GT_ARG_NUMBER, /* value */
		GT_ARG_SIGNED, /* value is an int64_t */
		GT_ARG_THREE,  /* three values */
		GT_ARG_RATE,   /* value bytes in `three[0]` ns: GB/s */
		GT_ARG_TIME,   /* value is an int64_t: ns since time 0 of the trace */
		GT_ARG_TEXT,   /* text */
	} form;
	uint64_t value, three[3];
	const struct gt_field *field;
	const char *text;
};
#define GT_CHROME_ARGS_MAX (GT_FIELDS_MAX + 10)
/* The arguments of one row of such a type; their number. base: ns, time 0 of the trace.
 * correlation: its id in the Chrome trace; 0: it has none. */
unsigned gt_chrome_gpu_args(const struct gt_segment *seg, uint32_t track, const struct gt_row *row,
	const uint64_t *args, int64_t base, uint64_t correlation,
	struct gt_chrome_arg to[GT_CHROME_ARGS_MAX]);
/* Writes ,"args":{...} of them. caller: JSON, the frame that launched it; NULL: unknown. */
void gt_chrome_gpu_put_args(struct gt_out *out, const struct gt_segment *seg,
	const struct gt_chrome_arg *args, unsigned n, const char *caller);
#endif
