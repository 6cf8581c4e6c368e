#ifndef GT_STD_FDS_H
#define GT_STD_FDS_H

/* Occupies closed standard descriptors. Every main() calls it first: a program may be started with
 * standard streams closed, and a file that it opens would then get such a number, so that messages
 * or reports would be written into that file. The descriptors it opens can be neither read nor
 * written, and are closed on exec, so that children inherit the streams as they were. */
void gt_std_fds_occupy(void);
#endif
