/* Numbers of few bits: runs and packed groups, and differences.
 * https://parquet.apache.org/docs/file-format/data-pages/encodings/ */
#include <string.h>
#include "formats/import/parquet/parquet_in_internal.h"

/* ---- runs and packed groups ---- */

static int begin_run(struct gt_parquet_hybrid *h)
{
	struct gt_thrift_in in = { h->at, h->end, false };
	uint64_t head = gt_thrift_varint(&in), count = head >> 1, most;
	unsigned bytes = (h->width + 7) / 8;

	if (in.bad)
		return -EILSEQ;
	h->at = in.at;
	if (head & 1) { /* the last group may be cut */
		most = (uint64_t)(h->end - h->at) * 8 / h->width;
		h->packed = count > most / 8 ? most : count * 8;
		h->bit = 0;
		return h->packed || !count ? 0 : -EILSEQ;
	}
	if ((size_t)(h->end - h->at) < bytes)
		return -EILSEQ;
	h->value = gt_parquet_load32(h->at) & (uint32_t)((1ull << h->width) - 1);
	h->at += bytes;
	h->run = count;
	return 0;
}

static void unpack(struct gt_parquet_hybrid *h, uint32_t *to, size_t n)
{
	uint64_t mask = (1ull << h->width) - 1, bit = h->bit;

	for (size_t i = 0; i < n; i++, bit += h->width)
		to[i] = (uint32_t)(gt_parquet_load64(h->at + bit / 8) >> bit % 8 & mask);
	h->packed -= n;
	if (!h->packed)
		bit = (bit + 7) & ~7ull;
	h->at += bit / 8;
	h->bit = bit % 8;
}

int gt_parquet_hybrid_read(struct gt_parquet_hybrid *h, uint32_t *to, size_t n)
{
	if (!h->width)
		memset(to, 0, n * sizeof(*to));
	while (h->width && n) {
		size_t some;

		if (h->run) {
			some = h->run < n ? (size_t)h->run : n;
			for (size_t i = 0; i < some; i++)
				to[i] = h->value;
			h->run -= some;
		} else if (h->packed) {
			some = h->packed < n ? (size_t)h->packed : n;
			unpack(h, to, some);
		} else if (begin_run(h)) {
			return -EILSEQ;
		} else {
			continue;
		}
		to += some;
		n -= some;
	}
	return 0;
}

/* ---- differences ---- */

int gt_parquet_deltas_begin(
	struct gt_parquet_deltas *d, const uint8_t *p, const uint8_t *end, uint64_t most)
{
	struct gt_thrift_in in = { p, end, false };
	uint64_t block, minis, first;

	memset(d, 0, sizeof(*d));
	d->end = end;
	d->at = p;
	if (p == end) /* no values */
		return 0;
	block = gt_thrift_varint(&in);
	minis = gt_thrift_varint(&in);
	d->left = gt_thrift_varint(&in);
	first = gt_thrift_varint(&in);
	if (in.bad || !minis || minis > UINT16_MAX || block > UINT32_MAX || block % minis ||
		!block || block / minis % 8 || d->left > most)
		return -EILSEQ;
	d->at = in.at;
	d->per_mini = (uint32_t)(block / minis);
	d->minis = d->mini = (uint32_t)minis;
	d->last = first >> 1 ^ -(first & 1);
	d->first = true;
	return 0;
}

static int next_miniblock(struct gt_parquet_deltas *d)
{
	struct gt_thrift_in in = { d->at, d->end, false };
	uint64_t least, bytes;

	if (d->mini == d->minis) {
		least = gt_thrift_varint(&in);
		if (in.bad || d->minis > (size_t)(d->end - in.at))
			return -EILSEQ;
		d->least = least >> 1 ^ -(least & 1);
		d->widths = in.at;
		d->at = in.at + d->minis;
		d->mini = 0;
	}
	d->width = d->widths[d->mini++];
	bytes = (uint64_t)d->per_mini * d->width / 8;
	if (d->width > 64 || bytes > (uint64_t)(d->end - d->at))
		return -EILSEQ;
	d->packed = d->at;
	d->at += bytes;
	d->bit = 0;
	d->mini_left = d->per_mini;
	return 0;
}

/* Reads n differences of the miniblock. */
static void add_deltas(struct gt_parquet_deltas *d, int64_t *to, size_t n)
{
	uint64_t mask = d->width == 64 ? UINT64_MAX : (1ull << d->width) - 1, bit = d->bit;

	for (size_t i = 0; i < n; i++, bit += d->width) {
		const uint8_t *p = d->packed + bit / 8;
		unsigned shift = bit % 8;
		uint64_t v = gt_parquet_load64(p) >> shift;

		if (d->width + shift > 64)
			v |= (uint64_t)p[8] << (64 - shift);
		d->last += d->least + (v & mask);
		to[i] = (int64_t)d->last;
	}
	d->packed += bit / 8;
	d->bit = bit % 8;
	d->mini_left -= (uint32_t)n;
	d->left -= n;
}

int gt_parquet_deltas_read(struct gt_parquet_deltas *d, int64_t *to, size_t n)
{
	if (n > d->left)
		return -EILSEQ;
	if (n && d->first) {
		*to++ = (int64_t)d->last;
		d->first = false;
		d->left--;
		n--;
	}
	while (n) {
		size_t some;

		if (!d->mini_left && next_miniblock(d))
			return -EILSEQ;
		some = d->mini_left < n ? d->mini_left : n;
		add_deltas(d, to, some);
		to += some;
		n -= some;
	}
	return 0;
}

int gt_parquet_deltas_skip(struct gt_parquet_deltas d, const uint8_t **end)
{
	int64_t none[128];
	int rc = 0;

	while (!rc && d.left)
		rc = gt_parquet_deltas_read(&d, none, d.left < 128 ? d.left : 128);
	*end = d.at;
	return rc;
}
