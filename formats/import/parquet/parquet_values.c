/* The encodings of values: https://parquet.apache.org/docs/file-format/data-pages/encodings/ */
#include <string.h>
#include "formats/import/parquet/parquet_in_internal.h"

#define JOINED_MAX (64u << 20) /* bytes of the texts of a batch that have prefixes in common */

/* ---- plain values ---- */

static unsigned number_size(uint8_t type)
{
	return type == GT_PARQUET_INT32 || type == GT_PARQUET_FLOAT ? 4 : 8;
}

/* The number in the lowest bits. */
static int64_t number_of(const struct gt_parquet_column *c, uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	double d;
	float f;

	if (c->type == GT_PARQUET_INT32)
		return c->is_unsigned ? (int64_t)low : (int32_t)low;
	if (c->type != GT_PARQUET_FLOAT)
		return (int64_t)bits;
	memcpy(&f, &low, sizeof(f));
	d = f;
	memcpy(&bits, &d, sizeof(bits));
	return (int64_t)bits;
}

static int read_booleans(struct gt_parquet_pages *p, int64_t *to, size_t n)
{
	if (p->index + n > (uint64_t)(p->value_end - p->value) * 8)
		return -EILSEQ;
	for (size_t i = 0; i < n; i++, p->index++)
		to[i] = p->value[p->index / 8] >> p->index % 8 & 1;
	return 0;
}

static int read_plain_numbers(const struct gt_parquet_column *c, int64_t *to, size_t n)
{
	struct gt_parquet_pages *p = c->pages;
	unsigned size = number_size(c->type);

	if (c->type == GT_PARQUET_BOOLEAN)
		return read_booleans(p, to, n);
	if (n > (size_t)(p->value_end - p->value) / size)
		return -EILSEQ;
	for (size_t i = 0; i < n; i++, p->value += size)
		to[i] = number_of(
			c, size == 8 ? gt_parquet_load64(p->value) : gt_parquet_load32(p->value));
	return 0;
}

static int read_plain_texts(const struct gt_parquet_column *c, struct gt_parquet_text *to, size_t n)
{
	struct gt_parquet_pages *p = c->pages;

	for (size_t i = 0; i < n; i++) {
		size_t space = (size_t)(p->value_end - p->value), len = p->length;

		if (c->type == GT_PARQUET_BYTE_ARRAY) {
			if (space < 4)
				return -EILSEQ;
			len = gt_parquet_load32(p->value);
			p->value += 4;
			space -= 4;
		}
		if (len > space)
			return -EILSEQ;
		to[i] = (struct gt_parquet_text){ (const char *)p->value, len };
		p->value += len;
	}
	return 0;
}

/* BYTE_STREAM_SPLIT: the first bytes of all numbers, then their second bytes, and so on. */
static int read_split(const struct gt_parquet_column *c, int64_t *to, size_t n)
{
	struct gt_parquet_pages *p = c->pages;
	unsigned size = number_size(c->type);
	uint64_t all = (uint64_t)(p->value_end - p->value) / size;

	if (n > all - p->index)
		return -EILSEQ;
	for (size_t i = 0; i < n; i++, p->index++) {
		uint64_t v = 0;

		for (unsigned b = 0; b < size; b++)
			v |= (uint64_t)p->value[b * all + p->index] << 8 * b;
		to[i] = number_of(c, v);
	}
	return 0;
}

/* ---- texts with their lengths in front ---- */

static int read_lengths(
	const struct gt_parquet_column *c, struct gt_parquet_text *to, size_t n, int64_t *lengths)
{
	struct gt_parquet_pages *p = c->pages;

	if (gt_parquet_deltas_read(&p->lengths, lengths, n))
		return -EILSEQ;
	for (size_t i = 0; i < n; i++) {
		if (lengths[i] < 0 || lengths[i] > p->value_end - p->value)
			return -EILSEQ;
		to[i] = (struct gt_parquet_text){ (const char *)p->value, (size_t)lengths[i] };
		p->value += lengths[i];
	}
	return 0;
}

/* DELTA_BYTE_ARRAY: a text begins with bytes of the one before. */
static int read_joined(struct gt_parquet_in *r, const struct gt_parquet_column *c,
	struct gt_parquet_text *to, size_t n)
{
	struct gt_parquet_pages *p = c->pages;
	int64_t prefixes[GT_PARQUET_BATCH], lengths[GT_PARQUET_BATCH];
	uint64_t bytes = p->last.len;
	struct gt_parquet_block old = p->joined;
	uint8_t *at;
	int rc;

