/* What memory the program held.
 *
 * Allocations and frees of all threads of a process are put in order of time and played against a
 * table of live addresses. An allocation counts from its end, a free from its start: before an
 * address can be handed out again its free has begun, so this order is right for each address
 * whatever the threads do, and never shows more than was really held. Only calls that succeeded
 * count. formats/trace/read/live_allocations.h says which address is whose; the recorder's counters
 * are made in the same way. A free of an address that is not in the table (allocated before
 * recording began, or lost) is an unknown free; one of NULL frees nothing and is counted apart; so
 * is one that gives back a hold on physical memory which others still hold, or which was not
 * allocated here. An allocation at an address that is in the table tells that a free was missed;
 * the old one ends there. */
#ifndef GT_HELD_H
#define GT_HELD_H
#include "analyze/memory/alloc_sites.h"
#include "analyze/order/time_merge.h"
#include "formats/trace/read/live_allocations.h"

#define GT_HELD_ALL GT_MEMKIND_COUNT /* the sum of all kinds */

struct gt_account {
	uint64_t allocs, failed, frees, null_frees, unknown_frees, references, imported, allocated,
		freed, live, live_count, peak;
	uint64_t sized, tracked; /* allocations whose size is known; and whose address too */
	int64_t peak_at;
};
/* a code of the block at hand that allocates or frees */
struct gt_held_what {
	uint32_t code, name;
	uint8_t op, kind;
};
/* A call in the line of time, whose moment holds its number; name: a string id; track: its
 * thread's. */
struct gt_held_event {
	uint64_t addr, bytes, ns;
	uint32_t place, name, track, next;
	uint8_t op, kind;
	bool sized;
};
/* A call has changed what the process `place` holds, and of which group (GT_NONE: none). */
typedef int gt_held_fn(void *arg, int64_t at, const struct gt_held_event *e, uint32_t place,
	uint32_t group, struct gt_err *err);
typedef int gt_held_free_fn(void *arg, const struct gt_held_event *e, struct gt_err *err);

struct gt_memory_tracker {
	gt_held_fn *changed;      /* the caller's, or NULL: by time */
	gt_held_free_fn *freeing; /* likewise: each call that frees, in any order */
	void *arg;
	bool grouped; /* groups are wanted */
	struct gt_process_slots where;
	struct gt_live live;
	struct gt_account (*kinds)[GT_HELD_ALL + 1]; /* per segment */
	struct gt_account *places;                   /* per process */
	/* likewise: the end of its last call that changes what is allocated; INT64_MIN: there was
	 * none */
	int64_t *ended;
	struct gt_alloc_groups groups;
	struct gt_held_event *events; /* those that are in the line of time, and free ones */
	size_t nevents, events_cap;
	uint32_t free_event; /* 1 + the first of the free ones, or 0 */
	struct gt_time_merge *lines;
	struct gt_held_what *whats;
	size_t nwhats, whats_cap;
	uint64_t block, missed_frees, not_followed, late;
	const struct gt_segment *block_seg;
};

int gt_held_init(
	struct gt_memory_tracker *m, struct gt_reader *r, bool grouped, struct gt_err *err);
/* GT_CALL and GT_INSTANT, GT_BY_TIME, with arguments. */
int gt_held_run(struct gt_memory_tracker *m, const struct gt_cols *cols, struct gt_err *err);
int gt_held_finish(struct gt_memory_tracker *m, struct gt_err *err); /* no more runs */
void gt_held_release(struct gt_memory_tracker *m);
#endif
