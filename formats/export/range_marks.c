#include "formats/export/range_marks.h"

#include <errno.h>
#include <stdlib.h>
#include "formats/base/buf.h"

#define OPEN_MAX 4096u /* of a thread; a further range does not nest */

int gt_range_marks_init(struct gt_range_marks *m, struct gt_reader *r)
{
	uint32_t n = gt_reader_segments(r);

	*m = (struct gt_range_marks){ .r = r, .threads = calloc(n + 1ul, sizeof(*m->threads)) };
	for (uint32_t i = 0; m->threads && i < n; i++) {
		m->threads[i] =
			calloc(gt_reader_segment(r, i)->ntracks + 1ul, sizeof(**m->threads));
		if (!m->threads[i])
			return -ENOMEM;
	}
	return m->threads ? 0 : -ENOMEM;
}

void gt_range_marks_release(struct gt_range_marks *m)
{
	for (uint32_t i = 0; m->threads && i < gt_reader_segments(m->r); i++) {
		for (uint32_t t = 0; m->threads[i] && t < gt_reader_segment(m->r, i)->ntracks; t++)
			free(m->threads[i][t].items);
		free(m->threads[i]);
	}
	free(m->threads);
	free(m->aside);
	*m = (struct gt_range_marks){ .r = NULL };
}

static void mark(struct gt_range_marks *m, size_t number)
{
	m->aside[number >> 3] |= (uint8_t)(1u << (number & 7));
}

/* The ranges that the call does not end in, but after, do not nest. */
static void mark_crossed(struct gt_range_marks *m, struct gt_range_open *o, int64_t end)
{
	size_t left = 0;

	for (size_t i = 0; i < o->n; i++) {
		bool crossed = o->items[i].end < end && o->items[i].number != SIZE_MAX;

		if (crossed)
			mark(m, o->items[i].number);
		else
			o->items[left++] = o->items[i];
	}
	o->n = left;
}

int gt_range_marks_add(struct gt_range_marks *m, const struct gt_event *ev, bool range)
{
	struct gt_range_open *o = &m->threads[ev->seg->index][ev->track];
	int64_t end = ev->kind == GT_OPEN ? INT64_MAX : ev->row.end;
	size_t number = range ? m->nranges : SIZE_MAX, old = m->bytes;

	if (range && gt_grow(&m->aside, &m->bytes, (number >> 3) + 1, 1))
		return -ENOMEM;
	if (m->bytes > old)
		memset(m->aside + old, 0, m->bytes - old);
	m->nranges += range;
	while (o->n && o->items[o->n - 1].end <= ev->row.start)
		o->n--;
	if (!range && o->n && o->items[o->n - 1].end < end)
		mark_crossed(m, o, end);
	if (o->n && (o->n >= OPEN_MAX || o->items[o->n - 1].end < end)) {
		if (range)
			mark(m, number);
		return 0;
	}
	if (gt_grow(&o->items, &o->cap, o->n + 1, sizeof(*o->items)))
		return -ENOMEM;
	o->items[o->n++] = (struct gt_range_open_item){ end, number };
	return 0;
}
