/* A file that is being written and has its name only when all of it is there. Until then it has
 * none at all where the file system knows such files, and is gone with its last descriptor,
 * whatever ends the program; elsewhere it has one of its own, which begins with a dot, and stays
 * behind when the program is killed. */
#ifndef GT_UNFINISHED_H
#define GT_UNFINISHED_H
#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#define GT_UNFINISHED_NAME 48
struct gt_unfinished {
	int fd;                        /* -1: there is none */
	char name[GT_UNFINISHED_NAME]; /* "": it has none yet */
};

/* Where a file of this path is to be: its folder (new, a descriptor), its name there and the mode
 * of the file that has it, or 0. A symbolic link is followed: its target is replaced. 0; -EEXIST:
 * the name is taken, and not to be replaced; -EINVAL: there is something else than a file; or a
 * negative errno. *folder is -1 or to be closed in any case. */
int gt_unfinished_place(
	const char *path, bool replace, int *folder, char name[NAME_MAX + 1], mode_t *mode);
/* In the folder (a descriptor, borrowed); `before`: what its own name begins with, a few
 * characters. 0 or a negative errno. */
int gt_unfinished_begin(struct gt_unfinished *u, int folder, const char *before, mode_t mode);
/* Gives it its name in that folder: in place of what has it, or -EEXIST. It stays open. 0 or a
 * negative errno: then it has none. */
int gt_unfinished_keep(
	struct gt_unfinished *u, int folder, const char *before, const char *name, bool replace);
/* closes it; what was not kept is gone */
void gt_unfinished_drop(struct gt_unfinished *u, int folder);
#endif
