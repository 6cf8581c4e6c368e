/* Operations on the devices: from the submission to the record, and into the truth.
 *
 * The driver reports an operation twice under its lock: when it is queued, and when it has run.
 * Between the two the call that queued it returns and stores it in a buffer; or the operation ends
 * first. A cupti_work is freed when the driver, the call and the buffer have released their
 * references. */
#include "samples/simgpu/cupti_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cupti_work {
	struct cupti_work *next;           /* of one call */
	struct cupti_work *before, *after; /* list of incomplete records */
	struct sim_work w;
	uint32_t correlation;
	unsigned kind; /* of its record; 0: none is enabled */
	int refs;
	bool ended;
	uint64_t start, end; /* in the client's clock */
	uint64_t due;        /* CLOCK_MONOTONIC time of the record's completion if it is delayed */
	struct cupti_slot slot;
};
static struct cupti_work *incomplete;
static unsigned kernels; /* records of kernels, for SIM_CUPTI_BAD */
static int64_t grids;

/* A copy of a kernel's name that is never freed. Under the lock. */
static const char *intern(const char *name)
{
	static struct name {
		struct name *next;
		char text[];
	} * names[256];
	struct name **at = names, *n;
	unsigned hash = 5381;

	for (const char *p = name; *p; p++)
		hash = hash * 33 + (unsigned char)*p;
	at += hash % 256;
	for (n = *at; n && strcmp(n->text, name); n = n->next)
		;
	if (!n && (n = malloc(sizeof(*n) + strlen(name) + 1))) {
		strcpy(n->text, name);
		n->next = *at;
		*at = n;
	}
	return n ? n->text : "";
}

static void work_put(struct cupti_work *work)
{
	if (!--work->refs)
		free(work);
}

static unsigned record_kind(enum sim_work_kind kind)
{
	unsigned record = kind == SIM_WORK_COPY       ? KIND_MEMCPY
		: kind == SIM_WORK_PEER               ? KIND_MEMCPY2
		: kind == SIM_WORK_SET                ? KIND_MEMSET
		: cupti_kinds[KIND_CONCURRENT_KERNEL] ? KIND_CONCURRENT_KERNEL
						      : KIND_KERNEL;

	return cupti_kinds[record] ? record : 0;
}

void *cupti_submitted(struct sim_call *call, const struct sim_work *w)
{
	struct cupti_call_state *state = call ? call->own : NULL;
	struct cupti_work *work = calloc(1, sizeof(*work));

	if (!work)
		return NULL;
	work->w = *w;
	/* work outside a call has no thread whose buffer could hold its record */
	work->kind = state ? record_kind(w->kind) : 0;
	work->correlation = state ? state->correlation : 0;
	work->refs = 1 + (state != NULL);
	if (w->name) {
		cupti_lock();
		work->w.name = intern(w->name);
		cupti_unlock();
	}
	if (state) {
		*state->last = work;
		state->last = &work->next;
	}
	return work;
}

/* Members that the records of all kinds of work have. */
#define WORK_MEMBERS(work)                                                                         \
	.kind = (work)->kind, .device = (work)->w.device, .context = (work)->w.context,            \
	.stream = (work)->w.stream, .correlation = (work)->correlation, .node = (work)->w.node,    \
	.graph = (work)->w.graph
#define COPY_MEMBERS(work)                                                                         \
	WORK_MEMBERS(work), .copy = (work)->w.copy, .src = (work)->w.src, .dst = (work)->w.dst,    \
			    .flags = (work)->w.async, .bytes = (work)->w.bytes, .channel = 2,      \
			    .channel_type = 2

static void fill_kernel(const struct cupti_work *work, struct cupti_kernel *r)
{
	const struct sim_work *w = &work->w;

	*r = (struct cupti_kernel){ WORK_MEMBERS(work), .registers = 16,
		.grid = { w->grid[0], w->grid[1], w->grid[2] },
		.block = { w->block[0], w->block[1], w->block[2] }, .shared_dynamic = w->shared,
		.shared_executed = w->shared, .grid_id = ++grids, .name = w->name,
		.launch_type = w->cooperative, .channel = 1, .channel_type = 1 };
}

/* Members beyond the end of this version's record are left out. */
static void fill(const struct cupti_work *work, union cupti_record *to)
{
	const struct sim_work *w = &work->w;
	union cupti_record r = { .kind = work->kind };

	switch (w->kind) {
	case SIM_WORK_KERNEL: fill_kernel(work, &r.kernel); break;
	case SIM_WORK_COPY:
		r.copy = (struct cupti_memcpy){ COPY_MEMBERS(work), .copies = 1 };
		break;
	case SIM_WORK_PEER:
		r.peer = (struct cupti_peer){ COPY_MEMBERS(work), .src_device = w->src_device,
			.src_context = w->src_context, .dst_device = w->dst_device,
			.dst_context = w->dst_context };
		break;
	case SIM_WORK_SET:
		r.set = (struct cupti_memset){ WORK_MEMBERS(work), .value = w->value,
			.bytes = w->bytes, .flags = w->async, .memory = w->dst, .channel = 1,
			.channel_type = 1 };
		break;
	}
	memcpy(to, &r, cupti_size(work->kind));
}

