/* Shared by the writer's files: writer.c collects rows and closes epochs,
 * writer_blocks.c packs rows and writes the file. */
#ifndef GT_WRITER_INTERNAL_H
#define GT_WRITER_INTERNAL_H
#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <zstd.h>
#include "formats/trace/block.h"
#include "formats/trace/write/dict.h"
#include "formats/trace/index.h"
#include "formats/trace/wire.h"
#include "formats/trace/write/writer.h"

#define GT_LATE GT_KINDS /* the store of calls that began before their epoch */
#define GT_STORES (GT_KINDS + 1)

struct gt_row_buffer { /* rows of one kind on one track, not yet packed */
	struct gt_writer_row *rows;
	uint64_t *args;
	size_t n, cap, nargs, args_cap;
	bool unsorted;
};
/* the buffers of one kind, by track + 1; touched lists the non-empty ones */
struct gt_row_buffers {
	struct gt_row_buffer *by_track;
	uint32_t *touched;
	size_t n, ntouched, touched_cap;
};

struct gt_writer {
	int fd, failed;
	int (*wait)(void *arg, int fd, struct gt_err *err); /* as in the options */
	void *wait_arg;
	bool sorted;
	bool no_summaries;
	bool dirty; /* there are rows since the last epoch */
	int level;
	uint64_t id;
	off_t begin; /* offset of the segment in the file, -1: not seekable */
	struct gt_dict dict;
	struct gt_row_buffers buffers[GT_STORES];
	/* the buffer of the last call, for gt_writer_reserve(); NULL: buffers have moved */
	struct gt_row_buffer *latest;
	uint32_t latest_track;
	/* memory of a written block, reused for the next buffer that fills */
	struct gt_row_buffer spare;
	struct gt_slice *slices;
	size_t slices_cap;
	struct gt_packer packer;
	struct gt_buf content, summaries, frame;
	struct gt_index index;
	struct gt_index_store index_store;
	uint32_t nsummaries;
	int64_t summary_from, summary_to;
	struct gt_anchor *anchors;
	size_t nanchors, anchors_cap;
	ZSTD_CCtx *zstd;
	uint32_t epoch, nblocks;
	int64_t epoch_begin, newest;
	int64_t newest_before; /* newest when the last epoch was closed */
	/* bytes of rows in memory; unpacked bytes at the start of the epoch */
	uint64_t row_bytes, unpacked_before;
	struct gt_writer_stats stats;
};

/* All return 0 or negative. After a failure, which w->failed notes, nothing more is written. */
/* returns code */
int gt_blocks_fail(struct gt_writer *w, struct gt_err *err, int code, const char *what);
/* 0, or the code of an earlier failure */
int gt_blocks_check(const struct gt_writer *w, struct gt_err *err);
int gt_blocks_bytes(struct gt_writer *w, struct iovec *v, int n, struct gt_err *err);
/* Truncates the file to w->stats.bytes, so that it ends with a complete block. */
void gt_blocks_cut(struct gt_writer *w);
/* Writes one block: fills in the sizes and checksum of its head. */
int gt_blocks_put(struct gt_writer *w, struct gt_wire_block *head, const struct gt_buf *content,
	struct gt_err *err);
/* Writes the strings, types, tracks, stacks, frames and modules that the file does not have yet. */
int gt_blocks_dict(struct gt_writer *w, struct gt_err *err);
/* Writes summaries. sub: GT_W_OF_BLOCKS or GT_W_UPPER. Clears content. */
int gt_blocks_summaries(struct gt_writer *w, struct gt_buf *content, uint32_t count, uint8_t sub,
	struct gt_err *err);
/* Write and clear all rows of one track, in blocks of its own; all rows of a kind,
 * where tracks with few rows share blocks. */
int gt_blocks_busy(struct gt_writer *w, enum gt_kind kind, uint32_t track, struct gt_row_buffer *s,
	struct gt_err *err);
int gt_blocks_kind(
	struct gt_writer *w, struct gt_row_buffers *buffers, enum gt_kind kind, struct gt_err *err);
int gt_compare_rows(const void *a, const void *b); /* for qsort: by start, outermost first */
#endif
