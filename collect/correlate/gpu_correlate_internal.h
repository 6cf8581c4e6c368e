/* Shared by the files of this folder, and private to them. */
#ifndef GT_GPU_CORRELATE_INTERNAL_H
#define GT_GPU_CORRELATE_INTERNAL_H
#include "collect/correlate/gpu_correlate.h"

#define GT_GPU_RUNTIME_CBIDS 1024u
/* ns that work waits for its call, and a call for its record */
#define GT_GPU_JOIN_TIMEOUT_NS 2000000000ll

struct gt_gpu_waits { /* of a process: see gpu_waits.c */
	struct gt_gpu_stream *handles;
	size_t n, cap, hint;
	struct gt_gpu_destroyed_stream *destroyed;
	size_t ndestroyed, destroyed_cap;
	struct gt_gpu_instance *instances;
	uint64_t last_number;
	struct gt_gpu_pending_wait *pending;
	size_t npending, pending_cap;
	int64_t reported_until; /* the GPU has reported all work up to this time */
};

/* The state of the process's work, for waits on streams that are unknown. */
struct gt_gpu_wait_defaults {
	uint32_t track /* of the process */, context /* the only one, or 0 */;
	bool has_work /* it has reported work, or may */;
};

/* The stream that a call means by its handle, as a number: one of its own for each stream that was
 * called so. 0: none is known. To be asked when all calls that ended before that one have come. */
uint64_t gt_gpu_stream_number(struct gt_gpu_waits *s, const struct gt_gpu_call *c);
/* 0 or -ENOMEM */
int gt_gpu_stream_destroy(struct gt_gpu_waits *s, const struct gt_gpu_call *c);
/* Work that was launched into it ran on this track. 0 or negative. */
int gt_gpu_stream_set_track(struct gt_gpu_waits *s, struct gt_writer *w, uint64_t stream,
	uint32_t track, uint32_t context, struct gt_err *err);
/* or GT_NONE */
uint32_t gt_gpu_stream_get_track(const struct gt_gpu_waits *s, uint64_t stream);
int gt_gpu_stream_set_name(struct gt_gpu_waits *s, struct gt_writer *w, uint64_t handle,
	int64_t when, uint32_t name, struct gt_err *err);

/* A call that waited. 0 or -ENOMEM. */
int gt_gpu_waits_add(struct gt_gpu_waits *s, const struct gt_gpu_call *c);
/* Writes those that can be written by now. */
int gt_gpu_waits_flush_ready(struct gt_gpu_waits *s, struct gt_gpu_types *types,
	const struct gt_gpu_wait_defaults *a, int64_t now, bool last, struct gt_gpu_totals *totals,
	struct gt_err *err);
void gt_gpu_waits_release(struct gt_gpu_waits *s);

/* ---- gpu_captures.c ---- */
struct gt_gpu_captures {
	struct gt_gpu_capture_span {
		uint64_t stream;
		int64_t from, to /* INT64_MAX: it runs */;
	} * spans;
	size_t n, cap;
};
void gt_gpu_capture_begin(struct gt_gpu_captures *s, const struct gt_gpu_call *c);
void gt_gpu_capture_end(struct gt_gpu_captures *s, const struct gt_gpu_call *c);
bool gt_gpu_is_captured(const struct gt_gpu_captures *s, const struct gt_gpu_call *c);
bool gt_gpu_is_capturing(const struct gt_gpu_captures *s);

/* ---- gpu_bodies.c ---- */
/* A call that launched a graph, and when its work ran, as far as is known. */
struct gt_gpu_graph_launch {
	struct gt_gpu_call call;
	uint32_t correlation; /* 0: CUPTI's record of the call has not come */
	uint32_t graph;       /* the instance's number in CUPTI; 0: not known */
	/* start and end of the work that has its correlation id; 0: none is known */
	int64_t first, last;
	int64_t after, before; /* all its work lies between */
};
/* A node of a conditional body: in some launch it ran before, behind all work that has the launch's
 * correlation id. */
struct gt_gpu_body_node {
	uint64_t node;
	bool leads, trails;
};
struct gt_gpu_bodies {                        /* of a process */
	struct gt_gpu_graph_launch *launches; /* in order of the calls' starts */
	size_t n, cap;
	struct gt_gpu_body_node *nodes;
	size_t nnodes, nodes_cap;
};
/* A call launched a graph. 0 or -ENOMEM. */
int gt_gpu_bodies_add_launch(struct gt_gpu_bodies *b, const struct gt_gpu_call *c);
/* CUPTI's id of that call. */
void gt_gpu_bodies_set_correlation(
	struct gt_gpu_bodies *b, const struct gt_gpu_call *c, uint32_t correlation);
