/* Key bindings: one table for dispatch, the list of keys and the manual page. */
#ifndef GT_BINDINGS_H
#define GT_BINDINGS_H
#include <stddef.h>
#include "formats/base/buf.h"
#include "viewer/term/keys.h"

enum gt_action {
	GT_DO_NOTHING,
	/* ---- time ---- */
	GT_DO_STEP, /* moves the cursor by arg columns */
	GT_DO_PAN,  /* moves the window by arg eighths of its width */
	GT_DO_ZOOM, /* arg steps in, around the cursor or the mouse */
	GT_DO_FIT,
	GT_DO_START,
	GT_DO_END,
	GT_DO_GOTO, /* prompts for a time */
	/* ---- lanes ---- */
	GT_DO_LINE,
	GT_DO_PAGE,
	GT_DO_TOP,
	GT_DO_BOTTOM,
	GT_DO_FOLD,
	GT_DO_FOLD_ALL, /* arg 1: fold, 0: unfold */
	GT_DO_HIDE,
	GT_DO_SHOW_HIDDEN,
	GT_DO_MOVE,   /* moves the lane by arg lines */
	GT_DO_FILTER, /* prompts for a text */
	/* ---- events ---- */
	/* selects the event at the cursor; on a lane without events it acts as GT_DO_FOLD; other
	   views do the same for their rows and boxes */
	GT_DO_SELECT,
	GT_DO_SAME,
	GT_DO_SAME_STACK,
	GT_DO_GAP,
	GT_DO_LONGEST_GAP,
	GT_DO_FAILURE, /* arg 1: next, -1: previous; also for the two above */
	GT_DO_PARTNER,
	GT_DO_LONGEST,
	GT_DO_FIND,          /* prompts for an expression */
	GT_DO_FOUND,         /* arg 1: next match, -1: previous */
	GT_DO_MARK,          /* sets a mark at the cursor */
	GT_DO_MARK_BOTH,     /* sets marks at both ends of the selection */
	GT_DO_OPEN_CALL,     /* goes to a call that was open at the end; a command, without a key */
	GT_DO_DETAIL,        /* next size of the detail pane */
	GT_DO_DETAIL_SCROLL, /* arg 1: down, -1: up */
	/* ---- display ---- */
	GT_DO_HEIGHTS, /* next or previous meaning of the heights, by arg */
	/* shows gt_views[arg]; the visible view may change its content */
	GT_DO_VIEW,
	GT_DO_SORT, /* sorts by the current column, or reverses the order */
	GT_DO_NEXT, /* next table, or event of the lane, by arg */
	GT_DO_CLOCK,
	/* ---- mouse ---- */
	GT_DO_POINT,
	GT_DO_POINT_FOLD,
	GT_DO_DRAG,
	GT_DO_RELEASE,
	GT_DO_COMMAND, /* prompts for a command; arg 1: begins with "bookmark", 2: with "jump" */
	/* ---- general ---- */
	GT_DO_HELP,
	GT_DO_ESCAPE,
	GT_DO_REDRAW,
	GT_DO_QUIT
};
struct gt_binding {
	/* key words of keys.h, separated by spaces; NULL: a heading, with its text in help, and its
	 * column on the screen in arg */
	const char *keys;
	enum gt_action action;
	int arg;
	/* one line; NULL: the row before describes this key, too */
	const char *help;
	/* for the list of keys on the screen: keys, a tab and at most 27 columns of text, also
	 * about following rows; NULL: a row before says it */
	const char *brief;
};
extern const struct gt_binding gt_bindings[];
extern const size_t gt_nbindings;

/* The binding of a key, or NULL; mouse positions are ignored. */
const struct gt_binding *gt_binding_of(struct gt_key k);
/* the help text of this row, or of the row that describes it */
const char *gt_binding_help(const struct gt_binding *b);
/* Appends the help text: headings, and "  keys   description" with keys padded to one width;
 * newlines and a NUL at the end. */
void gt_bindings_text(struct gt_buf *to);
#endif
