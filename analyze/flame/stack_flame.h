/* Flame graphs by call stack, for gtexport and gtview: host time, idle time of GPUs, kernel time,
 * and memory at the peak.
 *
 * Each kind is an analysis, so that both programs run it as they run reports. It sums values by
 * process, thread, stack and a last frame (the kernel, the reason of a wait). The result is one
 * table whose rows are the nodes of a tree, parents first; gt_stack_flame_run() makes a tree of
 * it. The values of a tree add up to the total of the report of the same name. */
#ifndef GT_STACK_FLAME_H
#define GT_STACK_FLAME_H
#include "analyze/core/report.h"
#include "analyze/stats/group_table.h"
#include "formats/export/stacks/stack_tree.h"

enum gt_stack_flame_kind {
	GT_STACK_FLAME_HOST,   /* ns: samples, and waits of threads */
	GT_STACK_FLAME_IDLE,   /* ns of idle GPUs, by what the launching thread did */
	GT_STACK_FLAME_KERNEL, /* ns of kernels, by the stack of the launch */
	GT_STACK_FLAME_MEMORY, /* bytes that are live at the peak of their process */
	GT_STACK_FLAMES
};
struct gt_stack_flame {
	const char *word; /* for users: host, idle, kernel, memory */
	bool bytes;       /* values are bytes; else ns */
	const struct gt_analysis *analysis;
};
extern const struct gt_stack_flame gt_stack_flames[GT_STACK_FLAMES];
/* Columns of the table. PARENT: the row of the parent, absent of the only root; LABEL: a text;
 * VALUE: without those of the children. */
enum gt_flame_columns { GT_FLAME_PARENT, GT_FLAME_LABEL, GT_FLAME_VALUE, GT_FLAME_COLUMNS };
/* Can the trace have values of this kind? If not, the table says why. */
bool gt_stack_flame_has(struct gt_reader *r, enum gt_stack_flame_kind kind);

/* Runs an analysis with a filter, and makes a tree of its result, with title and note. 0; -ENODATA:
 * there is no answer, err has the reason; or another error. Release the tree in all cases.
 * restrictions: as in gt_analysis_options. */
int gt_stack_flame_run(struct gt_stack_tree *to, enum gt_stack_flame_kind kind, struct gt_reader *r,
	const struct gt_filter *filter, const char *restrictions, struct gt_err *err);

/* ---- for the analyses ---- */

struct gt_flame_sum {
	/* the key. track: of a thread or process, GT_NONE: none; stack: id, GT_NONE: none; last:
	 * says what the last frame is, for gt_flame_sums.last_frame. Beyond GT_FLAME_SUMS sums all
	 * are one with GT_NONE everywhere. */
	uint32_t segment, track, stack, last;
	uint64_t total;
};
#define GT_FLAME_SUMS (1u << 18)
struct gt_flame_sums { /* the head of a state */
	struct gt_report_state report;
	struct gt_group_table list; /* of struct gt_flame_sum */
	/* The text of the last frame, or NULL: there is none. May write into `to`. If this is NULL,
	 * `last` is a type, whose short name is the last frame. */
	const char *(*last_frame)(uint32_t last, char to[64]);
};
void gt_flame_sums_init(
	struct gt_flame_sums *s, struct gt_reader *r, const struct gt_analysis_options *opt);
int gt_flame_sums_add(struct gt_flame_sums *s, const struct gt_flame_sum *key, uint64_t value,
	struct gt_err *err);
/* The table of the sums. title: of the graph; root: of the tree, which all frames are below. NULL:
 * err. */
struct gt_table *gt_flame_sums_table(
	struct gt_flame_sums *s, const char *title, const char *root, struct gt_err *err);
/* Likewise without rows, because of `why`. */
struct gt_table *gt_flame_unanswered(struct gt_flame_sums *s, const char *why, struct gt_err *err);
void gt_flame_sums_release(struct gt_flame_sums *s);

extern const struct gt_analysis gt_flame_host, gt_flame_idle, gt_flame_kernel, gt_flame_memory;
#endif
