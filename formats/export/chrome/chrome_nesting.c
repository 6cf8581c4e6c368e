/* Does a call nest with the other rows of its thread? See chrome_nesting.h.
 *
 * Viewers drop a slice that partly overlaps another on its thread. Calls nest, unless the file is
 * wrong. A long call is written after its children (a row is in the epoch of its end), so a stack
 * is no help. Instead each track stores per depth the last row, and the extent of the rows whose
 * parent has not come yet. A row is accepted only if (1) the last row of its depth has ended, (2)
 * the last row of each smaller depth has ended or contains it, (3) it contains all rows without
 * parent of each greater depth, or none of them. By induction no two rows partly overlap. The
 * memory depends only on the depth.
 *
 * One kind of row comes out of order: a call that began before its epoch and is written behind rows
 * that began after its end. For those, (1) and (2) are: at each depth up to its own it lies between
 * the rows of earlier epochs and the first row of this one, behind or inside the last such row.
 * Rows that lack a parent of that kind are stored separately from those whose parent begins later.
 * Rows that are not accepted, and spans that overlap, go to further lanes.
 */
#include "formats/export/chrome/chrome_nesting.h"

#include "formats/base/buf.h"

/* of all tracks together; beyond it, rows go to further lanes */
#define LEVELS_MAX (1u << 21)

static int grow_levels(struct gt_chrome_tracks *c, struct gt_chrome_track *t, unsigned depth)
{
	if (c->nlevels + (depth + 1 - t->nlevels) > LEVELS_MAX ||
		gt_grow(&t->levels, &t->levels_cap, depth + 1, sizeof(*t->levels)))
		return -ENOMEM;
	for (; t->nlevels <= depth; t->nlevels++, c->nlevels++)
		t->levels[t->nlevels] = (struct gt_chrome_level){
			.start = INT64_MIN,
			.end = INT64_MIN,
			.before = INT64_MIN,
			.first = INT64_MAX,
			.late_start = INT64_MIN,
			.late_end = INT64_MIN,
		};
	return 0;
}

static void add_parentless(
	struct gt_chrome_track *t, struct gt_parentless *o, int64_t start, int64_t end)
{
	if (!o->any) {
		*o = (struct gt_parentless){ start, end, true };
		t->nparentless++;
	}
	if (o->start > start)
		o->start = start;
	if (o->end < end)
		o->end = end;
}

/* Begins the next epoch of a track: a parent that is still missing began before it. */
static void start_epoch(struct gt_chrome_track *t, uint32_t epoch)
{
	t->epoch = epoch;
	for (size_t d = 0; d < t->nlevels; d++) {
		struct gt_chrome_level *l = &t->levels[d];

		l->before = l->end;
		l->first = INT64_MAX;
		l->late_start = l->late_end = INT64_MIN;
		if (l->young.any) {
			add_parentless(t, &l->old, l->young.start, l->young.end);
			l->young.any = false;
			t->nparentless--;
		}
	}
}

static bool agrees(const struct gt_parentless *o, int64_t start, int64_t end)
{
	return !o->any || o->end <= start || o->start >= end ||
		(o->start >= start && o->end <= end);
}

/* Rule 3. */
static bool parentless_agree(
	const struct gt_chrome_track *t, int64_t start, int64_t end, unsigned depth)
{
	for (size_t d = depth + 1; d < t->nlevels; d++)
		if (!agrees(&t->levels[d].old, start, end) ||
			!agrees(&t->levels[d].young, start, end))
			return false;
	return true;
}

/* Removes rows whose parent this row is: children only, since a grandchild still lacks the row
 * between. */
static void remove_parentless(
	struct gt_chrome_track *t, struct gt_parentless *o, int64_t start, int64_t end)
{
	if (o->any && o->start >= start && o->end <= end) {
		o->any = false;
		t->nparentless--;
	}
}

/* Rules 1 and 2. *has_parent: the row's parent has come. */
static bool in_order(const struct gt_chrome_track *t, int64_t start, int64_t end, unsigned depth,
	bool *has_parent)
{
	if (start < t->levels[depth].end)
		return false;
	for (unsigned d = depth; d--;) {
		const struct gt_chrome_level *up = &t->levels[d];
		bool holds = up->start <= start && up->end >= end;

		if (!holds && up->end > start)
			return false;
		if (d + 1 == depth)
			*has_parent = holds;
	}
	return true;
}

/* Rules 1 and 2 for a row that began before this epoch. */
static bool fits_before(const struct gt_chrome_track *t, int64_t start, int64_t end, unsigned depth,
	bool *has_parent)
{
	for (unsigned d = 0; d <= depth; d++) {
		const struct gt_chrome_level *l = &t->levels[d];
		bool holds = d < depth && l->late_start <= start && l->late_end >= end;

		if (l->before > start || l->first < end || (!holds && l->late_end > start))
			return false;
		if (d + 1 == depth)
			*has_parent = holds;
	}
	return true;
}

/* Does this epoch have a row in order at a smaller depth? Then a parent from before the epoch has
 * ended. */
static bool parent_is_young(const struct gt_chrome_track *t, unsigned depth)
{
	while (depth--)
		if (t->levels[depth].first != INT64_MAX)
			return true;
	return false;
}

bool gt_chrome_nests(struct gt_chrome_tracks *c, struct gt_chrome_track *t, int64_t start,
	int64_t end, unsigned depth, uint32_t epoch)
{
	bool has_parent = !depth, late = false;
	struct gt_chrome_level *l;

	if (t->epoch != epoch)
		start_epoch(t, epoch);
	if (depth >= t->nlevels && grow_levels(c, t, depth))
		return false;
	if (!in_order(t, start, end, depth, &has_parent)) {
		late = true;
		if (!fits_before(t, start, end, depth, &has_parent))
			return false;
	}
	if (t->nparentless) {
		if (!parentless_agree(t, start, end, depth))
			return false;
		if (depth + 1 < t->nlevels) {
			remove_parentless(t, &t->levels[depth + 1].old, start, end);
			remove_parentless(t, &t->levels[depth + 1].young, start, end);
		}
	}
	l = &t->levels[depth];
	if (late) {
		l->late_start = start;
		l->late_end = end;
	} else if (l->first == INT64_MAX)
		l->first = start;
	if (!late || l->end < end) {
		l->start = start;
		l->end = end;
	}
	if (!has_parent)
		add_parentless(
			t, late || !parent_is_young(t, depth) ? &l->old : &l->young, start, end);
	return true;
}
