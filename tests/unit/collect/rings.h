/* For tests of the recorder: rings that the test writes itself, as a guest would, and the file read
 * back. Times are ns (no counter), so that the test decides what ended before a pass and what
 * after. */
#ifndef RINGS_H
#define RINGS_H
#include <unistd.h>
#include "collect/recorder/recorder.h"
#include "formats/trace/clock.h"
#include "formats/trace/read/reader.h"
#include "tests/unit/t.h"

/* ---- a guest ---- */

static struct gt_rings rings;
static struct gt_writer *w;
static struct gt_recorder *r;
static struct gt_err err;
static char path[64];
static bool with_gpu, with_memory, with_range; /* set before begin */

/* From the copy outside the shared memory: a test may damage the session's header. */
static inline uint64_t payload(void) { return rings.chunk_bytes - sizeof(struct gt_ring_chunk); }

static inline uint32_t pop(void)
{
	uint32_t i = (uint32_t)rings.s->free_head;

	if (i == GT_RING_NIL)
		return i;
	rings.s->free_head =
		((rings.s->free_head >> 32) + 1) << 32 | gt_rings_chunk(&rings, i)->next;
	rings.s->free_count--;
	gt_rings_chunk(&rings, i)->next = GT_RING_NIL;
	return i;
}

struct pen {
	uint32_t slot, chunk;
	uint64_t base, at;
	unsigned depth;
};

static inline void new_process(uint32_t i, int pid, int ppid)
{
	rings.procs[i] =
		(struct gt_ring_proc){ .pid = pid, .ppid = ppid, .generation = 1, .comm = "fake" };
	rings.procs[i].state = GT_SLOT_LIVE;
	rings.bits[GT_BITS_NEW_PROCS][i / 64] |= 1ull << i % 64;
}

static inline struct pen new_thread(uint32_t slot, uint32_t proc)
{
	struct gt_ring_thread *t = &rings.threads[slot];
	struct pen p = { .slot = slot, .chunk = pop() };

	memset(t, 0, sizeof(*t));
	t->proc = proc;
	t->tid = 1000 + (int)slot;
	t->generation = 1;
	t->first = p.chunk;
	gt_rings_chunk(&rings, p.chunk)->owner = slot;
	gt_rings_chunk(&rings, p.chunk)->number = 0;
	t->taken = p.chunk;
	t->state = GT_SLOT_LIVE;
	rings.bits[GT_BITS_NEW_THREADS][slot / 64] |= 1ull << slot % 64;
	return p;
}

static inline void publish(struct pen *p)
{
	__atomic_store_n(&rings.threads[p->slot].word, p->at << 8 | p->depth, __ATOMIC_RELEASE);
}

static inline void put(struct pen *p, const struct gt_rec *head, const void *words, size_t len)
{
	uint64_t size = sizeof(*head) + ((len + 7) & ~7ull), room = payload() - (p->at - p->base);
	uint8_t *to;

	if (size > room) {
		uint32_t next = pop();

		if (room)
			*(uint64_t *)(gt_rings_chunk(&rings, p->chunk)->payload +
				(p->at - p->base)) = 0;
		rings.threads[p->slot].taken = next;
		gt_rings_chunk(&rings, next)->owner = p->slot;
		gt_rings_chunk(&rings, next)->number = p->base / payload() + 1;
		gt_rings_chunk(&rings, p->chunk)->next = next;
		p->chunk = next;
		p->base += payload();
		p->at = p->base;
	}
	to = gt_rings_chunk(&rings, p->chunk)->payload + (p->at - p->base);
	memset(to, 0, size);
	memcpy(to, head, sizeof(*head));
	if (len)
		memcpy(to + sizeof(*head), words, len);
	p->at += size;
}

static inline void text(struct pen *p, enum gt_rec_kind kind, uint64_t key, const char *s)
{
	struct gt_rec head = {
		.start = key, .end = strlen(s), .kind_depth = (uint8_t)(kind << 5 | p->depth)
	};

	put(p, &head, s, strlen(s));
	publish(p);
}

