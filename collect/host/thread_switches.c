#define _GNU_SOURCE
#include "collect/host/thread_switches.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "collect/host/wait_reason.h"
#include "collect/ipc/ring_writer.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/trace/clock.h"

#define RING_BYTES (256u << 10) /* of a processor; perf_event_mlock_kb permits 512 KiB */
#define SETTLED (5 * 1000000ll) /* ns: older records of all processors are there */
#define LOOKS 64u               /* waits whose system call is read in one drain */
#define PREEMPTED PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
#define NO_CALL (-1)

/* What ends each record of the kernel: sample_id_all, of sample_type. */
struct record_end {
	uint32_t tgid, tid;
	uint64_t time; /* ns of CLOCK_MONOTONIC */
};
struct processor {
	int fd;
	struct perf_event_mmap_page *page; /* then the ring */
	uint64_t last;                     /* ns: of the last record that was read */
};
/* A thread. Its key comes first. */
struct switched_thread {
	uint32_t tid, tgid;
	char comm[16];
	uint64_t since; /* ns: it does not run; 0: it does */
	bool is_preempted, was_read;
	int32_t system_call; /* NO_CALL: not known */
	uint64_t read_at;    /* ns: it was in this call then, if it was in the same wait */
};
struct event {
	struct record_end at;
	uint32_t kind, misc; /* PERF_RECORD_SWITCH, _COMM or _EXIT */
	char comm[16];
};
struct gt_thread_switches {
	struct processor *processors;
	unsigned n;
	struct gt_rings *rings;
	struct gt_ring_writer writer;
	struct gt_map map;
	struct switched_thread *threads;
	size_t nthreads, threads_cap;
	struct event *events; /* of the current drain */
	size_t nevents, events_cap;
	uint64_t window_from, window_until;
	bool is_stopped;
};

/* ---- the kernel's events ---- */

