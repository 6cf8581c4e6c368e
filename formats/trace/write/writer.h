/* Writes one segment of a trace file (TRACE_FORMAT.md). Used by the recorder, by importers, and by
 * gtexport --native.
 *
 * Rows collect per track and are written in epochs: the caller closes an epoch when
 * gt_writer_epoch_is_due() returns true (about 1 s or 8 MiB unpacked). A track that fills a block
 * earlier is packed at once, so memory is bounded (GT_WRITER_MEMORY) for any length of an epoch.
 * Strings, types and tracks are written before the first block that uses them. Not thread-safe.
 *
 * After any function failed, only gt_writer_close() may be called; the file is a valid unclosed
 * trace up to the last complete block.
 */
#ifndef GT_WRITER_H
#define GT_WRITER_H
#include <stddef.h>
#include "formats/base/err.h"
#include "formats/trace/record.h"

/* longer strings are cut at a character boundary and end in "..." */
#define GT_STRING_MAX 65535
/* bytes of rows in memory at which an epoch is due */
#define GT_WRITER_MEMORY (24u << 20)

struct gt_writer;
struct gt_writer_options {
	int level; /* zstd level; 0 means 3 */
	/* rows of a track arrive by end time (recorder) or by start time (time-ordered copy);
	 * false: any order, each epoch is sorted on its own */
	bool rows_sorted;
	/* no summaries: only gtview reads them, and making them takes an eighth of an import */
	bool no_summaries;
	/* the segment's metadata, one JSON object; borrowed for the call; NULL is "{}" */
	const char *meta_json;
	const char *host, *boot_id; /* NULL: this machine's */
	/* Called when a non-blocking fd accepts no more bytes. 0: try again; negative, with
	 * err set: the write fails. NULL: fd blocks. */
	int (*wait)(void *arg, int fd, struct gt_err *err);
	void *wait_arg;
};

/* Takes fd over (closed by gt_writer_close, also on failure to open). Its position must be the
 * start of the segment. The writer never seeks, so a pipe works. new: close it. */
struct gt_writer *gt_writer_open(int fd, const struct gt_writer_options *opt, struct gt_err *err);

/* Each returns the id (same input, same id), or GT_NONE: no memory (it notes that;
 * the next row fails). */
uint32_t gt_writer_string(struct gt_writer *w, const char *s);
uint32_t gt_writer_string_n(struct gt_writer *w, const char *s, size_t len);
/* The text of a string id, borrowed until the next string. */
const char *gt_writer_text(const struct gt_writer *w, uint32_t string);
uint32_t gt_writer_type(struct gt_writer *w, const struct gt_type *type);
/* Adds a new track each time. Its string ids must exist. */
uint32_t gt_writer_track(struct gt_writer *w, const struct gt_track *track);
/* Renames a track (thread names become known later). The last name wins. */
int gt_writer_track_name(struct gt_writer *w, uint32_t track, uint32_t name, struct gt_err *err);
/* Is less than two thirds of the memory for names in use? A source with unlimited
 * names should add no more if not: new tracks need that memory, too. */
bool gt_writer_has_name_space(const struct gt_writer *w);
/* The type of an id, borrowed until the next gt_writer_type. */
const struct gt_type *gt_writer_type_get(const struct gt_writer *w, uint32_t type);
/* its text, until the next string is added; "": there is no such string */
const char *gt_writer_string_text(const struct gt_writer *w, uint32_t string);
/* A stack of string ids, outermost frame first; the same stack gives the same id. */
uint32_t gt_writer_stack(struct gt_writer *w, const uint32_t *frames, size_t n);
/* The number of frames of a stack, and the frames, borrowed until the next stack is added. 0: there
 * is no such stack. */
size_t gt_writer_stack_frames(const struct gt_writer *w, uint32_t stack, const uint32_t **frames);
/* Is the frame with this text (string id) known to be one of Python? */
bool gt_writer_is_python(const struct gt_writer *w, uint32_t text);
/* Adds function, file, line and module of the frame that has this text (string id) in stacks.
 * Later data of the same text replace earlier ones. 0; -EINVAL: a string does not exist; -ENOMEM:
 * no memory, or names need all they may: the file then has only the frame's text. */
int gt_writer_frame(struct gt_writer *w, uint32_t text, const struct gt_frame *frame);
/* Describes a frame whose text may be that of another frame: of a file of the same name elsewhere,
 * or of another build of a library. Returns the string id that stacks need for it: text, or another
 * string with the same bytes. GT_NONE: as -EINVAL and -ENOMEM above. */
