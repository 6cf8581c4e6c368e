/* Passes calls that change memory to memory_counters.c: with their process and device, and with
 * the time up to which all calls of the process have been read. */
#include "collect/recorder/recorder_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/trace/read/live_allocations.h"

int gt_memory_calls_add(struct gt_recorder *r, const struct gt_traced_thread *t, uint16_t id,
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
	r->memory_pending = true;
	return gt_memory_call(&p->memory, p->track, p->memory_uncertain || r->has_range, &call)
		? gt_err_set(err, -ENOMEM, "out of memory")
		: 0;
}

/* The track of a device: that of its GPU work, if GPU work is recorded. */
struct memory_owner {
	struct gt_recorder *r;
	struct gt_process *p;
};
static uint32_t track_of_device(void *arg, uint32_t device)
{
	struct gt_recorder *r = ((struct memory_owner *)arg)->r;
	struct gt_process *p = ((struct memory_owner *)arg)->p;
	struct gt_track track = { .parent = p->track,
		.source = r->source,
		.kind = GT_TRACK_DEVICE,
		.id = device,
		.ns_id = device };
	char name[32];

	if (r->gpu)
		return gt_gpu_device(r->gpu, &p->gpu, p->track, device);
	for (size_t i = 0; i < p->ndevice_tracks; i++)
		if (p->device_tracks[i].device == device)
			return p->device_tracks[i].track;
	if (gt_grow(&p->device_tracks, &p->device_tracks_cap, p->ndevice_tracks + 1,
		    sizeof(*p->device_tracks)))
		return GT_NONE;
	snprintf(name, sizeof(name), "GPU %u", device);
	track.name = gt_writer_string(r->w, name);
	p->device_tracks[p->ndevice_tracks] =
		(struct gt_device_track){ device, gt_writer_track(r->w, &track) };
	return p->device_tracks[p->ndevice_tracks].track == GT_NONE
		? GT_NONE
		: p->device_tracks[p->ndevice_tracks++].track;
}

/* Has the thread lost calls since the last check? */
static bool has_lost_calls(struct gt_recorder *r, struct gt_traced_thread *t)
{
	const struct gt_ring_thread *ring = gt_ring_of(r, t);
	uint64_t n = __atomic_load_n(&ring->dropped, __ATOMIC_RELAXED) +
		__atomic_load_n(&ring->deep, __ATOMIC_RELAXED) +
		__atomic_load_n(&ring->abandoned, __ATOMIC_RELAXED) +
		__atomic_load_n(&ring->in_handler, __ATOMIC_RELAXED);
	bool more = n != t->unrecorded_calls || t->broken;

	t->unrecorded_calls = n;
	return more && !t->producer;
}

/* Sets for each process the time up to which all its calls have been read, and whether calls were
 * lost. A free counts from its start, so a free that is running limits that time to its start. */
static void update_memory_limits(struct gt_recorder *r)
{
	int64_t first;

	for (uint32_t k = 0; k < r->nlive_procs; k++) {
		struct gt_process *p = gt_live_process(r, k);

		p->memory_until = r->now.monotonic;
		p->memory_uncertain |=
			__atomic_load_n(&gt_slot_of(r, p)->untraced, __ATOMIC_RELAXED) != 0;
	}
	for (uint32_t k = 0; k < r->nlive; k++) {
		struct gt_traced_thread *t = gt_live_thread(r, k);
		struct gt_process *p = &r->procs[t->proc];

		if (t->producer || !p->memory)
			continue;
		p->memory_uncertain |= has_lost_calls(r, t);
		first = t->broken || !gt_memory_has_pending(p->memory)
			? INT64_MAX
			: gt_ring_reader_first_free(r, t);
		p->memory_until = first < p->memory_until ? first : p->memory_until;
	}
}

int gt_memory_calls_flush_ready(struct gt_recorder *r, bool looked, struct gt_err *err)
{
	int code = 0;

	if (!r->rings->recording && !r->finishing) /* --delay, --duration */
		for (uint32_t k = 0; k < r->nlive_procs; k++)
			gt_live_process(r, k)->memory_uncertain = true;
	if (!looked)
		return 0;
	r->memory_pending = false;
	update_memory_limits(r);
	for (uint32_t k = 0; !code && k < r->nlive_procs; k++) {
		struct gt_process *p = gt_live_process(r, k);
		struct memory_owner memory_owner = { r, p };
		bool wrote = false;

		if (!p->memory)
			continue;
		if (p->memory_uncertain)
			gt_memory_mark_uncertain(p->memory);
		code = gt_memory_flush_ready(r->memory, p->memory, p->memory_until, track_of_device,
			&memory_owner, &wrote, err);
		r->memory_pending |= gt_memory_has_pending(p->memory);
		r->active |= wrote;
	}
	return code;
}

void gt_memory_calls_end_thread(struct gt_recorder *r, struct gt_traced_thread *t)
{
	r->procs[t->proc].memory_uncertain |= has_lost_calls(r, t);
}

int gt_memory_calls_end_process(struct gt_recorder *r, struct gt_process *p, struct gt_err *err)
{
	struct memory_owner memory_owner = { r, p };

	if (p->memory && p->memory_uncertain)
		gt_memory_mark_uncertain(p->memory);
	return p->memory ? gt_memory_end(r->memory, p->memory, r->now.monotonic, p->exited,
				   track_of_device, &memory_owner, err)
			 : 0;
}

void gt_memory_calls_release(struct gt_process *p)
{
	gt_memory_process_close(p->memory);
	free(p->device_tracks);
	p->memory = NULL;
	p->device_tracks = NULL;
	p->ndevice_tracks = p->device_tracks_cap = 0;
}
