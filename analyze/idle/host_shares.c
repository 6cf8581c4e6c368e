#include "analyze/idle/host_shares.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "analyze/idle/idle.h"
#include "analyze/stacks/stack_kinds.h"
#include "analyze/stats/sample_error.h"
#include "formats/base/numbers.h"
#include "formats/base/sorted.h"

#define X(e, key, words) key,
static const char *const keys[] = { GT_HOST_DOINGS(X) };
#undef X
#define X(e, key, words) words,
static const char *const words[] = { GT_HOST_DOINGS(X) };
#undef X

const char *gt_host_doing_key(unsigned doing)
{
	return keys[doing < GT_HOST_DOING_COUNT ? doing : GT_DOES_NOTHING];
}
const char *gt_host_doing_words(unsigned doing)
{
	return words[doing < GT_HOST_DOING_COUNT ? doing : GT_DOES_NOTHING];
}

/* ---- causes ---- */

static const uint8_t doings[GT_IDLE_CAUSE_COUNT] = {
	[GT_IDLE_CALL] = GT_DOES_IN_CUDA,
	[GT_IDLE_SYNC] = GT_DOES_IN_CUDA,
	[GT_IDLE_IOCTL] = GT_DOES_IN_CUDA,
	[GT_IDLE_MEMORY] = GT_DOES_IN_CUDA,
	[GT_IDLE_MODULE] = GT_DOES_IN_CUDA,
	[GT_IDLE_PAGEABLE] = GT_DOES_IN_CUDA,
	[GT_IDLE_FULL] = GT_DOES_IN_CUDA,
	[GT_IDLE_OUTSIDE] = GT_DOES_RUNNING,
	[GT_IDLE_STARTING] = GT_DOES_NOTHING,
	[GT_IDLE_OFF_CPU] = GT_DOES_OFF_CPU,
	[GT_IDLE_RUNNABLE] = GT_DOES_RUNNABLE,
	[GT_IDLE_LOCK] = GT_DOES_LOCK,
	[GT_IDLE_GIL] = GT_DOES_GIL,
	[GT_IDLE_IO] = GT_DOES_IO,
	[GT_IDLE_PIPE] = GT_DOES_PIPE,
	[GT_IDLE_SOCKET] = GT_DOES_SOCKET,
	[GT_IDLE_ASLEEP] = GT_DOES_ASLEEP,
	[GT_IDLE_FAULT] = GT_DOES_FAULT,
	[GT_IDLE_QUEUED] = GT_DOES_NOTHING,
	[GT_IDLE_WAITING] = GT_DOES_NOTHING,
	[GT_IDLE_MIGRATION] = GT_DOES_NOTHING,
	[GT_IDLE_OVERHEAD] = GT_DOES_NOTHING,
	[GT_IDLE_START] = GT_DOES_NOTHING,
	[GT_IDLE_SHORT] = GT_DOES_NOTHING,
	[GT_IDLE_END] = GT_DOES_NOTHING,
	[GT_IDLE_UNJOINED] = GT_DOES_NOTHING,
	[GT_IDLE_UNSEEN] = GT_DOES_NOTHING,
	[GT_IDLE_LOST] = GT_DOES_NOTHING,
	[GT_IDLE_TOO_MUCH] = GT_DOES_NOTHING,
};

static unsigned doing_of(const struct gt_host_share *share, struct gt_reader *r)
{
	const struct gt_segment *seg =
		share->segment == GT_NONE ? NULL : gt_reader_segment(r, share->segment);
	unsigned doing = share->cause < GT_IDLE_CAUSE_COUNT ? doings[share->cause]
		: share->cause == GT_HOST_ALL               ? GT_DOES_RUNNING
							    : GT_DOES_FURTHER;

	if (!seg || share->stack == GT_NONE || doing != GT_DOES_RUNNING)
		return doing;
	switch (gt_stack_runs(seg, share->stack)) {
	case GT_RUNS_PYTHON: return GT_DOES_PYTHON;
	case GT_RUNS_NATIVE: return GT_DOES_NATIVE;
	default: return GT_DOES_RUNNING;
	}
}

/* ---- sums ---- */

