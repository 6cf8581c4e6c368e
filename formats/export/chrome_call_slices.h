/* Where the slices of calls are in a Chrome trace. A flow event binds to the slice around it, so
 * the arrow from a call to its GPU work is written only if the call's slice was written, and on
 * that slice's lane.
 *
 * Memory is bounded. A bitmap of 2^25 cells (4 MiB) holds the starts of the calls on the first lane
 * of their thread: the longest recording's time has that many cells, and each thread begins at
 * another cell. A call that was not written counts as written if another call's start has the same
 * cell, which is 0.5 us of a recording of 10 s. A table holds the calls on other lanes. A call that
 * finds the table full has no arrow. */
#ifndef GT_CHROME_CALL_SLICES_H
#define GT_CHROME_CALL_SLICES_H
#include "formats/base/map.h"
#include "formats/trace/read/reader.h"

#define GT_CHROME_CELLS (1u << 25)
#define GT_CHROME_ELSEWHERE (1u << 20) /* calls on other lanes */

/* A call is identified by its track, its start and its name (a string of the segment), as in the
 * row of its GPU work. */
struct gt_chrome_call {
	int64_t start;
	uint32_t segment, track, name;
};
struct gt_chrome_call_slices {
	uint64_t *cells; /* NULL: the trace has no GPU work, and so no arrows */
	unsigned shift;  /* a cell is 2^shift ns */
	struct gt_chrome_elsewhere {
		struct gt_chrome_call call;
		uint32_t lane;
	} * elsewhere;
	size_t n, cap;
	struct gt_map map;
};
/* 0 or -ENOMEM; release it either way. */
int gt_chrome_call_slices_init(struct gt_chrome_call_slices *f, struct gt_reader *r);
void gt_chrome_call_slices_release(struct gt_chrome_call_slices *f);

static inline uint64_t *gt_chrome_call_slices_cell(const struct gt_chrome_call_slices *f,
	const struct gt_segment *seg, const struct gt_chrome_call *call, uint64_t *bit)
{
	/* Thread and time determine the word, so that it is near that of the call before.
	 * Multipliers mix the ids into it. */
	uint64_t thread =
		(call->track + ((uint64_t)call->segment << 32)) * 0x9e3779b97f4a7c15u >> 32;
	uint64_t cell = (((uint64_t)call->start - (uint64_t)seg->min_start) >> f->shift) + thread;

	*bit = 1ull << ((cell ^ call->name * 0x9e3779b9u >> 26) & 63);
	return &f->cells[cell >> 6 & (GT_CHROME_CELLS / 64 - 1)];
}

int gt_chrome_call_slices_note_elsewhere(
	struct gt_chrome_call_slices *f, const struct gt_chrome_call *call, uint32_t lane);
/* The call has its slice on this lane of its track. 0 or -ENOMEM. */
static inline int gt_chrome_call_slices_note(struct gt_chrome_call_slices *f,
	const struct gt_segment *seg, const struct gt_chrome_call *call, uint32_t lane)
{
	uint64_t bit;

	if (lane)
		return gt_chrome_call_slices_note_elsewhere(f, call, lane);
	*gt_chrome_call_slices_cell(f, seg, call, &bit) |= bit;
	return 0;
}
/* The lane of a call, or GT_NONE: it has no slice. */
uint32_t gt_chrome_call_slices_lane(const struct gt_chrome_call_slices *f,
	const struct gt_segment *seg, const struct gt_chrome_call *call);
#endif