/* A call waited for a stream or a context. one_context: the process works in one only. */
void gt_gpu_bodies_add_wait(struct gt_gpu_bodies *b, const struct gt_gpu_call *c, bool one_context);
/* Work of a call, joined by its correlation id. */
void gt_gpu_bodies_add_work(
	struct gt_gpu_bodies *b, const struct gt_gpu_call *c, const struct gt_gpu_work *w);
/* *found: the launch of work that has no correlation id, or NULL: none is known. False: more may
 * become known. */
bool gt_gpu_bodies_find(struct gt_gpu_process *p, const struct gt_gpu_work *w, bool late,
	const struct gt_gpu_graph_launch **found, enum gt_join *how);
void gt_gpu_bodies_release(struct gt_gpu_bodies *b);

/* ---- gpu_missing.c ---- */
/* The call caused no GPU work. It is counted now, and the next gt_gpu_missing_write writes it: 0
 * or negative. */
void gt_gpu_missing_add(struct gt_correlator *g, const struct gt_gpu_call *c);
int gt_gpu_missing_write(struct gt_correlator *g, struct gt_err *err);

/* ---- gpu_nodes.c ---- */
struct gt_gpu_nodes { /* of a process */
	struct gt_gpu_created_node {
		uint64_t node;
		struct gt_gpu_cause by;
	} * made;
	size_t nmade, made_cap;
	struct gt_gpu_graph_copy {
		uint32_t graph, from;
		uint64_t handle;  /* the program's, of the copy; 0: not known */
		int64_t when;     /* ns: it was made */
		uint32_t earlier; /* the copy that had the handle before, or GT_NONE */
	} * copies;
	size_t ncopies, copies_cap;
	struct gt_map by_node, by_graph, by_handle;
};
/* *by: the call that created the node, or as it was. */
void gt_gpu_node_find(const struct gt_gpu_nodes *n, uint64_t node, struct gt_gpu_cause *by);
/* CUPTI's number of the instance that had this handle then; 0: not known. */
uint32_t gt_gpu_instance_number(const struct gt_gpu_nodes *n, uint64_t handle, int64_t when);
void gt_gpu_nodes_release(struct gt_gpu_nodes *n);

/* ---- gpu_join.c ---- */
/* made at need; NULL: no memory */
struct gt_gpu_process *gt_gpu_process_at(struct gt_gpu_process **p, uint32_t track);
struct gt_gpu_pending_call {
	struct gt_gpu_call call;
	bool matched /* by its correlation */;
};
struct gt_gpu_thread_queue {
	int32_t tid;
	struct gt_gpu_pending_call *calls;
	size_t first, n, cap;
	int64_t used; /* when it was last empty and looked at */
};
/* One of several calls with one correlation id: CUPTI gives them only the id of the runtime call
 * around them. */
