/* What remains of a program that a signal ends: nothing. */
#ifndef GT_INTERRUPTS_H
#define GT_INTERRUPTS_H

/* SIGINT, SIGTERM and SIGHUP, unless they are ignored, first remove unfinished files
 * (atomic_file.h), erase the line of progress (progress_line.h), and wait for the pager (pager.h),
 * which has the terminal; then they end the program as usual. */
void gt_interrupts_install(void);
#endif
