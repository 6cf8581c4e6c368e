/* Single rows: what the cursor stands on, what comes before and behind it, what it says, what it belongs to. A
 * lane is a strip at one depth. Few blocks are opened for any of this; searches that may go through all of them are in event_search.h. */
#ifndef GT_EVENT_LOOKUP_H
#define GT_EVENT_LOOKUP_H
#include <limits.h>
#include "viewer/model/block_schedule.h"

struct gt_lane_key { struct gt_strip_key strip; unsigned depth; };
#define GT_DEPTH_ANY UINT_MAX

struct gt_event_ref {			/* a row; its times are the segment's */
	struct gt_lane_key lane;		/* of its own track, and own depth */
	const struct gt_block *block;
	uint32_t row;			/* in the block's gt_rows */
	enum gt_kind kind;
	int64_t start, dur;
	uint32_t type;
	int32_t ret;
	uint64_t bytes;
};
static inline int64_t gt_event_ref_end(const struct gt_event_ref *f) { return f->start + f->dur; }

struct gt_event_ref gt_event_ref_of_row(const struct gt_open_block *r, const struct gt_block *block, uint32_t track, uint32_t i);	/* row i, of a track */

/* All: 1 with *found filled in, 0: there is none, negative. */

/* The row of a lane that covers `at` (segment's time), or else the first one that starts in [at, to). Of several the one that started last. */
int gt_event_at(struct gt_archive *a, const struct gt_lane_key *lane, int64_t at, int64_t to, struct gt_event_ref *found, struct gt_err *err);
/* The next row of the lane by start, or the one before. `lane` may be a union's, of which `from` is one row. */
int gt_event_next(struct gt_archive *a, const struct gt_lane_key *lane, const struct gt_event_ref *from, struct gt_event_ref *found, struct gt_err *err);
int gt_event_before(struct gt_archive *a, const struct gt_lane_key *lane, const struct gt_event_ref *from, struct gt_event_ref *found,
		    struct gt_err *err);
/* The gap around `at` (segment's time): of the rows that start before it the one that ends last, at `at` at the latest; and the first row that
 * starts from it on. */
int gt_gap_at(struct gt_archive *a, const struct gt_lane_key *lane, int64_t at, struct gt_event_ref *before, struct gt_event_ref *behind,
	      struct gt_err *err);
/* The call that launched it, of work of a GPU that knows it. The other way needs a search (GT_SEARCH_LAUNCHED). */
int gt_event_launch(struct gt_archive *a, const struct gt_event_ref *work, struct gt_event_ref *call, struct gt_err *err);

/* Everything that a row says: to each field of it, its name and its value as text. -ENOMEM, or what fn returned. */
typedef int gt_field_fn(void *arg, const char *name, const char *value);
int gt_event_fields(struct gt_archive *a, const struct gt_event_ref *f, gt_field_fn *fn, void *arg, struct gt_err *err);
const char *gt_event_name(struct gt_archive *a, const struct gt_event_ref *f);	/* as recorded: names of kernels are mangled */

#endif
