/* From calls in rings to what live_bytes.c counts: who allocated, on which device, and what may be
 * known by now. */
#include "collect/recorder/recorder_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/trace/read/live_allocations.h"

int gt_holdings_call(struct gt_recorder *r, const struct gt_traced_thread *t, uint16_t id,
	const struct gt_row *row, const uint64_t *args, struct gt_err *err)
{
	const struct gt_call_type *c = &r->types.calls[id];
	const struct gt_api *api = &gt_api[id];
	bool gives_back = api->op == GT_OP_FREE || api->op == GT_OP_UNMAP;
	uint64_t device = c->device != GT_NO_WORD ? args[c->device] : (uint64_t)t->device - 1;
	struct gt_memory_call call = { .op = api->op,
		.kind = api->memkind,
		.at = gives_back ? row->start : row->end,
		.device = device < GT_LIVE_NO_DEVICE ? (uint8_t)device : GT_LIVE_NO_DEVICE,
		.addr = c->addr == GT_NO_WORD ? 0 : args[c->addr],
		.bytes = c->bytes == GT_NO_WORD ? 0 : args[c->bytes] };
	struct gt_process *p = &r->procs[t->proc];

	if (!gt_api_is_memory(api->op))
		call.op = GT_OP_NONE, call.kind = 0;
	r->memory_waits = true;
	return gt_memory_call(&p->memory, p->track, p->unseen || r->ranged, &call)
		? gt_err_set(err, -ENOMEM, "out of memory")
		: 0;
}

/* The device's track: that on which its work is shown, where it is recorded. */
struct whose {
	struct gt_recorder *r;
	struct gt_process *p;
};
static uint32_t track_of_device(void *arg, uint32_t device)
{
	struct gt_recorder *r = ((struct whose *)arg)->r;
	struct gt_process *p = ((struct whose *)arg)->p;
	struct gt_track track = { .parent = p->track,
		.source = r->source,
		.kind = GT_TRACK_DEVICE,
		.id = device,
		.ns_id = device };
	char name[32];

	if (r->gpu)
		return gt_gpu_device(r->gpu, &p->gpu, p->track, device);
	for (size_t i = 0; i < p->nplaces; i++)
		if (p->places[i].device == device)
			return p->places[i].track;
	if (gt_grow(&p->places, &p->places_cap, p->nplaces + 1, sizeof(*p->places)))
		return GT_NONE;
	snprintf(name, sizeof(name), "GPU %u", device);
	track.name = gt_writer_string(r->w, name);
	p->places[p->nplaces] = (struct gt_place_of){ device, gt_writer_track(r->w, &track) };
	return p->places[p->nplaces].track == GT_NONE ? GT_NONE : p->places[p->nplaces++].track;
}

/* Have calls of this thread been lost since the last look? */
static bool lost_some(struct gt_recorder *r, struct gt_traced_thread *t)
{
	const struct gt_ring_thread *ring = gt_ring_of(r, t);
	uint64_t n = __atomic_load_n(&ring->dropped, __ATOMIC_RELAXED) +
		__atomic_load_n(&ring->deep, __ATOMIC_RELAXED) +
		__atomic_load_n(&ring->abandoned, __ATOMIC_RELAXED) +
		__atomic_load_n(&ring->in_handler, __ATOMIC_RELAXED);
	bool more = n != t->unseen || t->broken;

	t->unseen = n;
	return more && !t->teller;
}

/* Until when is all known of each process, and is it all? A free that is running belongs where it
 * began. */
static void look_at_threads(struct gt_recorder *r)
{
	int64_t first;

	for (uint32_t k = 0; k < r->nlive_procs; k++) {
		struct gt_process *p = gt_live_process(r, k);

		p->played = r->now.monotonic;
		p->unseen |= __atomic_load_n(&gt_slot_of(r, p)->untraced, __ATOMIC_RELAXED) != 0;
	}
	for (uint32_t k = 0; k < r->nlive; k++) {
		struct gt_traced_thread *t = gt_live_thread(r, k);
		struct gt_process *p = &r->procs[t->proc];

		if (t->teller || !p->memory)
			continue;
		p->unseen |= lost_some(r, t);
		first = t->broken || !gt_memory_waits(p->memory) ? INT64_MAX
								 : gt_follow_first_free(r, t);
		p->played = first < p->played ? first : p->played;
	}
}

int gt_holdings_settle(struct gt_recorder *r, bool looked, struct gt_err *err)
{
	int code = 0;

	if (!r->rings->recording && !r->finishing) /* --delay, --duration */
		for (uint32_t k = 0; k < r->nlive_procs; k++)
			gt_live_process(r, k)->unseen = true;
	if (!looked)
		return 0;
	r->memory_waits = false;
	look_at_threads(r);
	for (uint32_t k = 0; !code && k < r->nlive_procs; k++) {
		struct gt_process *p = gt_live_process(r, k);
		struct whose whose = { r, p };
		bool wrote = false;

		if (!p->memory)
			continue;
		if (p->unseen)
			gt_memory_doubt(p->memory);
		code = gt_memory_settle(
			r->memory, p->memory, p->played, track_of_device, &whose, &wrote, err);
		r->memory_waits |= gt_memory_waits(p->memory);
		r->active |= wrote;
	}
	return code;
}

void gt_holdings_end_thread(struct gt_recorder *r, struct gt_traced_thread *t)
{
	r->procs[t->proc].unseen |= lost_some(r, t);
}

int gt_holdings_end_process(struct gt_recorder *r, struct gt_process *p, struct gt_err *err)
{
	struct whose whose = { r, p };

	if (p->memory && p->unseen)
		gt_memory_doubt(p->memory);
	return p->memory ? gt_memory_end(r->memory, p->memory, r->now.monotonic, p->gone,
				   track_of_device, &whose, err)
			 : 0;
}

void gt_holdings_forget(struct gt_process *p)
{
	gt_memory_process_close(p->memory);
	free(p->places);
	p->memory = NULL;
	p->places = NULL;
	p->nplaces = p->places_cap = 0;
}
