/* The recorder's cost per call: the processor time of its passes over rings that were filled
 * before, so that other processes have little effect. The records are those of a tight loop with
 * the jitter of real clock reads, or of ten functions with their key arguments, one of them
 * launches. Between passes the rings are filled as much as at full rate, or, in the variant
 * `pressed`, to three quarters of the maximum of one thread. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collect/recorder/recorder.h"
#include "formats/arch/arch.h"
#include "formats/trace/clock.h"

#define ROUNDS 60
#define TICKS_OF_A_CALL 55
#define HANDLES 16 /* number of values of each kind of argument */
#define HANDLE(i) (0x7f0000000000 + (i)*256)
#define STEP 500 /* calls in a loop's body, which is the same in each iteration */

static struct gt_rings rings;
static uint64_t seed = 88172645463325252ull;

static void die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

/* ---- a guest ---- */

struct ring_writer {
	uint32_t slot, chunk;
	uint64_t base, at;
};
static struct kind {
	uint16_t id;
	uint8_t nargs, depth;
	uint32_t ticks;
} kinds[STEP];
static unsigned nkinds;

static uint64_t payload(void) { return rings.s->chunk_bytes - sizeof(struct gt_ring_chunk); }

/* Takes the chunk of this number in the chain of the slot. */
static uint32_t take_chunk(uint32_t slot, uint64_t number)
{
	uint32_t i = (uint32_t)rings.s->free_head;

	if (i == GT_RING_NIL)
		die("the rings are full");
	rings.s->free_head =
		((rings.s->free_head >> 32) + 1) << 32 | gt_rings_chunk(&rings, i)->next;
	rings.s->free_count--;
	gt_rings_chunk(&rings, i)->next = GT_RING_NIL;
	gt_rings_chunk(&rings, i)->owner = slot;
	gt_rings_chunk(&rings, i)->number = number;
	rings.threads[slot].taken = i;
	return i;
}

static struct ring_writer begin_thread(uint32_t slot)
{
	struct ring_writer p = { .slot = slot, .chunk = take_chunk(slot, 0) };
	struct gt_ring_thread *t = &rings.threads[slot];

	t->tid = 1000 + (int)slot;
	t->generation = 1;
	t->first = p.chunk;
	t->state = GT_SLOT_LIVE;
	rings.bits[GT_BITS_NEW_THREADS][slot / 64] |= 1ull << slot % 64;
	return p;
}

static struct gt_rec *reserve_record(struct ring_writer *p, uint64_t size)
{
	uint64_t room = payload() - (p->at - p->base);
	struct gt_rec *at;

	if (size > room) {
		uint32_t next = take_chunk(p->slot, p->base / payload() + 1);

		if (room)
			*(uint64_t *)(gt_rings_chunk(&rings, p->chunk)->payload +
				(p->at - p->base)) = 0;
		gt_rings_chunk(&rings, p->chunk)->next = next;
		p->chunk = next;
		p->base += payload();
		p->at = p->base;
	}
	at = (struct gt_rec *)(void *)(gt_rings_chunk(&rings, p->chunk)->payload +
		(p->at - p->base));
	p->at += size;
	return at;
}

/* Adds consecutive calls from `now` on, until the ring has `bytes` bytes. Returns the end of the
 * last one. */
static uint64_t fill(struct ring_writer *p, uint64_t now, uint64_t bytes, uint64_t *calls)
{
	for (uint64_t until = p->at + bytes; p->at < until; ++*calls) {
		const struct kind *k = &kinds[*calls % nkinds];
		struct gt_rec *r = reserve_record(p, sizeof(*r) + k->nargs * 8);

		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		now += TICKS_OF_A_CALL / 2 + (seed & 15 ? 0 : seed >> 4 & 7);
		r->start = now;
		now += k->ticks + (seed >> 8 & 15 ? 0 : seed >> 12 & 7);
		r->end = now;
		r->id = k->id;
		r->nargs = k->nargs;
		r->kind_depth = k->depth;
		r->ret = 0;
		for (unsigned i = 0; i < k->nargs; i++)
			r->args[i] = HANDLE(seed >> (i * 4) % 60 & (HANDLES - 1));
	}
	__atomic_store_n(&rings.threads[p->slot].word, p->at << 8, __ATOMIC_RELEASE);
	return now;
}

