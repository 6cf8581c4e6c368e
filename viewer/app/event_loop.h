/* The event loop of a terminal session: opens the trace with a progress display, shows it, and
 * shows new events while it grows. */
#ifndef GT_EVENT_LOOP_H
#define GT_EVENT_LOOP_H
#include "viewer/app/trace_open.h"
#include "viewer/term/term.h"
#include "viewer/app/ui.h"

struct gt_event_loop_options {
	const struct gt_view_ops *view; /* the first view */
	struct gt_ui_times times;
	unsigned values; /* as in gt_ui_show_values */
	bool ascii;
};
/* Runs until the user quits or the terminal closes. The caller may have begun to open the trace; it
 * owns `o` and the terminal. 0 or negative. */
int gt_event_loop_run(struct gt_trace_open *o, struct gt_term *term,
	const struct gt_event_loop_options *options, struct gt_err *err);
#endif
