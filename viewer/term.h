/* The terminal: the only door to ncurses. Shows a screen, says what was typed or clicked, and leaves the terminal as it was whatever
 * happens: at the end, by SIGTERM, SIGINT, SIGHUP, a crash, a stop (SIGTSTP) or a terminal that goes away. */
#ifndef GT_TERM_H
#define GT_TERM_H
#include "formats/base/err.h"
#include "viewer/keys.h"
#include "viewer/screen.h"

struct gt_term;
/* What the terminal can do is found out (TERM, COLORTERM, locale, NO_COLOR). in, out, term: NULL for the process' own; others for
 * tests. -ENOTSUP: it is dumb, or none, and err says so. new: close it. */
struct gt_term *gt_term_open(FILE *in, FILE *out, const char *term, struct gt_err *err);
void gt_term_close(struct gt_term *t);				/* NULL is fine */
enum gt_colours gt_term_colours(const struct gt_term *t);
bool gt_term_ascii(const struct gt_term *t);
void gt_term_size(const struct gt_term *t, unsigned *width, unsigned *height);
/* Shows it; sends only what has changed since the last one. */
void gt_term_show(struct gt_term *t, const struct gt_screen *s);
void gt_term_redraw(struct gt_term *t);				/* the next show sends everything: what is on it was spoilt */
/* What comes next, waiting for ms at most (-1: as long as it takes; 0: not at all): GT_KEY_NONE when nothing came, GT_KEY_RESIZE,
 * GT_KEY_GONE when the terminal went away or the process was told to end. */
struct gt_key gt_term_key(struct gt_term *t, int ms);
#endif
