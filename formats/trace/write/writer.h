/* Writes one segment of a trace file (TRACE_FORMAT.md). Used by the recorder, by importers, and by
 * gtexport --native.
 *
 * Rows collect per track and reach the file in epochs: the caller closes an epoch when
 * gt_writer_due() says so (about 1 s or 8 MiB unpacked); a track that fills a block earlier is
 * packed at once, so memory stays bounded (GT_WRITER_MEMORY) however long an epoch is. Strings,
 * types and tracks are written before the first block that uses them. Not thread-safe.
 *
 * After any function failed the writer stays usable for gt_writer_close() only; what is in the file
 * is a valid unclosed trace up to the last finished block.
 */
#ifndef GT_WRITER_H
#define GT_WRITER_H
#include <stddef.h>
#include "formats/base/err.h"
#include "formats/trace/record.h"

/* longer strings are cut at a character boundary and end in "..." */
#define GT_STRING_MAX 65535
/* bytes of rows held before an epoch is due for its size alone */
#define GT_WRITER_MEMORY (24u << 20)

struct gt_writer;
struct gt_writer_options {
	int level;        /* zstd level; 0 means 3 */
	bool rows_sorted; /* rows of a track arrive by end time (recorder) or by start time
			   * (time-ordered copy); false: any order, each epoch is sorted on its own
			   */
	/* the segment's metadata, one JSON object; borrowed for the call; NULL is "{}" */
	const char *meta_json;
	const char *host, *boot_id; /* NULL: this machine's */
	/* Called when fd does not block and takes no more now. 0: try again; negative, with err
	 * set: the write fails so. NULL: fd blocks. */
	int (*wait)(void *arg, int fd, struct gt_err *err);
	void *wait_arg;
};

/* Takes fd over (closed by gt_writer_close, also on failure to open). It must be at the place where
 * the segment starts; nothing is ever written twice, so a pipe works. new: close it. */
struct gt_writer *gt_writer_open(int fd, const struct gt_writer_options *opt, struct gt_err *err);

/* Each returns the id (same input, same id), or GT_NONE when memory is out (noted; the next row
 * fails). */
uint32_t gt_writer_string(struct gt_writer *w, const char *s);
uint32_t gt_writer_string_n(struct gt_writer *w, const char *s, size_t len);
/* What a string id stands for, borrowed until the next string. */
const char *gt_writer_text(const struct gt_writer *w, uint32_t string);
uint32_t gt_writer_type(struct gt_writer *w, const struct gt_type *type);
/* A new track each time. Its string ids must exist. */
uint32_t gt_writer_track(struct gt_writer *w, const struct gt_track *track);
/* A better name for a track, learned later (thread names). The last one wins. */
int gt_writer_track_name(struct gt_writer *w, uint32_t track, uint32_t name, struct gt_err *err);
/* Is less than two thirds of the room for names taken? Who adds names without end should stop when
 * not: new tracks need room, too. */
bool gt_writer_has_name_space(const struct gt_writer *w);
/* The type as the writer holds it, borrowed until the next gt_writer_type. */
const struct gt_type *gt_writer_type_get(const struct gt_writer *w, uint32_t type);
/* A stack of string ids, outermost frame first; the same stack gives the same id. */
uint32_t gt_writer_stack(struct gt_writer *w, const uint32_t *frames, size_t n);

/* A row of any kind but GT_OPEN and GT_LOST. args has row->nargs values. 0 or negative. */
int gt_writer_row(struct gt_writer *w, enum gt_kind kind, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err);
/* Calls put where the writer holds them, for who has many. gt_writer_reserve() says where: rows and
 * values have room for so many, and values[0] is number `first` (as gt_held.args counts). It is
 * empty unless the track had the last call. Rows begin no earlier than the call before them ended,
 * `after` for the first; else they are as gt_writer_row() wants them, which is not looked at.
 * gt_writer_commit() says how many there are now, and the end of the last one. Nothing else may be
 * called in between. */
struct gt_writer_row;
struct gt_writer_space {
	struct gt_writer_row *rows;
	uint64_t *values;
	size_t nrows, nvalues;
	uint32_t first;
	int64_t after;
};
void gt_writer_reserve(struct gt_writer *w, uint32_t track, struct gt_writer_space *room);
void gt_writer_commit(struct gt_writer *w, size_t nrows, size_t nvalues, int64_t end);
/* Just before an epoch closes: a call still open then. row->end is ignored; args may be short
 * (row->nargs <= fields). */
int gt_writer_open_call(struct gt_writer *w, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err);
/* Events missing. track is GT_NONE unless the scope is a track or its process. count may be
 * GT_LOST_UNKNOWN. */
int gt_writer_lost(struct gt_writer *w, enum gt_scope scope, uint32_t track, int64_t from,
	int64_t to, uint64_t count, struct gt_err *err);
int gt_writer_anchor(struct gt_writer *w, const struct gt_anchor *anchor, struct gt_err *err);
/* More metadata, learned later (exit status, totals): one JSON object whose keys add to or replace
 * the earlier ones. */
int gt_writer_meta(struct gt_writer *w, const char *json, struct gt_err *err);

/* Is the open epoch old (by `now`, ns, the time of the newest row counts too) or large enough to be
 * closed? */
bool gt_writer_due(const struct gt_writer *w, int64_t now);
/* Closes the epoch at time `now`: every row handed in so far is in the file (in the kernel's page
 * cache) when it returns 0. */
int gt_writer_epoch(struct gt_writer *w, int64_t now, struct gt_err *err);

/* What has been written so far. */
struct gt_writer_stats {
	uint64_t rows[GT_KINDS];    /* handed in, by kind (GT_LOST: loss rows) */
	uint64_t lost;              /* sum of known loss counts */
	uint64_t bytes;             /* in the file */
	uint64_t unpacked;          /* before compression */
	uint64_t index_bytes;       /* of `bytes`: block headers, index, summaries */
	int64_t min_start, max_end; /* of all rows; min_start > max_end when there are none */
};
const struct gt_writer_stats *gt_writer_stats(const struct gt_writer *w);
/* A faster level while the recorder lags, the usual one when it does not. Takes effect at the next
 * block. */
void gt_writer_set_level(struct gt_writer *w, int level);

/* Closes the epoch, writes index and footer, closes the fd, frees. NULL is fine. The file is
 * complete only if it returns 0. */
int gt_writer_close(struct gt_writer *w, struct gt_err *err);
/* As a crash would: frees, closes the fd, writes nothing more. */
void gt_writer_abandon(struct gt_writer *w);
#endif
