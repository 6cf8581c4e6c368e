/* Block schedule: lists the blocks that may have rows of given strips in a time range. It
 * handles one segment at a time and sorts the blocks by start. Lane cells and searches read the
 * blocks in this order. */
#ifndef GT_BLOCK_SCHEDULE_H
#define GT_BLOCK_SCHEDULE_H
#include "formats/trace/summary.h"
#include "viewer/model/archive.h"

/* A strip is one aspect of a track. derived: the union of all tracks of a process, device or
 * context. */
struct gt_strip_key {
	uint32_t segment, track;
	enum gt_aspect aspect;
	bool derived;
};
static inline bool gt_same_strip(const struct gt_strip_key *a, const struct gt_strip_key *b)
{
	return a->segment == b->segment && a->track == b->track && a->aspect == b->aspect &&
		a->derived == b->derived;
}
/* kinds of its rows: GT_BIT(enum gt_kind) | ... */
uint32_t gt_strip_kinds(const struct gt_strip_key *of);
/* True if the strip shows a row with this gt_rows.aspect and depth; *depth: the depth in the
 * strip. */
bool gt_strip_shows(
	const struct gt_strip_key *of, unsigned aspect, unsigned row_depth, unsigned *depth);

struct gt_row_target {         /* the rows of a track that a strip needs */
	uint32_t track, strip; /* strip: the caller's number of the strip */
	uint32_t kinds;        /* GT_BIT(enum gt_kind) */
	bool derived;
	/* segment's time: earlier rows count only if they end at this time or later. INT64_MIN: no
	 * limit */
	int64_t from;
};
struct gt_planned_block { /* a block to read */
	const struct gt_block *block;
	uint32_t track; /* GT_NONE: rows of several tracks */
	/* its summary may suffice: no union needs its rows, and no other block overlaps it */
	bool summed;
};
struct gt_block_schedule {             /* zero-initialised is empty */
	struct gt_row_target *targets; /* by track */
	size_t ntargets, targets_cap;
	struct gt_planned_block *todo; /* by start */
	size_t ntodo, todo_cap;
	uint32_t without; /* GT_BIT(enum gt_kind): kinds that no strip needs */
};
/* Adds a strip. Call before gt_block_schedule_find. 0 or -ENOMEM. */
int gt_block_schedule_add(struct gt_block_schedule *v, const struct gt_archive *a,
	const struct gt_strip_key *of, uint32_t strip);
/* Lists the blocks that may have rows of the strips in the range (segment's time). All strips
 * must be of this segment. 0 or -ENOMEM. */
int gt_block_schedule_find(struct gt_block_schedule *v, const struct gt_archive *a,
	uint32_t segment, struct gt_range range);
/* makes it empty; keeps its memory */
void gt_block_schedule_clear(struct gt_block_schedule *v);
void gt_block_schedule_release(struct gt_block_schedule *v);

/* The targets that need rows of a track, as consecutive entries. */
const struct gt_row_target *gt_row_targets_of(const struct gt_block_schedule *v, uint32_t track);
#define GT_EACH_TARGET(v, t, of)                                                                   \
	for (const struct gt_row_target *t = gt_row_targets_of(v, of);                             \
		t < (v)->targets + (v)->ntargets && t->track == (of); t++)
#endif
