/* A user before the viewer, without the terminal: keys in, frames out. What is drawn and what keys
 * do is the view's; the list of keys, what is asked for and messages are done here. */
#ifndef GT_UI_H
#define GT_UI_H
#include "viewer/app/command_table.h"
#include "viewer/view/view.h"

#define GT_UI_WORDS 32
/* a good step while somebody may press a key: with what cannot be cut off and a frame it is less
 * than 16 ms */
#define GT_UI_STEP_US 6000
struct gt_ui {
	struct gt_scene scene;
	struct gt_view views[GT_VIEWS_MOST]; /* as in gt_views; state NULL: not opened yet */
	struct gt_view *view;                /* the one that is shown */
	unsigned width, height;
	bool help;
	unsigned help_top; /* the first line of it that is shown */
	/* for what: GT_DO_NOTHING, or what is typed is an answer to it */
	enum gt_action asking;
	char typed[1024];
	bool overfull;                            /* more was typed than that holds */
	char words[GT_UI_WORDS][GT_COMMAND_WORD]; /* that it may become */
	size_t nwords;
	char status_text[80];             /* of a key */
	struct gt_export_job *export_job; /* or NULL */
	/* the view has, or may have, more to find out; what goes on in a thread or is exported does
	 * not count */
	bool busy;
	/* to be looked at after a key: it is over; everything is to be sent again (and set back) */
	bool quit, redraw;
};

/* name: of the file, to be shown; borrowed, as the reader is. 0 or negative; to be closed in both
 * cases. */
int gt_ui_open(struct gt_ui *s, struct gt_reader *r, const char *name,
	const struct gt_view_ops *ops, struct gt_err *err);
void gt_ui_close(struct gt_ui *s);
/* The reader is about to read on in a file that grows: all that was made of it is given back, and
 * nothing but gt_ui_close or _again may come next. Again: what the reader has by now is shown, as
 * the user has left it. 0 or negative. */
void gt_ui_detach(struct gt_ui *s);
int gt_ui_reopen(struct gt_ui *s, struct gt_reader *r, struct gt_err *err);
/* To be called before anything is drawn, and whenever the size changes. */
int gt_ui_resize(struct gt_ui *s, unsigned width, unsigned height, struct gt_err *err);
/* Shows that range (ns behind the start of the trace; INT64_MIN, INT64_MAX: as far as it goes).
 * After a resize. */
int gt_ui_range(struct gt_ui *s, int64_t from, int64_t to, struct gt_err *err);
int gt_ui_key(struct gt_ui *s, struct gt_key k, struct gt_err *err); /* 0 or negative */
/* shows that view now. 0 or negative */
int gt_ui_turn(struct gt_ui *s, const struct gt_view_ops *ops, struct gt_err *err);
/* The answer to what is asked for by a key, or by a command that is as good. NULL, or what there is
 * to say about it. */
const char *gt_ui_answer(
	struct gt_ui *s, enum gt_action asked, const char *text, struct gt_err *err);
/* as of a view: 1, 0 or negative */
int gt_ui_step(struct gt_ui *s, uint64_t us, struct gt_err *err);
/* makes the screen that size. to->ascii is looked at */
void gt_ui_draw(const struct gt_ui *s, struct gt_screen *to);
#endif
