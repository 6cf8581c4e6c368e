/* Reads traces in gt's own format (gt_open_any in importers.h reads all formats). It checks every
 * byte: its results have ids in range, end >= start, strings with lengths (UTF-8 or not), and sizes
 * within the format's limits.
 *
 * There are two ways to read:
 *   columns: gt_scan() passes each block's runs (the rows of one track, in columns) to a callback:
 *            fast, in file order or by start, on several threads if asked; for analyses.
 *   events:  gt_iter_next() returns the rows of all tracks in order of start time, with only the
 *            blocks in memory that overlap the current time; for exporters and others that need all
 *            rows in order.
 *
 * Memory: under 64 MiB for any file, plus names (up to GT_NAME_MEMORY_MAX). Events of a file in
 * which more than about ten thousand blocks overlap in time need about 1 KiB for each of these;
 * more than 100,000 are refused.
 */
#ifndef GT_READER_H
#define GT_READER_H
#include <stddef.h>
#include "formats/base/err.h"
#include "formats/trace/record.h"
#include "formats/trace/segment.h"
#include "formats/trace/bucket.h"

struct gt_reader;

/* Opens a trace in gt's format. -EILSEQ if it is not one (err names the format that it resembles).
 * new: close it. */
struct gt_reader *gt_reader_open(const char *path, struct gt_err *err);
struct gt_reader *gt_reader_open_fd(int fd, struct gt_err *err); /* takes fd over */
/* reads only the segments that begin at `from` or later */
struct gt_reader *gt_reader_open_from(int fd, uint64_t from, struct gt_err *err);
/* Opens the same file a second time, for another thread, even if it has no name
 * (standard input, an import). Joined readers: -ENOTSUP. new: close it. */
struct gt_reader *gt_reader_reopen(const struct gt_reader *r, struct gt_err *err);
/* Returns a descriptor of the reader's file, and *from, for gt_reader_open_from. Use
 * it if the reader may be closed or grow before the other thread opens the file.
 * Negative: as above. new: close it, or pass it to gt_reader_open_from. */
int gt_reader_file(const struct gt_reader *r, uint64_t *from, struct gt_err *err);
void gt_reader_close(struct gt_reader *r); /* NULL is fine */
/* Is the last segment of a trace closed? Then opening it takes little time, whatever its size. */
bool gt_reader_is_closed(int fd);
/* Opens the first `most` bytes of a file that is still being written, or that is to
 * be opened in portions. Takes fd over. */
struct gt_reader *gt_reader_open_growing(int fd, uint64_t most, struct gt_err *err);
/* Reads at most `most` further bytes of such a file: new blocks and names, and perhaps its end.
 * Reads no byte twice. 1: there may be new data, and everything borrowed from the reader is
 * invalid; 0: nothing new; negative: the reader can only be closed. Exception: -ESTALE: the file is
 * shorter than before, and the reader is unchanged. */
int gt_reader_grow(struct gt_reader *r, uint64_t most, struct gt_err *err);
/* the bytes of the file that were read so far */
uint64_t gt_reader_bytes(const struct gt_reader *r);
/* Joins several traces as if their files were concatenated: the segments of readers[0], then those
 * of readers[1] and so on, with indices of their own. The segments' data belong to the readers,
 * which must stay open longer; each can also be read by itself. The joined reader starts with the
 * damage that the readers have found so far. new: close it. */
struct gt_reader *gt_reader_join(struct gt_reader *const *readers, size_t n, struct gt_err *err);

uint32_t gt_reader_segments(const struct gt_reader *r);
const struct gt_segment *gt_reader_segment(const struct gt_reader *r, uint32_t i);
/* The string, or "?" for GT_NONE. NUL-terminated. */
const char *gt_str(const struct gt_segment *seg, uint32_t id);
/* Function, file, line and module of the frame that has this text (string id) in stacks; NULL: the
 * file has only the text. */
