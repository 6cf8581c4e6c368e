/* Private to this folder. recorder.c makes the passes, ring_reader.c reads rings and writes rows,
 * process_registry.c attaches and reaps processes and threads, event_dispatch.c passes events on,
 * memory_calls.c feeds the memory counters. */
#ifndef GT_RECORDER_INTERNAL_H
#define GT_RECORDER_INTERNAL_H
#include "collect/correlate/gpu_correlate.h"
#include "collect/recorder/call_stacks.h"
#include "collect/recorder/forward_stacks.h"
#include "collect/recorder/memory_counters.h"
#include "collect/recorder/nvtx_ranges.h"
#include "collect/recorder/other_threads.h"
#include "collect/recorder/probe_rows.h"
#include "collect/recorder/recorder.h"
#include "collect/recorder/type_registry.h"
#include "formats/trace/write/sample_rows.h"
#include "formats/trace/write/sched_rows.h"
#include "formats/trace/clock.h"

#define GT_DEPTHS (GT_RING_OPEN_MAX + 2) /* nesting depths of a record, and one more */

struct gt_process {
	bool used, exited, has_threads;
	uint32_t generation, track;
	struct gt_guest guest;
	struct gt_reported_names known;
	struct gt_loaded_objects objects;
	struct gt_forward_stacks forward;
	struct gt_gpu_process *gpu;       /* its GPU work; NULL: it has reported none */
	struct gt_memory_process *memory; /* its allocations; NULL: it has made none */
	/* some of its calls were lost or not recorded, so its live bytes are not certain */
	bool memory_uncertain;
	int64_t memory_until; /* ns: its allocations are applied up to this time */
	/* tracks of devices, if GPU work is not recorded */
	struct gt_device_track {
		uint32_t device, track;
	} * device_tracks;
	size_t ndevice_tracks, device_tracks_cap;
	uint64_t uuids;              /* bit N: the file has the UUID of device N, below 64 */
	struct gt_nvtx_stack ranges; /* ranges that any of its threads may end */
	struct gt_nvtx_names categories;
	uint64_t start_ticks;    /* ticks: when it attached, by its own account */
	bool has_new_threads;    /* their ids in our pid namespace are not known yet */
	int64_t threads_read_at; /* ns: when these ids were last looked up */
	uint64_t untraced;       /* number of untraced calls already written to the file */
	int64_t losses_until;    /* ns: losses are written up to this time */
	int64_t missing_since;   /* ns: of a process with probes; 0: it is there */
	uint8_t named_threads;   /* bit N: the track of started thread N has its name */
	enum gt_written written; /* by gtcollect, not by its guest */
};
/* base: position of the chunk's first byte */
struct gt_cursor {
	uint32_t chunk;
	uint64_t base, at;
};
struct gt_reported_start {
	uint64_t ticks;
	int64_t ns;
};
struct gt_traced_thread {
	bool used, stalled, broken, dead;
	bool is_recorders; /* it was started by the guest or by CUPTI */
	bool producer;     /* it makes no calls and writes records of GPU work; its track is the
			      process's */
	uint8_t nopen;
	int64_t missing_since; /* as of a process */
	uint64_t node,
		node_call; /* the graph node that its call with this start has created; 0: none */
	struct gt_nccl_calls node_nccl; /* of its captured call, until the node is handled */
	uint8_t device;                 /* device of its allocations plus one; 0: unknown */
	/* its calls without a record, when the memory counters last checked */
	uint64_t unrecorded_calls;
	uint32_t generation, proc, track;
	int32_t tid, host_tid; /* host_tid: in /proc; 0: not known */
	char name[16];         /* as read last */
	int64_t name_at;       /* ns: when */
	uint64_t name_word;    /* the ring's word at that time */
	struct gt_cursor c;
	uint64_t word, limit; /* as read last; limit: position where the records end */
	uint64_t dropped;     /* number of drops already written to the file */
	int64_t losses_until;
	struct gt_nvtx_stack ranges; /* ranges that it has pushed and not popped */
	struct gt_thread_stacks stacks;
	/* for the nesting of rows, see clamp_nesting() */
	unsigned deepest;
	int64_t last, floor[GT_DEPTHS], first_child_start[GT_DEPTHS];
	struct gt_reported_start reported_starts[GT_DEPTHS];
	struct gt_ring_open open[GT_RING_OPEN_MAX];
};
/* A call during which its thread died. It stays open. */
struct gt_dead_open_call {
	uint32_t track;
	struct gt_row row;
	uint64_t args[GT_RING_OPEN_ARGS + GT_FIELDS_MAX];
};

