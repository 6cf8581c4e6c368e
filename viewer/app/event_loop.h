/* A user at a terminal, from the first to the last key: the trace is opened before his eyes, shown,
 * and shown anew as it grows. */
#ifndef GT_EVENT_LOOP_H
#define GT_EVENT_LOOP_H
#include "viewer/app/trace_open.h"
#include "viewer/term/term.h"
#include "viewer/app/ui.h"

struct gt_event_loop_options {
	const struct gt_view_ops *view; /* to begin with */
	int64_t from, to;               /* ns behind the start, as of gt_ui_range */
	bool ranged;                    /* ... is shown; else all */
	bool ascii;
};
/* Until the user leaves, or the terminal goes away. The opening may have begun; it is the caller's,
 * as the terminal is. 0 or negative. */
int gt_event_loop_run(struct gt_trace_open *o, struct gt_term *term,
	const struct gt_event_loop_options *options, struct gt_err *err);

/* The screen while a trace is being opened. */
void gt_progress_draw(const char *name, const char *doing, unsigned percent, struct gt_screen *to);
#endif
