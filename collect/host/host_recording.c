#define _GNU_SOURCE
#include "collect/host/host_recording.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "collect/host/host_internal.h"
#include "collect/host/remote_interpreter.h"
#include "collect/ipc/process_maps.h"
#include "formats/trace/clock.h"

/* ns: older records of all processors are there, and frames of Python have been read */
#define SETTLED (5 * 1000000ll)

static struct gt_perf_options perf_options(const struct gt_host_options *opt)
{
	return (struct gt_perf_options){ opt->switches, opt->rate ? 1000000000u / opt->rate : 0 };
}

bool gt_host_allows_switches(void)
{
	bool only_user;

	return gt_perf_is_allowed(&(struct gt_perf_options){ .switches = true }, &only_user);
}

static const struct gt_perf_options samples = { .period = 1000000 };

bool gt_host_allows_samples(void)
{
	bool only_user;

	return gt_perf_is_allowed(&samples, &only_user);
}

bool gt_host_lacks_kernel_samples(void)
{
	bool only_user;

	return gt_perf_is_allowed(&samples, &only_user) && only_user;
}

/* Nothing is mapped at this address, which the kernel says if it permits reading. */
static bool is_readable(pid_t pid)
{
	uint64_t any;

	return gt_read_process((uint32_t)pid, 0, &any, sizeof(any)) == -EFAULT;
}

/* Reading the own memory is always permitted, so a child is read. */
bool gt_host_reads_memory(pid_t pid)
{
	pid_t child = pid ? -1 : fork();
	bool is_read;

	if (!child) {
		pause();
		_exit(0);
	}
	is_read = is_readable(pid ? pid : child);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return is_read;
}

/* ---- threads ---- */

static void read_name(struct gt_host_thread *t)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", t->tgid, t->tid);
	f = fopen(path, "re");
	if (f && fgets(t->comm, sizeof(t->comm), f))
		t->comm[strcspn(t->comm, "\n")] = 0;
	if (f)
		fclose(f);
}

struct gt_host_thread *gt_host_thread_of(struct gt_host_recording *h, uint32_t tgid, uint32_t tid)
{
	struct gt_host_thread new = { .tid = tid, .tgid = tgid };
	uint32_t i = gt_map_find_item(&h->map, h->threads, sizeof(new), &tid, sizeof(tid));

	if (i == UINT32_MAX) {
		read_name(&new);
		i = gt_map_add_item(&h->map, &h->threads, &h->nthreads, &h->threads_cap,
			sizeof(new), &new, sizeof(tid));
	}
	return i == UINT32_MAX ? NULL : &h->threads[i];
}

static void remove_thread(struct gt_host_recording *h, struct gt_host_thread *t)
{
	gt_host_stacks_release(t);
	gt_map_remove_item(&h->map, h->threads, &h->nthreads, sizeof(*t),
		(uint32_t)(t - h->threads), sizeof(t->tid));
}

struct gt_written_thread *gt_host_ring(
	struct gt_host_recording *h, const struct gt_host_thread *t, uint64_t at)
{
	return gt_ring_writer_thread(
		h->writer, (int32_t)t->tgid, (int32_t)t->tid, t->comm, (int64_t)at);
}

/* ---- records of the kernel ---- */

/* Body: process and thread id, then the name. */
static void take_comm(
	struct gt_host_recording *h, struct gt_host_thread *t, const struct gt_perf_record *e)
{
	const char *name = (const char *)gt_perf_body(&h->perf, e) + 8;

	if (e->bytes <= 8)
		return;
	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, name, strnlen(name, e->bytes - 8 < 15 ? e->bytes - 8 : 15));
	if (!(e->misc & PERF_RECORD_MISC_COMM_EXEC))
		return;
	gt_code_maps_forget(&h->code, t->tgid);
	if (h->writer == &h->own_writer) /* else eBPF reports it */
		gt_ring_writer_exec(
			h->writer, (int32_t)t->tgid, (int32_t)t->tid, t->comm, (int64_t)e->time);
}

