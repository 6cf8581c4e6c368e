/* Writes CUPTI's records of GPU work, which the guest passes on, as rows with the call that
 * launched them.
 *
 * A join needs three records, which arrive in any order: the guest's record of a launching call (in
 * the thread's ring, when the call has returned), CUPTI's record of the same call, which has a
 * correlation id, and CUPTI's records of the GPU work with that id. The first two describe one call
 * if they have the same thread and overlap in time.
 *
 * Work that CUDA events timed names its call itself, because the guest records the events around
 * that call. */
#ifndef GT_GPU_CORRELATE_H
#define GT_GPU_CORRELATE_H
#include "collect/ipc/ring.h"
#include "formats/cuda/gpu_rows.h"

struct gt_correlator;  /* of one recorder */
struct gt_gpu_process; /* of one process; NULL: it has reported no GPU work */

struct gt_gpu_totals {
	uint64_t kernels, copies, sets, waits; /* rows */
	/* waits for or in a stream that is unknown, because arguments are not recorded */
	uint64_t waits_nowhere;
	/* kernels, copies and sets joined to a call by correlation, by order, not at all */
	uint64_t exact, inferred, unjoined;
	/* the call of the correlation id launched something else: not joined */
	uint64_t wrong;
	/* records that CUPTI dropped; records in another profiler's clock */
	uint64_t dropped, foreign;
	uint64_t impossible;     /* records with impossible times */
	uint64_t without_record; /* launches without a record */
	uint64_t pending;        /* calls whose records may still come */
	uint64_t captured;       /* launches that became nodes of a graph */
	uint64_t nameless;       /* rows lost because there are too many names or streams */
	uint64_t graphs;         /* rows of graph launches timed as a whole */
	uint64_t untimed[GT_UNTIMED_COUNT]; /* calls without a time, by enum gt_untimed */
	/* ns: the largest clock error of CUDA events, of all processes */
	uint64_t clock_error;
	uint32_t by_events; /* processes in which CUDA events were used */
	uint64_t outside;   /* work of calls that options exclude */
	/* how often another user of CUPTI got it, and we got it back */
	uint32_t yields, resumed;
	uint64_t cupti_absent_ns; /* ns without CUPTI, sum of all processes */
	char other[200];          /* library of the other user */
	/* processes with CUPTI or CUDA events; processes in which both were missing or refused */
	uint32_t processes, refused;
	uint32_t no_calls; /* processes in which --inject could not record calls */
	uint32_t forked;   /* forked children of processes with CUPTI, which does not work there */
	uint64_t runtime;  /* rows of calls of the CUDA runtime */
	uint64_t managed, migrated;      /* rows of managed memory; migrated bytes */
	uint64_t overheads, overhead_ns; /* rows; ns that recording took */
	/* requested kinds of records that are not available, and why; "": none */
	char without[200];
	/* "CUPTI 13.0 (PATH)", or why it is missing, of the first process that says so */
	char state[200];
};

