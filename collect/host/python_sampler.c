#define _GNU_SOURCE
#include "collect/host/python_sampler.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/trace/clock.h"

#define LATE (4 * 1000000u) /* ns */
#define READY_MAX 16
#define MAPPED 2000000u /* ns after its code, an interpreter's data is there, too */
#define SLICE 100000    /* ns; the least that the kernel knows */

struct gt_python_sampler {
	struct gt_perf_rings *rings;
	pthread_t thread;
	bool is_started, is_stopped;
	int stop_fd, epoll_fd;       /* epoll_fd: of the processors' events and of stop_fd */
	int interval, pause;         /* ms between looks while no process has an interpreter: the
				      * longest time, and the next */
	struct gt_perf_record *seen; /* of the current look */
	size_t nseen, seen_cap;
	pthread_mutex_t python_lock, samples_lock;
	struct gt_remote_python *python;
	struct search {
		uint32_t tgid;
		uint64_t at; /* ns */
	} * searches;        /* for interpreters that were mapped */
	size_t nsearches, searches_cap;
	struct gt_wait_looks *waits;       /* NULL: they are not looked at */
	struct gt_python_sample **samples; /* by the time of their reading */
	size_t nsamples, samples_cap;
	struct gt_map samples_map; /* by thread and time */
};

/* ---- the thread ---- */

static void add_seen(void *arg, const struct gt_perf_record *e)
{
	struct gt_python_sampler *s = arg;

	if (!gt_grow(&s->seen, &s->seen_cap, s->nseen + 1, sizeof(*e)))
		s->seen[s->nseen++] = *e;
}

static uint64_t now(void) { return (uint64_t)gt_clock_monotonic(); }

/* new; NULL: no memory. It has only space for the frames that there are. */
static struct gt_python_sample *copy_sample(const struct gt_python_sample *from)
{
	const size_t n = sizeof(*from) - sizeof(from->stack.frames) +
		from->stack.n * sizeof(from->stack.frames[0]);
	struct gt_python_sample *to = malloc(n);

	return to ? memcpy(to, from, n) : NULL;
}

/* samples_lock is held, and there is space. False: no memory. */
static bool add_sample(struct gt_python_sampler *s, struct gt_python_sample *sample)
{
	const uint64_t key[] = { sample->tid, sample->time };

	if (gt_map_add(&s->samples_map, gt_hash(key, sizeof(key)), (uint32_t)s->nsamples))
		return false;
	s->samples[s->nsamples++] = sample;
	return true;
}

static void read_sample(struct gt_python_sampler *s, const struct gt_perf_record *e)
{
	struct gt_python_sample sample = { .tid = e->tid, .time = e->time };
	struct gt_python_sample *copy;
	bool has_interpreter;

	sample.is_late = now() > e->time + LATE;
	pthread_mutex_lock(&s->python_lock);
	has_interpreter = gt_remote_python_search(s->python, e->tgid);
	if (has_interpreter && !sample.is_late)
		gt_remote_python_stack(s->python, e->tgid, e->tid, &sample.stack);
	pthread_mutex_unlock(&s->python_lock);
	if (!has_interpreter)
		return;
	sample.delay = now() - e->time;
	sample.is_late = sample.delay > LATE;
	copy = copy_sample(&sample);
	if (!copy)
		return;
	pthread_mutex_lock(&s->samples_lock);
	if (gt_grow(&s->samples, &s->samples_cap, s->nsamples + 1, sizeof(*s->samples)) ||
		!add_sample(s, copy))
		free(copy);
	pthread_mutex_unlock(&s->samples_lock);
}

static void forget_process(struct gt_python_sampler *s, uint32_t tgid)
{
	pthread_mutex_lock(&s->python_lock);
	gt_remote_python_forget(s->python, tgid, now());
	pthread_mutex_unlock(&s->python_lock);
}

void gt_python_sampler_search(struct gt_python_sampler *s, uint32_t tgid)
{
	pthread_mutex_lock(&s->python_lock);
	gt_remote_python_search(s->python, tgid);
	pthread_mutex_unlock(&s->python_lock);
}