struct process_code {
	struct gt_code_maps *code;
	uint32_t tgid;
};

/* Code that a process has mapped before. */
static int add_mapping(void *arg, const struct gt_mapping *m, struct gt_err *err)
{
	const struct process_code *to = arg;

	(void)err;
	if (m->flags[2] == 'x')
		gt_code_maps_add(to->code, to->tgid,
			&(struct gt_mapped_code){ .low = m->from,
				.high = m->to,
				.offset = m->offset,
				.inode = m->inode },
			m->name);
	return 0;
}

static void take_mapping(struct gt_host_recording *h, const struct gt_perf_record *e)
{
	const struct gt_perf_mapping *m = gt_perf_body(&h->perf, e);

	if (e->bytes <= sizeof(*m) || !memchr(m->path, 0, e->bytes - sizeof(*m)))
		return;
	gt_code_maps_add(&h->code, m->tgid,
		&(struct gt_mapped_code){ .low = m->address,
			.high = m->address + m->length,
			.offset = m->offset,
			.inode = m->inode },
		m->path);
}

/* Body: the new thread's process, its parent. */
static void take_fork(struct gt_host_recording *h, const struct gt_perf_record *e)
{
	const uint32_t *ids = gt_perf_body(&h->perf, e);

	if (e->bytes < 16)
		return;
	if (ids[0] == ids[1])
		gt_code_maps_add_thread(&h->code, ids[0]);
	else
		gt_code_maps_fork(&h->code, ids[1], ids[0]);
}

static void take_exit(struct gt_host_recording *h, struct gt_host_thread *t)
{
	if (gt_code_maps_end_thread(&h->code, t->tgid))
		gt_code_maps_forget(&h->code, t->tgid);
	if (h->writer == &h->own_writer)
		gt_ring_writer_end_thread(h->writer, (int32_t)t->tid);
	remove_thread(h, t);
}

static void take_record(struct gt_host_recording *h, const struct gt_perf_record *e)
{
	struct gt_host_thread *t;

	if (e->kind == PERF_RECORD_MMAP2 || e->kind == PERF_RECORD_FORK) {
		(e->kind == PERF_RECORD_FORK ? take_fork : take_mapping)(h, e);
		return;
	}
	t = gt_host_thread_of(h, e->tgid, e->tid);
	if (!t)
		return;
	t->tgid = e->tgid;
	if (e->kind == PERF_RECORD_COMM) {
		take_comm(h, t, e);
	} else if (e->kind == PERF_RECORD_SAMPLE) {
		gt_thread_sample(h, t, e);
	} else if (e->kind == PERF_RECORD_EXIT) {
		take_exit(h, t);
	} else {
		gt_thread_switch(h, t, e);
	}
}

static void drain_until(struct gt_host_recording *h, uint64_t until)
{
	gt_perf_rings_read(&h->perf, until);
	for (size_t i = 0; i < h->perf.taken.n; i++) {
		const struct gt_perf_record *e = &h->perf.taken.records[i];

		gt_thread_switches_take_looks(h, e->time);
		take_record(h, e);
	}
	gt_thread_switches_take_looks(h, until);
	if (h->writer == &h->own_writer)
		h->rings->written_until = until > INT64_MAX ? INT64_MAX : (int64_t)until;
	if (h->python)
		gt_python_sampler_forget(h->python, until);
}

/* ---- interface ---- */

static int refuse(const struct gt_host_options *opt, int rc, struct gt_err *err)
{
	return gt_err_set(err, rc, "cannot record %s: perf_event_open: %s%s",
		opt->rate ? "samples" : "when threads run", strerror(-rc),
		rc == -EACCES || rc == -EPERM
			? " (sysctl kernel.perf_event_paranoid=2 permits it, if no seccomp profile forbids it)"
			: "");
}

