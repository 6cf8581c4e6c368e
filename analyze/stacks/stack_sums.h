/* Calls and GPU operations by call stack, and these sums by line, function or module of the
 * program.
 *
 * A row counts once for its caller: the innermost Python frame, in threads without Python the
 * innermost function outside CUDA's libraries (gt_stack_caller). Besides, it counts once for each
 * line (function, module) that its stack contains: the inclusive figures. */
#ifndef GT_STACK_SUMS_H
#define GT_STACK_SUMS_H
#include "analyze/columns/column_cursor.h"
#include "analyze/stats/group_table.h"
#include "formats/names/stack_names.h"

struct gt_stack_figures {
	uint64_t count, failed;
	uint64_t total, largest; /* of durations in ns or of bytes; sums stay at UINT64_MAX */
	double squares;          /* sum of the squared durations; 0: not counted */
};
enum gt_stack_side { GT_STACK_CALLS, GT_STACK_GPU, GT_STACK_SIDES };
struct gt_stack_sum {
	/* stack: GT_NONE: the row has none. After GT_STACKS_MOST stacks, all further ones are one
	 * with both GT_NONE */
	uint32_t segment, stack;
	struct gt_stack_figures side[GT_STACK_SIDES];
};
#define GT_STACKS_MOST (1u << 18)

struct gt_stack_sums {
	struct gt_group_table groups; /* of struct gt_stack_sum */
};
void gt_stack_sums_init(struct gt_stack_sums *s);
/* Adds the rows of a code. 0 or negative. */
int gt_stack_sums_add(struct gt_stack_sums *s, const struct gt_cols *cols, uint32_t code,
	enum gt_stack_side side, struct gt_err *err);
/* Adds figures to one stack; stack: id in seg, or GT_NONE. 0 or negative. */
int gt_stack_sums_add_figures(struct gt_stack_sums *s, const struct gt_segment *seg, uint32_t stack,
	enum gt_stack_side side, const struct gt_stack_figures *f, struct gt_err *err);
int gt_stack_sums_merge(
	struct gt_stack_sums *into, const struct gt_stack_sums *from, struct gt_err *err);
void gt_stack_sums_release(struct gt_stack_sums *s);

/* The sums of all stacks with one caller. */
struct gt_caller_sum {
	size_t text; /* its name is at this offset of gt_caller_sums.text */
	struct gt_stack_figures self[GT_STACK_SIDES], inclusive[GT_STACK_SIDES];
	size_t last; /* private */
};
struct gt_caller_sums {
	struct gt_caller_sum *list; /* unsorted */
	size_t n, cap;
	struct gt_buf text; /* names, each with its NUL */
	/* private */
	struct gt_map map;
	struct gt_group_table by_frame;
};
/* by: enum gt_stack_by, or GT_STACK_WHOLE: each stack by itself. Zero-initialised; release it
 * either way. */
#define GT_STACK_WHOLE (GT_STACK_MODULE + 1u)
int gt_caller_sums_collect(struct gt_caller_sums *c, const struct gt_stack_sums *s,
	struct gt_reader *r, unsigned by, struct gt_err *err);
/* Adds figures to the row with this name, also to its inclusive ones; after collect. 0 or negative.
 */
int gt_caller_sums_add(struct gt_caller_sums *c, const char *name, enum gt_stack_side side,
	const struct gt_stack_figures *f, struct gt_err *err);
/* By total, then by inclusive total, the largest first, then by name. */
void gt_caller_sums_sort(struct gt_caller_sums *c, enum gt_stack_side side);
/* The same, but first by number. */
void gt_caller_sums_sort_by_count(struct gt_caller_sums *c, enum gt_stack_side side);
static inline const char *gt_caller_name(
	const struct gt_caller_sums *c, const struct gt_caller_sum *one)
{
	return (const char *)c->text.data + one->text;
}
void gt_caller_sums_release(struct gt_caller_sums *c);
#endif
