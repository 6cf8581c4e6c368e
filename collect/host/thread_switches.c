/* Rows of threads that do not run. */
#include <stdlib.h>
#include <string.h>
#include "collect/host/host_internal.h"
#include "collect/host/wait_reason.h"
#include "formats/trace/clock.h"

#define LOOKS 64u /* waits that are looked at in one drain */
#define NO_CALL (-1)
#define PREEMPTED PERF_RECORD_MISC_SWITCH_OUT_PREEMPT

/* The address behind the instruction of the system call: the last number of the line. */
static uint64_t address_of(const char *line)
{
	const char *last = strrchr(line, ' ');

	return last ? strtoull(last, NULL, 16) : 0;
}

/* Reads the stack that a thread waits with. /proc has the innermost native frame only. */
static void read_stack(struct gt_host_recording *h, struct gt_host_thread *t, uint64_t address)
{
	struct gt_host_stack stack = { .addresses = &address, .n = address != 0, .is_part = true };
	struct gt_written_thread *to = gt_host_ring(h, t, t->since);
	struct gt_remote_stack python;

	if (!to)
		return;
	gt_python_sampler_read(h->python, t->tgid, t->tid, &python);
	stack.python = &python;
	to->wait_stack = gt_host_stack_number(h, t, to, &stack);
	to->waited_at = (uint64_t)gt_clock_monotonic();
}

/* Reads the system call that a thread waits in, and its stack. */
static void read_wait(struct gt_host_recording *h, struct gt_host_thread *t)
{
	char line[256];

	t->was_read = true;
	t->system_call = NO_CALL;
	if (gt_host_read_task(t, "syscall", line, sizeof(line)) && *line >= '0' && *line <= '9') {
		t->system_call = atoi(line);
		if (gt_host_in_window(h, t->since))
			read_stack(h, t, address_of(line));
	}
	t->read_at = (uint64_t)gt_clock_monotonic();
}

void gt_thread_switches_look(struct gt_host_recording *h)
{
	unsigned looks = 0;

	for (size_t i = 0; i < h->nthreads && looks < LOOKS; i++)
		if (h->threads[i].since && !h->threads[i].is_preempted && !h->threads[i].was_read) {
			read_wait(h, &h->threads[i]);
			looks++;
		}
}

static void write_row(struct gt_host_recording *h, const struct gt_host_thread *t, uint64_t until)
{
	bool is_known = t->was_read && t->read_at < until && t->system_call != NO_CALL;
	struct gt_ev_sched e = { .state = t->is_preempted ? GT_SCHED_PREEMPTED
			: is_known                        ? gt_wait_reason(t->system_call)
							  : GT_SCHED_OTHER,
		.system_call = is_known ? (uint32_t)t->system_call : UINT32_MAX };
	struct gt_written_thread *to = NULL;

	if (!h->opt.only_stacks && gt_host_in_window(h, t->since))
		to = gt_host_ring(h, t, t->since);
	if (!to)
		return;
	e.stack = gt_ring_writer_wait_stack(to, t->since, until);
	gt_ring_writer_event(h->writer, to, GT_EV_SCHED, t->since, until, &e, sizeof(e));
}

void gt_thread_switch(
	struct gt_host_recording *h, struct gt_host_thread *t, const struct gt_perf_record *e)
{
	if (e->misc & PERF_RECORD_MISC_SWITCH_OUT) {
		t->since = e->time;
		t->is_preempted = e->misc & PREEMPTED;
		t->was_read = false;
	} else if (t->since) {
		write_row(h, t, e->time);
		t->since = 0;
	}
}

void gt_thread_switches_end(struct gt_host_recording *h, uint64_t now)
{
	for (size_t i = 0; i < h->nthreads; i++)
		if (h->threads[i].since)
			write_row(h, &h->threads[i], now);
}
