/* The lanes of the timeline: one line each for what is drawn of a track. They stand in a tree that follows the tracks (process, its GPUs
 * with their streams, in contexts where there are several, its threads) and can be folded, hidden, put in another order and filtered;
 * what is seen of it is a flat list. Of a trace with a million streams a few bytes each are held, and lines only of those that are seen. */
#ifndef GT_LANES_H
#define GT_LANES_H
#include <stdbool.h>
#include <stddef.h>
#include "viewer/cells/counter_cells.h"

enum gt_lane_kind {
	GT_LANE_SEGMENT,	/* one of several recordings; nothing is drawn in it */
	GT_LANE_TRACK,		/* stands for a track: a process, GPU, stream, thread ... */
	GT_LANE_RANGES,		/* the outermost ranges of a thread that makes calls, too; stands above it */
	GT_LANE_MORE,		/* the threads of a process that do little beside its others; nothing is drawn in it */
	GT_LANE_COUNTER,	/* of a track, beneath its own line: what it stood at (counter_cells.h) */
	GT_LANE_QUEUE,		/* of a GPU, or of one of its streams, beneath its own line: how many launches waited (queue_lanes.h) */
	GT_LANE_PART		/* something of a track beneath its own line: deeper calls or ranges, ioctls, copies, waits ... */
};
/* Which lane it is: kind, segment, track, type, aspect, derived and depth. These stay the same whatever is folded, hidden or moved. */
struct gt_lane_line {
	uint32_t segment, track;	/* track GT_NONE: of a whole segment */
	uint32_t type;			/* of a counter */
	uint8_t kind;
	uint8_t aspect, depth;		/* what is drawn in it; aspect 0: nothing */
	bool derived;
	uint8_t indent;
	bool folds, folded;		/* has lines beneath it; and does not show them */
};
/* Does the line show what something stood at? */
static inline bool gt_lane_is_counter(const struct gt_lane_line *line)
{
	return line->kind == GT_LANE_COUNTER || line->kind == GT_LANE_QUEUE;
}

/* What is known of tracks by now; asked when lanes are made and listed. */
struct gt_lanes_known {
	unsigned (*depths)(void *arg, uint32_t segment, uint32_t track, enum gt_aspect aspect, bool derived);	/* that there are: bits */
	uint64_t (*weight)(void *arg, uint32_t segment, uint32_t thread);	/* the busier a thread, the larger */
	void *arg;
	bool (*queues)(void *queues_arg, uint32_t segment);	/* have its GPUs launches that wait? NULL: nobody knows of any */
	void *queues_arg;
	const struct gt_counter_key *counters;	/* as listed by gt_list_counters; borrowed */
	size_t ncounters;
};

struct gt_lanes {
	struct gt_reader *reader;	/* borrowed */
	struct gt_lanes_known known;
	struct gt_lane_line *lines;	/* what is to be seen, from the top */
	size_t n, cap;
	struct gt_lanes_of *of;		/* by segment */
	uint32_t *segments;		/* in their order */
	uint32_t nsegments;
	char filter[64];
	bool threads_away;		/* all threads, and what comes behind them, stand with those that do little: see gt_lanes_unfold_to */
	bool limited;			/* the list ends at `most`: while it is tried what fits */
	size_t most;
	bool looking, found;		/* while it is asked whether there is any line */
	bool failed;			/* no memory */
};

/* All folded but what stands at the top; nothing is listed. The reader is borrowed and must live longer; so must what `known` needs.
 * 0 or -ENOMEM; to be released in both cases. */
int gt_lanes_init(struct gt_lanes *l, struct gt_reader *r, const struct gt_lanes_known *known, struct gt_err *err);
void gt_lanes_release(struct gt_lanes *l);
/* The same trace with more in it, read anew: what is folded, hidden, moved and filtered stays so; nothing is listed. Nothing of the reader
 * before is looked at. As gt_lanes_init otherwise. */
int gt_lanes_reopen(struct gt_lanes *l, struct gt_reader *r, const struct gt_lanes_known *known, struct gt_err *err);
/* Makes the list anew: after something was changed, or more is known. 0 or -ENOMEM. */
int gt_lanes_list(struct gt_lanes *l);
/* Unfolds what matters most, as long as all fits into so many lines: processes, GPUs, then threads, the busiest first. What is alone is
 * unfolded always. Where the GPUs of several processes do not fit along with threads, these give way. To be called when all is folded;
 * lists. */
int gt_lanes_unfold_to(struct gt_lanes *l, size_t lines);

/* Where that lane is in the list; if it is not there, where the one is that it belongs to; else 0. */
size_t gt_lanes_find(const struct gt_lanes *l, const struct gt_lane_line *what);
/* These change what is listed next: the list is not touched. Each says whether there was something to change. */
bool gt_lanes_fold(struct gt_lanes *l, const struct gt_lane_line *what, bool fold);
void gt_lanes_fold_all(struct gt_lanes *l, bool fold);
void gt_lanes_unfold_above(struct gt_lanes *l, uint32_t segment, uint32_t track);	/* all that the track's line stands beneath */
void gt_lanes_unfold_track(struct gt_lanes *l, uint32_t segment, uint32_t track);	/* its own lines */
bool gt_lanes_hide(struct gt_lanes *l, const struct gt_lane_line *what);
bool gt_lanes_show_hidden(struct gt_lanes *l);
bool gt_lanes_move(struct gt_lanes *l, const struct gt_lane_line *what, int by);	/* -1 up or 1 down, among those beside it */
/* Only tracks whose name holds this text (letters of any case), what is beneath them, and what they are beneath. "": all. */
void gt_lanes_filter(struct gt_lanes *l, const char *text);

#define GT_LANE_LABEL 120
/* What a line is called, without indentation: "GPU 0 NVIDIA H200", "stream 7", "pt_autograd_0 716", "ioctls". */
void gt_lanes_label(const struct gt_lanes *l, const struct gt_lane_line *what, char to[GT_LANE_LABEL]);
/* The same with what it is beneath, outermost first, apart by " > "; without the segment and, where there is but one, the process. */
void gt_lanes_path(const struct gt_lanes *l, const struct gt_lane_line *what, char *to, size_t room);
#endif
