/* Gives the terminal back, whatever happens: signals, and the two strings and modes that take a
 * terminal and give it back. Everything here that a signal may bring about is made of calls that
 * are allowed in a signal's handler. One at a time, for the whole process. */
#ifndef GT_TERMINAL_RESTORE_H
#define GT_TERMINAL_RESTORE_H
#include <stdbool.h>
#include <termios.h>
#include "formats/base/err.h"

#define GT_TERMINAL_SEQUENCE_MAX 400
struct gt_terminal_state {
	int fd;
	bool modes; /* fd is a terminal, which has modes */
	struct termios theirs, ours;
	char take[GT_TERMINAL_SEQUENCE_MAX], give[GT_TERMINAL_SEQUENCE_MAX];
};

/* From here signals are ours; there is nothing yet to be given back. Returns a descriptor,
 * borrowed, that can be read from when something was told. -EBUSY: it is open. */
int gt_terminal_restore_init(struct gt_err *err);
/* the terminal is in use; copied */
void gt_terminal_restore_arm(const struct gt_terminal_state *g);
/* Gives it back, and signals too. Does not return when the process was told to end: it ends by that
 * signal here. */
void gt_terminal_restore_close(void);

enum {
	/* SIGTERM, SIGINT, SIGHUP: there are two seconds for it; a second one ends it at once */
	GT_SIGNAL_END = 1,
	GT_SIGNAL_RESIZE = 2, /* SIGWINCH */
	/* it was stopped, and has the terminal again: all that it showed is gone */
	GT_SIGNAL_CONTINUED = 4
};
/* since it was last asked, but for GT_SIGNAL_END, which stays */
unsigned gt_signal_pending(void);
/* the terminal is somebody else's for now: nothing may be written */
bool gt_is_suspended(void);
/* Around what is written: a stop waits for its end. Otherwise the rest of it would come when the
 * terminal is somebody else's. */
void gt_terminal_write_begin(void);
void gt_terminal_write_end(void);
#endif
