/* Lookup of single events: the event at a time on a lane, its neighbours, its fields and the
 * call that launched it. A lane is a strip at one depth. Each lookup opens few blocks. Searches
 * that may read all blocks are in event_search.h. */
#ifndef GT_EVENT_LOOKUP_H
#define GT_EVENT_LOOKUP_H
#include <limits.h>
#include "viewer/model/block_schedule.h"

struct gt_lane_key {
	struct gt_strip_key strip;
	unsigned depth;
};
static inline bool gt_same_lane(const struct gt_lane_key *a, const struct gt_lane_key *b)
{
	return gt_same_strip(&a->strip, &b->strip) && a->depth == b->depth;
}
#define GT_DEPTH_ANY UINT_MAX

struct gt_event_ref {            /* a reference to a row; its times are the segment's */
	struct gt_lane_key lane; /* its own track and depth */
	const struct gt_block *block;
	uint32_t row; /* index in the block's gt_rows */
	enum gt_kind kind;
	int64_t start, dur;
	uint32_t type;
	int32_t ret;
	uint64_t bytes;
};
static inline int64_t gt_event_ref_end(const struct gt_event_ref *f) { return f->start + f->dur; }

/* row i of this track */
struct gt_event_ref gt_event_ref_of_row(
	const struct gt_open_block *r, const struct gt_block *block, uint32_t track, uint32_t i);

/* A reference to no row, from which the first row that starts at t or later is the next one
 * (forward), or the last row that starts before t is the one before. segment's time */
struct gt_event_ref gt_event_ref_of_time(int64_t t, bool forward);

/* Each function returns 1 and fills in *found; 0: there is no such row; negative: error. */

/* The row of a lane that covers `at` (segment's time), else the first one that starts in [at,
 * to). If several rows cover it: the one with the latest start. */
int gt_event_at(struct gt_archive *a, const struct gt_lane_key *lane, int64_t at, int64_t to,
	struct gt_event_ref *found, struct gt_err *err);
/* The next row of the lane by start, or the previous one. `lane` may be a union; `from` is then one
 * of its rows. */
int gt_event_next(struct gt_archive *a, const struct gt_lane_key *lane,
	const struct gt_event_ref *from, bool forward, struct gt_event_ref *found,
	struct gt_err *err);
/* The gap around `at` (segment's time). before: the row with the latest end among those that
 * start before `at`; it ends at `at` or earlier. after: the first row that starts at `at` or
 * later. */
int gt_gap_at(struct gt_archive *a, const struct gt_lane_key *lane, int64_t at,
	struct gt_event_ref *before, struct gt_event_ref *after, struct gt_err *err);
/* The call that launched this GPU work, if the row names it. The other direction needs a search
 * (GT_SEARCH_LAUNCHED). */
int gt_event_launch(struct gt_archive *a, const struct gt_event_ref *work,
	struct gt_event_ref *call, struct gt_err *err);

/* Calls fn with the name and the text value of each field of a row. Returns -ENOMEM, or the
 * value that fn returned. */
typedef int gt_field_fn(void *arg, const char *name, const char *value);
int gt_event_fields(struct gt_archive *a, const struct gt_event_ref *f, gt_field_fn *fn, void *arg,
	struct gt_err *err);
/* The call stack of a row: an id in its segment. 1; 0: it has none; negative: error. */
int gt_event_stack(
	struct gt_archive *a, const struct gt_event_ref *f, uint64_t *stack, struct gt_err *err);
/* as recorded: kernel names are mangled */
const char *gt_event_name(struct gt_archive *a, const struct gt_event_ref *f);

#endif
