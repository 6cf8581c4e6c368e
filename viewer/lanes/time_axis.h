/* The time axis and times as text: round times above the lanes, and times in messages. */
#ifndef GT_TIME_AXIS_H
#define GT_TIME_AXIS_H
#include "formats/trace/read/reader.h"
#include "viewer/lanes/window.h"

struct gt_time_shown {
	int64_t start;          /* the origin of shown times, in the viewer's time */
	int64_t to_wall;        /* ns to add to the viewer's time to get ns since 1970 */
	bool has_wall, by_wall; /* to_wall is known; times are shown as UTC */
};
/* start: start of the trace. to_wall comes from the segment's anchors, shifted like the
 * archive's times. */
struct gt_time_shown gt_time_shown_of(const struct gt_segment *seg, int64_t start, int64_t offset);

#define GT_TIME_ROOM 32
/* "1.25s", "3:05.5", or "04:31:44.5" as wall clock time. It has the digits that separate times
 * `step` ns apart (1 at least), in the unit that fits times up to `most` (viewer's time).
 * Returns its length. */
unsigned gt_time_text(const struct gt_time_shown *how, int64_t t, int64_t step, int64_t most,
	char to[GT_TIME_ROOM]);
/* The step between times that gives as many digits as the cell width has meaning. */
int64_t gt_time_step(const struct gt_cell_window *w);
/* Parses a user's time: "1.5s", "250ms" or "1:05.5" after the start. As wall clock time
 * "04:31:44" is the first such time of day after the start. *t: the viewer's time; 0 or -EINVAL. */
int gt_time_parse(const struct gt_time_shown *how, const char *text, int64_t *t);

struct gt_tick {
	unsigned column;
	char label[GT_TIME_ROOM];
};
/* Places round times in the window (1, 2 or 5 times a power of ten; from 20 s on parts of
 * minutes and hours). They are as close as possible with two free columns after each label. A
 * label is right of its column and ends before the edge. Returns their number. */
unsigned gt_time_axis(const struct gt_cell_window *w, const struct gt_time_shown *how,
	struct gt_tick *to, unsigned most);
#endif
