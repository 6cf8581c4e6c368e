/* Call stacks in a Chrome trace: the object stackFrames has each frame once, as a tree that ends in
 * its outermost frames, and an event has the number of its innermost frame as "sf".
 * chrome://tracing shows the stack of a selected event from these. Perfetto ignores them, so the
 * arguments have the frame that the stack counts for (gt_stack_caller), too. */
#ifndef GT_CHROME_STACKS_H
#define GT_CHROME_STACKS_H
#include "formats/io/stream_out.h"
#include "formats/trace/read/reader.h"

struct gt_chrome_stacks;
/* new: of all stacks of the trace; the reader is borrowed. Stacks beyond a million frames have no
 * numbers. NULL: no memory. */
struct gt_chrome_stacks *gt_chrome_stacks_new(struct gt_reader *r);
/* The number of the stack's innermost frame. 0: it has none. */
uint32_t gt_chrome_stacks_frame(
	const struct gt_chrome_stacks *s, const struct gt_segment *seg, uint64_t stack);
/* The name of the frame that it counts for, as JSON; borrowed. NULL: it has none, or no memory. */
const char *gt_chrome_stacks_caller(
	struct gt_chrome_stacks *s, const struct gt_segment *seg, uint64_t stack);
/* Writes ,"stackFrames":{...}, or nothing if there are no frames. */
void gt_chrome_stacks_put(struct gt_chrome_stacks *s, struct gt_out *out);
void gt_chrome_stacks_free(struct gt_chrome_stacks *s); /* NULL is fine */
#endif
