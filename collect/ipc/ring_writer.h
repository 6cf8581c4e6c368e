/* gtcollect's own writer of rings, for threads that it observes from outside: it takes the slots of
 * processes and threads, and writes records as the guest does (ring.h). So the recorder reads one
 * kind of ring. Times are ns of CLOCK_MONOTONIC: the session's `ticks` is 0.
 *
 * The recorder reads these rings in the same thread, between two calls of these functions. It takes
 * the last chunk of a ring that it has read to the end, so that a thread has memory only while it
 * has records. When chunks run short, the writer calls `drain` of the rings. */
#ifndef GT_RING_WRITER_H
#define GT_RING_WRITER_H
#include "collect/ipc/guest_server.h"
#include "collect/ipc/shared_memory.h"
#include "formats/base/map.h"

#define GT_NAMED_PROBES 1024u
#define GT_WAIT_LOOKS 32u

/* A look at a thread while it waited. */
struct gt_wait_look {
	uint64_t from, until; /* ns: it was in this wait all that time; until 0: no look */
	uint64_t stack_until; /* ns: and until then while its stack was read */
	uint32_t state;       /* enum gt_sched_state */
	int32_t system_call;
	uint32_t holder;  /* of the state gil: the thread that had the lock, or 0 */
	uint32_t stack;   /* number of its stack in its ring; 0: it was not read */
	bool is_expected; /* another look is better */
};
struct gt_written_thread {
	int32_t tid; /* the key */
	uint32_t slot, generation, chunk;
	uint64_t number, position, limit;
	uint64_t launched_at; /* ns: within its last launch; 0: it has made none */
	uint16_t launch;      /* that call, of the API table */
	bool reports_kernels; /* its ring says so: GT_GPU_PROBED */
	struct gt_wait_look looks[GT_WAIT_LOOKS]; /* the last ones */
	uint32_t next_look;
	/* bit N: the names of probe N are in its ring; others are written with each event */
	uint64_t named_probes[GT_NAMED_PROBES / 64];
};
struct gt_written_process {
	int32_t tgid; /* the key */
	uint32_t slot, generation;
	int64_t since; /* ns: of its first record */
};
struct gt_ring_writer { /* zeroed, with `rings` and `server`: ready */
	struct gt_rings *rings;
	struct gt_guest_server *server;
	uint32_t next_thread;                 /* own slot to try first */
	uint32_t full_since;                  /* slots_freed + 1 when none was free */
	uint32_t chunks_taken, threads_ended; /* since the last drain */
	struct gt_map processes_map, threads_map;
	struct gt_written_process *processes;
	struct gt_written_thread *threads;
	size_t nprocesses, processes_cap, nthreads, threads_cap;
	size_t processes_max, threads_max; /* then those that have ended are removed */
};

/* The thread of a process, both with their ids in gtcollect's pid namespace. at: ns, when it was
 * first seen. It is the writer's until the next call of this function, which may drain the rings.
 * NULL: no slot is free; the loss is counted in own_loss of the rings. */
struct gt_written_thread *gt_ring_writer_thread(
	struct gt_ring_writer *w, int32_t tgid, int32_t tid, const char comm[16], int64_t at);
/* The thread has ended, and its slot is free when its records are read. A thread without a call of
 * this function keeps it until the recorder misses the thread. */
void gt_ring_writer_end_thread(struct gt_ring_writer *w, int32_t tid);
/* The process executes another program at `at`, ns: its next slot is a new one. If all that it has
 * is later, which another source wrote sooner, it keeps its slot. */
void gt_ring_writer_exec(
	struct gt_ring_writer *w, int32_t tgid, int32_t tid, const char comm[16], int64_t at);
/* Writes a call. False: no chunk is free, and the loss is counted. */
bool gt_ring_writer_call(struct gt_ring_writer *w, struct gt_written_thread *t,
	const struct gt_rec *head, const uint64_t *words);
/* Writes a call that has not returned, with the first n words of its record, after all others of
 * its thread; calls around it come before. */
void gt_ring_writer_open_call(struct gt_ring_writer *w, struct gt_written_thread *t,
	const struct gt_rec *head, const uint64_t *words);
/* Writes an event of whole words. */
bool gt_ring_writer_event(struct gt_ring_writer *w, struct gt_written_thread *t,
	enum gt_ring_event id, uint64_t start, uint64_t end, const void *body, size_t bytes);
/* The look at a wait of the thread from start to end, ns; its stack may be that of another look.
 * until is 0 if there was none. */
struct gt_wait_look gt_ring_writer_look(
	const struct gt_written_thread *t, uint64_t start, uint64_t end);
/* Writes a text: kind is GT_REC_NAME (key: the handle) or GT_REC_STRING (key: its hash). */
bool gt_ring_writer_text(struct gt_ring_writer *w, struct gt_written_thread *t,
	enum gt_rec_kind kind, uint64_t key, const char *text);
/* Writes a record of bytes, up to 30 KiB: GT_REC_STRING, or a part of a stack. */
bool gt_ring_writer_bytes(struct gt_ring_writer *w, struct gt_written_thread *t,
	enum gt_rec_kind kind, uint64_t key, const void *bytes, size_t n);
/* The process or all of them end: their slots are the recorder's. */
void gt_ring_writer_release(struct gt_ring_writer *w);
#endif