enum gt_gpu_call_kind {
	GT_GPU_CALL_WORKS /* may have given the GPU work */,
	GT_GPU_CALL_WAITS,
	GT_GPU_CALL_BEGINS_CAPTURE /* its stream is captured into a graph from now on */,
	GT_GPU_CALL_ENDS_CAPTURE,
	GT_GPU_CALL_ENDS_STREAM
};
/* Calls of NCCL that share kernels: one, or those between ncclGroupStart and ncclGroupEnd. */
struct gt_nccl_calls {
	uint64_t communicator; /* NCCL's id. 0: not known; GT_NCCL_SEVERAL */
	uint64_t bytes;        /* sum of the messages; 0: not known, or counted before */
};
#define GT_NCCL_SEVERAL UINT64_MAX
/* A call that concerns GPU work, as in its row. */
struct gt_gpu_call {
	uint16_t id;                           /* of the API table */
	uint8_t kind;                          /* enum gt_gpu_call_kind */
	uint8_t wait;                          /* enum gt_gpu_wait, if it waits */
	bool has_shape, has_stream, has_bytes; /* grid and block, stream, bytes are known */
	/* a copy or set of 0 bytes, which gives the GPU no work */
	bool empty;
	bool per_thread; /* the default stream is the thread's */
	/* it has become a node of a graph; false: it may have */
	bool captured;
	uint32_t track;     /* of the thread */
	int32_t tid;        /* in the process's pid namespace */
	int64_t start, end; /* ns */
	uint64_t ticks;     /* its start in the guest's clock */
	uint32_t name;      /* of the function, string id */
	uint32_t stack;     /* plus one; 0: none */
	uint32_t kernel;    /* string id, or GT_NONE */
	uint32_t grid[3], block[3];
	uint64_t stream; /* the handle */
	uint64_t bytes;
	uint64_t event; /* handle of the event that it waited for, or GT_GPU_NO_EVENT */
	/* handle of the graph instance that it launched; 0: none, or not recorded */
	uint64_t graph;
	struct gt_nccl_calls nccl; /* it launches a kernel for these; all 0: for none */
};
struct gt_gpu_event {
	uint16_t id;
	int64_t start, end;
	uint8_t n;
	union gt_gpu_event_body body;
};

/* new: close it. NULL: out of memory. The writer stays the caller's. partly: only a part of the
 * time or of the calls is recorded, so work without a call is not written. runtime_rows: runtime
 * calls become rows; otherwise CUPTI's records of them only serve to join work. */
struct gt_correlator *gt_gpu_open(struct gt_writer *w, bool partly, bool runtime_rows);
void gt_gpu_close(struct gt_correlator *g);
/* Add a call, an event. *p is created if NULL; track: of the process. 0 or -ENOMEM. */
int gt_gpu_call(struct gt_correlator *g, struct gt_gpu_process **p, uint32_t track,
	const struct gt_gpu_call *c);
int gt_gpu_event(struct gt_correlator *g, struct gt_gpu_process **p, uint32_t track,
	const struct gt_gpu_event *e);
/* The call `by` created a graph node, or was captured as one. The graph `graph` was cloned or
 * instantiated from `from`, and the program has its handle from `when` on (ns). Nodes and graphs
 * are CUPTI's numbers. nccl: the node runs for these; NULL: for none. 0 or -ENOMEM. */
int gt_gpu_node_created(struct gt_gpu_process **p, uint32_t track, uint64_t node,
	const struct gt_gpu_cause *by, const struct gt_nccl_calls *nccl);
int gt_gpu_graph_cloned(struct gt_gpu_process **p, uint32_t track, uint32_t graph, uint32_t from,
	uint64_t handle, int64_t when);
/* The track of a device of the process; GT_NONE: no memory, or too many tracks. */
uint32_t gt_gpu_device(
	struct gt_correlator *g, struct gt_gpu_process **p, uint32_t track, uint32_t device);
/* The program names a stream. A stream without work gets the name when work has run on it. 0 or
 * negative. */
int gt_gpu_name_stream(struct gt_correlator *g, struct gt_gpu_process **p, uint32_t track,
	uint64_t handle, int64_t when, uint32_t name, struct gt_err *err);
/* Writes the rows of all work whose call is known, or that has waited for it for
 * GT_GPU_JOIN_TIMEOUT_NS. string: looks up the string of a hash in this process; GT_NONE: not
 * known yet. last: no more records will be added. 0 or negative. */
typedef uint32_t gt_gpu_string(void *arg, uint64_t hash);
int gt_gpu_flush_ready(struct gt_correlator *g, struct gt_gpu_process *p, int64_t now, bool last,
	gt_gpu_string *string, void *arg, struct gt_err *err);
void gt_gpu_process_close(struct gt_correlator *g, struct gt_gpu_process *p); /* NULL is fine */
const struct gt_gpu_totals *gt_gpu_totals(struct gt_correlator *g);
#endif
