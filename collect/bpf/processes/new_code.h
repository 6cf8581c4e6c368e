/* How the recording learns of processes that start and of code that they map. */
#ifndef GT_NEW_CODE_H
#define GT_NEW_CODE_H
#include "collect/bpf/bpf_state.h"

/* loader_probes.c: the loader's call is enough to learn what the processes map later. */
bool gt_loader_is_enough(const struct gt_bpf_way *b);
/* Sets the probe in the loader of the process. 0 or negative. */
int gt_loader_watch(struct gt_bpf_way *b, pid_t pid);
/* process_events.c: the ring of events. 0 or negative. */
int gt_bpf_events_open(struct gt_bpf_way *b, struct gt_err *err);
#endif
