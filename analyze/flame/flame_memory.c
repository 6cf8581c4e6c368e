/* Flame graph of the memory that is live at the peak of its process, by the stack that allocated
 * it. */
#include "analyze/flame/stack_flame.h"
#include "analyze/memory/memory_tracker.h"
#include "analyze/stacks/by_stack.h"

struct flame_memory {
	struct gt_flame_sums sums;
	struct gt_memory_tracker tracker;
};

/* Without a stack, its place is below the process. */
static const char *last_frame(uint32_t last, char to[64]) { return NULL; }

static int init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct flame_memory *m = state;
	int rc = gt_memory_tracker_init(&m->tracker, r, true, err);

	m->tracker.by_stack = true;
	gt_flame_sums_init(&m->sums, r, opt);
	m->sums.last_frame = last_frame;
	return rc;
}

static int block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	return gt_memory_tracker_run(&((struct flame_memory *)state)->tracker, cols, err);
}

static int collect(struct flame_memory *m, struct gt_err *err)
{
	const struct gt_alloc_groups *g = &m->tracker.groups;
	int rc = 0;

	for (size_t i = 0; !rc && i < g->n; i++) {
		const struct gt_process_slot *p = &m->tracker.where.list[g->list[i].place];
		uint64_t bytes;

		if (__builtin_mul_overflow(
			    gt_alloc_group_at_peak(g, &g->list[i]), g->list[i].bytes, &bytes))
			bytes = UINT64_MAX;
		rc = gt_flame_sums_add(&m->sums,
			&(struct gt_flame_sum){ p->seg->index, p->track,
				g->list[i].stack ? g->list[i].stack - 1 : GT_NONE, 0, 0 },
			bytes, err);
	}
	return rc;
}

static int finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct flame_memory *m = state;
	struct gt_reader *r = m->sums.report.reader;
	const char *partial = gt_memory_why_partial(&m->sums.report), *why = gt_why_no_stacks(r);
	int rc = gt_memory_tracker_finish(&m->tracker, err);

	if (!why)
		why = partial ? partial : gt_memory_why_unknown(&m->tracker, r, partial);
	if (!rc && !why && !m->tracker.groups.n)
		why = "no allocations were recorded";
	if (!rc && !why)
		rc = collect(m, err);
	if (rc)
		return rc;
	tables[0] = why
		? gt_flame_unanswered(&m->sums, why, err)
		: gt_flame_sums_table(&m->sums,
			  "Live memory at the peak of its process by the stack that allocated, in bytes",
			  "memory at the peak", err);
	if (tables[0] && !why)
		gt_note_plural(tables[0], m->tracker.groups.beyond,
			"%llu {allocation|allocations} of groups beyond the first %u {is|are} missing",
			(unsigned long long)m->tracker.groups.beyond, GT_ALLOC_GROUPS_MAX);
	return tables[0] ? 1 : err->code;
}

static void release(void *state)
{
	struct flame_memory *m = state;

	gt_memory_tracker_release(&m->tracker);
	gt_flame_sums_release(&m->sums);
}

const struct gt_analysis gt_flame_memory = {
	.name = "flame-memory",
	.help = "live memory at the peak by the stack that allocated",
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_INSTANT),
	.wants_args = true,
	.order = GT_BY_TIME,
	.state_size = sizeof(struct flame_memory),
	.init = init,
	.block = block,
	.finish = finish,
	.release = release,
};
