/* Summaries know most streams: a stream is idle if no bucket of its finest level overlaps the
 * range. A bucket that contains an end of the range counts as work in it. Streams without summaries
 * have few rows, so their rows are looked up. */
#include "viewer/lanes/idle_streams.h"

#include "formats/base/sorted.h"
#include "viewer/model/event_lookup.h"

#define STREAMS_MOST 512u

static const struct gt_level *finest(const struct gt_upper *u)
{
	for (unsigned i = 0; u && i < u->nlevels; i++)
		if (u->levels[i].n)
			return &u->levels[i];
	return NULL;
}

/* 1, 0 or negative */
static int is_idle(struct gt_archive *a, uint32_t segment, uint32_t track,
	const struct gt_cell_window *w, struct gt_err *err)
{
	int64_t offset = gt_archive_offset(a, segment), from = w->from + offset,
		to = w->to + offset;
	const struct gt_level *l =
		finest(gt_archive_upper(a, segment, track, GT_ASPECT_WORK, false, 0));
	const struct gt_lane_key lane = { { segment, track, GT_ASPECT_WORK, false }, 0 };
	struct gt_event_ref row;
	size_t i;
	int code;

	if (!l) {
		code = gt_event_at(a, &lane, from, to, &row, err);
		return code < 0 ? code : !code;
	}
	i = GT_LOWER_BOUND(k, 0, l->n, l->buckets[k].start + (int64_t)l->buckets[k].width <= from);
	return i == l->n || l->buckets[i].start >= to;
}

static uint32_t count_streams(struct gt_reader *r)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < gt_reader_segments(r); s++)
		for (uint32_t t = 0; t < gt_reader_segment(r, s)->ntracks; t++)
			n += gt_reader_segment(r, s)->tracks[t].kind == GT_TRACK_STREAM;
	return n;
}

static bool grows(struct gt_reader *r)
{
	for (uint32_t s = 0; s < gt_reader_segments(r); s++)
		if (!gt_reader_segment(r, s)->closed)
			return true;
	return false;
}

int gt_idle_streams_update(struct gt_idle_streams *s, struct gt_archive *a,
	const struct gt_cell_window *w, const struct gt_lane_line *keep, struct gt_lanes *l,
	struct gt_err *err)
{
	const struct gt_lane_line none = { .track = GT_NONE }, *own = keep ? keep : &none;
	struct gt_reader *r = gt_archive_reader(a);
	bool changes = false, never = grows(r) || count_streams(r) > STREAMS_MOST;
	int idle = 0;

	if (s->archive == a && gt_same_window(&s->window, w) && gt_same_lane_line(&s->keep, own))
		return 0;
	s->archive = a;
	s->window = *w;
	s->keep = *own;
	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		for (uint32_t t = 0; t < gt_reader_segment(r, i)->ntracks; t++) {
			if (gt_reader_segment(r, i)->tracks[t].kind != GT_TRACK_STREAM)
				continue;
			if (!never && (own->segment != i || own->track != t))
				idle = is_idle(a, i, t, w, err);
			else
				idle = 0;
			if (idle < 0)
				return idle;
			changes |= gt_lanes_set_minor(l, i, t, idle);
		}
	return changes;
}
