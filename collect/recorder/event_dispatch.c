/* Passes events, the records that are no calls, to the parts of the recorder that handle them: GPU
 * work, annotations, devices, graph nodes. */
#include "collect/recorder/recorder_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "formats/trace/read/live_allocations.h"

#define SAMPLE_MAX (1ull << 50) /* ns that a sample may stand for; more is damage */

/* ---- the GPU ---- */

/* The stack of a call's row plus one; 0: it has none. It is the last argument. */
static uint32_t stack_of(
	const struct gt_recorder *r, const struct gt_row *row, const uint64_t *args)
{
	const struct gt_type *type = gt_writer_type_get(r->w, row->type);

	return row->nargs && type && type->fields[row->nargs - 1].role == GT_R_STACK
		? (uint32_t)args[row->nargs - 1] + 1
		: 0;
}

int gt_dispatch_gpu_call(struct gt_recorder *r, struct gt_traced_thread *t, uint16_t id,
	uint64_t ticks, const struct gt_row *row, const uint64_t *args, struct gt_err *err)
{
	const struct gt_call_type *c = &r->types.calls[id];
	struct gt_process *p = &r->procs[t->proc];
	struct gt_gpu_call call = { .id = id,
		.track = t->track,
		.tid = t->tid,
		.start = row->start,
		.end = row->end,
		.ticks = ticks,
		.name = c->name,
		.stack = stack_of(r, row, args),
		.kernel = c->func == GT_NO_WORD ? GT_NONE : (uint32_t)args[c->nwords],
		.has_shape = c->grid != GT_NO_WORD && c->block != GT_NO_WORD,
		.kind = c->kind,
		.has_stream = c->stream != GT_NO_WORD,
		.stream = c->stream == GT_NO_WORD ? 0 : args[c->stream],
		.has_bytes = c->bytes != GT_NO_WORD,
		.bytes = c->bytes == GT_NO_WORD ? 0 : args[c->bytes],
		.per_thread = c->per_thread,
		.wait = c->wait,
		.captured = t->node_call == ticks,
		.event = c->event == GT_NO_WORD ? GT_GPU_NO_EVENT : args[c->event],
		.graph = c->graph == GT_NO_WORD ? 0 : args[c->graph] };

	if (gt_api[id].op == GT_OP_LAUNCH)
		call.nccl = gt_nvtx_nccl_calls(&t->ranges);
	if (call.captured)
		t->node_nccl = call.nccl;
	call.empty = c->bytes != GT_NO_WORD && !args[c->bytes] &&
		(gt_api[id].op == GT_OP_COPY || gt_api[id].op == GT_OP_SET);
	for (unsigned i = 0; call.has_shape && i < 3; i++) {
		call.grid[i] = (uint32_t)args[c->grid + i];
		call.block[i] = (uint32_t)args[c->block + i];
	}
	return r->gpu && gt_gpu_call(r->gpu, &p->gpu, p->track, &call)
		? gt_err_set(err, -ENOMEM, "out of memory")
		: 0;
}

int gt_dispatch_node_created(struct gt_recorder *r, struct gt_traced_thread *t, uint32_t name,
	const struct gt_row *row, const uint64_t *args, struct gt_err *err)
{
	struct gt_gpu_cause by = { GT_JOIN_CORRELATION, t->track, name, row->start,
		(uint64_t)(row->end - row->start), stack_of(r, row, args) };
	struct gt_process *p = &r->procs[t->proc];
	struct gt_nccl_calls nccl = t->node_nccl;

	t->node_call = 0;
	t->node_nccl = (struct gt_nccl_calls){ 0, 0 };
	return r->gpu && gt_gpu_node_created(&p->gpu, p->track, t->node, &by, &nccl)
		? gt_err_set(err, -ENOMEM, "out of memory")
		: 0;
}

static int take_graph_copy(struct gt_recorder *r, struct gt_process *p,
	const struct gt_event_record *rec, struct gt_err *err)
{
	const struct gt_ev_graph *e = &rec->body.gpu.graph;

	return r->gpu && rec->n &&
			gt_gpu_graph_cloned(&p->gpu, p->track, e->new, e->old, e->handle,
				gt_clock_ns(&r->clock, rec->start))
		? gt_err_set(err, -ENOMEM, "out of memory")
		: 0;
}

static bool is_loss(uint16_t id) { return id == GT_EV_GPU_LOST || id == GT_EV_UNTIMED; }

static int take_gpu(struct gt_recorder *r, struct gt_process *p, const struct gt_event_record *rec,
	struct gt_err *err)
{
	struct gt_gpu_event e = {
		.id = rec->id,
		.start = (int64_t)rec->start,
		.end = (int64_t)rec->end,
		.n = rec->n,
		.body = rec->body.gpu,
	};
	const struct gt_ev_loss *loss = &e.body.loss;

