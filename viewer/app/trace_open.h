/* How the viewer comes by a trace: whatever file it is, a reader comes out that has what pictures
 * are drawn from, in portions, so that somebody sees how far it is and may leave.
 *
 *   struct gt_trace_open *o = gt_trace_open_start(path, &options, &err);
 *   while ((more = gt_trace_open_step(o, 50, &err)) > 0)
 *           ... gt_trace_open_percent(o), gt_trace_open_progress(o); leave: gt_trace_open_close(o)
 * ... archive = gt_archive_open(gt_trace_open_result(o), &err);
 *
 * A file that is still being written is looked at now and then (gt_trace_open_poll; 5 times a
 * second is fine). When that says that there is more, the archive, which knows the reader's inside,
 * is closed, gt_trace_open_refresh is called, and an archive is opened anew; whose blocks have the
 * numbers they had. That costs what has come since, and the archive's opening: with many blocks do
 * it less often.
 */
#ifndef GT_TRACE_OPEN_H
#define GT_TRACE_OPEN_H
#include "formats/base/err.h"
#include "formats/trace/read/reader.h"

struct gt_trace_open;
struct gt_trace_open_options {
	/* the file may still be being written: it is read as it is, without a copy */
	bool follow;
	bool uncached; /* copies are not kept, nor looked for */
	/* files of fewer bytes are opened in one go; 0: what takes less than a second */
	uint64_t small;
};
/* Nothing of the file is read yet. "-" is stdin. new: close it, at any moment: what is going on
 * then is cancelled. */
struct gt_trace_open *gt_trace_open_start(
	const char *path, const struct gt_trace_open_options *options, struct gt_err *err);
/* NULL is fine. The reader is closed, too */
void gt_trace_open_close(struct gt_trace_open *o);
/* Goes on, for some ms at most (but with a portion of it once begun). 1: there is more to do; 0: it
 * is open; negative. */
int gt_trace_open_step(struct gt_trace_open *o, unsigned ms, struct gt_err *err);
/* 0..100; 0 for as long as nobody knows */
unsigned gt_trace_open_percent(const struct gt_trace_open *o);
/* "indexing: 1.2 of 3.4 GB"; borrowed until the next call */
const char *gt_trace_open_progress(const struct gt_trace_open *o);
/* The trace, when a step has said 0. The opening's own; until it is closed or refreshed. */
struct gt_reader *gt_trace_open_result(const struct gt_trace_open *o);
/* to be shown: what was asked for, not the copy's */
const char *gt_trace_open_path(const struct gt_trace_open *o);
/* What is to be told of the file, one line each: number i, or NULL. Borrowed until the next step,
 * poll or refresh. */
const char *gt_trace_open_note(const struct gt_trace_open *o, size_t i);

/* Was it found damaged when it was copied? What could not be read is not in the copy, and so no
 * damage of the result's. */
bool gt_trace_open_is_damaged(const struct gt_trace_open *o);

/* It is followed, and as far as is known somebody still writes it. */
bool gt_trace_open_is_following(const struct gt_trace_open *o);
/* It would be followed, but nobody has begun to write it. */
bool gt_trace_open_is_waiting(const struct gt_trace_open *o);

enum gt_follow_state {
	GT_FOLLOW_UNCHANGED, /* nothing has come */
	GT_FOLLOW_GREW,      /* there is more: refresh */
	/* and it is complete: the recorder has written its end. Refresh, and it is followed no more
	 */
	GT_FOLLOW_CLOSED,
	/* nobody writes it any more, and it has no end: the recorder was killed. Said once */
	GT_FOLLOW_ABANDONED,
	/* it was cut off or written over, or another file has its name: refresh, and step as after
	   gt_trace_open_start */
	GT_FOLLOW_REPLACED
};
/* Is there more in a followed file? Cheap. Notes say what has become of it. */
enum gt_follow_state gt_trace_open_poll(struct gt_trace_open *o);
/* Takes in what there is more. Nobody uses the reader when this is called. 0 or negative: there is
 * no reader any more. */
int gt_trace_open_refresh(struct gt_trace_open *o, struct gt_err *err);
#endif
