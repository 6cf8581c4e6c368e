/* Arbitrary bytes as the contents of a ring. The recorder takes the valid records or abandons the
 * ring, never fails, and closes a trace that reads back without damage.
 *
 * The first byte selects the options, the second the number of open calls. With RAW the ring
 * contains the rest unchanged. Otherwise the rest is a sequence of records, so that times are near
 * now and lengths fit: kind and depth (1 byte), id (2), number of words (1), start (2), duration
 * (1), then the words. A word below WIDE is one byte; otherwise 8 bytes follow. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "collect/recorder/recorder.h"
#include "formats/trace/clock.h"
#include "formats/trace/read/reader.h"

enum { RAW = 1, GPU = 2, ALL_ARGS = 4, PRODUCER = 8, DEAD = 16 };
#define WIDE 0xf8
#define PASSES 2

static struct gt_rings rings;

struct input {
	const uint8_t *at, *end;
};

static uint64_t read_number(struct input *in, unsigned bytes)
{
	uint64_t v = 0;

	for (; bytes-- && in->at < in->end; in->at++)
		v = v << 8 | *in->at;
	return v;
}

static uint64_t read_word(struct input *in)
{
	uint64_t v = read_number(in, 1);

	return v < WIDE ? v : read_number(in, 8);
}

static uint32_t chunk_capacity(void)
{
	return rings.chunk_bytes - (uint32_t)sizeof(struct gt_ring_chunk);
}

/* Returns the bytes of the ring that are in use. */
static uint32_t put_records(struct input *in, uint8_t *to, int64_t now)
{
	uint32_t used = 0;

	while (in->at < in->end) {
		uint8_t kind_depth = (uint8_t)read_number(in, 1);
		uint16_t id = (uint16_t)read_number(in, 2);
		unsigned words = read_number(in, 1) % 64, kind = kind_depth >> 5;
		struct gt_rec rec = { .id = id, .nargs = (uint8_t)words, .kind_depth = kind_depth };
		uint64_t word;

		rec.start = (uint64_t)now - read_number(in, 2) * 100 - 1;
		rec.end = rec.start + read_number(in, 1);
		if (kind != GT_REC_CALL && kind != GT_REC_EVENT) {
			rec.end = words * 8; /* a text and its length */
			rec.nargs = 0;
		}
		if (used + sizeof(rec) + words * 8 > chunk_capacity())
			break;
		memcpy(to + used, &rec, sizeof(rec));
		used += (uint32_t)sizeof(rec);
		for (; words; words--, used += 8) {
			word = read_word(in);
			memcpy(to + used, &word, 8);
		}
	}
	return used;
}

static void put_thread(struct input in)
{
	unsigned how = (unsigned)read_number(&in, 1), depth = (unsigned)read_number(&in, 1);
	struct gt_ring_thread *t = &rings.threads[0];
	struct gt_ring_chunk *c = gt_rings_chunk(&rings, 0);
	int64_t now = gt_clock_monotonic();
	uint64_t left = (uint64_t)(in.end - in.at),
		 used = left < chunk_capacity() ? left & ~7ul : chunk_capacity();

	rings.s->free_head = 1ull << 32 | c->next;
	*c = (struct gt_ring_chunk){ .next = GT_RING_NIL };
	if (how & RAW)
		memcpy(c->payload, in.at, used);
	else
		used = put_records(&in, c->payload, now);
	for (unsigned i = 0; i < GT_RING_OPEN_MAX; i++)
		t->open[i] = (struct gt_ring_open){ .start = (uint64_t)now - 50 + i,
			.id = (uint16_t)(depth * 7 + i),
			.nargs = (uint8_t)(depth >> 4) };
	t->tid = getpid();
	t->generation = 1;
	t->role = how & PRODUCER ? GT_RING_PRODUCER : GT_RING_CALLER;
	t->word = used << 8 | depth % (GT_RING_OPEN_MAX + 2);
	t->state = how & DEAD ? GT_SLOT_DONE : GT_SLOT_LIVE;
	rings.procs[0] = (struct gt_ring_proc){
		.state = GT_SLOT_LIVE, .pid = getpid(), .generation = 1, .comm = "fuzz"
	};
	*rings.bits[GT_BITS_NEW_PROCS] = *rings.bits[GT_BITS_NEW_THREADS] = 1;
	rings.s->args = how & ALL_ARGS ? GT_ARGS_ALL : GT_ARGS_KEY;
	rings.s->gpu = !!(how & GPU);
	memset(rings.s->gate, GT_GATE_ON, gt_api_count);
}

static void record(int fd)
{
	struct gt_writer_options opt = { .level = 1, .rows_sorted = true };
	struct gt_err err = GT_ERR_INIT;
	struct gt_writer *w = gt_writer_open(dup(fd), &opt, &err);
	struct gt_recorder *r = w ? gt_recorder_open(&rings, NULL, w, &err) : NULL;

	if (!r)
		abort();
	for (int i = 0; i < PASSES; i++)
		if (gt_recorder_pass(r, &err) < 0)
			abort(); /* one process would end the recording of all processes */
	if (gt_recorder_finish(r, &err))
		abort();
	gt_recorder_close(r);
	if (gt_writer_close(w, &err))
		abort();
}

static void read_back(int fd)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r = gt_reader_open_fd(fd, &err);
	struct gt_iter *it = r ? gt_iter_open(r, &(struct gt_filter){ .args = true }, &err) : NULL;
	int64_t last = INT64_MIN;
	struct gt_event ev;
	size_t damaged;
	int more = -1;

	while (it && (more = gt_iter_next(it, &ev, &err)) > 0) {
		if (ev.row.start < last || ev.row.end < ev.row.start)
			abort();
		last = ev.row.start;
	}
	if (more < 0 || (gt_reader_damage(r, &damaged), damaged))
		abort();
	gt_iter_close(it);
	gt_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_rings_options opt = { .memory = GT_RINGS_MIN };
	struct gt_err err = GT_ERR_INIT;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || gt_rings_open(&rings, &opt, &err))
		return 0;
	put_thread((struct input){ data, data + size });
	record(fd);
	gt_rings_close(&rings);
	lseek(fd, 0, SEEK_SET);
	read_back(fd);
	return 0;
}
