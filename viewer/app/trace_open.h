/* How the viewer comes by a trace: whatever file it is, a reader comes out that has what pictures are drawn from, in portions, so that
 * somebody sees how far it is and may leave.
 *
 *   struct gt_opening *o = gt_opening_open(path, &options, &err);
 *   while ((more = gt_opening_step(o, 50, &err)) > 0)
 *           ... gt_opening_percent(o), gt_opening_doing(o); leave: gt_opening_close(o) ...
 *   archive = gt_archive_open(gt_opening_result(o), &err);
 *
 * A file that is still being written is looked at now and then (gt_opening_poll; 5 times a second is fine). When that says that there is
 * more, the archive, which knows the reader's inside, is closed, gt_opening_refresh is called, and an archive is opened anew; whose blocks
 * have the numbers they had. That costs what has come since, and the archive's opening: with many blocks do it less often.
 */
#ifndef GT_OPENING_H
#define GT_OPENING_H
#include "formats/base/err.h"
#include "formats/trace/read/reader.h"

struct gt_opening;
struct gt_opening_options {
	bool follow;		/* the file may still be being written: it is read as it is, without a copy */
	bool uncached;		/* copies are not kept, nor looked for */
	uint64_t small;		/* files of fewer bytes are opened in one go; 0: what takes less than a second */
};
/* Nothing of the file is read yet. "-" is stdin. new: close it, at any moment: what is going on then is cancelled. */
struct gt_opening *gt_opening_open(const char *path, const struct gt_opening_options *options, struct gt_err *err);
void gt_opening_close(struct gt_opening *o);			/* NULL is fine. The reader is closed, too */
/* Goes on, for some ms at most (but with a portion of it once begun). 1: there is more to do; 0: it is open; negative. */
int gt_opening_step(struct gt_opening *o, unsigned ms, struct gt_err *err);
unsigned gt_opening_percent(const struct gt_opening *o);	/* 0..100; 0 for as long as nobody knows */
const char *gt_opening_doing(const struct gt_opening *o);	/* "indexing: 1.2 of 3.4 GB"; borrowed until the next call */
/* The trace, when a step has said 0. The opening's own; until it is closed or refreshed. */
struct gt_reader *gt_opening_result(const struct gt_opening *o);
const char *gt_opening_path(const struct gt_opening *o);	/* to be shown: what was asked for, not the copy's */
/* What is to be told of the file, one line each: number i, or NULL. Borrowed until the next step, poll or refresh. */
const char *gt_opening_note(const struct gt_opening *o, size_t i);

/* Was it found damaged when it was copied? What could not be read is not in the copy, and so no damage of the result's. */
bool gt_opening_damaged(const struct gt_opening *o);

/* It is followed, and as far as is known somebody still writes it. */
bool gt_opening_follows(const struct gt_opening *o);
/* It would be followed, but nobody has begun to write it. */
bool gt_opening_waits(const struct gt_opening *o);

enum gt_followed {
	GT_FOLLOWED_SAME,	/* nothing has come */
	GT_FOLLOWED_GREW,	/* there is more: refresh */
	GT_FOLLOWED_CLOSED,	/* and it is complete: the recorder has written its end. Refresh, and it is followed no more */
	GT_FOLLOWED_LEFT,	/* nobody writes it any more, and it has no end: the recorder was killed. Said once */
	GT_FOLLOWED_ANEW	/* it was cut off or written over, or another file has its name: refresh, and step as after gt_opening_open */
};
/* Is there more in a followed file? Cheap. Notes say what has become of it. */
enum gt_followed gt_opening_poll(struct gt_opening *o);
/* Takes in what there is more. Nobody uses the reader when this is called. 0 or negative: there is no reader any more. */
int gt_opening_refresh(struct gt_opening *o, struct gt_err *err);
#endif
