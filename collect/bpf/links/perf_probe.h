/* Probes as perf events, one for each place: at functions of programs before Linux 6.6, at those of
 * the kernel before 5.18, and at tracepoints. */
#ifndef GT_PERF_PROBE_H
#define GT_PERF_PROBE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "collect/bpf/links/cookie_wrapper.h"

struct gt_perf_probe {
	int type;         /* gt_perf_type() of "uprobe" or "kprobe" */
	const char *name; /* the file, or the function of the kernel */
	uint64_t offset;  /* in the file */
	uint64_t counter; /* offset of a counter that is incremented meanwhile, or 0 */
	pid_t pid;        /* 0: in all processes */
	bool at_return;
};
/* The kernel's number of a kind of perf events. Negative: it has none. */
int gt_perf_type(const char *kind);
/* new: close it. A perf event; or negative. */
int gt_perf_probe_open(const struct gt_perf_probe *p);
/* May the calling thread set them at functions of programs? Linux 6.16 and the stable kernels since
 * July 2025 (5.10, 5.15, 6.1 and others) permit that to CAP_SYS_ADMIN only, older ones to
 * CAP_PERFMON. */
bool gt_perf_uprobes_are_allowed(void);
/* Attaches a program to a perf event, which it consumes. Returns a descriptor that ends both when
 * it is closed; or negative, also if `event` is. */
int gt_perf_link(struct gt_cookie_wrappers *w, const struct bpf_program *program, int event,
	uint64_t cookie);
#endif
