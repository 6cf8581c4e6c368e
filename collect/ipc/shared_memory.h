/* A session's memory (ring.h) as gtcollect uses it. */
#ifndef GT_SHARED_MEMORY_H
#define GT_SHARED_MEMORY_H
#include <stdbool.h>
#include <stddef.h>
#include "collect/ipc/ring.h"
#include "formats/base/err.h"

/* Records that were lost, for example because the ring of a CPU had no space. */
struct gt_record_loss {
	uint64_t count;
	int64_t from, to; /* ns */
};
static inline void gt_record_loss_add(
	struct gt_record_loss *to, uint64_t count, int64_t from, int64_t until)
{
	if (!to->count || from < to->from)
		to->from = from;
	if (!to->count || until > to->to)
		to->to = until;
	to->count += count;
}
/* What eBPF could not record of processes, apart from calls: times. */
struct gt_process_losses {
	uint64_t unrecorded; /* that a process is not recorded: the kernel's table was full */
	uint64_t unprobed;   /* that probes in new code are late or missing: a ring was full */
	uint64_t events;     /* that a start or an end has no record: the rings were full */
};
/* EXECUTED: from the execution of a program on, which is the start of the slot. */
enum gt_written { GT_WRITTEN_NOT, GT_WRITTEN, GT_WRITTEN_EXECUTED };
struct gt_rings { /* addresses of the parts of the memory */
	struct gt_session *s;
	struct gt_ring_proc *procs;
	struct gt_ring_thread *threads;
	uint8_t *chunks;
	uint64_t *bits[GT_BITS];
	/* gtcollect's copies: programs can write to *s */
	uint64_t bytes, ring_max;
	uint32_t nprocs, nthreads, nchunks, chunk_bytes;
	bool recording;
	/* Slots of processes and threads from this one on are gtcollect's own (ring_writer.h):
	 * guests know only those before. Without gt_rings_options.own there are none. */
	uint32_t first_own;
	bool ebpf; /* gtcollect itself writes the rings (ring_writer.h) */
	/* Programs have the guest library, and gtcollect itself (eBPF, perf events) writes the
	 * slots whose `written` is not 0 (ring_writer.h): two slots for one process. */
	bool with_writer;
	uint8_t *written;      /* by slot of a process: enum gt_written */
	int64_t written_until; /* ns: gtcollect has written what ended before */
	/* by CPU, not yet written to the file: gt_rings_set_cpus() */
	struct gt_record_loss *cpu_losses;
	unsigned ncpus;
	uint64_t unseen_waits; /* of these losses so far: waits whose end the kernel did not report
				*/
	struct gt_process_losses process_losses; /* so far */
	struct gt_record_loss
		own_loss;     /* the same, of records that found no slot of gtcollect's own */
	void (*drain)(void);  /* reads all rings, and frees what is read; NULL: nothing does */
	uint32_t slots_freed; /* of threads, by the recorder, so far */
	int fd;
};
struct gt_rings_options {
	uint64_t memory; /* bytes in all; 0: 64 MiB */
	/* bytes of chunks a thread may hold; 0: three quarters of all */
	uint64_t per_thread;
	bool ticks, lossless;
	bool own; /* gtcollect writes rings, too */
};
#define GT_RINGS_MIN (1u << 20)

/* Checks the sizes. 0 or -EINVAL. */
int gt_rings_check(const struct gt_rings_options *opt, struct gt_err *err);
/* Makes and reserves the memory; nothing is recorded before gt_rings_set_recording. 0 or negative.
 */
int gt_rings_open(struct gt_rings *r, const struct gt_rings_options *opt, struct gt_err *err);
void gt_rings_close(struct gt_rings *r);
/* Makes cpu_losses, with 0 releases them. 0 or -ENOMEM. */
int gt_rings_set_cpus(struct gt_rings *r, unsigned n);
/* Makes the calling thread the owner of the session: when it ends, the kernel tells the guests. */
void gt_rings_take_ownership(struct gt_rings *r);
/* Ends the session: guests stop recording, and waiting guests continue. */
void gt_rings_give_up_ownership(struct gt_rings *r);
/* Sets whether calls are recorded. Initially they are not. A call without a change is cheap. */
void gt_rings_set_recording(struct gt_rings *r, bool on);
static inline struct gt_ring_chunk *gt_rings_chunk(const struct gt_rings *r, uint32_t i)
{
	return (struct gt_ring_chunk *)(r->chunks + (size_t)i * r->chunk_bytes);
}
/* Bytes that can still be filled, limited to what two threads may use. */
uint64_t gt_rings_free_bytes(const struct gt_rings *r);
/* Puts a chunk on the stack of free ones. */
void gt_rings_free_chunk(struct gt_rings *r, uint32_t chunk);
#endif
