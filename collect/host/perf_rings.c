#define _GNU_SOURCE
#include "collect/host/perf_rings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

#define RING_BYTES (256u << 10) /* of a processor; perf_event_mlock_kb permits 512 KiB */
#define STACK_MAX 64            /* addresses of a sample */

/* What ends each record of the kernel but a sample: sample_id_all, of sample_type. */
struct record_end {
	uint32_t tgid, tid;
	uint64_t time; /* ns of CLOCK_MONOTONIC */
};

/* ---- the kernel's events ---- */

static int open_event(pid_t pid, int processor, const struct gt_perf_options *opt, bool only_user)
{
	const bool samples = opt->period;
	struct perf_event_attr a = { .size = sizeof(a),
		.type = PERF_TYPE_SOFTWARE,
		.config = samples ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_DUMMY,
		.sample_period = opt->period,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			(samples ? PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN : 0),
		.sample_id_all = 1,
		.context_switch = opt->switches,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.mmap = 1,
		.mmap2 = 1,
		.inherit = 1,
		.disabled = 1,
		.enable_on_exec = 1,
		.exclude_kernel = only_user,
		.exclude_callchain_kernel = 1,
		.exclude_hv = 1,
		.wakeup_events = 1,
		.sample_max_stack = samples ? STACK_MAX : 0,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC };
	int fd = (int)syscall(SYS_perf_event_open, &a, pid, processor, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Samples within the kernel take more rights. */
static int open_permitted(
	pid_t pid, int processor, const struct gt_perf_options *opt, bool *only_user)
{
	int fd = open_event(pid, processor, opt, *only_user || !opt->period);

	if (fd != -EACCES || *only_user || !opt->period)
		return fd;
	*only_user = true;
	return open_event(pid, processor, opt, true);
}

bool gt_perf_is_allowed(const struct gt_perf_options *opt)
{
	bool only_user = false;
	int fd = open_permitted(0, 0, opt, &only_user);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int open_processor(struct gt_perf_rings *r, struct gt_perf_processor *p, pid_t pid,
	int number, const struct gt_perf_options *opt)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE) + RING_BYTES;
	void *page;

	p->fd = open_permitted(pid, number, opt, &r->only_user);
	if (p->fd < 0)
		return p->fd;
	page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
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

int gt_perf_rings_open(struct gt_perf_rings *r, pid_t pid, const struct gt_perf_options *opt,
	struct gt_rings *rings)
{
	unsigned count = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
	int rc;

	*r = (struct gt_perf_rings){ .rings = rings, .lock = PTHREAD_MUTEX_INITIALIZER };
	r->processors = calloc(count, sizeof(*r->processors));
	if (!r->processors || open_losses(r, count))
		return -ENOMEM;
	for (; r->n < count; r->n++) {
		rc = open_processor(r, &r->processors[r->n], pid, (int)r->n, opt);
		if (rc == -ENODEV || rc == -ENXIO) /* it is switched off */
			continue;
		if (rc) {
			r->n++;
			return rc;
		}
	}
	return 0;
}

void gt_perf_rings_close(struct gt_perf_rings *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		struct gt_perf_processor *p = &r->processors[i];

		if (p->page)
			munmap(p->page, (size_t)sysconf(_SC_PAGESIZE) + RING_BYTES);
		if (p->fd > 0)
			close(p->fd);
	}
	if (r->owns_losses)
		gt_rings_set_cpus(r->rings, 0);
	free(r->processors);
	free(r->records);
	free(r->bytes);
	*r = (struct gt_perf_rings){ 0 };
}

void gt_perf_rings_disable(struct gt_perf_rings *r)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->processors[i].fd > 0)
			ioctl(r->processors[i].fd, PERF_EVENT_IOC_DISABLE, 0);
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

static void take_record(struct gt_perf_rings *r, unsigned i, uint64_t at,
	const struct perf_event_header *h, const struct record_end *end)
{
	struct gt_perf_processor *p = &r->processors[i];
	size_t n = h->size - sizeof(*h);
	struct gt_perf_record e = { .kind = h->type,
		.misc = h->misc,
		.tgid = end->tgid,
		.tid = end->tid,
		.time = end->time,
		.at = r->nbytes,
		.bytes = n };
	uint64_t lost;

	if (h->type == PERF_RECORD_LOST) {
		copy_from_ring(p, at + sizeof(*h) + 8, &lost, 8);
		add_loss(r, i, lost, end->time);
	}
	if (!is_known(h->type))
		return;
	if (gt_grow(&r->records, &r->records_cap, r->nrecords + 1, sizeof(e)) ||
		gt_grow(&r->bytes, &r->bytes_cap, r->nbytes + n, 1)) {
		add_loss(r, i, 1, end->time);
		return;
	}
	copy_from_ring(p, at + sizeof(*h), r->bytes + e.at, n);
	r->nbytes += n; /* whole words */
	r->records[r->nrecords++] = e;
}

/* Takes the records of one processor up to this time; the others stay in its ring. */
static void read_processor(struct gt_perf_rings *r, unsigned i, uint64_t until)
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
		if (!read_end(p, tail, &h, &end) || end.time > until)
			break;
		take_record(r, i, tail, &h, &end);
		p->last = end.time;
		tail += h.size;
	}
	__atomic_store_n(&p->page->data_tail, tail, __ATOMIC_RELEASE);
}

static int by_time(const void *pa, const void *pb)
{
	const struct gt_perf_record *a = pa, *b = pb;

	return GT_COMPARE(a->time, b->time) ?: GT_COMPARE(a->at, b->at);
}

void gt_perf_rings_read(struct gt_perf_rings *r, uint64_t until)
{
	r->nrecords = r->nbytes = 0;
	pthread_mutex_lock(&r->lock);
	for (unsigned i = 0; i < r->n; i++)
		read_processor(r, i, until);
	pthread_mutex_unlock(&r->lock);
	GT_SORT(r->records, r->nrecords, by_time);
}

static void look_at_processor(struct gt_perf_processor *p, gt_perf_look_fn *fn, void *arg)
{
	uint64_t head = __atomic_load_n(&p->page->data_head, __ATOMIC_ACQUIRE);
	struct perf_event_header h;
	struct record_end end;

	if (p->seen < p->page->data_tail)
		p->seen = p->page->data_tail;
	for (; p->seen < head; p->seen += h.size) {
		copy_from_ring(p, p->seen, &h, sizeof(h));
		if (!read_end(p, p->seen, &h, &end))
			break;
		if (h.type == PERF_RECORD_SAMPLE ||
			(h.type == PERF_RECORD_EXIT && end.tid == end.tgid) ||
			(h.type == PERF_RECORD_COMM && h.misc & PERF_RECORD_MISC_COMM_EXEC))
			fn(arg,
				&(struct gt_perf_record){ .kind = h.type,
					.tgid = end.tgid,
					.tid = end.tid,
					.time = end.time });
	}
}

void gt_perf_rings_look(struct gt_perf_rings *r, gt_perf_look_fn *fn, void *arg)
{
	pthread_mutex_lock(&r->lock);
	for (unsigned i = 0; i < r->n; i++)
		if (r->processors[i].page)
			look_at_processor(&r->processors[i], fn, arg);
	pthread_mutex_unlock(&r->lock);
}