struct gt_gpu_inner {
	struct gt_gpu_call call;
	uint32_t records;
};
struct gt_gpu_correlation_entry {
	uint32_t correlation;
	bool used;
	uint32_t records;
	uint32_t ninner; /* 0: it is c */
	int64_t since;   /* the last record, or when it became known */
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
	bool on, ever_on, flushed; /* flushed: it delivered all records at its end */
	bool by_events;            /* CUDA events are used, not CUPTI */
	/* the only one that work was in; GT_NONE: there were more */
	uint32_t context;
	struct gt_gpu_captures captures;
	struct gt_gpu_waits waits;
	int64_t calls_lost_since; /* since when its calls cannot be recorded; 0: they can */
	struct gt_gpu_nodes nodes;
	struct gt_gpu_bodies bodies;
	int64_t yielded_since;      /* since when another profiler has CUPTI; 0: none has */
	int64_t loss_certain_since; /* since when it surely was */
	/* When that was so before. Between gone and back nothing was recorded, for sure; nearer to
	 * the ends some was and some was not. */
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
	/* devices, contexts, streams */
	struct gt_gpu_track *places;
	size_t nplaces, places_cap;
	struct gt_map by_place;
	/* tracks of runtime calls */
	struct gt_map by_tid;
	struct gt_gpu_runtime *runtimes;
	size_t nruntimes, runtimes_cap;
	int64_t calls_from, calls_to; /* recorded ones */
	int64_t first_flush;          /* when it was first settled */
};
struct gt_correlator {
	struct gt_writer *w;
	struct gt_gpu_types types;
	uint32_t source, source_events;
	bool partly;
	/* calls of the runtime become rows, and are not only known for their launches */
	bool runtime_rows;
	/* types of runtime calls, and 1; [0]: of all that have no name */
	uint32_t runtime[GT_GPU_RUNTIME_CBIDS];
	uint32_t tracks; /* made */
	size_t calls;    /* that wait */
	/* see gpu_missing.c */
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

/* ---- gpu_causes.c ---- */
/* A launching call waits for CUPTI's record of it. 0 or -ENOMEM. */
int gt_gpu_calls_add(
	struct gt_correlator *g, struct gt_gpu_process *p, const struct gt_gpu_call *c);
/* CUPTI's record of a call. 1: it found its call; 0: not yet; -ENOMEM. */
int gt_gpu_match_cupti_call(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, int64_t now);
/* CUPTI's record of a call of the runtime: the calls within it have its correlation id. Likewise; 0
 * also when there are none. */
int gt_gpu_match_runtime_call(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, int64_t now);
/* Finds what launched it. False: that may still become known. */
bool gt_gpu_find_launch(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, uint32_t kernel, int64_t now, bool late,
	struct gt_gpu_work *w, struct gt_gpu_call *by);
/* Removes the call. If it caused no GPU work, that is counted. */
void gt_gpu_correlation_release(struct gt_correlator *g, const struct gt_gpu_process *p,
	struct gt_gpu_correlation_entry *c);
/* What CUDA events were put around tells its call by thread and ticks, which is known when its
 * record has come. False: it may still. */
bool gt_gpu_find_timed_launch(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, bool late, struct gt_gpu_work *w, struct gt_gpu_call *by);
/* Calls that no record will come for any more, and lanes of threads that launch no more: there may
 * be a million in a day. */
void gt_gpu_calls_expire(struct gt_correlator *g, struct gt_gpu_process *p, int64_t now, bool last);
void gt_gpu_thread_queue_remove(struct gt_correlator *g, struct gt_gpu_process *p, size_t i);

/* ---- gpu_states.c ---- */
/* A state came in: 0 or -ENOMEM. */
int gt_gpu_states_add(struct gt_gpu_process *p, const struct gt_gpu_event *e);
/* Takes note of the states that came in. 0 or negative. */
int gt_gpu_states_flush_ready(struct gt_correlator *g, struct gt_gpu_process *p, int64_t now,
	bool last, gt_gpu_string *string, void *arg, struct gt_err *err);
/* CUPTI came back between `back` and `to`. What the GPU did while another one had it is not known:
 * written as lost. 0 or negative. */
int gt_gpu_absence_end(struct gt_correlator *g, struct gt_gpu_process *p, int64_t back, int64_t to,
	struct gt_err *err);
/* Did another profiler have CUPTI at any time of the call? Certainly, all the time? */
bool gt_gpu_cupti_maybe_lost(const struct gt_gpu_process *p, const struct gt_gpu_call *c);
bool gt_gpu_cupti_surely_lost(const struct gt_gpu_process *p, const struct gt_gpu_call *c);

/* ---- gpu_runtime.c ---- */
struct gt_gpu_runtime {
	int32_t tid;
	uint32_t track;
};
/* A row for a call of the runtime. 0 or negative. */
int gt_gpu_emit_runtime_call(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, struct gt_err *err);
/* such a call makes work, as a rule */
bool gt_gpu_runtime_launches(const struct gt_gpu_event *e);
void gt_gpu_runtime_release(struct gt_gpu_process *p);

/* ---- gpu_rows.c ---- */
/* GT_NONE: there are too many */
uint32_t gt_gpu_new_track(struct gt_correlator *g, const struct gt_track *t);
/* Both: GT_NONE: there are too many. */
uint32_t gt_gpu_device_track(struct gt_correlator *g, struct gt_gpu_process *p, uint32_t device);
uint32_t gt_gpu_stream_track_by_id(struct gt_correlator *g, struct gt_gpu_process *p,
	uint32_t device, uint32_t context, uint32_t stream);
/* 0 or negative. */
int gt_gpu_emit_kernel(struct gt_correlator *g, const struct gt_gpu_work *w,
	const struct gt_ev_kernel *e, uint32_t name, struct gt_err *err);
int gt_gpu_emit_copy(struct gt_correlator *g, const struct gt_gpu_work *w,
	const struct gt_ev_copy *e, struct gt_err *err);
int gt_gpu_emit_managed(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, struct gt_err *err);
int gt_gpu_emit_overhead(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, struct gt_err *err);
int gt_gpu_emit_set(struct gt_correlator *g, const struct gt_gpu_work *w, const struct gt_ev_set *e,
	struct gt_err *err);
#endif
