/* Shared by the files of the recorder, and private to them: recorder.c makes the passes,
 * ring_reader.c reads rings and makes rows, process_registry.c attaches and reaps processes and
 * threads. */
#ifndef GT_RECORDER_INTERNAL_H
#define GT_RECORDER_INTERNAL_H
#include "collect/correlate/gpu_correlate.h"
#include "collect/recorder/memory_counters.h"
#include "collect/recorder/nvtx_ranges.h"
#include "collect/recorder/recorder.h"
#include "collect/recorder/type_registry.h"
#include "formats/trace/clock.h"

#define GT_DEPTHS (GT_RING_OPEN_MAX + 2) /* nesting depths a record may have, and one more */

struct gt_process {
	bool used, exited, has_threads;
	uint32_t generation, track;
	struct gt_guest guest;
	struct gt_reported_names known;
	struct gt_gpu_process *gpu;       /* the work of its GPUs; NULL: none was reported */
	struct gt_memory_process *memory; /* its allocations; NULL: none so far */
	/* calls of it were lost or not recorded: its live bytes are not certain */
	bool memory_uncertain;
	int64_t memory_until; /* ns: its allocations are applied up to this time */
	/* tracks of devices that no other module makes */
	struct gt_device_track {
		uint32_t device, track;
	} * device_tracks;
	size_t ndevice_tracks, device_tracks_cap;
	uint64_t uuids;              /* bits: the devices below 64 whose UUID is in the file */
	struct gt_nvtx_stack ranges; /* that any of its threads may end */
	struct gt_nvtx_names categories;
	uint64_t start_ticks;    /* when it attached, as it says */
	bool has_new_threads;    /* whose ids in our pid namespace are not known */
	int64_t threads_read_at; /* ns: when these were looked for */
	uint64_t untraced;       /* already reported */
	int64_t losses_until;    /* ns: until when */
};
/* base: position where the chunk begins */
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
	bool producer; /* makes no calls; track is its process' */
	uint8_t nopen;
	uint64_t node, node_call; /* that its call of this start has created; 0: none */
	uint8_t device;           /* the device that it allocates on, plus one; 0: unknown */
	/* calls of it that were not recorded, as of the last look for memory */
	uint64_t unrecorded_calls;
	uint32_t generation, proc, track;
	int32_t tid, host_tid; /* host_tid: in /proc; 0: not known */
	char name[16];         /* as last read */
	int64_t name_at;       /* ns: when */
	uint64_t name_word;    /* the ring's, by then */
	struct gt_cursor c;
	uint64_t word, limit; /* as last looked at; limit: records lie below */
	uint64_t dropped;     /* already reported */
	int64_t losses_until;
	struct gt_nvtx_stack ranges; /* that it pushed */
	/* what keeps rows properly nested, see fit() */
	unsigned deepest;
	int64_t last, floor[GT_DEPTHS], first_child_start[GT_DEPTHS];
	struct gt_reported_start reported_starts[GT_DEPTHS];
	struct gt_ring_open open[GT_RING_OPEN_MAX];
};
/* A call whose thread died in it. It is open for ever. */
struct gt_dead_open_call {
	uint32_t track;
	struct gt_row row;
	uint64_t args[GT_RING_OPEN_ARGS + GT_FIELDS_MAX];
};

