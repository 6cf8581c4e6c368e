#include "analyze/steps/loops.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/columns/source_dedup.h"
#include "analyze/steps/steps.h"
#include "formats/base/sorted.h"

_Static_assert(GT_LOOPS_MOST == GT_STEPS_LANES, "a loop of each lane");

/* What decides whether steps found by repetition are steady: their operations, also those in
 * sequences that occur more than once, and their time, also in steps of usual duration. All but
 * `ops` are of the steps after the warm-up. */
struct regularity {
	uint64_t ops, after, alike;
	uint64_t ns, usual_ns;
};

static int measure(struct regularity *r, const struct gt_steps_lane *l, const struct gt_loop *loop,
	struct gt_err *err)
{
	uint32_t *count = calloc(l->sequences + 1ul, sizeof(*count));

	if (!count)
		return gt_err_set(err, -ENOMEM, "out of memory (steps)");
	for (size_t i = 0; i < l->n; i++)
		count[l->steps[i].sequence]++;
	for (size_t i = 0; i < l->n; i++) {
		const struct gt_step *step = &l->steps[i];
		uint64_t ns = gt_step_ns(step);

		r->ops += step->ops;
		if (i < loop->warm)
			continue;
		r->after += step->ops;
		r->alike += count[step->sequence] > 1 ? step->ops : 0;
		r->ns = gt_sat_add(r->ns, ns);
		r->usual_ns = gt_sat_add(r->usual_ns, ns / 2 <= loop->median ? ns : 0);
	}
	free(count);
	return 0;
}

/* Sets the reason if the steps are not steady. */
static int find_why_unsteady(
	const struct gt_steps_lane *l, struct gt_loop *loop, struct gt_err *err)
{
	struct regularity r = { 0 };
	int rc = measure(&r, l, loop, err);

	if (!l->n)
		loop->why = l->why ? l->why : "there are no steps";
	else if (l->n < GT_STEADY_LEAST)
		loop->why = "there are fewer than three steps";
	else if (l->n - loop->warm < GT_STEADY_LEAST)
		loop->why = "fewer than three steps follow the warm-up";
	else if (l->mark)
		return rc;
	else if (r.ops < l->ops / 2)
		loop->why = "most operations are outside of repeating sequences";
	else if (r.alike < r.after - r.after / 2)
		loop->why = "most operations are in sequences that occur only once";
	else if (r.alike / 4 < r.after / 5 && r.usual_ns < r.ns - r.ns / 2)
		loop->why = "the sequences of its steps differ, and so do their durations";
	return rc;
}

/* The median duration of the steps [from, to). */
static int find_median(
	const struct gt_steps_lane *l, size_t from, size_t to, uint64_t *median, struct gt_err *err)
{
	uint64_t *times = calloc(to - from + 1, sizeof(*times));

	if (!times)
		return gt_err_set(err, -ENOMEM, "out of memory (steps)");
	for (size_t i = from; i < to; i++)
		times[i - from] = gt_step_ns(&l->steps[i]);
	*median = to > from ? gt_steps_median(times, to - from) : 0;
	free(times);
	return 0;
}

/* The first step after the last long one of the first quarter: code is compiled there. */
static size_t behind_long_steps(const struct gt_steps_lane *l, uint64_t median)
{
	size_t first = l->warm;

	for (size_t i = l->warm; i < l->n / 4; i++)
		if (gt_step_ns(&l->steps[i]) / GT_STEADY_LONG > median)
			first = i + 1;
	return first;
}

static int add_loop(struct gt_loops *to, const struct gt_steps *s, const struct gt_steps_lane *l,
	struct gt_err *err)
{
	struct gt_loop *loop = &to->list[to->n++];
	size_t n = l->n + 1;
	int rc;

	*loop = (struct gt_loop){ .seg = l->seg,
		.process = l->process,
		.device = l->number - s->order.tracks[l->seg->index],
		.ops = l->ops,
		.first_op = l->first,
		.last_op = l->last_end,
		.steps = l->n,
		.limit = l->limit,
		.mark = l->mark };
	if (l->n) {
		loop->at = calloc(n, 2 * sizeof(*loop->at));
		if (!loop->at)
			return gt_err_set(err, -ENOMEM, "out of memory (steps)");
		loop->host = loop->at + n;
	}
	for (size_t i = 0; l->n && i < n; i++) {
		loop->at[i] = l->steps[i].at;
		loop->host[i] = l->steps[i].host;
	}
	rc = find_median(l, l->warm, l->n, &loop->median, err);
	loop->warm = behind_long_steps(l, loop->median);
	if (!rc)
		rc = find_median(l, loop->warm, l->n, &loop->median, err);
	if (!rc)
		rc = gt_loop_parts_find(
			&loop->parts, l->steps, loop->warm, l->n, loop->median, err);
	if (!rc)
		rc = find_why_unsteady(l, loop, err);
	loop->steady = !loop->why;
	return rc;
}

int gt_loops_of_steps(struct gt_loops *to, const struct gt_steps *s, struct gt_err *err)
{
	int rc = 0;

	*to = (struct gt_loops){ NULL };
	to->list = calloc(s->nlanes + 1ul, sizeof(*to->list));
	if (!to->list)
		return gt_err_set(err, -ENOMEM, "out of memory (steps)");
	to->crowded = s->crowded;
	to->left_out = s->lanes_left_out;
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
		rc = gt_loops_of_steps(l, &s, err);
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
