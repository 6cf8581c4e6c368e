/* Which process a track belongs to, for reports that keep something per process. Slots are dense over all segments; the
 * first of each segment is for tracks that belong to no process. */
#ifndef GT_PLACES_H
#define GT_PLACES_H
#include "formats/trace/read/reader.h"

struct gt_place { const struct gt_segment *seg; uint32_t track; /* the process, or GT_NONE */ };
struct gt_places {
	uint32_t **slots;	/* [segment][track] */
	uint32_t nsegs;
	struct gt_place *places;
	size_t n, cap;
};

int gt_places_init(struct gt_places *p, struct gt_reader *r, struct gt_err *err);
void gt_places_release(struct gt_places *p);
/* Any track id, GT_NONE too. */
static inline uint32_t gt_places_slot(const struct gt_places *p, const struct gt_segment *seg, uint32_t track)
{
	return track < seg->ntracks ? p->slots[seg->index][track] : seg->index;
}
#endif
