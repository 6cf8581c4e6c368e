#include "analyze/steps/loops.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/columns/source_dedup.h"
#include "analyze/steps/steps.h"
#include "formats/base/sorted.h"

/* Why the steps of a lane are not steady; NULL: they are. */
static const char *why_unsteady(const struct gt_steps_lane *l, uint64_t median)
{
	uint64_t usual = 0, all = 0;

	if (!l->n)
		return l->why ? l->why : "there are no steps";
	if (l->n < GT_STEADY_LEAST)
		return "there are fewer than three steps";
	if (l->n - l->warm < GT_STEADY_LEAST)
		return "fewer than three steps follow the warm-up";
	if (l->mark || l->alike_ops / 4 >= l->ops / 5)
		return NULL;
	for (size_t i = l->warm; i < l->n; i++) {
		uint64_t ns = gt_step_ns(&l->steps[i]);

		all = gt_sat_add(all, ns);
		usual = gt_sat_add(usual, ns / 2 <= median ? ns : 0);
	}
	if (l->alike_ops < l->ops - l->ops / 2)
		return "most operations are in sequences that occur only once";
	return usual < all - all / 2
		? "the sequences of its steps differ, and so do their durations"
		: NULL;
}

static int add_loop(struct gt_loops *to, const struct gt_steps *s, const struct gt_steps_lane *l,
	struct gt_err *err)
{
	struct gt_loop *loop = &to->list[to->n++];
	size_t n = l->n + 1;

	*loop = (struct gt_loop){ .seg = l->seg,
		.process = l->process,
		.device = l->number - s->order.tracks[l->seg->index],
		.ops = l->ops,
		.first_op = l->first,
		.last_op = l->last_end,
		.steps = l->n,
		.warm = l->warm,
		.mark = l->mark };
	if (l->n) {
		uint64_t *times = calloc(n, sizeof(*times));

		loop->at = calloc(n, 2 * sizeof(*loop->at));
		if (!times || !loop->at) {
			free(times);
			return gt_err_set(err, -ENOMEM, "out of memory (steps)");
		}
		loop->host = loop->at + n;
		for (size_t i = 0; i < n; i++) {
			loop->at[i] = l->steps[i].at;
			loop->host[i] = l->steps[i].host;
		}
		for (size_t i = l->warm; i < l->n; i++)
			times[i - l->warm] = gt_step_ns(&l->steps[i]);
		loop->median = l->n > l->warm ? gt_steps_median(times, l->n - l->warm) : 0;
		free(times);
	}
	loop->why = why_unsteady(l, loop->median);
	loop->steady = !loop->why;
	return 0;
}

static int add_all(struct gt_loops *to, const struct gt_steps *s, struct gt_err *err)
{
	int rc = 0;

	to->list = calloc(s->nlanes + 1ul, sizeof(*to->list));
	if (!to->list)
		return gt_err_set(err, -ENOMEM, "out of memory (steps)");
	for (uint32_t i = 0; !rc && i < s->nlanes; i++)
		rc = add_loop(to, s, &s->lanes[i], err);
	return rc;
}

int gt_loops_find(struct gt_loops *l, struct gt_reader *r, const struct gt_analysis_options *opt,
	struct gt_err *err)
{
	struct gt_analysis_options all = *opt;
	struct gt_steps s = { .gpu_only = true };
	struct gt_source_dedup *doubles = NULL;
	int rc = 0;

	*l = (struct gt_loops){ NULL };
	all.filter.match = NULL;
	all.filter.tid = 0;
	if (!all.filter.hide) {
		doubles = gt_source_dedup_new(r, err);
		if (!doubles)
			return err->code;
		gt_source_dedup_hide(doubles, &all.filter);
	}
	rc = gt_steps_read(&s, r, &all, err);
	if (!rc)
		rc = add_all(l, &s, err);
	gt_steps_release(&s);
	gt_source_dedup_free(doubles);
	return rc;
}

void gt_loops_release(struct gt_loops *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->list[i].at);
	free(l->list);
	*l = (struct gt_loops){ NULL };
}

const struct gt_loop *gt_loop_of_process(
	const struct gt_loops *l, const struct gt_segment *seg, uint32_t process)
{
	const struct gt_loop *best = NULL;

	for (size_t i = 0; i < l->n; i++) {
		const struct gt_loop *one = &l->list[i];

		if (one->seg == seg && one->process == process && one->steps &&
			(!best || one->ops > best->ops))
			best = one;
	}
	return best;
}

size_t gt_loop_step_at(const struct gt_loop *l, int64_t at)
{
	if (!l->steps || at < l->at[0] || at >= l->at[l->steps])
		return 0;
	return GT_LOWER_BOUND(k, 1, l->steps + 1, l->at[k] <= at);
}
