#include "analyze/steps/step_shares.h"

#include "formats/base/sorted.h"

enum gt_step_class gt_step_class(const struct gt_loop *l, size_t step)
{
	if (step < l->warm)
		return GT_STEP_WARM_UP;
	return l->limit > 0 && (double)(l->at[step + 1] - l->at[step]) > l->limit ? GT_STEP_SLOW
										  : GT_STEP_USUAL;
}

bool gt_step_is_selected(const struct gt_step_shares *s, const struct gt_loop *l, size_t step)
{
	struct gt_range in = gt_range_of(&s->idle->report.opt->filter, l->seg);

	return l->at[step] >= in.from && l->at[step + 1] <= in.to;
}

/* Is it the loop of this GPU, or of the same GPU as another process sees it? */
static bool is_on_device(
	const struct gt_step_shares *s, const struct gt_loop *l, const struct gt_idle_slice *at)
{
	uint32_t number = s->idle->order.tracks[l->seg->index] + l->device;

	return at->device == GT_NONE || s->idle->device_of[number] == at->device;
}

/* Of the loops on the GPU that of the thread's process, else the first one. */
static uint32_t find_loop(const struct gt_step_shares *s, const struct gt_idle_slice *at)
{
	uint32_t process = GT_NONE, found = UINT32_MAX,
		 first = s->idle->order.tracks[at->seg->index];

	if (at->thread != GT_NONE)
		process = gt_track_process(at->seg, at->thread - first);
	for (size_t i = 0; i < s->loops->n; i++) {
		const struct gt_loop *l = &s->loops->list[i];

		if (!l->steps || l->seg != at->seg || !is_on_device(s, l, at))
			continue;
		if (process != GT_NONE && l->process == process)
			return (uint32_t)i;
		if (found == UINT32_MAX && at->device != GT_NONE)
			found = (uint32_t)i;
	}
	return found;
}

static uint32_t group_of(void *arg, const struct gt_idle_slice *at, int64_t *until)
{
	struct gt_step_shares *s = arg;
	const struct gt_loop *l;
	size_t step;

	if (s->last.device != at->device || s->last.thread != at->thread) {
		s->last.loop = find_loop(s, at);
		s->last.device = at->device;
		s->last.thread = at->thread;
	}
	if (s->last.loop == UINT32_MAX)
		return GT_STEP_OUTSIDE;
	l = &s->loops->list[s->last.loop];
	if (at->from < l->at[0]) {
		*until = l->at[0] < *until ? l->at[0] : *until;
		return GT_STEP_OUTSIDE;
	}
	step = gt_loop_step_at(l, at->from);
	if (!step)
		return GT_STEP_OUTSIDE;
	*until = l->at[step] < *until ? l->at[step] : *until;
	if (!gt_step_is_selected(s, l, step - 1))
		return GT_STEP_OUTSIDE;
	return s->first[s->last.loop] +
		(uint32_t)(s->by_class ? (size_t)gt_step_class(l, step - 1) : step - 1);
}

void gt_step_shares_init(
	struct gt_step_shares *s, struct gt_idle *idle, const struct gt_loops *loops, bool by_class)
{
	*s = (struct gt_step_shares){ .loops = loops, .idle = idle, .by_class = by_class };
	s->last.device = s->last.thread = GT_NONE - 1;
	for (size_t i = 0; i < loops->n; i++)
		s->first[i + 1] = s->first[i] +
			(uint32_t)(by_class ? (size_t)GT_STEP_CLASSES : loops->list[i].steps);
	gt_host_shares_init(&s->shares);
	s->shares.group_of = group_of;
	s->shares.arg = s;
	s->shares.by_thread = true;
	gt_idle_add_grouped(idle, &s->shares);
}

void gt_step_shares_release(struct gt_step_shares *s) { gt_host_shares_release(&s->shares); }
