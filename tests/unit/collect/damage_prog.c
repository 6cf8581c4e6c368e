/* A traced program that damages its own part of the memory that it shares with gtcollect, between
 * its calls: its process slot, its thread slots, its chunks. The parts of other processes stay as
 * they are. Usage: damage [-s SEED] [-r ROUNDS] [-d DAMAGES]: of so many rounds of calls, after the
 * first of which so many words are overwritten in each. Exit status 77: it is not being recorded.
 */
#define _GNU_SOURCE
#include "samples/cu.h"
#include <pthread.h>
#include <unistd.h>
#include "tests/unit/collect/damage.h"

static struct gt_session *shared;
static CUcontext ctx;

static struct gt_session *find_memory(void)
{
	char line[512];
	unsigned long from = 0;
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && !from && fgets(line, sizeof(line), f))
		if (strstr(line, "/memfd:gt-rings") && sscanf(line, "%lx-", &from) != 1)
			from = 0;
	if (f)
		fclose(f);
	return (struct gt_session *)from;
}

static void *in_memory(uint64_t at) { return (uint8_t *)shared + at; }

static struct gt_ring_proc *own_process(uint32_t *index)
{
	struct gt_ring_proc *procs = in_memory(shared->procs_at);

	for (*index = 0; *index < shared->nprocs; ++*index)
		if (procs[*index].state == GT_SLOT_LIVE && procs[*index].pid == getpid())
			return &procs[*index];
	return NULL;
}

/* The k-th thread slot of this process, counted from 0, over and over. */
static uint32_t own_thread(uint32_t process, uint64_t k)
{
	struct gt_ring_thread *threads = in_memory(shared->threads_at);
	uint32_t found[64], n = 0;

	for (uint32_t i = 0; i < shared->nthreads && n < 64; i++)
		if (threads[i].state == GT_SLOT_LIVE && threads[i].proc == process)
			found[n++] = i;
	return n ? found[k % n] : GT_RING_NIL;
}

static void damage_chunk(uint32_t slot, uint64_t *seed)
{
	for (uint32_t i = 0; i < shared->nchunks; i++) {
		struct gt_ring_chunk *c =
			in_memory(shared->chunks_at + (uint64_t)i * shared->chunk_bytes);

		if (c->owner == slot) {
			damage_word((uint64_t *)c, 256, seed);
			return;
		}
	}
}

static void damage(uint32_t process, uint64_t *seed)
{
	uint32_t slot = own_thread(process, damage_random(seed));
	struct gt_ring_proc *procs = in_memory(shared->procs_at);
	struct gt_ring_thread *threads = in_memory(shared->threads_at);

	switch (damage_random(seed) % 4) {
	case 0: damage_word((uint64_t *)&procs[process], sizeof(*procs) / 8, seed); return;
	case 1:
		if (slot != GT_RING_NIL)
			damage_chunk(slot, seed);
		return;
	default:
		if (slot != GT_RING_NIL)
			damage_word((uint64_t *)&threads[slot], sizeof(*threads) / 8, seed);
	}
}

static void *make_calls(void *arg)
{
	for (long i = 0; i < 300; i++)
		OK(cuCtxSetCurrent(ctx));
	return arg;
}

int main(int argc, char **argv)
{
	uint64_t seed = (uint64_t)cu_option(argc, argv, "-s", 1) * 0x9e3779b97f4a7c15ull | 1;
	long rounds = cu_option(argc, argv, "-r", 30), damages = cu_option(argc, argv, "-d", 3);
	uint32_t process;
	pthread_t thread[4];

	ctx = cu_start();
	shared = find_memory();
	if (!shared || !own_process(&process))
		return 77;
	for (long round = 0; round < rounds; round++) {
		for (int i = 0; i < 4; i++)
			OK(pthread_create(&thread[i], NULL, make_calls, NULL));
		for (long i = 0; round && i < damages; i++)
			damage(process, &seed);
		for (int i = 0; i < 4; i++)
			pthread_join(thread[i], NULL);
		make_calls(NULL);
		usleep(2000); /* the recorder makes a pass from time to time */
	}
	printf("%ld rounds\n", rounds);
	return 0;
}
