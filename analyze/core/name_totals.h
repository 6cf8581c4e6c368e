/* Sums of the aggregate by name. Several types share a name (different arguments or recordings),
 * and users think in names. A query has its own sums (query_groups.h): it groups by fields that
 * differ within a type, and the aggregate has sums per type only. */
#ifndef GT_NAME_TOTALS_H
#define GT_NAME_TOTALS_H
#include "analyze/core/analysis.h"
#include "analyze/stats/name_template.h"

struct gt_name_total {
	const char *text; /* borrowed from the reader, or of templates */
	uint32_t len;
	uint8_t category, layer;   /* names of different category or layer stay separate */
	uint32_t first;            /* its types: a chain in gt_name_totals.members */
	uint64_t total;            /* ns, of all its types */
	struct gt_string original; /* the name of its first type */
	bool several;              /* it stands for different names with numbers */
};
struct gt_name_totals {
	/* names with at least one duration; by total time, longest first, then by name */
	struct gt_name_total *list;
	size_t n, cap;
	struct gt_name_member {
		const struct gt_stat *stat;
		uint32_t next;
		bool repeats; /* a member before it has the same name, and so the same histogram */
	} * members;
	size_t nmembers, members_cap;
	struct gt_name_templates templates;
};
typedef bool gt_name_totals_want(const struct gt_type *type);

/* Ranges whose names differ by numbers. */
enum gt_numbered {
	GT_NUMBERED_SEPARATE,
	GT_NUMBERED_AS_ONE, /* with N for the numbers */
	GT_NUMBERED_ALWAYS  /* likewise, and a single one also has N */
};
int gt_name_totals_collect(struct gt_name_totals *names, const struct gt_aggregate *fold,
	gt_name_totals_want *want, enum gt_numbered numbered, struct gt_err *err);
/* All sums of one name, without the histogram. Computed on request: there may be very many
 * names, and few are shown. */
struct gt_stat gt_name_totals_sum(
	const struct gt_name_totals *names, const struct gt_name_total *name);
/* The histogram of one name over all its types. `into` must be empty; the caller releases it. */
int gt_name_totals_hist(const struct gt_name_totals *names, const struct gt_name_total *name,
	struct gt_hist *into, struct gt_err *err);
void gt_name_totals_release(struct gt_name_totals *names);

/* The columns of every list of operations, and the cells of one row. The share is of the total
 * of its side. */
#define GT_OPERATION_COLUMNS                                                                       \
	{ "count", "Calls", GT_C_COUNT }, { "failed", "Failed", GT_C_COUNT },                      \
		{ "total_ns", "Total", GT_C_NS }, { "mean_ns", "Mean", GT_C_NS },                  \
		{ "p50_ns", "p50", GT_C_NS }, { "p99_ns", "p99", GT_C_NS },                        \
		{ "max_ns", "Max", GT_C_NS },                                                      \
	{                                                                                          \
		"share_percent", "Share %", GT_C_PERCENT                                           \
	}
#define GT_OPERATION_CELLS 8
int gt_name_totals_cells(const struct gt_name_totals *names, const struct gt_name_total *name,
	int64_t share, struct gt_cell cells[GT_OPERATION_CELLS], struct gt_err *err);
/* Categories of time that overlap each other: a sum over two of them is not a time. */
enum gt_side {
	GT_SIDE_CALLS,
	GT_SIDE_GPU,
	GT_SIDE_WAITS /* for a GPU */,
	GT_SIDE_RANGES /* of the program */,
	GT_SIDE_RUNTIME /* calls of the CUDA runtime, which contain those of the driver */,
	GT_SIDE_OVERHEAD,
	GT_SIDES
};
enum gt_side gt_name_side(const struct gt_name_total *name);
/* Shares of each name in the total of its side, one per name. The caller frees the result. NULL:
 * no memory. */
int64_t *gt_name_totals_shares(const struct gt_name_totals *names, struct gt_err *err);
#endif
