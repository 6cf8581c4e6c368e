/* A file that gets its name only when it is complete. Until then it has no name if the file system
 * supports that (O_TMPFILE): then it disappears with its last descriptor, however the program ends.
 * On other file systems it has a temporary name that begins with a dot. A program that SIGKILL ends
 * leaves it there; a handler of other signals can remove it. */
#ifndef GT_ATOMIC_FILE_H
#define GT_ATOMIC_FILE_H
#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#define GT_ATOMIC_FILE_NAME 48
struct gt_atomic_file {
	int fd;                         /* -1: no file is open */
	char name[GT_ATOMIC_FILE_NAME]; /* its temporary name; "": none */
};

/* Finds where to create the file of this path: its folder (*folder: a new descriptor, or -1; the
 * caller closes it, also after an error), its name there, and the mode of an existing file, or 0. A
 * symbolic link is followed: its target is replaced. 0; -EEXIST: the file exists and `replace` is
 * false; -EINVAL: the path is not a file; or a negative errno. */
int gt_atomic_file_place(
	const char *path, bool replace, int *folder, char name[NAME_MAX + 1], mode_t *mode);
/* Creates the file in the folder (a descriptor, borrowed). prefix: a few characters with which its
 * temporary name begins. 0 or a negative errno. */
int gt_atomic_file_create(struct gt_atomic_file *f, int folder, const char *prefix, mode_t mode);
/* Gives the file its final name in that folder. replace: an existing file of this name is replaced;
 * else that is -EEXIST. The file stays open. 0 or a negative errno: then it has no name. */
int gt_atomic_file_commit(
	struct gt_atomic_file *f, int folder, const char *prefix, const char *name, bool replace);
/* Removes the temporary names of all files that are open now. The folders must be open. May be
 * called in a signal handler that ends the program. */
void gt_atomic_files_remove(void);
/* Closes the file, and removes it if it has no final name. */
void gt_atomic_file_close(struct gt_atomic_file *f, int folder);
#endif
