/* Lines of tools that have probes in CUDA programs: shared by the importers of parcagpu's and
 * bpftime's output. Not an importer itself. */
#ifndef GT_IMPORT_GPU_PROBES_H
#define GT_IMPORT_GPU_PROBES_H
#include "formats/import/import_rows.h"

enum gt_probe_group {
	GT_PROBE_KERNEL, /* GPU work */
	GT_PROBE_GRAPH,  /* a whole graph */
	GT_PROBE_MOMENT, /* of a thread of the GPU */
	GT_PROBE_COUNTER
};
void gt_probe_classify(const char *name, unsigned group, struct gt_type *type);
uint8_t gt_probe_role(unsigned group, const char *key, unsigned kind);

/* The track of a GPU whose number, stream and process are unknown, or of a stream. Both return a
 * number, or negative. */
int64_t gt_probe_gpu(struct gt_import_rows *r, struct gt_err *err);
int64_t gt_probe_stream(
	struct gt_import_rows *r, int64_t pid, int64_t device, int64_t stream, struct gt_err *err);
/* Writes GPU work with the current arguments, without a launch. 0 or negative. */
int gt_probe_work(struct gt_import_rows *r, enum gt_probe_group group, uint32_t track,
	const char *name, int64_t start, int64_t end, struct gt_err *err);
#endif
