/* What the reports share that go by the names of Nsight Systems' and have their columns: for people and scripts that know
 * those. Titles and their order are Nsight's; keys carry their unit, as everywhere here. Times in text are in the unit that
 * fits.
 *
 * nsight_sums.c: sums by name. nsight_exec.c: from call to kernel. nsight_traces.c: row by row. nsight_nvtx.c: ranges and the
 * work launched in them. Their definitions are Nsight's too, also where this program's own reports have better ones: a Time
 * (%) is of the total of the table and not of the time that passed, and overlapping work counts as often as it overlaps. */
#ifndef GT_NSIGHT_H
#define GT_NSIGHT_H
#include "analyze/core/durations.h"
#include "analyze/gpu/gpu_time.h"
#include "analyze/stats/group_table.h"
#include "analyze/stats/name_interner.h"
#include "analyze/columns/column_cursor.h"
#include "formats/names/demangle.h"

#define GT_NSIGHT_GROUPS (1u << 16)	/* of a table; what is beyond is one row */
extern const char gt_nsight_family[];	/* what --list puts them under */

/* ---- names ---- */

/* Names of all recordings, each once: they have numbers, which mean the same text in any of them. Kernels have a short form, and a
 * whole one: as C++ spells it, or as it was recorded under --names mangled. */
struct gt_nsight_names {
	struct gt_reader *reader;
	enum gt_name_form form;
	struct gt_name_interner ids;
	struct gt_nsight_forms { const char *brief; char *full; } *forms;	/* of the first nforms names; NULL: not asked for yet */
	size_t nforms, forms_cap;
	struct gt_kernel_names *kernels;
	uint32_t *first;		/* by segment: the slot of its first type; one more at the end: how many there are */
};
int gt_nsight_names_init(struct gt_nsight_names *n, struct gt_reader *r, enum gt_name_form form, struct gt_err *err);
void gt_nsight_names_release(struct gt_nsight_names *n);
/* The number of a string, or of a type's name; GT_NONE with err filled in. A string that there is not is "?". */
uint32_t gt_nsight_name(struct gt_nsight_names *n, const struct gt_segment *seg, uint64_t string, struct gt_err *err);
uint32_t gt_nsight_type_name(struct gt_nsight_names *n, const struct gt_segment *seg, uint32_t type, struct gt_err *err);
/* A number for each type, over all recordings. */
static inline uint32_t gt_nsight_slot(const struct gt_nsight_names *n, const struct gt_segment *seg, uint32_t type)
{
	return n->first[seg->index] + type;
}
static inline const char *gt_nsight_text(const struct gt_nsight_names *n, uint32_t name) { return n->ids.list[name].text; }
/* Of a kernel, borrowed; the text where memory is out. */
const char *gt_nsight_brief(struct gt_nsight_names *n, uint32_t name);
const char *gt_nsight_full(struct gt_nsight_names *n, uint32_t name);
/* Text shows the whole names, in the place of the short ones, if --names asks for such. */
void gt_nsight_show_names(const struct gt_nsight_names *n, struct gt_table *t, const char *brief, const char *full);

/* Nsight's word for a copy or set. */
const char *gt_nsight_operation(enum gt_gpu_what what, uint64_t direction);
/* Calls of the driver or of the runtime around it: what Nsight has for CUDA API. */
static inline bool gt_nsight_is_call(const struct gt_type *type)
{
	return type && (type->layer == GT_LAYER_API || type->layer == GT_LAYER_RUNTIME);
}
static inline bool gt_nsight_is_range(const struct gt_type *type) { return type && type->layer == GT_LAYER_USER; }

/* ---- cells and notes ---- */

#define GT_NSIGHT_SPREAD(key, title) \
	{ key "avg_ns", title "Avg", GT_C_NS }, { key "med_ns", title "Med", GT_C_NS }, { key "min_ns", title "Min", GT_C_NS }, \
	{ key "max_ns", title "Max", GT_C_NS }, { key "stddev_ns", title "StdDev", GT_C_NS }
#define GT_NSIGHT_TIMES(key, title) \
	{ "time_percent", "Time (%)", GT_C_PERCENT }, { "total_ns", "Total Time", GT_C_NS }, { key, title, GT_C_COUNT }, \
	GT_NSIGHT_SPREAD("", "")
#define GT_NSIGHT_NSPREAD 5
#define GT_NSIGHT_NTIMES 8
void gt_nsight_spread(const struct gt_durations *d, struct gt_cell cells[GT_NSIGHT_NSPREAD]);
void gt_nsight_times(const struct gt_durations *d, int64_t share, struct gt_cell cells[GT_NSIGHT_NTIMES]);
#define GT_NSIGHT_THREE 36
/* "8 2 1", into text. */
const char *gt_nsight_three(char text[GT_NSIGHT_THREE], uint64_t x, uint64_t y, uint64_t z);
/* The fields of a role that come as three, grid or block. false: it has none. */
bool gt_nsight_three_fields(const struct gt_type *type, unsigned role, uint32_t *first);
#endif
