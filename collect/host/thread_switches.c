/* Rows of threads that do not run. */
#include <stdlib.h>
#include <string.h>
#include "collect/host/host_internal.h"
#include "collect/host/remote_interpreter.h"
#include "collect/host/wait_reason.h"
#include "formats/trace/clock.h"

#define LOOKS 64u /* waits that are looked at in one drain */
#define NO_CALL (-1)
#define STACK_BYTES 65536u /* of a wait: so much of its stack is read, at most */
#define PREEMPTED PERF_RECORD_MISC_SWITCH_OUT_PREEMPT

/* Takes the stack pointer and the address behind the instruction of the system call: the last
 * numbers of the line. Of further registers, nothing is known. */
static bool take_registers(const char *line, struct gt_cpu_registers *r)
{
	const char *pc = strrchr(line, ' '), *sp = pc;

	while (sp && sp > line && *--sp != ' ')
		;
	if (!sp || sp == line)
		return false;
	*r = (struct gt_cpu_registers){ .pc = strtoull(pc, NULL, 16) };
	gt_cpu_set(r, GT_CPU_SP, strtoull(sp, NULL, 16));
	return r->pc;
}

/* Reads the stack that a thread waits with. */
static void read_stack(struct gt_host_recording *h, struct gt_host_thread *t, const char *line)
{
	uint8_t bytes[STACK_BYTES];
	struct gt_native_thread at = {
		.code = &h->code, .tgid = t->tgid, .memory = { .data = bytes }
	};
	struct gt_native_stack native;
	struct gt_remote_stack python;
	struct gt_written_thread *to = gt_host_ring(h, t, t->since);

	if (!to || !take_registers(line, &at.registers))
		return;
	at.memory.low = at.registers.value[GT_CPU_SP];
	at.memory.bytes = gt_read_process_part(t->tgid, at.memory.low, bytes, sizeof(bytes));
	gt_python_sampler_read(h->python, t->tgid, t->tid, &python);
	gt_host_unwind(h, &at, &python, &native);
	to->wait_stack = gt_host_stack_number(
		h, t, to, &(struct gt_host_stack){ .native = &native, .python = &python });
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
			read_stack(h, t, line);
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
