/* Rows of samples. */
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

void gt_thread_sample(
	struct gt_host_recording *h, struct gt_host_thread *t, const struct gt_perf_record *e)
{
	const struct gt_perf_sample *s = gt_perf_body(&h->perf, e);
	const struct gt_python_sample *python;
	struct gt_written_thread *to;
	struct gt_host_stack stack;
	struct gt_ev_sample row;

	if (e->bytes < sizeof(*s) || s->n > (e->bytes - sizeof(*s)) / 8 ||
		!gt_host_in_window(h, e->time) || !(to = gt_host_ring(h, t, e->time)))
		return;
	python = gt_python_sampler_find(h->python, t->tid, e->time);
	if (python && python->is_late)
		python = NULL;
	count(h, t, python);
	stack = (struct gt_host_stack){ .addresses = s->addresses,
		.n = s->n,
		.python = python ? &python->stack : NULL,
		.python_unknown = !python && t->has_python };
	row.period = s->period;
	row.stack = gt_host_stack_number(h, t, to, &stack);
	gt_ring_writer_event(h->writer, to, GT_EV_SAMPLE, e->time, e->time, &row, sizeof(row));
}
