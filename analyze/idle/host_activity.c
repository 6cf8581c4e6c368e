#include "analyze/idle/host_activity.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/sorted.h"
#include "formats/base/buf.h"

#define LONGEST ((int64_t)1 << GT_HOST_NS_BITS) /* ns: an interval is shorter */
/* copies of pageable memory of one thread in memory */
#define COPIES 65536u

/* The first interval that ends after `at`. It is near the one before, so the search goes from there
 * in steps of doubled length, then by bisection. */
static size_t first_behind(struct gt_host_list *l, int64_t at)
{
	size_t low = l->hint < l->n ? l->hint : l->n, high = low, step = 1;

	while (low && gt_host_end(&l->list[low - 1]) > at) {
		high = low - 1;
		low = high > step ? high - step : 0;
		step *= 2;
	}
	while (high < l->n && gt_host_end(&l->list[high]) <= at) {
		low = high + 1;
		high = l->n - low > step ? low + step : l->n;
		step *= 2;
	}
	return l->hint = GT_LOWER_BOUND(i, low, high, gt_host_end(&l->list[i]) <= at);
}

static int push(struct gt_host_list *to, int64_t start, int64_t end, uint32_t type,
	size_t *nintervals, struct gt_err *err)
{
	while (start < end) {
		int64_t ns = end - start < LONGEST ? end - start : LONGEST - 1;

		if (gt_grow(&to->list, &to->cap, to->n + 1, sizeof(*to->list)))
			return gt_err_set(err, -ENOMEM, "out of memory (activity of threads)");
		to->list[to->n++] = gt_host_interval(start, ns, type % GT_HOST_TYPES);
		++*nintervals;
		start += ns;
	}
	return 0;
}

/* Extends the one interval that stands for all intervals beyond GT_HOST_MOST. */
static int too_much(
	struct gt_host_list *l, int64_t start, int64_t end, size_t *nintervals, struct gt_err *err)
{
	int64_t known = l->n ? gt_host_end(&l->list[l->n - 1]) : start;
	struct gt_host_interval *last = l->n ? &l->list[l->n - 1] : NULL;

	if (end <= known)
		return 0;
	if (!last || end - last->start >= LONGEST)
		return push(l, last ? known : start, end, 0, nintervals, err);
	*last = gt_host_interval(last->start, end - last->start, gt_host_type(last));
	return 0;
}

/* Adds an interval that does not begin before the last one, unless that is nested in it. */
static int append(struct gt_host_activity *l, enum gt_host_level level, int64_t start, int64_t end,
	uint32_t type, size_t *nintervals, struct gt_err *err)
{
	struct gt_host_list *to = &l->level[level];

	if (*nintervals >= GT_HOST_MOST)
		return too_much(&l->level[GT_HOST_TOO_MUCH], start, end, nintervals, err);
	/* merges intervals nested in this one */
	while (to->n && to->list[to->n - 1].start >= start &&
		gt_host_end(&to->list[to->n - 1]) <= end)
		to->n--, --*nintervals;
	if (to->n && gt_host_end(&to->list[to->n - 1]) > start)
		start = gt_host_end(&to->list[to->n - 1]);
	return push(to, start, end, type, nintervals, err);
}

/* Adds rows from *from on that are not nested, not very long and not too many. A branch on the
 * level would be mispredicted, so each row is written, and counted only if it has the level.
 * Returns the new length of the list; *from stops at the first other row. */
static inline __attribute__((always_inline)) size_t add_usual(struct gt_host_interval *list,
	size_t n, const struct gt_host_run *run, enum gt_host_level level, bool all, size_t most,
	uint32_t *from)
{
	const int64_t *restrict start = run->start, *restrict dur = run->dur;
	const uint16_t *restrict codes = run->code;
	const uint8_t *restrict levels = run->levels;
	const uint32_t *restrict types = run->types;
	int64_t end = n ? gt_host_end(&list[n - 1]) : INT64_MIN;
	size_t i = *from, rows = run->n - i < most - n ? run->n : i + (most - n);

	for (; i < rows; i++) {
		uint32_t code = codes ? codes[i] : 0;
		int64_t at = start[i], ns = dur[i];
		bool has = (all || levels[code] == level) && ns;

		if (__builtin_expect((all || has) && (at < end || ns >= LONGEST), 0))
			break;
		list[n] = gt_host_interval(at, ns, types[code]);
		n += has;
		end = all || has ? at + ns : end;
	}
	*from = (uint32_t)i;
	return n;
}

