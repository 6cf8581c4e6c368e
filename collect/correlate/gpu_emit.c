/* Writes rows of GPU work, and their tracks: a device below its process, a context below its
 * device, a stream below its context, because CUPTI's stream numbers are unique within one
 * context. Most devices have one context, and reports leave it out. Its track exists nevertheless:
 * a parent is written before its children, so it cannot be inserted when a second context appears.
 */
#include "collect/correlate/gpu_correlate_internal.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"

/* devices, contexts and streams: the dictionary must have space for threads, too */
#define TRACKS_MAX 65536u

/* ---- where ---- */

static uint32_t new_track(struct gt_correlator *g, const struct gt_track *t)
{
	return g->tracks < TRACKS_MAX ? g->tracks++, gt_writer_track(g->w, t) : GT_NONE;
}

static uint32_t source_of(const struct gt_correlator *g, const struct gt_gpu_process *p)
{
	return p->by_events ? g->source_events : g->source;
}

#define PLACE_KEY offsetof(struct gt_gpu_track, track)

/* GT_NONE: it has no track yet. */
static uint32_t find_place(const struct gt_gpu_process *p, const struct gt_gpu_track *place)
{
	uint32_t i = gt_map_find_item(&p->by_place, p->places, sizeof(*place), place, PLACE_KEY);

	return i == GT_NONE ? GT_NONE : p->places[i].track;
}

static uint32_t new_place(struct gt_correlator *g, struct gt_gpu_process *p,
	struct gt_gpu_track place, uint32_t parent, const char *format, uint32_t id)
{
	struct gt_track t = { .parent = parent,
		.source = source_of(g, p),
		.kind = (uint8_t)place.kind,
		.id = id,
		.ns_id = id };
	char name[32];

	if (parent == GT_NONE)
		return GT_NONE;
	snprintf(name, sizeof(name), format, id);
	t.name = gt_writer_string(g->w, name);
	place.track = new_track(g, &t);
	if (place.track == GT_NONE ||
		gt_map_add_item(&p->by_place, &p->places, &p->nplaces, &p->places_cap,
			sizeof(place), &place, PLACE_KEY) == GT_NONE)
		return GT_NONE;
	return place.track;
}

uint32_t gt_gpu_device_track(struct gt_correlator *g, struct gt_gpu_process *p, uint32_t device)
{
	struct gt_gpu_track place = { .kind = GT_TRACK_DEVICE, .device = device };
	uint32_t track = find_place(p, &place);

	return track == GT_NONE ? new_place(g, p, place, p->track, "GPU %u", device) : track;
}

/* Context 0: unknown, so the track is the device's. */
static uint32_t context_track(
	struct gt_correlator *g, struct gt_gpu_process *p, uint32_t device, uint32_t context)
{
	struct gt_gpu_track place = {
		.kind = GT_TRACK_CONTEXT, .device = device, .context = context
	};
	uint32_t on = gt_gpu_device_track(g, p, device),
		 track = context ? find_place(p, &place) : on;

	return track == GT_NONE ? new_place(g, p, place, on, "context %u", context) : track;
}

uint32_t gt_gpu_stream_track_by_id(struct gt_correlator *g, struct gt_gpu_process *p,
	uint32_t device, uint32_t context, uint32_t stream)
{
	struct gt_gpu_track place = {
		.kind = GT_TRACK_STREAM, .device = device, .context = context, .stream = stream
	};
	uint32_t track = find_place(p, &place);

	if (track != GT_NONE)
		return track;
	track = new_place(g, p, place, context_track(g, p, device, context), "stream %u", stream);
	if (track != GT_NONE)
		p->context = p->context && p->context != context ? GT_NONE : context;
	return track;
}

/* ---- rows ---- */

static enum gt_direction direction(uint8_t kind)
{
	static const uint8_t directions[] = { GT_DIR_UNKNOWN, GT_DIR_HTOD, GT_DIR_DTOH, GT_DIR_HTOD,
		GT_DIR_DTOH, GT_DIR_DTOD, GT_DIR_DTOD, GT_DIR_DTOD, GT_DIR_DTOD, GT_DIR_HTOH,
		GT_DIR_PEER };

	return (enum gt_direction)directions[kind < sizeof(directions) ? kind : 0];
}

static enum gt_gpu_memory memory(uint8_t kind)
{
	return (enum gt_gpu_memory)(kind < GT_GPU_MEMORY_COUNT ? kind : 0);
}

/* The same names as in the rows of NCCL's ranges (nvtx_ranges.c). values: stays valid with the
 * result. */
