/* What gtexport does with its operands: opens traces, selects rows, runs an exporter, and prints
 * what is missing in the output. */
#ifndef GT_EXPORT_TRACE_H
#define GT_EXPORT_TRACE_H
#include "formats/cmdline/opt.h"
#include "formats/export/exporters.h"

#define GT_EXPORT_TOOL "gtexport"
#define GT_EXPORTERS_MAX 32
#define GT_EXPORT_NO_TIME INT64_MIN  /* not given: --from, --to */
#define GT_EXPORT_NO_SIZE UINT64_MAX /* not given: --max-size */

/* The command line. */
struct gt_export_args {
	bool exporter[GT_EXPORTERS_MAX], force, no_progress;
	const char *output, *baseline;
	int64_t from, to;  /* ns, or GT_EXPORT_NO_TIME */
	uint64_t pid, tid; /* 0: any */
	uint64_t max_size; /* bytes, or GT_EXPORT_NO_SIZE */
	struct gt_opt_list match, exclude, symbols, tables;
	uint64_t table_bits; /* those of tables; 0: all */
	int cost;            /* enum gt_cost, or -1 */
	int stacks;          /* 0: calls; 1 + enum gt_stack_flame_kind; or -1 */
};

/* The length of a path of len bytes without the endings of files that are read (.json.gz). */
size_t gt_export_stem(const char *path, size_t len);
/* Exports one trace, or several as the ranks of one run into one tar archive. Prints messages, and
 * returns the exit status. */
int gt_export_trace(const struct gt_export_args *a, const struct gt_exporter *x, const char *trace,
	const char *output);
int gt_export_ranks(const struct gt_export_args *a, const struct gt_exporter *x,
	char *const *traces, size_t n, const char *output);
#endif
