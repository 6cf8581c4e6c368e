/* The trace file: its name, and the right to write it. */
#ifndef GT_OUTPUT_H
#define GT_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "formats/base/err.h"

/* Expands %h host, %p our process id, %t time (YYYYMMDD-HHMMSS), %q{VAR} an environment variable, %% in a pattern; NULL is
 * gt-COMMAND-TIME-PID.zst. What is put in for %h and %q has its slashes made '_'. "-" is refused: the
 * standard output is the program's. 0 or -EINVAL. */
int gt_output_name(const char *pattern, const char *command, char *to, size_t size, struct gt_err *err);

struct gt_output {
	int fd;
	bool created;		/* by us: may be removed if nothing comes of it */
	dev_t dev;		/* what is behind fd; ino 0: no regular file */
	ino_t ino;
	char path[4096];
};
/* Opens and locks. Refused: an existing regular file unless force; always, one that is being
 * written, and a file or pipe that is one of our standard streams, as these are the program's. What
 * is no regular file does not block. 0 or negative. */
int gt_output_open(struct gt_output *o, const char *path, bool force, struct gt_err *err);
/* Does the name still lead to the file? -ENOENT when it was removed or replaced meanwhile. */
int gt_output_check(const struct gt_output *o, struct gt_err *err);
#endif
