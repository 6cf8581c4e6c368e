#include "formats/import/parquet/parquet_unpack.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

const char *gt_parquet_codec_name(int64_t codec)
{
	static const char *const names[] = { "none", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4",
		"ZSTD", "LZ4_RAW" };

	return codec >= 0 && codec < (int64_t)(sizeof(names) / sizeof(*names)) ? names[codec]
									       : "unknown";
}

/* ---- Snappy ---- */

struct snappy {
	const uint8_t *at, *end;
	uint8_t *begin, *to, *to_end;
};

/* A number of n bytes. */
static bool number(struct snappy *s, unsigned n, uint32_t *v)
{
	if ((size_t)(s->end - s->at) < n)
		return false;
	for (*v = 0; n; n--)
		*v |= (uint32_t)s->at[n - 1] << 8 * (n - 1);
	return true;
}

/* The size of all unpacked bytes, in front of the elements. */
static bool has_size(struct snappy *s, size_t size)
{
	uint64_t v = 0;

	for (unsigned shift = 0; s->at < s->end && shift < 35; shift += 7) {
		v |= (uint64_t)(*s->at & 0x7f) << shift;
		if (*s->at++ < 0x80)
			return v == size;
	}
	return false;
}

static bool put_literal(struct snappy *s, uint8_t tag)
{
	uint32_t more = tag >> 2;
	unsigned bytes = more < 60 ? 0 : more - 59;
	size_t n;

	if (bytes && !number(s, bytes, &more))
		return false;
	s->at += bytes;
	n = (size_t)more + 1;
	if (n > (size_t)(s->end - s->at) || n > (size_t)(s->to_end - s->to))
		return false;
	memcpy(s->to, s->at, n);
	s->at += n;
	s->to += n;
	return true;
}

static bool put_copy(struct snappy *s, uint8_t tag)
{
	static const uint8_t bytes[] = { 0, 1, 2, 4 }; /* of the distance, by kind */
	unsigned kind = tag & 3;
	uint32_t n = kind == 1 ? 4 + (tag >> 2 & 7) : 1 + (tag >> 2), back;

	if (!number(s, bytes[kind], &back))
		return false;
	s->at += bytes[kind];
	back |= kind == 1 ? (uint32_t)(tag >> 5) << 8 : 0;
	if (!back || back > (size_t)(s->to - s->begin) || n > (size_t)(s->to_end - s->to))
		return false;
	for (; n; n--, s->to++) /* it may overlap itself */
		*s->to = *(s->to - back);
	return true;
}

static int unpack_snappy(const uint8_t *from, size_t n, uint8_t *to, size_t size)
{
	struct snappy s = { from, from + n, to, to, to + size };
	bool good = has_size(&s, size);

	while (good && s.at < s.end) {
		uint8_t tag = *s.at++;

		good = tag & 3 ? put_copy(&s, tag) : put_literal(&s, tag);
	}
	return good && s.to == s.to_end ? 0 : -EILSEQ;
}

/* ---- the others ---- */

static int unpack_gzip(const uint8_t *from, size_t n, uint8_t *to, size_t size)
{
	z_stream z = { .next_in = (Bytef *)from,
		.avail_in = (uInt)n,
		.next_out = to,
		.avail_out = (uInt)size };
	int rc;

	if (n > UINT32_MAX || size > UINT32_MAX)
		return -EILSEQ;
	if (inflateInit2(&z, 15 + 32)) /* 32: gzip's or zlib's head */
		return -ENOMEM;
	do /* there may be several members */
		rc = inflate(&z, Z_FINISH);
	while (rc == Z_STREAM_END && z.avail_in && z.avail_out && !inflateReset(&z));
	inflateEnd(&z);
	return rc == Z_MEM_ERROR ? -ENOMEM : rc == Z_STREAM_END && !z.avail_out ? 0 : -EILSEQ;
}

static int unpack_zstd(ZSTD_DCtx *zstd, const uint8_t *from, size_t n, uint8_t *to, size_t size)
{
	size_t got = ZSTD_decompressDCtx(zstd, to, size, from, n);

	return got == size ? 0 : -EILSEQ;
}

int gt_parquet_unpack(enum gt_parquet_codec codec, ZSTD_DCtx *zstd, const uint8_t *from, size_t n,
	uint8_t *to, size_t size)
{
	switch (codec) {
	case GT_PARQUET_UNCOMPRESSED:
		if (n != size)
			return -EILSEQ;
		memcpy(to, from, n);
		return 0;
	case GT_PARQUET_SNAPPY: return unpack_snappy(from, n, to, size);
	case GT_PARQUET_GZIP: return unpack_gzip(from, n, to, size);
	case GT_PARQUET_ZSTD: return unpack_zstd(zstd, from, n, to, size);
	}
	return -ENOTSUP;
}
