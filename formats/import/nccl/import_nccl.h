/* Collectives as rows, for files of tools that watch NCCL. Not an importer itself.
 *
 * A collective that ran on the GPU is a GT_GPU row, a kernel, on the track of a stream. Its name
 * begins with "nccl", and it has the arguments of kernels of NCCL in a recording, so that the
 * report "collectives" answers: communicator (or "Process Group Name", as in files of PyTorch's
 * profiler), message_bytes, and sequence, the number of the collective among those of its name in
 * its communicator. */
#ifndef GT_IMPORT_NCCL_H
#define GT_IMPORT_NCCL_H
#include "formats/import/import_rows.h"

enum gt_import_nccl_group {
	GT_IMPORT_NCCL_GPU, /* it ran on the GPU */
	GT_IMPORT_NCCL_HOST /* the host's side of it */
};
void gt_import_nccl_classify(const char *name, unsigned group, struct gt_type *type);
uint8_t gt_import_nccl_role(unsigned group, const char *key, unsigned kind);

/* The track of a stream without a known device; *known is the number of tracks that have their
 * name, 0 at first. name: is set when the track is new. The track's number, or negative. */
int64_t gt_import_nccl_stream(struct gt_import_rows *r, struct gt_writer *w, uint32_t *known,
	int64_t pid, int64_t stream, const char *name, struct gt_err *err);
/* Writes a GPU row with the current arguments, to which it adds the launch; NULL: it is unknown. 0
 * or negative. */
int gt_import_nccl_put(struct gt_import_rows *r, uint32_t track, uint32_t name, int64_t start,
	int64_t end, const struct gt_gpu_cause *launch, struct gt_err *err);
/* Writes an anchor: times count from 1970, and this is the earliest. 0 or negative. */
int gt_import_nccl_anchor(struct gt_writer *w, int64_t first, struct gt_err *err);
/* The text of this time as metadata, with a comma before it: ,"start_utc":"..."; "": out of range.
 */
void gt_import_nccl_start(int64_t first, char text[48]);
#endif