void gt_host_shares_init(struct gt_host_shares *h)
{
	gt_group_table_init(&h->list, sizeof(struct gt_host_share),
		offsetof(struct gt_host_share, stack) + sizeof(uint32_t), GT_HOST_SHARES_MOST);
	gt_group_table_init(&h->processor, h->list.size, h->list.key, GT_HOST_SHARES_MOST);
	gt_group_table_init(&h->threads, sizeof(struct gt_idle_thread),
		offsetof(struct gt_idle_thread, thread) + sizeof(uint32_t), GT_HOST_SHARES_MOST);
	gt_group_table_init(&h->gil_holders, sizeof(struct gt_gil_holder),
		offsetof(struct gt_gil_holder, tid) + sizeof(uint32_t), GT_HOST_SHARES_MOST);
	h->last_share = h->last_processor = h->last_thread = GT_GROUP_TABLE_NONE;
}

void gt_host_shares_release(struct gt_host_shares *h)
{
	gt_group_table_release(&h->list);
	gt_group_table_release(&h->processor);
	gt_group_table_release(&h->threads);
	gt_group_table_release(&h->gil_holders);
}

void gt_host_shares_reset(struct gt_host_shares *h)
{
	gt_host_shares_release(h);
	gt_host_shares_init(h);
	h->sum = (struct gt_outside){ 0 };
	h->left_out = 0;
}

static uint32_t group_of(
	const struct gt_host_shares *h, const struct gt_idle_slice *at, int64_t *until)
{
	return h->group_of ? h->group_of(h->arg, at, until) : 0;
}

/* Mostly it is the same as the last time. */
static void *find_item(
	struct gt_group_table *g, uint32_t *last, const void *key, struct gt_err *err)
{
	if (*last == GT_GROUP_TABLE_NONE || memcmp(gt_group_table_at(g, *last), key, g->key))
		*last = gt_group_table_find(g, key, err);
	return *last == GT_GROUP_TABLE_NONE ? NULL : gt_group_table_at(g, *last);
}

static struct gt_host_share *find_share(
	struct gt_host_shares *h, const struct gt_host_share *key, struct gt_err *err)
{
	return find_item(&h->list, &h->last_share, key, err);
}

static struct gt_idle_thread *find_thread(
	struct gt_host_shares *h, const struct gt_host_share *of, struct gt_err *err)
{
	const struct gt_idle_thread key = {
		.group = of->group, .segment = of->segment, .thread = of->thread
	};

	return find_item(&h->threads, &h->last_thread, &key, err);
}

int gt_host_shares_add_sample(struct gt_host_shares *h, const struct gt_segment *seg,
	uint32_t thread, const struct gt_idle_stack *sample, struct gt_err *err)
{
	const struct gt_idle_slice at = { .seg = seg,
		.device = GT_NONE,
		.thread = thread,
		.from = sample->at,
		.to = sample->at };
	int64_t until = INT64_MAX;
	const struct gt_host_share key = { .group = group_of(h, &at, &until),
		.segment = seg->index,
		.thread = thread,
		.cause = GT_HOST_ALL,
		.stack = h->by_thread ? GT_NONE : sample->stack };
	struct gt_host_share *share = find_item(&h->processor, &h->last_processor, &key, err);

	if (!share)
		return err->code;
	share->samples++;
	share->weight += sample->ns;
	return 0;
}

static int add_outside(struct gt_host_shares *h, const struct gt_idle_slice *slice, uint32_t group,
	const struct gt_host_activity *activity, struct gt_err *err)
{
	const struct gt_host_stacks *l = activity ? &activity->samples : NULL;
	struct gt_host_share key = { .group = group,
		.segment = slice->seg->index,
		.thread = slice->thread,
		.cause = GT_IDLE_OUTSIDE };
	struct gt_idle_thread *t = find_thread(h, &key, err);

	if (!t)
		return err->code;
	t->outside = gt_sat_add(t->outside, (uint64_t)(slice->to - slice->from));
	for (size_t i = l ? gt_host_first_stack(l, slice->from) : 0;
		l && i < l->n && l->list[i].at < slice->to; i++) {
		const struct gt_idle_stack *one = &l->list[i];
		struct gt_host_share *share;

		key.stack = one->stack;
		share = find_share(h, &key, err);
		if (!share)
			return err->code;
		share->samples++;
		share->weight += one->ns;
		t->samples++;
		t->weight += one->ns;
		if (gt_group_table_is_rest(&h->list, share))
			t->further_weight += one->ns;
	}
	return 0;
}

