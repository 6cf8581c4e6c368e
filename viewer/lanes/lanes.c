/* The tree of lanes follows the tracks, with some additional lines. It is not stored as nodes:
 * each segment has a list of its tracks, with the children of one parent next to each other in
 * display order, and some bits for each track. The visible list is built by a walk from the top
 * tracks into those that are unfolded.
 *
 * A process shows when any of its threads was in a call. A GPU shows when any of its streams
 * worked; below it are its copies by direction and its streams. If a process has several
 * contexts on a GPU, each context has a line above its streams. A single context, the usual
 * case, would repeat the GPU's line, so it has none and its streams are below the GPU. A thread
 * shows its outermost calls; below it are its inner calls and ioctls. The program's ranges
 * enclose calls, so they are above their thread. The states of a thread are one line, directly
 * below the thread's: from its switches, or if these were not recorded, from its samples. Its
 * samples are the next line. The existing lanes are found while the trace is read; the list is then
 * rebuilt.
 *
 * Counters are below their GPU or process, after its streams or threads. Before a GPU's counters
 * is the number of launches that wait for it; each of several streams has such a line too.
 *
 * An empty line means that nothing happened. Data that was not recorded has no line. */
#include "viewer/lanes/lanes_internal.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/sorted.h"
#include "formats/base/buf.h"

#define DEPTHS 8u

enum part {
	TRACK,
	RANGES,
	DEEPER,
	IOCTLS,
	OTHERS,
	HTOD,
	DTOH,
	COPIES,
	COUNTERS,
	QUEUE,
	STATES,
	SAMPLES,
	INSTANTS
};

/* ---- open and close ---- */

int gt_lanes_init(struct gt_lanes *l, struct gt_reader *r,
	const struct gt_lanes_callbacks *callbacks, struct gt_err *err)
{
	uint32_t n = gt_reader_segments(r);
	int rc = 0;

	*l = (struct gt_lanes){ .reader = r, .callbacks = *callbacks, .nsegments = n };
	l->of = calloc(n + 1ul, sizeof(*l->of));
	l->segments = calloc(n + 1ul, sizeof(*l->segments));
	if (!l->of || !l->segments)
		rc = -ENOMEM;
	for (uint32_t i = 0; !rc && i < n; i++) {
		l->of[i].seg = gt_reader_segment(r, i);
		l->segments[i] = i;
		rc = gt_lanes_learn(l, &l->of[i]);
	}
	return rc ? gt_err_set(err, rc, "out of memory (lanes)") : 0;
}

/* True for a context that was the only one: its streams were below the GPU's line and are now below
 * its own. */
static bool is_new_track(const struct gt_lanes_of *o, const struct gt_lanes_of *was, uint32_t track)
{
	return track < was->n && was->flags[track] & ~o->flags[track] & GT_LANES_LONE;
}

static bool is_another_list(const struct gt_lanes_of *o, const struct gt_lanes_of *was, uint32_t of)
{
	bool another = of != GT_NONE && is_new_track(o, was, of);

	for (uint32_t i = o->first[of + 1u]; !another && i < o->first[of + 2u]; i++)
		another = is_new_track(o, was, o->order[i]);
	return another;
}

/* New tracks follow the others. */
static void keep_order(struct gt_lanes_of *o, const struct gt_lanes_of *was)
{
	for (uint32_t p = 0; p <= was->n; p++) {
		uint32_t *list = o->order + o->first[p], n = o->first[p + 1] - o->first[p],
			 behind = n;

		if (is_another_list(o, was, p - 1u))
			continue;
		for (uint32_t i = n; i-- > 0;)
			if (list[i] >= was->n)
				list[--behind] = list[i];
		memcpy(list, was->order + was->first[p], behind * sizeof(*list));
	}
}

static void keep(struct gt_lanes_of *o, const struct gt_lanes_of *was)
{
	const uint32_t chosen =
		GT_LANES_OPEN | GT_LANES_OPEN_RANGES | GT_LANES_OPEN_MORE | GT_LANES_HIDDEN_ANY;

	for (uint32_t t = 0; t < was->n; t++)
		/* visible lanes stay visible */
		o->flags[t] |=
			(was->flags[t] & chosen) | (is_new_track(o, was, t) ? GT_LANES_OPEN : 0);
	if (was->moved)
		keep_order(o, was);
	o->moved = was->moved;
	o->open = was->open;
}

