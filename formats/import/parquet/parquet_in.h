/* Reads a Parquet file: https://parquet.apache.org/docs/file-format/
 *
 * Rows come in order, in batches of columns. Of each selected column one page is in memory, and its
 * dictionary: at most GT_PARQUET_MEMORY bytes for all columns, beside the footer. Columns that are
 * not selected are not read. Nested columns (groups, repeated fields) are left out and counted.
 *
 * Encodings: PLAIN, dictionaries, RLE (of BOOLEAN), DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY,
 * DELTA_BYTE_ARRAY, BYTE_STREAM_SPLIT (of numbers). Codecs: Snappy, gzip, zstd, none. Other ones,
 * INT96, decimals and times of day are errors if a selected column has them. Checksums of pages are
 * checked; statistics, indexes and Bloom filters are not read.
 *
 * A row of runs of equal values has less than a bit in the file, but costs time and space: a file
 * of n bytes may have GT_PARQUET_ROWS + n * GT_PARQUET_ROWS_PER_BYTE rows. Columns and row groups
 * cannot share pages, and the pages that are read may not be a decompression bomb (stream_in.h).
 *
 * parquet_in.c reads the footer, parquet_pages.c pages, parquet_values.c their values,
 * parquet_numbers.c numbers of few bits. */
#ifndef GT_PARQUET_IN_H
#define GT_PARQUET_IN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

#define GT_PARQUET_MEMORY (256u << 20)
#define GT_PARQUET_ROWS 1000000u
#define GT_PARQUET_ROWS_PER_BYTE 256u
#define GT_PARQUET_BATCH 1024u /* rows, at most */

enum gt_parquet_type { /* as in the file */
	GT_PARQUET_BOOLEAN = 0,
	GT_PARQUET_INT32 = 1,
	GT_PARQUET_INT64 = 2,
	GT_PARQUET_INT96 = 3,
	GT_PARQUET_FLOAT = 4,
	GT_PARQUET_DOUBLE = 5,
	GT_PARQUET_BYTE_ARRAY = 6,
	GT_PARQUET_FIXED_LEN_BYTE_ARRAY = 7
};
struct gt_parquet_text {
	const char *ptr; /* borrowed until the next batch; no zero behind it */
	size_t len;
};
struct gt_parquet_pages; /* parquet_in_internal.h */
struct gt_parquet_column {
	char *name;
	uint8_t type; /* enum gt_parquet_type */
	bool optional, is_unsigned;
	/* Of the rows of the batch, if the column is selected. */
	const uint8_t *nulls;                /* 1: no value; NULL: all have values */
	const int64_t *numbers;              /* FLOAT and DOUBLE: the bits of doubles */
	const struct gt_parquet_text *texts; /* of byte arrays */
	struct gt_parquet_pages *pages;
};
static inline bool gt_parquet_is_text(const struct gt_parquet_column *c)
{
	return c->type >= GT_PARQUET_BYTE_ARRAY;
}
static inline bool gt_parquet_is_real(const struct gt_parquet_column *c)
{
	return c->type == GT_PARQUET_FLOAT || c->type == GT_PARQUET_DOUBLE;
}

struct gt_parquet_in;
/* Opens fd, a regular file, which is borrowed. err: not NULL; it is borrowed, too, and later calls
 * fill it in. NULL on failure. new: close it. */
struct gt_parquet_in *gt_parquet_in_open(int fd, struct gt_err *err);
void gt_parquet_in_close(struct gt_parquet_in *r); /* NULL is fine */
struct gt_parquet_column *gt_parquet_in_columns(struct gt_parquet_in *r, unsigned *n);
/* The number of columns that are left out because they are nested. */
unsigned gt_parquet_in_nested(const struct gt_parquet_in *r);
/* The name of the table, which gtexport writes. NULL: the file has none. */
const char *gt_parquet_in_table(const struct gt_parquet_in *r);
/* Before the first batch: the column will be read. 0 or negative. */
int gt_parquet_in_select(struct gt_parquet_in *r, unsigned column);
/* Reads the next rows. Returns their number; 0: the end; or negative. */
int gt_parquet_in_next(struct gt_parquet_in *r);
#endif
