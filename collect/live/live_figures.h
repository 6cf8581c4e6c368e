/* Figures of a part of a recording, for --live: the functions called most, how busy GPUs are, how
 * long threads wait, losses. */
#ifndef GT_LIVE_FIGURES_H
#define GT_LIVE_FIGURES_H
#include <stdio.h>
#include "formats/base/map.h"
#include "formats/export/exporters.h"

#define GT_LIVE_GPUS 16u

struct gt_live_function {
	uint64_t type;    /* the key */
	const char *name; /* set while it is printed */
	uint64_t count, ns;
};
struct gt_live_figures { /* zeroed: ready; release it */
	struct gt_map map;
	struct gt_live_function *functions;
	size_t n, cap;
	uint64_t calls, ioctls, ioctl_ns, sync_ns, off_cpu_ns, lost, failed;
	bool has_scheduling; /* rows of it have been seen at any time */
	struct gt_live_gpu {
		int64_t id, until; /* until: ns, it is busy to there as far as known */
		uint64_t busy;     /* ns */
	} gpus[GT_LIVE_GPUS];
	unsigned ngpus;
	int64_t from, to; /* ns: of the part; to: set while it is printed */
};
/* Rows come by start. True: the figures have changed. */
bool gt_live_figures_add(struct gt_live_figures *f, const struct gt_event *ev);
/* The part up to which the trace is complete. seg: of the rows. terminal: replaces the screen; else
 * one line. start: ns, of the recording. False: the trace is not complete to a time behind
 * the part's begin, so that there are no rates; nothing is printed. */
bool gt_live_figures_print(struct gt_live_figures *f, const struct gt_segment *seg, FILE *to,
	bool terminal, unsigned top, int64_t start);
/* Starts the next part; work that GPUs still do, and losses, remain. */
void gt_live_figures_next(struct gt_live_figures *f);
void gt_live_figures_release(struct gt_live_figures *f);
#endif
