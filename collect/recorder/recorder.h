/* The recorder reads the rings of every traced thread and passes rows to the writer. */
#ifndef GT_RECORDER_H
#define GT_RECORDER_H
#include "collect/ipc/guest_server.h"
#include "collect/ipc/shared_memory.h"
#include "formats/trace/write/writer.h"

#define GT_SECOND 1000000000LL /* ns */

struct gt_recorder;

/* a driver function that was looked up and that the table lacks */
struct gt_unknown_function {
	char *name;
	uint64_t count;
};
struct gt_gpu_totals;
struct gt_recorder_totals {
	uint64_t dropped;     /* calls for which no chunk was free */
	uint64_t untraced;    /* calls that passed because a table was full */
	uint64_t deep;        /* calls nested too deep to record */
	uint64_t abandoned;   /* calls left by longjmp or an exception */
	uint64_t in_handler;  /* calls of signal handlers that came while a record was written */
	uint64_t sampled_out; /* calls that --sample left out */
	uint64_t nameless;    /* calls lost because the trace's dictionary is full */
	uint64_t broken;      /* rings that the program overwrote with something else */
	uint64_t open;        /* calls that were open at the last epoch's close */
	uint32_t processes, threads;               /* seen in all */
	struct gt_unrecorded_processes unrecorded; /* once finished */
	uint32_t clock_error;                      /* ns: of the worst clock anchor */
	/* a process had libcuda mapped when it came; it was the simulator's */
	bool libcuda, simulated;
	int32_t driver_version; /* what cuDriverGetVersion said, when it was recorded; 0 */
	const struct gt_unknown_function *unknown_functions; /* borrowed until the next pass */
	size_t nunknown_functions;
	uint64_t gpu_lost;               /* events of a GPU for which no chunk was free */
	const struct gt_gpu_totals *gpu; /* NULL: was not asked for */
};

/* Both stay the caller's, as does the writer; door is NULL where no process connects (tests).
 * new: close it. */
struct gt_recorder *gt_recorder_open(struct gt_rings *rings, struct gt_guest_server *server,
	struct gt_writer *w, struct gt_err *err);
/* One round over all threads. Returns how many bytes of records it took (0: nothing to do), or
 * negative: the writer failed. */
int64_t gt_recorder_pass(struct gt_recorder *r, struct gt_err *err);
/* Rows came to the writer from elsewhere (counters): their epoch is to close as if calls had come.
 */
void gt_recorder_mark_active(struct gt_recorder *r);
/* The last passes: takes all committed records, closes an epoch with the open calls. 0 or
 * negative. */
int gt_recorder_finish(struct gt_recorder *r, struct gt_err *err);
/* How many processes have attached and not exited; checks each. */
unsigned gt_recorder_count_alive(struct gt_recorder *r);
const struct gt_recorder_totals *gt_recorder_totals(struct gt_recorder *r);
void gt_recorder_close(struct gt_recorder *r); /* NULL is fine */

/* ns between passes: shorter ones would only make the clock's pieces short */
#define GT_POLL_MIN 500000LL
#define GT_POLL_MAX 10000000LL
/* ns from the start of the last pass to that of the next. The last pass took `taken` bytes, `since`
 * ns after the one before; `space` is the free bytes of the rings (gt_rings_free_bytes). */
int64_t gt_poll_interval(uint64_t space, int64_t taken, int64_t since);
#endif
