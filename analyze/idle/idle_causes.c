/* The causes of a gap. The activity of the launching thread (host_activity.h) divides the gap into
 * slices. Where GPU records were lost the cause is unknown: the GPU may have worked. Sums are per
 * cause and, for some causes, per type (which call, which ioctl). */
#include <stdlib.h>
#include <string.h>
#include "analyze/idle/idle_internal.h"
#include "formats/base/sorted.h"
#include "formats/base/buf.h"
#include "formats/trace/write/sched_rows.h"

#define X(e, key, words) key,
static const char *const keys[] = { GT_IDLE_CAUSES(X) };
#undef X
#define X(e, key, words) words,
static const char *const words[] = { GT_IDLE_CAUSES(X) };
#undef X

const char *gt_idle_key(unsigned cause)
{
	return keys[cause < GT_IDLE_CAUSE_COUNT ? cause : GT_IDLE_LOST];
}
const char *gt_idle_words(unsigned cause)
{
	return words[cause < GT_IDLE_CAUSE_COUNT ? cause : GT_IDLE_LOST];
}

static unsigned sched_state(const struct gt_segment *seg, const struct gt_type *type)
{
	return gt_sched_state_of(type, gt_str(seg, type->name));
}

/* A thread that waits for a processor does not execute its call. A thread that is blocked in a call
 * does what the call is for. */
static unsigned sched_level(const struct gt_segment *seg, const struct gt_type *type)
{
	unsigned state = sched_state(seg, type);

	return state == GT_SCHED_RUNNABLE || state == GT_SCHED_PREEMPTED ? GT_HOST_RUNNABLE
									 : GT_HOST_OFF_CPU;
}

unsigned gt_idle_level(const struct gt_segment *seg, const struct gt_type *type, enum gt_kind kind)
{
	bool call = kind == GT_CALL || kind == GT_OPEN;

	switch (type->layer) {
	case GT_LAYER_API: return call ? GT_HOST_CALL : GT_HOST_LEVELS;
	case GT_LAYER_IOCTL: return call ? GT_HOST_IOCTL : GT_HOST_LEVELS;
	case GT_LAYER_RUNTIME: return call || kind == GT_SPAN ? GT_HOST_RUNTIME : GT_HOST_LEVELS;
	case GT_LAYER_SCHED:
		return call || kind == GT_SPAN ? sched_level(seg, type) : GT_HOST_LEVELS;
	case GT_LAYER_OVERHEAD: return kind == GT_SPAN ? GT_HOST_OVERHEAD : GT_HOST_LEVELS;
	default: return GT_HOST_LEVELS;
	}
}

/* ---- sums ---- */

static struct gt_idle_sum *find_sum(struct gt_idle *s, uint32_t cause, uint32_t type)
{
	const struct gt_idle_sum new = { .cause = cause, .type = type };
	const size_t key = offsetof(struct gt_idle_sum, ns);
	uint32_t i = gt_map_find_item(&s->sums_map, s->sums, sizeof(new), &new, key);

	if (i == UINT32_MAX)
		i = gt_map_add_item(
			&s->sums_map, &s->sums, &s->nsums, &s->sums_cap, sizeof(new), &new, key);
	if (i == UINT32_MAX)
		return NULL;
	s->last_sum[cause] = i;
	return &s->sums[i];
}

/* The sum of a part: mostly that of the last part of this cause. */
static inline struct gt_idle_sum *sum_of(struct gt_idle *s, uint32_t cause, uint32_t type)
{
	struct gt_idle_sum *last = &s->sums[s->last_sum[cause]];

	return s->nsums && last->cause == cause && last->type == type ? last
								      : find_sum(s, cause, type);
}

static int report_slice(struct gt_idle *s, uint32_t cause, uint32_t type, int64_t from, int64_t to,
	struct gt_err *err)
{
	struct gt_idle_slice one = { s->cut_device->seg, s->cut_device->number, s->cut_thread,
		cause, type, from, to, s->cut_in, s->cut_device->gaps, s->cut_inner,
		s->cut_unsure };

	for (const struct gt_idle_listener *l = s->listeners; l < s->listeners + s->nlisteners; l++)
		if (l->slice)
			l->slice(l->arg, &one);
	if (s->shares.wanted &&
		gt_host_shares_add_slice(&s->shares, &one, s->cut_thread_activity, err))
		return err->code;
	for (unsigned k = 0; k < s->ngrouped; k++)
		if (gt_host_shares_add_slice(s->grouped[k], &one, s->cut_thread_activity, err))
			return err->code;
	return 0;
}

