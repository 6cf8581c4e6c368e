#include "analyze/order/time_ordered.h"

#include <stdlib.h>
#include <string.h>

int gt_time_ordered_init(struct gt_time_ordered *t, struct gt_reader *r, gt_time_merge_fn *fn,
	void *arg, struct gt_err *err)
{
	uint32_t n = gt_reader_segments(r);

	*t = (struct gt_time_ordered){ .nsegs = n, .fn = fn, .arg = arg };
	t->lines = calloc(n + 1ul, sizeof(*t->lines));
	t->tracks = calloc(n + 1ul, sizeof(*t->tracks));
	t->types = calloc(n + 1ul, sizeof(*t->types));
	if (!t->lines || !t->tracks || !t->types)
		return gt_err_set(err, -ENOMEM, "out of memory (sorting rows)");
	for (uint32_t i = 0; i < n; i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);

		if (__builtin_add_overflow(t->tracks[i], seg->ntracks, &t->tracks[i + 1]) ||
			__builtin_add_overflow(t->types[i], seg->ntypes, &t->types[i + 1]))
			return gt_err_set(err, -EOVERFLOW, "too many tracks or types");
	}
	return 0;
}

int gt_time_ordered_block(struct gt_time_ordered *t, const struct gt_cols *cols, struct gt_err *err)
{
	int rc = 0;

	if (t->seg && t->seg != cols->seg) /* that segment is complete */
		rc = gt_time_merge_flush(&t->lines[t->seg->index], t->fn, t->arg, err);
	if (!rc && (t->seg != cols->seg || t->block != cols->block))
		rc = gt_time_merge_advance(
			&t->lines[cols->seg->index], cols->floor, t->fn, t->arg, err);
	t->seg = cols->seg;
	t->block = cols->block;
	return rc;
}

struct gt_moment *gt_time_ordered_run(
	struct gt_time_ordered *t, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_time_merge *line = &t->lines[cols->seg->index];
	uint32_t place = gt_time_ordered_track(t, cols->seg, cols->track);
	struct gt_moment *m = gt_time_ordered_block(t, cols, err)
		? NULL
		: gt_time_merge_reserve(line, cols->n, err);

	for (uint32_t i = 0; m && i < cols->n; i++)
		m[i] = (struct gt_moment){ .at = cols->start[i],
			.end = cols->start[i] + cols->dur[i],
			.place = place,
			.what = gt_time_ordered_type(
				t, cols->seg, cols->types[cols->code ? cols->code[i] : 0]) };
	if (m)
		gt_time_merge_commit(line, cols->n);
	return m;
}

const struct gt_segment *gt_time_ordered_find_segment(
	struct gt_time_ordered *t, struct gt_reader *r, const struct gt_moment *m)
{
	uint32_t i = t->place_seg && m->place >= t->first_place ? t->place_seg->index : 0;

	while (m->place >= t->tracks[i + 1])
		i++;
	t->first_place = t->tracks[i];
	t->nplaces = t->tracks[i + 1] - t->tracks[i];
	t->place_seg = gt_reader_segment(r, i);
	return t->place_seg;
}

int gt_time_ordered_flush(struct gt_time_ordered *t, struct gt_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < t->nsegs; i++)
		rc = gt_time_merge_flush(&t->lines[i], t->fn, t->arg, err);
	return rc;
}

uint64_t gt_time_ordered_late(const struct gt_time_ordered *t)
{
	uint64_t late = 0;

	for (uint32_t i = 0; i < t->nsegs; i++)
		late += t->lines[i].late;
	return late;
}

void gt_time_ordered_rewind(struct gt_time_ordered *t, gt_time_merge_fn *fn, void *arg)
{
	for (uint32_t i = 0; i < t->nsegs; i++)
		gt_time_merge_release(&t->lines[i]);
	t->fn = fn;
	t->arg = arg;
	t->block = 0;
	t->seg = NULL;
}

void gt_time_ordered_release(struct gt_time_ordered *t)
{
	for (uint32_t i = 0; t->lines && i < t->nsegs; i++)
		gt_time_merge_release(&t->lines[i]);
	free(t->lines);
	free(t->tracks);
	free(t->types);
	memset(t, 0, sizeof(*t));
}
