/* Private to this folder. */
#ifndef GT_GPU_CORRELATE_INTERNAL_H
#define GT_GPU_CORRELATE_INTERNAL_H
#include "collect/correlate/gpu_correlate.h"

#define GT_GPU_RUNTIME_CBIDS 1024u
/* how long work waits for its call, and a call for its record */
#define GT_GPU_JOIN_TIMEOUT_NS 2000000000ll

struct gt_gpu_waits { /* of a process, see gpu_waits.c */
	struct gt_gpu_stream *handles;
	size_t n, cap, hint;
	struct gt_gpu_destroyed_stream *destroyed;
	size_t ndestroyed, destroyed_cap;
	struct gt_gpu_instance *instances;
	uint64_t last_number;
	struct gt_gpu_pending_wait *pending;
	size_t npending, pending_cap;
	int64_t reported_until; /* ns: end of the latest work reported */
};

/* The arguments of one gt_gpu_flush_ready. */
struct gt_gpu_flush {
	struct gt_correlator *g;
	struct gt_gpu_process *p;
	int64_t now; /* ns */
	bool last;   /* no more records will be added */
	gt_gpu_string *string;
	void *arg; /* of string */
	struct gt_err *err;
};

/* The number of the stream that a call means by its handle; each stream has its own number, also
 * if streams share a handle one after another. 0: unknown. Call it when all calls that ended
 * before this one have been added. */
uint64_t gt_gpu_stream_number(struct gt_gpu_waits *s, const struct gt_gpu_call *c);
/* 0 or -ENOMEM */
int gt_gpu_stream_destroy(struct gt_gpu_waits *s, const struct gt_gpu_call *c);
/* Work launched into the stream ran on this track. 0 or negative. */
int gt_gpu_stream_set_track(struct gt_gpu_waits *s, struct gt_writer *w, uint64_t stream,
	uint32_t track, uint32_t context, struct gt_err *err);
/* GT_NONE: unknown */
uint32_t gt_gpu_stream_get_track(const struct gt_gpu_waits *s, uint64_t stream);
int gt_gpu_stream_set_name(struct gt_gpu_waits *s, struct gt_writer *w, uint64_t handle,
	int64_t when, uint32_t name, struct gt_err *err);

/* Adds a call that waited. 0 or -ENOMEM. */
int gt_gpu_waits_add(struct gt_gpu_waits *s, const struct gt_gpu_call *c);
/* Writes the waits whose stream is known, or that have been pending too long. */
int gt_gpu_waits_flush_ready(const struct gt_gpu_flush *f);
void gt_gpu_waits_release(struct gt_gpu_waits *s);

/* ---- graph_nodes.c: captures ---- */
struct gt_gpu_captures {
	struct gt_gpu_capture_span {
		uint64_t stream;
		int64_t from, to /* INT64_MAX: it has not ended */;
	} * spans;
	size_t n, cap;
};
void gt_gpu_capture_begin(struct gt_gpu_captures *s, const struct gt_gpu_call *c);
void gt_gpu_capture_end(struct gt_gpu_captures *s, const struct gt_gpu_call *c);
bool gt_gpu_is_captured(const struct gt_gpu_captures *s, const struct gt_gpu_call *c);
bool gt_gpu_is_capturing(const struct gt_gpu_captures *s);

/* ---- graph_bodies.c ---- */
/* A call that launched a graph, and the known times of its work. */
struct gt_gpu_graph_launch {
	struct gt_gpu_call call;
	uint32_t correlation; /* 0: CUPTI's record of the call has not been matched */
	uint32_t graph;       /* the instance's number in CUPTI; 0: not known */
	/* start and end of the work with its correlation id; 0: none is known */
	int64_t first, last;
	int64_t after, before; /* bounds of all its work */
};
/* A node of a conditional body. leads, trails: in some launch it ran before, after all work with
 * the launch's correlation id. */
struct gt_gpu_body_node {
	uint64_t node;
	bool leads, trails;
};
struct gt_gpu_bodies {                        /* of a process */
	struct gt_gpu_graph_launch *launches; /* sorted by the start of the call */
	size_t n, cap;
	struct gt_gpu_body_node *nodes;
	size_t nnodes, nodes_cap;
};
/* A call launched a graph. 0 or -ENOMEM. */
int gt_gpu_bodies_add_launch(struct gt_gpu_bodies *b, const struct gt_gpu_call *c);
/* The call has this correlation id. */
void gt_gpu_bodies_set_correlation(
	struct gt_gpu_bodies *b, const struct gt_gpu_call *c, uint32_t correlation);
/* A call waited for a stream or a context. one_context: the process uses one context only. */
void gt_gpu_bodies_add_wait(struct gt_gpu_bodies *b, const struct gt_gpu_call *c, bool one_context);
/* Work that was joined to the call by its correlation id. */
void gt_gpu_bodies_add_work(
	struct gt_gpu_bodies *b, const struct gt_gpu_call *c, const struct gt_gpu_work *w);
