/* Tracks the live memory of each process.
 *
 * Allocations and frees of all threads of a process are sorted by time and applied to a table of
 * live addresses. An allocation counts from its end, a free from its start: before an address is
 * allocated again, its free has begun. So this order is correct for each address, whatever the
 * threads do, and never shows more memory than was really live. Only successful calls count.
 * formats/trace/read/live_allocations.h defines which process owns an address; the recorder
 * computes its counters in the same way.
 *
 * A free of an address that is not in the table (allocated before the recording, or lost) is an
 * unknown free. Not counted as frees: a free of NULL; a release of physical memory that has further
 * handles; and a release of physical memory that was not allocated here. An allocation at an
 * address that is in the table means that a free was missed: the old allocation ends there. */
#ifndef GT_HELD_H
#define GT_HELD_H
#include "analyze/memory/alloc_sites.h"
#include "analyze/order/time_merge.h"
#include "formats/trace/read/live_allocations.h"

#define GT_MEMORY_ALL GT_MEMKIND_COUNT /* the sum of all kinds */

struct gt_account {
	uint64_t allocs, failed, frees, null_frees, unknown_frees, references, imported, allocated,
		freed, live, live_count, peak;
	uint64_t sized, tracked; /* allocations with known size; of these with known address */
	int64_t peak_at;
};
/* a code of the current block that allocates or frees */
struct gt_memory_op {
	uint32_t code, name;
	uint8_t op, kind;
};
/* A call that is not sorted yet; gt_moment.addr is its index. name: a string id; track: of its
 * thread. */
struct gt_memory_event {
	uint64_t addr, bytes, ns;
	uint32_t place, name, track, next, stack; /* stack: plus 1; 0: none */
	uint8_t op, kind;
	bool sized;
};
/* A call changed the live memory of process `place`, and of a group (or GT_NONE). */
typedef int gt_memory_changed_fn(void *arg, int64_t at, const struct gt_memory_event *e,
	uint32_t place, uint32_t group, struct gt_err *err);
typedef int gt_memory_free_fn(void *arg, const struct gt_memory_event *e, struct gt_err *err);

struct gt_memory_tracker {
	gt_memory_changed_fn *changed; /* callback in order of time, or NULL */
	gt_memory_free_fn *freeing; /* callback for each call that frees, in any order, or NULL */
	void *arg;
	bool grouped;  /* `groups` is filled */
	bool by_stack; /* and its groups differ by the stack of the allocation */
	struct gt_process_slots where;
	struct gt_live live;
	struct gt_account (*kinds)[GT_MEMORY_ALL + 1]; /* by segment */
	struct gt_account *places;                     /* by process slot */
	/* likewise: the end of its last call that allocates or frees; INT64_MIN: none */
	int64_t *ended;
	struct gt_alloc_groups groups;
	struct gt_memory_event *events; /* calls that are not sorted yet, and free entries */
	size_t nevents, events_cap;
	uint32_t free_event; /* 1 + index of the first free entry, or 0 */
	struct gt_time_merge *lines;
	struct gt_memory_op *whats;
	size_t nwhats, whats_cap;
	uint64_t block, missed_frees, not_followed, late;
	const struct gt_segment *block_seg;
};

int gt_memory_tracker_init(
	struct gt_memory_tracker *m, struct gt_reader *r, bool grouped, struct gt_err *err);
/* GT_CALL and GT_INSTANT, GT_BY_TIME, with arguments. */
int gt_memory_tracker_run(
	struct gt_memory_tracker *m, const struct gt_cols *cols, struct gt_err *err);
int gt_memory_tracker_finish(
	struct gt_memory_tracker *m, struct gt_err *err); /* after the last run */
void gt_memory_tracker_release(struct gt_memory_tracker *m);
/* Live memory is known only if all allocations and frees are counted. The reason why not, or NULL.
 */
const char *gt_memory_why_partial(const struct gt_report_state *a);
/* Why live memory is empty although there were allocations, or NULL. partial: of the above. */
const char *gt_memory_why_unknown(
	const struct gt_memory_tracker *m, struct gt_reader *r, const char *partial);
#endif
