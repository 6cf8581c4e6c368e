/* The lanes of the timeline: one line for each kind of event of a track. They form a tree that
 * follows the tracks: a process, its GPUs with their streams (below contexts if there are
 * several), and its threads. Lanes can be folded, hidden, moved and filtered. The visible lanes
 * are a flat list. A track needs a few bytes; only visible lanes have lines, so a trace may have
 * a million streams. */
#ifndef GT_LANES_H
#define GT_LANES_H
#include <stdbool.h>
#include <stddef.h>
#include "viewer/cells/counter_cells.h"
#include "viewer/model/event_lookup.h"

enum gt_lane_kind {
	GT_LANE_SEGMENT, /* one of several recordings; it shows no events */
	GT_LANE_TRACK,   /* stands for a track: a process, GPU, stream, thread ... */
	/* the outermost ranges of a thread that also makes calls; above the thread's line */
	GT_LANE_RANGES,
	/* the less busy threads of a process, or the idle streams of a GPU; it shows no events */
	GT_LANE_MORE,
	GT_LANE_COUNTER, /* a counter of a track, below the track's line (counter_cells.h) */
	/* waiting launches of a GPU or stream, below its line (queue_lanes.h) */
	GT_LANE_QUEUE,
	/* part of a track below its line: deeper calls or ranges, ioctls, copies, waits ... */
	GT_LANE_PART,
	/* when samples found a thread running, for one whose switches were not recorded; below the
	 * thread's line. Its events are the samples. */
	GT_LANE_SAMPLED_STATE
};
/* A lane is identified by kind, segment, track, type, aspect, derived and depth. Folding, hiding
 * and moving do not change these. */
struct gt_lane_line {
	uint32_t segment, track; /* track GT_NONE: of a whole segment */
	uint32_t type;           /* of a counter */
	uint8_t kind;
	uint8_t aspect, depth; /* the events that it shows; aspect 0: none */
	bool derived;
	uint8_t indent;
	bool is_foldable, folded; /* is_foldable: has lines below it; folded: these are not shown */
};
static inline bool gt_same_lane_line(const struct gt_lane_line *a, const struct gt_lane_line *b)
{
	return a->segment == b->segment && a->track == b->track && a->kind == b->kind &&
		a->type == b->type && a->aspect == b->aspect && a->derived == b->derived &&
		a->depth == b->depth;
}
static inline struct gt_lane_key gt_lane_of_line(const struct gt_lane_line *line)
{
	return (struct gt_lane_key){ { line->segment, line->track, (enum gt_aspect)line->aspect,
					     line->derived },
		line->depth };
}
/* True if the line shows values over time rather than events. */
static inline bool gt_lane_is_counter(const struct gt_lane_line *line)
{
	return line->kind == GT_LANE_COUNTER || line->kind == GT_LANE_QUEUE;
}

/* True if the line belongs to its track's line, which is above it, and has no lines below it. */
static inline bool gt_lane_is_part(const struct gt_lane_line *line)
{
	return line->kind == GT_LANE_PART || line->kind == GT_LANE_SAMPLED_STATE ||
		gt_lane_is_counter(line);
}

/* Callbacks that describe the tracks; called when lanes are created and listed. */
struct gt_lanes_callbacks {
	/* existing depths as bits */
	unsigned (*depths)(
		void *arg, uint32_t segment, uint32_t track, enum gt_aspect aspect, bool derived);
	/* the busier a thread, the larger */
	uint64_t (*weight)(void *arg, uint32_t segment, uint32_t thread);
	void *arg;
	/* do its GPUs have waiting launches? NULL: unknown */
	bool (*queues)(void *queues_arg, uint32_t segment);
	void *queues_arg;
	const struct gt_counter_key *counters; /* as listed by gt_list_counters; borrowed */
	size_t ncounters;
};

struct gt_lanes {
	struct gt_reader *reader; /* borrowed */
	struct gt_lanes_callbacks callbacks;
	struct gt_lane_line *lines; /* the visible lines from the top */
	size_t n, cap;
	struct gt_lanes_of *of; /* by segment */
	uint32_t *segments;     /* in the order of display */
	uint32_t nsegments;
	char filter[64];
	bool threads_away; /* all threads count as less busy: see gt_lanes_unfold_to */
	/* the list ends at `most` while gt_lanes_unfold_to tries what fits */
	bool limited;
	size_t most;
	bool looking, found; /* while the code checks whether any line exists */
	bool failed;         /* memory ran out */
};

/* All lanes are folded except the top level. l->lines is empty until gt_lanes_list(). The reader
 * and the data of `callbacks` must outlive `l`. 0 or -ENOMEM; call gt_lanes_release() in both
 * cases. */
int gt_lanes_init(struct gt_lanes *l, struct gt_reader *r,
	const struct gt_lanes_callbacks *callbacks, struct gt_err *err);
void gt_lanes_release(struct gt_lanes *l);
/* Continues with a newer reader of the same trace. Folding, hiding, order and filter stay; the
 * list is empty. The previous reader is not used. Otherwise like gt_lanes_init. */
int gt_lanes_reopen(struct gt_lanes *l, struct gt_reader *r,
	const struct gt_lanes_callbacks *callbacks, struct gt_err *err);
/* Rebuilds the list after a change or when more is known. 0 or -ENOMEM. */
int gt_lanes_list(struct gt_lanes *l);
/* Unfolds the most important lanes that fit into so many lines: processes, then GPUs, then
 * threads, the busiest first. A single lane is always unfolded. If the GPUs of several processes
 * do not fit together with threads, the threads stay folded. Call it when all is folded; it
 * lists the lanes. */
int gt_lanes_unfold_to(struct gt_lanes *l, size_t lines);

/* Index of that lane in the list; if it is not listed, of the lane above it; else 0. */
size_t gt_lanes_find(const struct gt_lanes *l, const struct gt_lane_line *what);
/* These change the next list, not the current one. Each returns whether it changed anything. */
bool gt_lanes_fold(struct gt_lanes *l, const struct gt_lane_line *what, bool fold);
void gt_lanes_fold_all(struct gt_lanes *l, bool fold);
/* all lanes above the track's line */
void gt_lanes_unfold_above(struct gt_lanes *l, uint32_t segment, uint32_t track);
/* its own lines */
void gt_lanes_unfold_track(struct gt_lanes *l, uint32_t segment, uint32_t track);
bool gt_lanes_hide(struct gt_lanes *l, const struct gt_lane_line *what);
bool gt_lanes_show_hidden(struct gt_lanes *l);
/* -1 up or 1 down among its siblings */
bool gt_lanes_move(struct gt_lanes *l, const struct gt_lane_line *what, int by);
/* The stream belongs to those for which one line stands, if there are two or more below the same
 * line. Returns whether that changes anything. */
bool gt_lanes_set_minor(struct gt_lanes *l, uint32_t segment, uint32_t track, bool minor);
/* Keeps only tracks whose name contains this text (ignoring case), and the lanes above and below
 * them. "": all. */
void gt_lanes_filter(struct gt_lanes *l, const char *text);

#define GT_LANE_LABEL 120
/* The label of a line, without indentation: "GPU 0 NVIDIA H200", "stream 7", "pt_autograd_0
 * 716", "ioctls". */
void gt_lanes_label(
	const struct gt_lanes *l, const struct gt_lane_line *what, char to[GT_LANE_LABEL]);
/* The label with those of the lanes above it, outermost first, joined by " > ". It omits the
 * segment, and the process if there is only one. */
void gt_lanes_path(
	const struct gt_lanes *l, const struct gt_lane_line *what, char *to, size_t room);
#endif
