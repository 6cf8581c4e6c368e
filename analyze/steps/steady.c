#include "analyze/steps/steady.h"

#include <stdlib.h>
#include "formats/base/sorted.h"

size_t gt_steady_steps(const struct gt_steady *s, const struct gt_loop *l, size_t *first)
{
	struct gt_range in = s->ranges[l->seg->index];
	size_t to;

	*first = GT_LOWER_BOUND(i, l->warm, l->steps, l->at[i] < in.from);
	to = GT_LOWER_BOUND(i, *first, l->steps, l->at[i + 1] <= in.to);
	return to - *first;
}

size_t gt_steady_all_steps(const struct gt_steady *s)
{
	size_t n = 0, first;

	for (size_t i = 0; s->ranges && i < s->loops.n; i++)
		if (s->loops.list[i].steady)
			n += gt_steady_steps(s, &s->loops.list[i], &first);
	return n;
}

static struct gt_range steady_range(const struct gt_loop *l)
{
	return (struct gt_range){ l->at[l->warm], l->at[l->steps] };
}

static uint64_t length(struct gt_range r)
{
	return r.to > r.from ? (uint64_t)r.to - (uint64_t)r.from : 0;
}

/* The common part of two ranges. */
static struct gt_range both(struct gt_range a, struct gt_range b)
{
	return (struct gt_range){ a.from > b.from ? a.from : b.from, a.to < b.to ? a.to : b.to };
}

/* The steady loop with the most operations of the recordings of this clock. NULL: none. */
static const struct gt_loop *main_loop(const struct gt_steady *s, const struct gt_segment *clock)
{
	const struct gt_loop *best = NULL;

	for (size_t i = 0; i < s->loops.n; i++) {
		const struct gt_loop *one = &s->loops.list[i];

		if (one->steady && (!clock || gt_same_clock(one->seg, clock)) &&
			(!best || one->ops > best->ops))
			best = one;
	}
	return best;
}

/* Makes the range begin and end with steps of the main loop. */
static struct gt_range whole_steps(const struct gt_loop *l, struct gt_range in)
{
	size_t from = GT_LOWER_BOUND(i, l->warm, l->steps, l->at[i] < in.from),
	       to = GT_LOWER_BOUND(i, from, l->steps, l->at[i + 1] <= in.to);

	return (struct gt_range){ l->at[from], l->at[to] };
}

/* The range of all recordings of this clock; empty: none of them has steady steps. */
static struct gt_range range_of_clock(struct gt_steady *s, const struct gt_segment *clock)
{
	const struct gt_loop *most = main_loop(s, clock);
	struct gt_range r = { 0, 0 };

	if (!most)
		return r;
	r = steady_range(most);
	for (size_t i = 0; i < s->loops.n; i++) {
		const struct gt_loop *one = &s->loops.list[i];
		struct gt_range common;

		if (!one->steady || !gt_same_clock(one->seg, clock))
			continue;
		common = both(steady_range(most), steady_range(one));
		if (length(common) >= length(steady_range(most)) / 2)
			r = both(r, common);
		else if (one->seg == clock) {
			s->loops_elsewhere++;
			s->ops_elsewhere += one->ops;
		}
	}
	return whole_steps(most, r);
}

static bool has_loop(const struct gt_steady *s, const struct gt_segment *seg)
{
	for (size_t i = 0; i < s->loops.n; i++)
		if (s->loops.list[i].seg == seg)
			return true;
	return false;
}

static void find_ranges(struct gt_steady *s, const struct gt_reader *r)
{
	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);

		s->ranges[i] = range_of_clock(s, seg);
		if (length(s->ranges[i]))
			continue;
		if (has_loop(s, seg))
			s->why = "one of the recordings has no steady steps";
		s->ranges[i] = (struct gt_range){ INT64_MIN, INT64_MAX };
	}
}

int gt_steady_find(struct gt_steady *s, struct gt_reader *r, const struct gt_analysis_options *opt,
	struct gt_err *err)
{
	int rc;

	*s = (struct gt_steady){ .filter = opt->filter };
	rc = gt_loops_find(&s->loops, r, opt, err);
	if (rc)
		return rc;
	s->main = main_loop(s, NULL);
	if (!s->main) {
		s->why = s->loops.n        ? s->loops.list[0].why
			: s->loops.crowded ? "the GPUs ran too many different operations"
					   : "there are no GPU operations";
		return 0;
	}
	s->ranges = calloc(gt_reader_segments(r) + 1ul, sizeof(*s->ranges));
	if (!s->ranges)
		return gt_err_set(err, -ENOMEM, "out of memory (steady steps)");
	find_ranges(s, r);
	s->steps = gt_steady_steps(s, s->main, &s->first);
	if (!s->why && s->ops_elsewhere > s->main->ops)
		s->why = "its loops run at different times, and none of them has most operations";
	if (!s->why && s->steps < GT_STEADY_LEAST)
		s->why = "the GPUs share fewer than three steady steps";
	if (s->why) {
		free(s->ranges);
		s->ranges = NULL;
	}
	return 0;
}

void gt_steady_release(struct gt_steady *s)
{
	gt_loops_release(&s->loops);
	free(s->ranges);
	s->ranges = NULL;
}

const struct gt_loop *gt_steady_loop(
	const struct gt_steady *s, const struct gt_segment *seg, uint32_t device)
{
	for (size_t i = 0; i < s->loops.n; i++)
		if (s->loops.list[i].seg == seg && s->loops.list[i].device == device)
			return &s->loops.list[i];
	return NULL;
}
