/* Labels of lanes, and the filter by label. */
#define _GNU_SOURCE /* strcasestr */
#include "viewer/lanes/lanes_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void track_label(
	const struct gt_lanes_of *o, const struct gt_track *t, char *to, size_t room)
{
	const char *name = t->name != GT_NONE ? gt_str(o->seg, t->name) : "",
		   *word = gt_track_kind_word(t->kind);

	switch (t->kind) {
	case GT_TRACK_PROCESS:
		snprintf(to, room, "%s%spid %" PRId64 "%s", name, *name ? " (" : "", t->id,
			*name ? ")" : "");
		return;
	case GT_TRACK_THREAD: snprintf(to, room, "%s %" PRId64, *name ? name : word, t->id); return;
	case GT_TRACK_DEVICE:
		if (*name && o->gpu)
			snprintf(to, room, "%s %s", name, o->gpu);
		else if (*name)
			snprintf(to, room, "%s", name);
		else
			snprintf(to, room, "GPU %" PRId64 "%s%s", t->id, o->gpu ? " " : "",
				o->gpu ? o->gpu : "");
		return;
	default:
		if (*name)
			snprintf(to, room, "%s", name);
		else
			snprintf(to, room, "%s %" PRId64, word, t->id);
	}
}

/* Spans that are neither ranges nor work, by the kind of their track. */
static const char *others_label(enum gt_track_kind kind)
{
	switch (kind) {
	case GT_TRACK_STREAM:
	case GT_TRACK_THREAD: return "waits";
	case GT_TRACK_PROCESS: return "overhead";
	case GT_TRACK_DEVICE: return "managed memory";
	default: return "others";
	}
}

static void part_label(
	const struct gt_lanes_of *o, const struct gt_lane_line *what, char *to, size_t room)
{
	switch (what->aspect) {
	case GT_ASPECT_IOCTLS: snprintf(to, room, "ioctls"); return;
	case GT_ASPECT_HTOD: snprintf(to, room, "copies HtoD"); return;
	case GT_ASPECT_DTOH: snprintf(to, room, "copies DtoH"); return;
	case GT_ASPECT_COPIES: snprintf(to, room, "other copies"); return;
	case GT_ASPECT_RANGES: snprintf(to, room, "level %u ranges", what->depth + 1u); return;
	case GT_ASPECT_CALLS: snprintf(to, room, "level %u calls", what->depth + 1u); return;
	case GT_ASPECT_SAMPLES: snprintf(to, room, "samples"); return;
	case GT_ASPECT_INSTANTS: snprintf(to, room, "instants"); return;
	case GT_ASPECT_STATES: snprintf(to, room, "state"); return;
	default: snprintf(to, room, "%s", others_label(o->seg->tracks[what->track].kind));
	}
}

static uint32_t count_minor(
	const struct gt_lanes *l, const struct gt_lanes_of *o, uint32_t process, bool *all)
{
	uint32_t n = 0;

	*all = true;
	for (uint32_t i = o->first[process + 1u]; i < o->first[process + 2u]; i++) {
		bool minor = gt_lanes_is_minor(l, o, o->order[i]);

		n += minor;
		*all &= minor || o->seg->tracks[o->order[i]].kind != GT_TRACK_THREAD;
	}
	return n;
}