	/* the same times as those of the call's row, by which the call is found */
	if (rec->id == GT_EV_INJECTED_CALL)
		e.id = GT_EV_CUPTI_CALL;
	if (rec->id == GT_EV_GPU_STATE && !gt_ring_reader_is_possible(r, rec->end))
		return GT_DAMAGED;
	if (rec->id == GT_EV_INJECTED_CALL || rec->id == GT_EV_GPU_STATE) {
		e.start = gt_clock_ns(&r->clock, rec->start);
		e.end = gt_clock_ns(&r->clock, rec->end);
	}
	if (is_loss(rec->id) && loss->count > GT_COUNT_MAX)
		return GT_DAMAGED;
	if (r->gpu && e.id == GT_EV_GPU_LOST && loss->reason == GT_GPU_LOST_FOREIGN &&
		gt_writer_loss(r->w, GT_SCOPE_PROCESS, p->track, r->now.monotonic, r->now.monotonic,
			loss->count, err))
		return err->code;
	return r->gpu && gt_gpu_event(r->gpu, &p->gpu, p->track, &e)
		? gt_err_set(err, -ENOMEM, "out of memory")
		: 0;
}

static uint32_t known_string(void *arg, uint64_t hash)
{
	return hash ? gt_reported_names_get(arg, GT_REPORTED_STRING, hash) : GT_NONE;
}

static int flush_gpu(struct gt_recorder *r, struct gt_process *p, bool last, struct gt_err *err)
{
	uint64_t before = p->gpu ? gt_gpu_totals(r->gpu)->nameless : 0;
	int code;

	if (!p->gpu)
		return 0;
	code = gt_gpu_flush_ready(
		r->gpu, p->gpu, r->now.monotonic, last, known_string, &p->known, err);
	r->totals.nameless += gt_gpu_totals(r->gpu)->nameless - before;
	return code;
}

/* ---- annotations ---- */

/* The program has named one of its threads. A thread that has made no call yet has no track and
 * keeps its name. */
static int name_thread(
	struct gt_recorder *r, uint32_t proc, int32_t tid, uint32_t name, struct gt_err *err)
{
	for (uint32_t k = 0; k < r->nlive; k++) {
		const struct gt_traced_thread *t = gt_live_thread(r, k);

		if (t->proc == proc && t->tid == tid && !t->producer)
			return gt_writer_track_name(
				r->w, t->track, gt_program_thread_name(r->w, name), err);
	}
	return 0;
}

static int take_annotation(struct gt_recorder *r, struct gt_traced_thread *t,
	const struct gt_event_record *rec, struct gt_err *err)
{
	struct gt_process *p = &r->procs[t->proc];
	const struct gt_ev_annotation *a = &rec->body.annotation;
	const struct gt_ev_name *name = &rec->body.name;
	bool ends = rec->id == GT_EV_POP || rec->id == GT_EV_RANGE_END;
	bool names = rec->id >= GT_EV_NAME_CATEGORY;
	struct gt_nvtx_event e = { .event = (enum gt_ring_event)rec->id,
		.when = gt_clock_ns(&r->clock, rec->start),
		.track = t->track };
	uint64_t before = r->nvtx.nameless;
	int code;

	if (ends) {
		e.id = rec->body.annotation_end.range;
		e.text = GT_NONE;
		e.domain = known_string(&p->known, rec->body.annotation_end.domain);
	} else {
		e.id = names ? name->object : a->range;
		e.text = known_string(&p->known, names ? name->text : a->text);
		e.domain = known_string(&p->known, names ? name->domain : a->domain);
	}
	if (!ends && !names) {
		e.category = a->category;
		e.color = a->color;
		e.payload_type = a->payload_type < 7 ? (unsigned)a->payload_type : 0;
		e.payload = a->payload;
		e.communicator = a->communicator;
		e.message_bytes = a->message_bytes;
	}
	if (rec->id == GT_EV_NAME_THREAD)
		return e.text == GT_NONE
			? 0
			: name_thread(r, t->proc, (int32_t)name->object, e.text, err);
	if (rec->id == GT_EV_NAME_STREAM)
		return r->gpu &&
			gt_gpu_name_stream(
				r->gpu, &p->gpu, p->track, name->object, e.when, e.text, err);
	code = gt_nvtx_event(&r->nvtx, &t->ranges, &p->ranges, &p->categories, &e, err);
	r->totals.nameless += r->nvtx.nameless - before;
	return code;
}

/* ---- devices ---- */

#define UUIDS_MOST 4096u /* of all processes: limits the size of the metadata */