/* A thread whose guest and gtcollect write to two slots has one track. */
struct gt_thread_track {
	uint32_t process; /* track; the key with the next */
	int32_t tid;
	uint32_t track, slots; /* slots: that it has now */
	int64_t ended_at;      /* ns: when it lost the last one */
};

struct gt_recorder {
	struct gt_rings *rings;
	struct gt_guest_server *server;
	struct gt_writer *w;
	int64_t lines_ns; /* time at the end for lines of native code; 0: none are read */
	struct gt_clock clock;
	struct gt_types types;
	struct gt_correlator *gpu; /* NULL: not requested */
	struct gt_memory *memory;  /* NULL: not all allocations are recorded */
	/* the memory counters have pending calls, so each pass must read the open calls */
	bool memory_pending;
	struct gt_nvtx nvtx;
	struct gt_probe_rows probes;
	struct gt_sched_types scheduling; /* w: NULL: no rows yet */
	struct gt_other_threads others;   /* that these rows name */
	struct gt_sample_types samples;   /* the same */
	struct gt_map thread_tracks_map;
	struct gt_thread_track *thread_tracks; /* if rings->with_writer */
	size_t nthread_tracks, thread_tracks_cap;
	struct gt_process *procs;
	struct gt_traced_thread *threads;
	struct gt_dead_open_call *dead_open;
	size_t ndead_open, dead_open_cap;
	struct gt_unknown_function *unknown_functions;
	size_t nunknown_functions, unknown_functions_cap;
	uint32_t nprocs, nthreads, payload;
	/* slots of threads in use, in the order of attachment */
	uint32_t *live, nlive;
	uint32_t *live_procs, nlive_procs; /* of processes */
	uint32_t source, version_id;
	char *text; /* r->payload bytes: the copy of a text from a ring */
	int level;
	bool may_stall;                    /* a launch without a name may stall its thread */
	bool finishing;                    /* gt_recorder_finish has begun */
	bool has_range;                    /* --range: not all calls are recorded */
	bool active;                       /* rows were written since the last epoch */
	uint32_t uuids;                    /* UUIDs in the file, of all processes */
	uint64_t bytes_read, chunks_freed; /* in this pass */
	struct gt_anchor now, epoch;
	/* ns: last anchor in the file, liveness check, scan of all slots */
	int64_t anchored_at, checked_alive_at, scanned_at;
	int64_t earliest;   /* ns: earlier times in a ring are damage */
	uint32_t next_name; /* index in `live` of the thread whose name is read next */
	struct gt_recorder_totals totals;
};

/* The k-th of the slots in use. */
static inline struct gt_traced_thread *gt_live_thread(struct gt_recorder *r, uint32_t k)
{
	return &r->threads[r->live[k]];
}
static inline struct gt_process *gt_live_process(struct gt_recorder *r, uint32_t k)
{
	return &r->procs[r->live_procs[k]];
}
static inline struct gt_ring_thread *gt_ring_of(
	struct gt_recorder *r, const struct gt_traced_thread *t)
{
	return &r->rings->threads[t - r->threads];
}
static inline struct gt_ring_proc *gt_slot_of(struct gt_recorder *r, const struct gt_process *p)
{
	return &r->rings->procs[p - r->procs];
}

static inline void gt_mark_used(
	struct gt_recorder *r, enum gt_ring_bits which, uint32_t i, bool used)
{
	uint64_t *bits = &r->rings->bits[which][i / 64], bit = 1ull << i % 64;

	if (used)
		__atomic_fetch_or(bits, bit, __ATOMIC_RELEASE);
	else
		__atomic_fetch_and(bits, ~bit, __ATOMIC_RELEASE);
}

/* Larger counts of losses between two passes are damage: each call takes some ns. */
#define GT_COUNT_MAX (1ull << 31)

/* ---- ring_reader.c ---- */
#define GT_DAMAGED 2 /* return value: the record cannot be true, and its ring is given up */
/* Can the program's clock have had this value by now? */
bool gt_ring_reader_is_possible(struct gt_recorder *r, uint64_t ticks);
/* Reads the thread's position; for an epoch also its stack of open calls, at one moment. */
void gt_ring_reader_look(struct gt_recorder *r, struct gt_traced_thread *t,
	const struct gt_ring_thread *ring, bool closing);
