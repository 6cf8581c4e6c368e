#include "formats/export/chrome_flows.h"

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

int gt_chrome_flows_init(struct gt_chrome_flows *f, struct gt_reader *r)
{
	bool work = false;

	*f = (struct gt_chrome_flows){ .shift = choose_shift(r) };
	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		work |= gt_reader_segment(r, i)->rows[GT_GPU] > 0;
	if (work && !(f->cells = calloc(GT_CHROME_CELLS / 64, sizeof(*f->cells))))
		return -ENOMEM;
	return 0;
}

void gt_chrome_flows_release(struct gt_chrome_flows *f)
{
	free(f->cells);
	free(f->elsewhere);
	gt_map_release(&f->map);
}

static bool same_call(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_chrome_call
		*a = &((const struct gt_chrome_flows *)arg)->elsewhere[value].call,
		*b = key;

	return a->start == b->start && a->track == b->track && a->segment == b->segment &&
		a->name == b->name;
}

static uint64_t hash_call(const struct gt_chrome_call *call)
{
	return gt_hash_u64((uint64_t)call->start ^
		gt_hash_u64((uint64_t)call->name << 32 | call->track) ^ call->segment);
}

static uint32_t find_elsewhere(const struct gt_chrome_flows *f, const struct gt_chrome_call *call)
{
	return gt_map_get(&f->map, hash_call(call), same_call, f, call, sizeof(*call));
}

/* Of two calls with the same track, start and name the first one stays: both have slices. */
int gt_chrome_flows_note_elsewhere(
	struct gt_chrome_flows *f, const struct gt_chrome_call *call, uint32_t lane)
{
	if (f->n >= GT_CHROME_ELSEWHERE || find_elsewhere(f, call) != UINT32_MAX)
		return 0;
	if (gt_grow(&f->elsewhere, &f->cap, f->n + 1, sizeof(*f->elsewhere)) ||
		gt_map_add(&f->map, hash_call(call), (uint32_t)f->n))
		return -ENOMEM;
	f->elsewhere[f->n++] = (struct gt_chrome_elsewhere){ *call, lane };
	return 0;
}

uint32_t gt_chrome_flows_lane(const struct gt_chrome_flows *f, const struct gt_segment *seg,
	const struct gt_chrome_call *call)
{
	uint32_t at = f->n ? find_elsewhere(f, call) : UINT32_MAX;
	uint64_t bit;

	if (at != UINT32_MAX)
		return f->elsewhere[at].lane;
	return *gt_chrome_flows_cell(f, seg, call, &bit) & bit ? 0 : GT_NONE;
}
