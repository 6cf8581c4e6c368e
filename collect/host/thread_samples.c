/* Rows of samples. */
#include <stddef.h>
#include "collect/host/host_internal.h"

static void count(struct gt_host_recording *h, struct gt_host_thread *t,
	const struct gt_python_sample *python)
{
	struct gt_host_totals *to = &h->totals;

	to->samples++;
	if (python && python->stack.n) {
		t->has_python = true;
		to->python++;
		to->cut += python->stack.inner_cut;
		to->delay += python->delay;
		if (python->delay > to->delay_longest)
			to->delay_longest = python->delay;
	} else if (!python && t->has_python) {
		to->unread++;
	}
}

static void take_registers(const struct gt_perf_sample *s, struct gt_cpu_registers *r)
{
#ifdef __x86_64__
	static const uint8_t dwarf[GT_PERF_REGISTERS] = { 0, 3, 2, 1, 4, 5, GT_CPU_FP, GT_CPU_SP,
		GT_CPU_RA, 8, 9, 10, 11, 12, 13, 14, 15 };

	for (unsigned i = 0; i < GT_PERF_REGISTERS; i++)
		gt_cpu_set(r, dwarf[i], s->registers[i]);
	r->pc = r->value[GT_CPU_RA];
#else
	for (unsigned i = 0; i < GT_CPU_REGISTERS; i++)
		gt_cpu_set(r, i, s->registers[i]);
	r->pc = s->registers[GT_CPU_REGISTERS];
#endif
}

/* Unwinds the piece of the stack in the sample. */
static void read_native(struct gt_host_recording *h, const struct gt_host_thread *t,
	const struct gt_perf_sample *s, size_t bytes, const struct gt_remote_stack *python,
	struct gt_native_stack *to)
{
	struct gt_native_thread at = { .code = &h->code, .tgid = t->tgid };
	*to = (struct gt_native_stack){ .is_part = true };
	if (bytes < sizeof(*s) || s->abi != PERF_SAMPLE_REGS_ABI_64)
		return;
	take_registers(s, &at.registers);
	at.memory = (struct gt_stack_memory){ at.registers.value[GT_CPU_SP], bytes - sizeof(*s),
		(const uint8_t *)(s + 1) };
	gt_host_unwind(h, &at, python, to);
}

void gt_thread_sample(
	struct gt_host_recording *h, struct gt_host_thread *t, const struct gt_perf_record *e)
{
	const struct gt_perf_sample *s = gt_perf_body(&h->perf, e);
	const struct gt_python_sample *python;
	struct gt_native_stack native;
	struct gt_written_thread *to;
	struct gt_host_stack stack;
	struct gt_ev_sample row;

	if (e->bytes < offsetof(struct gt_perf_sample, registers) ||
		!gt_host_in_window(h, e->time) || !(to = gt_host_ring(h, t, e->time)))
		return;
	python = gt_python_sampler_find(h->python, t->tid, e->time);
	if (python && python->is_late)
		python = NULL;
	count(h, t, python);
	stack = (struct gt_host_stack){ .native = &native,
		.python = python ? &python->stack : NULL,
		.python_unknown = !python && t->has_python };
	read_native(h, t, s, e->bytes, stack.python, &native);
	row.period = s->period;
	row.stack = gt_host_stack_number(h, t, to, &stack);
	gt_ring_writer_event(h->writer, to, GT_EV_SAMPLE, e->time, e->time, &row, sizeof(row));
}
