#include "analyze/idle/host_lines.h"

#include <stdio.h>
#include "formats/names/stack_names.h"

struct lines {
	struct gt_caller_sums *to;
	const struct gt_idle *idle;
	const struct gt_host_shares *shares;
	unsigned by;
	uint32_t doings;
	uint32_t group;
};

/* The shares of one table, or its threads, that are of the group. */
struct items {
	const struct gt_group_table *of;
	enum gt_stack_side side; /* of shares */
	size_t at, end;
};

static struct items items_of(
	const struct lines *l, const struct gt_group_table *g, enum gt_stack_side side)
{
	if (!l->shares->group_of) /* one group, and the share of all beyond the limit */
		return (struct items){ g, side, 0, g->n };
	return (struct items){ g, side, gt_host_group_first(g, l->group),
		gt_host_group_first(g, l->group + 1) };
}

static const void *next_item(struct items *i)
{
	return i->at < i->end ? gt_group_table_at(i->of, i->at++) : NULL;
}

static bool is_selected(const struct lines *l, const struct gt_host_share *share)
{
	return !l->doings || l->doings & GT_BIT(share->doing);
}

/* "main (TID 100)" */
static void thread_label(
	char label[160], const struct gt_idle *s, uint32_t segment, uint32_t thread)
{
	const struct gt_segment *seg = gt_reader_segment(s->report.reader, segment);
	const struct gt_track *t = &seg->tracks[thread - s->order.tracks[segment]];

	if (t->name != GT_NONE)
		snprintf(label, 160, "%.100s (TID %lld)", gt_str(seg, t->name), (long long)t->id);
	else
		snprintf(label, 160, "TID %lld", (long long)t->id);
}

/* The name of a share that has no stack, or whose stack does not matter. */
static void label_of(char label[160], const struct lines *l, const struct gt_group_table *table,
	const struct gt_host_share *share)
{
	if (gt_group_table_is_rest(table, share))
		snprintf(label, 160, "(further stacks)");
	else if (l->by == GT_HOST_BY_THREAD && share->thread != GT_NONE)
		thread_label(label, l->idle, share->segment, share->thread);
	else
		snprintf(label, 160, "(%s)",
			share->doing == GT_DOES_RUNNING ? gt_host_doing_words(share->doing)
							: gt_idle_words(share->cause));
}

static bool has_stack(const struct lines *l, const struct gt_host_share *share)
{
	return l->by != GT_HOST_BY_THREAD && share->stack != GT_NONE;
}

static int add_stacks(
	const struct lines *l, struct gt_stack_sums *sums, struct items items, struct gt_err *err)
{
	const struct gt_host_share *share;
	int rc = 0;

	while (!rc && (share = next_item(&items)))
		if (has_stack(l, share) && is_selected(l, share))
			rc = gt_stack_sums_add_figures(sums,
				gt_reader_segment(l->idle->report.reader, share->segment),
				share->stack, items.side,
				&(struct gt_stack_figures){
					.count = share->samples, .total = share->ns },
				err);
	return rc;
}

static int collect_stacks(struct lines *l, struct gt_err *err)
{
	struct gt_reader *r = l->idle->report.reader;
	struct gt_stack_sums sums;
	int rc;

	gt_stack_sums_init(&sums);
	rc = add_stacks(l, &sums, items_of(l, &l->shares->list, GT_HOST_IDLE), err);
	if (!rc && !l->doings)
		rc = add_stacks(l, &sums, items_of(l, &l->shares->processor, GT_HOST_TIME), err);
	if (!rc)
		rc = gt_caller_sums_collect(l->to, &sums, r, l->by, err);
	gt_stack_sums_release(&sums);
	return rc;
}

/* Shares without a stack. */
static int collect_others(struct lines *l, struct items items, struct gt_err *err)
{
	const struct gt_host_share *share;
	char label[160];
	int rc = 0;

	while (!rc && (share = next_item(&items))) {
		if (has_stack(l, share) || !is_selected(l, share))
			continue;
		label_of(label, l, items.of, share);
		rc = gt_caller_sums_add(l->to, label, items.side,
			&(struct gt_stack_figures){ .count = share->samples, .total = share->ns },
			err);
	}
	return rc;
}

static int collect_unknown(struct lines *l, struct gt_err *err)
{
	struct items items = items_of(l, &l->shares->threads, GT_HOST_IDLE);
	const struct gt_idle_thread *t;
	char label[160];
	int rc = 0;

	while (!rc && (t = next_item(&items))) {
		if (!t->unknown)
			continue;
		snprintf(label, sizeof(label), "(%s)", gt_host_doing_words(GT_DOES_OUTSIDE));
		if (l->by == GT_HOST_BY_THREAD && t->thread != GT_NONE)
			thread_label(label, l->idle, t->segment, t->thread);
		rc = gt_caller_sums_add(l->to, label, GT_HOST_IDLE,
			&(struct gt_stack_figures){ .total = t->unknown }, err);
	}
	return rc;
}

int gt_host_lines_collect(struct gt_caller_sums *to, const struct gt_idle *s, unsigned by,
	const struct gt_host_selection *of, struct gt_err *err)
{
	const struct gt_host_shares *h = of->shares ? of->shares : &s->shares;
	struct lines l = {
		.to = to, .idle = s, .shares = h, .by = by, .doings = of->doings, .group = of->group
	};
	int rc = collect_stacks(&l, err);

	if (!rc)
		rc = collect_others(&l, items_of(&l, &h->list, GT_HOST_IDLE), err);
	if (!rc && !of->doings)
		rc = collect_others(&l, items_of(&l, &h->processor, GT_HOST_TIME), err);
	if (!rc && (!of->doings || of->doings & GT_BIT(GT_DOES_OUTSIDE)))
		rc = collect_unknown(&l, err);
	return rc;
}

/* ---- notes ---- */

const char *gt_host_why_unanswered(const struct gt_idle *s)
{
	struct gt_reader *r = s->report.reader;
	const char *cannot = gt_idle_why_unanswered(s);

	if (cannot || gt_has_samples(r) || gt_has_stacks(r))
		return cannot;
	return gt_is_imported(r) ? "the file has neither samples nor call stacks"
				 : "no samples were recorded (gtcollect -e samples)";
}

static void note_limit(const struct gt_host_shares *h, struct gt_table *t)
{
	const struct gt_host_share *idle = gt_host_shares_rest(&h->list),
				   *all = gt_host_shares_rest(&h->processor);

	if (idle || all)
		gt_table_note(t,
			"in the row (further stacks): %s of idle time and %s of host time, as more than %u pairs of thread and stack were found",
			gt_scaled(GT_C_NS, gt_clamp(idle ? idle->ns : 0)).text,
			gt_scaled(GT_C_NS, gt_clamp(all ? all->ns : 0)).text, GT_HOST_SHARES_MOST);
}

void gt_host_note_samples(const struct gt_idle *s, struct gt_table *t)
{
	struct gt_reader *r = s->report.reader;

	if (gt_has_samples(r))
		gt_table_note(t,
			"code outside CUDA: by %llu samples in gaps (Error %%: half of the 95 %% interval); %s",
			(unsigned long long)s->shares.sum.samples,
			gt_has_thread_states(r)
				? "waits and CUDA calls are exact"
				: "CUDA calls are exact; waits need gtcollect -e sched");
	else
		gt_table_note(t, "code outside CUDA by line: gtcollect -e samples");
	note_limit(&s->shares, t);
}
