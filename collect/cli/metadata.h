/* Metadata about the recording, as JSON. */
#ifndef GT_METADATA_H
#define GT_METADATA_H
#include <stdbool.h>
#include "collect/recorder/recorder.h"

/* Something that was requested and that cannot be recorded here, and why: a line for the user, and
 * a text of the metadata that begin a trace. */
void gt_metadata_add_missing(const char *text);
/* Both: new, free it; NULL: no memory. argv: of the program, NULL-terminated; the rest is read
 * from the options and the session. gpu: GPU work was requested. start, stop: of the recording, ns
 * of CLOCK_MONOTONIC, as the times of rows. */
char *gt_metadata_begin(char *const *argv, const struct gt_session *s, bool gpu);
char *gt_metadata_end(const struct gt_recorder_totals *t, const struct gt_writer_stats *w,
	int status, int64_t start, int64_t stop, bool simulated);

/* The NVIDIA kernel driver's version, "580.159.04". False when none is loaded. */
bool gt_driver_version(char *to, size_t size);
#endif
