/* Makes the memory of a session: one memory file, reserved as a whole before its first use. If a
 * machine or a container has too little memory, this gives an error now, and no SIGBUS in the
 * traced program later. Its size is sealed. */
#define _GNU_SOURCE
#include "collect/ipc/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "collect/ipc/memory_headroom.h"

#define DEFAULT_MEMORY (64u << 20)
#define CHUNK_MIN 8192  /* bytes */
#define CHUNKS_MANY 256 /* with at least this many chunks they have their full size */
#define OWN_PART 4      /* gtcollect's own slots take this part of the memory */
/* bytes to leave free for the program, besides the rings and gtcollect's memory */
#define SPARE (16u << 20)

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

/* A small memory is divided into smaller chunks, as each thread needs at least one. */
static uint32_t chunk_size(uint64_t memory)
{
	uint32_t bytes = GT_RING_CHUNK;

	while (bytes > CHUNK_MIN && memory / bytes < CHUNKS_MANY)
		bytes /= 2;
	return bytes;
}

/* There are fewer thread slots of guests than chunks. So when each thread has a chunk, some are
 * left, and a thread that waits for its next one (--lossless) gets it as soon as the recorder has
 * drained another. A process has at least one thread, so there are as many process slots.
 *
 * gtcollect's own rings have no chunk while they are empty (ring_writer.h), so there are many more
 * slots of its own. They take the same part of a memory of any size. Returns their number. */
static uint32_t compute_layout(struct gt_session *s, uint64_t memory, bool has_own)
{
	uint64_t page = 4096, slot = sizeof(struct gt_ring_thread) + sizeof(struct gt_ring_proc),
		 own = has_own ? memory / OWN_PART / (slot + GT_BITS) : 0, all;

	s->chunk_bytes = chunk_size(memory);
	s->procs_at = round_up(sizeof(*s), 64);
	s->nchunks = (uint32_t)((memory - s->procs_at - 2 * page - own * (slot + GT_BITS)) /
		(s->chunk_bytes + slot + GT_BITS));
	s->nprocs = s->nthreads = s->nchunks - s->nchunks / 8 - 1;
	all = s->nthreads + own;
	s->threads_at = round_up(s->procs_at + all * sizeof(struct gt_ring_proc), 64);
	s->bits_at = s->threads_at + all * sizeof(struct gt_ring_thread);
	s->bits_bytes = round_up(all / 8 + 8, 64);
	s->chunks_at = round_up(s->bits_at + GT_BITS * s->bits_bytes, page);
	s->bytes = s->chunks_at + (uint64_t)s->nchunks * s->chunk_bytes;
	return (uint32_t)own;
}

static int check_headroom(uint64_t bytes, struct gt_err *err)
{
	char what[700];
	uint64_t room = gt_memory_headroom(what, sizeof(what));

	if (room >= bytes + SPARE)
		return 0;
	return gt_err_set(err, -ENOMEM,
		"%" PRIu64 " MiB are left under %.100s, the rings need %" PRIu64
		" MiB and %u to spare: "
		"try --ring-memory",
		room >> 20, what, bytes >> 20, SPARE >> 20);
}

