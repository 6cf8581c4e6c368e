/* Which blocks have rows of some strips in a stretch of time, one segment at a time, by start: what strips and searches go through. */
#ifndef GT_BLOCK_SCHEDULE_H
#define GT_BLOCK_SCHEDULE_H
#include "formats/trace/summary.h"
#include "viewer/model/archive.h"

/* What a strip is of; derived: the union of a process, device or context. */
struct gt_strip_key { uint32_t segment, track; enum gt_aspect aspect; bool derived; };
uint32_t gt_strip_kinds(const struct gt_strip_key *of);	/* of its rows: GT_BIT(enum gt_kind) | ... */
/* Is a row (gt_rows.aspect and depth) one of those that a strip shows, and at which depth? */
bool gt_strip_shows(const struct gt_strip_key *of, unsigned aspect, unsigned row_depth, unsigned *depth);

struct gt_row_target {			/* rows of a track that a strip wants */
	uint32_t track, strip;		/* strip: what the caller calls it */
	uint32_t kinds;			/* GT_BIT(enum gt_kind) */
	bool derived;
	int64_t from;			/* segment's time: of earlier rows only those that last until then. INT64_MIN as long as nobody sets it */
};
struct gt_planned_block {			/* a block to be gone through */
	const struct gt_block *block;
	uint32_t track;			/* GT_NONE: of several */
	bool summed;			/* its summary may do: no union wants its rows, and no other block overlaps it */
};
struct gt_block_schedule {			/* zero-initialised is empty */
	struct gt_row_target *targets;	/* by track */
	size_t ntargets, targets_cap;
	struct gt_planned_block *todo;		/* by start */
	size_t ntodo, todo_cap;
	uint32_t without;		/* GT_BIT(enum gt_kind): nobody wants rows of these */
};
/* A strip whose rows are wanted, before gt_block_schedule_find. 0 or -ENOMEM. */
int gt_block_schedule_add(struct gt_block_schedule *v, const struct gt_archive *a, const struct gt_strip_key *of, uint32_t strip);
/* Blocks of the strips, which are all of this segment, that may have rows overlapping the range (segment's time). 0 or -ENOMEM. */
int gt_block_schedule_find(struct gt_block_schedule *v, const struct gt_archive *a, uint32_t segment, struct gt_range range);
void gt_block_schedule_clear(struct gt_block_schedule *v);	/* empty, and its room is kept */
void gt_block_schedule_release(struct gt_block_schedule *v);

/* The targets that want rows of a track, one after the other. */
const struct gt_row_target *gt_row_targets_of(const struct gt_block_schedule *v, uint32_t track);
#define GT_EACH_TARGET(v, t, of) \
	for (const struct gt_row_target *t = gt_row_targets_of(v, of); t < (v)->targets + (v)->ntargets && t->track == (of); t++)
#endif