static void add_search(struct gt_python_sampler *s, const struct gt_perf_record *e)
{
	if (!gt_grow(&s->searches, &s->searches_cap, s->nsearches + 1, sizeof(*s->searches)))
		s->searches[s->nsearches++] = (struct search){ e->tgid, e->time + MAPPED };
}

/* Before the first sample or wait, so that nothing has to wait for the search. */
static void search_mapped(struct gt_python_sampler *s)
{
	size_t left = 0;

	for (size_t i = 0; i < s->nsearches; i++) {
		const struct search next = s->searches[i];

		if (now() < next.at) {
			s->searches[left++] = next;
			continue;
		}
		gt_python_sampler_search(s, next.tgid);
	}
	s->nsearches = left;
}

static void take_seen(struct gt_python_sampler *s, const struct gt_perf_record *e)
{
	if (e->kind == PERF_RECORD_SAMPLE)
		read_sample(s, e);
	else if (e->kind == PERF_RECORD_COMM || (e->kind == PERF_RECORD_EXIT && e->tid == e->tgid))
		forget_process(s, e->tgid);
	else if (e->kind == PERF_RECORD_MMAP2)
		add_search(s, e);
	if (e->kind == PERF_RECORD_COMM)
		s->pause = 1;
	if (!s->waits)
		return;
	if (e->kind == PERF_RECORD_SWITCH)
		gt_wait_looks_switch(s->waits, e);
	else if (e->kind == PERF_RECORD_EXIT)
		gt_wait_looks_forget(s->waits, e->tid);
}

static void look(struct gt_python_sampler *s)
{
	s->nseen = 0;
	gt_perf_rings_look(s->rings, add_seen, s);
	for (size_t i = 0; i < s->nseen; i++)
		take_seen(s, &s->seen[i]);
}

/* Linux 6.12 and later: a thread that asks for short time slices is scheduled sooner when it wakes.
 * Struct and number are those of sched_setattr(2). */
static void ask_for_short_slices(void)
{
	const struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} a = { .size = sizeof(a), .runtime = SLICE };

	syscall(SYS_sched_setattr, 0, &a, 0);
}

static bool has_interpreters(struct gt_python_sampler *s)
{
	bool has_any;

	pthread_mutex_lock(&s->python_lock);
	has_any = gt_remote_python_has_any(s->python);
	pthread_mutex_unlock(&s->python_lock);
	return has_any;
}

/* Waits for some samples. A program that was just executed may map an interpreter, which the kernel
 * reports without a wake-up. False: the thread has to end. */
static bool wait_for_some(struct gt_python_sampler *s, int timeout)
{
	struct pollfd stop = { .fd = s->stop_fd, .events = POLLIN };

	if (s->interval && (timeout < 0 || timeout > s->pause))
		timeout = s->pause;
	s->pause = 2 * s->pause < s->interval ? 2 * s->pause : s->interval;
	return poll(&stop, 1, timeout) <= 0;
}

/* Waits for samples, if frames of Python have to be read in time, else for some of them. timeout:
 * ms; below 0: none. False: the thread has to end. */
static bool wait_for_records(struct gt_python_sampler *s, int timeout)
{
	struct epoll_event ready[READY_MAX];
	bool is_stopped = false;
	int n;

	if (!has_interpreters(s))
		return wait_for_some(s, timeout);
	n = epoll_wait(s->epoll_fd, ready, READY_MAX, timeout);
	for (int i = 0; i < n; i++)
		is_stopped |= ready[i].data.fd == s->stop_fd;
	return !is_stopped;
}

static void *run(void *arg)
{
	struct gt_python_sampler *s = arg;
	int timeout = s->waits ? 1 : -1;
	bool goes_on = true;

	ask_for_short_slices();
	while (goes_on) {
		goes_on = wait_for_records(s, s->nsearches ? 1 : timeout);
		look(s);
		search_mapped(s);
		if (s->waits)
			timeout = gt_wait_looks_run(s->waits, s->python, &s->python_lock);
	}
	return NULL;
}

