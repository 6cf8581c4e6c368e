/* A line on the terminal that shows how far a program has read its input:
 *
 *	reading train.zst: 42 %, 310 MB/s, 3 s left
 *
 * It appears on standard error if reading takes more than a second, and only if that is a terminal
 * that can erase a line (TERM is set, and not "dumb"). It changes at most ten times a second. */
#ifndef GT_PROGRESS_LINE_H
#define GT_PROGRESS_LINE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shows the progress of all reading from now on (progress.h). name: of the input, a path; copied.
 * wanted: false: does nothing (--no-progress). */
void gt_progress_line_start(const char *name, bool wanted);
/* Erases the line, which appears again when more is read. Call it before printing anything. */
void gt_progress_line_hide(void);
void gt_progress_line_stop(void); /* erases the line for good */
/* Erases the line; may be called in a signal handler. */
void gt_progress_line_erase(void);

/* The text of the line. total 0: unknown. ns: since the begin. */
void gt_progress_text(char *to, size_t size, const char *activity, const char *name, uint64_t done,
	uint64_t total, int64_t ns);
#endif
