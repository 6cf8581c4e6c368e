#include "formats/export/chrome/chrome_ranges.h"

#include <stdlib.h>
#include "formats/base/buf.h"

#define OPEN_MAX 4096u /* of a thread; a further range is written on a lane of its own */

struct gt_chrome_range {
	struct gt_row row;
	uint64_t args[];
};

static int no_memory(struct gt_chrome_ranges *x)
{
	return gt_err_set(x->slices->err, -ENOMEM, "out of memory");
}

bool gt_chrome_has_ranges(struct gt_reader *r)
{
	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);

		for (uint32_t t = 0; seg->rows[GT_SPAN] && t < seg->ntypes; t++)
			if (seg->types[t].layer == GT_LAYER_USER)
				return true;
	}
	return false;
}

int gt_chrome_ranges_init(struct gt_chrome_ranges *x, struct gt_chrome_slices *slices)
{
	uint32_t n = gt_reader_segments(slices->r);

	*x = (struct gt_chrome_ranges){
		.slices = slices, .nsegs = n, .threads = calloc(n + 1ul, sizeof(*x->threads))
	};
	for (uint32_t i = 0; x->threads && i < n; i++) {
		x->threads[i] = calloc(
			gt_reader_segment(slices->r, i)->ntracks + 1ul, sizeof(**x->threads));
		if (!x->threads[i])
			return no_memory(x);
	}
	return x->threads ? 0 : no_memory(x);
}

void gt_chrome_ranges_release(struct gt_chrome_ranges *x)
{
	for (uint32_t i = 0; x->threads && i < x->nsegs; i++) {
		uint32_t ntracks = gt_reader_segment(x->slices->r, i)->ntracks;

		for (uint32_t t = 0; x->threads[i] && t < ntracks; t++) {
			struct gt_chrome_open *o = &x->threads[i][t];

			while (o->n)
				free(o->items[--o->n].range);
			free(o->items);
		}
		free(x->threads[i]);
	}
	free(x->threads);
	x->threads = NULL;
}

bool gt_chrome_is_range(const struct gt_event *ev)
{
	return ev->kind == GT_SPAN && ev->seg->types[ev->row.type].layer == GT_LAYER_USER &&
		ev->seg->tracks[ev->track].kind == GT_TRACK_THREAD;
}

/* Writes a range on its thread, or aside. */
static int put_range(struct gt_chrome_ranges *x, const struct gt_segment *seg, uint32_t track,
	const struct gt_row *row, const uint64_t *args, bool aside)
{
	struct gt_chrome_slice s = { .seg = seg,
		.type = row->type,
		.start = row->start,
		.dur = gt_since(row->end, row->start),
		.ret = row->ret,
		.args = args,
		.nargs = row->nargs };
	struct gt_chrome_track *t = gt_chrome_track(&x->slices->tracks, seg, track);

	if (!t)
		return x->slices->err->code;
	return gt_chrome_put(x->slices, track, &s,
		aside ? gt_chrome_lane_beside(&x->slices->tracks, seg, track, row->start, row->end)
		      : t->lanes,
		false);
}

/* Writes the range of an item, if it is one, and removes it from the stack. */
static int remove_item(struct gt_chrome_ranges *x, const struct gt_segment *seg, uint32_t track,
	size_t at, bool aside)
{
	struct gt_chrome_open *o = &x->threads[seg->index][track];
	struct gt_chrome_range *range = o->items[at].range;
	int rc = range ? put_range(x, seg, track, &range->row, range->args, aside) : 0;

	free(range);
	memmove(o->items + at, o->items + at + 1, (--o->n - at) * sizeof(*o->items));
	return rc;
}

static int pop_ended(
	struct gt_chrome_ranges *x, const struct gt_segment *seg, uint32_t track, int64_t start)
{
	struct gt_chrome_open *o = &x->threads[seg->index][track];
	int rc = 0;

	while (!rc && o->n && o->items[o->n - 1].end <= start)
		rc = remove_item(x, seg, track, o->n - 1, false);
	return rc;
}

static int push(struct gt_chrome_ranges *x, struct gt_chrome_open *o, int64_t end,
	struct gt_chrome_range *range)
{
	if (gt_grow(&o->items, &o->cap, o->n + 1, sizeof(*o->items)))
		return no_memory(x);
	o->items[o->n++] = (struct gt_chrome_open_item){ end, range };
	return 0;
}

int gt_chrome_ranges_call(
	struct gt_chrome_ranges *x, const struct gt_event *ev, struct gt_chrome_slice *s)
{
	struct gt_chrome_open *o = &x->threads[ev->seg->index][ev->track];
	struct gt_chrome_track *t = gt_chrome_track(&x->slices->tracks, ev->seg, ev->track);
	int64_t end = s->start + s->dur;
	bool nests = true;
	int rc = t ? pop_ended(x, ev->seg, ev->track, s->start) : x->slices->err->code;

	for (size_t i = o->n; !rc && i-- > 0;) {
		if (o->items[i].end >= end)
			continue;
		if (o->items[i].range)
			rc = remove_item(x, ev->seg, ev->track, i, true);
		else
			nests = false;
	}
	if (rc)
		return rc;
	nests &= o->n < OPEN_MAX;
	if (nests && (rc = push(x, o, end, NULL)))
		return rc;
	return gt_chrome_put(x->slices, ev->track, s,
		nests ? t->lanes
		      : gt_chrome_lane_beside(
				&x->slices->tracks, ev->seg, ev->track, s->start, end),
		false);
}

int gt_chrome_ranges_range(struct gt_chrome_ranges *x, const struct gt_event *ev)
{
	struct gt_chrome_open *o = &x->threads[ev->seg->index][ev->track];
	size_t args = ev->row.nargs * sizeof(uint64_t);
	struct gt_chrome_range *range;
	int rc = pop_ended(x, ev->seg, ev->track, ev->row.start);

	if (rc)
		return rc;
	if (o->n >= OPEN_MAX || (o->n && o->items[o->n - 1].end < ev->row.end))
		return put_range(x, ev->seg, ev->track, &ev->row, ev->args, true);
	range = malloc(sizeof(*range) + args);
	if (!range)
		return no_memory(x);
	range->row = ev->row;
	if (args)
		memcpy(range->args, ev->args, args);
	rc = push(x, o, ev->row.end, range);
	if (rc)
		free(range);
	return rc;
}

int gt_chrome_ranges_finish(struct gt_chrome_ranges *x)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < x->nsegs; i++) {
		const struct gt_segment *seg = gt_reader_segment(x->slices->r, i);

		for (uint32_t t = 0; !rc && t < seg->ntracks; t++)
			rc = pop_ended(x, seg, t, INT64_MAX);
	}
	return rc;
}