void gt_lanes_label(
	const struct gt_lanes *l, const struct gt_lane_line *what, char to[GT_LANE_LABEL])
{
	const struct gt_lanes_of *o = &l->of[what->segment];
	size_t n = 0;
	bool all;

	if (what->kind == GT_LANE_SEGMENT) {
		snprintf(to, GT_LANE_LABEL, "recording %u%s%s", what->segment,
			o->seg->host && *o->seg->host ? " " : "", o->seg->host ? o->seg->host : "");
		return;
	}
	if (what->kind == GT_LANE_MORE) {
		n = count_minor(l, o, what->track, &all);
		if (o->seg->tracks[what->track].kind != GT_TRACK_PROCESS) {
			snprintf(to, GT_LANE_LABEL, "%zu idle streams", n);
			return;
		}
		snprintf(to, GT_LANE_LABEL, "%zu %sthreads%s", n, all ? "" : "more ",
			l->threads_away ? ", others" : "");
		return;
	}
	if (what->kind == GT_LANE_COUNTER) {
		snprintf(to, GT_LANE_LABEL, "%s", gt_type_name(o->seg, what->type));
		return;
	}
	if (what->kind == GT_LANE_QUEUE) {
		snprintf(to, GT_LANE_LABEL, "queue depth");
		return;
	}
	if (what->kind == GT_LANE_SAMPLED_STATE) {
		snprintf(to, GT_LANE_LABEL, "state");
		return;
	}
	if (what->kind == GT_LANE_PART) {
		part_label(o, what, to, GT_LANE_LABEL);
		return;
	}
	if (what->kind == GT_LANE_RANGES)
		n = (size_t)snprintf(to, GT_LANE_LABEL, "ranges ");
	track_label(o, &o->seg->tracks[what->track], to + n, GT_LANE_LABEL - n);
}

/* True for the only process of the only recording. */
static bool is_only_process(const struct gt_lanes *l, const struct gt_lanes_of *o, uint32_t track)
{
	return l->nsegments == 1 && o->seg->tracks[track].kind == GT_TRACK_PROCESS &&
		o->first[1] - o->first[0] == 1;
}

/* True if the line is below the line of its track. */
static bool is_beneath(const struct gt_lane_line *what)
{
	return what->kind == GT_LANE_MORE || gt_lane_is_part(what);
}

void gt_lanes_path(const struct gt_lanes *l, const struct gt_lane_line *what, char *to, size_t room)
{
	const struct gt_lanes_of *o = &l->of[what->segment];
	uint32_t up[32], n = 0, track = what->track;
	char label[GT_LANE_LABEL];
	size_t len = 0;

	*to = 0;
	if (is_beneath(what))
		up[n++] = track;
	for (; track != GT_NONE && n < 31 && (track = o->seg->tracks[track].parent) != GT_NONE;)
		if (!(o->flags[track] & GT_LANES_LONE))
			up[n++] = track;
	while (n > 0 && len < room) {
		if (is_only_process(l, o, up[--n]) && (n || !is_beneath(what)))
			continue;
		track_label(o, &o->seg->tracks[up[n]], label, sizeof(label));
		len += (size_t)snprintf(to + len, room - len, "%s > ", label);
	}
	gt_lanes_label(l, what, label);
	if (len < room)
		snprintf(to + len, room - len, "%s", label);
}

/* ---- filter ---- */

/* Parents come before their children in the list of tracks. So a pass from the last track sets the
 * bits of parents, and a pass from the first one those of children. */
static void match_segment(struct gt_lanes_of *o, const char *filter)
{
	const struct gt_track *tracks = o->seg->tracks;
	char label[GT_LANE_LABEL];

	for (uint32_t t = 0; t < o->seg->ntracks; t++)
		o->flags[t] &= ~(uint32_t)(GT_LANES_MATCH | GT_LANES_MATCH_BELOW);
	for (uint32_t t = o->seg->ntracks; *filter && t-- > 0;) {
		track_label(o, &tracks[t], label, sizeof(label));
		if (!(o->flags[t] & GT_LANES_LONE) && strcasestr(label, filter))
			o->flags[t] |= GT_LANES_MATCH;
		if (o->flags[t] & (GT_LANES_MATCH | GT_LANES_MATCH_BELOW) && tracks[t].parent < t)
			o->flags[tracks[t].parent] |= GT_LANES_MATCH_BELOW;
	}
	for (uint32_t t = 0; *filter && t < o->seg->ntracks; t++)
		if (tracks[t].parent < t && o->flags[tracks[t].parent] & GT_LANES_MATCH)
			o->flags[t] |= GT_LANES_MATCH;
}

void gt_lanes_match(struct gt_lanes *l)
{
	for (uint32_t i = 0; i < l->nsegments; i++)
		match_segment(&l->of[i], l->filter);
}
