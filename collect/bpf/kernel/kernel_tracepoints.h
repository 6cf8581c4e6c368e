/* Tracepoints of the kernel that the user names. */
#ifndef GT_KERNEL_TRACEPOINTS_H
#define GT_KERNEL_TRACEPOINTS_H
#include <stddef.h>
#include "collect/bpf/bpf_events.h"
#include "formats/base/err.h"

struct gt_bpf_way;
struct gt_kernel_tracepoints;

/* new: close it. Reads their formats. NULL: err; -ENOENT: there is no such tracepoint. */
struct gt_kernel_tracepoints *gt_kernel_tracepoints_open(struct gt_bpf_way *b, struct gt_err *err);
size_t gt_kernel_tracepoints_count(const struct gt_kernel_tracepoints *k);
int gt_kernel_tracepoints_attach(struct gt_kernel_tracepoints *k, struct gt_err *err);
void gt_kernel_tracepoints_write(
	struct gt_kernel_tracepoints *k, const struct gt_bpf_tracepoint *hit);
/* NULL is fine for both. */
void gt_kernel_tracepoints_detach(struct gt_kernel_tracepoints *k);
void gt_kernel_tracepoints_close(struct gt_kernel_tracepoints *k);
#endif