/* Adds the rows [i, n) of a run; none of them begins before the last interval. */
static int append_rows(struct gt_host_activity *l, const struct gt_host_run *run, uint32_t i,
	uint32_t n, enum gt_host_level level, size_t *nintervals, struct gt_err *err)
{
	const struct gt_host_run rows = { run->start, run->dur, run->code, n, run->levels, run->all,
		run->types };
	struct gt_host_list *to = &l->level[level];
	int rc = 0;

	while (!rc && i < n) {
		size_t had = to->n,
		       room = *nintervals < GT_HOST_MOST ? GT_HOST_MOST - *nintervals : 0;
		uint32_t code;

		if (gt_grow(&to->list, &to->cap, to->n + (n - i) + 1ul, sizeof(*to->list)))
			return gt_err_set(err, -ENOMEM, "out of memory (activity of threads)");
		to->n = run->all
			? add_usual(to->list, to->n, &rows, level, true, to->n + room, &i)
			: add_usual(to->list, to->n, &rows, level, false, to->n + room, &i);
		*nintervals += to->n - had;
		if (i == n)
			break;
		code = run->code ? run->code[i] : 0;
		if (run->levels[code] == level && run->dur[i]) /* nested, very long, or too many */
			rc = append(l, level, run->start[i], run->start[i] + run->dur[i],
				run->types[code], nintervals, err);
		i++;
	}
	return rc;
}

/* Adds rows before and between the later intervals `tail`. */
static int merge_rows(struct gt_host_activity *l, const struct gt_host_run *run,
	enum gt_host_level level, const struct gt_host_interval *tail, size_t ntail,
	size_t *nintervals, struct gt_err *err)
{
	uint32_t i = 0;
	int rc = 0;

	for (size_t k = 0; !rc && k < ntail; k++) {
		uint32_t before =
			(uint32_t)GT_LOWER_BOUND(r, i, run->n, run->start[r] < tail[k].start);

		rc = append_rows(l, run, i, before, level, nintervals, err);
		i = before;
		if (!rc)
			rc = append(l, level, tail[k].start, gt_host_end(&tail[k]),
				gt_host_type(&tail[k]), nintervals, err);
	}
	return rc ? rc : append_rows(l, run, i, run->n, level, nintervals, err);
}

int gt_host_add_run(struct gt_host_activity *l, const struct gt_host_run *run,
	enum gt_host_level level, size_t *nintervals, struct gt_err *err)
{
	struct gt_host_list *to = &l->level[level];
	size_t first = to->n, ntail;
	struct gt_host_interval *tail;
	int rc;

	while (first && run->n && to->list[first - 1].start > run->start[0])
		first--;
	ntail = to->n - first;
	if (!ntail)
		return append_rows(l, run, 0, run->n, level, nintervals, err);
	tail = malloc(ntail * sizeof(*tail));
	if (!tail)
		return gt_err_set(err, -ENOMEM, "out of memory (activity of threads)");
	memcpy(tail, to->list + first, ntail * sizeof(*tail));
	to->n = first;
	*nintervals -= ntail;
	rc = merge_rows(l, run, level, tail, ntail, nintervals, err);
	free(tail);
	return rc;
}

int gt_host_add(struct gt_host_activity *l, enum gt_host_level level, int64_t start, int64_t end,
	uint32_t type, size_t *nintervals, struct gt_err *err)
{
	const int64_t ns = end - start;
	const uint8_t levels[] = { (uint8_t)level };
	const struct gt_host_run run = { &start, &ns, NULL, 1, levels, true, &type };

	return gt_host_add_run(l, &run, level, nintervals, err);
}

/* ---- copies ---- */

/* Sorted by call, which is nearly the order in which copies begin. */
int gt_host_add_copy(struct gt_host_activity *l, int64_t call, int64_t from, struct gt_err *err)
{
	size_t i;

	if (l->ncopies == COPIES) {
		l->ncopies = COPIES / 2;
		memmove(l->copies, l->copies + COPIES / 2, l->ncopies * sizeof(*l->copies));
	}
	if (gt_grow(&l->copies, &l->copies_cap, l->ncopies + 1, sizeof(*l->copies)))
		return gt_err_set(err, -ENOMEM, "out of memory (copies)");
	for (i = l->ncopies++; i && l->copies[i - 1].call > call; i--)
		l->copies[i] = l->copies[i - 1];
	l->copies[i] = (struct gt_host_copy){ call, from };
	return 0;
}

int64_t gt_host_copy_start(const struct gt_host_activity *l, int64_t call)
{
	size_t low = GT_LOWER_BOUND(i, 0, l->ncopies, l->copies[i].call < call);

	return low < l->ncopies && l->copies[low].call == call ? l->copies[low].from : INT64_MAX;
}

/* ---- stacks ---- */

int gt_host_add_stack(
	struct gt_host_stacks *l, struct gt_idle_stack one, size_t *nintervals, struct gt_err *err)
{
	size_t i = l->n;

	if (i && l->list[i - 1].at > one.at)
		i = GT_LOWER_BOUND(k, 0, l->n, l->list[k].at <= one.at);
	if (*nintervals >= GT_HOST_MOST)
		return 0;
	if (gt_grow(&l->list, &l->cap, l->n + 1, sizeof(*l->list)))
		return gt_err_set(err, -ENOMEM, "out of memory (stacks of threads)");
	memmove(l->list + i + 1, l->list + i, (l->n - i) * sizeof(*l->list));
	l->list[i] = one;
	l->n++;
	++*nintervals;
	return 1;
}

