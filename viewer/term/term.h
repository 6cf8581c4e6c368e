/* The terminal: the only code that uses ncurses. It shows a screen, reads keys and the mouse, and
 * restores the terminal at the end, on SIGTERM, SIGINT, SIGHUP, a crash, a stop (SIGTSTP) or when
 * the terminal is closed (terminal_restore.h). One at a time. */
#ifndef GT_TERM_H
#define GT_TERM_H
#include <stdio.h>
#include "formats/base/err.h"
#include "viewer/term/keys.h"
#include "viewer/term/screen.h"

struct gt_term;
/* Detects the terminal's abilities (TERM, COLORTERM, locale, NO_COLOR). in, out, term: NULL for
 * those of the process; others for tests. If standard input is not a terminal, keys are read from
 * /dev/tty. Sets LC_CTYPE. -ENOTSUP: there is no terminal, or it cannot move its cursor. new: close
 * it. */
struct gt_term *gt_term_open(FILE *in, FILE *out, const char *term, struct gt_err *err);
/* Restores the terminal. If a signal asked the process to end, the process ends here by that
 * signal: save all data before. NULL is fine. */
void gt_term_close(struct gt_term *t);
enum gt_colours gt_term_colours(const struct gt_term *t);
bool gt_term_ascii(const struct gt_term *t);
/* As of the last GT_KEY_RESIZE; GT_SCREEN_MOST at most. */
void gt_term_size(const struct gt_term *t, unsigned *width, unsigned *height);
/* Shows a screen; sends only the differences from the previous one. A larger screen is cut, and
 * the rest of the terminal is empty beside a smaller one. */
void gt_term_show(struct gt_term *t, const struct gt_screen *s);
/* The next gt_term_show sends everything: another program wrote to the terminal. */
void gt_term_redraw(struct gt_term *t);
/* Waits for the next key for at most ms (-1: without limit; 0: not at all). GT_KEY_NONE: there was
 * none. GT_KEY_RESIZE: show the screen again, because the size changed or the content was lost.
 * GT_KEY_HANGUP: the terminal was closed, or a signal asks the process to end: close within two
 * seconds. Ctrl-C is a key (3); Ctrl-Z stops the process and is not a key. Of several pending
 * mouse movements, only the last one is returned. */
struct gt_key gt_term_key(struct gt_term *t, int ms);
#endif
