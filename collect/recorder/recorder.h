/* The recorder reads the rings of every traced thread and passes rows to the writer. */
#ifndef GT_RECORDER_H
#define GT_RECORDER_H
#include "collect/ipc/guest_server.h"
#include "collect/ipc/shared_memory.h"
#include "collect/recorder/native_symbols.h"
#include "collect/recorder/other_threads.h"
#include "formats/trace/write/writer.h"

#define GT_SECOND 1000000000LL /* ns */

struct gt_recorder;

/* a driver function that a program looked up and that cuda_api.def lacks */
struct gt_unknown_function {
	char *name;
	uint64_t count;
};
struct gt_gpu_totals;
struct gt_recorder_totals {
	uint64_t dropped;      /* calls lost because no chunk was free */
	uint64_t untraced;     /* calls not recorded because a table of slots was full */
	uint64_t cpu_lost;     /* records lost because the ring of a CPU was full (eBPF), and: */
	uint64_t unseen_waits; /* waits whose end the kernel did not report */
	/* records that gtcollect itself writes (eBPF, perf events), lost because no chunk was free,
	 * or no slot for their thread */
	uint64_t own_dropped, own_untraced;
	struct gt_process_losses process_losses;
	uint64_t sched_rows; /* of scheduling */
	uint64_t samples;    /* of the host's threads */
	struct gt_native_symbols_missing symbols_missing;
	const struct gt_other_threads *others; /* borrowed until the next pass */
	struct gt_sampling_failures unsampled; /* of samples by timers of threads */
	uint64_t unhelped;    /* processes with incomplete native stacks: see gt_session */
	uint32_t own_slots;   /* slots of threads for these records */
	uint64_t deep;        /* calls nested too deep to record */
	uint64_t abandoned;   /* calls left by longjmp or an exception */
	uint64_t in_handler;  /* calls of signal handlers that came while a record was written */
	uint64_t sampled_out; /* calls that --sample left out */
	uint64_t nameless;    /* rows lost because the trace's dictionary is full */
	uint64_t broken;      /* rings with damaged contents */
	uint64_t open;        /* calls that were open when the last epoch closed */
	uint32_t processes, threads;               /* ever attached */
	struct gt_unrecorded_processes unrecorded; /* filled in by gt_recorder_finish */
	uint32_t clock_error;                      /* ns: error of the worst clock anchor */
	/* a process had libcuda mapped when it attached; and it was the simulator's */
	bool libcuda, simulated;
	int32_t driver_version; /* result of a recorded cuDriverGetVersion; 0: none */
	const struct gt_unknown_function *unknown_functions; /* borrowed until the next pass */
	size_t nunknown_functions;
	uint64_t gpu_lost;               /* records of GPU work lost because no chunk was free */
	const struct gt_gpu_totals *gpu; /* NULL: not requested */
};

/* rings, server and writer stay the caller's. server is NULL in tests. new: close it. */
struct gt_recorder *gt_recorder_open(struct gt_rings *rings, struct gt_guest_server *server,
	struct gt_writer *w, struct gt_err *err);
/* Frames of native code get source lines at the end, for which up to ns are spent. */
void gt_recorder_read_lines(struct gt_recorder *r, int64_t ns);
/* Reads the rings of all threads once. Returns how many bytes of records it read, or negative if
 * the writer failed. */
int64_t gt_recorder_pass(struct gt_recorder *r, struct gt_err *err);
/* A sampled source has written rows, so the epoch closes as after calls. */
void gt_recorder_mark_active(struct gt_recorder *r);
/* Makes the last passes: reads all committed records and closes an epoch with the open calls. 0 or
 * negative. */
int gt_recorder_finish(struct gt_recorder *r, struct gt_err *err);
/* How many processes have attached and not exited; checks each. */
unsigned gt_recorder_count_alive(struct gt_recorder *r);
const struct gt_recorder_totals *gt_recorder_totals(struct gt_recorder *r);
void gt_recorder_close(struct gt_recorder *r); /* NULL is fine */

/* ns between passes. The clock is converted piecewise from pass to pass; shorter pieces are no
 * better. */
#define GT_POLL_MIN 500000LL
#define GT_POLL_MAX 10000000LL
/* The interval from the start of the last pass to that of the next, in ns. The last pass read
 * `taken` bytes and began `since` ns after the one before; `space`: free bytes of the rings
 * (gt_rings_free_bytes). */
int64_t gt_poll_interval(uint64_t space, int64_t taken, int64_t since);
#endif