/* Adds time to a part of the current gap. A gap has few parts. */
static int add_part_ns(
	struct gt_idle *s, uint32_t cause, uint32_t type, int64_t ns, struct gt_err *err)
{
	struct gt_idle_part *p = s->parts, *end = s->parts + s->nparts;

	while (p < end && (p->cause != cause || p->type != type))
		p++;
	if (p == end) {
		if (s->nparts == s->parts_cap &&
			gt_grow(&s->parts, &s->parts_cap, s->nparts + 1, sizeof(*s->parts)))
			return gt_err_set(err, -ENOMEM, "out of memory (gap)");
		p = &s->parts[s->nparts++];
		*p = (struct gt_idle_part){ cause, type, 0 };
	}
	p->ns += ns;
	return 0;
}

/* Adds a slice to the current gap. Its time in which managed memory migrates has that cause. */
static int add_part(struct gt_idle *s, uint32_t cause, uint32_t type, int64_t from, int64_t to,
	struct gt_err *err)
{
	const struct gt_migrations *m = s->migrations[s->cut_device->number];
	int64_t migrating = cause == GT_IDLE_SHORT ? 0 : (int64_t)gt_migrations_ns(m, from, to);
	int rc = report_slice(s, cause, type, from, to, err);

	if (!rc && migrating)
		rc = add_part_ns(s, GT_IDLE_MIGRATION, type, migrating, err);
	return rc || migrating == to - from
		? rc
		: add_part_ns(s, cause, type, to - from - migrating, err);
}

static bool loss_affects(
	const struct gt_idle *s, const struct gt_idle_loss *l, const struct gt_idle_device *d)
{
	uint32_t first = s->order.tracks[d->seg->index];

	if (l->scope == GT_SCOPE_ALL || l->track == GT_NONE)
		return true;
	return s->device_of[l->track] == d->number || l->track == first + d->track ||
		(l->scope == GT_SCOPE_PROCESS &&
			(d->shared ||
				gt_process_slot_of(&s->places, d->seg, l->track - first) ==
					d->process));
}

static int by_start(const void *pa, const void *pb)
{
	const struct gt_idle_loss *a = pa, *b = pb;

	return GT_COMPARE(a->from, b->from);
}

static void sort_losses(struct gt_idle *s)
{
	GT_SORT(s->losses, s->nlosses, by_start);
	for (size_t i = 0; i < s->nlosses; i++)
		s->losses[i].until = i && s->losses[i - 1].until > s->losses[i].to
			? s->losses[i - 1].until
			: s->losses[i].to;
	s->losses_sorted = true;
}

/* The first loss that may end after `at`. */
static size_t first_loss(struct gt_idle *s, int64_t at)
{
	if (s->nlosses && !s->losses_sorted)
		sort_losses(s);
	return GT_LOWER_BOUND(i, 0, s->nlosses, s->losses[i].until <= at);
}

/* Adds [from, to) with this cause, except where records were lost. */
static int add_slice_with_losses(struct gt_idle *s, uint32_t cause, uint32_t type, int64_t from,
	int64_t to, struct gt_err *err)
{
	int rc = 0;

	for (size_t i = first_loss(s, from);
		!rc && i < s->nlosses && from < to && s->losses[i].from < to; i++) {
		const struct gt_idle_loss *l = &s->losses[i];
		int64_t until = l->to < to ? l->to : to;

		if (l->to <= from || !loss_affects(s, l, s->cut_device))
			continue;
		if (l->from > from)
			rc = add_part(s, cause, type, from, l->from, err);
		s->cut_unsure = true;
		if (!rc)
			rc = add_part(s, GT_IDLE_LOST, GT_NONE, l->from > from ? l->from : from,
				until, err);
		s->cut_unsure = false;
		from = until;
	}
	return rc || from >= to ? rc : add_part(s, cause, type, from, to, err);
}

static int add_slice(struct gt_idle *s, uint32_t cause, uint32_t type, int64_t from, int64_t to,
	struct gt_err *err)
{
	return s->nlosses ? add_slice_with_losses(s, cause, type, from, to, err)
			  : add_part(s, cause, type, from, to, err);
}

/* ---- slices ---- */

static uint32_t cause_of_call(
	const struct gt_idle *s, const struct gt_host_interval *call, const struct gt_type *type)
{
	if (s->cut_thread_activity->ncopies &&
		gt_host_copy_start(s->cut_thread_activity, call->start) <= s->cut_to)
		return GT_IDLE_PAGEABLE;
	if (type->op == GT_OP_SYNC || type->category == GT_CAT_SYNC)
		return GT_IDLE_SYNC;
	if (type->category == GT_CAT_MODULE)
		return GT_IDLE_MODULE;
	if (type->op == GT_OP_ALLOC || type->op == GT_OP_FREE ||
		(type->category == GT_CAT_MEMORY && type->op != GT_OP_SET &&
			type->op != GT_OP_COPY))
		return GT_IDLE_MEMORY;
	return GT_IDLE_CALL;
}

