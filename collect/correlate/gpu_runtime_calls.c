/* Writes CUPTI's records of CUDA runtime calls as rows: spans of the layer "runtime", on a
 * separate track for each thread. Reports count the driver calls within them, which the guest
 * records. So these rows have no op, and no sum counts both layers. */
#include "collect/correlate/gpu_correlate_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"

static const char *name_of(uint32_t cbid, char *space, size_t size)
{
	const char *name = gt_cuda_runtime_name(cbid);

	if (name)
		return name;
	snprintf(space, size, "runtime call %u", cbid);
	return space;
}

static uint32_t type_of(struct gt_correlator *g, uint32_t cbid)
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
	name = name_of(cbid, space, sizeof(space));
	type.name = gt_writer_string(g->w, name);
	type.category = gt_api_guess(name).category;
	g->runtime[cbid] = gt_writer_type(g->w, &type) + 1; /* GT_NONE is tried again */
	return g->runtime[cbid] - 1;
}

static bool same_tid(const void *arg, uint32_t value, const void *key, size_t len)
{
	return ((const struct gt_gpu_process *)arg)->runtimes[value].tid == *(const int32_t *)key;
}

/* A thread id may be reused: the next thread then shares the track. */
static uint32_t track_of(struct gt_correlator *g, struct gt_gpu_process *p, int32_t tid)
{
	struct gt_track t = { .parent = p->track,
		.source = g->source,
		.kind = GT_TRACK_THREAD,
		.id = tid,
		.ns_id = tid };
	uint64_t hash = gt_hash_u64((uint32_t)tid);
	uint32_t i = gt_map_get(&p->by_tid, hash, same_tid, p, &tid, sizeof(tid));

	if (i != GT_NONE)
		return p->runtimes[i].track;
	if (gt_grow(&p->runtimes, &p->runtimes_cap, p->nruntimes + 1, sizeof(*p->runtimes)))
		return GT_NONE;
	t.name = gt_writer_string(g->w, "CUDA runtime");
	p->runtimes[p->nruntimes] = (struct gt_gpu_runtime){ tid, gt_gpu_new_track(g, &t) };
	if (p->runtimes[p->nruntimes].track == GT_NONE ||
		gt_map_add(&p->by_tid, hash, (uint32_t)p->nruntimes))
		return GT_NONE;
	return p->runtimes[p->nruntimes++].track;
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
		.type = type_of(g, e->body.call.cbid),
		.ret = e->body.call.ret,
		.nargs = 1 };
	uint64_t correlation = e->body.call.correlation;
	uint32_t track = track_of(g, p, e->body.call.tid);

	if (row.type == GT_NONE || track == GT_NONE) {
		g->totals.nameless++;
		return gt_writer_lost(g->w, GT_SCOPE_PROCESS, p->track, e->start, e->end, 1, err);
	}
	g->totals.runtime++;
	return gt_writer_row(g->w, GT_SPAN, track, &row, &correlation, err);
}

void gt_gpu_runtime_release(struct gt_gpu_process *p)
{
	gt_map_release(&p->by_tid);
	free(p->runtimes);
}