struct gt_host_recording *gt_host_open(const struct gt_host_options *opt, struct gt_rings *rings,
	struct gt_guest_server *server, struct gt_err *err)
{
	struct gt_host_recording *h = calloc(1, sizeof(*h));
	const struct gt_perf_options perf = perf_options(opt);
	int rc = -ENOMEM;

	if (h) {
		h->opt = *opt;
		h->rings = h->own_writer.rings = rings;
		h->own_writer.server = server;
		h->writer = opt->writer ? opt->writer : &h->own_writer;
		h->window_until = UINT64_MAX;
		rc = gt_perf_rings_open(&h->perf, &perf, rings);
	}
	if (!rc &&
		(!(h->unwinder = gt_native_unwinder_new(GT_NATIVE_FILES)) ||
			!(h->python = gt_python_sampler_open(&h->perf, opt->switches))))
		rc = -ENOMEM;
	if (!rc)
		return h;
	refuse(opt, rc, err);
	gt_host_close(h);
	return NULL;
}

int gt_host_start(struct gt_host_recording *h, pid_t pid, struct gt_err *err)
{
	int rc = gt_perf_rings_start(&h->perf, pid);

	return rc ? refuse(&h->opt, rc, err) : 0;
}

/* The mappings come from /proc after the events are open: a change is in one of them. */
int gt_host_attach(struct gt_host_recording *h, pid_t pid, struct gt_err *err)
{
	struct process_code to = { &h->code, (uint32_t)pid };
	int threads;

	gt_python_sampler_search(h->python, (uint32_t)pid);
	threads = gt_perf_rings_attach(&h->perf, pid);
	if (threads == -EACCES || threads == -EPERM)
		return gt_err_set(err, threads,
			"cannot record process %d by perf events: it belongs to another user, or has more rights, or the kernel refuses perf events (root may)",
			(int)pid);
	if (threads == -EMFILE || threads == -ENFILE)
		return gt_err_set(err, threads,
			"cannot record process %d by perf events: each of its threads needs %u open files, and gtcollect may not open as many (ulimit -Hn)",
			(int)pid, h->perf.n);
	if (threads == -ESRCH)
		return gt_err_set(err, threads, "process %d has ended", (int)pid);
	if (threads < 0)
		return refuse(&h->opt, threads, err);
	for (int i = 1; i < threads; i++)
		gt_code_maps_add_thread(&h->code, (uint32_t)pid);
	gt_mappings_each(pid, add_mapping, &to, &(struct gt_err)GT_ERR_INIT);
	return 0;
}

void gt_host_totals(const struct gt_host_recording *h, struct gt_host_totals *t) { *t = h->totals; }

void gt_host_set_window(struct gt_host_recording *h, int64_t from, int64_t until)
{
	h->window_from = (uint64_t)from;
	h->window_until = (uint64_t)until;
}

uint64_t gt_host_drain(struct gt_host_recording *h)
{
	const uint64_t until = (uint64_t)(gt_clock_monotonic() - SETTLED);

	if (h->is_stopped)
		return UINT64_MAX;
	drain_until(h, until);
	return until;
}

void gt_host_stop(struct gt_host_recording *h)
{
	uint64_t now = (uint64_t)gt_clock_monotonic();

	if (h->is_stopped)
		return;
	h->is_stopped = true;
	gt_perf_rings_disable(&h->perf);
	gt_python_sampler_stop(h->python);
	drain_until(h, now);
	gt_thread_switches_end(h, now);
	if (h->writer == &h->own_writer)
		h->rings->written_until = INT64_MAX;
}

void gt_host_close(struct gt_host_recording *h)
{
	if (!h)
		return;
	gt_python_sampler_close(h->python);
	gt_perf_rings_close(&h->perf);
	while (h->nthreads)
		remove_thread(h, &h->threads[h->nthreads - 1]);
	gt_native_unwinder_free(h->unwinder);
	gt_ring_writer_release(&h->own_writer);
	gt_code_maps_release(&h->code);
	gt_map_release(&h->map);
	free(h->threads);
	free(h);
}
