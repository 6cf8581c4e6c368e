/* Which blocks and rows a filter wants, and in which order the blocks come. */
#ifndef GT_BLOCK_PLAN_H
#define GT_BLOCK_PLAN_H
#include "formats/trace/read/reader_internal.h"

/* ---- what a filter means for one segment ---- */
struct gt_compiled_filter {
	const struct gt_filter *filter;
	struct gt_range range; /* where the filter has one */
	uint32_t kinds;
	uint8_t *tracks, *types; /* a byte each, NULL: all wanted */
	/* by track: layers that are not wanted; NULL: there are none */
	uint8_t *hidden;
	const struct gt_type *all_types;
};
#define GT_ALL_LAYERS (GT_BIT(GT_LAYER_COUNT) - 1)
_Static_assert(GT_ALL_LAYERS <= UINT8_MAX, "hidden layers of a track are a byte");
static inline bool gt_is_within(const struct gt_range *r, int64_t start, int64_t end)
{
	return start < r->to && (end > r->from || start >= r->from);
}
static inline bool gt_filter_matches_time(
	const struct gt_compiled_filter *w, int64_t start, int64_t end)
{
	return !w->filter->ranged || gt_is_within(&w->range, start, end);
}
static inline bool gt_filter_matches_track(const struct gt_compiled_filter *w, uint32_t track)
{
	return !w->tracks || track == GT_NONE || w->tracks[track];
}
static inline bool gt_filter_hides(const struct gt_compiled_filter *w, uint32_t track)
{
	return w->hidden && track != GT_NONE && w->hidden[track];
}
static inline bool gt_filter_matches_row(const struct gt_compiled_filter *w, uint32_t track,
	uint32_t type, int64_t start, int64_t end)
{
	return gt_filter_matches_time(w, start, end) &&
		(type == GT_NONE ||
			((!w->types || w->types[type]) &&
				(!gt_filter_hides(w, track) ||
					!(w->hidden[track] & GT_BIT(w->all_types[type].layer)))));
}

/* ---- which blocks, and in which order ---- */
enum gt_plan_order {
	GT_AS_FILED,
	GT_BY_START, /* a segment after another, in each by earliest start */
	/* the same, but segments of one boot together: they share a clock */
	GT_BY_CLOCK,
};
/* a block of r->segs[seg]; start, end: of its rows */
struct gt_plan_entry {
	int64_t start, end;
	uint32_t group, seg, entry;
};
struct gt_block_plan {
	struct gt_compiled_filter *wanted; /* by segment */
	struct gt_reader *reader;
	struct gt_filter filter;
	enum gt_plan_order order;
	uint32_t *groups;            /* by segment */
	struct gt_plan_entry *found; /* the next ones */
	size_t n, cap, next;
	struct gt_plan_entry last; /* the last of those before */
	bool begun, all;           /* there are some before; there are none behind */
	uint32_t seg;              /* as filed: how far it was read */
	struct gt_index_walk walk;
};
/* 0 or -ENOMEM; to be released in both cases. */
int gt_block_plan_open(struct gt_block_plan *p, struct gt_reader *r, const struct gt_filter *filter,
	enum gt_plan_order order);
/* 1, 0 at the end, negative */
int gt_block_plan_next(struct gt_block_plan *a, struct gt_plan_entry *visit, struct gt_err *err);
/* The block's entry, which is still what made it wanted. 0, or -EBADMSG. Threads may ask at the
 * same time. */
int gt_block_plan_entry(const struct gt_block_plan *a, const struct gt_plan_entry *visit,
	struct gt_wire_entry *e, struct gt_err *err);
void gt_block_plan_rewind(struct gt_block_plan *p);
void gt_block_plan_release(struct gt_block_plan *p);
#endif
