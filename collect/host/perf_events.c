/* The kernel's events, which write to the rings: of a child that has yet to execute its program, or
 * of the threads of a running process. Each thread has one event per processor, as the kernel
 * writes an event that new threads and children inherit to the ring of one processor only.
 *
 * RUNNING PROCESSES. Threads may start while the events are opened. One that a thread with events
 * starts inherits these, and the kernel reports it (PERF_RECORD_FORK). Others are found when the
 * threads are listed again. If the report of a thread comes after its own events were opened, these
 * are closed: else it would be recorded twice. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "collect/host/perf_rings.h"
#include "formats/base/buf.h"
#include "formats/os/file.h"
#include "formats/trace/clock.h"

#define INHERITS SIZE_MAX /* gt_perf_thread.first: it has no events of its own */
#define ROUNDS_MAX 100    /* in which the threads are listed */
#define LAST_REPORT 1000  /* us: reports of threads that are listed arrive within this time */

/* Bytes of the stack in a sample. The ring has to hold all samples of some ms, at higher rates too.
 * 16 KiB reach to the end of more than 98 % of the stacks of gcc, git, gdb, perl and Python. */
uint32_t gt_perf_stack_bytes(const struct gt_perf_options *opt)
{
	return opt->period >= 2000000 ? 16384 : opt->period >= 1000000 ? 8192 : 4096;
}

static int open_attributes(struct perf_event_attr *a, pid_t pid, int processor)
{
	int fd = (int)syscall(SYS_perf_event_open, a, pid, processor, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int gt_perf_open_ring(int processor)
{
	struct perf_event_attr a = { .size = sizeof(a),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC };

	return open_attributes(&a, 0, processor);
}

static int open_event(pid_t pid, int processor, const struct gt_perf_options *opt, bool only_user,
	bool is_running)
{
	const bool samples = opt->period;
	struct perf_event_attr a = { .size = sizeof(a),
		.type = PERF_TYPE_SOFTWARE,
		.config = samples ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_DUMMY,
		.sample_period = opt->period,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			(samples ? PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER |
						PERF_SAMPLE_STACK_USER
				 : 0),
		.sample_id_all = 1,
		.context_switch = opt->switches,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.mmap = 1,
		.mmap2 = 1,
		.inherit = 1,
		.disabled = !is_running,
		.enable_on_exec = !is_running,
		.exclude_kernel = only_user,
		.exclude_hv = 1,
		.wakeup_events = 1,
		.sample_regs_user = samples ? GT_PERF_REGISTER_MASK : 0,
		.sample_stack_user = samples ? gt_perf_stack_bytes(opt) : 0,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC };

	return open_attributes(&a, pid, processor);
}

/* Samples within the kernel take more rights. */
static int open_permitted(pid_t pid, int processor, const struct gt_perf_options *opt,
	bool *only_user, bool is_running)
{
	int fd = open_event(pid, processor, opt, *only_user || !opt->period, is_running);

	if (fd != -EACCES || *only_user || !opt->period)
		return fd;
	fd = open_event(pid, processor, opt, true, is_running);
	*only_user = fd >= 0;
	return fd;
}

bool gt_perf_is_allowed(const struct gt_perf_options *opt, bool *only_user)
{
	int fd;

	*only_user = false;
	fd = open_permitted(0, 0, opt, only_user, false);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* ---- events of a thread ---- */

static void close_events(struct gt_perf_events *e, size_t first, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (e->fds[first + i] >= 0)
			close(e->fds[first + i]);
		e->fds[first + i] = -1;
	}
}

/* Its events are those from *first on, one for each processor. 0 or negative; -ESRCH: the thread
 * has ended. */
static int open_events(struct gt_perf_rings *r, pid_t tid, bool is_running, size_t *first)
{
	struct gt_perf_events *e = &r->events;
	int rc = 0, fd;

	if (gt_grow(&e->fds, &e->cap, e->n + r->n, sizeof(*e->fds)))
		return -ENOMEM;
	*first = e->n;
	for (unsigned i = 0; i < r->n; i++)
		e->fds[e->n++] = -1;
	for (unsigned i = 0; !rc && i < r->n; i++) {
		if (!r->processors[i].page) /* it is switched off */
			continue;
		fd = open_permitted(tid, (int)i, &r->opt, &r->only_user, is_running);
		e->fds[*first + i] = fd;
		rc = fd < 0 ? fd : 0;
		if (!rc && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->processors[i].fd))
			rc = -errno;
	}
	if (rc) {
		close_events(e, *first, r->n);
		e->n = *first;
	}
	return rc;
}

int gt_perf_rings_start(struct gt_perf_rings *r, pid_t pid)
{
	size_t first;

	return open_events(r, pid, false, &first);
}

/* ---- running processes ---- */

static struct gt_perf_thread *thread_of(struct gt_perf_events *e, uint32_t tid)
{
	uint32_t i = gt_map_find_item(&e->map, e->threads, sizeof(*e->threads), &tid, sizeof(tid));

	return i == UINT32_MAX ? NULL : &e->threads[i];
}

static void add_thread(struct gt_perf_events *e, uint32_t tid, size_t first)
{
	const struct gt_perf_thread new = { tid, first };

	gt_map_add_item(&e->map, &e->threads, &e->nthreads, &e->threads_cap, sizeof(new), &new,
		sizeof(tid));
}

void gt_perf_note_start(struct gt_perf_rings *r, uint32_t tid)
{
	struct gt_perf_thread *t = thread_of(&r->events, tid);

	if (!t && r->events.is_attaching) {
		add_thread(&r->events, tid, INHERITS);
	} else if (t && t->first != INHERITS) {
		close_events(&r->events, t->first, r->n);
		t->first = INHERITS;
	}
}

void gt_perf_note_end(struct gt_perf_rings *r, uint32_t tid)
{
	struct gt_perf_thread *t = thread_of(&r->events, tid);

	/* threads that it has started inherit its events */
	if (t)
		gt_map_remove_item(&r->events.map, r->events.threads, &r->events.nthreads,
			sizeof(*t), (uint32_t)(t - r->events.threads), sizeof(tid));
}

/* Does it wait, or is it stopped? */
static bool is_off_processor(pid_t pid, uint32_t tid)
{
	char path[64], line[256] = "", *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/stat", (int)pid, tid);
	f = fopen(path, "re");
	at = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	if (f)
		fclose(f);
	return at && at[1] == ' ' && strchr("SDTt", at[2]);
}

/* The kernel reports only that a waiting thread runs again. */
static void add_wait(struct gt_perf_rings *r, pid_t pid, uint32_t tid)
{
	const struct gt_perf_record e = { .kind = PERF_RECORD_SWITCH,
		.misc = PERF_RECORD_MISC_SWITCH_OUT,
		.tgid = (uint32_t)pid,
		.tid = tid,
		.time = (uint64_t)gt_clock_monotonic() };

	if (r->opt.switches && is_off_processor(pid, tid))
		gt_perf_rings_add(r, &e);
}

/* new: free it; *n of them. NULL: the process has ended, or no memory. */
static uint32_t *list_threads(pid_t pid, size_t *n)
{
	uint32_t *list = NULL, tid;
	size_t cap = 0;
	struct dirent *e;
	char path[32];
	DIR *tasks;

	*n = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (e = readdir(tasks))) {
		tid = (uint32_t)strtoul(e->d_name, NULL, 10);
		if (tid && !gt_grow(&list, &cap, *n + 1, sizeof(tid)))
			list[(*n)++] = tid;
	}
	if (tasks)
		closedir(tasks);
	return list;
}

