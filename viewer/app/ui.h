/* The user interface without the terminal: keys in, frames out. Views draw and handle their keys;
 * this file handles the list of keys, prompts and status messages. */
#ifndef GT_UI_H
#define GT_UI_H
#include "viewer/app/commands.h"
#include "viewer/app/export_job.h"
#include "viewer/view/view.h"

#define GT_UI_WORDS 32
/* The duration of a step while the user may press a key: with the longest uninterruptible part and
 * a frame it takes less than 16 ms. */
#define GT_UI_STEP_US 6000
struct gt_ui {
	struct gt_scene scene;
	struct gt_view views[GT_VIEWS_MOST]; /* indexed as gt_views; state NULL: not opened yet */
	struct gt_view *view;                /* the visible view */
	unsigned width, height;
	bool help;
	unsigned help_top; /* first visible line of the list of keys */
	/* the action whose prompt is open; GT_DO_NOTHING: no prompt */
	enum gt_action asking;
	char typed[1024];
	bool overfull;                            /* the input is longer than `typed` */
	char words[GT_UI_WORDS][GT_COMMAND_WORD]; /* possible completions */
	size_t nwords;
	struct gt_export_job *export_job; /* NULL: no export is running */
	/* the view has more work; background jobs and exports do not count */
	bool busy;
	/* set by a key: quit; send the whole screen again (the caller clears it) */
	bool quit, redraw;
};

/* name: the displayed file name. Name and reader are borrowed. 0 or negative; close it in both
 * cases. */
int gt_ui_open(struct gt_ui *s, struct gt_reader *r, const char *name,
	const struct gt_view_ops *ops, struct gt_err *err);
void gt_ui_close(struct gt_ui *s);
/* detach: call before the reader reads on in a growing file; it releases everything that depends on
 * the reader. Then call only gt_ui_reopen or gt_ui_close. reopen: shows what the reader has now,
 * and keeps what the user chose. 0 or negative. */
void gt_ui_detach(struct gt_ui *s);
int gt_ui_reopen(struct gt_ui *s, struct gt_reader *r, struct gt_err *err);
/* Call it before the first draw and whenever the size changes. */
int gt_ui_resize(struct gt_ui *s, unsigned width, unsigned height, struct gt_err *err);
/* Shows a range (ns since the start of the trace; INT64_MIN, INT64_MAX: without limit). Call it
 * after a resize. */
int gt_ui_range(struct gt_ui *s, int64_t from, int64_t to, struct gt_err *err);
/* The times that a command line requests, as in gt_ui_range. */
struct gt_ui_times {
	enum {
		GT_UI_ALL,
		GT_UI_RANGE,  /* [from, to) */
		GT_UI_SPAN,   /* [from, to) with a margin of a quarter on each side; marked */
		GT_UI_MIDDLE, /* `from` in the middle */
	} how;
	int64_t from, to;
};
/* Call it after a resize. 0 or negative. */
int gt_ui_show_times(struct gt_ui *s, const struct gt_ui_times *times, struct gt_err *err);
/* What cells of the timeline show: the busy share (0), or what the n-th press of b shows. 0 or
 * negative. */
int gt_ui_show_values(struct gt_ui *s, unsigned n, struct gt_err *err);
int gt_ui_key(struct gt_ui *s, struct gt_key k, struct gt_err *err); /* 0 or negative */
/* Shows a view now. 0 or negative */
int gt_ui_turn(struct gt_ui *s, const struct gt_view_ops *ops, struct gt_err *err);
/* Executes the input of a prompt, or an equal command. NULL, or a message. */
const char *gt_ui_answer(
	struct gt_ui *s, enum gt_action asked, const char *text, struct gt_err *err);
/* as gt_view_ops.step: 1, 0 or negative */
int gt_ui_step(struct gt_ui *s, uint64_t us, struct gt_err *err);
/* Resizes the screen if needed; reads to->ascii. */
void gt_ui_draw(const struct gt_ui *s, struct gt_screen *to);
#endif