	if (gt_parquet_deltas_read(&p->prefixes, prefixes, n) || read_lengths(c, to, n, lengths))
		return -EILSEQ;
	for (size_t i = 0; i < n; i++) {
		uint64_t before = i ? (uint64_t)(prefixes[i - 1] + lengths[i - 1]) : p->last.len;

		if (prefixes[i] < 0 || (uint64_t)prefixes[i] > before)
			return -EILSEQ;
		bytes += (uint64_t)(prefixes[i] + lengths[i]);
		if (bytes > JOINED_MAX)
			return -E2BIG;
	}
	/* the last text is in the old block */
	p->joined = (struct gt_parquet_block){ NULL, 0 };
	rc = gt_parquet_block(r, &p->joined, bytes);
	if (rc) {
		p->joined = old;
		return rc;
	}
	at = p->joined.data;
	for (size_t i = 0; i < n; i++) {
		memcpy(at, p->last.ptr, (size_t)prefixes[i]);
		memcpy(at + prefixes[i], to[i].ptr, to[i].len);
		to[i] = p->last = (struct gt_parquet_text){ (const char *)at,
			(size_t)prefixes[i] + to[i].len };
		at += to[i].len;
	}
	gt_parquet_block_release(r, &old);
	return 0;
}

/* ---- dictionaries ---- */

int gt_parquet_dictionary_read(struct gt_parquet_in *r, struct gt_parquet_column *c,
	const uint8_t *at, const uint8_t *end, uint64_t n)
{
	struct gt_parquet_pages *p = c->pages;
	bool text = gt_parquet_is_text(c);
	unsigned least = !text ? number_size(c->type) : p->length ? p->length : 4;
	int rc;

	if (c->type == GT_PARQUET_BOOLEAN || n > (uint64_t)(end - at) / least)
		return gt_parquet_fail(r, c, -EILSEQ, "the dictionary is damaged");
	rc = gt_parquet_block(
		r, &p->entries, n * (text ? sizeof(struct gt_parquet_text) : sizeof(int64_t)));
	if (rc)
		return rc;
	p->value = at;
	p->value_end = end;
	p->nentries = (uint32_t)n;
	rc = text ? read_plain_texts(c, (struct gt_parquet_text *)p->entries.data, n)
		  : read_plain_numbers(c, (int64_t *)p->entries.data, n);
	return rc ? gt_parquet_fail(r, c, rc, "the dictionary is damaged") : 0;
}

static int read_entries(const struct gt_parquet_column *c, size_t n)
{
	struct gt_parquet_pages *p = c->pages;
	const struct gt_parquet_text *texts = (const struct gt_parquet_text *)p->entries.data;
	const int64_t *numbers = (const int64_t *)p->entries.data;
	uint32_t indices[GT_PARQUET_BATCH], largest = 0;

	if (gt_parquet_hybrid_read(&p->indices, indices, n))
		return -EILSEQ;
	for (size_t i = 0; i < n; i++)
		largest = indices[i] > largest ? indices[i] : largest;
	if (n && largest >= p->nentries)
		return -ERANGE;
	if (gt_parquet_is_text(c))
		for (size_t i = 0; i < n; i++)
			p->texts[i] = texts[indices[i]];
	else
		for (size_t i = 0; i < n; i++)
			p->numbers[i] = numbers[indices[i]];
	return 0;
}

/* ---- pages ---- */

/* RLE of BOOLEAN: 4 bytes with the length, then numbers of one bit. */
static int begin_booleans(struct gt_parquet_pages *p)
{
	size_t size = (size_t)(p->value_end - p->value);

	if (size < 4 || gt_parquet_load32(p->value) > size - 4)
		return -EILSEQ;
	p->indices = (struct gt_parquet_hybrid){
		.at = p->value + 4, .end = p->value + 4 + gt_parquet_load32(p->value), .width = 1
	};
	return 0;
}

static int begin_indices(struct gt_parquet_pages *p)
{
	unsigned width = p->value < p->value_end ? *p->value++ : 0;

	p->indices =
		(struct gt_parquet_hybrid){ .at = p->value, .end = p->value_end, .width = width };
	return width > 32 ? -EILSEQ : 0;
}

static int begin_texts(struct gt_parquet_pages *p)
{
	int rc = 0;

	if (p->encoding == GT_PARQUET_IN_DELTA_BYTE_ARRAY) {
		rc = gt_parquet_deltas_begin(&p->prefixes, p->value, p->value_end, p->values);
		rc = rc ? rc : gt_parquet_deltas_skip(p->prefixes, &p->value);
		p->last = (struct gt_parquet_text){ "", 0 };
	}
	rc = rc ? rc : gt_parquet_deltas_begin(&p->lengths, p->value, p->value_end, p->values);
	return rc ? rc : gt_parquet_deltas_skip(p->lengths, &p->value);
}

/* Is the encoding one for this type? */
static bool is_fit(const struct gt_parquet_column *c)
{
	switch (c->pages->encoding) {
	case GT_PARQUET_IN_PLAIN: return true;
	case GT_PARQUET_IN_PLAIN_DICTIONARY:
	case GT_PARQUET_IN_RLE_DICTIONARY: return c->type != GT_PARQUET_BOOLEAN;
	case GT_PARQUET_IN_RLE: return c->type == GT_PARQUET_BOOLEAN;
	case GT_PARQUET_IN_DELTA_BINARY_PACKED:
		return c->type == GT_PARQUET_INT32 || c->type == GT_PARQUET_INT64;
	case GT_PARQUET_IN_DELTA_LENGTH_BYTE_ARRAY: return c->type == GT_PARQUET_BYTE_ARRAY;
	case GT_PARQUET_IN_DELTA_BYTE_ARRAY: return gt_parquet_is_text(c);
	case GT_PARQUET_IN_BYTE_STREAM_SPLIT:
		return !gt_parquet_is_text(c) && c->type != GT_PARQUET_BOOLEAN;
	default: return false;
	}
}