static struct gt_gpu_extra nccl_fields(const struct gt_nccl_calls *calls, uint64_t values[2])
{
	static const struct gt_gpu_extra_field fields[] = { { "communicator", GT_F_HEX },
		{ "message_bytes", GT_F_U64 } };

	values[0] = calls->communicator == GT_NCCL_SEVERAL ? 0 : calls->communicator;
	values[1] = calls->bytes;
	return calls->communicator | calls->bytes
		? (struct gt_gpu_extra){ .key = 1, .n = 2, .fields = fields, .values = values }
		: (struct gt_gpu_extra){ 0 };
}

int gt_gpu_emit_kernel(struct gt_correlator *g, const struct gt_gpu_work *w,
	const struct gt_ev_kernel *e, uint32_t name, const struct gt_nccl_calls *nccl,
	struct gt_err *err)
{
	struct gt_gpu_kernel k = { name, { e->grid[0], e->grid[1], e->grid[2] },
		{ e->block[0], e->block[1], e->block[2] }, e->shared_static, e->shared_dynamic,
		e->work.registers };
	struct gt_gpu_work work = *w;
	uint64_t values[2];

	work.extra = nccl_fields(nccl, values);
	if (name == GT_NONE)
		k.name = gt_writer_string(g->w, "kernel");
	if (w->by_events) /* only the call's arguments may have grid and block */
		work.unknown |= GT_GPU_NO_REGISTERS | (k.grid[0] ? 0 : GT_GPU_NO_GRID) |
			(k.block[0] ? 0 : GT_GPU_NO_BLOCK);
	return gt_gpu_put_kernel(&g->types, &work, &k, err);
}

int gt_gpu_emit_copy(struct gt_correlator *g, const struct gt_gpu_work *w,
	const struct gt_ev_copy *e, struct gt_err *err)
{
	struct gt_gpu_copy c = { direction(e->work.copy.kind), memory(e->work.copy.source),
		memory(e->work.copy.destination), e->work.copy.async & 1, e->bytes, e->source,
		e->destination };

	return gt_gpu_put_copy(&g->types, w, &c, err);
}

int gt_gpu_emit_set(struct gt_correlator *g, const struct gt_gpu_work *w, const struct gt_ev_set *e,
	struct gt_err *err)
{
	struct gt_gpu_set s = { memory(e->work.set.memory & 255), e->bytes, (uint32_t)e->value,
		e->work.set.async & 1 };

	return gt_gpu_put_set(&g->types, w, &s, err);
}

/* ---- records that are not the program's work ---- */

/* The track of the device, or of the process for faults of the CPU and for events that may concern
 * several devices. */
static uint32_t managed_track(
	struct gt_correlator *g, struct gt_gpu_process *p, const struct gt_gpu_managed *m)
{
	bool source = m->kind == GT_GPU_MIGRATION_DTOH || m->kind == GT_GPU_FAULT ||
		(m->kind == GT_GPU_THROTTLING && !m->why);
	uint32_t device = source                                       ? m->from
		: m->kind == GT_GPU_REMOTE_MAP && m->to == GT_GPU_HOST ? m->from
								       : m->to;

	if (m->kind == GT_GPU_CPU_FAULT || m->kind == GT_GPU_THRASHING ||
		(m->kind == GT_GPU_THROTTLING && m->why) || device == GT_GPU_HOST)
		return p->track;
	return gt_gpu_device_track(g, p, device);
}

int gt_gpu_emit_managed(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, struct gt_err *err)
{
	const struct gt_ev_managed *r = &e->body.managed;
	struct gt_gpu_managed m = { (enum gt_gpu_managed_kind)(
					    r->counter < GT_GPU_MANAGED_KINDS ? r->counter : 0),
		r->value, r->address, r->source, r->destination, r->flags };
	struct gt_gpu_work w = {
		.track = managed_track(g, p, &m), .start = e->start, .end = e->end
	};

	if (w.track == GT_NONE)
		w.track = p->track;
	g->totals.managed++;
	if (m.kind == GT_GPU_MIGRATION_HTOD || m.kind == GT_GPU_MIGRATION_DTOH ||
		m.kind == GT_GPU_MIGRATION_DTOD)
		g->totals.migrated += m.value;
	return gt_gpu_put_managed(&g->types, &w, &m, err);
}