static void fill_times(const struct cupti_work *work, union cupti_record *r)
{
	uint64_t start = work->start, end = work->end;

	switch (work->w.kind) {
	case SIM_WORK_KERNEL:
		if (cupti_knobs.bad && ++kernels % cupti_knobs.bad == 0) {
			if (kernels / cupti_knobs.bad % 2)
				start = end = 0;
			else
				start = work->end, end = work->start;
		}
		r->kernel.start = start;
		r->kernel.end = r->kernel.completed = end;
		break;
	case SIM_WORK_COPY: r->copy.start = start, r->copy.end = end; break;
	case SIM_WORK_PEER: r->peer.start = start, r->peer.end = end; break;
	case SIM_WORK_SET: r->set.start = start, r->set.end = end; break;
	}
}

/* Removes the work from the list of incomplete records. complete: the record is complete now. */
static void end_pending(struct cupti_work *work, bool complete)
{
	struct cupti_buffer *in = work->slot.in;

	if (work->before)
		work->before->after = work->after;
	else
		incomplete = work->after;
	if (work->after)
		work->after->before = work->before;
	work->slot.in = NULL;
	work_put(work);
	if (complete)
		cupti_record_complete(in);
}

static void place_record(struct cupti_work *work)
{
	struct cupti_slot slot = { NULL, NULL };

	if (work->kind)
		slot = cupti_reserve(work->kind);
	else
		cupti_lock();
	if (slot.in) {
		fill(work, slot.at);
		if (work->ended)
			fill_times(work, slot.at);
		if (!work->ended || work->due) {
			cupti_record_pending(slot.in);
			work->slot = slot;
			work->refs++;
			if ((work->after = incomplete))
				incomplete->before = work;
			incomplete = work;
			if (work->due)
				cupti_wake();
		}
	}
	work_put(work);
	cupti_unlock();
}

void cupti_place_records(struct cupti_work *first)
{
	struct cupti_work *next;

	for (; first; first = next) {
		next = first->next;
		place_record(first);
	}
}

/* The truth: see samples/README.md. */
static void write_truth(const struct cupti_work *work)
{
	static const char *const kinds[] = { "", "kernel", "copy", "peer", "set" };
	const struct sim_work *w = &work->w;
	char line[4096], name[64];
	int n;

	if (!cupti_knobs.truth)
		return;
	if (w->kind == SIM_WORK_SET)
		snprintf(name, sizeof(name), "%u:%u", w->dst, w->value);
	else
		snprintf(name, sizeof(name), "%u:%u:%u", w->copy, w->src, w->dst);
	n = snprintf(line, sizeof(line),
		"%u %s %.3000s %u %u %llu %llu %u,%u,%u %u,%u,%u %llu %u %u %llu %u %u %u %u\n",
		work->correlation, kinds[w->kind], w->kind == SIM_WORK_KERNEL ? w->name : name,
		w->stream, w->device, (unsigned long long)work->start,
		(unsigned long long)work->end, w->grid[0], w->grid[1], w->grid[2], w->block[0],
		w->block[1], w->block[2], (unsigned long long)w->bytes, w->context, w->graph,
		(unsigned long long)w->node, w->shared, w->async, w->src_device, w->dst_device);
	cupti_write_truth(line, n);
}

void cupti_truth_sync(const struct cupti_sync *r, uint32_t device)
{
	char line[256];
	int n;

	if (!cupti_knobs.truth)
		return;
	n = snprintf(line, sizeof(line), "%u sync %u:%u %u %u %llu %llu 0,0,0 0,0,0 0 %u 0 0\n",
		r->correlation, r->type, r->event, r->stream, device, (unsigned long long)r->start,
		(unsigned long long)r->end, r->context);
	cupti_lock();
	cupti_write_truth(line, n);
	cupti_unlock();
}

void cupti_truth_um(const struct cupti_um *r)
{
	char line[256];
	int n;

	if (!cupti_knobs.truth)
		return;
	n = snprintf(line, sizeof(line), "0 um %u:%u %u %u %llu %llu 0,0,0 0,0,0 %llu 0 0 %llu\n",
		r->counter, r->flags, r->src, r->dst, (unsigned long long)r->start,
		(unsigned long long)r->end, (unsigned long long)r->value,
		(unsigned long long)r->address);
	cupti_lock();
	cupti_write_truth(line, n);
	cupti_unlock();
}

void cupti_done(void *done, uint64_t start, uint64_t end)
{
	struct cupti_work *work = done;

	cupti_lock();
	work->start = cupti_time(start);
	work->end = cupti_time(end);
	work->ended = true;
	work->due = cupti_knobs.late_ms ? cupti_mono() + cupti_knobs.late_ms * 1000000ull : 0;
	write_truth(work);
	if (work->slot.in) {
		fill_times(work, work->slot.at);
		if (work->due)
			cupti_wake();
		else
			end_pending(work, true);
	}
	work_put(work);
	cupti_unlock();
}

void cupti_abandon(const struct cupti_buffer *b)
{
	struct cupti_work *next;

	for (struct cupti_work *work = incomplete; work; work = next) {
		next = work->after;
		if (work->slot.in == b)
			end_pending(work, false);
	}
}

uint64_t cupti_complete_due(uint64_t now)
{
	struct cupti_work *next;
	uint64_t first = 0;

	for (struct cupti_work *work = cupti_knobs.late_ms ? incomplete : NULL; work; work = next) {
		next = work->after;
		if (!work->ended)
			continue;
		if (work->due <= now)
			end_pending(work, true);
		else if (!first || work->due < first)
			first = work->due;
	}
	return first;
}
