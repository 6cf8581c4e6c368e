/* Whether an allocation is repeated is known after all earlier ones; whether it is in a step is
 * known after all GPU operations. So memory is tracked a second time, with the steps known.
 * Programs without repeated allocations do not need it. */
#include "analyze/memory/step_churn.h"

#include <stdlib.h>
#include "analyze/memory/memory_tracker.h"
#include "analyze/steps/loops.h"
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"

struct churn {
	struct gt_memory_tracker tracker;
	struct gt_loops loops;
	uint64_t *before; /* by group: repeated allocations so far */
	size_t n, cap;
	struct gt_err *err;
};

static const struct gt_loop *loop_of(
	const struct churn *c, const struct gt_process_slots *where, uint32_t place)
{
	const struct gt_process_slot *p = &where->list[place];

	return gt_loop_of_process(&c->loops, p->seg, p->track);
}

static int changed(void *arg, int64_t at, const struct gt_memory_event *e, uint32_t place,
	uint32_t group, struct gt_err *err)
{
	struct churn *c = arg;
	struct gt_alloc_groups *g = &c->tracker.groups;
	const struct gt_loop *loop = loop_of(c, &c->tracker.where, place);
	int64_t called = at - (int64_t)e->ns; /* an allocation counts from its end */

	if (group >= g->n)
		return 0;
	if (gt_grow(&c->before, &c->cap, g->n, sizeof(*c->before)))
		return gt_err_set(err, -ENOMEM, "out of memory (repeated allocations)");
	while (c->n < g->n)
		c->before[c->n++] = 0;
	if (g->list[group].again > c->before[group] && loop && called >= loop->host[0] &&
		called < loop->host[loop->steps])
		g->list[group].in_steps++;
	c->before[group] = g->list[group].again;
	return 0;
}

static bool of_memory(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return type->layer != GT_LAYER_GPU && gt_api_is_memory(type->op);
}

static int on_run(void *arg, const struct gt_cols *cols, struct gt_err *err)
{
	return gt_memory_tracker_run(&((struct churn *)arg)->tracker, cols, err);
}

static int follow(struct churn *c, const struct gt_report_state *a, struct gt_err *err)
{
	struct gt_filter filter = a->opt->filter;
	int rc;

	c->tracker.changed = changed;
	c->tracker.arg = c;
	c->err = err;
	rc = gt_memory_tracker_init(&c->tracker, a->reader, true, err);
	filter.kinds = GT_BIT(GT_CALL) | GT_BIT(GT_INSTANT);
	filter.args = true;
	filter.match = of_memory;
	if (!rc)
		rc = gt_reread_trace(a->reader, &filter, GT_BY_TIME, on_run, c, err);
	return rc ? rc : gt_memory_tracker_finish(&c->tracker, err);
}

/* Copies the counts of the second reading into the groups of the first. */
static int copy(const struct churn *c, struct gt_alloc_groups *g,
	const struct gt_process_slots *where, struct gt_err *err)
{
	uint64_t beyond = g->beyond;

	for (size_t i = 0; i < c->tracker.groups.n; i++) {
		struct gt_alloc_group like = { .place = c->tracker.groups.list[i].place,
			.name = c->tracker.groups.list[i].name,
			.kind = c->tracker.groups.list[i].kind,
			.bytes = c->tracker.groups.list[i].bytes };
		int64_t at = gt_alloc_group(g, &like, err);

		if (at < 0)
			return (int)at;
		if ((size_t)at < g->n)
			g->list[at].in_steps = c->tracker.groups.list[i].in_steps;
	}
	g->beyond = beyond;
	for (size_t i = 0; i < g->n; i++) {
		const struct gt_loop *loop = loop_of(c, where, g->list[i].place);

		g->list[i].steps = loop ? loop->steps : 0;
	}
	return 0;
}

static bool has_steps(const struct gt_loops *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->list[i].steps)
			return true;
	return false;
}

int gt_churn_per_step(struct gt_alloc_groups *g, const struct gt_report_state *a,
	const struct gt_process_slots *where, struct gt_err *err)
{
	struct churn c = { .n = 0 };
	uint64_t again = 0;
	int rc = 0;

	for (size_t i = 0; i < g->n; i++)
		again += g->list[i].again;
	if (!again || a->opt->filter.match) /* --match leaves out allocations or frees */
		return 0;
	rc = gt_loops_find(&c.loops, a->reader, a->opt, err);
	if (!rc && has_steps(&c.loops))
		rc = follow(&c, a, err);
	if (!rc && has_steps(&c.loops))
		rc = copy(&c, g, where, err);
	gt_memory_tracker_release(&c.tracker);
	gt_loops_release(&c.loops);
	free(c.before);
	return rc;
}
