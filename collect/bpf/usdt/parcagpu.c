#include "collect/bpf/usdt/parcagpu.h"

#include <string.h>
#include "collect/bpf/bpf_state.h"
#include "collect/bpf/records/bpf_records.h"
#include "formats/cuda/cuda_api.h"
#include "formats/cuda/cuda_api_cbid.h"
#include "formats/trace/clock.h"

#define REALTIME_EVERY 1000000000u /* ns: then the clocks are compared again */
#define CALLBACKS_MAX 4096u        /* more than CUPTI has */

enum gt_parcagpu gt_parcagpu_probe(const char *provider, const char *name)
{
	if (strcmp(provider, "parcagpu") && strcmp(provider, "parcagpu_provider"))
		return GT_PARCAGPU_NONE;
	return !strcmp(name, "kernel_executed")     ? GT_PARCAGPU_KERNEL
		: !strcmp(name, "cuda_correlation") ? GT_PARCAGPU_CALL
						    : GT_PARCAGPU_OTHER;
}

void gt_parcagpu_set_text(struct gt_bpf_probe_fields *f)
{
	uint8_t *last = f->n ? &f->fields[f->n - 1] : NULL;

	if (last)
		*last = (uint8_t)GT_PROBE_FIELD(GT_PROBE_TEXT, GT_PROBE_FIELD_WHICH(*last));
	gt_bpf_set_texts(f);
}

/* ---- kernels ---- */

/* What to subtract from CUPTI's time to get CLOCK_MONOTONIC. CUPTI's clock is CLOCK_REALTIME,
 * unless the program has chosen another one: then it is taken as CLOCK_MONOTONIC. now: ns, when the
 * probe was hit. */
static uint64_t ahead(struct gt_bpf_way *b, uint64_t time, uint64_t now)
{
	if (!b->realtime_at || now - b->realtime_at > REALTIME_EVERY) {
		const struct gt_anchor a = gt_clock_anchor(false);

		b->realtime_ahead = (uint64_t)(a.realtime - a.monotonic);
		b->realtime_at = now;
	}
	return time > now && time - now > b->realtime_ahead / 2 ? b->realtime_ahead : 0;
}

/* The values by number of the argument: one that cannot be read is left out of the record, and 0
 * here. Returns how many arguments the probe has. */
static unsigned arguments_of(const struct gt_bpf_probe *p, uint64_t v[GT_PROBE_VALUES])
{
	unsigned n = 0, which;

	memset(v, 0, GT_PROBE_VALUES * sizeof(*v));
	for (unsigned i = 0; i < p->fields.n; i++) {
		which = GT_PROBE_FIELD_WHICH(p->fields.fields[i]);
		if (which >= GT_PROBE_VALUES)
			continue;
		v[which] = p->values[i];
		n = which + 1 > n ? which + 1 : n;
	}
	return n;
}

/* The recorder learns where the process's GPU work comes from. */
static void report_source(
	struct gt_bpf_way *b, struct gt_written_thread *t, uint32_t probe, uint64_t now)
{
	const char *provider = b->probes[probe].domain;
	const struct gt_ev_state e = { .state = GT_GPU_PROBED,
		.text = gt_ring_hash(provider, (uint32_t)strlen(provider)) };

	t->reports_kernels = gt_ring_writer_text(&b->writer, t, GT_REC_STRING, e.text, provider) &&
		gt_ring_writer_event(&b->writer, t, GT_EV_GPU_STATE, now, now, &e, sizeof(e));
}

static void write_kernel(struct gt_bpf_way *b, struct gt_written_thread *t,
	const struct gt_bpf_probe *p, const uint64_t *v, unsigned n)
{
	const uint64_t off = ahead(b, v[1], p->head.start);
	bool first_version = n < 8;
	const char *name = gt_bpf_probe_text(p, p->fields.n - 1u);
	struct gt_ev_kernel e = { .work = { .correlation = (uint32_t)v[2],
					  .device = (uint32_t)(first_version ? v[2] >> 32 : v[3]),
					  .stream = (uint32_t)(first_version ? v[3] : v[4]),
					  .graph = first_version ? 0 : (uint32_t)v[5],
					  .node = first_version ? 0 : v[6] } };

	if (name) {
		e.name = gt_ring_hash(name, (uint32_t)strlen(name));
		gt_ring_writer_text(&b->writer, t, GT_REC_STRING, e.name, name);
	}
	gt_ring_writer_event(&b->writer, t, GT_EV_KERNEL, v[0] - off, v[1] - off, &e, sizeof(e));
}

/* ---- calls ---- */

/* CUPTI's number of the function; 0: it has none. */
static uint32_t callback_of(struct gt_bpf_way *b, uint16_t function)
{
	const char *name;

	for (uint32_t i = 1; i < CALLBACKS_MAX && !b->callbacks[function]; i++)
		if ((name = gt_cuda_driver_name(i)) && !strcmp(name, gt_api[function].name))
			b->callbacks[function] = i;
	return b->callbacks[function];
}

/* The driver fires the probe within the call, the runtime behind it: then the thread's last launch
 * is meant. */
static void write_call(struct gt_bpf_way *b, struct gt_written_thread *t,
	const struct gt_bpf_probe *p, const uint64_t *v)
{
	uint32_t callback = (uint32_t)v[1]; /* the driver's are negative */
	bool is_driver = callback >> 31;
	uint64_t at = is_driver ? p->head.start : t->launched_at;
	struct gt_ev_call e = { .correlation = (uint32_t)v[0],
		.cbid = is_driver ? -callback
			: at      ? callback_of(b, t->launch)
				  : 0,
		.tid = (int32_t)p->head.tid };

	if (at && e.cbid)
		gt_ring_writer_event(&b->writer, t, GT_EV_CUPTI_CALL, at, at, &e, sizeof(e));
}

bool gt_parcagpu_take(struct gt_bpf_way *b, const struct gt_bpf_probe *p)
{
	enum gt_parcagpu which = b->probes[p->probe].parcagpu;
	uint64_t v[GT_PROBE_VALUES];
	unsigned n = which ? arguments_of(p, v) : 0;
	bool is_kernel = which == GT_PARCAGPU_KERNEL && n >= 5,
	     is_call = which == GT_PARCAGPU_CALL && n >= 2;
	struct gt_written_thread *t;

	if (!b->opt.rings->s->gpu || (!is_kernel && !is_call))
		return false;
	t = gt_ring_writer_thread(&b->writer, (int32_t)p->head.tgid, (int32_t)p->head.tid,
		p->head.comm, (int64_t)p->head.start);
	if (!t)
		return true;
	if (!t->reports_kernels)
		report_source(b, t, p->probe, p->head.start);
	if (is_kernel)
		write_kernel(b, t, p, v, n);
	else
		write_call(b, t, p, v);
	return true;
}
