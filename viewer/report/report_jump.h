/* From a row of a report to the timeline: to its time, or to the first visible event of its name.
 */
#ifndef GT_REPORT_JUMP_H
#define GT_REPORT_JUMP_H
#include "viewer/search/event_search.h"
#include "viewer/view/report_job.h"
#include "viewer/view/scene.h"

/* The time of a row, viewer's time, if its table has one. */
bool gt_row_time(const struct gt_scene *s, const struct gt_report_result *of,
	const struct gt_table *t, uint32_t row, struct gt_range *to);
/* The first row of the other tables with the same first text and a time: for a cause of gaps, its
 * longest gap. */
bool gt_row_find_similar(const struct gt_scene *s, const struct gt_report_result *of,
	const struct gt_table **t, uint32_t *row);
/* The track of a row: a stream or GPU, else a thread or process. false: none. */
bool gt_row_track(const struct gt_scene *s, const struct gt_table *t, uint32_t row,
	uint32_t *segment, uint32_t *track);
/* The shortest gap of a GPU around the middle of the visible range, viewer's time. 1, 0: none
 * found, negative. */
int gt_gap_around(const struct gt_scene *s, struct gt_range *to, struct gt_err *err);
/* The name of a row's operation: new, free it; or NULL. */
char *gt_row_name(const struct gt_table *t, uint32_t row);

struct gt_report_jump { /* a search for the first event of a name */
	struct gt_event_search *search;
	struct gt_kernel_names *names;
	char *name;
};
/* name: as recorded, or as reports show it for a kernel. NULL: err has the reason. new: free it. */
struct gt_report_jump *gt_report_jump_new(struct gt_scene *s, const char *name, struct gt_err *err);
/* NULL is fine */
void gt_report_jump_free(struct gt_report_jump *j);
#endif