uint32_t gt_writer_place(struct gt_writer *w, uint32_t text, const struct gt_frame *frame);
/* These frames (n ids, 1 to GT_INLINED_MAX, the outermost first) follow the frame with this text in
 * all stacks. Returns as gt_writer_frame(). */
int gt_writer_inlined(struct gt_writer *w, uint32_t text, const uint32_t *frames, uint32_t n);
/* Adds an ELF file (path: string id) with its build id of n bytes, at most GT_BUILD_ID_MAX. Adding
 * it again has no effect. Returns the string id that frames need for it: path, or another string
 * with the same bytes if the file had another build id before. GT_NONE: as above. */
uint32_t gt_writer_module(struct gt_writer *w, uint32_t path, const uint8_t *id, size_t n);
/* The frames that were described so far, by index, each with its text; NULL: there are no more. A
 * module by the string id that its frames have; NULL: there is none. Borrowed until the next one is
 * added. */
const struct gt_frame *gt_writer_frame_at(const struct gt_writer *w, size_t i, uint32_t *text);
const struct gt_module *gt_writer_module_of(const struct gt_writer *w, uint32_t module);
/* As gt_writer_stack, but always gives the next id, from 0 on: rows may have it before the stack is
 * known. GT_NONE: no memory, or names need all they may. */
uint32_t gt_writer_next_stack(struct gt_writer *w, const uint32_t *frames, size_t n);

/* Adds a row of any kind except GT_OPEN and GT_LOST. args has row->nargs values. 0 or negative. */
int gt_writer_row(struct gt_writer *w, enum gt_kind kind, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err);
/* The fast path for many calls: the caller writes them directly into the writer's memory.
 * gt_writer_reserve() returns memory for nrows rows and nvalues values, where values[0] has the
 * index `first` (gt_writer_row.args). It returns no memory unless the track had the last call. No
 * row may begin before the end of the row before it (`after`, for the first one). All other rules
 * of gt_writer_row() apply, without checks. gt_writer_commit() adds the rows; `end` is the end of
 * the last one. No other function may be called in between. */
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
/* Adds a call that is open at the end of the epoch; call it just before gt_writer_epoch. row->end
 * is ignored; later args may be missing (row->nargs <= fields). */
int gt_writer_open_call(struct gt_writer *w, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err);
/* Adds a loss of events. track is GT_NONE unless the scope is a track or its
 * process. count may be GT_LOST_UNKNOWN. */
int gt_writer_loss(struct gt_writer *w, enum gt_scope scope, uint32_t track, int64_t from,
	int64_t to, uint64_t count, struct gt_err *err);
int gt_writer_anchor(struct gt_writer *w, const struct gt_anchor *anchor, struct gt_err *err);
/* Adds metadata that became known later (exit status, totals): one JSON object whose
 * keys replace earlier ones. */
int gt_writer_meta(struct gt_writer *w, const char *json, struct gt_err *err);

/* Is the current epoch old or large enough to be closed? Its age is the time since the last one
 * closed, up to `now` (ns), or the time by which its rows end later than all before, whichever is
 * longer. */
bool gt_writer_epoch_is_due(const struct gt_writer *w, int64_t now);
/* Closes the epoch at time `now`. If it returns 0, all rows so far are in the file
 * (in the kernel's page cache). */
int gt_writer_epoch(struct gt_writer *w, int64_t now, struct gt_err *err);

/* Totals so far. */
struct gt_writer_stats {
	uint64_t rows[GT_KINDS];    /* by kind (GT_LOST: loss rows) */
	uint64_t lost;              /* sum of known loss counts */
	uint64_t bytes;             /* in the file */
	uint64_t unpacked;          /* before compression */
	uint64_t index_bytes;       /* of `bytes`: block headers, index, summaries */
	int64_t min_start, max_end; /* of all rows; min_start > max_end: there are none */
};
const struct gt_writer_stats *gt_writer_stats(const struct gt_writer *w);
/* Sets the zstd level from the next block on. The recorder uses a faster level while it lags. */
void gt_writer_set_level(struct gt_writer *w, int level);

/* Closes the epoch, writes index and footer, closes the fd, frees. NULL is fine. The file is
 * complete only if it returns 0. */
int gt_writer_close(struct gt_writer *w, struct gt_err *err);
/* Frees and closes the fd without writing anything, like a crash. */
void gt_writer_abandon(struct gt_writer *w);
#endif
