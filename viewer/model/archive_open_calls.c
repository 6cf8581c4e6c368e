/* Unfinished calls are in separate blocks; those of the last epoch count. They are few: the number
 * of threads in calls times their depth. They are read when the archive is opened, so that every
 * frame shows them and their depths are known. */
#include <stdlib.h>

#include "formats/base/sorted.h"
#include "viewer/model/archive_internal.h"

static int take_rows(struct gt_archive *a, uint32_t segment, const struct gt_open_block *r)
{
	for (uint32_t k = 0; k < r->nruns; k++) {
		uint32_t track = r->runs[k].track,
			 above = track != GT_NONE ? gt_archive_above(a, segment, track) : GT_NONE;

		for (uint32_t i = r->runs[k].first; track != GT_NONE &&
			i < r->runs[k].first + r->runs[k].n && a->nopen < GT_UNFINISHED_MAX;
			i++) {
			if (!r->aspect[i])
				continue;
			if (gt_grow(&a->open_calls, &a->open_cap, a->nopen + 1,
				    sizeof(*a->open_calls)))
				return -ENOMEM;
			a->open_calls[a->nopen++] = (struct gt_unfinished_call){ r->start[i],
				r->start[i] + r->dur[i], segment, track, r->type[i], above,
				r->depth[i], r->aspect[i] };
		}
	}
	return 0;
}

static int by_place(const void *pa, const void *pb)
{
	const struct gt_unfinished_call *a = pa, *b = pb;

	return GT_COMPARE(a->segment, b->segment) ?:
		GT_COMPARE(a->track, b->track) ?:
		GT_COMPARE(a->start, b->start) ?:
		GT_COMPARE(a->depth, b->depth);
}

static int read_segment(struct gt_archive *a, uint32_t segment, struct gt_err *err)
{
	struct gt_archive_seg *seg = &a->segs[segment];
	int code = 0;

	seg->calls_end = seg->pub->min_start;
	for (size_t i = 0; !code && i < seg->nblocks; i++) {
		const struct gt_block *b = &seg->blocks[i];
		const struct gt_open_block *r;

		if (b->kind == GT_CALL && b->end > seg->calls_end)
			seg->calls_end = b->end;
		if (b->kind != GT_OPEN || a->nopen == GT_UNFINISHED_MAX)
			continue;
		r = gt_archive_rows(a, segment, b, err);
		code = r ? take_rows(a, segment, r) : -ENOMEM;
	}
	return code;
}

int gt_archive_read_unfinished(struct gt_archive *a, struct gt_err *err)
{
	int code = 0;

	for (uint32_t s = 0; !code && s < a->nsegs; s++)
		if (a->segs[s].pub->rows[GT_OPEN])
			code = read_segment(a, s, err);
	if (a->nopen)
		qsort(a->open_calls, a->nopen, sizeof(*a->open_calls), by_place);
	return code;
}

const struct gt_unfinished_call *gt_archive_unfinished_calls(const struct gt_archive *a, size_t *n)
{
	*n = a->nopen;
	return a->open_calls;
}

uint64_t gt_archive_unfinished_count(const struct gt_archive *a)
{
	uint64_t n = 0;

	for (uint32_t s = 0; s < a->nsegs; s++)
		n += a->segs[s].pub->rows[GT_OPEN];
	return n;
}

int64_t gt_archive_calls_end(const struct gt_archive *a, uint32_t segment)
{
	return a->segs[segment].calls_end;
}
