/* Other tools' files out. One exporter is one file, export_<tool>.c, ending in its descriptor, and one row in exporters.c. */
#ifndef GT_EXPORTERS_H
#define GT_EXPORTERS_H
#include "formats/base/err.h"
#include "formats/out.h"
#include "formats/reader.h"

struct gt_export_options {
	struct gt_filter filter;
	enum gt_cost { GT_COST_TIME, GT_COST_COUNT, GT_COST_BYTES } cost;	/* folded */
};
struct gt_exporter {
	const char *name;	/* the option: --NAME */
	const char *suffix;	/* default file name: TRACE.SUFFIX */
	const char *help;
	int (*export)(struct gt_reader *r, const struct gt_export_options *opt, struct gt_out *out, struct gt_err *err);
};
extern const struct gt_exporter *const gt_exporters[];	/* NULL-terminated */
#endif
