/* What the rows of a type have in common in a Chrome trace: its text as JSON, which is prepared at
 * the first row, and how its rows are written. For chrome_slices.c. */
#ifndef GT_CHROME_TYPES_H
#define GT_CHROME_TYPES_H
#include "formats/export/chrome/chrome_slices.h"

#define GT_CHROME_PHASE ",\"ph\":\"X\",\"pid\":" /* between the category and the process */

struct gt_chrome_text {
	char *s;
	uint32_t len;
};
struct gt_chrome_type {
	/* ,\n{"name":"..","cat":"..","ph":"X","pid": or, if rows have their own category,
	 * ,\n{"name":"..","cat": */
	struct gt_chrome_text head;
	struct gt_chrome_text *fields; /* ,"name": */
	/* its rows are GPU work that names the launching call */
	bool gpu;
	/* its rows may have launched GPU work, as calls or as spans that partly overlap others */
	bool launches;
	bool call, range;
	/* its rows may need more than the text of the type, a lane and arguments */
	bool special;
	/* fields, or GT_NONE: the category of a range that Kineto recorded, the correlation id */
	uint32_t category, correlation;
	uint32_t stack; /* field, or GT_NONE */
	uint32_t name;
};
struct gt_chrome_segment {
	struct gt_chrome_type *types;
	struct gt_chrome_text *kernels; /* by string id: the short form as JSON */
};

/* The short name of a kernel, by its string id, as JSON; borrowed. NULL: no memory. */
const struct gt_chrome_text *gt_chrome_kernel(
	struct gt_chrome_slices *c, const struct gt_segment *seg, uint32_t string);
void gt_chrome_segment_release(struct gt_chrome_segment *s, const struct gt_segment *seg);
#endif
