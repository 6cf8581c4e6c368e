/* Exports a range of the trace to a file in a child process (subprocess.h). The file gets its name
 * only when it is complete (atomic_file.h), so the export can be stopped at any moment and leaves
 * no partial file.
 */
#ifndef GT_EXPORT_JOB_H
#define GT_EXPORT_JOB_H
#include "formats/export/exporters.h"
#include "viewer/view/scene.h"

#define GT_EXPORT_FILE 1000
struct gt_export_request {
	const struct gt_exporter *as;
	char file[GT_EXPORT_FILE];
	bool replace;          /* replace an existing file */
	struct gt_range range; /* viewer's time; INT64_MIN, INT64_MAX: everything */
};
struct gt_export_job;
/* new: free it. NULL: err has the reason. The scene is not used after this call. */
struct gt_export_job *gt_export_job_new(
	struct gt_scene *s, const struct gt_export_request *what, struct gt_err *err);
/* Stops it if it is running; NULL is fine. */
void gt_export_job_free(struct gt_export_job *e);
/* Waits for its end for at most `us` µs (0: until the end). 1: it is running; 0: it has ended, and
 * `result` receives one line for the user. */
int gt_export_job_step(struct gt_export_job *e, uint64_t us, char *result, size_t room);
unsigned gt_export_job_percent(const struct gt_export_job *e);
#endif
