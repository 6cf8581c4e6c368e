#define _GNU_SOURCE
#include "collect/host/perf_rings.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "collect/host/remote_interpreter.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

/* Bytes of a processor's ring. perf_event_mlock_kb permits 512 KiB to all recordings of a user: two
 * recordings get rings of this size, further ones get smaller rings. */
#define RING_MOST (256u << 10)
#define RING_LEAST (64u << 10)
#define RING_PART(n) ((n) / 4 * 3) /* so much of a ring may be full before it is emptied */

/* What ends each record of the kernel but a sample: sample_id_all, of sample_type. */
struct record_end {
	uint32_t tgid, tid;
	uint64_t time; /* ns of CLOCK_MONOTONIC */
};

/* ---- the kernel's rings ---- */

static int open_processor(struct gt_perf_processor *p, int number)
{
	const size_t head = (size_t)sysconf(_SC_PAGESIZE);
	void *page = MAP_FAILED;

	p->fd = gt_perf_open_ring(number);
	if (p->fd < 0)
		return p->fd;
	for (size_t n = RING_MOST; page == MAP_FAILED && n >= RING_LEAST; n /= 2) {
		p->mapped = head + n;
		page = mmap(NULL, p->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	}
	if (page == MAP_FAILED)
		return -errno;
	p->page = page;
	return 0;
}

static int open_losses(struct gt_perf_rings *r, unsigned count)
{
	if (r->rings->cpu_losses) /* eBPF has them, of all possible processors */
		return 0;
	r->owns_losses = true;
	return gt_rings_set_cpus(r->rings, count);
}

int gt_perf_rings_open(
	struct gt_perf_rings *r, const struct gt_perf_options *opt, struct gt_rings *rings)
{
	unsigned count = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
	int rc;

	*r = (struct gt_perf_rings){
		.rings = rings, .opt = *opt, .lock = PTHREAD_MUTEX_INITIALIZER
	};
	r->processors = calloc(count, sizeof(*r->processors));
	if (!r->processors || open_losses(r, count))
		return -ENOMEM;
	for (; r->n < count; r->n++) {
		rc = open_processor(&r->processors[r->n], (int)r->n);
		if (rc == -ENODEV || rc == -ENXIO) /* it is switched off */
			continue;
		if (rc) {
			r->n++;
			return rc;
		}
	}
	return 0;
}

static void release_batch(struct gt_perf_batch *b)
{
	free(b->records);
	free(b->bytes);
}

void gt_perf_rings_close(struct gt_perf_rings *r)
{
	gt_perf_events_close(&r->events);
	for (unsigned i = 0; i < r->n; i++) {
		struct gt_perf_processor *p = &r->processors[i];

		if (p->page)
			munmap(p->page, p->mapped);
		if (p->fd > 0)
			close(p->fd);
	}
	if (r->owns_losses)
		gt_rings_set_cpus(r->rings, 0);
	free(r->processors);
	release_batch(&r->taken);
	release_batch(&r->arrived);
	free(r->fresh);
	*r = (struct gt_perf_rings){ 0 };
}

int gt_perf_rings_interval(const struct gt_perf_rings *r)
{
	const uint64_t bytes = gt_perf_stack_bytes(&r->opt) + sizeof(struct gt_perf_sample);
	uint64_t least = RING_MOST, ms;

	for (unsigned i = 0; i < r->n; i++)
		if (r->processors[i].page && r->processors[i].page->data_size < least)
			least = r->processors[i].page->data_size;
	ms = RING_PART(least / bytes * r->opt.period) / 1000000;
	return ms || !r->opt.period ? (int)ms : 1;
}

void gt_perf_rings_disable(struct gt_perf_rings *r)
{
	pthread_mutex_lock(&r->lock);
	gt_perf_events_disable(&r->events);
	pthread_mutex_unlock(&r->lock);
}

/* ---- reading ---- */

static void copy_from_ring(const struct gt_perf_processor *p, uint64_t from, void *to, size_t n)
{
	const char *ring = (const char *)p->page + p->page->data_offset;

	for (size_t i = 0; i < n;) {
		uint64_t at = (from + i) % p->page->data_size, part = p->page->data_size - at;

		part = part < n - i ? part : n - i;
		memcpy((char *)to + i, ring + at, part);
		i += part;
	}
}

static void add_loss(struct gt_perf_rings *r, unsigned i, uint64_t count, uint64_t time)
{
	uint64_t from = r->processors[i].last ? r->processors[i].last : time;

	gt_record_loss_add(&r->rings->cpu_losses[i < r->rings->ncpus ? i : 0], count, (int64_t)from,
		(int64_t)time);
}

/* Thread and time of the record at this position. False: no record is that small. */
static bool read_end(const struct gt_perf_processor *p, uint64_t at,
	const struct perf_event_header *h, struct record_end *end)
{
	if (h->size < sizeof(*h) + sizeof(*end))
		return false;
	if (h->type == PERF_RECORD_SAMPLE)
		copy_from_ring(p, at + sizeof(*h), end, sizeof(*end));
	else
		copy_from_ring(p, at + h->size - sizeof(*end), end, sizeof(*end));
	return true;
}

static bool is_known(uint32_t kind)
{
	return kind == PERF_RECORD_SWITCH || kind == PERF_RECORD_COMM || kind == PERF_RECORD_EXIT ||
		kind == PERF_RECORD_FORK || kind == PERF_RECORD_SAMPLE || kind == PERF_RECORD_MMAP2;
}

/* Appends a record without its body. 0 or -ENOMEM. */
static int add_record(struct gt_perf_batch *b, const struct gt_perf_record *e)
{
	if (gt_grow(&b->records, &b->records_cap, b->n + 1, sizeof(*e)) ||
		gt_grow(&b->bytes, &b->bytes_cap, b->nbytes + e->bytes, 1))
		return -ENOMEM;
	b->records[b->n] = *e;
	b->records[b->n++].at = b->nbytes;
	b->nbytes += e->bytes; /* whole words */
	return 0;
}

/* Most samples have less of a stack than there is space for: the last word says how much. The
 * kernel wrote n bytes at this position. */
static size_t cut_sample(const struct gt_perf_processor *p, uint64_t at, size_t n)
{
	struct gt_perf_sample s;
	uint64_t bytes;

	if (n < sizeof(s) + 8)
		return n;
	copy_from_ring(p, at, &s, sizeof(s));
	if (s.abi == PERF_SAMPLE_REGS_ABI_NONE)
		return offsetof(struct gt_perf_sample, registers);
	copy_from_ring(p, at + n - 8, &bytes, 8);
	n -= sizeof(s) + 8;
	return sizeof(s) + (s.stack_bytes && bytes < n ? bytes & ~7ull : n);
}

static bool maps_python(const struct gt_perf_mapping *m, size_t bytes)
{
	return bytes > sizeof(*m) && memchr(m->path, 0, bytes - sizeof(*m)) &&
		gt_is_python_file(m->path);
}

static bool is_urgent(const struct gt_perf_record *e, const void *body)
{
	return (e->kind == PERF_RECORD_MMAP2 && maps_python(body, e->bytes)) ||
		e->kind == PERF_RECORD_SAMPLE || e->kind == PERF_RECORD_SWITCH ||
		e->kind == PERF_RECORD_EXIT ||
		(e->kind == PERF_RECORD_COMM && e->misc & PERF_RECORD_MISC_COMM_EXEC);
}

static void add_fresh(struct gt_perf_rings *r, const struct gt_perf_record *e)
{
	if (!gt_grow(&r->fresh, &r->fresh_cap, r->nfresh + 1, sizeof(*r->fresh)))
		r->fresh[r->nfresh++] = *e;
}

void gt_perf_rings_add(struct gt_perf_rings *r, const struct gt_perf_record *e)
{
	if (!add_record(&r->arrived, e))
		add_fresh(r, e);
}

/* Body of PERF_RECORD_FORK: process, its parent, thread, its parent. */
static void note_thread(struct gt_perf_rings *r, const struct gt_perf_record *e, const void *body)
{
	const uint32_t *ids = body;

	if (e->kind == PERF_RECORD_EXIT)
		gt_perf_note_end(r, e->tid);
	else if (e->kind == PERF_RECORD_FORK && e->bytes >= 4 * sizeof(*ids))
		gt_perf_note_start(r, ids[2]);
}

static void take_record(struct gt_perf_rings *r, unsigned i, uint64_t at,
	const struct perf_event_header *h, const struct record_end *end)
{
	struct gt_perf_processor *p = &r->processors[i];
	struct gt_perf_batch *b = &r->arrived;
	struct gt_perf_record e = { .kind = h->type,
		.misc = h->misc,
		.tgid = end->tgid,
		.tid = end->tid,
		.time = end->time,
		.bytes = h->size - sizeof(*h) };
	uint64_t lost;
	uint8_t *body;

	at += sizeof(*h);
	if (e.kind == PERF_RECORD_LOST) {
		copy_from_ring(p, at + 8, &lost, 8);
		add_loss(r, i, lost, end->time);
	}
	if (!is_known(e.kind))
		return;
	if (e.kind == PERF_RECORD_SAMPLE)
		e.bytes = cut_sample(p, at, e.bytes);
	if (add_record(b, &e)) {
		add_loss(r, i, 1, end->time);
		return;
	}
	body = b->bytes + b->records[b->n - 1].at;
	copy_from_ring(p, at, body, e.bytes);
	note_thread(r, &e, body);
	if (is_urgent(&e, body))
		add_fresh(r, &e);
}

static void empty_ring(struct gt_perf_rings *r, unsigned i)
{
	struct gt_perf_processor *p = &r->processors[i];
	uint64_t head, tail;

	if (!p->page)
		return;
	head = __atomic_load_n(&p->page->data_head, __ATOMIC_ACQUIRE);
	for (tail = p->page->data_tail; tail < head;) {
		struct perf_event_header h;
		struct record_end end;

		copy_from_ring(p, tail, &h, sizeof(h));
		if (!read_end(p, tail, &h, &end))
			break;
		take_record(r, i, tail, &h, &end);
		p->last = end.time;
		tail += h.size;
	}
	__atomic_store_n(&p->page->data_tail, tail, __ATOMIC_RELEASE);
}

void gt_perf_rings_empty(struct gt_perf_rings *r)
{
	for (unsigned i = 0; i < r->n; i++)
		empty_ring(r, i);
}

static int by_time(const void *pa, const void *pb)
{
	const struct gt_perf_record *a = pa, *b = pb;

	return GT_COMPARE(a->time, b->time) ?: GT_COMPARE(a->at, b->at);
}

/* Puts the records after this time back. */
static void put_back(struct gt_perf_rings *r, uint64_t until)
{
	struct gt_perf_batch *from = &r->taken, *to = &r->arrived;
	size_t left = 0;

	for (size_t i = 0; i < from->n; i++) {
		const struct gt_perf_record e = from->records[i];

		if (e.time <= until || add_record(to, &e))
			from->records[left++] = e;
		else if (e.bytes) /* else there may be no space yet, and the pointers be NULL */
			memcpy(to->bytes + to->records[to->n - 1].at, from->bytes + e.at, e.bytes);
	}
	from->n = left;
}

void gt_perf_rings_read(struct gt_perf_rings *r, uint64_t until)
{
	struct gt_perf_batch empty = r->taken;

	empty.n = empty.nbytes = 0;
	pthread_mutex_lock(&r->lock);
	gt_perf_rings_empty(r);
	r->taken = r->arrived;
	r->arrived = empty;
	put_back(r, until);
	pthread_mutex_unlock(&r->lock);
	GT_SORT(r->taken.records, r->taken.n, by_time);
}

void gt_perf_rings_look(struct gt_perf_rings *r, gt_perf_look_fn *fn, void *arg)
{
	pthread_mutex_lock(&r->lock);
	gt_perf_rings_empty(r);
	for (size_t i = 0; i < r->nfresh; i++)
		fn(arg, &r->fresh[i]);
	r->nfresh = 0;
	pthread_mutex_unlock(&r->lock);
}
