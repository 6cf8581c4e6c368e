/* Opens any trace file for the viewer, in steps, so that progress is visible and the user can quit.
The reader that it returns has the summaries that drawing needs.
 *
 *   struct gt_trace_open *o = gt_trace_open_start(path, &options, &err);
  while ((more = gt_trace_open_step(o, 50, &err)) > 0)
 *          ... gt_trace_open_percent(o), gt_trace_open_progress(o); quit: gt_trace_open_close(o)
... archive = gt_archive_open(gt_trace_open_result(o), &err);
 *
 * A file that is being recorded is polled (gt_trace_open_poll, for example 5 times a second). When
it has grown, close the archive, call gt_trace_open_refresh, and open an archive again; blocks keep
their numbers. The cost is that of the new data and of opening the archive, so do it less often when
there are many blocks. */
#ifndef GT_TRACE_OPEN_H
#define GT_TRACE_OPEN_H
#include "formats/base/err.h"
#include "formats/cmdline/opt.h"
#include "formats/trace/read/reader.h"

struct gt_trace_open;
struct gt_trace_open_options {
	/* the file may still be written: it is read directly, without a copy */
	bool follow;
	bool uncached; /* the cache is neither read nor written */
	/* globs of names that the trace is copied without, for this time only, or NULL. Not
	 * together with follow. Borrowed */
	const struct gt_opt_list *exclude;
	/* smaller files are opened without a copy, bytes; 0: those that take less than a second */
	uint64_t small;
};
/* Reads nothing yet. "-": standard input. new: close it, at any moment: that cancels
 * running work. */
struct gt_trace_open *gt_trace_open_start(
	const char *path, const struct gt_trace_open_options *options, struct gt_err *err);
/* NULL is fine. It also closes the reader. */
void gt_trace_open_close(struct gt_trace_open *o);
/* Works for at most `ms` (but completes a portion). 1: there is more to do; 0: it is open;
 * negative. */
int gt_trace_open_step(struct gt_trace_open *o, unsigned ms, struct gt_err *err);
/* 0..100; 0 also if unknown */
unsigned gt_trace_open_percent(const struct gt_trace_open *o);
/* "indexing: 1.2 of 3.4 GB"; borrowed until the next call */
const char *gt_trace_open_progress(const struct gt_trace_open *o);
/* The trace, after a step has returned 0. Owned by `o`; valid until a refresh or the close. */
struct gt_reader *gt_trace_open_result(const struct gt_trace_open *o);
/* the path of the original file, not of its copy */
const char *gt_trace_open_path(const struct gt_trace_open *o);
/* Note number i about the file, one line, or NULL. Borrowed until the next step, poll or refresh.
 */
const char *gt_trace_open_note(const struct gt_trace_open *o, size_t i);

/* Was damage found when it was copied? The copy lacks that data, so its reader reports no damage.
 */
bool gt_trace_open_is_damaged(const struct gt_trace_open *o);

/* The file is followed, and as far as known still being written. */
bool gt_trace_open_is_following(const struct gt_trace_open *o);
/* It will be followed when a recorder begins to write it. */
bool gt_trace_open_is_waiting(const struct gt_trace_open *o);

enum gt_follow_state {
	GT_FOLLOW_UNCHANGED, /* the file is unchanged */
	GT_FOLLOW_GREW,      /* the file has grown: refresh */
	/* the file has grown and is complete: refresh; it is not followed any more */
	GT_FOLLOW_CLOSED,
	/* the recorder ended without closing the file; reported once */
	GT_FOLLOW_ABANDONED,
	/* the file became shorter, was overwritten or replaced: refresh, then step as after
	   gt_trace_open_start */
	GT_FOLLOW_REPLACED
};
/* Checks a followed file. Cheap. Notes describe its state. */
enum gt_follow_state gt_trace_open_poll(struct gt_trace_open *o);
/* Reads the new data. Nothing else may use the reader then. 0; negative: the reader is closed. */
int gt_trace_open_refresh(struct gt_trace_open *o, struct gt_err *err);
#endif
