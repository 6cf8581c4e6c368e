/* Times as they are shown: on the axis above the lanes, at round moments, and in words. */
#ifndef GT_TIME_AXIS_H
#define GT_TIME_AXIS_H
#include "viewer/lanes/window.h"

struct gt_time_shown {
	int64_t start;		/* what times count from, in the viewer's time */
	int64_t to_wall;	/* ns to add to the viewer's time for ns since 1970 */
	bool has_wall, by_wall;	/* is to_wall known, and are times shown by it (UTC)? */
};
/* start: where the trace begins; to_wall by the segment's anchors, moved as the archive moves its times. */
struct gt_time_shown gt_time_shown_of(const struct gt_segment *seg, int64_t start, int64_t offset);

#define GT_TIME_ROOM 32
/* "1.25s", "3:05.5", or "04:31:44.5" by the wall clock: as exact as to tell moments `step` ns apart (1 at least), in the unit that fits
 * times up to `most` (viewer's time). Returns its length. */
unsigned gt_time_text(const struct gt_time_shown *how, int64_t t, int64_t step, int64_t most, char to[GT_TIME_ROOM]);
/* The step of moments that are told with as many digits as a cell has meaning. */
int64_t gt_time_step(const struct gt_cell_window *w);
/* What a user means: "1.5s", "250ms" or "1:05.5" behind the start; by the wall clock "04:31:44" is a time of day, the first one from the
 * start on. The viewer's time; 0 or -EINVAL. */
int gt_time_parse(const struct gt_time_shown *how, const char *text, int64_t *t);

struct gt_tick { unsigned column; char label[GT_TIME_ROOM]; };
/* Round moments within the window (1, 2 or 5 times a power of ten; from 20 s on parts of minutes and hours), as close together as leaves
 * two columns or more behind each label. A label stands right of its column; none reaches over the edge. Returns how many. */
unsigned gt_time_axis(const struct gt_cell_window *w, const struct gt_time_shown *how, struct gt_tick *to, unsigned most);
#endif