int gt_lanes_reopen(struct gt_lanes *l, struct gt_reader *r,
	const struct gt_lanes_callbacks *callbacks, struct gt_err *err)
{
	struct gt_lanes was = *l;
	int rc = gt_lanes_init(l, r, callbacks, err);

	for (uint32_t i = 0; !rc && i < was.nsegments && i < l->nsegments; i++) {
		keep(&l->of[i], &was.of[i]);
		l->segments[i] = was.segments[i];
	}
	l->threads_away = was.threads_away;
	if (!rc)
		gt_lanes_filter(l, was.filter);
	gt_lanes_release(&was);
	return rc;
}

void gt_lanes_release(struct gt_lanes *l)
{
	for (uint32_t i = 0; l->of && i < l->nsegments; i++) {
		free(l->of[i].first);
		free(l->of[i].order);
		free(l->of[i].flags);
		free(l->of[i].gpu);
	}
	free(l->of);
	free(l->segments);
	free(l->lines);
	*l = (struct gt_lanes){ .reader = NULL };
}

/* ---- listing ---- */

static unsigned depths(const struct gt_lanes *l, const struct gt_lane_line *of,
	enum gt_aspect aspect, bool derived)
{
	return l->callbacks.depths(l->callbacks.arg, of->segment, of->track, aspect, derived);
}

/* The part of its track that a line shows. */
static enum part part_of(const struct gt_lane_line *line)
{
	static const uint8_t parts[GT_ASPECTS] = { [GT_ASPECT_CALLS] = DEEPER,
		[GT_ASPECT_RANGES] = DEEPER,
		[GT_ASPECT_OTHERS] = OTHERS,
		[GT_ASPECT_IOCTLS] = IOCTLS,
		[GT_ASPECT_HTOD] = HTOD,
		[GT_ASPECT_DTOH] = DTOH,
		[GT_ASPECT_COPIES] = COPIES,
		[GT_ASPECT_STATES] = STATES,
		[GT_ASPECT_SAMPLES] = SAMPLES,
		[GT_ASPECT_INSTANTS] = INSTANTS };

	switch (line->kind) {
	case GT_LANE_PART: return (enum part)parts[line->aspect];
	case GT_LANE_SAMPLED_STATE: return STATES;
	case GT_LANE_QUEUE: return QUEUE;
	case GT_LANE_COUNTER: return COUNTERS;
	case GT_LANE_RANGES: return RANGES;
	default: return TRACK;
	}
}

static bool is_hidden(const struct gt_lanes *l, const struct gt_lane_line *line)
{
	return l->of[line->segment].flags[line->track] & GT_LANES_HIDDEN << part_of(line);
}

/* True if no more lines are needed. */
static bool is_done(const struct gt_lanes *l)
{
	return l->failed || (l->looking ? l->found : l->limited && l->n >= l->most);
}

static void add(struct gt_lanes *l, const struct gt_lane_line *line)
{
	if (is_done(l))
		return;
	if (l->looking) {
		l->found = true;
	} else if (gt_grow(&l->lines, &l->cap, l->n + 1, sizeof(*l->lines))) {
		l->failed = true;
	} else {
		l->lines[l->n++] = *line;
	}
}

/* Adds a line below a track's line. */
static void add_part(struct gt_lanes *l, const struct gt_lane_line *of, enum gt_aspect aspect,
	bool derived, unsigned depth)
{
	struct gt_lane_line line = { .segment = of->segment,
		.track = of->track,
		.kind = GT_LANE_PART,
		.aspect = (uint8_t)aspect,
		.depth = (uint8_t)depth,
		.derived = derived,
		.indent = (uint8_t)(of->indent + 1) };

	if (!is_hidden(l, &line))
		add(l, &line);
}