/* ---- interface ---- */

struct gt_thread_look *const *gt_python_sampler_waits(struct gt_python_sampler *s, size_t *n)
{
	*n = 0;
	return s->waits ? gt_wait_looks_take(s->waits, n) : NULL;
}

static bool is_sample(const void *sampler, uint32_t i, const void *key, size_t len)
{
	const struct gt_python_sample *sample =
		((const struct gt_python_sampler *)sampler)->samples[i];
	const uint64_t own[] = { sample->tid, sample->time };

	return !memcmp(own, key, len);
}

const struct gt_python_sample *gt_python_sampler_find(
	struct gt_python_sampler *s, uint32_t tid, uint64_t time)
{
	const uint64_t key[] = { tid, time };
	const struct gt_python_sample *found;
	uint32_t i;

	pthread_mutex_lock(&s->samples_lock);
	i = gt_map_get(&s->samples_map, gt_hash(key, sizeof(key)), is_sample, s, key, sizeof(key));
	found = i == UINT32_MAX ? NULL : s->samples[i];
	pthread_mutex_unlock(&s->samples_lock);
	return found;
}

void gt_python_sampler_forget(struct gt_python_sampler *s, uint64_t until)
{
	size_t n;

	pthread_mutex_lock(&s->samples_lock);
	n = s->nsamples;
	s->nsamples = 0;
	gt_map_clear(&s->samples_map);
	for (size_t i = 0; i < n; i++)
		if (s->samples[i]->time <= until || !add_sample(s, s->samples[i]))
			free(s->samples[i]);
	pthread_mutex_unlock(&s->samples_lock);
	pthread_mutex_lock(&s->python_lock);
	if (s->python)
		gt_remote_python_release(s->python, until);
	pthread_mutex_unlock(&s->python_lock);
}

static bool watch(const struct gt_python_sampler *s, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	return !epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

static bool start(struct gt_python_sampler *s)
{
	sigset_t all, before;

	s->python = gt_remote_python_new();
	s->stop_fd = eventfd(0, EFD_CLOEXEC);
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!s->python || s->stop_fd < 0 || s->epoll_fd < 0 || !watch(s, s->stop_fd))
		return false;
	for (unsigned i = 0; i < s->rings->n; i++)
		if (s->rings->processors[i].page && !watch(s, s->rings->processors[i].fd))
			return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	s->is_started = !pthread_create(&s->thread, NULL, run, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return s->is_started;
}

struct gt_python_sampler *gt_python_sampler_open(struct gt_perf_rings *rings, bool waits)
{
	struct gt_python_sampler *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->rings = rings;
	s->interval = gt_perf_rings_interval(rings);
	s->pause = 1;
	s->stop_fd = s->epoll_fd = -1;
	pthread_mutex_init(&s->python_lock, NULL);
	pthread_mutex_init(&s->samples_lock, NULL);
	s->waits = waits ? gt_wait_looks_new() : NULL;
	if ((s->waits || !waits) && start(s))
		return s;
	gt_python_sampler_close(s);
	return NULL;
}

void gt_python_sampler_stop(struct gt_python_sampler *s)
{
	if (!s->is_started || s->is_stopped)
		return;
	s->is_stopped = true;
	eventfd_write(s->stop_fd, 1);
	pthread_join(s->thread, NULL);
}

void gt_python_sampler_close(struct gt_python_sampler *s)
{
	if (!s)
		return;
	gt_python_sampler_stop(s);
	gt_python_sampler_forget(s, UINT64_MAX);
	gt_remote_python_free(s->python);
	gt_wait_looks_free(s->waits);
	if (s->stop_fd >= 0)
		close(s->stop_fd);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	free(s->seen);
	free(s->searches);
	free(s->samples);
	gt_map_release(&s->samples_map);
	free(s);
}
