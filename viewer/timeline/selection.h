/* What is picked out of the timeline, a row, a gap between rows or a hole in the file, and the ways that lead from it to another one. Rows near by are there
 * at once. For what may be anywhere the trace is searched a portion at a time: gt_selection_step. */
#ifndef GT_SELECTION_H
#define GT_SELECTION_H
#include "viewer/lanes/damaged_ranges.h"
#include "viewer/search/event_search.h"
#include "viewer/lanes/window.h"

enum gt_selection_kind { GT_SELECTION_NONE, GT_SELECTION_ROW, GT_SELECTION_GAP, GT_SELECTION_DAMAGED };
struct gt_selection_job;
struct gt_selection {			/* zero-initialised but for the archive: nothing */
	struct gt_archive *archive;	/* borrowed */
	enum gt_selection_kind what;
	struct gt_lane_key lane;		/* on which it was picked: it may be a union's */
	struct gt_event_ref row;		/* of a gap: the row before it that ends last; of a hole: its lane only */
	struct gt_event_ref behind;		/* of a gap: the first row behind it */
	struct gt_damaged_range hole;
	bool go;			/* it was picked just now: for who shows it, and sets this back */
	struct gt_selection_job *job;	/* a search that is not over */
	char said[120];			/* about the last jump; or empty */
	struct gt_block kept[2];	/* of what is picked, between two archives */
};
/* Where one jumps from: what is picked, if the user still stands on it, or else this place. */
struct gt_selection_origin {
	struct gt_lane_key lane;
	int64_t from, to;		/* a cell of the viewer's time */
	unsigned shift;			/* log2 of its width: gaps are as wide at least */
	bool on_it;			/* the user stands on what is picked */
};
void gt_selection_release(struct gt_selection *p);
/* Its archive is about to be closed: a search ends. It goes on with another one of the same trace, with more in it; what is picked stays
 * picked if it is there: of a call that was open, that call, whether it has returned or not. Again: 0 or negative. */
void gt_selection_detach(struct gt_selection *p);
int gt_selection_reopen(struct gt_selection *p, struct gt_archive *a, struct gt_err *err);

/* The viewer's time of a row of a segment, and that of what is picked: [from, to). */
int64_t gt_selection_time(const struct gt_selection *p, const struct gt_event_ref *row);
void gt_selection_range(const struct gt_selection *p, int64_t *from, int64_t *to);

/* Each picks something else, or begins to search for it, or leaves what is picked and says why. 0 or negative. */
int gt_select_row(struct gt_selection *p, const struct gt_lane_key *lane, const struct gt_event_ref *row);
int gt_select_at(struct gt_selection *p, const struct gt_selection_origin *at, struct gt_err *err);		/* what covers the cell, or begins in it */
/* The hole that has some of the cell, where there is one; else, and where it is picked already, as gt_select_at. */
int gt_select_damaged(struct gt_selection *p, const struct gt_selection_origin *at, struct gt_err *err);
int gt_select_neighbour(struct gt_selection *p, const struct gt_selection_origin *at, int by, struct gt_err *err);	/* next (1) or before (-1) on the lane */
int gt_select_same_name(struct gt_selection *p, const struct gt_selection_origin *at, int by, struct gt_err *err);	/* of the same name, on any lane */
int gt_select_failure(struct gt_selection *p, const struct gt_selection_origin *at, int by, struct gt_err *err);
int gt_select_partner(struct gt_selection *p, const struct gt_selection_origin *at, struct gt_err *err);		/* of a call: what it launched; and back */
int gt_select_gap(struct gt_selection *p, const struct gt_selection_origin *at, int by, struct gt_err *err);
/* The row of the lane that starts there (segment's time) and lasts that long. */
int gt_select_exact(struct gt_selection *p, const struct gt_lane_key *lane, int64_t start, uint64_t dur, struct gt_err *err);
/* Rows of which wants() is true of their types; what: how messages call one. */
struct gt_selection_types { bool (*wants)(const struct gt_segment *seg, const struct gt_type *type, void *arg); void *arg; const char *what; };
int gt_select_of_types(struct gt_selection *p, const struct gt_selection_origin *at, const struct gt_selection_types *types, int by, struct gt_err *err);
void gt_select_nothing(struct gt_selection *p);

/* Goes on with a search for some us (0: to its end). 1: there is more to do, 0, negative. */
int gt_selection_step(struct gt_selection *p, uint64_t us, struct gt_err *err);
bool gt_selection_stop(struct gt_selection *p);			/* was there a search? */
const char *gt_selection_progress(const struct gt_selection *p, char to[80]);	/* of a search: a line; NULL: there is none */
#endif
