/* Calls are read thread by thread, and a free counts from its start but is recorded when it has
 * returned (the memory report counts in the same way). So calls wait in a queue until all earlier
 * calls have been read. They are then applied in order of time to a table of live allocations.
 *
 * A program may allocate and free a million times a second: too many for a row each. A counter is
 * written when it changes, and then not again for INTERVAL. Afterwards the largest, the smallest
 * and the last value of that interval are written, each with its own time. So there are at most
 * four rows per INTERVAL, and the peak and its time are exact.
 *
 * Memory on a device is on the device's track. Managed memory, which moves, and host memory are on
 * the process's track. */
#include "collect/recorder/memory_counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/trace/read/live_allocations.h"

#define INTERVAL 10000000ll /* ns */
#define QUEUE_MAX 65536u    /* pending calls of a process */

struct queued_call {
	struct gt_memory_call c;
	uint32_t seq;
};
struct sample {
	int64_t at;
	uint64_t value;
};
struct counter {
	uint8_t kind, device;
	uint32_t track;
	uint64_t value, written;
	int64_t until; /* the next row is written after this time */
	bool changed;  /* since the last row; then low, high and last are set */
	struct sample low, high, last;
};
struct gt_memory_process {
	uint32_t track;
	struct queued_call *queue;
	size_t n, cap;
	uint32_t seq;
	struct gt_live live;
	struct counter *counters;
	size_t ncounters, counters_cap;
	bool uncertain, uncertain_written; /* uncertain_written: as the last rows say */
};
struct gt_memory {
	struct gt_writer *w;
	uint32_t types[GT_MEMKIND_COUNT];
};
/* The arguments of one flush. */
struct flush {
	struct gt_memory *m;
	struct gt_memory_process *p;
	gt_memory_track *track_of;
	void *arg;
	uint64_t rows;
	struct gt_err *err;
};

/* ---- rows ---- */

static uint32_t type_of(struct gt_memory *m, unsigned kind)
{
	static const char *const words[GT_MEMKIND_COUNT] = { [GT_MEM_PHYSICAL] = "virtual" };
	struct gt_field fields[] = { { gt_writer_string(m->w, "value"), GT_F_U64, GT_R_VALUE },
		{ gt_writer_string(m->w, "uncertain"), GT_F_BOOL, GT_R_UNCERTAIN } };
	struct gt_type type = { .category = GT_CAT_MEMORY,
		.memkind = (uint8_t)kind,
		.layer = GT_LAYER_API,
		.nfields = 2,
		.fields = fields };
	char name[40];

	if (m->types[kind] == GT_NONE) {
		snprintf(name, sizeof(name), "live_%s_bytes",
			words[kind] ? words[kind] : gt_memkind_word(kind));
		type.name = gt_writer_string(m->w, name);
		m->types[kind] = gt_writer_type(m->w, &type);
	}
	return m->types[kind];
}

static int write_sample(struct flush *s, struct counter *c, struct sample v)
{
	struct gt_row row = {
		.start = v.at, .end = v.at, .nargs = 2, .type = type_of(s->m, c->kind)
	};

	if (row.type == GT_NONE)
		return gt_err_set(s->err, -ENOMEM, "out of memory");
	c->written = v.value;
	s->rows++;
	return gt_writer_row(s->m->w, GT_COUNTER, c->track, &row,
		(const uint64_t[]){ v.value, s->p->uncertain }, s->err);
}

/* Writes the values of the interval that had no row. */
static int write_skipped(struct flush *s, struct counter *c)
{
	struct sample some[3];
	unsigned n = 0;
	int code = 0;

	if (!c->changed)
		return 0;
	c->changed = false;
	if (c->high.value > c->written && c->high.value > c->last.value)
		some[n++] = c->high;
	if (c->low.value < c->written && c->low.value < c->last.value)
		some[n++] = c->low;
	if (n == 2 && some[0].at > some[1].at)
		some[2] = some[0], some[0] = some[1], some[1] = some[2];
	if (n || c->last.value != c->written)
		some[n++] = c->last;
	for (unsigned i = 0; !code && i < n; i++)
		code = write_sample(s, c, some[i]);
	return code;
}

static int set_value(struct flush *s, struct counter *c, int64_t at, uint64_t value)
{
	struct sample v = { at, value };
	int code = 0;

	c->value = value;
	if (at >= c->until) {
		code = write_skipped(s, c);
		c->until = at + INTERVAL;
		return code ? code : write_sample(s, c, v);
	}
	if (!c->changed)
		c->low = c->high = v;
	c->changed = true;
	c->low = value < c->low.value ? v : c->low;
	c->high = value > c->high.value ? v : c->high;
	c->last = v;
	return 0;
}