const struct gt_frame *gt_segment_frame(const struct gt_segment *seg, uint32_t text);
const char *gt_type_name(const struct gt_segment *seg, uint32_t type);
/* The first track of this kind from `track` upwards; GT_NONE: none, or track is GT_NONE. */
uint32_t gt_track_above(const struct gt_segment *seg, uint32_t track, enum gt_track_kind kind);
static inline uint32_t gt_track_process(const struct gt_segment *seg, uint32_t track)
{
	return gt_track_above(seg, track, GT_TRACK_PROCESS);
}
static inline uint32_t gt_track_device(const struct gt_segment *seg, uint32_t track)
{
	return gt_track_above(seg, track, GT_TRACK_DEVICE);
}
/* The context stands below its device. */
static inline uint32_t gt_track_context(const struct gt_segment *seg, uint32_t track)
{
	return gt_track_above(seg, track, GT_TRACK_CONTEXT);
}
/* By track: is it the only context of its device, with all streams of the device
 * below it? Usually it is: a program has one context on a GPU, and names of streams
 * need not mention it. new: free it; NULL: no memory. */
bool *gt_lone_contexts(const struct gt_segment *seg);
/* Are both of one boot, so that their times can be compared? */
bool gt_same_clock(const struct gt_segment *a, const struct gt_segment *b);

/* A damaged place of the file: the rows of this block are missing from everything
 * read so far. A report about a damaged file must say so, and the program must exit
 * with 1. The list grows while reading. */
struct gt_damage {
	uint64_t offset;
	uint32_t segment;
	uint32_t rows;
	int64_t min_start, max_end;
	char text[120];
};
const struct gt_damage *gt_reader_damage(const struct gt_reader *r, size_t *n);
/* Adds the damage that another reader of the same file (gt_reader_reopen) has found.
 * No thread may use either reader. 0 or -ENOMEM. */
int gt_reader_add_damage(struct gt_reader *r, const struct gt_reader *from);

struct gt_range {
	int64_t from, to;
}; /* [from, to) */
/* Selects what to read. Zero-initialised plus kinds: all rows of those kinds. */
struct gt_filter {
	uint32_t kinds; /* GT_BIT(enum gt_kind) | ...; 0 means all */
	bool ranged;    /* only rows that overlap [from, to) */
	int64_t from, to;
	/* by segment, instead of from and to; NULL: from and to are for all segments. Borrowed */
	const struct gt_range *ranges;
	int64_t pid, tid; /* 0: any; only tracks whose process or thread has this id */
	uint32_t segment; /* 1 + the only segment to read; 0: all */
	/* only these blocks of that segment (gt_block_info.entry), always in this order; NULL: all.
	 * Borrowed */
	const uint32_t *entries;
	size_t nentries;
	/* gt_scan must provide argument columns (events always have them) */
	bool args;
	/* one bit per type or NULL for all: called once per (segment, type) */
	bool (*match)(const struct gt_segment *seg, const struct gt_type *type, void *arg);
	void *match_arg;
	/* returns the layers (GT_BIT(enum gt_layer) | ...) whose rows on this track are
	 * hidden, except losses; or NULL: called once per (segment, track) */
	uint32_t (*hide)(const struct gt_segment *seg, uint32_t track, void *arg);
	void *hide_arg;
};

/* The range of a segment; all times if the filter has no range. */
static inline struct gt_range gt_range_of(const struct gt_filter *f, const struct gt_segment *seg)
{
	if (!f->ranged)
		return (struct gt_range){ INT64_MIN, INT64_MAX };
	return f->ranges ? f->ranges[seg->index] : (struct gt_range){ f->from, f->to };
}
/* How much of a row is in a range, ns. */
static inline uint64_t gt_ns_in_range(struct gt_range r, int64_t start, int64_t end)
{
	int64_t a = start > r.from ? start : r.from, b = end < r.to ? end : r.to;

	return b > a ? (uint64_t)b - (uint64_t)a : 0;
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
	const uint32_t *types;      /* type ids of the block, or GT_NONE (losses) */
	uint32_t ntypes;
	const uint8_t *depth;    /* n, or NULL when all are 0 */
	const uint32_t *ret_row; /* the rows with ret != 0, ascending, and their values */
	const int32_t *ret;
	uint32_t nret;
	uint64_t block; /* identifies the block: byte offset in the file */
	uint32_t epoch;
	bool last_of_block; /* no more runs of this block follow */
	/* the block's min start: with GT_BY_TIME no later run of the segment has a row before it */
	int64_t floor;
	const struct gt_block_args *args_; /* for gt_cols_args */
};
/* The values of `field` for the rows of this run with this code, in row order: *n of
 * them. Borrowed for the callback. NULL if the type has no such field or the filter did
 * not ask for args. In GT_OPEN rows, fields that were not known yet read 0. */