int gt_parquet_values_begin(
	struct gt_parquet_in *r, struct gt_parquet_column *c, const uint8_t *at, const uint8_t *end)
{
	struct gt_parquet_pages *p = c->pages;
	int rc = 0;

	p->value = at;
	p->value_end = end;
	p->index = 0;
	if (!is_fit(c))
		return gt_parquet_fail(r, c, -ENOTSUP, "its encoding %lld is not supported",
			(long long)p->encoding);
	switch (p->encoding) {
	case GT_PARQUET_IN_PLAIN_DICTIONARY:
	case GT_PARQUET_IN_RLE_DICTIONARY: rc = begin_indices(p); break;
	case GT_PARQUET_IN_RLE: rc = begin_booleans(p); break;
	case GT_PARQUET_IN_DELTA_BINARY_PACKED:
		rc = gt_parquet_deltas_begin(&p->lengths, at, end, p->values);
		break;
	case GT_PARQUET_IN_DELTA_LENGTH_BYTE_ARRAY:
	case GT_PARQUET_IN_DELTA_BYTE_ARRAY: rc = begin_texts(p); break;
	}
	return rc ? gt_parquet_fail(r, c, rc, "its values are damaged") : 0;
}

/* Reads n values that are present. */
static int read_values(struct gt_parquet_in *r, struct gt_parquet_column *c, size_t n)
{
	struct gt_parquet_pages *p = c->pages;
	uint32_t bits[GT_PARQUET_BATCH];
	int64_t lengths[GT_PARQUET_BATCH];
	int rc = 0;

	switch (p->encoding) {
	case GT_PARQUET_IN_PLAIN:
		return gt_parquet_is_text(c) ? read_plain_texts(c, p->texts, n)
					     : read_plain_numbers(c, p->numbers, n);
	case GT_PARQUET_IN_RLE:
		rc = gt_parquet_hybrid_read(&p->indices, bits, n);
		for (size_t i = 0; !rc && i < n; i++)
			p->numbers[i] = bits[i];
		return rc;
	case GT_PARQUET_IN_DELTA_BINARY_PACKED:
		rc = gt_parquet_deltas_read(&p->lengths, p->numbers, n);
		for (size_t i = 0; c->type == GT_PARQUET_INT32 && !rc && i < n; i++)
			p->numbers[i] = number_of(c, (uint64_t)p->numbers[i]);
		return rc;
	case GT_PARQUET_IN_DELTA_LENGTH_BYTE_ARRAY: return read_lengths(c, p->texts, n, lengths);
	case GT_PARQUET_IN_DELTA_BYTE_ARRAY: return read_joined(r, c, p->texts, n);
	case GT_PARQUET_IN_BYTE_STREAM_SPLIT: return read_split(c, p->numbers, n);
	default: return read_entries(c, n);
	}
}

/* Moves the values to their rows. */
static void spread(const struct gt_parquet_column *c, size_t n, size_t present)
{
	struct gt_parquet_pages *p = c->pages;

	for (size_t i = n; i-- > present;)
		if (!p->nulls[i]) {
			present--;
			if (gt_parquet_is_text(c))
				p->texts[i] = p->texts[present];
			else
				p->numbers[i] = p->numbers[present];
		}
}

static int read_levels(struct gt_parquet_pages *p, size_t n, size_t *present)
{
	uint32_t levels[GT_PARQUET_BATCH];

	if (gt_parquet_hybrid_read(&p->levels, levels, n))
		return -EILSEQ;
	for (size_t i = 0; i < n; i++) {
		p->nulls[i] = !levels[i];
		*present -= !levels[i];
	}
	return 0;
}

int gt_parquet_values_read(struct gt_parquet_in *r, struct gt_parquet_column *c, size_t n)
{
	struct gt_parquet_pages *p = c->pages;
	size_t present = n;
	int rc = p->has_levels ? read_levels(p, n, &present) : 0;

	rc = rc ? rc : read_values(r, c, present);
	if (rc == -EILSEQ)
		return gt_parquet_fail(r, c, rc, "it has fewer values than rows, or is damaged");
	if (rc == -ERANGE)
		return gt_parquet_fail(r, c, -EILSEQ, "a value has no entry in the dictionary");
	if (rc == -E2BIG)
		return gt_parquet_fail(r, c, rc, "its texts are too long");
	if (rc)
		return rc;
	if (p->has_levels && present < n)
		spread(c, n, present);
	c->nulls = p->has_levels && present < n ? p->nulls : NULL;
	p->left -= n;
	return 0;
}
