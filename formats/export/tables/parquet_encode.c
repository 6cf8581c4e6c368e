#include "formats/export/tables/parquet_encode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/export/tables/thrift_out.h"

/* ---- runs and packed groups ---- */

#define RUN_MIN 16u /* shorter runs are packed */

/* Packs n numbers of `width` bits, n a multiple of 8, the first in the lowest bits. */
static uint8_t *pack(uint8_t *p, const uint32_t *v, size_t n, unsigned width)
{
	uint64_t bits = 0;
	unsigned have = 0;

	for (size_t i = 0; i < n; i++) {
		bits |= (uint64_t)v[i] << have;
		have += width;
		while (have >= 8) {
			*p++ = (uint8_t)bits;
			bits >>= 8;
			have -= 8;
		}
	}
	return p;
}

void gt_parquet_put_run(struct gt_buf *to, uint32_t v, size_t n, unsigned width)
{
	gt_put_varint(to, (uint64_t)n << 1);
	for (unsigned i = 0; i < (width + 7) / 8; i++)
		gt_buf_byte(to, (uint8_t)(v >> 8 * i));
}

/* n: any, only at the end; else a multiple of 8. */
static void put_packed(struct gt_buf *to, const uint32_t *v, size_t n, unsigned width)
{
	uint32_t last[8] = { 0 };
	size_t whole = n & ~(size_t)7, groups = (n + 7) / 8;
	uint8_t *p;

	if (!n)
		return;
	gt_put_varint(to, (uint64_t)groups << 1 | 1);
	p = gt_buf_reserve(to, groups * width);
	if (!p)
		return;
	p = pack(p, v, whole, width);
	if (whole < n) {
		memcpy(last, v + whole, (n - whole) * sizeof(*last));
		p = pack(p, last, 8, width);
	}
	to->len += groups * width;
}

void gt_parquet_put_hybrid(struct gt_buf *to, const uint32_t *v, size_t n, unsigned width)
{
	size_t from = 0; /* the first number that is not written yet */

	for (size_t i = 0; i < n;) {
		size_t run = 1, at;

		while (i + run < n && v[i + run] == v[i])
			run++;
		/* a run begins where the packed groups before it are full */
		at = from + ((i - from + 7) & ~(size_t)7);
		if (i + run >= at + RUN_MIN) {
			put_packed(to, v + from, at - from, width);
			gt_parquet_put_run(to, v[i], i + run - at, width);
			from = i + run;
		}
		i += run;
	}
	put_packed(to, v + from, n - from, width);
}

/* ---- differences ---- */

#define BLOCK 128u
#define MINI 32u

/* Packs MINI numbers of up to 64 bits. */
static uint8_t *pack_wide(uint8_t *p, const uint64_t *v, unsigned width)
{
	unsigned __int128 bits = 0;
	unsigned have = 0;

	for (unsigned i = 0; i < MINI; i++) {
		bits |= (unsigned __int128)v[i] << have;
		have += width;
		while (have >= 8) {
			*p++ = (uint8_t)bits;
			bits >>= 8;
			have -= 8;
		}
	}
	return p;
}

static void put_delta_block(struct gt_buf *to, uint64_t deltas[BLOCK], unsigned n)
{
	int64_t least = INT64_MAX;
	uint8_t widths[BLOCK / MINI] = { 0 };
	uint8_t *p;

	for (unsigned i = 0; i < n; i++)
		least = (int64_t)deltas[i] < least ? (int64_t)deltas[i] : least;
	for (unsigned m = 0; m < BLOCK / MINI; m++) {
		uint64_t any = 0;

		for (unsigned i = m * MINI; i < (m + 1) * MINI; i++) {
			deltas[i] = i < n ? deltas[i] - (uint64_t)least : 0;
			any |= deltas[i];
		}
		widths[m] = any ? (uint8_t)(64 - __builtin_clzll(any)) : 0;
	}
	gt_put_varint(to, gt_zigzag(least));
	gt_buf_add(to, widths, sizeof(widths));
	/* miniblocks without any value are left out */
	for (unsigned m = 0; m * MINI < n; m++) {
		p = gt_buf_reserve(to, MINI * 8);
		if (p)
			to->len += (size_t)(pack_wide(p, deltas + m * MINI, widths[m]) - p);
	}
}

void gt_parquet_put_deltas(struct gt_buf *to, const int64_t *v, size_t n)
{
	gt_put_varint(to, BLOCK);
	gt_put_varint(to, BLOCK / MINI);
	gt_put_varint(to, n);
	gt_put_varint(to, gt_zigzag(n ? v[0] : 0));
	for (size_t i = 1; i < n; i += BLOCK) {
		uint64_t deltas[BLOCK];
		unsigned some = (unsigned)(n - i < BLOCK ? n - i : BLOCK);

		for (unsigned j = 0; j < some; j++)
			deltas[j] = (uint64_t)v[i + j] - (uint64_t)v[i + j - 1];
		put_delta_block(to, deltas, some);
	}
}

/* ---- dictionaries ---- */

static uint32_t slot_of(const struct gt_parquet_dictionary *d, int64_t v)
{
	return (uint32_t)((uint64_t)v * 0x9e3779b97f4a7c15u >> 40) & d->mask;
}

/* Makes it twice as large. */
static int grow(struct gt_parquet_dictionary *d)
{
	uint32_t slots = d->mask ? 2 * (d->mask + 1) : 64;
	int64_t *values = realloc(d->values, slots / 2 * sizeof(*values));
	uint32_t *new = calloc(slots, sizeof(*new));

	if (values)
		d->values = values;
	if (!values || !new) {
		free(new);
		return -ENOMEM;
	}
	free(d->slots);
	d->slots = new;
	d->mask = slots - 1;
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t s = slot_of(d, d->values[i]);

		while (d->slots[s])
			s = (s + 1) & d->mask;
		d->slots[s] = i + 1;
	}
	return 0;
}

/* The index of a number; GT_PARQUET_DICTIONARY_MAX: it is new, and the dictionary is full. */
static uint32_t index_of(struct gt_parquet_dictionary *d, int64_t v)
{
	uint32_t s;

	if (d->n >= (d->mask + 1) / 2 && grow(d))
		return UINT32_MAX;
	s = slot_of(d, v);
	for (; d->slots[s]; s = (s + 1) & d->mask)
		if (d->values[d->slots[s] - 1] == v)
			return d->slots[s] - 1;
	if (d->n == GT_PARQUET_DICTIONARY_MAX)
		return GT_PARQUET_DICTIONARY_MAX;
	d->values[d->n] = v;
	d->slots[s] = ++d->n;
	return d->n - 1;
}

int gt_parquet_look_up(
	struct gt_parquet_dictionary *d, const int64_t *v, size_t n, uint32_t *indices)
{
	uint32_t last = 0;

	for (size_t i = 0; i < n; i++) {
		if (!i || v[i] != v[i - 1])
			last = index_of(d, v[i]);
		if (last == GT_PARQUET_DICTIONARY_MAX)
			return 0;
		if (last == UINT32_MAX)
			return -ENOMEM;
		indices[i] = last;
	}
	return 1;
}

void gt_parquet_dictionary_clear(struct gt_parquet_dictionary *d)
{
	d->n = 0;
	if (d->slots)
		memset(d->slots, 0, (d->mask + 1) * sizeof(*d->slots));
}

void gt_parquet_dictionary_release(struct gt_parquet_dictionary *d)
{
	free(d->values);
	free(d->slots);
	memset(d, 0, sizeof(*d));
}