static void add_deeper(struct gt_lanes *l, const struct gt_lane_line *of, enum gt_aspect aspect)
{
	unsigned bits = depths(l, of, aspect, false);

	for (unsigned d = of->depth + 1u; d < DEPTHS; d++)
		if (bits >> d & 1)
			add_part(l, of, aspect, false, d);
}

static void add_sampled_state(struct gt_lanes *l, const struct gt_lane_line *of)
{
	struct gt_lane_line line = { .segment = of->segment,
		.track = of->track,
		.kind = GT_LANE_SAMPLED_STATE,
		.aspect = GT_ASPECT_SAMPLES,
		.indent = (uint8_t)(of->indent + 1) };

	if (!depths(l, of, GT_ASPECT_STATES, false) && depths(l, of, GT_ASPECT_SAMPLES, false) &&
		!is_hidden(l, &line))
		add(l, &line);
}

/* Lists the lines below a track's line: its own lanes, then its child tracks. */
static void add_parts_above(struct gt_lanes *l, const struct gt_lane_line *of)
{
	if (!of->derived)
		add_sampled_state(l, of);
	for (unsigned a = GT_ASPECT_STATES; a <= GT_ASPECT_INSTANTS; a++)
		if (of->aspect != a && !of->derived && depths(l, of, (enum gt_aspect)a, false))
			add_part(l, of, (enum gt_aspect)a, false, 0);
	if (of->aspect == GT_ASPECT_CALLS && !of->derived)
		add_deeper(l, of, GT_ASPECT_CALLS);
	if (of->aspect == GT_ASPECT_RANGES)
		add_deeper(l, of, GT_ASPECT_RANGES);
	if (!of->derived && depths(l, of, GT_ASPECT_IOCTLS, false))
		add_part(l, of, GT_ASPECT_IOCTLS, false, 0);
	for (unsigned a = GT_ASPECT_HTOD; a <= GT_ASPECT_COPIES; a++)
		if (of->aspect == GT_ASPECT_WORK && of->derived &&
			depths(l, of, (enum gt_aspect)a, true))
			add_part(l, of, (enum gt_aspect)a, true, 0);
}

/* The first counter of this or a later track. */
static size_t first_counter(const struct gt_lanes_callbacks *k, uint32_t segment, uint32_t track)
{
	return GT_LOWER_BOUND(i, 0, k->ncounters,
		k->counters[i].segment < segment ||
			(k->counters[i].segment == segment && k->counters[i].track < track));
}

static void add_counters(struct gt_lanes *l, const struct gt_lane_line *of)
{
	struct gt_lane_line line = { .segment = of->segment,
		.track = of->track,
		.kind = GT_LANE_COUNTER,
		.indent = (uint8_t)(of->indent + 1) };
	const struct gt_lanes_callbacks *k = &l->callbacks;

	if (is_hidden(l, &line))
		return;
	for (size_t i = first_counter(k, of->segment, of->track); i < k->ncounters &&
		k->counters[i].segment == of->segment && k->counters[i].track == of->track;
		i++) {
		line.type = k->counters[i].type;
		add(l, &line);
	}
}

static void add_queue(struct gt_lanes *l, const struct gt_lane_line *of)
{
	struct gt_lane_line line = { .segment = of->segment,
		.track = of->track,
		.kind = GT_LANE_QUEUE,
		.indent = (uint8_t)(of->indent + 1) };
	bool may = l->of[of->segment].flags[of->track] & GT_LANES_QUEUES;

	if (may && !is_hidden(l, &line) && l->callbacks.queues &&
		l->callbacks.queues(l->callbacks.queues_arg, of->segment))
		add(l, &line);
}

static void add_parts_below(struct gt_lanes *l, const struct gt_lane_line *of)
{
	if (of->aspect != GT_ASPECT_OTHERS && depths(l, of, GT_ASPECT_OTHERS, false))
		add_part(l, of, GT_ASPECT_OTHERS, false, 0);
	if (of->derived && depths(l, of, GT_ASPECT_INSTANTS, false))
		add_part(l, of, GT_ASPECT_INSTANTS, false, 0);
	add_queue(l, of);
	add_counters(l, of);
}

/* The events on a track's own line: for a process, GPU or context the union of the tracks below
 * it, for other tracks their own. */