/* Finds the launch of work without a correlation id; *found is NULL if there is none. False: later
 * records may decide it. */
bool gt_gpu_bodies_find(struct gt_gpu_process *p, const struct gt_gpu_work *w, bool late,
	const struct gt_gpu_graph_launch **found, enum gt_join *how);
void gt_gpu_bodies_release(struct gt_gpu_bodies *b);

/* ---- gpu_emit.c: launches without a record ---- */
/* Counts a call without GPU work; the next gt_gpu_missing_write writes its row. 0 or negative. */
void gt_gpu_missing_add(struct gt_correlator *g, const struct gt_gpu_call *c);
int gt_gpu_missing_write(struct gt_correlator *g, struct gt_err *err);

/* ---- graph_nodes.c ---- */
struct gt_gpu_nodes { /* of a process */
	struct gt_gpu_created_node {
		uint64_t node;
		struct gt_gpu_cause by;
		struct gt_nccl_calls nccl;
	} * created;
	size_t ncreated, created_cap;
	struct gt_gpu_graph_copy {
		uint32_t graph, from;
		uint64_t handle;  /* the program's handle of the copy; 0: unknown */
		int64_t when;     /* ns: when it was made */
		uint32_t earlier; /* index of the copy that had the handle before, or GT_NONE */
	} * copies;
	size_t ncopies, copies_cap;
	struct gt_map by_node, by_graph, by_handle;
};
/* *by, *nccl: the call that created the node; both are unchanged if it is unknown. */
void gt_gpu_node_find(const struct gt_gpu_nodes *n, uint64_t node, struct gt_gpu_cause *by,
	struct gt_nccl_calls *nccl);
/* CUPTI's number of the instance that had this handle at that time; 0: unknown. */
uint32_t gt_gpu_instance_number(const struct gt_gpu_nodes *n, uint64_t handle, int64_t when);
void gt_gpu_nodes_release(struct gt_gpu_nodes *n);

/* ---- gpu_correlate.c ---- */
/* creates *p if it is NULL; NULL: no memory */
struct gt_gpu_process *gt_gpu_process_at(struct gt_gpu_process **p, uint32_t track);
struct gt_gpu_pending_call {
	struct gt_gpu_call call;
	bool matched /* CUPTI's record of it is known */;
};
struct gt_gpu_thread_queue {
	int32_t tid;
	struct gt_gpu_pending_call *calls;
	size_t first, n, cap;
	int64_t used; /* ns: since when it is empty; 0: it is not */
};
/* One of several driver calls within a runtime call. CUPTI's records have only the correlation id
 * of the runtime call. */
struct gt_gpu_inner {
	struct gt_gpu_call call;
	uint32_t records;
};
struct gt_gpu_correlation_entry {
	uint32_t correlation;
	bool used;
	uint32_t records;
	uint32_t ninner; /* 0: the call is `call` */
	int64_t since;   /* ns: the last record of work, or when the entry was made */
	struct gt_gpu_inner *inner;
	struct gt_gpu_call call;
};
struct gt_gpu_pending_event {
	int64_t since;
	struct gt_gpu_event e;
};
struct gt_gpu_event_queue {
	struct gt_gpu_pending_event *items;
	size_t n, cap;
};
struct gt_gpu_track {
	uint32_t kind /* enum gt_track_kind */, device, context, stream, track;
};

struct gt_gpu_process {
	uint32_t track;            /* of the process */
	bool on, ever_on, flushed; /* flushed: it delivered all records when it exited */
	bool probed;               /* USDT probes report its kernels */
	bool by_events;            /* CUDA events time its work */
	/* the only context with work; GT_NONE: there are several */
	uint32_t context;
	struct gt_gpu_captures captures;
	struct gt_gpu_waits waits;
	int64_t calls_lost_since; /* ns; 0: its calls can be recorded */
	struct gt_gpu_nodes nodes;
	struct gt_gpu_bodies bodies;
	int64_t yielded_since; /* ns: since when another profiler may have CUPTI; 0: none has */
	int64_t loss_certain_since; /* ns: since when it surely has */
	/* Earlier times at which another profiler had CUPTI. Between surely_from and surely_to
	 * nothing was recorded; between the maybe_ times and these, some of the work was. */
	struct cupti_absence {
		int64_t maybe_from, surely_from, surely_to, maybe_to;
	} * absences;
	size_t nabsences, absences_cap;
	/* queue_hint: index of the last one looked up */
	struct gt_gpu_thread_queue *thread_queues;
	size_t nthread_queues, thread_queues_cap, queue_hint;
	struct gt_gpu_correlation_entry *correlations;
	uint32_t ncorrelations, mask;
	int64_t shrunk_at;
	struct gt_gpu_event_queue states, records, works;
	/* tracks of devices, contexts, streams, and threads with runtime calls */
	struct gt_gpu_track *places;
	size_t nplaces, places_cap;
	struct gt_map by_place;
	int64_t calls_from, calls_to; /* ns: start of the first, end of the last recorded call */
	int64_t first_flush;          /* ns: the first gt_gpu_flush_ready */
};
struct gt_correlator {
	struct gt_writer *w;
	struct gt_gpu_types types;
	uint32_t source, source_events;
	bool partly;
	/* runtime calls become rows */
	bool runtime_rows;
	/* type plus one of a runtime call, by its number; [0]: of all others */
	uint32_t runtime[GT_GPU_RUNTIME_CBIDS];
	uint32_t tracks; /* made */
	size_t calls;    /* pending calls, of all processes */
	/* calls without a record that have no row yet */
	struct {
		struct gt_gpu_call *calls;
		size_t n, cap, written;
	} missing;
	struct gt_gpu_totals totals;
};