/* Takes the records of one thread that ended by now; may leave it stalled. */
int gt_ring_reader_drain(struct gt_recorder *r, struct gt_traced_thread *t,
	struct gt_ring_thread *ring, struct gt_err *err);
/* The ring is damaged: it is not read any more, and counted. */
int gt_ring_reader_abandon(struct gt_recorder *r, struct gt_traced_thread *t, struct gt_err *err);
/* Reads the names in all rings ahead of their turn, because a launch lacks its kernel's name. */
void gt_ring_reader_search_names(struct gt_recorder *r);

/* The start of the first running call that frees memory, ns; INT64_MAX: there is none. After
 * gt_ring_reader_look with closing. */
int64_t gt_ring_reader_first_free(struct gt_recorder *r, struct gt_traced_thread *t);
/* Calls fn for each call of the thread that was running at r->now, outermost first. After
 * gt_ring_reader_look with closing. */
typedef int gt_open_fn(struct gt_recorder *r, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err);
int gt_ring_reader_each_open(
	struct gt_recorder *r, struct gt_traced_thread *t, gt_open_fn *fn, struct gt_err *err);

/* ---- event_dispatch.c ---- */
struct gt_event_record {
	uint16_t id;
	uint64_t start, end;
	uint8_t n; /* words that the guest wrote */
	union gt_event_body body;
};
/* Are its times ticks? Then it is read only after that time. */
bool gt_dispatch_has_ticks(uint16_t id);
/* 0, GT_DAMAGED or negative. The body is the recorder's own copy. */
int gt_dispatch_event(struct gt_recorder *r, struct gt_traced_thread *t,
	const struct gt_event_record *rec, struct gt_err *err);
/* A call that may have given a GPU work was written as this row. ticks: its start. */
int gt_dispatch_gpu_call(struct gt_recorder *r, struct gt_traced_thread *t, uint16_t id,
	uint64_t ticks, const struct gt_row *row, const uint64_t *args, struct gt_err *err);
/* The call that was written as this row created the graph node t->node. */
int gt_dispatch_node_created(struct gt_recorder *r, struct gt_traced_thread *t, uint32_t name,
	const struct gt_row *row, const uint64_t *args, struct gt_err *err);
/* Writes the rows that are complete by now. */
int gt_dispatch_flush_ready(struct gt_recorder *r, struct gt_err *err);
/* No more records of this thread, of this process, of any process. Writes the rest. */
int gt_dispatch_end_thread(struct gt_recorder *r, struct gt_traced_thread *t, struct gt_err *err);
int gt_dispatch_end_process(struct gt_recorder *r, struct gt_process *p, struct gt_err *err);
int gt_dispatch_end(struct gt_recorder *r, struct gt_err *err);
void gt_dispatch_release(struct gt_recorder *r, struct gt_process *p);

/* ---- memory_calls.c ---- */
/* A call that allocates, frees or maps memory was written as this row. */
int gt_memory_calls_add(struct gt_recorder *r, const struct gt_traced_thread *t, uint16_t id,
	const struct gt_row *row, const uint64_t *args, struct gt_err *err);
/* looked: this pass has called gt_ring_reader_look with closing */
int gt_memory_calls_flush_ready(struct gt_recorder *r, bool looked, struct gt_err *err);
void gt_memory_calls_end_thread(struct gt_recorder *r, struct gt_traced_thread *t);
int gt_memory_calls_end_process(struct gt_recorder *r, struct gt_process *p, struct gt_err *err);
void gt_memory_calls_release(struct gt_process *p);

/* ---- process_registry.c ---- */

/* The name of a thread of the program: not one of recorder_threads.h. Both are string ids. */
uint32_t gt_program_thread_name(struct gt_writer *w, uint32_t name);
void gt_registry_attach(
	struct gt_recorder *r); /* attaches the slots whose bit says that they became live */
void gt_registry_scan(
	struct gt_recorder *r); /* attaches all live slots, also those without the bit; slow */
/* checks which processes and threads are alive, and reads the names of threads */
int gt_registry_check_alive(struct gt_recorder *r, struct gt_err *err);
/* frees slots whose owner has ended and whose records are all read */
int gt_registry_reap(struct gt_recorder *r, struct gt_err *err);
/* writes the losses since the last call */
int gt_registry_write_losses(struct gt_recorder *r, struct gt_err *err);
#endif