/* The cause of time off the processor, and the type that its sum is kept by: none if the state has
 * no name. */
static uint32_t cause_off_cpu(
	const struct gt_segment *seg, const struct gt_type *type, uint32_t *of)
{
	static const uint8_t causes[GT_SCHED_STATE_COUNT + 1] = {
		[GT_SCHED_FUTEX] = GT_IDLE_LOCK,
		[GT_SCHED_GIL] = GT_IDLE_GIL,
		[GT_SCHED_IO] = GT_IDLE_IO,
		[GT_SCHED_PIPE] = GT_IDLE_PIPE,
		[GT_SCHED_SOCKET] = GT_IDLE_SOCKET,
		[GT_SCHED_POLL] = GT_IDLE_IO,
		[GT_SCHED_SLEEP] = GT_IDLE_ASLEEP,
		[GT_SCHED_FAULT] = GT_IDLE_FAULT,
		[GT_SCHED_CHILD] = GT_IDLE_OFF_CPU,
		[GT_SCHED_OTHER] = GT_IDLE_OFF_CPU,
		[GT_SCHED_RUNNABLE] = GT_IDLE_RUNNABLE,
		[GT_SCHED_PREEMPTED] = GT_IDLE_RUNNABLE,
		[GT_SCHED_STATE_COUNT] = GT_IDLE_OFF_CPU,
	};
	unsigned state = sched_state(seg, type);

	*of = state == GT_SCHED_STATE_COUNT ? GT_NONE : *of;
	return causes[state];
}

/* Adds the part of a gap in a call, with stalls by a full queue. The call that launched the
 * operation that ends the gap has none: the operations in its queue would have to begin first. */
static int in_call(struct gt_idle *s, const struct gt_host_interval *h, const struct gt_type *type,
	int64_t from, int64_t to, struct gt_err *err)
{
	bool launches = type->op == GT_OP_LAUNCH || type->op == GT_OP_GRAPH_LAUNCH ||
		type->op == GT_OP_COPY || type->op == GT_OP_SET;
	struct gt_stall t;
	int rc = 0;

	if (launches && h->start != s->cut_call)
		rc = gt_stalls_note_call(&s->full, s->cut_thread, h->start, err);
	while (!rc && from < to && s->full.known &&
		gt_stalls_find(&s->full, s->cut_thread, from, to, &t)) {
		if (t.from > from)
			rc = add_slice(s, GT_IDLE_CALL, gt_host_type(h), from, t.from, err);
		if (!rc)
			rc = add_slice(s, GT_IDLE_FULL, gt_host_type(h), t.from, t.to, err);
		from = t.to;
	}
	return rc || from >= to ? rc : add_slice(s, GT_IDLE_CALL, gt_host_type(h), from, to, err);
}

static int slice(void *arg, enum gt_host_level level, const struct gt_host_interval *h,
	int64_t from, int64_t to, struct gt_err *err)
{
	struct gt_idle *s = arg;
	const struct gt_segment *seg = s->cut_device->seg;
	uint32_t cause = GT_IDLE_OUTSIDE, type = h ? gt_host_type(h) : GT_NONE;

	s->cut_in = h ? h->start : from;
	switch (level) {
	case GT_HOST_OVERHEAD: cause = GT_IDLE_OVERHEAD; break;
	case GT_HOST_IOCTL: cause = GT_IDLE_IOCTL; break;
	case GT_HOST_CALL:
	case GT_HOST_RUNTIME:
		cause = cause_of_call(s, h, &seg->types[type - s->order.types[seg->index]]);
		if (cause == GT_IDLE_CALL && !s->cut_starting)
			return in_call(s, h, &seg->types[type - s->order.types[seg->index]], from,
				to, err);
		break;
	case GT_HOST_RUNNABLE:
	case GT_HOST_OFF_CPU:
		cause = cause_off_cpu(seg, &seg->types[type - s->order.types[seg->index]], &type);
		break;
	case GT_HOST_LOST: cause = GT_IDLE_LOST, type = GT_NONE; break;
	case GT_HOST_TOO_MUCH: cause = GT_IDLE_TOO_MUCH, type = GT_NONE; break;
	case GT_HOST_NOTHING: cause = s->calls ? GT_IDLE_OUTSIDE : GT_IDLE_UNSEEN; break;
	}
	if (s->cut_starting && cause != GT_IDLE_OVERHEAD && cause < GT_IDLE_UNJOINED)
		cause = GT_IDLE_STARTING;
	return add_slice(s, cause, type, from, to, err);
}

