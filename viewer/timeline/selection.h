/* The selection of the timeline: a row, a gap between rows or a damaged range of the file, and
 * the jumps from it to another one. Rows nearby are found immediately. Other jumps search the
 * trace in steps: gt_selection_step. */
#ifndef GT_SELECTION_H
#define GT_SELECTION_H
#include "viewer/lanes/damaged_ranges.h"
#include "viewer/search/event_search.h"
#include "viewer/cells/lane_cells.h"
#include "viewer/lanes/window.h"

enum gt_selection_kind {
	GT_SELECTION_NONE,
	GT_SELECTION_ROW,
	GT_SELECTION_GAP,
	GT_SELECTION_DAMAGED
};
struct gt_selection_job;
/* zero-initialised except the archive: nothing is selected */
struct gt_selection {
	struct gt_archive *archive; /* borrowed */
	enum gt_selection_kind what;
	/* the lane where it was selected: may be a union's */
	struct gt_lane_key lane;
	/* of a gap: the row before it with the latest end; of a damaged range: only its lane is set
	 */
	struct gt_event_ref row;
	struct gt_event_ref after; /* of a gap: the first row after it */
	/* GPU work and the call that launched it, if one of them is selected */
	struct gt_event_ref call, work;
	bool is_linked;
	struct gt_event_search *link_search; /* for the work of the selected call, or NULL */
	struct gt_damaged_range hole;
	/* it was selected just now; the code that shows it resets this */
	bool is_new;
	struct gt_selection_job *job;    /* a search in progress */
	char status_text[120];           /* status text of the last jump, or empty */
	struct gt_block saved_blocks[2]; /* blocks of the selection, between two archives */
};
/* The origin of a jump: the selection if the cursor is on it, else this cell. */
struct gt_selection_origin {
	struct gt_lane_key lane;
	int64_t from, to; /* a cell, in the viewer's time */
	unsigned shift;   /* log2 of its width in ns: the minimum length of a gap */
	bool on_it;       /* the cursor is on the selection */
};
void gt_selection_release(struct gt_selection *p);
/* detach: call before the archive is closed; a search ends. reopen: continues with a newer
 * archive of the same trace. The selection stays if it still exists; an unfinished call stays
 * selected whether it has returned or not. 0 or negative. */
void gt_selection_detach(struct gt_selection *p);
int gt_selection_reopen(struct gt_selection *p, struct gt_archive *a, struct gt_err *err);

/* The range [from, to) of the selection in the viewer's time. */
void gt_selection_range(const struct gt_selection *p, int64_t *from, int64_t *to);

/* Each function changes the selection, or starts a search, or keeps the selection and sets the
 * status text. 0 or negative. */
int gt_select_row(
	struct gt_selection *p, const struct gt_lane_key *lane, const struct gt_event_ref *row);
/* the row that covers the cell or starts in it */
int gt_select_cell(
	struct gt_selection *p, const struct gt_selection_origin *at, struct gt_err *err);
/* The damaged range that overlaps the cell. If there is none, or it is already selected: like
 * gt_select_cell. */
int gt_select_damaged(
	struct gt_selection *p, const struct gt_selection_origin *at, struct gt_err *err);
/* next (1) or previous (-1) on the lane */
int gt_select_neighbour(
	struct gt_selection *p, const struct gt_selection_origin *at, int by, struct gt_err *err);
/* same name, on any lane */
int gt_select_same_name(
	struct gt_selection *p, const struct gt_selection_origin *at, int by, struct gt_err *err);
int gt_select_failure(
	struct gt_selection *p, const struct gt_selection_origin *at, int by, struct gt_err *err);
/* from a call to the work that it launched, and back */
int gt_select_partner(
	struct gt_selection *p, const struct gt_selection_origin *at, struct gt_err *err);
int gt_select_gap(
	struct gt_selection *p, const struct gt_selection_origin *at, int by, struct gt_err *err);
/* the longest gap of its lane in the window, of a ten-thousandth of the window or more */
int gt_select_longest_gap(struct gt_selection *p, const struct gt_selection_origin *at,
	const struct gt_cell_window *w, struct gt_err *err);
/* The row of the lane with this start (segment's time) and duration. */
int gt_select_exact(struct gt_selection *p, const struct gt_lane_key *lane, int64_t start,
	uint64_t dur, struct gt_err *err);
/* Rows for whose types wants() returns true; what: the word for such a row in messages. */
struct gt_selection_types {
	bool (*wants)(const struct gt_segment *seg, const struct gt_type *type, void *arg);
	void *arg;
	const char *what;
};
int gt_select_of_types(struct gt_selection *p, const struct gt_selection_origin *at,
	const struct gt_selection_types *types, int by, struct gt_err *err);
/* Rows of a stack search, which must live until the search ends. */
int gt_select_of_stack(struct gt_selection *p, const struct gt_selection_origin *at,
	const struct gt_stack_search *stack, int by, struct gt_err *err);
void gt_select_nothing(struct gt_selection *p);
/* Finds the call that launched the selected work, or starts a search for the work of the selected
 * call. Call it after each change of the selection. 0 or negative. */
int gt_selection_link(struct gt_selection *p, struct gt_err *err);
/* Continues that search. 1: there is more to do, 0, negative */
int gt_selection_step_link(struct gt_selection *p, uint64_t us, struct gt_err *err);

/* Continues a search for at most `us` µs (0: until done). 1: there is more to do, 0: done,
 * negative: error. */
int gt_selection_step(struct gt_selection *p, uint64_t us, struct gt_err *err);
/* returns whether there was a search */
bool gt_selection_stop(struct gt_selection *p);
/* the status line of a search; NULL: there is no search */
const char *gt_selection_progress(const struct gt_selection *p, char to[80]);
#endif
