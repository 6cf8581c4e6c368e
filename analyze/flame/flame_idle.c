/* Flame graph of the idle time of GPUs: below each thread the stacks of its activity while GPUs
 * were idle because of it, as the report "host" has them. */
#include "analyze/flame/stack_flame.h"

#include <stdio.h>
#include "analyze/idle/host_lines.h"

/* what `last` is: a cause, or a doing behind the causes */
#define DOING 256u

static const char *last_frame(uint32_t last, char to[64])
{
	if (last == DOING + GT_DOES_PYTHON || last == DOING + GT_DOES_NATIVE)
		return NULL;
	snprintf(to, 64, "[%s]",
		last >= DOING ? gt_host_doing_words(last - DOING) : gt_idle_words(last));
	return to;
}

struct flame_idle {
	struct gt_flame_sums sums;
	struct gt_idle *idle;
};

static int init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct flame_idle *f = state;

	gt_flame_sums_init(&f->sums, r, opt);
	f->sums.last_frame = last_frame;
	f->idle = opt->engine;
	gt_idle_want_shares(f->idle, true);
	return 0;
}

/* The track in its segment of a number over all segments. */
static uint32_t track_of(const struct flame_idle *f, uint32_t segment, uint32_t thread)
{
	return thread == GT_NONE ? GT_NONE : thread - f->idle->order.tracks[segment];
}

static uint32_t last_of(const struct gt_host_share *share)
{
	switch (share->doing) {
	case GT_DOES_IN_CUDA:
	case GT_DOES_NOTHING:
	case GT_DOES_OFF_CPU: return share->cause;
	default: return DOING + share->doing;
	}
}

static int collect(struct flame_idle *f, struct gt_err *err)
{
	const struct gt_host_shares *h = &f->idle->shares;
	int rc = 0;

	for (size_t i = 0; !rc && i < h->list.n; i++) {
		const struct gt_host_share *share = gt_group_table_at(&h->list, i);
		struct gt_flame_sum key = { GT_NONE, GT_NONE, GT_NONE, GT_NONE, 0 };

		if (!gt_group_table_is_rest(&h->list, share))
			key = (struct gt_flame_sum){ share->segment,
				track_of(f, share->segment, share->thread), share->stack,
				last_of(share), 0 };
		rc = gt_flame_sums_add(&f->sums, &key, share->ns, err);
	}
	for (size_t i = 0; !rc && i < h->threads.n; i++) {
		const struct gt_idle_thread *t = gt_group_table_at(&h->threads, i);

		rc = gt_flame_sums_add(&f->sums,
			&(struct gt_flame_sum){ t->segment, track_of(f, t->segment, t->thread),
				GT_NONE, DOING + GT_DOES_OUTSIDE, 0 },
			t->unknown, err);
	}
	return rc;
}

static int finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct flame_idle *f = state;
	const char *why = gt_host_why_unanswered(f->idle);

	if (!why && collect(f, err))
		return err->code;
	tables[0] = why ? gt_flame_unanswered(&f->sums, why, err)
			: gt_flame_sums_table(&f->sums,
				  "Idle time of GPUs by what the host did, in ns", "GPU idle", err);
	if (tables[0] && !why)
		gt_host_note_samples(f->idle, tables[0]);
	return tables[0] ? 1 : err->code;
}

static void release(void *state) { gt_flame_sums_release(&((struct flame_idle *)state)->sums); }

const struct gt_analysis gt_flame_idle = {
	.name = "flame-idle",
	.help = "idle time of GPUs by what the host did",
	.wants = GT_IDLE_WANTS,
	.engine = &gt_idle_engine,
	.order = GT_BY_TIME,
	.state_size = sizeof(struct flame_idle),
	.init = init,
	.finish = finish,
	.release = release,
};