static void choose_aspect(const struct gt_lanes *l, struct gt_lane_line *line)
{
	static const uint8_t some[] = { GT_ASPECT_CALLS, GT_ASPECT_RANGES, GT_ASPECT_WORK,
		GT_ASPECT_OTHERS, GT_ASPECT_STATES, GT_ASPECT_SAMPLES, GT_ASPECT_INSTANTS };
	const struct gt_lanes_of *o = &l->of[line->segment];
	enum gt_track_kind kind = o->seg->tracks[line->track].kind;
	/* it has child tracks */
	bool any = o->first[line->track + 1] < o->first[line->track + 2];

	line->derived =
		kind == GT_TRACK_PROCESS || kind == GT_TRACK_DEVICE || kind == GT_TRACK_CONTEXT;
	line->aspect = 0;
	if (kind == GT_TRACK_PROCESS || kind == GT_TRACK_THREAD)
		line->aspect =
			o->seg->rows[GT_CALL] && (any || !line->derived) ? GT_ASPECT_CALLS : 0;
	if (kind == GT_TRACK_DEVICE || kind == GT_TRACK_CONTEXT || kind == GT_TRACK_STREAM)
		line->aspect = o->seg->rows[GT_GPU] && (any || !line->derived) ? GT_ASPECT_WORK : 0;
	for (unsigned i = 0; !line->derived && i < sizeof(some); i++)
		if (depths(l, line, some[i], false)) {
			line->aspect =
				kind == GT_TRACK_STREAM && line->aspect ? line->aspect : some[i];
			return;
		}
}

static bool filtered_out(const struct gt_lanes *l, uint32_t flags)
{
	return l->filter[0] && !(flags & (GT_LANES_MATCH | GT_LANES_MATCH_BELOW));
}

enum which { ALL, MAJOR, MINOR };
static void list_tracks(
	struct gt_lanes *l, uint32_t segment, uint32_t parent, unsigned indent, enum which which);

/* True if all threads of the process are below one line. */
static bool are_threads_away(const struct gt_lanes *l, const struct gt_lane_line *of)
{
	return l->threads_away && l->of[of->segment].flags[of->track] & GT_LANES_HAS_THREADS;
}

static void list_minor(struct gt_lanes *l, const struct gt_lane_line *of)
{
	struct gt_lane_line line = { .segment = of->segment,
		.track = of->track,
		.kind = GT_LANE_MORE,
		.indent = (uint8_t)(of->indent + 1),
		.is_foldable = true };

	line.folded = !(l->of[of->segment].flags[of->track] & GT_LANES_OPEN_MORE);
	add(l, &line);
	if (line.folded)
		return;
	list_tracks(l, of->segment, of->track, line.indent + 1u, MINOR);
	if (are_threads_away(l, of)) {
		struct gt_lane_line there = *of;

		there.indent = line.indent;
		add_parts_below(l, &there);
	}
}

/* Lists the lines below an unfolded line. */
static void list_below(struct gt_lanes *l, const struct gt_lane_line *of, bool parts)
{
	bool minor = parts && !l->filter[0] &&
		(are_threads_away(l, of) ||
			l->of[of->segment].flags[of->track] & GT_LANES_HAS_MINOR);

	if (parts)
		add_parts_above(l, of);
	list_tracks(l, of->segment, of->track, of->indent + 1u, minor ? MAJOR : ALL);
	if (minor)
		list_minor(l, of);
	if (parts && !(minor && are_threads_away(l, of)))
		add_parts_below(l, of);
}

/* True if the line has visible lines below it when it is unfolded. */
static bool has_below(struct gt_lanes *l, const struct gt_lane_line *of, bool parts)
{
	bool has;

	l->looking = true;
	l->found = false;
	list_below(l, of, parts);
	has = l->found;
	l->looking = false;
	return has;
}

