/* Rows of threads that do not run. */
#include "collect/host/host_internal.h"

#define NO_CALL UINT32_MAX
#define PREEMPTED PERF_RECORD_MISC_SWITCH_OUT_PREEMPT

static uint32_t stack_of(struct gt_host_recording *h, struct gt_host_thread *t,
	struct gt_written_thread *to, const struct gt_thread_look *look)
{
	struct gt_native_thread at = { .code = &h->code,
		.tgid = t->tgid,
		.registers.pc = look->pc,
		.memory = { look->stack_pointer, look->memory_bytes, look->memory } };
	struct gt_native_stack native;

	if (look->repeats)
		return to->looks[(to->next_look - 1) % GT_WAIT_LOOKS].stack;
	if (!look->stack_until || !look->python || !look->pc)
		return 0;
	gt_cpu_set(&at.registers, GT_CPU_SP, look->stack_pointer);
	gt_host_unwind(h, &at, look->python, &native);
	return gt_host_stack_number(
		h, t, to, &(struct gt_host_stack){ .native = &native, .python = look->python });
}

static void take_look(struct gt_host_recording *h, const struct gt_thread_look *look)
{
	struct gt_host_thread *t = gt_host_thread_of(h, look->tgid, look->tid);
	struct gt_written_thread *to = t ? gt_host_ring(h, t, look->from) : NULL;

	if (!to)
		return;
	to->looks[to->next_look % GT_WAIT_LOOKS] = (struct gt_wait_look){ .from = look->from,
		.until = look->until,
		.stack_until = look->stack_until,
		.state = look->state,
		.system_call = look->system_call,
		.holder = look->holder,
		.is_expected = look->is_expected,
		.stack = stack_of(h, t, to, look) };
	to->next_look++;
}

void gt_thread_switches_take_looks(struct gt_host_recording *h, uint64_t until)
{
	for (;; h->next_look++) {
		if (h->next_look == h->nlooks) {
			h->looks = gt_python_sampler_waits(h->python, &h->nlooks);
			h->next_look = 0;
		}
		if (!h->nlooks || h->looks[h->next_look]->until > until)
			return;
		if (gt_host_in_window(h, h->looks[h->next_look]->from))
			take_look(h, h->looks[h->next_look]);
	}
}

static void write_row(struct gt_host_recording *h, const struct gt_host_thread *t, uint64_t until)
{
	struct gt_ev_sched e = { .state = t->is_preempted ? GT_SCHED_PREEMPTED : GT_SCHED_OTHER,
		.system_call = NO_CALL };
	struct gt_written_thread *to = NULL;
	struct gt_wait_look look;

	if (!h->opt.only_stacks && gt_host_in_window(h, t->since))
		to = gt_host_ring(h, t, t->since);
	if (!to)
		return;
	look = gt_ring_writer_look(to, t->since, until);
	if (look.until && !t->is_preempted) {
		e.state = look.state;
		e.system_call = (uint32_t)look.system_call;
		e.holder = look.holder;
		e.stack = look.stack;
	}
	gt_ring_writer_event(h->writer, to, GT_EV_SCHED, t->since, until, &e, sizeof(e));
}

void gt_thread_switch(
	struct gt_host_recording *h, struct gt_host_thread *t, const struct gt_perf_record *e)
{
	if (e->misc & PERF_RECORD_MISC_SWITCH_OUT) {
		t->since = e->time;
		t->is_preempted = e->misc & PREEMPTED;
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