static int reserve(uint64_t bytes, struct gt_err *err)
{
	int code, fd = memfd_create("gt-rings", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return gt_err_set(err, -errno, "memory file: %s", strerror(errno));
	if (ftruncate(fd, (off_t)bytes) || fallocate(fd, 0, 0, (off_t)bytes) ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		code = -errno;
		close(fd);
		return gt_err_set(err, code,
			"cannot reserve %" PRIu64
			" MiB of shared memory for the rings: %s: try --ring-memory",
			bytes >> 20, strerror(-code));
	}
	return fd;
}

static void push_all_chunks(struct gt_rings *r)
{
	for (uint32_t i = 0; i < r->s->nchunks; i++) {
		gt_rings_chunk(r, i)->next = i + 1 < r->s->nchunks ? i + 1 : GT_RING_NIL;
		gt_rings_chunk(r, i)->owner = GT_RING_NIL;
	}
	r->s->free_head = 0;
	r->s->free_count = r->s->nchunks;
}

int gt_rings_check(const struct gt_rings_options *opt, struct gt_err *err)
{
	if (opt->memory && (opt->memory < GT_RINGS_MIN || opt->memory > 1ULL << 36))
		return gt_err_set(err, -EINVAL, "--ring-memory must lie between 1 MiB and 64 GiB");
	if (opt->per_thread && opt->per_thread < 2 * GT_RING_CHUNK)
		return gt_err_set(err, -EINVAL, "--ring-size must be at least %u KiB",
			2 * GT_RING_CHUNK >> 10);
	return 0;
}

int gt_rings_open(struct gt_rings *r, const struct gt_rings_options *opt, struct gt_err *err)
{
	struct gt_session plan = { .magic = GT_RING_MAGIC,
		.version = GT_RING_VERSION,
		.bytes_of_this = sizeof(plan),
		.ticks = opt->ticks,
		.lossless = opt->lossless };
	int code = gt_rings_check(opt, err);
	uint32_t own;

	memset(r, 0, sizeof(*r));
	r->fd = -1;
	if (code)
		return code;
	own = compute_layout(&plan, opt->memory ? opt->memory : DEFAULT_MEMORY, opt->own);
	plan.ring_max = opt->per_thread ? opt->per_thread
					: (uint64_t)plan.nchunks * plan.chunk_bytes / 4 * 3;
	code = check_headroom(plan.bytes, err);
	if (code)
		return code;
	r->fd = reserve(plan.bytes, err);
	if (r->fd < 0)
		return r->fd;
	r->written = calloc(plan.nprocs + own, 1);
	if (!r->written) {
		gt_rings_close(r);
		return gt_err_set(err, -ENOMEM, "out of memory (rings)");
	}
	r->s = mmap(NULL, plan.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (r->s == MAP_FAILED) {
		code = -errno;
		r->s = NULL;
		gt_rings_close(r);
		return gt_err_set(err, code, "cannot map the rings: %s", strerror(-code));
	}
	memcpy(r->s, &plan, sizeof(plan));
	r->procs = (void *)((uint8_t *)r->s + plan.procs_at);
	r->threads = (void *)((uint8_t *)r->s + plan.threads_at);
	r->chunks = (uint8_t *)r->s + plan.chunks_at;
	for (unsigned i = 0; i < GT_BITS; i++)
		r->bits[i] = (void *)((uint8_t *)r->s + plan.bits_at + i * plan.bits_bytes);
	r->bytes = plan.bytes;
	r->first_own = plan.nthreads;
	r->nprocs = r->nthreads = plan.nthreads + own;
	r->nchunks = plan.nchunks;
	r->chunk_bytes = plan.chunk_bytes;
	r->ring_max = plan.ring_max;
	push_all_chunks(r);
	return 0;
}

int gt_rings_set_cpus(struct gt_rings *r, unsigned n)
{
	free(r->cpu_losses);
	r->cpu_losses = n ? calloc(n, sizeof(*r->cpu_losses)) : NULL;
	r->ncpus = r->cpu_losses ? n : 0;
	return r->ncpus == n ? 0 : -ENOMEM;
}

void gt_rings_close(struct gt_rings *r)
{
	if (r->s)
		munmap(r->s, r->bytes);
	if (r->fd >= 0)
		close(r->fd);
	free(r->written);
	r->written = NULL;
	r->s = NULL;
	r->fd = -1;
}

/* The kernel reads this list when the thread ends for any reason: it finds the session's lock word,
 * sees the thread's id in it, and sets FUTEX_OWNER_DIED there. The list replaces libc's list of
 * robust mutexes, which gtcollect does not use. */
static struct robust_list owner_entry;
static struct robust_list_head owner_list;

void gt_rings_take_ownership(struct gt_rings *r)
{
	__atomic_store_n(&r->s->owner, (uint32_t)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	owner_entry.next = &owner_list.list;
	owner_list.list.next = &owner_entry;
	owner_list.futex_offset = (long)((uintptr_t)&r->s->owner - (uintptr_t)&owner_entry);
	owner_list.list_op_pending = NULL;
	syscall(SYS_set_robust_list, &owner_list, sizeof(owner_list));
}

/* A thread that takes its slot now reads `recording` after it has written `pass`, so one of the
 * two sees the other's change. */
void gt_rings_set_recording(struct gt_rings *r, bool on)
{
	if (r->recording == on)
		return;
	r->recording = on;
	__atomic_store_n(&r->s->recording, on, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < r->nthreads; i++)
		__atomic_store_n(&r->threads[i].open[0].pass, !on, __ATOMIC_SEQ_CST);
}

void gt_rings_give_up_ownership(struct gt_rings *r)
{
	gt_rings_set_recording(r, false);
	__atomic_fetch_or(&r->s->owner, FUTEX_OWNER_DIED, __ATOMIC_SEQ_CST);
	owner_list.list.next = &owner_list.list;
	__atomic_fetch_add(&r->s->space, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &r->s->space, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void gt_rings_free_chunk(struct gt_rings *r, uint32_t chunk)
{
	const struct gt_index_stack free_chunks = { &r->s->free_head, r->chunks, r->chunk_bytes, 0,
		r->nchunks };

	gt_rings_chunk(r, chunk)->owner = GT_RING_NIL;
	gt_index_stack_push(&free_chunks, chunk);
	__atomic_fetch_add(&r->s->free_count, 1, __ATOMIC_RELAXED);
}

uint64_t gt_rings_free_bytes(const struct gt_rings *r)
{
	uint32_t n = __atomic_load_n(&r->s->free_count, __ATOMIC_RELAXED);
	uint64_t room = (uint64_t)(n < r->nchunks ? n : r->nchunks) * r->chunk_bytes;

	return room < 2 * r->ring_max ? room : 2 * r->ring_max;
}