/* The ranges of a thread whose own line shows its calls. */
static void list_ranges(struct gt_lanes *l, const struct gt_lane_line *of)
{
	unsigned bits = of->aspect == GT_ASPECT_CALLS && !of->derived
		? depths(l, of, GT_ASPECT_RANGES, false)
		: 0;
	struct gt_lane_line line = *of;

	line.kind = GT_LANE_RANGES;
	if (!bits || is_hidden(l, &line))
		return;
	line.aspect = GT_ASPECT_RANGES;
	/* the outermost known depth: the end of ranges around it may be unknown */
	line.depth = (uint8_t)__builtin_ctz(bits);
	line.is_foldable = bits & (bits - 1);
	line.folded =
		line.is_foldable && !(l->of[of->segment].flags[of->track] & GT_LANES_OPEN_RANGES);
	add(l, &line);
	if (line.is_foldable && !line.folded)
		add_deeper(l, &line, GT_ASPECT_RANGES);
}

static void list_track(struct gt_lanes *l, uint32_t segment, uint32_t track, unsigned indent)
{
	uint32_t flags = l->of[segment].flags[track];
	struct gt_lane_line line = {
		.segment = segment, .track = track, .kind = GT_LANE_TRACK, .indent = (uint8_t)indent
	};
	bool only_path = l->filter[0] && !(flags & GT_LANES_MATCH),
	     open = only_path || flags & GT_LANES_OPEN;

	if (filtered_out(l, flags) || is_hidden(l, &line))
		return;
	choose_aspect(l, &line);
	if (l->looking) { /* one line is enough */
		add(l, &line);
		return;
	}
	if (!only_path)
		list_ranges(l, &line);
	line.is_foldable = has_below(l, &line, !only_path);
	line.folded = line.is_foldable && !open;
	add(l, &line);
	if (line.is_foldable && open)
		list_below(l, &line, !only_path);
}

static void list_tracks(
	struct gt_lanes *l, uint32_t segment, uint32_t parent, unsigned indent, enum which which)
{
	const struct gt_lanes_of *o = &l->of[segment];

	for (uint32_t i = o->first[parent + 1u]; i < o->first[parent + 2u] && !is_done(l); i++)
		if (which == ALL || gt_lanes_is_minor(l, o, o->order[i]) == (which == MINOR))
			list_track(l, segment, o->order[i], indent);
}

static void list_segment(struct gt_lanes *l, uint32_t i)
{
	struct gt_lane_line line = { .segment = i,
		.track = GT_NONE,
		.kind = GT_LANE_SEGMENT,
		.is_foldable = l->of[i].seg->ntracks,
		.folded = !l->of[i].open };

	if (l->nsegments == 1) {
		list_tracks(l, i, GT_NONE, 0, ALL);
		return;
	}
	add(l, &line);
	if (l->of[i].open)
		list_tracks(l, i, GT_NONE, 1, ALL);
}

int gt_lanes_list(struct gt_lanes *l)
{
	l->n = 0;
	l->failed = false;
	for (uint32_t i = 0; i < l->nsegments; i++)
		list_segment(l, l->segments[i]);
	return l->failed ? -ENOMEM : 0;
}

/* ---- unfolding ---- */

/* Unfolds the line if all lines still fit. Returns whether they do. */
static bool try_unfold(struct gt_lanes *l, const struct gt_lane_line *what, size_t lines)
{
	l->limited = true;
	l->most = lines + 1;
	if (!gt_lanes_fold(l, what, false))
		return false;
	gt_lanes_list(l);
	l->limited = false;
	if (l->n <= lines)
		return true;
	gt_lanes_fold(l, what, true);
	return false;
}

/* Lines are unfolded in turns, the most important kind first. */
static bool is_of_turn(const struct gt_lanes *l, const struct gt_lane_line *what, unsigned turn)
{
	const struct gt_track *t =
		what->track != GT_NONE ? &l->of[what->segment].seg->tracks[what->track] : NULL;

	if (!t || !what->folded || what->kind == GT_LANE_MORE)
		return false;
	switch (turn) {
	case 0: return t->kind == GT_TRACK_PROCESS || t->kind == GT_TRACK_MACHINE;
	case 1: return t->kind == GT_TRACK_DEVICE || t->kind == GT_TRACK_CONTEXT;
	case 2: return what->kind == GT_LANE_RANGES;
	case 3:
		return t->kind == GT_TRACK_THREAD || t->kind == GT_TRACK_CPU ||
			t->kind == GT_TRACK_CUSTOM;
	default: return t->kind == GT_TRACK_STREAM;
	}
}