size_t gt_host_first_stack(const struct gt_host_stacks *l, int64_t at)
{
	return GT_LOWER_BOUND(i, 0, l->n, l->list[i].at < at);
}

static uint32_t stack_at(const struct gt_host_stacks *l, int64_t at)
{
	size_t i = gt_host_first_stack(l, at);

	return i < l->n && l->list[i].at == at ? l->list[i].stack : GT_NONE;
}

uint32_t gt_host_stack_of(const struct gt_host_activity *l, bool wait, int64_t at)
{
	return stack_at(wait ? &l->waits : &l->calls, at);
}

uint32_t gt_host_holder_of(const struct gt_host_activity *l, int64_t at)
{
	size_t i = gt_host_first_stack(&l->waits, at);

	return i < l->waits.n && l->waits.list[i].at == at ? l->waits.list[i].holder : 0;
}

int64_t gt_host_call_around(struct gt_host_activity *l, int64_t at)
{
	struct gt_host_list *calls = &l->level[GT_HOST_CALL];
	size_t i = first_behind(calls, at);

	return i < calls->n && calls->list[i].start <= at ? calls->list[i].start : at;
}

static void drop_stacks(struct gt_host_stacks *l, int64_t before, size_t *nintervals)
{
	size_t gone = gt_host_first_stack(l, before);

	if (gone)
		memmove(l->list, l->list + gone, (l->n - gone) * sizeof(*l->list));
	l->n -= gone;
	*nintervals -= gone;
}

/* ---- reading ---- */

/* A level with intervals, and its first one that may cover the rest of the range. */
struct cursor {
	enum gt_host_level level;
	const struct gt_host_interval *next, *end;
};

static unsigned find_cursors(struct gt_host_activity *l, int64_t from, struct cursor *cursors)
{
	unsigned n = 0;

	for (int i = 0; i < GT_HOST_LEVELS; i++) {
		struct gt_host_list *in = &l->level[i];

		if (in->n)
			cursors[n++] = (struct cursor){ (enum gt_host_level)i,
				in->list + first_behind(in, from), in->list + in->n };
	}
	return n;
}

int gt_host_split_range(struct gt_host_activity *l, int64_t from, int64_t to, gt_host_fn *fn,
	void *arg, struct gt_err *err)
{
	struct cursor cursors[GT_HOST_LEVELS], *end = cursors + find_cursors(l, from, cursors);
	int rc = 0;

	while (!rc && from < to) {
		enum gt_host_level level = GT_HOST_NOTHING;
		const struct gt_host_interval *s = NULL;
		int64_t until = to;

		for (struct cursor *c = cursors; c < end && !s; c++) {
			while (c->next < c->end && gt_host_end(c->next) <= from)
				c->next++;
			if (c->next == c->end)
				continue;
			if (c->next->start <= from)
				s = c->next, level = c->level;
			else if (c->next->start < until)
				until = c->next->start;
		}
		if (s && gt_host_end(s) < until)
			until = gt_host_end(s);
		rc = fn(arg, level, s, from, until, err);
		from = until;
	}
	return rc;
}

void gt_host_drop_before(struct gt_host_activity *l, int64_t before, size_t *nintervals)
{
	int64_t first = before; /* start of the first interval that stays */
	size_t copies = 0;

	for (int i = 0; i < GT_HOST_LEVELS; i++) {
		struct gt_host_list *in = &l->level[i];
		size_t gone = first_behind(in, before);

		if (gone)
			memmove(in->list, in->list + gone, (in->n - gone) * sizeof(*in->list));
		in->n -= gone;
		in->hint = 0;
		*nintervals -= gone;
		if (in->n && in->list[0].start < first)
			first = in->list[0].start;
	}
	drop_stacks(&l->samples, before, nintervals);
	drop_stacks(&l->calls, first, nintervals);
	drop_stacks(&l->waits, first, nintervals);
	before = l->level[GT_HOST_CALL].n ? l->level[GT_HOST_CALL].list[0].start : before;
	while (copies < l->ncopies && l->copies[copies].call < before &&
		l->copies[copies].from < before)
		copies++;
	l->ncopies -= copies;
	if (copies)
		memmove(l->copies, l->copies + copies, l->ncopies * sizeof(*l->copies));
}

bool gt_host_is_empty(const struct gt_host_activity *l)
{
	size_t n = l->ncopies + l->samples.n + l->calls.n + l->waits.n;

	for (int i = 0; i < GT_HOST_LEVELS; i++)
		n += l->level[i].n;
	return !n;
}

void gt_host_release(struct gt_host_activity *l)
{
	for (int i = 0; i < GT_HOST_LEVELS; i++)
		free(l->level[i].list);
	free(l->copies);
	free(l->samples.list);
	free(l->calls.list);
	free(l->waits.list);
	memset(l, 0, sizeof(*l));
}