static int open_event(pid_t pid, int processor)
{
	struct perf_event_attr a = { .size = sizeof(a),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.context_switch = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.inherit = 1,
		.disabled = 1,
		.enable_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC };
	int fd = (int)syscall(SYS_perf_event_open, &a, pid, processor, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

bool gt_thread_switches_are_allowed(void)
{
	int fd = open_event(0, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int open_processor(struct processor *p, pid_t pid, int number)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE) + RING_BYTES;
	void *page;

	p->fd = open_event(pid, number);
	if (p->fd < 0)
		return p->fd;
	page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	p->page = page;
	return 0;
}

static int open_processors(struct gt_thread_switches *s, pid_t pid)
{
	unsigned count = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
	int rc;

	s->processors = calloc(count, sizeof(*s->processors));
	if (!s->processors || gt_rings_set_cpus(s->rings, count))
		return -ENOMEM;
	for (; s->n < count; s->n++) {
		rc = open_processor(&s->processors[s->n], pid, (int)s->n);
		if (rc == -ENODEV || rc == -ENXIO) /* it is switched off */
			continue;
		if (rc) {
			s->n++;
			return rc;
		}
	}
	return 0;
}

/* ---- reading ---- */

static void copy_from_ring(const struct processor *p, uint64_t from, void *to, size_t n)
{
	const char *ring = (const char *)p->page + p->page->data_offset;

	for (size_t i = 0; i < n;) {
		uint64_t at = (from + i) % p->page->data_size, part = p->page->data_size - at;

		part = part < n - i ? part : n - i;
		memcpy((char *)to + i, ring + at, part);
		i += part;
	}
}

static void add_loss(struct gt_thread_switches *s, unsigned i, uint64_t count, uint64_t time)
{
	struct gt_record_loss *to = &s->rings->cpu_losses[i];
	uint64_t from = s->processors[i].last ? s->processors[i].last : time;

	if (!to->count)
		to->from = (int64_t)from;
	to->to = (int64_t)time;
	to->count += count;
}

/* A record of the kernel, complete in `bytes`. */
static void take_record(struct gt_thread_switches *s, unsigned i, const struct perf_event_header *h,
	const char *bytes, const struct record_end *end)
{
	struct event e = { .at = *end, .kind = h->type, .misc = h->misc };
	uint64_t lost;

	if (h->type == PERF_RECORD_LOST) {
		memcpy(&lost, bytes + sizeof(*h) + 8, 8);
		add_loss(s, i, lost, end->time);
	}
	if (h->type != PERF_RECORD_SWITCH && h->type != PERF_RECORD_COMM &&
		h->type != PERF_RECORD_EXIT)
		return;
	if (h->type == PERF_RECORD_COMM) /* pid, tid, and the name with its end */
		memcpy(e.comm, bytes + sizeof(*h) + 8, sizeof(e.comm) - 1);
	if (gt_grow(&s->events, &s->events_cap, s->nevents + 1, sizeof(e)))
		add_loss(s, i, 1, end->time);
	else
		s->events[s->nevents++] = e;
}

/* Takes the records of one processor up to this time; the others stay in its ring. */
static void read_processor(struct gt_thread_switches *s, unsigned i, uint64_t until)
{
	struct processor *p = &s->processors[i];
	uint64_t head, tail;
	char bytes[256];

	if (!p->page)
		return;
	head = __atomic_load_n(&p->page->data_head, __ATOMIC_ACQUIRE);
	for (tail = p->page->data_tail; tail < head;) {
		struct perf_event_header h;
		struct record_end end;

		copy_from_ring(p, tail, &h, sizeof(h));
		if (h.size < sizeof(h) + sizeof(end))
			break; /* no record has this size */
		copy_from_ring(p, tail + h.size - sizeof(end), &end, sizeof(end));
		if (end.time > until)
			break;
		memset(bytes, 0, sizeof(bytes));
		copy_from_ring(p, tail, bytes, h.size < sizeof(bytes) ? h.size : sizeof(bytes));
		take_record(s, i, &h, bytes, &end);
		p->last = end.time;
		tail += h.size;
	}
	__atomic_store_n(&p->page->data_tail, tail, __ATOMIC_RELEASE);
}

/* ---- threads ---- */

static bool read_task(const struct switched_thread *t, const char *file, char *to, size_t size)
{
	char path[64];
	FILE *f;
	bool is_read;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", t->tgid, t->tid, file);
	f = fopen(path, "re");
	is_read = f && fgets(to, (int)size, f);
	if (f)
		fclose(f);
	return is_read;
}

static struct switched_thread *thread_of(struct gt_thread_switches *s, uint32_t tgid, uint32_t tid)
{
	struct switched_thread new = { .tid = tid, .tgid = tgid, .system_call = NO_CALL };
	uint32_t i = gt_map_find_item(&s->map, s->threads, sizeof(new), &tid, sizeof(tid));

	if (i != UINT32_MAX)
		return &s->threads[i];
	if (read_task(&new, "comm", new.comm, sizeof(new.comm)))
		new.comm[strcspn(new.comm, "\n")] = 0;
	i = gt_map_add_item(&s->map, &s->threads, &s->nthreads, &s->threads_cap, sizeof(new), &new,
		sizeof(tid));
	return i == UINT32_MAX ? NULL : &s->threads[i];
}

/* Reads the system call that a thread waits in. */
static void read_system_call(struct switched_thread *t)
{
	char line[256];

	t->was_read = true;
	t->system_call = NO_CALL;
	if (read_task(t, "syscall", line, sizeof(line)) && *line >= '0' && *line <= '9')
		t->system_call = atoi(line);
	t->read_at = (uint64_t)gt_clock_monotonic();
}

static void read_system_calls(struct gt_thread_switches *s)
{
	unsigned looks = 0;

	for (size_t i = 0; i < s->nthreads && looks < LOOKS; i++)
		if (s->threads[i].since && !s->threads[i].is_preempted && !s->threads[i].was_read) {
			read_system_call(&s->threads[i]);
			looks++;
		}
}

/* ---- rows ---- */

static void write_row(struct gt_thread_switches *s, const struct switched_thread *t, uint64_t until)
{
	bool is_known = t->was_read && t->read_at < until && t->system_call != NO_CALL;
	struct gt_ev_sched e = { .state = t->is_preempted ? GT_SCHED_PREEMPTED
			: is_known                        ? gt_wait_reason(t->system_call)
							  : GT_SCHED_OTHER,
		.system_call = is_known ? (uint32_t)t->system_call : UINT32_MAX };
	struct gt_written_thread *to;

	if (t->since < s->window_from || t->since >= s->window_until)
		return;
	to = gt_ring_writer_thread(
		&s->writer, (int32_t)t->tgid, (int32_t)t->tid, t->comm, (int64_t)t->since);
	if (to)
		gt_ring_writer_event(&s->writer, to, GT_EV_SCHED, t->since, until, &e, sizeof(e));
}

static void write_event(struct gt_thread_switches *s, const struct event *e)
{
	struct switched_thread *t = thread_of(s, e->at.tgid, e->at.tid);

	if (!t)
		return;
	if (e->kind == PERF_RECORD_EXIT)
		gt_map_remove_item(&s->map, s->threads, &s->nthreads, sizeof(*t),
			(uint32_t)(t - s->threads), sizeof(t->tid));
	else if (e->kind == PERF_RECORD_COMM) {
		memcpy(t->comm, e->comm, sizeof(t->comm));
		if (e->misc & PERF_RECORD_MISC_COMM_EXEC)
			gt_ring_writer_exec(&s->writer, (int32_t)t->tgid, (int32_t)t->tid, t->comm,
				(int64_t)e->at.time);
	} else if (e->misc & PERF_RECORD_MISC_SWITCH_OUT) {
		t->tgid = e->at.tgid;
		t->since = e->at.time;
		t->is_preempted = e->misc & PREEMPTED;
		t->was_read = false;
	} else if (t->since) {
		write_row(s, t, e->at.time);
		t->since = 0;
	}
}

static int by_time(const void *pa, const void *pb)
{
	const struct event *a = pa, *b = pb;

	return GT_COMPARE(a->at.time, b->at.time);
}

static void drain_until(struct gt_thread_switches *s, uint64_t until)
{
	s->nevents = 0;
	for (unsigned i = 0; i < s->n; i++)
		read_processor(s, i, until);
	GT_SORT(s->events, s->nevents, by_time);
	for (size_t i = 0; i < s->nevents; i++)
		write_event(s, &s->events[i]);
	s->rings->written_until = until > INT64_MAX ? INT64_MAX : (int64_t)until;
}

/* ---- interface ---- */

struct gt_thread_switches *gt_thread_switches_open(
	pid_t pid, struct gt_rings *rings, struct gt_guest_server *server, struct gt_err *err)
{
	struct gt_thread_switches *s = calloc(1, sizeof(*s));
	int rc = -ENOMEM;

	if (s) {
		s->rings = s->writer.rings = rings;
		s->writer.server = server;
		s->window_until = UINT64_MAX;
		rc = open_processors(s, pid);
	}
	if (!rc)
		return s;
	gt_err_set(err, rc, "cannot record when threads run: perf_event_open: %s", strerror(-rc));
	gt_thread_switches_close(s);
	return NULL;
}

void gt_thread_switches_set_window(struct gt_thread_switches *s, int64_t from, int64_t until)
{
	s->window_from = (uint64_t)from;
	s->window_until = (uint64_t)until;
}

void gt_thread_switches_drain(struct gt_thread_switches *s)
{
	if (s->is_stopped)
		return;
	drain_until(s, (uint64_t)(gt_clock_monotonic() - SETTLED));
	read_system_calls(s);
}

void gt_thread_switches_stop(struct gt_thread_switches *s)
{
	uint64_t now = (uint64_t)gt_clock_monotonic();

	if (s->is_stopped)
		return;
	s->is_stopped = true;
	drain_until(s, now);
	for (size_t i = 0; i < s->nthreads; i++)
		if (s->threads[i].since)
			write_row(s, &s->threads[i], now);
	s->rings->written_until = INT64_MAX;
}

void gt_thread_switches_close(struct gt_thread_switches *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->n; i++) {
		struct processor *p = &s->processors[i];

		if (p->page)
			munmap(p->page, (size_t)sysconf(_SC_PAGESIZE) + RING_BYTES);
		if (p->fd > 0)
			close(p->fd);
	}
	gt_rings_set_cpus(s->rings, 0);
	gt_ring_writer_release(&s->writer);
	gt_map_release(&s->map);
	free(s->processors);
	free(s->threads);
	free(s->events);
	free(s);
}
