/* The terminal: the only door to ncurses. Shows a screen, says what was typed or clicked, and
 * leaves the terminal as it was whatever happens: at the end, by SIGTERM, SIGINT, SIGHUP, a crash,
 * a stop (SIGTSTP) or a terminal that goes away (guard.h). One at a time. */
#ifndef GT_TERM_H
#define GT_TERM_H
#include <stdio.h>
#include "formats/base/err.h"
#include "viewer/term/keys.h"
#include "viewer/term/screen.h"

struct gt_term;
/* What the terminal can do is found out (TERM, COLORTERM, locale, NO_COLOR). in, out, term: NULL
 * for the process' own; others for tests. When standard input is no terminal, keys come from
 * /dev/tty. Sets the locale of characters (LC_CTYPE). -ENOTSUP: the terminal is dumb, or there is
 * none, and err says so. new: close it. */
struct gt_term *gt_term_open(FILE *in, FILE *out, const char *term, struct gt_err *err);
/* Gives the terminal back. A process that was told to end by a signal ends here, by that signal:
 * what is to be kept must be in its file by then. NULL is fine. */
void gt_term_close(struct gt_term *t);
enum gt_colours gt_term_colours(const struct gt_term *t);
bool gt_term_ascii(const struct gt_term *t);
/* As of the last GT_KEY_RESIZE; GT_SCREEN_MOST at most. */
void gt_term_size(const struct gt_term *t, unsigned *width, unsigned *height);
/* Shows it; sends only what has changed since the last one. A screen of another size is cut, or has
 * nothing beside it. */
void gt_term_show(struct gt_term *t, const struct gt_screen *s);
/* the next show sends everything: what is on it was spoilt */
void gt_term_redraw(struct gt_term *t);
/* What comes next, waiting for ms at most (-1: as long as it takes; 0: not at all): GT_KEY_NONE
 * when nothing came, GT_KEY_RESIZE (show again: the size is another, or what was shown is gone),
 * GT_KEY_GONE when the terminal went away or the process was told to end: close it then, within two
 * seconds. Ctrl-C is a key (3); Ctrl-Z stops the process, and is none. Movements of the mouse that
 * were not asked for in time are one. */
struct gt_key gt_term_key(struct gt_term *t, int ms);
#endif
