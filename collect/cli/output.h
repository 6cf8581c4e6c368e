/* The trace file: its name, and whether it may be written. */
#ifndef GT_OUTPUT_H
#define GT_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "formats/base/err.h"

/* Expands %h host, %p process id of gtcollect, %t time (YYYYMMDD-HHMMSS), %q{VAR} an environment
 * variable, %% in a pattern. NULL is gt-COMMAND-TIME-PID.zst. Slashes in the values of %h and %q
 * become '_'. "-" is refused, because the standard output is the program's. 0 or -EINVAL. */
int gt_output_name(
	const char *pattern, const char *command, char *to, size_t size, struct gt_err *err);

struct gt_output {
	int fd;
	bool created; /* gtcollect created it, and removes it if recording fails */
	dev_t dev;    /* the file behind fd; ino 0: not a regular file */
	ino_t ino;
	char path[4096];
};
/* Opens and locks the file. It refuses an existing regular file unless `force`, and always a file
 * that another gtcollect writes, and a file or pipe that is one of the standard streams, which
 * belong to the program. A file that is not regular is opened non-blocking. What the file holds
 * remains until gt_output_empty. 0 or negative. */
int gt_output_open(struct gt_output *o, const char *path, bool force, struct gt_err *err);
/* Removes what an existing regular file holds, just before the trace is written. 0 or negative. */
int gt_output_empty(const struct gt_output *o, struct gt_err *err);
/* Is the file still there under its name? -ENOENT: it was removed or replaced. */
int gt_output_check(const struct gt_output *o, struct gt_err *err);
#endif
