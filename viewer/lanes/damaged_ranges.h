/* Damaged ranges of a lane: time ranges in which blocks with its rows cannot be read. */
#ifndef GT_DAMAGED_RANGES_H
#define GT_DAMAGED_RANGES_H
#include "viewer/model/event_lookup.h"

#define GT_DAMAGED_BLOCKS 8u /* blocks that are listed one by one */
struct gt_damaged_range {
	int64_t from, to;      /* [from, to) of the viewer's time, over all its blocks */
	int64_t apart;         /* the value of the request */
	uint64_t blocks, rows; /* numbers from the index */
	struct gt_damaged_block {
		uint32_t damage;   /* index in the list of gt_reader_damage */
		uint32_t number;   /* of the block */
		enum gt_kind kind; /* of its rows */
		bool shared;       /* it has rows of several tracks */
	} list[GT_DAMAGED_BLOCKS]; /* the first ones by time */
	unsigned n;
};
/* The damaged range that overlaps [from, to) (viewer's time). Blocks no more than `apart` ns
 * from each other form one range. Only damage found so far is included. 1 with *hole filled in;
 * 0: there is none; negative: error. */
int gt_damaged_range_at(struct gt_archive *a, const struct gt_strip_key *of, int64_t from,
	int64_t to, int64_t apart, struct gt_damaged_range *hole, struct gt_err *err);
#endif
