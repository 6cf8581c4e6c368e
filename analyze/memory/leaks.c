#include "analyze/memory/leaks.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"

struct gt_leak {
	uint64_t live; /* since `at` */
	int64_t at;
	/* smallest number from the start of each part on; UINT64_MAX before it */
	uint64_t least[GT_LEAK_PARTS + 1];
	/* the last allocating call: end, duration */
	int64_t last, last_ns;
	uint32_t track;
};

/* ---- the window ---- */

/* The window of the GPUs, or the selected range if there are no GPU operations. */
static struct gt_gpu_window window_of(const struct gt_leaks *l, const struct gt_segment *seg)
{
	struct gt_gpu_window e = l->idle->windows[seg->index];
	struct gt_analysis_options whole;

	if (gt_gpu_window_ns(&e))
		return e;
	whole = *l->idle->report.opt;
	whole.whole = true;
	gt_gpu_window_open(&e, &whole, seg);
	return e;
}

static int64_t part_at(const struct gt_gpu_window *e, unsigned part)
{
	return e->from + (int64_t)((unsigned __int128)gt_gpu_window_ns(e) * part / GT_LEAK_PARTS);
}

/* ---- changes ---- */

/* Updates the minimum of each part that has begun: the number was live until `until`. */
static void update_minima(const struct gt_leaks *l, uint32_t group, int64_t until)
{
	const struct gt_segment *seg =
		l->tracker.where.list[l->tracker.groups.list[group].place].seg;
	const struct gt_gpu_window e = window_of(l, seg);
	struct gt_leak *one = &l->list[group];

	if (until <= one->at)
		return;
	for (unsigned p = 0; p <= GT_LEAK_PARTS && part_at(&e, p) < until; p++)
		one->least[p] = one->live < one->least[p] ? one->live : one->least[p];
}

static int changed(void *arg, int64_t at, const struct gt_memory_event *e, uint32_t place,
	uint32_t group, struct gt_err *err)
{
	struct gt_leaks *l = arg;
	struct gt_leak *one;
	uint64_t live;

	if (group >= l->tracker.groups.n)
		return 0;
	if (gt_grow(&l->list, &l->cap, l->tracker.groups.n, sizeof(*l->list)))
		return gt_err_set(err, -ENOMEM, "out of memory (live blocks)");
	for (; l->n < l->tracker.groups.n; l->n++) {
		l->list[l->n] = (struct gt_leak){ .at = INT64_MIN, .track = GT_NONE };
		memset(l->list[l->n].least, 0xff, sizeof(l->list[l->n].least));
	}
	one = &l->list[group];
	live = l->tracker.groups.list[group].live;
	update_minima(l, group, at);
	if (live > one->live) {
		one->last = at;
		one->last_ns = (int64_t)e->ns;
		one->track = e->track;
	}
	one->live = live;
	one->at = at > one->at ? at : one->at; /* it came too late */
	return 0;
}

/* ---- start and end ---- */

int gt_leaks_init(struct gt_leaks *l, const struct gt_idle *s, struct gt_err *err)
{
	l->idle = s;
	l->tracker.changed = changed;
	l->tracker.arg = l;
	return gt_memory_tracker_init(&l->tracker, s->report.reader, true, err);
}

bool gt_leaks_needs(const struct gt_type *type)
{
	return type->layer != GT_LAYER_GPU && gt_api_is_memory(type->op);
}

int gt_leaks_run(struct gt_leaks *l, const struct gt_cols *cols, struct gt_err *err)
{
	return gt_memory_tracker_run(&l->tracker, cols, err);
}

static void add_group(const struct gt_leaks *l, uint32_t i, struct gt_leaks_sum *to, uint64_t *most)
{
	const struct gt_alloc_group *g = &l->tracker.groups.list[i];
	const struct gt_leak *one = &l->list[i];
	uint64_t blocks = one->least[GT_LEAK_PARTS] - one->least[0], bytes;
	struct gt_gpu_window e;
	unsigned grew = 0;

	for (unsigned p = 0; p < GT_LEAK_PARTS; p++)
		grew += one->least[p + 1] > one->least[p];
	if (grew < GT_LEAK_GROWS || blocks < GT_LEAK_BLOCKS)
		return;
	if (__builtin_mul_overflow(blocks, g->bytes, &bytes))
		bytes = UINT64_MAX;
	to->groups++;
	to->blocks += blocks;
	to->bytes = gt_sat_add(to->bytes, bytes);
	if (to->most && bytes <= *most)
		return;
	*most = bytes;
	to->most = g;
	to->most_blocks = blocks;
	to->seg = l->tracker.where.list[g->place].seg;
	to->parts = grew;
	e = window_of(l, to->seg);
	to->window = gt_gpu_window_ns(&e);
	to->last = (struct gt_evidence){ to->seg, one->last - one->last_ns, one->last,
		l->idle->order.tracks[to->seg->index] + one->track, GT_NONE, GT_NONE };
}

int gt_leaks_finish(struct gt_leaks *l, struct gt_leaks_sum *to, struct gt_err *err)
{
	int rc = gt_memory_tracker_finish(&l->tracker, err);
	uint64_t most = 0;

	*to = (struct gt_leaks_sum){ .not_followed =
					     l->tracker.not_followed + l->tracker.groups.beyond };
	for (uint32_t i = 0; !rc && i < l->tracker.where.nsegs; i++) {
		const struct gt_account *all = &l->tracker.kinds[i][GT_MEMORY_ALL];

		to->allocs += all->allocs - all->failed;
		to->tracked += all->tracked < all->sized ? all->tracked : all->sized;
		to->lost += gt_reader_segment(l->idle->report.reader, i)->rows[GT_LOST];
	}
	for (size_t i = 0; !rc && i < l->n; i++) {
		update_minima(l, (uint32_t)i, INT64_MAX);
		add_group(l, (uint32_t)i, to, &most);
	}
	return rc;
}

void gt_leaks_release(struct gt_leaks *l)
{
	gt_memory_tracker_release(&l->tracker);
	free(l->list);
}