static int attach_thread(struct gt_perf_rings *r, pid_t pid, uint32_t tid)
{
	size_t first;
	int rc = open_events(r, (pid_t)tid, true, &first);

	if (rc)
		return rc;
	add_thread(&r->events, tid, first);
	add_wait(r, pid, tid);
	return 0;
}

/* Opens the events of threads that have none. *count: how many; 0 or negative. */
static int attach_new(
	struct gt_perf_rings *r, pid_t pid, const uint32_t *list, size_t n, unsigned *count)
{
	int rc = 0;

	*count = 0;
	for (size_t i = 0; !rc && i < n; i++) {
		pthread_mutex_lock(&r->lock);
		if (!thread_of(&r->events, list[i])) {
			rc = attach_thread(r, pid, list[i]);
			*count += !rc;
			rc = rc == -ESRCH ? 0 : rc;
		}
		pthread_mutex_unlock(&r->lock);
	}
	return rc;
}

/* Another thread may empty the rings, and gt_perf_note_start() then reads this. */
static void set_attaching(struct gt_perf_rings *r, bool is_attaching)
{
	pthread_mutex_lock(&r->lock);
	r->events.is_attaching = is_attaching;
	pthread_mutex_unlock(&r->lock);
}

int gt_perf_rings_attach(struct gt_perf_rings *r, pid_t pid)
{
	unsigned count = 1, all = 0;
	uint32_t *list;
	size_t n;
	int rc = 0;

	gt_permit_many_files();
	set_attaching(r, true);
	for (unsigned round = 0; !rc && count && round < ROUNDS_MAX; round++) {
		list = list_threads(pid, &n);
		if (round)
			usleep(LAST_REPORT);
		pthread_mutex_lock(&r->lock);
		gt_perf_rings_empty(r);
		pthread_mutex_unlock(&r->lock);
		rc = list ? attach_new(r, pid, list, n, &count) : -ESRCH;
		all += count;
		free(list);
	}
	set_attaching(r, false);
	return rc ? rc : (int)all;
}

void gt_perf_events_disable(struct gt_perf_events *e)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->fds[i] >= 0)
			ioctl(e->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}

void gt_perf_events_close(struct gt_perf_events *e)
{
	close_events(e, 0, (unsigned)e->n);
	free(e->fds);
	free(e->threads);
	gt_map_release(&e->map);
	*e = (struct gt_perf_events){ 0 };
}
