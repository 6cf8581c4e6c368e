/* Two marks, and what happened on a lane between them. */
#ifndef GT_MARKS_H
#define GT_MARKS_H
#include "viewer/lanes/time_axis.h"
#include "viewer/model/event_lookup.h"
#include "viewer/cells/measure.h"
#include "viewer/term/screen.h"

struct gt_marks {                   /* zero-initialised but for the archive: none */
	struct gt_archive *archive; /* borrowed */
	unsigned n;                 /* 0 to 2 */
	int64_t at[2];              /* the viewer's time */
	/* both were set by a jump to a stretch of time: the next one may move them */
	bool jumped;
	struct gt_lane_key lane; /* that is measured; aspect 0: none is */
	struct gt_measure *measure;
	bool exact; /* it is done */
};
/* what was measured; the marks stay where they are */
void gt_marks_release(struct gt_marks *m);
/* The first, then the second one; with both set, the first one of two others. */
void gt_marks_set(struct gt_marks *m, int64_t t);
void gt_marks_clear(struct gt_marks *m);
/* both, unless the user has set any */
void gt_marks_jump(struct gt_marks *m, int64_t from, int64_t to);
/* false: there are not two, apart from each other */
bool gt_marks_between(const struct gt_marks *m, int64_t *from, int64_t *to);
/* Which lane is measured from now on. 0 or negative. */
int gt_marks_on(struct gt_marks *m, const struct gt_lane_key *lane, struct gt_err *err);
/* 1: there is more to do, 0, negative */
int gt_marks_step(struct gt_marks *m, uint64_t us, struct gt_err *err);
/* The edge of a row of a lane (the viewer's time) that is in [from, to) and nearest to `from`;
 * without any, from. 0 or negative. */
int gt_marks_snap(struct gt_archive *a, const struct gt_lane_key *lane, int64_t from, int64_t to,
	int64_t *edge, struct gt_err *err);

/* Where they are drawn: in that line from column `left` on, which is their own, or else the axis;
 * and guides in the lanes, so many lines. */
struct gt_marks_at {
	int left, line, lanes;
	unsigned nlanes;
	bool own;
};
void gt_marks_draw(const struct gt_marks *m, const struct gt_cell_window *w,
	const struct gt_marks_at *at, struct gt_screen *to);
/* In words, in one line; what the lane that is measured is called. false: there are none. */
bool gt_marks_tell(const struct gt_marks *m, const struct gt_time_shown *times, int64_t most,
	const char *lane, char *to, size_t room);
#endif
