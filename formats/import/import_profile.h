/* Rows of profilers, for their importers: functions as nested spans, and samples of threads.
 *
 * A function is a span of the layer user, as gtcollect --probe writes one; its arguments, if they
 * are known: file, line and column of its source, or domain, its library. A sample that stands for
 * a time is a row of formats/trace/write/sample_rows.h. A sample of another event (cycles, page
 * faults) has the name of the event and its count in place of the time. */
#ifndef GT_IMPORT_PROFILE_H
#define GT_IMPORT_PROFILE_H
#include "formats/import/import_rows.h"

enum gt_profile_group { /* of names (gt_rows_name) */
	GT_PROFILE_FUNCTION = 1,
	GT_PROFILE_SAMPLE,
	GT_PROFILE_MARK /* an instant */
};
#define GT_PROFILE_NO_WEIGHT UINT64_MAX

/* importer: as in gt_rows_config. new: gt_rows_free it. */
struct gt_import_rows *gt_profile_rows(
	const char *importer, struct gt_writer *w, struct gt_err *err);
/* Writes a sample at the time `at` (ns). event: its name, NULL: weight is a time in ns; otherwise
 * weight is a count or GT_PROFILE_NO_WEIGHT. stack: of the writer, or GT_NONE. 0 or negative. */
int gt_profile_sample(struct gt_import_rows *r, uint32_t track, int64_t at, const char *event,
	uint64_t weight, uint32_t stack, struct gt_err *err);
/* Writes a function with the current arguments of r; depth: functions around it. end: ns, or
 * INT64_MIN: it has none in the file. 0 or negative. */
int gt_profile_function(struct gt_import_rows *r, uint32_t track, uint32_t name, int64_t start,
	int64_t end, size_t depth, struct gt_err *err);
/* Gives a track a name, which replaces an earlier one. 0 or negative. */
int gt_profile_track_name(struct gt_import_rows *r, struct gt_writer *w, uint32_t track,
	const char *name, size_t len, struct gt_err *err);
#endif
