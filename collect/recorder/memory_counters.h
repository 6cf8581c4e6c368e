/* Counters of live bytes per device and kind, from the calls that allocate and free. */
#ifndef GT_MEMORY_COUNTERS_H
#define GT_MEMORY_COUNTERS_H
#include "collect/ipc/ring.h"
#include "formats/trace/write/writer.h"

struct gt_memory;         /* of one recorder */
struct gt_memory_process; /* of one process; NULL: it has allocated nothing */

/* A successful call with an op of gt_api_is_memory(); or GT_OP_NONE: a context was destroyed with
 * all its memory. */
struct gt_memory_call {
	uint8_t op, kind; /* enum gt_op, enum gt_memkind */
	/* GT_LIVE_NO_DEVICE: unknown, or no GPU memory */
	uint8_t device;
	/* ns: the start of a call that frees or unmaps, the end of any other */
	int64_t at;
	/* bytes: the handle of a mapping; 0 in an allocation: its size is unknown */
	uint64_t addr, bytes;
};
/* The track of a device of this process, or GT_NONE. */
typedef uint32_t gt_memory_track(void *arg, uint32_t device);

/* new: close it. NULL: out of memory. The writer stays the caller's. */
struct gt_memory *gt_memory_open(struct gt_writer *w);
void gt_memory_close(struct gt_memory *m); /* NULL is fine */
/* Adds a call to the queue. *p is created if NULL; track: of the process; uncertain: it may have
 * allocations that were not recorded. 0 or -ENOMEM. */
int gt_memory_call(struct gt_memory_process **p, uint32_t track, bool uncertain,
	const struct gt_memory_call *c);
/* Its values are not certain any more: calls were lost or not recorded. */
void gt_memory_mark_uncertain(struct gt_memory_process *p);
/* Are there calls to apply, or values to write? */
bool gt_memory_has_pending(const struct gt_memory_process *p);
/* Applies the calls up to `until`: all of them have been added. 0 or negative; *wrote: there were
 * rows. */
int gt_memory_flush_ready(struct gt_memory *m, struct gt_memory_process *p, int64_t until,
	gt_memory_track *track_of, void *arg, bool *wrote, struct gt_err *err);
/* No more calls will be added. exited: the process has ended and has no memory any more. */
int gt_memory_end(struct gt_memory *m, struct gt_memory_process *p, int64_t now, bool exited,
	gt_memory_track *track_of, void *arg, struct gt_err *err);
void gt_memory_process_close(struct gt_memory_process *p); /* NULL is fine */
#endif
