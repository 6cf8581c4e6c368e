/* The two marks A and B, and the measurement of a lane between them. */
#ifndef GT_MARKS_H
#define GT_MARKS_H
#include "viewer/lanes/time_axis.h"
#include "viewer/model/event_lookup.h"
#include "viewer/cells/measure.h"
#include "viewer/search/sample_lines.h"
#include "viewer/term/screen.h"

struct gt_marks {                   /* zero-initialised except the archive: no marks */
	struct gt_archive *archive; /* borrowed */
	unsigned n;                 /* number of marks, 0 to 2 */
	int64_t at[2];              /* the viewer's time */
	/* a jump to a time range set both; the next jump may move them */
	bool set_by_jump;
	struct gt_lane_key lane; /* the measured lane; aspect 0: none */
	struct gt_measure *measure;
	struct gt_sample_lines *lines; /* of a lane of samples; NULL: none */
	bool exact;                    /* the measurement is complete */
};
/* releases the measurement; the marks stay */
void gt_marks_release(struct gt_marks *m);
/* Sets the first, then the second mark; if both are set, it clears them and sets the first. */
void gt_marks_set(struct gt_marks *m, int64_t t);
void gt_marks_clear(struct gt_marks *m);
/* sets both, unless the user has set any */
void gt_marks_jump(struct gt_marks *m, int64_t from, int64_t to);
/* false: there are no two different marks */
bool gt_marks_between(const struct gt_marks *m, int64_t *from, int64_t *to);
/* Selects the lane to measure. 0 or negative. */
int gt_marks_select_lane(struct gt_marks *m, const struct gt_lane_key *lane, struct gt_err *err);
/* 1: there is more to do, 0, negative */
int gt_marks_step(struct gt_marks *m, uint64_t us, struct gt_err *err);
/* *edge: the edge of a row of a lane that is nearest to `from` in [from, to), else `from`; viewer's
 * time. 0 or negative. */
int gt_marks_snap(struct gt_archive *a, const struct gt_lane_key *lane, int64_t from, int64_t to,
	int64_t *edge, struct gt_err *err);

/* Where marks are drawn: the line (the axis unless it is their own), from column `left` on, and
 * guides in nlanes lines from `lanes` on. */
struct gt_marks_at {
	int left, line, lanes;
	unsigned nlanes;
	bool own;
};
void gt_marks_draw(const struct gt_marks *m, const struct gt_cell_window *w,
	const struct gt_marks_at *at, struct gt_screen *to);
/* Describes marks and measurement in one line. lane: name of the measured lane. false: no marks. */
bool gt_marks_describe(const struct gt_marks *m, const struct gt_time_shown *times, int64_t most,
	const char *lane, char *to, size_t room);
#endif
