/* Shows the standard output of a program in a pager, if it is a terminal, as git does: GT_PAGER,
 * else PAGER, else less. If the variable is empty or "cat", the terminal is dumb, or the pager
 * cannot be started, the output goes to the terminal directly. LESS=FRX is set for the pager, if
 * LESS is not set: it ends if the output fits the screen, shows colours, and leaves its text there.
 */
#ifndef GT_PAGER_H
#define GT_PAGER_H
#include <stdbool.h>

/* Call it before the first output; later calls do nothing. From then on the standard output, and
 * standard error if it is a terminal, go to the pager. The width and the colours (terminal.h) are
 * still those of the terminal. Writing fails with EPIPE, not with SIGPIPE, after the user has quit
 * the pager: that is no error. */
void gt_pager_start(void);
bool gt_pager_is_used(void);
/* At the end of the program: waits until the user quits the pager. May be called in a signal
 * handler that ends the program. */
void gt_pager_finish(void);
#endif