static int try_turn(struct gt_lanes *l, unsigned turn, size_t lines)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < l->n && i < lines; i++) {
		struct gt_lane_line what = l->lines[i];

		if (!is_of_turn(l, &what, turn))
			continue;
		try_unfold(l, &what, lines);
		rc = gt_lanes_list(l);
	}
	return rc;
}

static bool has_folded_gpus(const struct gt_lanes *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct gt_lanes_of *o = &l->of[l->lines[i].segment];
		uint32_t t = l->lines[i].track;

		if (l->lines[i].kind == GT_LANE_TRACK && l->lines[i].folded &&
			o->first[t + 1] < o->first[t + 2] &&
			/* GPUs come first */
			o->seg->tracks[o->order[o->first[t + 1]]].kind == GT_TRACK_DEVICE)
			return true;
	}
	return false;
}

int gt_lanes_unfold_to(struct gt_lanes *l, size_t lines)
{
	int rc;

	l->threads_away = false;
	rc = gt_lanes_list(l);
	while (!rc && l->n == 1 && gt_lanes_fold(l, &l->lines[0], false))
		rc = gt_lanes_list(l);
	if (!rc)
		rc = try_turn(l, 0, lines);
	if (!rc && has_folded_gpus(l)) {
		l->threads_away = true;
		rc = gt_lanes_list(l);
	}
	for (unsigned turn = 0; !rc && turn < 5; turn++)
		rc = try_turn(l, turn, lines);
	return rc;
}

/* ---- changes ---- */

static bool same(const struct gt_lane_line *a, const struct gt_lane_line *b)
{
	return a->segment == b->segment && a->track == b->track && a->kind == b->kind &&
		a->type == b->type &&
		(a->kind != GT_LANE_PART ||
			(a->aspect == b->aspect && a->derived == b->derived &&
				a->depth == b->depth));
}

size_t gt_lanes_find(const struct gt_lanes *l, const struct gt_lane_line *what)
{
	const struct gt_segment *seg = l->of[what->segment].seg;
	struct gt_lane_line up = *what;

	for (;;) {
		for (size_t i = 0; i < l->n; i++)
			if (same(&l->lines[i], &up))
				return i;
		if (up.kind == GT_LANE_SEGMENT)
			return 0;
		if (up.kind == GT_LANE_TRACK || up.kind == GT_LANE_RANGES)
			up.track = seg->tracks[up.track].parent;
		up.type = 0;
		up.kind = up.track == GT_NONE ? GT_LANE_SEGMENT : GT_LANE_TRACK;
	}
}

bool gt_lanes_fold(struct gt_lanes *l, const struct gt_lane_line *what, bool fold)
{
	struct gt_lanes_of *o = &l->of[what->segment];
	uint32_t bit = what->kind == GT_LANE_RANGES ? GT_LANES_OPEN_RANGES
		: what->kind == GT_LANE_MORE        ? GT_LANES_OPEN_MORE
						    : GT_LANES_OPEN;
	uint32_t was;

	if (what->kind == GT_LANE_SEGMENT) {
		bool changes = o->open == fold;

		o->open = !fold;
		return changes;
	}
	if (gt_lane_is_part(what))
		return false;
	was = o->flags[what->track];
	o->flags[what->track] = fold ? was & ~bit : was | bit;
	return o->flags[what->track] != was;
}

void gt_lanes_unfold_above(struct gt_lanes *l, uint32_t segment, uint32_t track)
{
	struct gt_lanes_of *o = &l->of[segment];

	o->open = true;
	for (uint32_t up; track < o->seg->ntracks && (up = o->seg->tracks[track].parent) < track;
		track = up)
		o->flags[up] |= GT_LANES_OPEN |
			(o->seg->tracks[track].kind == GT_TRACK_THREAD ||
						o->flags[track] & GT_LANES_MINOR
					? GT_LANES_OPEN_MORE
					: 0);
}

