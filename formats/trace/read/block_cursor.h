/* Reads the rows of one block in order of time, a few at a time: many blocks can be
 * open in little memory. */
#ifndef GT_BLOCK_CURSOR_H
#define GT_BLOCK_CURSOR_H
#include "formats/trace/block.h"
#include "formats/trace/read/block_plan.h"

#define GT_CURSOR_ROWS GT_ARGS_ROWS /* decoded at a time, at most */

/* Shared by the cursors of one iterator. Zero-initialised except reader and most_open. */
struct gt_cursor_shared {
	struct gt_reader *reader;
	struct gt_loader loader;
	struct gt_unpacked u;
	/* working memory for blocks of many runs; NULL until there is one */
	struct gt_merge *merge;
	size_t most_open;     /* cursors that will be open at the same time */
	size_t content_bytes; /* of all contents in memory */
	uint64_t gaps[GT_CURSOR_ROWS], durs[GT_CURSOR_ROWS], tracks[GT_CURSOR_ROWS];
	uint16_t codes[GT_CURSOR_ROWS];
	uint64_t *args[GT_CURSOR_ROWS], unwanted[UINT8_MAX];
	struct gt_args_scratch args_scratch;
};

struct gt_block_cursor {
	/* the decoded rows: [row, end_row), the arguments of all of them from the first on,
	 * their tracks */
	const struct gt_row *row, *end_row;
	const uint64_t *args;
	const uint32_t *tracks; /* NULL: all are on `track` */
	uint32_t track;
	enum gt_kind kind;

	const struct gt_seg *seg;
	struct gt_wire_entry e;
	const struct gt_compiled_filter *filter;
	/* the window: memory for `size` rows of at most most_fields arguments, in one piece */
	struct gt_row *rows;
	uint64_t *values;
	uint32_t *row_tracks; /* NULL: a block of one run */
	uint32_t size;
	uint8_t most_fields;
	uint32_t done, nrows; /* rows decoded so far, rows in all */

	/* the content; NULL: it was freed, and is loaded again for the next window */
	uint8_t *content;
	size_t content_bytes;                     /* of content and in */
	const uint8_t *code, *code_high, *depths; /* of the next row; NULL: all 0 */
	struct gt_coded_column gaps, durs, ret_rows, rets, track_ids;
	struct gt_args in;
	/* return codes after the next one; the row of the next one, GT_NONE: there is none */
	uint32_t nrets, ret_row;
	int64_t start, end; /* of the row before */
	unsigned depth;
	bool nested, signed_gaps;
};

/* Opens an entry's rows that the filter selects, without decoding any. new: close
 * it. NULL: out of memory. */
struct gt_block_cursor *gt_block_cursor_open(const struct gt_seg *seg,
	const struct gt_wire_entry *e, const struct gt_compiled_filter *filter);
/* Decodes the next rows. 1; 0 at the end, or if the block is damaged (it notes that); -ENOMEM. */
int gt_block_cursor_fill(struct gt_cursor_shared *k, struct gt_block_cursor *w);
void gt_block_cursor_close(struct gt_cursor_shared *k, struct gt_block_cursor *w);
void gt_cursor_shared_release(struct gt_cursor_shared *k);
#endif
