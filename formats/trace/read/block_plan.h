/* The blocks and rows that a filter selects, and the order of the blocks. */
#ifndef GT_BLOCK_PLAN_H
#define GT_BLOCK_PLAN_H
#include "formats/trace/read/reader_internal.h"

/* ---- a filter, compiled for one segment ---- */
struct gt_compiled_filter {
	const struct gt_filter *filter;
	struct gt_range range; /* if the filter has one */
	uint32_t kinds;
	uint8_t *tracks, *types; /* one byte each: selected; NULL: all are */
	/* by track: hidden layers; NULL: there are none */
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

/* ---- the plan ---- */
enum gt_plan_order {
	GT_AS_FILED,
	GT_BY_START, /* segment after segment, in each by earliest start */
	/* the same, but segments of one boot, which share a clock, are one group */
	GT_BY_CLOCK,
};
/* a block of reader->segs[seg]; start, end: of its rows */
struct gt_plan_entry {
	int64_t start, end;
	uint32_t group, seg, entry;
};
struct gt_block_plan {
	struct gt_compiled_filter *filters; /* by segment */
	struct gt_reader *reader;
	struct gt_filter filter;
	enum gt_plan_order order;
	uint32_t *groups;            /* by segment */
	struct gt_plan_entry *found; /* the next blocks */
	size_t n, cap, next;
	struct gt_plan_entry last; /* the last block before these */
	bool started, all;         /* there are blocks before `found`; there are none behind */
	uint32_t seg;              /* position in the index */
	struct gt_index_walk walk;
};
/* 0 or -ENOMEM; release it in both cases. */
int gt_block_plan_open(struct gt_block_plan *p, struct gt_reader *r, const struct gt_filter *filter,
	enum gt_plan_order order);
/* 1, 0 at the end, negative */
int gt_block_plan_next(struct gt_block_plan *a, struct gt_plan_entry *entry, struct gt_err *err);
/* Reads the block's entry, and checks that the filter still selects it. 0 or
 * -EBADMSG. Threads may call it at the same time. */
int gt_block_plan_entry(const struct gt_block_plan *a, const struct gt_plan_entry *entry,
	struct gt_wire_entry *e, struct gt_err *err);
/* Reports the bytes of all blocks of the plan to the sink of progress (progress.h). Call it before
 * the first block. */
void gt_block_plan_begin_progress(struct gt_block_plan *p);
void gt_block_plan_rewind(struct gt_block_plan *p);
void gt_block_plan_release(struct gt_block_plan *p);
#endif
