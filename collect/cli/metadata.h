/* What a trace says about its own making, as JSON. */
#ifndef GT_METADATA_H
#define GT_METADATA_H
#include <stdbool.h>
#include "collect/recorder/recorder.h"
#include "formats/cmdline/opt.h"

struct gt_metadata_settings {
	char *const *argv; /* the program's, NULL-terminated */
	const char *events, *args, *range;
	const char *gpu_timing; /* NULL: GPU work was not asked for */
	bool gpu_untimed;       /* there is nothing to report about it */
	const struct gt_opt_list *filter, *exclude;
	uint64_t sample, ring_bytes;
	int64_t delay, duration;
	bool lossless, ticks;
};
/* Both: new, free it; NULL when memory is out. */
char *gt_metadata_begin(const struct gt_metadata_settings *s);
char *gt_metadata_end(const struct gt_recorder_totals *t, const struct gt_writer_stats *w,
	int status, int64_t duration, bool simulated);

/* The NVIDIA kernel driver's version, "580.159.04". False when none is loaded. */
bool gt_driver_version(char *to, size_t size);
#endif
