/* Encodes the rows of one block as bytes, and decodes them. Does no file access. */
#ifndef GT_BLOCK_H
#define GT_BLOCK_H
#include "formats/base/buf.h"
#include "formats/base/err.h"
#include "formats/trace/codec.h"
#include "formats/trace/record.h"
#include "formats/trace/segment.h"
#include "formats/trace/wire.h"

/* A row in the writer's memory, before its block is packed. */
struct gt_writer_row {
	int64_t start, end;
	uint32_t type; /* GT_NONE: losses */
	int32_t ret;
	uint32_t args; /* index of its first value in its slice's args */
	uint8_t depth, nargs;
	uint8_t pad[2];
};
_Static_assert(sizeof(struct gt_writer_row) == 32, "half a cache line");

/* Some rows of one track, sorted by start, parents before children. */
struct gt_slice {
	uint32_t track;
	const struct gt_writer_row *rows;
	size_t n;
	const uint64_t *args;
};

/* Working memory of the encoder, reused for each block. Zero-initialised is valid. */
struct gt_packer {
	uint64_t *column, *other; /* GT_BLOCK_ROWS each */
	uint16_t *code;
	uint8_t *bytes;
	uint32_t *code_of; /* by type id + 1: stamp << 16 | code */
	size_t ncode_of;
	uint32_t stamp;
	uint32_t *types, *count, *at; /* by code */
	size_t ntypes_cap, ncount_cap, nat_cap, nvalues_cap;
	uint64_t *values;
	struct gt_buf scratch, section;
};
/* Appends slices (together at most GT_BLOCK_ROWS rows, all of one kind) to out and fills in the
 * head's rows, runs, track, min_start, max_end. If out->len exceeds GT_BLOCK_BYTES, the caller must
 * try again with fewer rows. Values that a row lacks (open calls) are packed as 0. 0 or -ENOMEM. */
int gt_block_pack(struct gt_packer *p, enum gt_kind kind, const struct gt_type *types,
	const struct gt_slice *slices, size_t nslices, struct gt_buf *out,
	struct gt_wire_block *head);
void gt_packer_release(struct gt_packer *p);

/* An unpacked block: arrays with one element per row. Zero-initialised is empty and valid. */
struct gt_unpacked {
	enum gt_kind kind;
	uint32_t nrows, nruns, ntypes;
	struct gt_run {
		uint32_t track, first, n;
	} * runs;
	uint32_t *types; /* ids or GT_NONE */
	int64_t *start, *dur;
	uint16_t *code; /* NULL: all 0 */
	uint8_t *depth; /* NULL: all 0 */
	uint32_t *ret_row;
	int32_t *ret;
	uint32_t nret;
	/* the argument columns, still packed; they point into the caller's bytes */
	struct gt_span args;
	/* rows of each code in the whole block (ntypes elements); filled in by gt_block_count */
	uint32_t *per_code;
	bool counted;
	/* end of the last code that gt_block_columns found: codes asked for in order need no search
	 */
	uint32_t next_code;
	const uint8_t *next_args;
	/* for a block cursor, which decodes the bytes a second time: offsets of the codes,
	 * depths and gaps; base: the time that the first gap counts from */
	uint32_t codes_at, depths_at, gaps_at; /* 0: there are none */
	bool wide_codes, signed_gaps;
	int64_t base;
	struct gt_buf arena; /* all of the above */
};
/* Unpacks bytes. GT_SLACK bytes behind them must be readable, and all must stay
 * valid while args are read. Checks everything against the segment's type and track
 * counts. 0 or -EBADMSG with text. */
int gt_block_unpack(struct gt_unpacked *u, enum gt_kind kind, struct gt_span bytes, uint32_t nrows,
	const struct gt_segment *seg, struct gt_err *err);
/* Fills in per_code, once. Needed only to read arguments. */
void gt_block_count(struct gt_unpacked *u);
/* Finds the argument columns of a code that has rows: the column of field f begins at u->args.at +
 * at[f] and holds per_code[code] values for gt_get_values. Checks all of them. 0 or -EBADMSG. */
int gt_block_columns(
	struct gt_unpacked *u, const struct gt_segment *seg, uint32_t code, uint32_t *at);
/* The number of fields of rows with this code. */
unsigned gt_block_fields(const struct gt_unpacked *u, const struct gt_segment *seg, uint32_t code);
void gt_unpacked_release(struct gt_unpacked *u);

/* Reads the arguments of a block some rows at a time, in little memory. */
struct gt_args {
	/* by code; values[first] reads its first field; row: used within gt_args_next */
	struct gt_args_code {
		uint32_t type, first;
		uint16_t row;
		uint8_t nfields;
	} * codes;
	struct gt_values *values;
	uint64_t *dicts;
	size_t bytes; /* of memory in use */
	uint8_t most; /* the largest number of fields of any code that has rows */
};
/* Counts u, checks all argument columns in `in` (u->args or a copy of them) and
 * moves `in` behind them. The bytes must stay valid, with GT_SLACK behind them. 0,
 * -EBADMSG or -ENOMEM; release either way. */
int gt_args_open(
	struct gt_args *a, struct gt_unpacked *u, const struct gt_segment *seg, struct gt_span *in);
#define GT_ARGS_ROWS 1024
/* working memory */
struct gt_args_scratch {
	uint16_t next[GT_ARGS_ROWS];
	uint64_t *to[GT_ARGS_ROWS];
};
/* Copies the arguments of the next n rows (GT_ARGS_ROWS at most) to to[i]. Row i has
 * code[i]; code NULL: all rows have code 0. */
void gt_args_next(struct gt_args *a, struct gt_args_scratch *scratch, const uint16_t *code,
	uint64_t *const *to, size_t n);
void gt_args_release(struct gt_args *a);
#endif
