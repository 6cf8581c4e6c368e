/* Named moments of a trace, kept in a file beside it: TRACE.gtmarks, or, where nothing can be
 * written there, in the user's own folder for such things ($XDG_STATE_HOME/gt, ~/.local/state/gt).
 * It is text: a heading, then a line for each: when (ns behind the start of the trace), how wide a
 * cell was (log2 of ns), and its name. */
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
	struct gt_bookmark *list; /* by time */
	size_t n, cap;
	bool foreign;     /* it was there, and could not be read: it is not written */
	bool unsaved;     /* some of these are nowhere else */
	char *path;       /* of the file that they are in; NULL: there is none */
	struct stat file; /* that one, as it was read or written */
};
/* Reads those of a trace; that there is no such file is no error. Lines that mean nothing are left
 * out, and how many is said. -EILSEQ: it is somebody else's file, which is left alone. 0 or
 * negative; to be released in both cases. */
int gt_bookmarks_load(
	struct gt_bookmarks *b, const char *trace, size_t *strange, struct gt_err *err);
/* Before they are looked at or changed: what other viewers of the trace have written meanwhile
 * takes the place of what there was; where they have removed the file there are none. */
void gt_bookmarks_reload(struct gt_bookmarks *b, const char *trace);
/* Writes all of them: into a new file that then takes the place of the old one. Where there are
 * none the file is removed. -ESTALE: others have written it since it was read, so it stays, and
 * these are what it holds now. 0 or negative. */
int gt_bookmarks_save(struct gt_bookmarks *b, const char *trace, struct gt_err *err);
/* In place of one of that name. Control characters become spaces. 0, -ENOMEM, -ENOSPC: there are
 * too many, -EINVAL: that is no name. */
int gt_bookmarks_set(
	struct gt_bookmarks *b, const char *name, int64_t at, unsigned shift, struct gt_err *err);
bool gt_bookmarks_remove(struct gt_bookmarks *b, const char *name);
/* or NULL */
const struct gt_bookmark *gt_bookmarks_get(const struct gt_bookmarks *b, const char *name);
void gt_bookmarks_release(struct gt_bookmarks *b);
#endif