/* The same for all counters whose interval has ended. */
static int write_due(struct flush *s, int64_t now)
{
	int code = 0;

	for (size_t i = 0; !code && i < s->p->ncounters; i++)
		if (now >= s->p->counters[i].until)
			code = write_skipped(s, &s->p->counters[i]);
	return code;
}

/* ---- counters ---- */

static bool is_on_device(unsigned kind) { return kind != GT_MEM_HOST && kind != GT_MEM_MANAGED; }

/* NULL: no memory, or too many tracks. */
static struct counter *counter_of(struct flush *s, unsigned kind, unsigned device)
{
	struct gt_memory_process *p = s->p;
	struct counter c = { .kind = (uint8_t)kind,
		.device = (uint8_t)(is_on_device(kind) ? device : GT_LIVE_NO_DEVICE),
		.until = INT64_MIN };

	for (size_t i = 0; i < p->ncounters; i++)
		if (p->counters[i].kind == c.kind && p->counters[i].device == c.device)
			return &p->counters[i];
	c.track = c.device == GT_LIVE_NO_DEVICE ? p->track : s->track_of(s->arg, c.device);
	if (c.track == GT_NONE ||
		gt_grow(&p->counters, &p->counters_cap, p->ncounters + 1, sizeof(*p->counters)))
		return NULL;
	p->counters[p->ncounters] = c;
	return &p->counters[p->ncounters++];
}

static int adjust(
	struct flush *s, unsigned kind, unsigned device, int64_t at, uint64_t plus, uint64_t minus)
{
	struct counter *c = counter_of(s, kind, device);
	uint64_t value;

	if (!c) {
		gt_memory_mark_uncertain(s->p);
		return 0;
	}
	value = c->value - (minus < c->value ? minus : c->value);
	value = value + plus < value ? UINT64_MAX : value + plus;
	return set_value(s, c, at, value);
}

static int subtract_item(struct flush *s, const struct gt_live_item *old, int64_t at)
{
	return adjust(s, old->kind, old->device, at, 0, old->bytes);
}

/* ---- calls ---- */

/* An older allocation at this address, whose free was not recorded, ends at the same time. */
static int apply_alloc(struct flush *s, const struct gt_memory_call *c)
{
	struct gt_live_item item = { .addr = c->addr,
		.bytes = c->bytes,
		.kind = c->kind,
		.device = c->device },
			    old;
	int code = gt_live_alloc(&s->p->live, &item, &old);

	if (code < 0 || !c->bytes)
		gt_memory_mark_uncertain(s->p);
	if (code < 0)
		return code == -ENOSPC ? 0 : gt_err_set(s->err, code, "out of memory");
	if (code)
		return adjust(s, c->kind, c->device, c->at, c->bytes, 0);
	if (counter_of(s, old.kind, old.device) == counter_of(s, c->kind, c->device))
		return adjust(s, c->kind, c->device, c->at, c->bytes, old.bytes);
	code = subtract_item(s, &old, c->at);
	return code ? code : adjust(s, c->kind, c->device, c->at, c->bytes, 0);
}

static int apply_unmap(struct flush *s, const struct gt_memory_call *c)
{
	uint64_t at = c->addr, end = c->addr + c->bytes < c->addr ? UINT64_MAX : c->addr + c->bytes;
	struct gt_live_item old;
	int code = 0;

	while (!code && gt_live_unmap(&s->p->live, 0, &at, end, &old))
		code = subtract_item(s, &old, c->at);
	return code;
}

/* No call frees the memory of a destroyed context, and which memory it was is not known. */
static void end_context(struct gt_memory_process *p)
{
	for (size_t i = 0; i < p->ncounters; i++)
		p->uncertain |= p->counters[i].value != 0;
}

static int apply_call(struct flush *s, const struct gt_memory_call *c)
{
	struct gt_live_item old;
	int code;

	switch (c->op) {
	case GT_OP_ALLOC: return apply_alloc(s, c);
	case GT_OP_FREE:
		return gt_live_free(&s->p->live, 0, c->kind, c->addr, &old) == GT_LIVE_FREED
			? subtract_item(s, &old, c->at)
			: 0;
	case GT_OP_RETAIN:
	case GT_OP_IMPORT:
	case GT_OP_MAP:
		code = c->op == GT_OP_MAP
			? gt_live_map(&s->p->live, 0, c->addr, c->bytes)
			: gt_live_retain(&s->p->live, 0, c->addr, c->op == GT_OP_IMPORT);
		if (code == -ENOSPC)
			gt_memory_mark_uncertain(s->p);
		return code == -ENOMEM ? gt_err_set(s->err, code, "out of memory") : 0;
	case GT_OP_UNMAP: return apply_unmap(s, c);
	case GT_OP_NONE: end_context(s->p);
	}
	return 0;
}

