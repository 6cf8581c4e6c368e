/* Up to when a trace that has grown is as it was. A block that is filed stays what it is, and those that come stand behind it in the index;
 * their rows may be of any time, as a call is told when it returns and a GPU's work when the GPU says so. So of a track everything is as it
 * was before the first row of its new blocks, and what was found out of that time needs not be found out again. */
#ifndef GT_UNCHANGED_UNTIL_H
#define GT_UNCHANGED_UNTIL_H
#include "viewer/model/archive.h"

struct gt_unchanged_segment {
	uint64_t id, sum;		/* of the segment; of what its blocks are, in any order */
	size_t blocks;			/* how many there are, of calls that are open none */
	uint32_t last;			/* entry of the last of them */
	int64_t from;			/* no row begins before */
	int64_t (*floor)[GT_KINDS];	/* once looked at: by track + 1 (GT_NONE: 0). NULL: it is another one */
	uint32_t ntracks;
};
struct gt_unchanged_until { struct gt_unchanged_segment *segs; uint32_t n; };	/* zero-initialised: nothing is as it was */

/* What an archive has, before it is closed, in place of what it was asked to remember before. Without memory that is nothing. */
void gt_unchanged_until_save(struct gt_unchanged_until *s, const struct gt_archive *a);
void gt_unchanged_until_release(struct gt_unchanged_until *s);
/* What another archive has more. Without memory nothing is as it was. */
void gt_unchanged_until_compare(struct gt_unchanged_until *s, const struct gt_archive *a);
/* After that: before which time (segment's) rows of these kinds (GT_BIT(enum gt_kind) | ..., not of open calls) on a track are what they were.
 * INT64_MIN: never; INT64_MAX: always. */
int64_t gt_unchanged_until_time(const struct gt_unchanged_until *s, uint32_t segment, uint32_t track, uint32_t kinds);
/* Before which no row began, when it was remembered; segment's time. */
int64_t gt_unchanged_until_start(const struct gt_unchanged_until *s, uint32_t segment);
#endif
