/* Reads the trace while gtcollect writes it: the rows that have come since the last time. A row is
 * complete in the file when its epoch has closed, about once a second. */
#ifndef GT_GROWING_TRACE_H
#define GT_GROWING_TRACE_H
#include "formats/export/exporters.h"

struct gt_growing_trace { /* zeroed, with `path`; release it with gt_growing_trace_close */
	const char *path;
	struct gt_reader *reader;
	uint32_t *blocks; /* the new ones, by their place in the index */
	size_t nblocks, cap;
	uint32_t seen; /* blocks before this one were passed on */
	bool last;     /* the file is complete: calls that are open are rows, too */
};
/* Passes the new rows to fn by time. Calls that are still open come at the end only. Returns
 * negative, or what fn returned, or 0. */
int gt_growing_trace_read(
	struct gt_growing_trace *g, bool last, gt_export_fn *fn, void *arg, struct gt_err *err);
void gt_growing_trace_close(struct gt_growing_trace *g);
#endif