/* The stack of the call or wait in which the thread was. */
static uint32_t stack_of(const struct gt_idle_slice *slice, struct gt_host_activity *activity)
{
	bool wait = doings[slice->cause] != GT_DOES_IN_CUDA;
	uint32_t stack = gt_host_stack_of(activity, wait, slice->call);

	return slice->cause == GT_IDLE_IOCTL && stack == GT_NONE
		? gt_host_stack_of(activity, false, gt_host_call_around(activity, slice->call))
		: stack;
}

static int add_holder(struct gt_host_shares *h, const struct gt_idle_slice *slice,
	const struct gt_host_activity *activity, struct gt_err *err)
{
	const struct gt_gil_holder key = { .segment = slice->seg->index,
		.tid = activity ? gt_host_holder_of(activity, slice->call) : 0 };
	uint32_t i = gt_group_table_find(&h->gil_holders, &key, err);
	struct gt_gil_holder *holder;

	if (i == GT_GROUP_TABLE_NONE)
		return err->code;
	holder = gt_group_table_at(&h->gil_holders, i);
	holder->ns = gt_sat_add(holder->ns, (uint64_t)(slice->to - slice->from));
	return 0;
}

static int add_to_group(struct gt_host_shares *h, const struct gt_idle_slice *slice, uint32_t group,
	struct gt_host_activity *activity, struct gt_err *err)
{
	unsigned doing = doings[slice->cause];
	bool host = doing != GT_DOES_NOTHING;
	struct gt_host_share key = { .group = group,
		.segment = slice->seg->index,
		.thread = host ? slice->thread : GT_NONE,
		.cause = slice->cause };
	struct gt_host_share *share;

	if (doing == GT_DOES_RUNNING)
		return add_outside(h, slice, group, activity, err);
	if (!h->all && (!host || doing == GT_DOES_IN_CUDA))
		return 0;
	key.stack = host && activity ? stack_of(slice, activity) : GT_NONE;
	share = find_share(h, &key, err);
	if (!share)
		return err->code;
	share->ns = gt_sat_add(share->ns, (uint64_t)(slice->to - slice->from));
	return slice->cause == GT_IDLE_GIL ? add_holder(h, slice, activity, err) : 0;
}

/* ---- the GIL ---- */

static const char *name_of_thread(struct gt_reader *r, const struct gt_gil_holder *of)
{
	const struct gt_segment *seg =
		of->segment == GT_NONE ? NULL : gt_reader_segment(r, of->segment);

	for (uint32_t i = 0; seg && i < seg->ntracks; i++) {
		const struct gt_track *t = &seg->tracks[i];

		if (t->kind == GT_TRACK_THREAD && (uint64_t)t->id == of->tid && t->name != GT_NONE)
			return gt_str(seg, t->name);
	}
	return "";
}

void gt_host_put_gil_holder(const struct gt_host_shares *h, struct gt_reader *r, const char *before,
	char *text, size_t size)
{
	const struct gt_gil_holder *most = NULL;
	size_t n = strlen(text);
	const char *name;
	uint64_t all = 0;

	for (size_t i = 0; i < h->gil_holders.n; i++) {
		const struct gt_gil_holder *one = gt_group_table_at(&h->gil_holders, i);

		all = gt_sat_add(all, one->ns);
		most = one->tid && (!most || one->ns > most->ns) ? one : most;
	}
	if (!most || most->ns < all / 2 || gt_group_table_is_rest(&h->gil_holders, most))
		return;
	name = name_of_thread(r, most);
	snprintf(text + n, size - n, "%sheld by thread %u%s%.40s%s in %.0f %% of it", before,
		most->tid, *name ? " (" : "", name, *name ? ")" : "",
		100.0 * (double)most->ns / (double)all);
}

int gt_host_shares_add_slice(struct gt_host_shares *h, const struct gt_idle_slice *slice,
	struct gt_host_activity *activity, struct gt_err *err)
{
	struct gt_idle_slice part = *slice;
	int rc = 0;

	for (; !rc && part.from < slice->to; part.from = part.to) {
		uint32_t group;

		part.to = slice->to;
		group = group_of(h, &part, &part.to);
		rc = add_to_group(h, &part, group, activity, err);
	}
	return rc;
}