static int cut(struct gt_idle *s, int64_t from, int64_t to, const struct gt_idle_op *next,
	struct gt_err *err)
{
	int64_t until;
	int rc = 0;

	if (!next)
		return add_slice(s, GT_IDLE_END, GT_NONE, from, to, err);
	if (s->cut_device->gap_before == GT_NONE && !s->cut_device->first)
		return add_slice(s, GT_IDLE_START, GT_NONE, from, to, err);
	if (!next->joined)
		return add_slice(s, GT_IDLE_UNJOINED, GT_NONE, from, to, err);
	until = next->returned < from ? from : next->returned < to ? next->returned : to;
	if (from < until) {
		struct gt_host_activity *l =
			next->thread == GT_NONE ? NULL : s->lines[next->thread];

		s->cut_thread_activity = l;
		rc = l ? gt_host_split_range(l, from, until, slice, s, err)
		       : slice(s, GT_HOST_NOTHING, NULL, from, until, err);
	}
	if (!rc && until < to)
		rc = add_slice(s, next->waited_for_event ? GT_IDLE_WAITING : GT_IDLE_QUEUED,
			GT_NONE, until, to, err);
	return rc;
}

/* ---- gaps ---- */

static bool is_more_significant(const struct gt_idle_part *a, const struct gt_idle_part *b)
{
	if (a->ns != b->ns)
		return a->ns > b->ns;
	return a->cause != b->cause ? a->cause < b->cause : a->type < b->type;
}

static int add_parts(struct gt_idle *s, struct gt_idle_device *d, struct gt_err *err)
{
	for (const struct gt_idle_part *p = s->parts; p < s->parts + s->nparts; p++) {
		struct gt_idle_sum *sum = sum_of(s, p->cause, p->type);

		if (!sum)
			return gt_err_set(err, -ENOMEM, "out of memory (causes)");
		sum->ns = gt_sat_add(sum->ns, (uint64_t)p->ns);
		sum->gaps++;
		sum->longest = p->ns > sum->longest ? p->ns : sum->longest;
		d->cause[p->cause] = gt_sat_add(d->cause[p->cause], (uint64_t)p->ns);
	}
	return 0;
}

static int report_gap(struct gt_idle *s, const struct gt_idle_device *d, int64_t from, int64_t to,
	const struct gt_idle_op *next, struct gt_err *err)
{
	struct gt_idle_gap gap = {
		.device = d->number, .seg = d->seg, .before = d->gap_before, .from = from, .to = to
	};
	const struct gt_idle_part *most = &s->parts[0];

	gap.next = next
		? *next
		: (struct gt_idle_op){ .start = INT64_MAX, .type = GT_NONE, .thread = GT_NONE };
	for (const struct gt_idle_part *p = s->parts; p < s->parts + s->nparts; p++)
		most = is_more_significant(p, most) ? p : most;
	gap.cause = (enum gt_idle_cause)most->cause;
	gap.type = most->type;
	gap.slice = most->ns;
	for (unsigned k = 0; k < s->nlisteners; k++)
		if (s->listeners[k].gap && s->listeners[k].gap(s->listeners[k].arg, &gap, err))
			return err->code;
	return 0;
}

int gt_idle_close_gap(struct gt_idle *s, struct gt_idle_device *d, int64_t from, int64_t to,
	const struct gt_idle_op *next, struct gt_err *err)
{
	int rc;

	from = from < s->window->from ? s->window->from : from;
	to = to > s->window->to ? s->window->to : to;
	if (from >= to)
		return 0;
	d->idle = gt_sat_add(d->idle, (uint64_t)(to - from));
	d->gaps++;
	if (to - from > d->gap.to - d->gap.from)
		d->gap = (struct gt_idle_time){ from, to };
	s->nparts = 0;
	s->cut_device = d;
	s->cut_to = next ? next->start : to;
	s->cut_thread = next ? next->thread : GT_NONE;
	s->cut_call = next ? next->launched : INT64_MAX;
	s->cut_inner = next && d->gap_before != GT_NONE;
	s->cut_starting = s->cut_inner && next->first;
	if (next && to - from < s->min_ns)
		rc = add_part(s, GT_IDLE_SHORT, GT_NONE, from, to, err);
	else
		rc = cut(s, from, to, next, err);
	if (!rc)
		rc = add_parts(s, d, err);
	return rc || !s->has_gap_listener ? rc : report_gap(s, d, from, to, next, err);
}
