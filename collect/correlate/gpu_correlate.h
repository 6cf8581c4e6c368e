/* From CUPTI's records of GPU work, as the guest passes them on, to rows that name the call that
 * launched them.
 *
 * Three records come by three ways, in any order: the guest's record of a launching call (in the
 * thread's ring, when the call has returned); CUPTI's record of the same call, which gives it a
 * correlation id; and CUPTI's records of the GPU work, with that id. The first two describe one
 * call when they are of one thread and overlap in time.
 *
 * Work that CUDA events timed names its call itself, because the guest records the events around
 * that call. */
#ifndef GT_GPU_CORRELATE_H
#define GT_GPU_CORRELATE_H
#include "collect/ipc/ring.h"
#include "formats/cuda/gpu_rows.h"

struct gt_correlator;  /* of one recorder */
struct gt_gpu_process; /* of one process; NULL: it has reported no GPU */

struct gt_gpu_totals {
	uint64_t kernels, copies, sets, waits; /* rows */
	/* of the waits for, or in, a stream: the call's argument, which is it, was not recorded */
	uint64_t waits_nowhere;
	/* of kernels, copies and sets: joined to a call by correlation, by order, not at all */
	uint64_t exact, inferred, unjoined;
	/* joined to a call that launched something else: not joined, in the end */
	uint64_t wrong;
	/* records that CUPTI dropped; that had another profiler's clock */
	uint64_t dropped, foreign;
	uint64_t impossible;                /* records whose times cannot be */
	uint64_t without_record;            /* launches that no record came for */
	uint64_t captured;                  /* launches that became nodes of a graph */
	uint64_t nameless;                  /* lost, as there are too many names or streams */
	uint64_t graphs;                    /* rows of graphs that were timed as a whole */
	uint64_t untimed[GT_UNTIMED_COUNT]; /* calls that have no time, by enum gt_untimed */
	/* ns: CUDA events' times may be off by so much; the worst of all processes */
	uint64_t clock_error;
	uint32_t by_events; /* processes in which CUDA events were used */
	uint64_t outside;   /* work of calls that were not to be recorded */
	/* times that we made way for another user of CUPTI, and came back */
	uint32_t yields, resumed;
	uint64_t away;   /* ns in all, of all processes */
	char other[200]; /* its library */
	/* in which CUPTI was on; in which there was none, or it refused */
	uint32_t processes, refused;
	uint32_t no_calls;          /* in which, injected into, no calls could be recorded */
	uint32_t forked;            /* children of those in which it was on: it is dead there */
	uint64_t runtime;           /* rows of calls of the CUDA runtime */
	uint64_t managed, migrated; /* rows of what managed memory did; bytes that migrated */
	uint64_t overheads, overhead_ns; /* rows; ns that recording itself took */
	/* the kinds of records that were requested and are not available, and why; empty: none */
	char without[200];
	/* "CUPTI 13.0 (PATH)", or why there is none; the first one that is worth saying */
	char state[200];
};

enum gt_gpu_call_kind {
	GT_GPU_CALL_WORKS /* may have made the GPU work */,
	GT_GPU_CALL_WAITS,
	GT_GPU_CALL_BEGINS_CAPTURE /* into a graph, from now on */,
	GT_GPU_CALL_ENDS_CAPTURE,
	GT_GPU_CALL_ENDS_STREAM
};
/* A call that has to do with the GPU's work, as its row has it. */
struct gt_gpu_call {
	uint16_t id;                  /* of the API table */
	uint8_t does;                 /* enum gt_gpu_call_kind */
	uint8_t wait;                 /* enum gt_gpu_wait, of one that waits */
	bool shaped, streamed, sized; /* grid and block, stream, bytes are known */
	/* a copy or set of no bytes: the driver gives the GPU nothing to do */
	bool empty;
	bool per_thread; /* the default stream is the thread's */
	/* it is known to have become a node of a graph; false: it may have */
	bool captured;
	uint32_t track;     /* of the thread */
	int32_t tid;        /* as the process knows it */
	int64_t start, end; /* ns */
	uint64_t ticks;     /* its start, as the guest read it */
	uint32_t name;      /* of the function, string id */
	uint32_t kernel;    /* string id, or GT_NONE */
	uint32_t grid[3], block[3];
	uint64_t stream; /* the handle */
	uint64_t bytes;
	uint64_t event; /* that it waited for, a handle, or GT_GPU_NO_EVENT */
	/* the handle of the instance that it launched; 0: none, or not recorded */
	uint64_t graph;
};
struct gt_gpu_event {
	uint16_t id;
	int64_t start, end;
	uint8_t n;
	union gt_event_body body;
};

/* new: close it. NULL: out of memory. The writer stays the caller's. partly: only a part of the
 * time or of the calls is recorded, so work without a call was not requested. runtime_rows:
 * calls of the runtime become rows; otherwise CUPTI's records of them only say which work they
 * launched. */
struct gt_correlator *gt_gpu_open(struct gt_writer *w, bool partly, bool runtime_rows);
void gt_gpu_close(struct gt_correlator *g);
/* Both take note only. *p is made at need; track: of the process. 0 or -ENOMEM. */
int gt_gpu_call(struct gt_correlator *g, struct gt_gpu_process **p, uint32_t track,
	const struct gt_gpu_call *c);
int gt_gpu_event(struct gt_correlator *g, struct gt_gpu_process **p, uint32_t track,
	const struct gt_gpu_event *e);
/* This call created a node of a graph, or was captured as one; a graph was made, or instantiated,
 * from another. By CUPTI's numbers, and the program's handle of the new graph or instance, which it
 * has from `when` on (ns). 0 or -ENOMEM. */
int gt_gpu_node_created(
	struct gt_gpu_process **p, uint32_t track, uint64_t node, const struct gt_gpu_cause *by);
int gt_gpu_graph_cloned(struct gt_gpu_process **p, uint32_t track, uint32_t graph, uint32_t from,
	uint64_t handle, int64_t when);
/* The track of a device of the process, made at need; GT_NONE: no memory, or too many. */
uint32_t gt_gpu_device(
	struct gt_correlator *g, struct gt_gpu_process **p, uint32_t track, uint32_t device);
/* The program calls this stream so, now or as soon as something has run on it. 0 or negative. */
int gt_gpu_name_stream(struct gt_correlator *g, struct gt_gpu_process **p, uint32_t track,
	uint64_t handle, int64_t when, uint32_t name, struct gt_err *err);
/* Writes the rows of all work whose call is known by now, or that has waited too long for it.
 * string: the string that a hash stands for in this process, GT_NONE while it is unknown. last:
 * there will be no more records. 0 or negative. */
typedef uint32_t gt_gpu_string(void *arg, uint64_t hash);
int gt_gpu_flush_ready(struct gt_correlator *g, struct gt_gpu_process *p, int64_t now, bool last,
	gt_gpu_string *string, void *arg, struct gt_err *err);
void gt_gpu_process_close(struct gt_correlator *g, struct gt_gpu_process *p); /* NULL is fine */
const struct gt_gpu_totals *gt_gpu_totals(const struct gt_correlator *g);
#endif
