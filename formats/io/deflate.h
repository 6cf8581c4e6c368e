/* Raw deflate data (RFC 1951), as browsers decode it by DecompressionStream("deflate-raw"). */
#ifndef GT_DEFLATE_H
#define GT_DEFLATE_H
#include "formats/base/buf.h"

/* Appends the compressed bytes. level: 1 (fast) to 9 (small), as zlib's. 0 or -ENOMEM. */
int gt_deflate(struct gt_buf *to, const void *bytes, size_t len, int level);
#endif
