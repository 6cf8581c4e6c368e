/* Functions of the kernel (gtcollect -e driver, --kprobe) under the requests that called them: a
 * part of the report driver. */
#ifndef GT_DRIVER_FUNCTIONS_H
#define GT_DRIVER_FUNCTIONS_H
#include "analyze/core/report.h"
#include "analyze/stats/group_table.h"

/* A request, or a function called in it: nodes of a tree. */
struct gt_driver_functions {
	struct gt_group_table nodes;
};
/* The open requests and functions of one thread, outermost first. Zero-initialised: none. */
struct gt_driver_stack {
	struct gt_driver_frame *list;
	size_t n, cap;
};
struct gt_driver_row {
	int64_t start, end;
	uint64_t ns;   /* of it, in the selected range */
	uint32_t type; /* numbered over all segments */
	bool is_function;
};

/* Is it the type of calls of a function of the kernel? */
bool gt_is_kernel_function(const struct gt_type *type);

void gt_driver_functions_init(struct gt_driver_functions *f);
/* Rows of a thread come in order of their start. 0 or -ENOMEM. */
int gt_driver_functions_add(struct gt_driver_functions *f, struct gt_driver_stack *s,
	const struct gt_driver_row *row, struct gt_err *err);
/* No more rows of this thread. */
void gt_driver_functions_end(struct gt_driver_functions *f, struct gt_driver_stack *s);
/* The table; NULL with err->code 0: no function was recorded. name: of a type. */
struct gt_table *gt_driver_functions_table(const struct gt_driver_functions *f,
	const struct gt_report_state *report, const char *(*name)(void *arg, uint32_t type),
	void *arg, struct gt_err *err);
void gt_driver_functions_release(struct gt_driver_functions *f);
#endif
