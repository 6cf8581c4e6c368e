/* Restores the terminal whenever the process ends or stops, and handles the signals. Handlers use
 * only async-signal-safe calls. One at a time in the process. */
#ifndef GT_TERMINAL_RESTORE_H
#define GT_TERMINAL_RESTORE_H
#include <stdbool.h>
#include <termios.h>
#include "formats/base/err.h"

#define GT_TERMINAL_SEQUENCE_MAX 400
struct gt_terminal_state {
	int fd;
	bool modes; /* fd is a terminal, so it has modes */
	struct termios theirs, ours;
	/* what to send to set up the terminal and to restore it */
	char setup[GT_TERMINAL_SEQUENCE_MAX], restore[GT_TERMINAL_SEQUENCE_MAX];
};

/* Installs the signal handlers; nothing is restored before _arm. Returns a borrowed descriptor that
 * is readable when a signal is pending. -EBUSY: a terminal is already open. */
int gt_terminal_restore_init(struct gt_err *err);
/* From now on the terminal must be restored to this state (copied). */
void gt_terminal_restore_arm(const struct gt_terminal_state *g);
/* Restores the terminal and the previous signal handlers. If a signal asked the process to end, it
 * ends here by that signal. */
void gt_terminal_restore_close(void);

enum {
	/* SIGTERM, SIGINT, SIGHUP: end within two seconds; a second such signal ends at once */
	GT_SIGNAL_END = 1,
	GT_SIGNAL_RESIZE = 2, /* SIGWINCH */
	/* the process continues after a stop: the content of the screen is lost */
	GT_SIGNAL_CONTINUED = 4
};
/* The signals since the last call. GT_SIGNAL_END stays pending. */
unsigned gt_signal_pending(void);
/* Another process uses the terminal now: write nothing. */
bool gt_is_suspended(void);
/* Call these around each write. A stop waits for the end of the write: otherwise the rest of it
 * would be written after the stop, to a terminal of another process. */
void gt_terminal_write_begin(void);
void gt_terminal_write_end(void);
#endif
