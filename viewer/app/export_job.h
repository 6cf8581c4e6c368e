/* A range of the trace written as another file, in the background: by a process of its own
 * (worker.h), into a file that has its name only when all of it is there (unfinished.h). So it can
 * be stopped at any moment, and nothing is left of what was not finished. */
#ifndef GT_EXPORT_JOB_H
#define GT_EXPORT_JOB_H
#include "formats/export/exporters.h"
#include "viewer/view/scene.h"

#define GT_EXPORT_FILE 1000
struct gt_export_request {
	const struct gt_exporter *as;
	char file[GT_EXPORT_FILE];
	bool replace;          /* what is there */
	struct gt_range range; /* the viewer's time; INT64_MIN, INT64_MAX: all */
};
struct gt_export_job;
/* new: free it. NULL: why not in err. Nothing of the scene is needed afterwards. */
struct gt_export_job *gt_export_job_new(
	struct gt_scene *s, const struct gt_export_request *what, struct gt_err *err);
/* stops it, if it is not over; NULL is fine */
void gt_export_job_free(struct gt_export_job *e);
/* Waits for its end, for some us at most (0: until then). 1: it goes on; 0: it is over, and `said`
 * tells what came of it. */
int gt_export_job_step(struct gt_export_job *e, uint64_t us, char *said, size_t room);
unsigned gt_export_job_percent(const struct gt_export_job *e);
#endif