/* The bytes of a copy or a set. */
static inline uint64_t gt_gpu_event_bytes(const struct gt_gpu_event *e)
{
	return e->id == GT_EV_COPY ? e->body.copy.bytes : e->body.set.bytes;
}

/* ---- gpu_match_calls.c ---- */
/* Adds a launching call, which waits for CUPTI's record of it. 0 or -ENOMEM. */
int gt_gpu_calls_add(
	struct gt_correlator *g, struct gt_gpu_process *p, const struct gt_gpu_call *c);
/* Matches CUPTI's record of a call with the call. 1: matched; 0: not yet; -ENOMEM. */
int gt_gpu_match_cupti_call(const struct gt_gpu_flush *f, const struct gt_gpu_event *e);
/* Matches CUPTI's record of a runtime call with the driver calls within it, which get its
 * correlation id. 1: matched; 0: not yet, or there are none; -ENOMEM. */
int gt_gpu_match_runtime_call(const struct gt_gpu_flush *f, const struct gt_gpu_event *e);
/* Finds the call that launched the work. False: it may still become known. */
bool gt_gpu_find_launch(const struct gt_gpu_flush *f, const struct gt_gpu_event *e, uint32_t kernel,
	bool late, struct gt_gpu_work *w, struct gt_gpu_call *by);
/* Removes all entries; counts their calls without GPU work. */
void gt_gpu_correlations_release(struct gt_correlator *g, struct gt_gpu_process *p);
/* Finds the call of work that CUDA events timed, by thread and ticks. False: it may still become
 * known. */
bool gt_gpu_find_timed_launch(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, bool late, struct gt_gpu_work *w, struct gt_gpu_call *by);
/* Removes calls that wait for a record for too long, and the queues of threads that launch no
 * more: a program may start a million threads a day. */
void gt_gpu_calls_expire(const struct gt_gpu_flush *f);
void gt_gpu_thread_queue_remove(struct gt_correlator *g, struct gt_gpu_process *p, size_t i);

/* ---- cupti_ownership.c ---- */
/* Adds a report. 0 or -ENOMEM. */
int gt_gpu_states_add(struct gt_gpu_process *p, const struct gt_gpu_event *e);
/* Applies the reports that can follow the current state. 0 or negative. */
int gt_gpu_states_flush_ready(const struct gt_gpu_flush *f);
/* CUPTI was resumed between `back` and `to`. The GPU work of the absence is written as lost. 0 or
 * negative. */
int gt_gpu_absence_end(struct gt_correlator *g, struct gt_gpu_process *p, int64_t back, int64_t to,
	struct gt_err *err);
/* Might another profiler have had CUPTI at some time of the call? Did it surely have it all the
 * time? */
bool gt_gpu_cupti_maybe_lost(const struct gt_gpu_process *p, const struct gt_gpu_call *c);
bool gt_gpu_cupti_surely_lost(const struct gt_gpu_process *p, const struct gt_gpu_call *c);

/* ---- gpu_emit.c ---- */
/* Writes a runtime call as a row. 0 or negative. */
int gt_gpu_emit_runtime_call(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, struct gt_err *err);
/* Does such a call usually give the GPU work? */
bool gt_gpu_runtime_launches(const struct gt_gpu_event *e);
/* Both return GT_NONE if there are too many tracks. */
uint32_t gt_gpu_device_track(struct gt_correlator *g, struct gt_gpu_process *p, uint32_t device);
uint32_t gt_gpu_stream_track_by_id(struct gt_correlator *g, struct gt_gpu_process *p,
	uint32_t device, uint32_t context, uint32_t stream);
/* 0 or negative. */
int gt_gpu_emit_kernel(struct gt_correlator *g, const struct gt_gpu_work *w,
	const struct gt_ev_kernel *e, uint32_t name, const struct gt_nccl_calls *nccl,
	struct gt_err *err);
int gt_gpu_emit_copy(struct gt_correlator *g, const struct gt_gpu_work *w,
	const struct gt_ev_copy *e, struct gt_err *err);
int gt_gpu_emit_managed(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, struct gt_err *err);
int gt_gpu_emit_overhead(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, struct gt_err *err);
int gt_gpu_emit_set(struct gt_correlator *g, const struct gt_gpu_work *w, const struct gt_ev_set *e,
	struct gt_err *err);
#endif