/* Records of the kernels for those handles, which launches refer to. */
static void name_kernels(struct ring_writer *p)
{
	for (unsigned i = 0; i < HANDLES; i++) {
		struct gt_rec *r = reserve_record(p, sizeof(*r) + 16);

		*r = (struct gt_rec){
			.start = HANDLE(i), .end = 16, .kind_depth = GT_REC_NAME << 5
		};
		memcpy(r->args, "_Z9kernel_aaPfii", 16);
		((char *)r->args)[10] = (char)('a' + i);
	}
}

static unsigned key_fields(unsigned id)
{
	struct gt_api_field f[GT_FIELDS_MAX];
	unsigned n = 0;

	for (unsigned i = 0, all = gt_api_fields(&gt_api[id], f); i < all; i++)
		n += f[i].key;
	return n;
}

static void choose_kinds(bool mixed)
{
	static const char *const names[] = { "cuCtxGetCurrent", "cuLaunchKernel",
		"cuStreamIsCapturing", "cuEventRecord", "cuEventQuery", "cuMemcpyAsync",
		"cuStreamWaitEvent", "cuMemAlloc_v2", "cuStreamSynchronize", "cuCtxSetCurrent" };

	nkinds = mixed ? STEP : 1;
	for (unsigned i = 0; i < nkinds; i++) {
		unsigned which = mixed ? i * i / 7 % 10 : 0, id = gt_api_find(names[which]);

		kinds[i] = (struct kind){ (uint16_t)id, (uint8_t)key_fields(id), 0,
			TICKS_OF_A_CALL / 2 + which * 100 };
	}
}

/* ---- measuring ---- */

static double processor_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct gt_recorder *begin(struct gt_writer **w, struct gt_err *err)
{
	struct gt_rings_options opt = { .ticks = gt_clock_trusts_ticks() };
	struct gt_writer_options wopt = { .rows_sorted = true };
	struct gt_recorder *r;

	if (gt_rings_open(&rings, &opt, err))
		die(err->text);
	rings.s->args = GT_ARGS_KEY;
	*w = gt_writer_open(open("trace.zst", O_RDWR | O_CREAT | O_TRUNC, 0600), &wopt, err);
	r = *w ? gt_recorder_open(&rings, NULL, *w, err) : NULL;
	if (!r)
		die(err->text);
	rings.procs[0] = (struct gt_ring_proc){
		.pid = 4242, .generation = 1, .comm = "bench", .state = GT_SLOT_LIVE
	};
	rings.bits[GT_BITS_NEW_PROCS][0] |= 1;
	return r;
}

static uint64_t clock_now(void)
{
	return rings.s->ticks ? gt_ticks() : (uint64_t)gt_clock_monotonic();
}

static void measure(const char *name, bool mixed, uint64_t bytes)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_writer *w;
	struct gt_recorder *r = begin(&w, &err);
	struct ring_writer p = begin_thread(0);
	uint64_t calls = 0, now = clock_now();
	double took = 0;
	uint64_t size;

	choose_kinds(mixed);
	name_kernels(&p);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t begun = clock_now();
		double before;

		now = fill(&p, begun > now ? begun : now, bytes, &calls);
		while (clock_now() < now)
			;
		before = processor_time();
		if (gt_recorder_pass(r, &err) <= 0)
			die(err.text);
		took += processor_time() - before;
	}
	if (gt_recorder_finish(r, &err) || gt_writer_stats(w)->rows[GT_CALL] != calls)
		die("calls are missing");
	size = gt_writer_stats(w)->bytes;
	gt_recorder_close(r);
	gt_writer_close(w, &err);
	gt_rings_close(&rings);
	printf("recorder_%s_ns_per_call %.2f ns\nrecorder_%s_bytes_per_call %.3f B\n", name,
		took / (double)calls * 1e9, name, (double)size / (double)calls);
}

int main(void)
{
	measure("loop", false, 12u << 20);
	measure("loop_pressed", false, 24u << 20);
	measure("mixed", true, 12u << 20);
	measure("mixed_pressed", true, 24u << 20);
	return 0;
}
