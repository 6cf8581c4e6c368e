#include "formats/io/deflate.h"

#include <errno.h>
#include <zlib.h>

#define PIECE (1u << 30) /* zlib counts bytes in 32 bits */
#define OUT_PIECE (64u << 10)

/* Compresses what z has. 0, or -ENOMEM. */
static int drain(z_stream *z, struct gt_buf *to, int flush)
{
	int rc;

	do {
		uint8_t *at = gt_buf_reserve(to, OUT_PIECE);

		if (!at)
			return -ENOMEM;
		z->next_out = at;
		z->avail_out = OUT_PIECE;
		rc = deflate(z, flush);
		to->len += OUT_PIECE - z->avail_out;
	} while (rc == Z_OK && (!z->avail_out || flush == Z_FINISH));
	return rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR ? 0 : -ENOMEM;
}

int gt_deflate(struct gt_buf *to, const void *bytes, size_t len, int level)
{
	z_stream z = { .next_in = (Bytef *)bytes };
	int rc;

	if (deflateInit2(&z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	do {
		z.avail_in = len > PIECE ? PIECE : (uInt)len;
		len -= z.avail_in;
		rc = drain(&z, to, len ? Z_NO_FLUSH : Z_FINISH);
	} while (!rc && len);
	deflateEnd(&z);
	return rc;
}
