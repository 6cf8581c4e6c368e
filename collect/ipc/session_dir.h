/* The folder of a session: where its socket lies, and the library where the program cannot load it
 * from its own place. */
#ifndef GT_SESSION_DIR_H
#define GT_SESSION_DIR_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include "formats/base/err.h"

#define GT_SESSION_PATH 100		/* of the folder: a socket's name has room for 108 bytes */

struct gt_session_dir {
	char path[GT_SESSION_PATH];	/* empty: there is none */
	char library[PATH_MAX];		/* what LD_PRELOAD must name */
	int fd;				/* locked as long as the session lasts */
};
/* The library to preload: $GT_GUEST, or beside the running program, or in ../lib/gt. 0; -ENOENT;
 * -EPERM: another user could replace the one that $GT_GUEST names, and we are root. */
int gt_session_library(char *path, size_t size, struct gt_err *err);
/* The folder in which sessions have theirs, found by making one. */
int gt_session_base(char base[GT_SESSION_PATH], struct gt_err *err);
/* Makes the folder in one that nobody else can rename. What killed processes of gtcollect left
 * there is removed. 0 or negative. */
int gt_session_dir_make(struct gt_session_dir *d, struct gt_err *err);
/* Removes it. A copy of the library stays while a running process has it, or its children could not
 * start cleanly. */
void gt_session_dir_remove(struct gt_session_dir *d);
#endif
