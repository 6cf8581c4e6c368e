/* Processes that are recorded from their start, and their later mappings. The BPF programs
 * (programs/process_events.h) write an event to a ring that wakes gtcollect. */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include "collect/bpf/bpf_state.h"
#include "collect/bpf/processes/new_code.h"
#include "collect/bpf/records/bpf_records.h"

/* The mark is for the guard, so it is removed after the signal. */
static void continue_process(struct gt_bpf_way *b, uint32_t tgid)
{
	if (kill((pid_t)tgid, SIGCONT) && errno == EPERM)
		b->stuck = (pid_t)tgid;
	bpf_map_delete_elem(bpf_object__find_map_fd_by_name(b->object, "stopped"), &tgid);
}

/* A process may end meanwhile, or have nothing to record. */
static void attach(struct gt_bpf_way *b, pid_t pid)
{
	struct gt_err err = GT_ERR_INIT;
	int rc = gt_bpf_way_attach(b, pid, &err);

	if (rc && rc != -ENOENT && rc != -ESRCH && !b->nfailed++)
		b->failure = err;
}

static int take_event(void *arg, void *data, size_t size)
{
	struct gt_bpf_way *b = arg;
	const struct gt_bpf_process_event *e = data;

	if (size >= sizeof(struct gt_bpf_head))
		return gt_bpf_take_record(b, data, size);
	if (size < sizeof(*e))
		return 0;
	if (!b->ended)
		attach(b, (pid_t)e->tgid);
	if (e->is_stopped)
		continue_process(b, e->tgid);
	return 0;
}

int gt_bpf_events_open(struct gt_bpf_way *b, struct gt_err *err)
{
	int fd = bpf_object__find_map_fd_by_name(b->object, "process_events");

	b->events = ring_buffer__new(fd, take_event, b, NULL);
	return b->events ? 0
			 : gt_err_set(err, -errno, "a ring of BPF programs: %s", strerror(errno));
}

void gt_bpf_way_take_events(struct gt_bpf_way *b)
{
	/* more processes may match the filter now */
	if (b->events && ring_buffer__consume(b->events) > 0 && b->filters)
		gt_bpf_begin_waits(b);
}

pid_t gt_bpf_way_stuck(const struct gt_bpf_way *b) { return b->stuck; }

int gt_bpf_way_fd(const struct gt_bpf_way *b) { return ring_buffer__epoll_fd(b->events); }

int gt_bpf_way_start(struct gt_bpf_way *b, pid_t pid, struct gt_err *err)
{
	int starting = bpf_object__find_map_fd_by_name(b->object, "starting"),
	    stopped = bpf_object__find_map_fd_by_name(b->object, "stopped");
	uint32_t key = (uint32_t)pid;
	uint8_t one = 1;

	if (b->opt.stops && gt_stop_guard_start(&b->guard, stopped, err))
		return err->code;
	return bpf_map_update_elem(starting, &key, &one, BPF_ANY) ? gt_bpf_why_not(-errno, err) : 0;
}
