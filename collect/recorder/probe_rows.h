/* Writes hits of probes (USDT probes, functions, tracepoints of the kernel) as rows. They look as
 * NVTX's annotations do (nvtx_ranges.h): category user, the probe's name as the name of the type,
 * and a field `domain` with the provider or library; functions of the kernel (domain kernel) have
 * the category kernel. A point in time is a GT_INSTANT row, a call or a pair of probes a GT_SPAN
 * row. The values are the fields arg0, arg1, ..., of the end of a pair end_arg0, ..., and return.
 */
#ifndef GT_PROBE_ROWS_H
#define GT_PROBE_ROWS_H
#include "collect/ipc/ring_events.h"
#include "formats/base/map.h"
#include "formats/trace/write/writer.h"

/* Of one recorder. Zero-initialised but for w is empty. */
struct gt_probe_rows {
	struct gt_writer *w;
	struct gt_map map;
	struct gt_probe_type *types;
	size_t n, cap;
	uint64_t nameless; /* hits lost because there are too many names */
};

/* False: the event is damaged. words: of its body. */
bool gt_probe_is_valid(const struct gt_ev_probe *e, unsigned words);
/* A hit on the track of its thread. name, domain and the values that are texts: string ids. 0 or
 * negative. */
int gt_probe_rows_put(struct gt_probe_rows *p, uint32_t track, int64_t start, int64_t end,
	const struct gt_ev_probe *e, struct gt_err *err);
void gt_probe_rows_release(struct gt_probe_rows *p);
#endif