/* ---- the end ---- */

/* Rounds the sum of the shares so far, so that they add up to the whole. */
static uint64_t share_of_samples(struct gt_idle_thread *t, uint64_t weight, bool states)
{
	uint64_t sum, ns = weight;

	t->given_weight += weight;
	if (states || t->weight > t->outside) {
		sum = t->weight
			? (uint64_t)((unsigned __int128)t->outside * t->given_weight / t->weight)
			: 0;
		ns = sum - t->given;
	}
	t->given += ns;
	return ns;
}

static int divide(
	struct gt_host_shares *h, struct gt_host_share *share, bool states, struct gt_err *err)
{
	struct gt_idle_thread *t;

	if (share->cause != GT_IDLE_OUTSIDE)
		return 0;
	t = find_thread(h, share, err);
	if (!t)
		return err->code;
	share->ns = share_of_samples(t, share->weight, states);
	return 0;
}

/* All structs begin with the key, whose first member is the group. */
static int by_first_member(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return GT_COMPARE(*a, *b);
}

static void add_thread(struct gt_outside *to, const struct gt_idle_thread *t)
{
	to->outside = gt_sat_add(to->outside, t->outside);
	to->unknown = gt_sat_add(to->unknown, t->unknown);
	to->samples += t->samples;
}

static int divide_all(
	struct gt_host_shares *h, struct gt_reader *r, bool states, struct gt_err *err)
{
	struct gt_host_share *rest = NULL;

	for (size_t i = 0; i < h->list.n; i++) {
		struct gt_host_share *share = gt_group_table_at(&h->list, i);

		share->doing = (uint8_t)doing_of(share, r);
		if (gt_group_table_is_rest(&h->list, share))
			rest = share;
		else if (divide(h, share, states, err))
			return err->code;
	}
	for (size_t i = 0; rest && i < h->threads.n; i++) {
		struct gt_idle_thread *t = gt_group_table_at(&h->threads, i);

		rest->ns = gt_sat_add(rest->ns, share_of_samples(t, t->further_weight, states));
	}
	return 0;
}

int gt_host_shares_finish(
	struct gt_host_shares *h, struct gt_reader *r, bool states, struct gt_err *err)
{
	if (divide_all(h, r, states, err))
		return err->code;
	for (size_t i = 0; i < h->processor.n; i++) {
		struct gt_host_share *share = gt_group_table_at(&h->processor, i);

		share->doing = (uint8_t)doing_of(share, r);
		share->ns = share->weight;
	}
	for (size_t i = 0; i < h->threads.n; i++) {
		struct gt_idle_thread *t = gt_group_table_at(&h->threads, i);

		t->unknown = t->outside - t->given;
		add_thread(&h->sum, t);
	}
	if (h->group_of) {
		gt_group_table_sort(&h->list, by_first_member);
		gt_group_table_sort(&h->processor, by_first_member);
		gt_group_table_sort(&h->threads, by_first_member);
	}
	return 0;
}

static uint32_t group_at(const struct gt_group_table *g, size_t i)
{
	return *(const uint32_t *)gt_group_table_at(g, i);
}

size_t gt_host_group_first(const struct gt_group_table *g, uint32_t group)
{
	return GT_LOWER_BOUND(i, 0, g->n, group_at(g, i) < group);
}

/* It is the last one, also in the order of groups. */
const struct gt_host_share *gt_host_shares_rest(const struct gt_group_table *g)
{
	return g->n > g->most ? gt_group_table_at(g, g->n - 1) : NULL;
}

struct gt_outside gt_host_shares_outside(const struct gt_host_shares *h, uint32_t group)
{
	struct gt_outside sum = { 0 };

	for (size_t i = gt_host_group_first(&h->threads, group);
		i < h->threads.n && group_at(&h->threads, i) == group; i++)
		add_thread(&sum, gt_group_table_at(&h->threads, i));
	return sum;
}

uint64_t gt_outside_error(const struct gt_outside *o, uint64_t samples)
{
	double outside = (double)o->outside, known = outside - (double)o->unknown;
	/* time that is not known could have had samples, too */
	double n = known > 0 ? (double)o->samples * outside / known : 0;

	return n > 0 ? (uint64_t)(outside * gt_sample_error((double)samples, n)) : 0;
}