int gt_memory_call(struct gt_memory_process **p, uint32_t track, bool uncertain,
	const struct gt_memory_call *c)
{
	struct gt_memory_process *q = *p;

	if (c->kind >= GT_MEMKIND_COUNT || (!c->addr && c->op))
		return 0; /* a free of NULL */
	if (!q && (q = calloc(1, sizeof(*q)))) {
		q->track = track;
		q->uncertain = q->uncertain_written = uncertain;
		*p = q;
	}
	if (!q || gt_grow(&q->queue, &q->cap, q->n + 1, sizeof(*q->queue)))
		return -ENOMEM;
	q->queue[q->n++] = (struct queued_call){ *c, q->seq++ };
	return 0;
}

void gt_memory_mark_uncertain(struct gt_memory_process *p) { p->uncertain = true; }

bool gt_memory_has_pending(const struct gt_memory_process *p)
{
	bool waits = p->n;

	for (size_t i = 0; !waits && i < p->ncounters; i++)
		waits = p->counters[i].changed;
	return waits;
}

/* ---- settling ---- */

static int compare_calls(const void *pa, const void *pb)
{
	const struct queued_call *a = pa, *b = pb;

	return a->c.at != b->c.at ? (a->c.at < b->c.at ? -1 : 1) : (int32_t)(a->seq - b->seq);
}

/* Calls of one thread are in order already. */
static void sort_calls(struct gt_memory_process *p)
{
	for (size_t i = 1; i < p->n; i++)
		if (compare_calls(&p->queue[i - 1], &p->queue[i]) > 0) {
			qsort(p->queue, p->n, sizeof(*p->queue), compare_calls);
			return;
		}
}

/* Writes all counters again when they become uncertain, because no later row may say so. */
static int write_uncertainty(struct flush *s, int64_t now)
{
	struct gt_memory_process *p = s->p;
	int code = 0;

	if (!p->uncertain || p->uncertain_written)
		return 0;
	p->uncertain_written = true;
	for (size_t i = 0; !code && i < p->ncounters; i++) {
		code = write_skipped(s, &p->counters[i]);
		if (!code)
			code = write_sample(
				s, &p->counters[i], (struct sample){ now, p->counters[i].value });
	}
	return code;
}

static int apply_until(struct flush *s, int64_t until)
{
	struct gt_memory_process *p = s->p;
	size_t i = 0;
	int code = 0;

	for (; !code && i < p->n && p->queue[i].c.at <= until; i++)
		code = apply_call(s, &p->queue[i].c);
	for (size_t k = i; k < p->n; k++)
		p->queue[k - i] = p->queue[k];
	p->n -= i;
	return code;
}

int gt_memory_flush_ready(struct gt_memory *m, struct gt_memory_process *p, int64_t until,
	gt_memory_track *track_of, void *arg, bool *wrote, struct gt_err *err)
{
	struct flush s = { m, p, track_of, arg, 0, err };
	int code;

	sort_calls(p);
	code = apply_until(&s, until);
	if (!code && p->n > QUEUE_MAX) { /* a free runs for long */
		gt_memory_mark_uncertain(p);
		until = p->queue[p->n - 1].c.at;
		code = apply_until(&s, until);
	}
	if (!code)
		code = write_uncertainty(&s, until);
	if (!code)
		code = write_due(&s, until);
	*wrote = s.rows;
	return code;
}

int gt_memory_end(struct gt_memory *m, struct gt_memory_process *p, int64_t now, bool exited,
	gt_memory_track *track_of, void *arg, struct gt_err *err)
{
	struct flush s = { m, p, track_of, arg, 0, err };
	int code;

	sort_calls(p);
	code = apply_until(&s, INT64_MAX);
	if (!code)
		code = write_uncertainty(&s, now);
	if (!code)
		code = write_due(&s, INT64_MAX);
	for (size_t i = 0; !code && exited && i < p->ncounters; i++)
		if (p->counters[i].value)
			code = write_sample(&s, &p->counters[i], (struct sample){ now, 0 });
	return code;
}

/* ---- life ---- */

struct gt_memory *gt_memory_open(struct gt_writer *w)
{
	struct gt_memory *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->w = w;
	for (unsigned i = 0; i < GT_MEMKIND_COUNT; i++)
		m->types[i] = GT_NONE;
	return m;
}

void gt_memory_close(struct gt_memory *m) { free(m); }

void gt_memory_process_close(struct gt_memory_process *p)
{
	if (!p)
		return;
	gt_live_release(&p->live);
	free(p->queue);
	free(p->counters);
	free(p);
}
