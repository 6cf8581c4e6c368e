#include "analyze/idle/host_lines.h"

#include <stdio.h>
#include "formats/names/stack_names.h"

struct lines {
	struct gt_caller_sums *to;
	const struct gt_idle *idle;
	const struct gt_host_shares *shares;
	unsigned by;
	uint32_t doings;
	size_t first, end, first_thread, end_thread; /* shares and threads of the group */
};

static bool is_selected(const struct lines *l, const struct gt_host_share *share)
{
	return !l->doings || (l->doings & GT_BIT(share->doing) && share->cause != GT_HOST_ALL);
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
static void label_of(char label[160], const struct lines *l, const struct gt_host_share *share)
{
	if (gt_group_table_is_rest(&l->shares->list, share))
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

static enum gt_stack_side side_of(const struct gt_host_share *share)
{
	return share->cause == GT_HOST_ALL ? GT_HOST_TIME : GT_HOST_IDLE;
}

static int collect_stacks(struct lines *l, struct gt_err *err)
{
	struct gt_reader *r = l->idle->report.reader;
	struct gt_stack_sums sums;
	int rc = 0;

	gt_stack_sums_init(&sums);
	for (size_t i = l->first; !rc && i < l->end; i++) {
		const struct gt_host_share *share = gt_group_table_at(&l->shares->list, i);

		if (has_stack(l, share) && is_selected(l, share))
			rc = gt_stack_sums_add_figures(&sums, gt_reader_segment(r, share->segment),
				share->stack, side_of(share),
				&(struct gt_stack_figures){
					.count = share->samples, .total = share->ns },
				err);
	}
	if (!rc)
		rc = gt_caller_sums_collect(l->to, &sums, r, l->by, err);
	gt_stack_sums_release(&sums);
	return rc;
}

/* Shares without a stack. */
static int collect_others(struct lines *l, struct gt_err *err)
{
	char label[160];
	int rc = 0;

	for (size_t i = l->first; !rc && i < l->end; i++) {
		const struct gt_host_share *share = gt_group_table_at(&l->shares->list, i);

		if (has_stack(l, share) || !is_selected(l, share))
			continue;
		label_of(label, l, share);
		rc = gt_caller_sums_add(l->to, label, side_of(share),
			&(struct gt_stack_figures){ .count = share->samples, .total = share->ns },
			err);
	}
	return rc;
}

static int collect_unknown(struct lines *l, struct gt_err *err)
{
	char label[160];
	int rc = 0;

	for (size_t i = l->first_thread; !rc && i < l->end_thread; i++) {
		const struct gt_idle_thread *t = gt_group_table_at(&l->shares->threads, i);

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
	struct lines l = { .to = to,
		.idle = s,
		.shares = h,
		.by = by,
		.doings = of->doings,
		.first = gt_host_shares_first(h, of->group),
		.end = gt_host_shares_first(h, of->group + 1),
		.first_thread = gt_host_shares_first_thread(h, of->group),
		.end_thread = gt_host_shares_first_thread(h, of->group + 1) };
	int rc;

	if (!h->group_of) { /* one group, and the share of what is beyond the limit */
		l.end = h->list.n;
		l.end_thread = h->threads.n;
	}
	rc = collect_stacks(&l, err);
	if (!rc)
		rc = collect_others(&l, err);
	if (!rc && (!of->doings || of->doings & GT_BIT(GT_DOES_OUTSIDE)))
		rc = collect_unknown(&l, err);
	return rc;
}

/* ---- what is known ---- */

const char *gt_host_why_unanswered(const struct gt_idle *s)
{
	struct gt_reader *r = s->report.reader;
	const char *cannot = gt_idle_why_unanswered(s);

	if (cannot || gt_has_samples(r) || gt_has_stacks(r))
		return cannot;
	return gt_is_imported(r) ? "the file has neither samples nor call stacks"
				 : "no samples were recorded (gtcollect -e samples)";
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
}
