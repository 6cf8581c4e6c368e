/* Probes in the kernel: functions (--kprobe, -e driver, -e fault) and tracepoints (--tracepoint).
 * What this kernel refuses is missing in the recording, which goes on. */
#ifndef GT_KERNEL_PROBES_H
#define GT_KERNEL_PROBES_H
#include <stdbool.h>
#include "collect/bpf/bpf_events.h"
#include "formats/base/err.h"

struct gt_bpf_way;
struct gt_kernel_probes;

/* new: close it. Selects functions and tracepoints by the options of the way. NULL: err; -ENOENT:
 * one that the user named does not exist. */
struct gt_kernel_probes *gt_kernel_probes_open(struct gt_bpf_way *b, struct gt_err *err);
/* Which programs does it need? Before they are loaded. */
bool gt_kernel_probes_have_functions(const struct gt_kernel_probes *k);
bool gt_kernel_probes_have_tracepoints(const struct gt_kernel_probes *k);
/* Are functions linked all at once? Programs are loaded for one of two kinds of links. */
bool gt_kernel_probes_use_multi(const struct gt_kernel_probes *k);
/* After the programs are loaded. 0 or negative. */
int gt_kernel_probes_attach(struct gt_kernel_probes *k, struct gt_err *err);
void gt_kernel_probes_write(struct gt_kernel_probes *k, const struct gt_bpf_tracepoint *hit);
/* NULL is fine for both. */
void gt_kernel_probes_detach(struct gt_kernel_probes *k);
void gt_kernel_probes_close(struct gt_kernel_probes *k);
#endif
