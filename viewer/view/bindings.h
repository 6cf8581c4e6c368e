/* What keys do: one table, which dispatch, the ? screen and the manual page read. */
#ifndef GT_BINDINGS_H
#define GT_BINDINGS_H
#include <stddef.h>
#include "formats/base/buf.h"
#include "viewer/term/keys.h"

enum gt_action {
	GT_DO_NOTHING,
	/* in time */
	GT_DO_STEP, /* the cursor, by arg columns */
	GT_DO_PAN,  /* the window, by arg eighths of its width */
	GT_DO_ZOOM, /* arg steps in, about the cursor, or where the mouse is */
	GT_DO_FIT,
	GT_DO_START,
	GT_DO_END,
	GT_DO_GOTO, /* asks for a time */
	/* among lanes */
	GT_DO_LINE, /* by arg lines */
	GT_DO_PAGE, /* by arg screens */
	GT_DO_TOP,
	GT_DO_BOTTOM,
	GT_DO_FOLD,     /* or unfold */
	GT_DO_FOLD_ALL, /* arg: fold or unfold */
	GT_DO_HIDE,
	GT_DO_SHOW_HIDDEN,
	GT_DO_MOVE,   /* the lane, by arg */
	GT_DO_FILTER, /* asks for a text */
	/* events */
	/* what is at the cursor; where no events are drawn, as GT_DO_FOLD; as that elsewhere, too
	 */
	GT_DO_SELECT,
	GT_DO_SAME,
	GT_DO_GAP,
	GT_DO_FAILURE, /* the next one, or by arg the one before */
	GT_DO_PARTNER,
	GT_DO_LONGEST,
	GT_DO_FIND,      /* asks for an expression */
	GT_DO_FOUND,     /* the next one, by arg */
	GT_DO_MARK,      /* at the cursor */
	GT_DO_MARK_BOTH, /* the ends of what is selected */
	GT_DO_OPEN_CALL, /* a call that was open at the end; no key does it */
	GT_DO_DETAIL,    /* another size of the pane */
	/* what is shown */
	GT_DO_HEIGHTS, /* arg further */
	/* number arg of gt_views; the one that is shown may show something else then */
	GT_DO_VIEW,
	GT_DO_SORT, /* by the column at hand, or the other way round */
	GT_DO_NEXT, /* table, or event of the lane, by arg */
	GT_DO_CLOCK,
	/* with the mouse */
	GT_DO_POINT,
	GT_DO_POINT_FOLD,
	GT_DO_DRAG,
	GT_DO_RELEASE,
	GT_DO_COMMAND, /* asks for one; arg: 1 "bookmark", 2 "jump" stand there already */
	/* all of it */
	GT_DO_HELP,
	GT_DO_ESCAPE,
	GT_DO_REDRAW,
	GT_DO_QUIT
};
struct gt_binding {
	/* the words of keys.h, apart by spaces; NULL: a heading, which is its help */
	const char *keys;
	enum gt_action action;
	int arg;
	/* one line; NULL: as the row before, whose keys are told together with these */
	const char *help;
};
extern const struct gt_binding gt_bindings[];
extern const size_t gt_nbindings;

/* The row of a key, or NULL. Where the mouse is does not matter. */
const struct gt_binding *gt_binding_of(struct gt_key k);
/* its own, or that of the row that tells it */
const char *gt_binding_help(const struct gt_binding *b);
/* Lines for help: headings, and "  keys   what they do" with the keys padded to one width. Appended
 * with newlines, and a 0 at the end. */
void gt_bindings_text(struct gt_buf *to);
#endif
