/* Numbers processes, for reports that keep data per process. Slots are dense over all segments.
 * The first slot of each segment is for tracks that belong to no process. */
#ifndef GT_PROCESS_SLOTS_H
#define GT_PROCESS_SLOTS_H
#include "formats/trace/read/reader.h"

struct gt_process_slot {
	const struct gt_segment *seg;
	uint32_t track; /* track of the process, or GT_NONE */
};
struct gt_process_slots {
	uint32_t **slots; /* [segment][track] */
	uint32_t nsegs;
	struct gt_process_slot *list;
	size_t n, cap;
};

int gt_process_slots_init(struct gt_process_slots *p, struct gt_reader *r, struct gt_err *err);
void gt_process_slots_release(struct gt_process_slots *p);
/* The slot of any track id, also of GT_NONE. */
static inline uint32_t gt_process_slot_of(
	const struct gt_process_slots *p, const struct gt_segment *seg, uint32_t track)
{
	return track < seg->ntracks ? p->slots[seg->index][track] : seg->index;
}
#endif
