/* Bookmarks: named times of a trace in a file beside it, TRACE.gtmarks, or in the user's state
 * folder ($XDG_STATE_HOME/gt, ~/.local/state/gt) if the first cannot be written. The file is text:
 * a heading, then one line for each: time (ns since the start of the trace), cell width (log2 of
 * ns), name. It is written to a temporary file, which is renamed. atomic_file.h is not used:
 * gt_atomic_file_place() returns the target of a symbolic link, and a link beside a trace may be
 * another user's. */
#ifndef GT_BOOKMARKS_H
#define GT_BOOKMARKS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include "formats/base/err.h"

#define GT_BOOKMARK_NAME 64
#define GT_BOOKMARKS_MOST 1000u
struct gt_bookmark {
	int64_t at;
	unsigned shift;
	char name[GT_BOOKMARK_NAME];
};
struct gt_bookmarks {             /* zero-initialised is empty */
	struct gt_bookmark *list; /* sorted by time */
	size_t n, cap;
	bool unreadable;  /* the file exists but is unreadable: it is not written */
	bool unsaved;     /* some bookmarks are not in the file */
	char *path;       /* of the file; NULL: no file */
	struct stat file; /* its state when it was read or written */
};
/* Reads the bookmarks of a trace; a missing file is not an error. *strange: number of invalid
 * lines, which are skipped. -EILSEQ: it is not a bookmark file. 0 or negative; release it in both
 * cases. */
int gt_bookmarks_load(
	struct gt_bookmarks *b, const char *trace, size_t *strange, struct gt_err *err);
/* Call it before reading or changing bookmarks: takes over the changes of other viewers, also a
 * removed file. */
void gt_bookmarks_reload(struct gt_bookmarks *b, const char *trace);
/* Writes all bookmarks into a new file, which replaces the old one; without bookmarks it removes
 * the file. -ESTALE: another program has changed the file: nothing is written, and the list is read
 * again. 0 or negative. */
int gt_bookmarks_save(struct gt_bookmarks *b, const char *trace, struct gt_err *err);
/* Adds a bookmark, or replaces the one with this name. Control characters become spaces. 0,
 * -ENOMEM, -ENOSPC: too many, -EINVAL: invalid name. */
int gt_bookmarks_set(
	struct gt_bookmarks *b, const char *name, int64_t at, unsigned shift, struct gt_err *err);
bool gt_bookmarks_remove(struct gt_bookmarks *b, const char *name);
/* NULL: not found */
const struct gt_bookmark *gt_bookmarks_get(const struct gt_bookmarks *b, const char *name);
void gt_bookmarks_release(struct gt_bookmarks *b);
#endif