struct gt_recorder {
	struct gt_rings *rings;
	struct gt_guest_server *server;
	struct gt_writer *w;
	struct gt_clock clock;
	struct gt_types types;
	struct gt_correlator *gpu; /* NULL: was not asked for */
	struct gt_memory *memory;  /* NULL: allocations are not all recorded */
	/* calls wait to be played: it must be known which are running */
	bool memory_pending;
	struct gt_nvtx nvtx;
	struct gt_process *procs;
	struct gt_traced_thread *threads;
	struct gt_dead_open_call *dead_open;
	size_t ndead_open, dead_open_cap;
	struct gt_unknown_function *unknown_functions;
	size_t nunknown_functions, unknown_functions_cap;
	uint32_t nprocs, nthreads, payload;
	/* slots of threads in use, in the order of their arrival */
	uint32_t *live, nlive;
	uint32_t *live_procs, nlive_procs; /* of processes */
	uint32_t source, version_id;
	char *text; /* of r->payload bytes: a text as it was when it was read */
	int level;
	bool may_stall;        /* a launch may still wait for its name */
	bool finishing;        /* gt_recorder_finish has begun */
	bool has_range;        /* --range: not all calls are recorded */
	bool active;           /* something moved since the last epoch */
	uint32_t uuids;        /* in the file, of all processes */
	uint64_t taken, freed; /* bytes and chunks in this pass */
	struct gt_anchor now, epoch;
	/* ns: last anchor in the file, liveness check, scan of all slots */
	int64_t anchored_at, checked_alive_at, scanned_at;
	int64_t earliest;   /* ns: no time in a ring lies before */
	uint32_t next_name; /* the live thread whose name is read next */
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

/* More losses than this from one pass to a later one are damage: calls take some ns each. */
#define GT_COUNT_MAX (1ull << 31)

/* ---- follow.c ---- */
#define GT_DAMAGED 2 /* returned for a record that cannot be true: its ring is given up */
/* Can the program have read this from its clock by now? */
bool gt_ring_reader_is_possible(struct gt_recorder *r, uint64_t ticks);
/* Reads the thread's position; for an epoch also its stack of open calls, at one moment. */
void gt_ring_reader_look(struct gt_recorder *r, struct gt_traced_thread *t,
	const struct gt_ring_thread *ring, bool closing);
/* Takes the records of one thread that ended by now; may leave it stalled. */
int gt_ring_reader_drain(struct gt_recorder *r, struct gt_traced_thread *t,
	struct gt_ring_thread *ring, struct gt_err *err);
/* The ring is damaged: it is not read any more, and counted. */
int gt_ring_reader_give_up(struct gt_recorder *r, struct gt_traced_thread *t, struct gt_err *err);
/* Some launch lacks its name: looks through everything that is in the rings by now. */
void gt_ring_reader_search_names(struct gt_recorder *r);

/* When the first running call that gives back memory began; INT64_MAX: none is. After a look with
 * closing. */
int64_t gt_ring_reader_first_free(struct gt_recorder *r, struct gt_traced_thread *t);
/* Calls fn for each call of the thread that was running at r->now, outermost first. After a look
 * with closing. */
typedef int gt_open_fn(struct gt_recorder *r, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err);
int gt_ring_reader_each_open(
	struct gt_recorder *r, struct gt_traced_thread *t, gt_open_fn *fn, struct gt_err *err);

/* ---- events.c ---- */
struct gt_event_record {
	uint16_t id;
	uint64_t start, end;
	uint8_t n; /* words that the guest wrote */
	union gt_event_body body;
};
/* are its times ticks, to be taken only when they are past? */
bool gt_dispatch_has_ticks(uint16_t id);
/* 0, GT_DAMAGED or negative. The body is the recorder's own copy. */
int gt_dispatch_event(struct gt_recorder *r, struct gt_traced_thread *t,
	const struct gt_event_record *rec, struct gt_err *err);
/* A call that may have made a GPU work, begun at these ticks, has become this row. */
int gt_dispatch_gpu_call(struct gt_recorder *r, const struct gt_traced_thread *t, uint16_t id,
	uint64_t ticks, const struct gt_row *row, const uint64_t *args, struct gt_err *err);
/* The call that has become this row created t->node. */
int gt_dispatch_node_created(struct gt_recorder *r, struct gt_traced_thread *t, uint32_t name,
	const struct gt_row *row, struct gt_err *err);
/* Writes the rows that can be written by now. */
int gt_dispatch_flush_ready(struct gt_recorder *r, struct gt_err *err);
/* No more records will come: of this thread, of this process, of any. Writes all the rest. */
int gt_dispatch_end_thread(struct gt_recorder *r, struct gt_traced_thread *t, struct gt_err *err);
int gt_dispatch_end_process(struct gt_recorder *r, struct gt_process *p, struct gt_err *err);
int gt_dispatch_end(struct gt_recorder *r, struct gt_err *err);
void gt_dispatch_release(struct gt_recorder *r, struct gt_process *p);

/* ---- holdings.c ---- */
/* A call that changes memory became this row. */
int gt_memory_calls_add(struct gt_recorder *r, const struct gt_traced_thread *t, uint16_t id,
	const struct gt_row *row, const uint64_t *args, struct gt_err *err);
/* looked: this pass did, with closing */
int gt_memory_calls_flush_ready(struct gt_recorder *r, bool looked, struct gt_err *err);
void gt_memory_calls_end_thread(struct gt_recorder *r, struct gt_traced_thread *t);
int gt_memory_calls_end_process(struct gt_recorder *r, struct gt_process *p, struct gt_err *err);
void gt_memory_calls_release(struct gt_process *p);

/* ---- roll.c ---- */
void gt_registry_attach(struct gt_recorder *r); /* takes note of slots that became live */
void gt_registry_scan(struct gt_recorder *r);   /* also of those whose bit is missing; slow */
/* checks which processes are alive, and reads the names of threads */
int gt_registry_check_alive(struct gt_recorder *r, struct gt_err *err);
/* frees slots whose owner is through and whose records are taken */
int gt_registry_reap(struct gt_recorder *r, struct gt_err *err);
/* writes the losses since the last time, as rows */
int gt_registry_write_losses(struct gt_recorder *r, struct gt_err *err);
#endif
