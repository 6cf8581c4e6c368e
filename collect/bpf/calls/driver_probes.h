/* Probes at the functions of libraries that processes have mapped. */
#ifndef GT_DRIVER_PROBES_H
#define GT_DRIVER_PROBES_H
#include "collect/bpf/bpf_state.h"

/* Sets the probes in an open library, and counts them. 0 or negative. */
int gt_bpf_link_functions(struct gt_bpf_way *b, const struct gt_linked_file *which, int fd,
	const char *name, const struct gt_probe_places *p, struct gt_err *err);
#endif
