/* Finds up to which time a trace that has grown is unchanged.
 *
 * A block never changes once it is in the index. New blocks follow it in the index, but their
 * rows may be of any time: a call is recorded when it returns, and GPU work when its record
 * arrives. So everything on a track before the first row of its new blocks is unchanged, and
 * results for that time remain valid. */
#ifndef GT_UNCHANGED_UNTIL_H
#define GT_UNCHANGED_UNTIL_H
#include "viewer/model/archive.h"

struct gt_unchanged_segment {
	/* id: of the segment; sum: checksum of its blocks, independent of their order */
	uint64_t id, sum;
	size_t blocks; /* number of blocks, without those of open calls */
	uint32_t last; /* index entry of the last of these blocks */
	int64_t from;  /* earliest start of a row */
	/* after a comparison: by track + 1 (GT_NONE: 0). NULL: it is another segment */
	int64_t (*floor)[GT_KINDS];
	uint32_t ntracks;
};
/* zero-initialised: empty */
struct gt_unchanged_until {
	struct gt_unchanged_segment *segs;
	uint32_t n;
};

/* Saves the list of blocks of an archive that is about to be closed; it replaces the previous
 * list. Without memory nothing is saved. */
void gt_unchanged_until_save(struct gt_unchanged_until *s, const struct gt_archive *a);
void gt_unchanged_until_release(struct gt_unchanged_until *s);
/* Compares another archive of the same trace with the saved list. Without memory nothing counts
 * as unchanged. */
void gt_unchanged_until_compare(struct gt_unchanged_until *s, const struct gt_archive *a);
/* After the comparison: rows of these kinds (GT_BIT(enum gt_kind) | ..., without open calls) on
 * a track are unchanged before this time (segment's time). INT64_MIN: no time is unchanged;
 * INT64_MAX: all of it is. */
int64_t gt_unchanged_until_time(
	const struct gt_unchanged_until *s, uint32_t segment, uint32_t track, uint32_t kinds);
/* The earliest start of a row when it was saved; segment's time. */
int64_t gt_unchanged_until_start(const struct gt_unchanged_until *s, uint32_t segment);
#endif
