/* Reads traces in our own format (gt_open_any in importers.h reads everybody's). Every byte is
 * distrusted: what comes out of here has ids in range, end >= start, valid UTF-8-or-not strings
 * with lengths, and sizes within the format's limits.
 *
 * Two ways to read:
 *   columns: gt_scan() hands each block's runs (one track's rows, column-wise) to a callback, fast,
 * in file order or by start, on several threads if asked; for analyses. events:  gt_iter_next()
 * walks all rows of all tracks in order of start time, holding only the blocks that overlap the
 *            moment; for exporters and whatever needs global order.
 * Memory: under 64 MiB whatever the file, apart from names, which are held (up to
 * GT_NAME_MEMORY_MAX). Events of a file in which more than some ten thousand blocks overlap in time
 * need about 1 KiB for each; over 100,000 are refused.
 */
#ifndef GT_READER_H
#define GT_READER_H
#include <stddef.h>
#include "formats/base/err.h"
#include "formats/trace/record.h"
#include "formats/trace/segment.h"
#include "formats/trace/bucket.h"

struct gt_reader;

/* Opens a trace in our format. -EILSEQ when it is not one (err says what it looks like). new: close
 * it. */
struct gt_reader *gt_reader_open(const char *path, struct gt_err *err);
struct gt_reader *gt_reader_open_fd(int fd, struct gt_err *err); /* takes fd over */
/* the segments that begin there or behind */
struct gt_reader *gt_reader_open_from(int fd, uint64_t from, struct gt_err *err);
/* The same file once more, for another thread, whether it has a name or not (standard input, an
 * import). Not of joined readers: -ENOTSUP. new: close it. */
struct gt_reader *gt_reader_reopen(const struct gt_reader *r, struct gt_err *err);
/* In two steps, where the reader may be gone or read on when the other thread gets to it: its file,
 * and from where, for gt_reader_open_from. Negative: as above. new: close it, or open it. */
int gt_reader_file(const struct gt_reader *r, uint64_t *from, struct gt_err *err);
void gt_reader_close(struct gt_reader *r); /* NULL is fine */
/* does the last recording of a trace have its end? Then it is opened at once, whatever its size */
bool gt_reader_is_closed(int fd);
/* A file that is still being written, or one that is to be opened in portions: what stands in its
 * first `most` bytes. Takes fd over. */
struct gt_reader *gt_reader_open_growing(int fd, uint64_t most, struct gt_err *err);
/* Reads on in such a file, `most` bytes at most: its new blocks and names, and perhaps its end.
 * What was read is not read again. 1: it may know more than before, and all that was borrowed from
 * it is invalid; 0: nothing has come; negative: it can only be closed any more, but for -ESTALE:
 * the file is shorter than it was, and nothing was done. */
int gt_reader_grow(struct gt_reader *r, uint64_t most, struct gt_err *err);
/* of the file, that were looked at */
uint64_t gt_reader_bytes(const struct gt_reader *r);
/* Several traces as one, as if their files stood one behind the other in one file: the segments of
 * readers[0], then those of readers[1] and so on, with indices of their own. Memory does not
 * double: what segments point at is the readers', which must live longer; each can be read by
 * itself besides. Of damage it knows what they had found by now, and what it finds itself. new:
 * close it. */
struct gt_reader *gt_reader_join(struct gt_reader *const *readers, size_t n, struct gt_err *err);

uint32_t gt_reader_segments(const struct gt_reader *r);
const struct gt_segment *gt_reader_segment(const struct gt_reader *r, uint32_t i);
/* The string, or "?" for GT_NONE. NUL-terminated. */
const char *gt_str(const struct gt_segment *seg, uint32_t id);
const char *gt_type_name(const struct gt_segment *seg, uint32_t type);
/* The process (device) track above (or at) this track, or GT_NONE. */
uint32_t gt_track_process(const struct gt_segment *seg, uint32_t track);
uint32_t gt_track_device(const struct gt_segment *seg, uint32_t track);
/* The context above (or at) it, which stands below its device. */
uint32_t gt_track_context(const struct gt_segment *seg, uint32_t track);
/* By track: is it a context that tells nothing besides its device, for all streams of that stand
 * below it? As a rule they all are: a program has one context on a GPU. new: free it; NULL: no
 * memory. */