void gt_lanes_unfold_track(struct gt_lanes *l, uint32_t segment, uint32_t track)
{
	if (track < l->of[segment].seg->ntracks)
		l->of[segment].flags[track] |= GT_LANES_OPEN | GT_LANES_OPEN_RANGES;
}

void gt_lanes_fold_all(struct gt_lanes *l, bool fold)
{
	const uint32_t bits = GT_LANES_OPEN | GT_LANES_OPEN_RANGES | GT_LANES_OPEN_MORE;

	for (uint32_t i = 0; i < l->nsegments; i++) {
		struct gt_lanes_of *o = &l->of[i];

		o->open = true;
		for (uint32_t t = 0; t < o->seg->ntracks; t++)
			o->flags[t] = fold ? o->flags[t] & ~bits : o->flags[t] | bits;
	}
}

bool gt_lanes_hide(struct gt_lanes *l, const struct gt_lane_line *what)
{
	if (what->kind == GT_LANE_SEGMENT || what->kind == GT_LANE_MORE)
		return false;
	l->of[what->segment].flags[what->track] |= (uint32_t)GT_LANES_HIDDEN << part_of(what);
	return true;
}

bool gt_lanes_show_hidden(struct gt_lanes *l)
{
	bool any = false;

	for (uint32_t i = 0; i < l->nsegments; i++)
		for (uint32_t t = 0; t < l->of[i].seg->ntracks; t++) {
			any |= l->of[i].flags[t] & GT_LANES_HIDDEN_ANY;
			l->of[i].flags[t] &= ~(uint32_t)GT_LANES_HIDDEN_ANY;
		}
	return any;
}

static bool move_in(uint32_t *list, uint32_t from, uint32_t to, uint32_t what, int by)
{
	for (uint32_t i = from; i < to; i++) {
		uint32_t with = i + (uint32_t)by;

		if (list[i] != what)
			continue;
		if (with < from || with >= to || with == UINT32_MAX)
			return false;
		list[i] = list[with];
		list[with] = what;
		return true;
	}
	return false;
}

/* The track whose line is above this one. Its parent may have no line or be too deep. */
static uint32_t group_of(const struct gt_lanes_of *o, uint32_t track)
{
	uint32_t p = o->seg->tracks[track].parent, i;

	for (;; p = o->seg->tracks[p].parent) {
		if (p == GT_NONE || p >= o->seg->ntracks)
			return GT_NONE;
		for (i = o->first[p + 1]; i < o->first[p + 2]; i++)
			if (o->order[i] == track)
				return p;
	}
}

bool gt_lanes_move(struct gt_lanes *l, const struct gt_lane_line *what, int by)
{
	struct gt_lanes_of *o = &l->of[what->segment];
	uint32_t up;

	if (what->kind == GT_LANE_SEGMENT)
		return move_in(l->segments, 0, l->nsegments, what->segment, by);
	if (what->kind != GT_LANE_TRACK)
		return false;
	up = group_of(o, what->track);
	o->moved = true;
	return move_in(o->order, o->first[up + 1u], o->first[up + 2u], what->track, by);
}

bool gt_lanes_set_minor(struct gt_lanes *l, uint32_t segment, uint32_t track, bool minor)
{
	struct gt_lanes_of *o = &l->of[segment];
	uint32_t up = group_of(o, track), n = 0;
	bool changes = !(o->flags[track] & GT_LANES_MINOR) == minor;

	if (!changes || up == GT_NONE)
		return false;
	o->flags[track] ^= GT_LANES_MINOR;
	for (uint32_t i = o->first[up + 1]; i < o->first[up + 2]; i++)
		n += (o->flags[o->order[i]] & GT_LANES_MINOR) != 0;
	o->flags[up] =
		(o->flags[up] & ~(uint32_t)GT_LANES_HAS_MINOR) | (n > 1 ? GT_LANES_HAS_MINOR : 0);
	return true;
}

void gt_lanes_filter(struct gt_lanes *l, const char *text)
{
	size_t n = strlen(text);

	if (n >= sizeof(l->filter))
		n = sizeof(l->filter) - 1;
	memmove(l->filter, text, n);
	l->filter[n] = 0;
	gt_lanes_match(l);
}
