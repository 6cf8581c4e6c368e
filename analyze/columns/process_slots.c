#include "analyze/columns/process_slots.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

static int add(struct gt_process_slots *p, const struct gt_segment *seg, uint32_t track)
{
	if (gt_grow(&p->list, &p->cap, p->n + 1, sizeof(*p->list)))
		return -ENOMEM;
	p->list[p->n++] = (struct gt_process_slot){ seg, track };
	return 0;
}

/* A parent comes before its children, so one pass finds the process of every track at any depth. */
static int place_tracks(struct gt_process_slots *p, const struct gt_segment *seg)
{
	uint32_t *slot = p->slots[seg->index] = calloc(seg->ntracks + 1ul, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	for (uint32_t t = 0; t < seg->ntracks; t++) {
		const struct gt_track *track = &seg->tracks[t];

		slot[t] = track->parent < t ? slot[track->parent] : seg->index;
		if (track->kind != GT_TRACK_PROCESS)
			continue;
		slot[t] = (uint32_t)p->n;
		if (add(p, seg, t))
			return -ENOMEM;
	}
	return 0;
}

int gt_process_slots_init(struct gt_process_slots *p, struct gt_reader *r, struct gt_err *err)
{
	int rc = 0;

	p->nsegs = gt_reader_segments(r);
	p->slots = calloc(p->nsegs + 1ul, sizeof(*p->slots));
	if (!p->slots)
		rc = -ENOMEM;
	for (uint32_t i = 0; !rc && i < p->nsegs; i++)
		rc = add(p, gt_reader_segment(r, i), GT_NONE);
	for (uint32_t i = 0; !rc && i < p->nsegs; i++)
		rc = place_tracks(p, gt_reader_segment(r, i));
	return rc ? gt_err_set(err, rc, "out of memory (processes)") : 0;
}

void gt_process_slots_release(struct gt_process_slots *p)
{
	for (uint32_t i = 0; p->slots && i < p->nsegs; i++)
		free(p->slots[i]);
	free(p->slots);
	free(p->list);
	memset(p, 0, sizeof(*p));
}
