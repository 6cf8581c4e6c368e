/* What all views look at: the trace, the stretch of time that is seen, how times are told, and what
 * is missing in it. */
#ifndef GT_SCENE_H
#define GT_SCENE_H
#include "viewer/model/archive.h"
#include "viewer/lanes/time_axis.h"
#include "viewer/view/bookmarks.h"
#include "viewer/lanes/lanes.h"
#include "viewer/view/marks.h"
#include "viewer/view/report_job.h"

/* Time of which the trace does not tell all. */
enum gt_trouble_kind {
	GT_TROUBLE_LOST,    /* events were lost while it was recorded */
	GT_TROUBLE_DAMAGED, /* blocks cannot be read */
	GT_TROUBLE_UNREAD   /* the recording was not closed: its end is not there, or not yet */
};
/* viewer's time; from <= to */
struct gt_trouble {
	int64_t from, to;
	enum gt_trouble_kind kind;
};

struct gt_scene {
	struct gt_reader *reader; /* borrowed */
	struct gt_archive *archive;
	const char *name; /* of the file, with its folder; borrowed */
	char *command;    /* what was recorded, or NULL */
	struct gt_time_extent extent;
	struct gt_cell_window window; /* cells: as the view that is shown has them */
	bool growing;                 /* somebody may still write it */
	/* and has written more, which is shown when it is asked for */
	bool behind;
	struct gt_time_shown times;
	/* losses and unread ends; damage is told by gt_scene_damage */
	struct gt_trouble *troubles;
	size_t ntroubles, troubles_cap;
	uint64_t lost; /* rows that tell of losses */
	bool still;    /* a frame that is printed: there is no cursor */
	/* a line to be shown until the next key, or NULL; static, or said */
	const char *message;
	char status_text[200];
	/* the name of the view to be shown from now on, or NULL; static */
	const char *turn_to;
	/* a moment that the timeline is to put its cursor on, if is_at */
	int64_t at;
	bool is_at;
	/* a track that it is to put its cursor on */
	struct {
		uint32_t segment, track;
		bool wanted;
	} on;
	/* that it is to select; segment's time */
	struct gt_scene_row {
		struct gt_lane_key lane;
		int64_t start, dur;
		bool wanted;
	} row;
	struct gt_marks marks;
	struct gt_bookmarks bookmarks;
	bool bookmarks_loaded;
	struct gt_report_job *report_job; /* once somebody has asked for it */
	/* by segment and thread: how many, as far as is known by now; or NULL */
	uint64_t **rows;
	/* by segment and device: GT_BIT(aspect - GT_ASPECT_HTOD) of the copies there are */
	uint8_t **copies;
	struct gt_depths depths; /* between two archives: what is known of lanes */
};

/* Reads what has to be known at once, which is little whatever the size of the trace. 0 or
 * negative; to be released in both cases. */
int gt_scene_open(struct gt_scene *s, struct gt_reader *r, const char *name, struct gt_err *err);
void gt_scene_release(struct gt_scene *s);
/* Gives back what is of its reader, which is about to read on: views have let go of it before.
 * Again: of what the reader has by now. The window shows all if it did, and the end if it did, or
 * else the same time. 0 or negative. */
void gt_scene_detach(struct gt_scene *s);
int gt_scene_reopen(struct gt_scene *s, struct gt_reader *r, struct gt_err *err);
/* until the next key */
void gt_scene_set_status(struct gt_scene *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
struct gt_report_job *gt_scene_report_job(struct gt_scene *s); /* NULL: no memory */
/* what it is called on the screen: the file, without its folder; borrowed */
const char *gt_scene_title(const struct gt_scene *s);
/* The stretch of time that is seen, of what there is; of all of it, all of time. */
struct gt_range gt_scene_range(const struct gt_scene *s);
/* Shows [from, to], the viewer's time, and a little on either side in the timeline, whose cursor is
 * put on `from`. */
void gt_scene_go(struct gt_scene *s, int64_t from, int64_t to);
/* ... and on the lane of that track */
void gt_scene_go_track(struct gt_scene *s, uint32_t segment, uint32_t track);
/* ... and selects a row of that lane, by when it starts and how long it lasts, the segment's time.
 */
void gt_scene_pick(struct gt_scene *s, const struct gt_lane_key *lane, int64_t start, int64_t dur);
void gt_scene_goto(struct gt_scene *s, int64_t t); /* as near as one is, in the timeline */
/* times since the start, or of the wall clock, if it is known; else it says so */
void gt_scene_turn_clock(struct gt_scene *s);
/* A time as people type it, within the trace. NULL, or why it is none: static. */
const char *gt_scene_time(const struct gt_scene *s, const char *text, int64_t *t);
/* For lanes. More is known after blocks were gone through and gt_scene_learn was called. */
struct gt_lanes_known gt_scene_known(struct gt_scene *s);
void gt_scene_learn(struct gt_scene *s);
/* Damage that was found by now: number i as a trouble. false: there are no more. */
bool gt_scene_damage(const struct gt_scene *s, size_t i, struct gt_trouble *to);
#endif