/* Writes what limits the occupancy of kernels on a process's device (analyze/gpu/occupancy.h). */
static int put_limits(struct gt_recorder *r, const struct gt_process *p, unsigned device,
	const uint32_t limits[GT_DEVICE_LIMITS], struct gt_err *err)
{
	static const char *const names[GT_DEVICE_LIMITS] = {
		[GT_DEVICE_MULTIPROCESSORS] = "multiprocessors",
		[GT_DEVICE_THREADS] = "threads",
		[GT_DEVICE_BLOCKS] = "blocks",
		[GT_DEVICE_REGISTERS] = "registers",
		[GT_DEVICE_SHARED] = "shared_bytes",
		[GT_DEVICE_SHARED_RESERVED] = "shared_reserved_bytes",
	};
	char json[400];
	size_t n;

	if (!limits[GT_DEVICE_CAPABILITY_MAJOR])
		return 0;
	n = (size_t)snprintf(json, sizeof(json),
		"{\"gpu_limits.%d.%u\":{\"compute_capability\":\"%u.%u\"",
		p->guest.host_pid ? p->guest.host_pid : p->guest.ns_pid, device,
		limits[GT_DEVICE_CAPABILITY_MAJOR], limits[GT_DEVICE_CAPABILITY_MINOR]);
	for (unsigned i = 0; i < GT_DEVICE_LIMITS; i++)
		if (names[i] && limits[i])
			n += (size_t)snprintf(
				json + n, sizeof(json) - n, ",\"%s\":%u", names[i], limits[i]);
	snprintf(json + n, sizeof(json) - n, "}}");
	return gt_writer_meta(r->w, json, err);
}

/* Writes the UUID and limits of a process's device: device 0 may be another GPU in another process.
 */