bool *gt_lone_contexts(const struct gt_segment *seg);
/* of one boot: can their times be compared? */
bool gt_same_clock(const struct gt_segment *a, const struct gt_segment *b);

/* Where the file turned out damaged: blocks whose rows are missing from everything read so far. A
 * report over a damaged file must say so and its program exit 1. Grows while reading. */
struct gt_damage {
	uint64_t offset;
	uint32_t segment;
	uint32_t rows;
	int64_t min_start, max_end;
	char text[120];
};
const struct gt_damage *gt_reader_damage(const struct gt_reader *r, size_t *n);
/* What another reader of the same file (gt_reader_reopen) has found is known to this one, too;
 * neither is at work. 0 or -ENOMEM. */
int gt_reader_add_damage(struct gt_reader *r, const struct gt_reader *from);

struct gt_range {
	int64_t from, to;
}; /* [from, to) */
/* What to read. Zero-initialised plus kinds = everything of those kinds. */
struct gt_filter {
	uint32_t kinds; /* GT_BIT(enum gt_kind) | ...; 0 means all */
	bool ranged;    /* only rows that overlap [from, to) */
	int64_t from, to;
	/* by segment, in place of from and to; NULL: these hold for all. Borrowed */
	const struct gt_range *ranges;
	int64_t pid, tid; /* 0: any; tracks whose process or thread has this id */
	uint32_t segment; /* 1 + the only segment wanted; 0: all */
	/* of that segment only these blocks (gt_block_info.entry), in this order, whatever the
	 * order asked for; NULL: all. Borrowed */
	const uint32_t *entries;
	size_t nentries;
	/* argument columns are wanted (gt_scan; events always have them) */
	bool args;
	/* one bit per type or NULL for all: called once per (segment, type) */
	bool (*match)(const struct gt_segment *seg, const struct gt_type *type, void *arg);
	void *match_arg;
	/* the layers (GT_BIT(enum gt_layer) | ...) whose rows on this track are not wanted, losses
	 * apart; or NULL: called once per (segment, track) */
	uint32_t (*hide)(const struct gt_segment *seg, uint32_t track, void *arg);
	void *hide_arg;
};

/* The range of a segment; all of time where there is none. */
static inline struct gt_range gt_range_of(const struct gt_filter *f, const struct gt_segment *seg)
{
	if (!f->ranged)
		return (struct gt_range){ INT64_MIN, INT64_MAX };
	return f->ranges ? f->ranges[seg->index] : (struct gt_range){ f->from, f->to };
}

/* One run: rows of one kind on one track, sorted by start (a parent before its children). Borrowed
 * for the callback. */
struct gt_cols {
	const struct gt_segment *seg;
	enum gt_kind kind;
	uint32_t track;
	uint32_t n;
	const int64_t *start, *dur; /* ns; n of each; dur >= 0 */
	const uint16_t *code;       /* n indices into types[]; NULL when every row has code 0 */
	const uint32_t *types;      /* the block's types: type ids, or GT_NONE (losses) */
	uint32_t ntypes;
	const uint8_t *depth;    /* n, or NULL when all are 0 */
	const uint32_t *ret_row; /* the rows with ret != 0, ascending, and their values */
	const int32_t *ret;
	uint32_t nret;
	uint64_t block; /* identifies the block: byte offset in the file */
	uint32_t epoch;
	bool last_of_block; /* no more runs of this block follow */
	/* the block's min start: under GT_BY_TIME no later run of the segment has a row before it
	 */
	int64_t floor;
	const struct gt_block_args *args_; /* for gt_cols_args */
};
/* The values of `field` for the rows of this run whose code is `code`, in row order: *n of them.
 * Borrowed for the callback. NULL when the type has no such field or the filter did not ask for
 * args. For GT_OPEN rows, fields not known when the call was open read 0. */
