/* What is picked out of the timeline, a row, a gap between rows or a hole in the file, and the ways that lead from it to another one. Rows near by are there
 * at once. For what may be anywhere the trace is searched a portion at a time: gt_choice_step. */
#ifndef GT_CHOICE_H
#define GT_CHOICE_H
#include "viewer/lanes/damaged_ranges.h"
#include "viewer/search/event_search.h"
#include "viewer/lanes/window.h"

enum gt_picked { GT_PICKED_NOTHING, GT_PICKED_ROW, GT_PICKED_GAP, GT_PICKED_HOLE };
struct gt_choice_job;
struct gt_choice {			/* zero-initialised but for the archive: nothing */
	struct gt_archive *archive;	/* borrowed */
	enum gt_picked what;
	struct gt_lane_of lane;		/* on which it was picked: it may be a union's */
	struct gt_found row;		/* of a gap: the row before it that ends last; of a hole: its lane only */
	struct gt_found behind;		/* of a gap: the first row behind it */
	struct gt_hole hole;
	bool go;			/* it was picked just now: for who shows it, and sets this back */
	struct gt_choice_job *job;	/* a search that is not over */
	char said[120];			/* about the last jump; or empty */
	struct gt_block kept[2];	/* of what is picked, between two archives */
};
/* Where one jumps from: what is picked, if the user still stands on it, or else this place. */
struct gt_choice_at {
	struct gt_lane_of lane;
	int64_t from, to;		/* a cell of the viewer's time */
	unsigned shift;			/* log2 of its width: gaps are as wide at least */
	bool on_it;			/* the user stands on what is picked */
};
void gt_choice_release(struct gt_choice *p);
/* Its archive is about to be closed: a search ends. It goes on with another one of the same trace, with more in it; what is picked stays
 * picked if it is there: of a call that was open, that call, whether it has returned or not. Again: 0 or negative. */
void gt_choice_let_go(struct gt_choice *p);
int gt_choice_again(struct gt_choice *p, struct gt_archive *a, struct gt_err *err);

/* The viewer's time of a row of a segment, and that of what is picked: [from, to). */
int64_t gt_choice_time(const struct gt_choice *p, const struct gt_found *row);
void gt_choice_range(const struct gt_choice *p, int64_t *from, int64_t *to);

/* Each picks something else, or begins to search for it, or leaves what is picked and says why. 0 or negative. */
int gt_choice_row(struct gt_choice *p, const struct gt_lane_of *lane, const struct gt_found *row);
int gt_choice_here(struct gt_choice *p, const struct gt_choice_at *at, struct gt_err *err);		/* what covers the cell, or begins in it */
/* The hole that has some of the cell, where there is one; else, and where it is picked already, as gt_choice_here. */
int gt_choice_hole(struct gt_choice *p, const struct gt_choice_at *at, struct gt_err *err);
int gt_choice_beside(struct gt_choice *p, const struct gt_choice_at *at, int by, struct gt_err *err);	/* next (1) or before (-1) on the lane */
int gt_choice_same(struct gt_choice *p, const struct gt_choice_at *at, int by, struct gt_err *err);	/* of the same name, on any lane */
int gt_choice_failure(struct gt_choice *p, const struct gt_choice_at *at, int by, struct gt_err *err);
int gt_choice_partner(struct gt_choice *p, const struct gt_choice_at *at, struct gt_err *err);		/* of a call: what it launched; and back */
int gt_choice_gap(struct gt_choice *p, const struct gt_choice_at *at, int by, struct gt_err *err);
/* The row of the lane that starts there (segment's time) and lasts that long. */
int gt_choice_exactly(struct gt_choice *p, const struct gt_lane_of *lane, int64_t start, uint64_t dur, struct gt_err *err);
/* Rows of which wants() is true of their types; what: how messages call one. */
struct gt_choice_types { bool (*wants)(const struct gt_segment *seg, const struct gt_type *type, void *arg); void *arg; const char *what; };
int gt_choice_of_types(struct gt_choice *p, const struct gt_choice_at *at, const struct gt_choice_types *types, int by, struct gt_err *err);
void gt_choice_nothing(struct gt_choice *p);

/* Goes on with a search for some us (0: to its end). 1: there is more to do, 0, negative. */
int gt_choice_step(struct gt_choice *p, uint64_t us, struct gt_err *err);
bool gt_choice_stop(struct gt_choice *p);			/* was there a search? */
const char *gt_choice_progress(const struct gt_choice *p, char to[80]);	/* of a search: a line; NULL: there is none */
#endif
