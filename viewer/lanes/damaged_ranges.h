/* Holes of a lane: where blocks of the file that have its rows could not be read. */
#ifndef GT_DAMAGED_RANGES_H
#define GT_DAMAGED_RANGES_H
#include "viewer/model/event_lookup.h"

#define GT_DAMAGED_BLOCKS 8u		/* that are told one by one */
struct gt_damaged_range {
	int64_t from, to;		/* [from, to) of the viewer's time: of all its blocks */
	int64_t apart;			/* as it was asked for */
	uint64_t blocks, rows;		/* how many, as the index says */
	struct gt_damaged_block {
		uint32_t damage;	/* number in what gt_reader_damage lists */
		uint32_t number;	/* of the block */
		enum gt_kind kind;	/* of its rows */
		bool shared;		/* it has rows of several tracks */
	} list[GT_DAMAGED_BLOCKS];		/* the first ones by time */
	unsigned n;
};
/* The hole that has some of [from, to), the viewer's time; what lies no more than `apart` ns from it belongs to it. Only damage that was
 * found by now. 1 with *hole filled in, 0: there is none, negative. */
int gt_damaged_range_at(struct gt_archive *a, const struct gt_strip_key *of, int64_t from, int64_t to, int64_t apart, struct gt_damaged_range *hole,
	       struct gt_err *err);
#endif