const uint64_t *gt_cols_args(
	const struct gt_cols *cols, uint32_t code, uint32_t field, uint32_t *n);
/* The rows of this run whose code is `code`, ascending: *n of them, borrowed for the callback. NULL
 * while so few codes of the run were asked for that looking at each row's code is quicker than
 * sorting them, and where every row has code 0. */
const uint32_t *gt_cols_rows(const struct gt_cols *cols, uint32_t code, uint32_t *n);

enum gt_order {
	GT_ANY_ORDER,
	GT_PER_TRACK /* a track's blocks in file order, tracks interleaved */,
	GT_BY_TIME /* blocks by min start */
};
/* Calls fn for each run that the filter wants; rows outside the range or of unwanted types are cut
 * out of the columns. Stops at the first non-zero return and returns it. GT_OPEN rows are only
 * those of each segment's last epoch. threads > 1: under GT_ANY_ORDER fn gets worker 0..threads-1
 * and runs concurrently for different workers; otherwise it runs for one run after the other, as
 * worker 0, while other threads unpack blocks ahead. */
typedef int gt_scan_fn(void *arg, unsigned worker, const struct gt_cols *cols);
int gt_scan(struct gt_reader *r, const struct gt_filter *filter, enum gt_order order,
	unsigned threads, gt_scan_fn *fn, void *arg, struct gt_err *err);
/* Many scans in one, so that each block is unpacked once: `each` gets every run as without order,
 * on all threads, or is NULL. Then `then` gets it once for each of nlanes lanes, with the lane's
 * number in place of the worker's: within a lane in order and one run after the other, but on any
 * thread, and for several lanes at once. Under GT_ANY_ORDER lanes see blocks as filed. */
int gt_scan_consumers(struct gt_reader *r, const struct gt_filter *filter, enum gt_order order,
	unsigned threads, gt_scan_fn *each, gt_scan_fn *then, unsigned nlanes, void *arg,
	struct gt_err *err);

/* One row with everything about it. args is borrowed until the next gt_iter_next. */
struct gt_event {
	const struct gt_segment *seg;
	enum gt_kind kind;
	uint32_t track;
	struct gt_row row;
	const uint64_t *args;
};
struct gt_iter;
/* By start time over all segments (segments one after another unless they share a boot id); equal
 * starts: lower depth first. new: close it. */
struct gt_iter *gt_iter_open(
	struct gt_reader *r, const struct gt_filter *filter, struct gt_err *err);
/* 1, 0 at the end, negative */
int gt_iter_next(struct gt_iter *it, struct gt_event *ev, struct gt_err *err);
void gt_iter_close(struct gt_iter *it);

/* ---- summaries: what a viewer draws from (TRACE_FORMAT.md, Summaries) ---- */
typedef int gt_summary_fn(void *arg, const struct gt_summary *s);
/* Every stored summary that overlaps [from, to) at this level (level 255: all levels). */
int gt_summaries(struct gt_reader *r, unsigned level, int64_t from, int64_t to, gt_summary_fn *fn,
	void *arg, struct gt_err *err);

/* ---- blocks, for who reads a few of them again and again ---- */
struct gt_block_info {
	uint32_t segment, entry; /* where it is in the segment's index */
	/* what level-0 summaries call it: the same, unless blocks before it are damaged */
	uint32_t number;
	enum gt_kind kind; /* of its rows; 0: it holds summaries */
	bool upper;        /* summaries of the upper levels, not of blocks */
	uint32_t track;    /* the only one in it, or GT_NONE */
	uint32_t rows, epoch;
	int64_t start, end; /* the earliest and the latest of its rows' */
};
typedef int gt_block_info_fn(void *arg, const struct gt_block_info *f);
/* Each block of rows (of open calls: those of the last epoch) and of summaries as filed. To the
 * first non-zero return, which is returned. */
int gt_each_block(struct gt_reader *r, gt_block_info_fn *fn, void *arg, struct gt_err *err);
/* The summaries in one of them. */
int gt_block_summaries(struct gt_reader *r, const struct gt_block_info *f, gt_summary_fn *fn,
	void *arg, struct gt_err *err);
#endif
