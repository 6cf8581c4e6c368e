/* Folder of a session: it has the socket, and the library if the program cannot load the
 * installed one. */
#ifndef GT_SESSION_DIR_H
#define GT_SESSION_DIR_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include "formats/base/err.h"

/* bytes of the folder's path, NUL included: a socket's path has at most 108 bytes */
#define GT_SESSION_PATH 100

struct gt_session_dir {
	char path[GT_SESSION_PATH]; /* empty: there is none */
	char library[PATH_MAX];     /* the path for LD_PRELOAD */
	int fd;                     /* locked during the session */
};
/* The library to preload: $GT_GUEST, or beside the running program, or in ../lib/gt. 0; -ENOENT;
 * -EPERM: another user could replace the one that $GT_GUEST names, and gtcollect is root. */
int gt_session_library(char *path, size_t size, struct gt_err *err);
/* The folder in which sessions make theirs; finds it by making one. */
int gt_session_base(char base[GT_SESSION_PATH], struct gt_err *err);
/* Makes the folder in a place where no other user can rename it. Removes folders that killed
 * gtcollect processes have left there. 0 or negative. */
int gt_session_dir_make(struct gt_session_dir *d, struct gt_err *err);
/* Removes the folder. A copy of the library stays while a running process uses it, as the
 * children of that process need it to start. */
void gt_session_dir_remove(struct gt_session_dir *d);
#endif