static inline void enter(struct pen *p, unsigned id, int64_t start)
{
	rings.threads[p->slot].open[p->depth] =
		(struct gt_ring_open){ .start = (uint64_t)start, .id = (uint16_t)id };
	p->depth++;
	publish(p);
}

static inline void leave(struct pen *p, unsigned id, int64_t start, int64_t end, int ret,
	const uint64_t *words, unsigned n)
{
	struct gt_rec head = { .start = (uint64_t)start,
		.end = (uint64_t)end,
		.id = (uint16_t)id,
		.nargs = (uint8_t)n,
		.ret = ret };

	p->depth -= p->depth > 0;
	head.kind_depth = (uint8_t)p->depth;
	put(p, &head, words, n * 8);
	publish(p);
}

static inline void call(struct pen *p, const char *name, int64_t start, int64_t end)
{
	enter(p, gt_api_find(name), start);
	leave(p, gt_api_find(name), start, end, 0, NULL, 0);
}

static inline unsigned key_fields(unsigned id)
{
	struct gt_api_field f[GT_FIELDS_MAX];
	unsigned n = 0;

	for (unsigned i = 0, all = gt_api_fields(&gt_api[id], f); i < all; i++)
		n += f[i].key;
	return n;
}

/* ---- the file ---- */

static inline bool begin(unsigned args)
{
	struct gt_rings_options opt = { .memory = 4 << 20 };
	struct gt_writer_options wopt = { .rows_sorted = true };
	int fd;

	err = (struct gt_err)GT_ERR_INIT;
	if (gt_rings_open(&rings, &opt, &err))
		return false;
	rings.s->args = args;
	rings.s->gpu = with_gpu;
	rings.s->range = with_range ? GT_RANGE_PROFILER : GT_RANGE_ALWAYS;
	if (with_memory) { /* as the memory counters require: everything is recorded */
		gt_rings_set_recording(&rings, true);
		memset(rings.s->gate, GT_GATE_ON, gt_api_count);
	}
	strcpy(path, "/tmp/gt-test-recorder-XXXXXX");
	fd = mkstemp(path);
	w = gt_writer_open(fd, &wopt, &err);
	r = w ? gt_recorder_open(&rings, NULL, w, &err) : NULL;
	new_process(0, 4242, 1);
	return r;
}

static inline struct gt_reader *end(void)
{
	struct gt_reader *reader;
	int code = gt_recorder_finish(r, &err);

	gt_recorder_close(r);
	code = gt_writer_close(w, &err) || code;
	gt_rings_close(&rings);
	reader = code ? NULL : gt_reader_open(path, &err);
	unlink(path);
	return reader;
}

#define ROWS 64
static struct row {
	struct gt_event ev;
	uint64_t args[GT_FIELDS_MAX];
	const struct gt_type *type;
	const char *name;
} rows[ROWS];
static unsigned nrows;

static inline void read_rows(struct gt_reader *reader)
{
	struct gt_filter all = { 0 };
	struct gt_iter *it = gt_iter_open(reader, &all, &err);
	struct gt_event ev;

	for (nrows = 0; it && nrows < ROWS && gt_iter_next(it, &ev, &err) > 0; nrows++) {
		struct row *o = &rows[nrows];

		o->ev = ev;
		memcpy(o->args, ev.args, ev.row.nargs * sizeof(*o->args));
		o->type = ev.row.type == GT_NONE ? NULL : &ev.seg->types[ev.row.type];
		o->name = o->type ? gt_str(ev.seg, o->type->name) : "";
	}
	gt_iter_close(it);
}

static inline int64_t past(int64_t ns) { return gt_clock_monotonic() - ns; }

static inline uint64_t field(const struct row *o, enum gt_role role)
{
	for (unsigned i = 0; i < o->type->nfields; i++)
		if (o->type->fields[i].role == role)
			return o->args[i];
	return 0xdead;
}

static inline void wait_until(int64_t ns)
{
	while (gt_clock_monotonic() <= ns)
		;
}
#endif
