/* Pages of Parquet files are compressed, each for itself. Snappy's decoder is ours: libsnappy is a
 * C++ library, and the format is small
 * (https://github.com/google/snappy/blob/main/format_description.txt). */
#ifndef GT_PARQUET_UNPACK_H
#define GT_PARQUET_UNPACK_H
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

enum gt_parquet_codec {
	GT_PARQUET_UNCOMPRESSED = 0,
	GT_PARQUET_SNAPPY = 1,
	GT_PARQUET_GZIP = 2,
	GT_PARQUET_ZSTD = 6
};
/* The name of a codec, also of those that gt_parquet_unpack does not know. */
const char *gt_parquet_codec_name(int64_t codec);
/* Unpacks n bytes to exactly `size` bytes. 0; -ENOTSUP: the codec is not known; -EILSEQ: the data
 * are damaged; -ENOMEM. */
int gt_parquet_unpack(enum gt_parquet_codec codec, ZSTD_DCtx *zstd, const uint8_t *from, size_t n,
	uint8_t *to, size_t size);
#endif