int gt_gpu_emit_overhead(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, struct gt_err *err)
{
	enum { OF_A_THREAD = 2 }; /* CUpti_ActivityObjectKind */
	struct gt_gpu_work w = { .track = p->track, .start = e->start, .end = e->end };
	const struct gt_ev_overhead *r = &e->body.overhead;
	struct gt_gpu_overhead o = { r->kind, r->object == OF_A_THREAD ? r->thread : 0 };

	if (gt_gpu_overhead_is_ours(o.kind))
		g->totals.overhead_ns += (uint64_t)(e->end - e->start);
	g->totals.overheads++;
	return gt_gpu_put_overhead(&g->types, &w, &o, err);
}

/* ---- runtime calls ---- */

/* Writes CUPTI's records of CUDA runtime calls as rows: spans of the layer "runtime", on a
 * separate track for each thread. Reports count the driver calls within them, which the guest
 * records. So these rows have no op, and no sum counts both layers. */
static const char *runtime_name(uint32_t cbid, char *space, size_t size)
{
	const char *name = gt_cuda_runtime_name(cbid);

	if (name)
		return name;
	snprintf(space, size, "runtime call %u", cbid);
	return space;
}

static uint32_t runtime_type(struct gt_correlator *g, uint32_t cbid)
{
	struct gt_field correlation = { gt_writer_string(g->w, "correlation"), GT_F_U64,
		GT_R_CORRELATION };
	struct gt_type type = { .layer = GT_LAYER_RUNTIME, .nfields = 1, .fields = &correlation };
	const char *name;
	char space[40];

	if (cbid >= GT_GPU_RUNTIME_CBIDS)
		cbid = 0;
	if (g->runtime[cbid])
		return g->runtime[cbid] - 1;
	name = runtime_name(cbid, space, sizeof(space));
	type.name = gt_writer_string(g->w, name);
	type.category = gt_api_guess(name).category;
	g->runtime[cbid] = gt_writer_type(g->w, &type) + 1; /* GT_NONE is tried again */
	return g->runtime[cbid] - 1;
}

/* A thread id may be reused: the next thread then shares the track. */
static uint32_t runtime_track(struct gt_correlator *g, struct gt_gpu_process *p, int32_t tid)
{
	struct gt_gpu_track place = { .kind = GT_TRACK_THREAD, .stream = (uint32_t)tid };
	uint32_t track = find_place(p, &place);

	return track == GT_NONE ? new_place(g, p, place, p->track, "CUDA runtime", (uint32_t)tid)
				: track;
}

bool gt_gpu_runtime_launches(const struct gt_gpu_event *e)
{
	const char *name = gt_cuda_runtime_name(e->body.call.cbid);

	return !name || gt_api_makes_work(gt_api_guess(name).op);
}

int gt_gpu_emit_runtime_call(struct gt_correlator *g, struct gt_gpu_process *p,
	const struct gt_gpu_event *e, struct gt_err *err)
{
	struct gt_row row = { .start = e->start,
		.end = e->end,
		.type = runtime_type(g, e->body.call.cbid),
		.ret = e->body.call.ret,
		.nargs = 1 };
	uint64_t correlation = e->body.call.correlation;
	uint32_t track = runtime_track(g, p, e->body.call.tid);

	if (row.type == GT_NONE || track == GT_NONE) {
		g->totals.nameless++;
		return gt_writer_loss(g->w, GT_SCOPE_PROCESS, p->track, e->start, e->end, 1, err);
	}
	g->totals.runtime++;
	return gt_writer_row(g->w, GT_SPAN, track, &row, &correlation, err);
}

/* ---- launches without a record ---- */

/* Launches, copies and sets without a record: they failed on the GPU, or their records were lost.
 * Each has a row at its call, so that an analysis can list them. The header counts them as
 * launches without a record. */
#define MISSING_MAX 65536u /* rows of a recording; further calls are counted only */

void gt_gpu_missing_add(struct gt_correlator *g, const struct gt_gpu_call *c)
{
	g->totals.without_record++;
	if (g->missing.n + g->missing.written < MISSING_MAX &&
		!gt_grow(&g->missing.calls, &g->missing.cap, g->missing.n + 1,
			sizeof(*g->missing.calls)))
		g->missing.calls[g->missing.n++] = *c;
}

int gt_gpu_missing_write(struct gt_correlator *g, struct gt_err *err)
{
	int code = 0;

	for (size_t i = 0; !code && i < g->missing.n; i++) {
		const struct gt_gpu_call *c = &g->missing.calls[i];

		code = gt_gpu_put_missing(&g->types, c->track, c->start, c->name, c->kernel, err);
	}
	g->missing.written += g->missing.n;
	g->missing.n = 0;
	return code;
}
