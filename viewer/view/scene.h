/* The scene: what all views share: the trace, the visible range, the format of times, and known
 * gaps in the data. */
#ifndef GT_SCENE_H
#define GT_SCENE_H
#include "viewer/model/archive.h"
#include "viewer/lanes/time_axis.h"
#include "viewer/view/bookmarks.h"
#include "viewer/lanes/lanes.h"
#include "viewer/view/marks.h"
#include "viewer/view/report_job.h"

/* Ranges with missing data. */
enum gt_trouble_kind {
	GT_TROUBLE_LOST,    /* events were lost during the recording */
	GT_TROUBLE_DAMAGED, /* damaged blocks */
	GT_TROUBLE_UNREAD   /* the recording is not closed: its end is missing so far */
};
/* viewer's time; from <= to */
struct gt_trouble {
	int64_t from, to;
	enum gt_trouble_kind kind;
};

struct gt_scene {
	struct gt_reader *reader; /* borrowed */
	struct gt_archive *archive;
	const char *name; /* path of the file; borrowed */
	char *excluded;   /* the globs of --exclude that the trace was copied without, or NULL */
	char *command;    /* the recorded command line, or NULL */
	struct gt_time_extent extent;
	struct gt_cell_window window; /* cells: as many as the visible view has */
	bool growing;                 /* the file may still grow */
	/* it has grown, and the view does not show that yet */
	bool is_outdated;
	struct gt_time_shown times;
	/* losses and missing ends; for damage see gt_scene_damage */
	struct gt_trouble *troubles;
	size_t ntroubles, troubles_cap;
	uint64_t lost;  /* number of rows that report losses */
	bool is_static; /* a printed frame, without a cursor */
	/* status line until the next key, or NULL; static, or status_text */
	const char *message;
	char status_text[200];
	/* the name of the view to show next, or NULL; static */
	const char *next_view;
	/* the timeline moves its cursor to this time, if has_target_time */
	int64_t target_time;
	bool has_target_time;
	/* the timeline moves its cursor to the first visible GPU */
	bool target_gpu;
	/* the timeline moves its cursor to this track */
	struct {
		uint32_t segment, track;
		bool is_set;
	} target_track;
	/* the timeline selects this row; segment's time */
	struct gt_scene_row {
		struct gt_lane_key lane;
		int64_t start, dur;
		bool is_set;
	} target_row;
	struct gt_marks marks;
	struct gt_bookmarks bookmarks;
	bool bookmarks_loaded;
	struct gt_report_job *report_job; /* made when first needed */
	/* by segment and track: number of rows known so far; or NULL */
	uint64_t **rows;
	/* by segment and device: GT_BIT(aspect - GT_ASPECT_HTOD) of the kinds of copies */
	uint8_t **copies;
	struct gt_depths depths; /* between two archives: known depths of lanes */
};

/* Reads what the first frame needs: little, whatever the size of the trace. 0 or negative; release
 * it in both cases. */
int gt_scene_open(struct gt_scene *s, struct gt_reader *r, const char *name, struct gt_err *err);
void gt_scene_release(struct gt_scene *s);
/* Call it after opening, before the first frame: the file may still grow. */
void gt_scene_set_growing(struct gt_scene *s, bool growing);
/* detach: releases everything that depends on the reader, before the reader reads on; views detach
 * first. reopen: uses the reader's new state. A window that showed everything, or the end, does so
 * again; else it keeps its time. 0 or negative. */
void gt_scene_detach(struct gt_scene *s);
int gt_scene_reopen(struct gt_scene *s, struct gt_reader *r, struct gt_err *err);
/* sets the status line until the next key */
void gt_scene_set_status(struct gt_scene *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
struct gt_report_job *gt_scene_report_job(struct gt_scene *s); /* NULL: no memory */
/* the file name without its folder; borrowed */
const char *gt_scene_title(const struct gt_scene *s);
/* The visible range, cut to the trace; INT64_MIN, INT64_MAX if all of it is visible. */
struct gt_range gt_scene_range(const struct gt_scene *s);
/* Shows [from, to] (viewer's time) with a margin in the timeline, with the cursor at `from`. */
void gt_scene_show_range(struct gt_scene *s, int64_t from, int64_t to);
/* ... and moves the cursor to the lane of that track */
void gt_scene_show_track(struct gt_scene *s, uint32_t segment, uint32_t track);
/* ... and selects a row of that lane by its start and duration; segment's time. */
void gt_scene_show_row(
	struct gt_scene *s, const struct gt_lane_key *lane, int64_t start, int64_t dur);
void gt_scene_goto(struct gt_scene *s, int64_t t); /* centers the timeline on t */
/* toggles between times since the start and wall-clock times, if these are known */
void gt_scene_toggle_clock(struct gt_scene *s);
/* Parses a time within the trace. NULL, or the reason of a failure: static. */
const char *gt_scene_time(const struct gt_scene *s, const char *text, int64_t *t);
/* Callbacks for lanes. After more blocks were read, gt_scene_update_lanes_callbacks updates them.
 */
struct gt_lanes_callbacks gt_scene_lanes_callbacks(struct gt_scene *s);
void gt_scene_update_lanes_callbacks(struct gt_scene *s);
/* Damaged range number i, as far as found by now. false: there are no more. */
bool gt_scene_damage(const struct gt_scene *s, size_t i, struct gt_trouble *to);
#endif
