/* A recorded program with a wild pointer: it makes calls, and between them overwrites words of the
 * memory that it shares with gtcollect. PROGRAM runs beside it, in the process that gtcollect
 * started, and leaves its own ring alone.
 * Usage: corrupt TRUTH WHERE SEED PROGRAM ARGUMENTS... WHERE is one of
 * ring (the header of its own ring), open (its open calls), chunk (the header of its own chunk),
 * record (its own records), process (its own process slot), session (the header of all), any (slots
 * and chunk headers of all processes). */
#define _GNU_SOURCE
#include "samples/cu.h"
#include <stddef.h>
#include <sys/syscall.h>
#include "collect/ipc/ring.h"
#include "tests/campaign/truth.h"

#define ROUNDS 30
#define CALLS 200 /* a round */

static uint64_t state;
static uint8_t *memory; /* a struct gt_session and what follows */

static uint64_t dice(uint64_t n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 33) % n;
}

static uint64_t random_value(uint64_t old)
{
	switch (dice(8)) {
	case 0: return 0;
	case 1: return UINT64_MAX;
	case 2: return old ^ 1ull << dice(64);
	case 3: return old + dice(64) - 32;
	case 4: return old + 8 * dice(4096);
	case 5: return dice(64);
	case 6: return dice(1u << 30) << 32 | dice(1u << 30);
	default: return old << 32 | old >> 32;
	}
}

/* The rings are a memory file; gtcollect named it gt-rings. */
static int find_memory(void)
{
	char line[512];
	unsigned long from;
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "memfd:gt-rings") && sscanf(line, "%lx-%*x rw-s", &from) == 1)
			memory = (uint8_t *)from;
	if (f)
		fclose(f);
	return memory ? 0 : -1;
}

static struct gt_session session; /* as it was before anything was overwritten */

static struct gt_ring_thread *own_ring(uint32_t *index)
{
	struct gt_ring_thread *t = (void *)(memory + session.threads_at);

	for (*index = 0; *index < session.nthreads; ++*index)
		if (t[*index].tid == (int32_t)syscall(SYS_gettid) &&
			t[*index].state == GT_SLOT_LIVE)
			return &t[*index];
	return NULL;
}

static uint8_t *own_process(void)
{
	struct gt_ring_proc *p = (void *)(memory + session.procs_at);

	for (uint32_t i = 0; i < session.nprocs; i++)
		if (p[i].pid == getpid() && p[i].state == GT_SLOT_LIVE)
			return (uint8_t *)&p[i];
	return NULL;
}

/* The last of the ring's chunks, which the recorder does not free. */
static uint8_t *own_chunk(uint32_t ring)
{
	struct gt_ring_chunk *last = NULL;

	for (uint32_t i = 0; i < session.nchunks; i++) {
		struct gt_ring_chunk *c =
			(void *)(memory + session.chunks_at + (uint64_t)i * session.chunk_bytes);

		if (c->owner == ring && (!last || c->number > last->number))
			last = c;
	}
	return (uint8_t *)last;
}

/* A word of a slot or chunk header that is likely to be in use. */
static uint8_t *pick_header_word(void)
{
	switch (dice(3)) {
	case 0:
		return memory + session.procs_at + dice(8) * sizeof(struct gt_ring_proc) +
			dice(sizeof(struct gt_ring_proc) / 8) * 8;
	case 1:
		return memory + session.threads_at + dice(16) * sizeof(struct gt_ring_thread) +
			dice(16) * 8;
	default: return memory + session.chunks_at + dice(32) * session.chunk_bytes + dice(3) * 8;
	}
}

/* A word of the session's sizes and settings, or of its words that change while programs run. */
static uint8_t *pick_session_word(void)
{
	size_t late = offsetof(struct gt_session, recording);

	return memory +
		(dice(2) ? dice(offsetof(struct gt_session, range_name) / 8) * 8
			 : late + dice((sizeof(struct gt_session) - late) / 8) * 8);
}

/* The word to overwrite; NULL: there is none. */
static uint64_t *target(
	const char *where, struct gt_ring_thread *ring, uint8_t *chunk, uint8_t *process)
{
	struct {
		const char *name;
		uint8_t *at;
		size_t size;
	} places[] = {
		{ "ring", (uint8_t *)ring, offsetof(struct gt_ring_thread, open) },
		{ "open", (uint8_t *)ring->open, sizeof(ring->open) / 4 },
		{ "chunk", chunk, sizeof(struct gt_ring_chunk) },
		{ "record", chunk ? chunk + sizeof(struct gt_ring_chunk) : NULL,
			session.chunk_bytes - sizeof(struct gt_ring_chunk) },
		{ "process", process, sizeof(struct gt_ring_proc) },
		{ "session", pick_session_word(), 8 },
		{ "any", pick_header_word(), 8 },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!strcmp(places[i].name, where) && places[i].at)
			return (uint64_t *)(places[i].at + dice(places[i].size / 8) * 8);
	return NULL;
}

static void calls(struct truth_thread *me)
{
	int version;

	for (int i = 0; i < CALLS; i++) {
		me->started++;
		cuDriverGetVersion(&version);
		me->returned++;
	}
}

static void corrupt(struct truth_thread *me, const char *where)
{
	int words = 0;
	struct gt_ring_thread *ring;
	uint8_t *process;
	uint32_t index;

	alarm(5);
	cu_open();
	calls(me);
	if (find_memory())
		_exit(5);
	memcpy(&session, memory, sizeof(session));
	ring = own_ring(&index);
	process = own_process();
	if (!ring || !process)
		_exit(6);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t *at = dice(3) ? NULL : target(where, ring, own_chunk(index), process);

		if (at) {
			*(volatile uint64_t *)at = random_value(*at);
			words++;
		}
		calls(me);
		usleep(3000);
	}
	fprintf(stderr, "corrupt: %d words\n", words);
	me->done = 1;
	_exit(0);
}

int main(int argc, char **argv)
{
	struct truth *truth;
	struct truth_thread *me;

	if (argc < 5)
		return 2;
	truth = truth_open(argv[1]);
	state = strtoull(argv[3], NULL, 0) * 2862933555777941757ull + 1;
	if (!fork()) {
		me = &truth->thread[__atomic_fetch_add(&truth->nthreads, 1, __ATOMIC_RELAXED)];
		me->kind = TRUTH_CORRUPT;
		me->tid = getpid();
		me->pid = getpid();
		corrupt(me, argv[2]);
	}
	execv(argv[4], argv + 4);
	return 3;
}
