/* How much memory a program holds, as counters: live bytes per device and kind, from its allocation
 * calls. */
#ifndef GT_MEMORY_COUNTERS_H
#define GT_MEMORY_COUNTERS_H
#include "collect/ipc/ring.h"
#include "formats/trace/write/writer.h"

struct gt_memory;         /* of one recorder */
struct gt_memory_process; /* of one process, NULL: it has not allocated */

/* A call that succeeded, of the ops that gt_api_is_memory() knows; or GT_OP_NONE: a context was
 * destroyed with all its memory. */
struct gt_memory_call {
	uint8_t op, kind; /* enum gt_op, enum gt_memkind */
	/* of memory on a GPU; GT_LIVE_NO_DEVICE: not known, or none */
	uint8_t device;
	/* ns: the end of what brings memory or holds it, the start of what gives it back */
	int64_t at;
	/* bytes: of a mapping the handle. 0 of an allocation: its size is not known */
	uint64_t addr, bytes;
};
/* The track of a device of this process, or GT_NONE. */
typedef uint32_t gt_memory_track(void *arg, uint32_t device);

/* new: close it. NULL: out of memory. The writer stays the caller's. */
struct gt_memory *gt_memory_open(struct gt_writer *w);
void gt_memory_close(struct gt_memory *m); /* NULL is fine */
/* Takes note. *p is made at need; track: of the process; doubtful: it may have allocated before,
 * unseen. 0 or -ENOMEM. */
int gt_memory_call(struct gt_memory_process **p, uint32_t track, bool uncertain,
	const struct gt_memory_call *c);
/* Its figures are not certain any more: calls of it were lost, or not to be recorded. */
void gt_memory_mark_uncertain(struct gt_memory_process *p);
/* are there calls that were not played, or values not written yet? */
bool gt_memory_has_pending(const struct gt_memory_process *p);
/* Writes the known values: no call before `until` will arrive any more. 0 or negative; *wrote:
 * were there rows? */
int gt_memory_flush_ready(struct gt_memory *m, struct gt_memory_process *p, int64_t until,
	gt_memory_track *track_of, void *arg, bool *wrote, struct gt_err *err);
/* No more calls will arrive for it. gone: the process has ended, and holds no memory any more. */
int gt_memory_end(struct gt_memory *m, struct gt_memory_process *p, int64_t now, bool exited,
	gt_memory_track *track_of, void *arg, struct gt_err *err);
void gt_memory_process_close(struct gt_memory_process *p); /* NULL is fine */
#endif