const uint64_t *gt_cols_args(
	const struct gt_cols *cols, uint32_t code, uint32_t field, uint32_t *n);
/* The rows of this run with this code, ascending: *n of them, borrowed for the
 * callback. NULL if every row has code 0, and for the first few codes of a run: testing
 * each row's code is faster then than sorting the rows by code. */
const uint32_t *gt_cols_rows(const struct gt_cols *cols, uint32_t code, uint32_t *n);

enum gt_order {
	GT_ANY_ORDER,
	GT_PER_TRACK /* a track's blocks in file order, tracks interleaved */,
	GT_BY_TIME /* blocks by min start */
};
/* Calls fn for each run that the filter selects; rows outside the range or of other types are
 * removed from the columns. Stops at the first non-zero result of fn and returns it. GT_OPEN rows
 * are only those of each segment's last epoch. threads > 1: with GT_ANY_ORDER fn gets worker
 * 0..threads-1 and runs concurrently for different workers; otherwise it runs for one run after the
 * other, as worker 0, while other threads unpack blocks ahead. */
typedef int gt_scan_fn(void *arg, unsigned worker, const struct gt_cols *cols);
int gt_scan(struct gt_reader *r, const struct gt_filter *filter, enum gt_order order,
	unsigned threads, gt_scan_fn *fn, void *arg, struct gt_err *err);
/* Several scans in one, which unpacks each block once. `each`, if not NULL, gets
 * every run on any thread, without order. Then `then` gets it once for each of
 * nconsumers consumers, with the consumer's number as worker: for one consumer in order
 * and one run after the other, but on any thread, and for several consumers at once.
 * With GT_ANY_ORDER consumers get blocks in file order. */
int gt_scan_consumers(struct gt_reader *r, const struct gt_filter *filter, enum gt_order order,
	unsigned threads, gt_scan_fn *each, gt_scan_fn *then, unsigned nconsumers, void *arg,
	struct gt_err *err);

/* One row. args is borrowed until the next gt_iter_next. */
struct gt_event {
	const struct gt_segment *seg;
	enum gt_kind kind;
	uint32_t track;
	struct gt_row row;
	const uint64_t *args;
};
/* The value of the first field with this role, or `otherwise`. */
static inline uint64_t gt_event_value(
	const struct gt_event *ev, const struct gt_type *type, unsigned role, uint64_t otherwise)
{
	uint32_t field = gt_type_field(type, role);

	return ev->args && field < ev->row.nargs ? ev->args[field] : otherwise;
}
struct gt_iter;
/* All rows by start time (segments with different boot ids follow one another);
 * equal starts: lower depth first. new: close it. */
struct gt_iter *gt_iter_open(
	struct gt_reader *r, const struct gt_filter *filter, struct gt_err *err);
/* 1, 0 at the end, negative */
int gt_iter_next(struct gt_iter *it, struct gt_event *ev, struct gt_err *err);
void gt_iter_close(struct gt_iter *it);

/* ---- single blocks, for programs that read a few of them repeatedly ---- */
struct gt_block_info {
	uint32_t segment, entry; /* where it is in the segment's index */
	/* its number in level-0 summaries: equal to entry, unless blocks before it are damaged */
	uint32_t number;
	enum gt_kind kind; /* of its rows; 0: it holds summaries */
	bool upper;        /* it holds summaries of the upper levels, not of blocks */
	uint32_t track;    /* the only one in it, or GT_NONE */
	uint32_t rows, epoch;
	int64_t start, end; /* the earliest start and the latest end of its rows */
};
typedef int gt_block_info_fn(void *arg, const struct gt_block_info *f);
/* Calls fn for each block of rows (of open calls: only those of the last epoch) and
 * of summaries, in file order. Stops at the first non-zero result and returns it. */
int gt_each_block(struct gt_reader *r, gt_block_info_fn *fn, void *arg, struct gt_err *err);
/* Calls fn for the summaries in one block (TRACE_FORMAT.md, Summaries). */
typedef int gt_summary_fn(void *arg, const struct gt_summary *s);
int gt_block_summaries(struct gt_reader *r, const struct gt_block_info *f, gt_summary_fn *fn,
	void *arg, struct gt_err *err);
#endif
