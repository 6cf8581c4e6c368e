/* Which blocks have rows of some strips in a stretch of time, one segment at a time, by start: what strips and searches go through. */
#ifndef GT_VISITS_H
#define GT_VISITS_H
#include "formats/trace/summary.h"
#include "viewer/model/archive.h"

/* What a strip is of; derived: the union of a process, device or context. */
struct gt_strip_of { uint32_t segment, track; enum gt_aspect aspect; bool derived; };
uint32_t gt_strip_kinds(const struct gt_strip_of *of);	/* of its rows: GT_BIT(enum gt_kind) | ... */
/* Is a row (gt_rows.aspect and depth) one of those that a strip shows, and at which depth? */
bool gt_strip_shows(const struct gt_strip_of *of, unsigned aspect, unsigned row_depth, unsigned *depth);

struct gt_target {			/* rows of a track that a strip wants */
	uint32_t track, strip;		/* strip: what the caller calls it */
	uint32_t kinds;			/* GT_BIT(enum gt_kind) */
	bool derived;
	int64_t from;			/* segment's time: of earlier rows only those that last until then. INT64_MIN as long as nobody sets it */
};
struct gt_todo {			/* a block to be gone through */
	const struct gt_block *block;
	uint32_t track;			/* GT_NONE: of several */
	bool summed;			/* its summary may do: no union wants its rows, and no other block overlaps it */
};
struct gt_visits {			/* zero-initialised is empty */
	struct gt_target *targets;	/* by track */
	size_t ntargets, targets_cap;
	struct gt_todo *todo;		/* by start */
	size_t ntodo, todo_cap;
	uint32_t without;		/* GT_BIT(enum gt_kind): nobody wants rows of these */
};
/* A strip whose rows are wanted, before gt_visits_find. 0 or -ENOMEM. */
int gt_visits_add(struct gt_visits *v, const struct gt_archive *a, const struct gt_strip_of *of, uint32_t strip);
/* Blocks of the strips, which are all of this segment, that may have rows overlapping the range (segment's time). 0 or -ENOMEM. */
int gt_visits_find(struct gt_visits *v, const struct gt_archive *a, uint32_t segment, struct gt_range range);
void gt_visits_clear(struct gt_visits *v);	/* empty, and its room is kept */
void gt_visits_release(struct gt_visits *v);

/* The targets that want rows of a track, one after the other. */
const struct gt_target *gt_targets_of(const struct gt_visits *v, uint32_t track);
#define GT_EACH_TARGET(v, t, of) \
	for (const struct gt_target *t = gt_targets_of(v, of); t < (v)->targets + (v)->ntargets && t->track == (of); t++)
#endif
