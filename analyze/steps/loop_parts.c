/* The steps are summed up in blocks, by the medians of their durations and numbers of operations,
 * of SAMPLED steps each. The border with the fewest blocks on the wrong side divides them, then
 * each half again; and between the two blocks at the border the step with the fewest steps on the
 * wrong side. */
#include "analyze/steps/loop_parts.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS 64u
#define SAMPLED 32u
#define LEAST 3u  /* steps of a part */
#define SHARE 10u /* a part has this fraction of the steps at least */

enum figure { DURATION, OPERATIONS, FIGURES };

struct figures {
	uint64_t of[FIGURES];
};
struct division {
	size_t at;
	enum figure by;
	uint64_t before, behind; /* medians */
	size_t wrong;
};
struct search {
	const struct gt_step *steps;
	uint64_t *room; /* for one value of each step */
};

static uint64_t figure_of(const struct gt_step *step, enum figure by)
{
	return by == DURATION ? gt_step_ns(step) : step->ops;
}

static uint64_t median_of(const struct search *s, size_t from, size_t to, enum figure by)
{
	for (size_t i = from; i < to; i++)
		s->room[i - from] = figure_of(&s->steps[i], by);
	return gt_steps_median(s->room, to - from);
}

/* Of steps that are evenly distributed in the block. */
static uint64_t sampled_median(const struct search *s, size_t from, size_t to, enum figure by)
{
	size_t n = to - from < SAMPLED ? to - from : SAMPLED;

	for (size_t i = 0; i < n; i++)
		s->room[i] = figure_of(&s->steps[from + i * (to - from) / n], by);
	return gt_steps_median(s->room, n);
}

static uint64_t median_of_blocks(
	const struct search *s, const struct figures *blocks, size_t n, enum figure by)
{
	for (size_t i = 0; i < n; i++)
		s->room[i] = blocks[i].of[by];
	return gt_steps_median(s->room, n);
}

static bool differ(uint64_t a, uint64_t b)
{
	uint64_t less = a < b ? a : b, more = a < b ? b : a;

	return more - less > less / 4;
}

/* Is the value nearer to `other` than to `own`, by their ratio? */
static bool is_wrong(uint64_t value, uint64_t own, uint64_t other)
{
	unsigned __int128 square = (unsigned __int128)value * value,
			  border = (unsigned __int128)own * other;

	return own < other ? square > border : square < border;
}

/* Divides the n blocks by one figure between i - 1 and i, if this is better than *best. */
static void divide_at(const struct search *s, const struct figures *blocks, size_t n, size_t i,
	enum figure by, struct division *best)
{
	struct division d = { .at = i, .by = by };

	d.before = median_of_blocks(s, blocks, i, by);
	d.behind = median_of_blocks(s, blocks + i, n - i, by);
	if (!differ(d.before, d.behind))
		return;
	for (size_t k = 0; k < n; k++)
		d.wrong += k < i ? is_wrong(blocks[k].of[by], d.before, d.behind)
				 : is_wrong(blocks[k].of[by], d.behind, d.before);
	if (d.wrong * 10 <= n && (!best->at || d.wrong < best->wrong))
		*best = d;
}

/* The step in [from, to) at which the second part begins. */
static size_t first_step(const struct search *s, const struct division *d, size_t from, size_t to)
{
	size_t wrong = 0, least, best = from;

	for (size_t i = from; i < to; i++)
		wrong += is_wrong(figure_of(&s->steps[i], d->by), d->behind, d->before);
	least = wrong;
	for (size_t i = from; i < to; i++) {
		uint64_t value = figure_of(&s->steps[i], d->by);

		wrong -= is_wrong(value, d->behind, d->before);
		wrong += is_wrong(value, d->before, d->behind);
		if (wrong < least)
			least = wrong, best = i + 1;
	}
	return best;
}

/* The step at which [from, to) is divided; 0: it is one part. */
static size_t divide(const struct search *s, size_t from, size_t to)
{
	size_t steps = to - from, n = steps < BLOCKS ? steps : BLOCKS, at;
	struct figures blocks[BLOCKS];
	struct division best = { 0 };
	size_t least = n / SHARE > LEAST ? n / SHARE : LEAST;

	if (n < 2 * LEAST)
		return 0;
	for (size_t b = 0; b < n; b++)
		for (enum figure f = 0; f < FIGURES; f++)
			blocks[b].of[f] = sampled_median(
				s, from + b * steps / n, from + (b + 1) * steps / n, f);
	for (enum figure f = 0; f < FIGURES; f++)
		for (size_t i = least; i <= n - least; i++)
			divide_at(s, blocks, n, i, f, &best);
	if (!best.at)
		return 0;
	at = first_step(
		s, &best, from + (best.at - 1) * steps / n, from + (best.at + 1) * steps / n);
	return at - from < LEAST || to - at < LEAST ? 0 : at;
}

static void add(const struct search *s, struct gt_loop_parts *parts, size_t from, size_t to)
{
	struct gt_loop_part *p = &parts->list[parts->n++];

	*p = (struct gt_loop_part){ from, to - from, median_of(s, from, to, DURATION), 0 };
	for (size_t i = from; i < to; i++)
		p->ops += s->steps[i].ops;
}

int gt_loop_parts_find(struct gt_loop_parts *parts, const struct gt_step *steps, size_t from,
	size_t to, uint64_t median, struct gt_err *err)
{
	struct search s = { steps, NULL };
	size_t borders[GT_LOOP_PARTS_MOST + 1] = { from, 0, 0, 0, to };

	parts->n = 0;
	if (from >= to)
		return 0;
	s.room = calloc(to - from + BLOCKS, sizeof(*s.room));
	if (!s.room)
		return gt_err_set(err, -ENOMEM, "out of memory (parts of a loop)");
	borders[2] = divide(&s, from, to);
	if (!borders[2]) {
		parts->list[parts->n++] = (struct gt_loop_part){ from, to - from, median, 0 };
		borders[4] = 0;
	} else {
		borders[1] = divide(&s, from, borders[2]);
		borders[3] = divide(&s, borders[2], to);
	}
	for (size_t i = 1, begin = from; i <= GT_LOOP_PARTS_MOST; i++)
		if (borders[i]) {
			add(&s, parts, begin, borders[i]);
			begin = borders[i];
		}
	free(s.room);
	return 0;
}