static int put_device(struct gt_recorder *r, struct gt_process *p, unsigned device,
	const struct gt_ev_device *e, struct gt_err *err)
{
	const uint8_t *b = e->uuid;
	char json[128];
	int rc;

	if (device >= 64 || p->uuids >> device & 1 || r->uuids == UUIDS_MOST)
		return 0;
	p->uuids |= 1ull << device;
	r->uuids++;
	snprintf(json, sizeof(json),
		"{\"gpu_uuids.%d.%u\":\""
		"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x\"}",
		p->guest.host_pid ? p->guest.host_pid : p->guest.ns_pid, device, b[0], b[1], b[2],
		b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
	rc = gt_writer_meta(r->w, json, err);
	return rc ? rc : put_limits(r, p, device, e->limits, err);
}

static int take_device(struct gt_recorder *r, struct gt_traced_thread *t,
	const struct gt_event_record *rec, struct gt_err *err)
{
	const struct gt_ev_device *e = &rec->body.gpu.device;
	bool known = rec->n && e->device < GT_LIVE_NO_DEVICE;

	t->device = known ? (uint8_t)(e->device + 1) : 0;
	return known && rec->n >= sizeof(*e) / 8
		? put_device(r, &r->procs[t->proc], (unsigned)e->device, e, err)
		: 0;
}

/* ---- both ---- */

/* Rings of traced programs have no such event: there it is damage. */
static int take_scheduling(struct gt_recorder *r, const struct gt_traced_thread *t,
	const struct gt_event_record *rec, struct gt_err *err)
{
	const struct gt_ev_sched *s = &rec->body.sched;
	const struct gt_sched_row row = { .state = (enum gt_sched_state)s->state,
		.start = (int64_t)rec->start,
		.end = (int64_t)rec->end,
		.pid = s->pid,
		.tid = s->tid,
		.syscall = s->system_call == UINT32_MAX ? GT_SCHED_NO_SYSCALL
							: (int64_t)s->system_call,
		.stack = gt_call_stack(&t->stacks, s->stack) + 1,
		.holder = (uint32_t)s->holder };

	if (!r->procs[t->proc].written || s->state >= GT_SCHED_STATE_COUNT || rec->start > rec->end)
		return GT_DAMAGED;
	if (!r->scheduling.w && gt_sched_types_init(&r->scheduling, r->w, err))
		return err->code;
	r->active = true;
	r->totals.sched_rows++;
	if ((int32_t)s->pid != r->procs[t->proc].guest.host_pid)
		gt_other_threads_add(&r->others, (int32_t)s->pid, (int32_t)s->tid);
	return gt_sched_put(&r->scheduling, t->track, &row, err);
}

/* at: ns. */
static int take_sample(struct gt_recorder *r, const struct gt_traced_thread *t, int64_t at,
	const struct gt_ev_sample *s, struct gt_err *err)
{
	if (!r->samples.w && gt_sample_types_init(&r->samples, r->w, err))
		return err->code;
	r->active = true;
	r->totals.samples++;
	return gt_sample_put(
		&r->samples, t->track, at, s->period, gt_call_stack(&t->stacks, s->stack), err);
}

/* As rows of scheduling. */
static int take_probe(struct gt_recorder *r, const struct gt_traced_thread *t,
	const struct gt_event_record *rec, struct gt_err *err)
{
	const struct gt_reported_names *known = &r->procs[t->proc].known;
	struct gt_ev_probe e = rec->body.probe;
	uint64_t before = r->probes.nameless;
	int code;

	if (!r->procs[t->proc].written || rec->start > rec->end || !gt_probe_is_valid(&e, rec->n))
		return GT_DAMAGED;
	e.name = known_string((void *)known, e.name);
	e.domain = known_string((void *)known, e.domain);
	e.field_names = known_string((void *)known, e.field_names);
	for (unsigned i = 0; i < e.n; i++)
		if (GT_PROBE_FIELD_KIND(e.fields[i]) == GT_PROBE_TEXT)
			e.values[i] = known_string((void *)known, e.values[i]);
	r->active = true;
	code = gt_probe_rows_put(
		&r->probes, t->track, (int64_t)rec->start, (int64_t)rec->end, &e, err);
	r->totals.nameless += r->probes.nameless - before;
	return code;
}

bool gt_dispatch_has_ticks(uint16_t id) { return id == GT_EV_GPU_STATE || id >= GT_EV_PUSH; }

int gt_dispatch_event(struct gt_recorder *r, struct gt_traced_thread *t,
	const struct gt_event_record *rec, struct gt_err *err)
{
	if (rec->id == GT_EV_NODE) {
		t->node = rec->body.gpu.node.node;
		t->node_call = rec->n ? rec->start : 0;
		return 0;
	}
	if (rec->id == GT_EV_SCHED)
		return take_scheduling(r, t, rec, err);
	if (rec->id == GT_EV_PROBE)
		return take_probe(r, t, rec, err);
	if (rec->id == GT_EV_SAMPLE) /* as rows of scheduling */
		return r->procs[t->proc].written
			? take_sample(r, t, (int64_t)rec->start, &rec->body.sample, err)
			: GT_DAMAGED;
	if (rec->id == GT_EV_GRAPH)
		return take_graph_copy(r, &r->procs[t->proc], rec, err);
	if (rec->id == GT_EV_DEVICE)
		return take_device(r, t, rec, err);
	if (gt_dispatch_has_ticks(rec->id) && !gt_ring_reader_is_possible(r, rec->start))
		return GT_DAMAGED;
	if (rec->id == GT_EV_TIMER_SAMPLE)
		return rec->body.sample.period <= SAMPLE_MAX
			? take_sample(
				  r, t, gt_clock_ns(&r->clock, rec->start), &rec->body.sample, err)
			: GT_DAMAGED;
	return rec->id >= GT_EV_PUSH ? take_annotation(r, t, rec, err)
				     : take_gpu(r, &r->procs[t->proc], rec, err);
}

int gt_dispatch_flush_ready(struct gt_recorder *r, struct gt_err *err)
{
	int code = 0;

	for (uint32_t k = 0; r->gpu && !code && k < r->nlive_procs; k++)
		code = flush_gpu(r, gt_live_process(r, k), false, err);
	return code;
}

int gt_dispatch_end_thread(struct gt_recorder *r, struct gt_traced_thread *t, struct gt_err *err)
{
	gt_memory_calls_end_thread(r, t);
	return gt_nvtx_end(&r->nvtx, &t->ranges, err);
}

int gt_dispatch_end_process(struct gt_recorder *r, struct gt_process *p, struct gt_err *err)
{
	int code = flush_gpu(r, p, true, err);

	if (!code)
		code = gt_memory_calls_end_process(r, p, err);
	return code ? code : gt_nvtx_end(&r->nvtx, &p->ranges, err);
}

int gt_dispatch_end(struct gt_recorder *r, struct gt_err *err)
{
	int code = 0;

	for (uint32_t k = 0; !code && k < r->nlive; k++)
		code = gt_dispatch_end_thread(r, gt_live_thread(r, k), err);
	for (uint32_t k = 0; !code && k < r->nlive_procs; k++)
		code = gt_dispatch_end_process(r, gt_live_process(r, k), err);
	return code;
}

void gt_dispatch_release(struct gt_recorder *r, struct gt_process *p)
{
	gt_gpu_process_close(r->gpu, p->gpu);
	gt_memory_calls_release(p);
	gt_nvtx_stack_release(&p->ranges);
	gt_nvtx_names_release(&p->categories);
	p->gpu = NULL;
}
