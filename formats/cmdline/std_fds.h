/* What every main() does about the three standard streams. */
#ifndef GT_STREAMS_H
#define GT_STREAMS_H

/* First thing in main(). A program may be started with standard streams closed; the next file it
 * opened would get such a number, and messages or reports would be written into it. Puts there what
 * can be neither read nor written and is closed on exec, so that children find what we found. */
void gt_streams_guard(void);
#endif
