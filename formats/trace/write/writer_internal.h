/* What the writer's files share: writer.c takes rows in and decides when, writer_blocks.c packs
 * them and writes the file. Nobody else includes this. */
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
/* the stores of one kind, by track + 1; touched lists those that are not empty */
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
	bool dirty; /* something was handed in since the last epoch closed */
	int level;
	uint64_t id;
	off_t begin; /* offset of the segment in the file, -1: not seekable */
	struct gt_dict dict;
	struct gt_row_buffers shelves[GT_STORES];
	/* that got the last call, for gt_writer_reserve(); NULL after stores moved */
	struct gt_row_buffer *latest;
	uint32_t latest_track;
	/* memory of a block that went out, for the next one that fills */
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
	/* bytes of rows held; unpacked bytes when the epoch began */
	uint64_t held, unpacked_before;
	struct gt_writer_stats stats;
};

/* All: 0 or negative; after a failure (noted in w->failed) nothing more is written. */
/* returns code */
int gt_blocks_fail(struct gt_writer *w, struct gt_err *err, int code, const char *what);
int gt_blocks_bytes(struct gt_writer *w, struct iovec *v, int n, struct gt_err *err);
/* What stands in the file stays whole blocks: what is half written behind w->stats.bytes is cut off
 * again. */
void gt_blocks_cut(struct gt_writer *w);
/* One block: its head, filled in but for sizes and sums, and its content. */
int gt_blocks_put(struct gt_writer *w, struct gt_wire_block *head, const struct gt_buf *content,
	struct gt_err *err);
/* What rows may refer to and the file does not have yet. */
int gt_blocks_dict(struct gt_writer *w, struct gt_err *err);
/* sub: GT_W_OF_BLOCKS or GT_W_UPPER. Clears content. */
int gt_blocks_summaries(struct gt_writer *w, struct gt_buf *content, uint32_t count, uint8_t sub,
	struct gt_err *err);
/* All rows of one track, alone; all rows of a kind, busy tracks alone and quiet ones together. Both
 * leave nothing behind. */
int gt_blocks_busy(struct gt_writer *w, enum gt_kind kind, uint32_t track, struct gt_row_buffer *s,
	struct gt_err *err);
int gt_blocks_shelf(
	struct gt_writer *w, struct gt_row_buffers *shelf, enum gt_kind kind, struct gt_err *err);
int gt_compare_rows(const void *a, const void *b); /* for qsort: by start, outermost first */
#endif
