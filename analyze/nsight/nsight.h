/* Shared by the reports that have the names and columns of Nsight Systems, for users and
 * scripts that know those. Titles and their order are Nsight's; keys carry their unit, as
 * everywhere here. Times in text are in the unit that fits.
 *
 * nsight_sums.c: sums by name. nsight_exec.c: from call to kernel. nsight_traces.c: row by row.
 * nsight_nvtx.c: ranges and the work launched in them. Definitions are Nsight's too: Time (%) is a
 * share of the table's total, not of the elapsed time, and overlapping work counts several times.
 */
#ifndef GT_NSIGHT_H
#define GT_NSIGHT_H
#include "analyze/core/durations.h"
#include "analyze/gpu/gpu_time.h"
#include "analyze/stats/group_table.h"
#include "analyze/stats/name_interner.h"
#include "analyze/columns/column_cursor.h"
#include "formats/names/kernel_names.h"

#define GT_NSIGHT_GROUPS (1u << 16)   /* rows of a table; further ones share one row */
extern const char gt_nsight_family[]; /* heading in --list */

/* ---- names ---- */

/* Numbers of names; a number means the same text in all recordings. Kernels have a short and a
 * full form; the full one is as in C++, or as recorded under --names mangled. */
struct gt_nsight_names {
	struct gt_reader *reader;
	enum gt_name_form form;
	struct gt_name_interner ids;
	/* of the first nforms names; NULL: not computed yet */
	struct gt_nsight_forms {
		const char *brief;
		char *full;
	} * forms;
	size_t nforms, forms_cap;
	struct gt_kernel_names *kernels;
	uint32_t *first; /* by segment: number of its first type; the last element is the total */
};
int gt_nsight_names_init(
	struct gt_nsight_names *n, struct gt_reader *r, enum gt_name_form form, struct gt_err *err);
void gt_nsight_names_release(struct gt_nsight_names *n);
/* The number of a string, or of a type's name; GT_NONE with err filled in. A string that does
 * not exist is "?". */
uint32_t gt_nsight_name(struct gt_nsight_names *n, const struct gt_segment *seg, uint64_t string,
	struct gt_err *err);
uint32_t gt_nsight_type_name(
	struct gt_nsight_names *n, const struct gt_segment *seg, uint32_t type, struct gt_err *err);
/* The number of a type over all recordings. */
static inline uint32_t gt_nsight_slot(
	const struct gt_nsight_names *n, const struct gt_segment *seg, uint32_t type)
{
	return n->first[seg->index] + type;
}
static inline const char *gt_nsight_text(const struct gt_nsight_names *n, uint32_t name)
{
	return n->ids.list[name].text;
}
/* The short or full name of a kernel, borrowed. Without memory: the text as recorded. */
const char *gt_nsight_short_name(struct gt_nsight_names *n, uint32_t name);
const char *gt_nsight_full_name(struct gt_nsight_names *n, uint32_t name);
/* If --names asks for full names, text shows them instead of short ones. */
void gt_nsight_show_names(
	const struct gt_nsight_names *n, struct gt_table *t, const char *brief, const char *full);

/* Nsight's name of a copy or set. */
const char *gt_nsight_operation(enum gt_gpu_what what, uint64_t direction);
/* Calls of the driver or the runtime: Nsight's CUDA API. */
static inline bool gt_nsight_is_call(const struct gt_type *type)
{
	return type && (type->layer == GT_LAYER_API || type->layer == GT_LAYER_RUNTIME);
}
static inline bool gt_nsight_is_range(const struct gt_type *type)
{
	return type && type->layer == GT_LAYER_USER;
}

/* ---- cells and notes ---- */

#define GT_NSIGHT_SPREAD(key, title)                                                               \
	{ key "avg_ns", title "Avg", GT_C_NS }, { key "med_ns", title "Med", GT_C_NS },            \
		{ key "min_ns", title "Min", GT_C_NS }, { key "max_ns", title "Max", GT_C_NS },    \
	{                                                                                          \
		key "stddev_ns", title "StdDev", GT_C_NS                                           \
	}
#define GT_NSIGHT_TIMES(key, title)                                                                \
	{ "time_percent", "Time (%)", GT_C_PERCENT }, { "total_ns", "Total Time", GT_C_NS },       \
		{ key, title, GT_C_COUNT }, GT_NSIGHT_SPREAD("", "")
#define GT_NSIGHT_NSPREAD 5
#define GT_NSIGHT_NTIMES 8
void gt_nsight_spread_cells(const struct gt_durations *d, struct gt_cell cells[GT_NSIGHT_NSPREAD]);
void gt_nsight_time_cells(
	const struct gt_durations *d, int64_t share, struct gt_cell cells[GT_NSIGHT_NTIMES]);
#define GT_NSIGHT_TRIPLE 36
/* Writes "8 2 1" into text. */
const char *gt_nsight_put_triple(char text[GT_NSIGHT_TRIPLE], uint64_t x, uint64_t y, uint64_t z);
/* Finds the three consecutive fields of a grid or block. false: none. */
bool gt_nsight_three_fields(const struct gt_type *type, unsigned role, uint32_t *first);
#endif
