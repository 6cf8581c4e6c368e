#include "formats/export/chrome_call_slices.h"

#include <errno.h>
#include <stdlib.h>
#include "formats/base/buf.h"

/* The shift with which the longest segment fits the cells. */
static unsigned choose_shift(struct gt_reader *r)
{
	uint64_t longest = 0;
	unsigned shift = 0;

	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);
		uint64_t ns = seg->max_end > seg->min_start
			? (uint64_t)seg->max_end - (uint64_t)seg->min_start
			: 0;

		longest = ns > longest ? ns : longest;
	}
	while (longest >> shift >= GT_CHROME_CELLS)
		shift++;
	return shift;
}

int gt_chrome_call_slices_init(struct gt_chrome_call_slices *f, struct gt_reader *r)
{
	bool work = false;

	*f = (struct gt_chrome_call_slices){ .shift = choose_shift(r) };
	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		work |= gt_reader_segment(r, i)->rows[GT_GPU] > 0;
	if (work && !(f->cells = calloc(GT_CHROME_CELLS / 64, sizeof(*f->cells))))
		return -ENOMEM;
	return 0;
}

void gt_chrome_call_slices_release(struct gt_chrome_call_slices *f)
{
	free(f->cells);
	free(f->elsewhere);
	gt_map_release(&f->map);
}

#define CALL_KEY (offsetof(struct gt_chrome_call, name) + sizeof(uint32_t))

static uint32_t find_elsewhere(
	const struct gt_chrome_call_slices *f, const struct gt_chrome_call *call)
{
	return gt_map_find_item(&f->map, f->elsewhere, sizeof(*f->elsewhere), call, CALL_KEY);
}

/* Of two calls with the same track, start and name the first one stays: both have slices. */
int gt_chrome_call_slices_note_elsewhere(
	struct gt_chrome_call_slices *f, const struct gt_chrome_call *call, uint32_t lane)
{
	struct gt_chrome_elsewhere one = { *call, lane };

	if (f->n >= GT_CHROME_ELSEWHERE || find_elsewhere(f, call) != UINT32_MAX)
		return 0;
	return gt_map_add_item(&f->map, &f->elsewhere, &f->n, &f->cap, sizeof(one), &one,
		       CALL_KEY) == UINT32_MAX
		? -ENOMEM
		: 0;
}

uint32_t gt_chrome_call_slices_lane(const struct gt_chrome_call_slices *f,
	const struct gt_segment *seg, const struct gt_chrome_call *call)
{
	uint32_t at = f->n ? find_elsewhere(f, call) : UINT32_MAX;
	uint64_t bit;

	if (at != UINT32_MAX)
		return f->elsewhere[at].lane;
	return *gt_chrome_call_slices_cell(f, seg, call, &bit) & bit ? 0 : GT_NONE;
}
