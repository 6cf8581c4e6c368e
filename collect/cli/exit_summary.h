/* What gtcollect prints about a recording: the status line while it runs, and the last lines. */
#ifndef GT_EXIT_SUMMARY_H
#define GT_EXIT_SUMMARY_H
#include "collect/cli/child_process.h"
#include "collect/recorder/recorder.h"
#include "collect/source/source.h"

struct gt_recording {
	const char *path; /* of the trace */
	const char *program;
	const struct gt_child *child;
	const struct gt_recorder_totals *totals;
	const struct gt_writer_stats *stats;
	const struct gt_sources *sources;
	const struct gt_err *failure; /* why recording stopped early; code 0: it did not */
	int64_t start, stop;          /* ns; start: of the trace's times */
	int64_t from;                 /* ns: all programs are attached */
	int64_t stalled;              /* ns: when the output, a pipe, last became full */
	bool simulated, has_gates;    /* has_gates: it can record calls */
	bool had_no_ring;             /* some thread got no ring */
};
/* The status line of a terminal: shown at most every half second, if standard error takes text at
 * once. */
void gt_status_line_show(const struct gt_recording *r, int64_t now);
/* Is there anything in the file that gtanalyze reports on? */
bool gt_exit_has_events(const struct gt_recording *r);
/* The last lines: failure, losses, file, and reasons if the file is empty. */
void gt_exit_summary_print(const struct gt_recording *r);

/* How the program ended: "killed by SIGSEGV in cuLaunchKernel", "2 calls open at the end", or "".
 * `open`: calls that the recorder left open; `trace`: the closed file, which has their names, or
 * NULL. */
void gt_exit_describe(
	char *to, size_t size, const struct gt_child *l, uint64_t open, const char *trace);
#endif
