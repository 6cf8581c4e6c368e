/* What the files of the reader share. */
#ifndef GT_PARQUET_IN_INTERNAL_H
#define GT_PARQUET_IN_INTERNAL_H
#include <endian.h>
#include <string.h>
#include "formats/import/parquet/parquet_in.h"
#include "formats/import/parquet/parquet_unpack.h"
#include "formats/import/parquet/thrift_in.h"

/* Bytes behind each block that may be read: decoders load 8 bytes, and one more, at any byte. */
#define GT_PARQUET_SLACK 16u

enum gt_parquet_in_encoding {
	GT_PARQUET_IN_PLAIN = 0,
	GT_PARQUET_IN_PLAIN_DICTIONARY = 2,
	GT_PARQUET_IN_RLE = 3,
	GT_PARQUET_IN_DELTA_BINARY_PACKED = 5,
	GT_PARQUET_IN_DELTA_LENGTH_BYTE_ARRAY = 6,
	GT_PARQUET_IN_DELTA_BYTE_ARRAY = 7,
	GT_PARQUET_IN_RLE_DICTIONARY = 8,
	GT_PARQUET_IN_BYTE_STREAM_SPLIT = 9
};

struct gt_parquet_block { /* memory that counts */
	uint8_t *data;
	size_t cap;
};

/* Runs of equal numbers and groups of eight packed numbers of `width` bits. */
struct gt_parquet_hybrid {
	const uint8_t *at, *end;
	unsigned width, bit; /* bit: of the next packed number, in *at */
	uint32_t value;      /* of the run */
	uint64_t run, packed;
};
/* DELTA_BINARY_PACKED: a block has a least difference and `minis` miniblocks of differences. */
struct gt_parquet_deltas {
	const uint8_t *at, *end;
	uint64_t left; /* values that were not read */
	uint32_t per_mini, minis, mini, mini_left;
	const uint8_t *widths, *packed; /* of the block; of the miniblock */
	unsigned width, bit;
	uint64_t least, last;
	bool first;
};

/* A column of the current row group. */
struct gt_parquet_pages {
	const char *unreadable; /* a type that is not read, or NULL */
	uint32_t leaf;          /* its number in the schema, nested ones included */
	uint32_t length;        /* of FIXED_LEN_BYTE_ARRAY */
	bool selected;
	uint64_t at, end; /* of the file: the next page, the end of the chunk */
	int64_t codec;
	uint64_t rows; /* of the chunk, in pages that were not read yet */
	/* the page */
	struct gt_parquet_block page;
	uint64_t page_at; /* in the file */
	uint64_t left;    /* its rows that were not read */
	uint64_t values;  /* its rows at first */
	int64_t encoding;
	bool has_levels;
	struct gt_parquet_hybrid levels, indices;
	struct gt_parquet_deltas lengths, prefixes; /* numbers: lengths */
	const uint8_t *value, *value_end;           /* plain values; bytes of texts */
	uint64_t index;                             /* of the next bit, or split value */
	/* the dictionary, and what its texts refer to */
	struct gt_parquet_block dictionary, entries;
	uint32_t nentries;
	/* DELTA_BYTE_ARRAY: texts of the batch; the last text is the prefix of the next */
	struct gt_parquet_block joined;
	size_t last_text;
	struct gt_parquet_text last;
	/* the batch */
	uint8_t nulls[GT_PARQUET_BATCH];
	union {
		int64_t numbers[GT_PARQUET_BATCH];
		struct gt_parquet_text texts[GT_PARQUET_BATCH];
	};
};

struct gt_parquet_in {
	int fd;
	struct gt_err *err;
	uint64_t size; /* of the file */
	struct gt_parquet_block footer, packed;
	size_t memory; /* bytes of all blocks */
	/* of the pages so far, with their headers; and unpacked */
	uint64_t packed_bytes, unpacked_bytes;
	ZSTD_DCtx *zstd;
	struct gt_parquet_column *columns;
	unsigned ncolumns, nleaves, nested;
	char *table;
	uint64_t rows, rows_seen; /* of the file, and of the row groups so far */
	struct gt_thrift_in groups;
	uint32_t ngroups;
	uint64_t left; /* rows of the row group */
};

/* Makes a block of n bytes and the slack. Its former content is lost. 0 or negative. */
int gt_parquet_block(struct gt_parquet_in *r, struct gt_parquet_block *b, size_t n);
void gt_parquet_block_release(struct gt_parquet_in *r, struct gt_parquet_block *b);
/* Reads the next page with rows. 0 or negative. */
int gt_parquet_next_page(struct gt_parquet_in *r, struct gt_parquet_column *c);
/* Sets err for a place in a column. Returns code. */
int gt_parquet_fail(struct gt_parquet_in *r, const struct gt_parquet_column *c, int code,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static inline uint64_t gt_parquet_load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}
static inline uint32_t gt_parquet_load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

/* ---- values: 0 or negative ---- */

int gt_parquet_hybrid_read(struct gt_parquet_hybrid *h, uint32_t *to, size_t n);
/* most: values of the page. */
int gt_parquet_deltas_begin(
	struct gt_parquet_deltas *d, const uint8_t *p, const uint8_t *end, uint64_t most);
int gt_parquet_deltas_read(struct gt_parquet_deltas *d, int64_t *to, size_t n);
/* Finds the end of all values. */
int gt_parquet_deltas_skip(struct gt_parquet_deltas d, const uint8_t **end);
/* Begins to read the values of the page from p on. */
int gt_parquet_values_begin(
	struct gt_parquet_in *r, struct gt_parquet_column *c, const uint8_t *p, const uint8_t *end);
/* Reads n rows of the page into the batch. */
int gt_parquet_values_read(struct gt_parquet_in *r, struct gt_parquet_column *c, size_t n);
/* Sets the dictionary to n values at p. */
int gt_parquet_dictionary_read(struct gt_parquet_in *r, struct gt_parquet_column *c,
	const uint8_t *p, const uint8_t *end, uint64_t n);
#endif
