/* From a row of a report to the timeline: the time that it tells, or the first event in sight of
 * what it names. */
#ifndef GT_REPORT_JUMP_H
#define GT_REPORT_JUMP_H
#include "viewer/search/event_search.h"
#include "viewer/view/report_job.h"
#include "viewer/view/scene.h"

/* The time of a row, the viewer's, if its table has any. */
bool gt_row_time(const struct gt_scene *s, const struct gt_report_result *of,
	const struct gt_table *t, uint32_t row, struct gt_range *to);
/* The first row of the other tables that has this row's first words and a time: of a cause of gaps
 * its longest one. */
bool gt_row_like(const struct gt_scene *s, const struct gt_report_result *of,
	const struct gt_table **t, uint32_t *row);
/* The track that a row tells of: a stream or a GPU, or else a thread or a process. false: it tells
 * of none. */
bool gt_row_track(const struct gt_scene *s, const struct gt_table *t, uint32_t row,
	uint32_t *segment, uint32_t *track);
/* The shortest gap of a GPU that is around the middle of what is seen, the viewer's time. 1, 0:
 * none is known, negative. */
int gt_gap_around(const struct gt_scene *s, struct gt_range *to, struct gt_err *err);
/* What it names: new, free it; or NULL. */
char *gt_row_name(const struct gt_table *t, uint32_t row);

struct gt_report_jump; /* a search for the first event of a name */
/* The name as recorded, or as reports have that of a kernel. NULL with err filled in. new: free it.
 */
struct gt_report_jump *gt_report_jump_new(struct gt_scene *s, const char *name, struct gt_err *err);
/* NULL is fine */
void gt_report_jump_free(struct gt_report_jump *j);
/* as of a hunt */
int gt_report_jump_step(struct gt_report_jump *j, uint64_t us, struct gt_err *err);
unsigned gt_report_jump_percent(const struct gt_report_jump *j);
/* when it is over */
bool gt_report_jump_found(const struct gt_report_jump *j, struct gt_event_ref *to);
#endif
