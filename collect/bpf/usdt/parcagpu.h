/* The probes of parcagpu, a library that times kernels by CUPTI in programs, and of gtcollect's own
 * library, which has the same: their hits become rows of GPU work, as CUPTI's records do. */
#ifndef GT_PARCAGPU_H
#define GT_PARCAGPU_H
#include <stdbool.h>
#include "collect/bpf/bpf_events.h"

struct gt_bpf_way;
enum gt_parcagpu {
	GT_PARCAGPU_NONE,
	/* start, end, correlation, device, stream, graph, node, name; of the first version: start,
	 * end, correlation | device << 32, stream, name */
	GT_PARCAGPU_KERNEL,
	/* correlation, number of CUPTI's callback (negative: of the driver's API), name */
	GT_PARCAGPU_CALL,
	GT_PARCAGPU_OTHER
};
enum gt_parcagpu gt_parcagpu_probe(const char *provider, const char *name);
/* The last argument is a text: a name may be longer than texts that are only detected. */
void gt_parcagpu_set_text(struct gt_bpf_probe_fields *f);
/* True: it was one of the first two, and is written. False also if the session has no rows of GPU
 * work. */
bool gt_parcagpu_take(struct gt_bpf_way *b, const struct gt_bpf_probe *p);
#endif
