/* Encodings of the values of a Parquet page. All numbers are little endian. */
#ifndef GT_PARQUET_ENCODE_H
#define GT_PARQUET_ENCODE_H
#include "formats/base/buf.h"

enum gt_parquet_encoding {
	GT_PARQUET_PLAIN = 0,
	GT_PARQUET_RLE = 3,
	GT_PARQUET_DELTA_BINARY_PACKED = 5,
	GT_PARQUET_RLE_DICTIONARY = 8
};
/* Numbers below 1 << width, as runs of equal ones and groups of eight packed ones. */
void gt_parquet_put_hybrid(struct gt_buf *to, const uint32_t *v, size_t n, unsigned width);
/* A run of n equal numbers. */
void gt_parquet_put_run(struct gt_buf *to, uint32_t v, size_t n, unsigned width);
/* DELTA_BINARY_PACKED: the differences of numbers, in blocks of 128. */
void gt_parquet_put_deltas(struct gt_buf *to, const int64_t *v, size_t n);

/* Different numbers, in the order in which they came. */
#define GT_PARQUET_DICTIONARY_MAX 32768u
struct gt_parquet_dictionary {
	int64_t *values;
	uint32_t n;
	uint32_t *slots; /* index plus one; 0: free */
	uint32_t mask;
};
/* Sets the indices of n numbers. Returns 1; 0: the dictionary is full, and lacks some of them; or
 * -ENOMEM. */
int gt_parquet_look_up(
	struct gt_parquet_dictionary *d, const int64_t *v, size_t n, uint32_t *indices);
void gt_parquet_dictionary_clear(struct gt_parquet_dictionary *d);
void gt_parquet_dictionary_release(struct gt_parquet_dictionary *d);
/* bits of the numbers below n */
static inline unsigned gt_parquet_width(uint32_t n)
{
	return n <= 1 ? 0 : 32 - (unsigned)__builtin_clz(n - 1);
}
#endif
