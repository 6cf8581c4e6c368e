/* Hits of probes that --pair joins to ranges. */
#ifndef GT_PROBE_PAIRS_H
#define GT_PROBE_PAIRS_H
#include <stdbool.h>
#include "collect/bpf/bpf_events.h"
#include "formats/base/map.h"

struct gt_bpf_way;
struct gt_probe_pairs { /* zeroed: empty */
	struct gt_map map;
	struct gt_probe_start *starts;
	size_t n, cap;
	uint64_t unpaired; /* hits that remain marks */
};
struct gt_bpf_known_probe;
/* Sets whether it starts or ends a pair. */
void gt_probe_pairs_set_roles(const struct gt_bpf_way *b, struct gt_bpf_known_probe *p);
/* True: the hit is stored, or is written as the end of a range. */
bool gt_probe_pairs_take(struct gt_bpf_way *b, const struct gt_bpf_probe *p);
/* The process ends: its stored hits are written as marks. */
void gt_probe_pairs_end(struct gt_bpf_way *b, uint32_t tgid);
/* The recording ends: stored hits are written as marks. */
void gt_probe_pairs_flush(struct gt_bpf_way *b);
void gt_probe_pairs_release(struct gt_probe_pairs *pairs);
#endif
