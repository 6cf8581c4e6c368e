/* Format: groups of GROUP rows, column by column. A column is its first value, the width in bytes
 * of the bits in which the others differ from it, and these bits. So a large or distant value costs
 * space in its own group only.
 *
 * Times become differences, most of which fit into 32 bits. Then the compiler vectorizes the loops,
 * and the digest is computed from the differences. */
#include "analyze/critical/event_store_pack.h"

#include <string.h>

#define GROUP 256u

/* value: an expression of i */
#define PUT(type, value)                                                                           \
	for (uint32_t i = 0; i < n; i++) {                                                         \
		type one = (type)((value) ^ first);                                                \
		memcpy(to + i * sizeof(one), &one, sizeof(one));                                   \
	}
#define PUT_ANY(width, value)                                                                      \
	if (width == 1)                                                                            \
		PUT(uint8_t, value)                                                                \
	else if (width == 2)                                                                       \
		PUT(uint16_t, value)                                                               \
	else if (width == 4)                                                                       \
		PUT(uint32_t, value)                                                               \
	else if (width == 8)                                                                       \
	PUT(uint64_t, value)

static inline uint8_t *put_first(uint8_t *to, uint64_t first, uint64_t differ, uint8_t *width)
{
	*width = !differ               ? 0
		: differ <= UINT8_MAX  ? 1
		: differ <= UINT16_MAX ? 2
		: differ <= UINT32_MAX ? 4
				       : 8;
	memcpy(to, &first, sizeof(first));
	to[sizeof(first)] = *width;
	return to + sizeof(first) + 1;
}

/* differ: the bits in which at least one value differs from the first */
static inline uint8_t *put_known(
	uint8_t *restrict to, const uint32_t *restrict v, uint32_t n, uint32_t differ)
{
	uint32_t first = v[0];
	uint8_t width;

	to = put_first(to, first, differ, &width);
	PUT_ANY(width, v[i])
	return to + n * width;
}

static uint8_t *put_column(uint8_t *to, const uint32_t *v, uint32_t n)
{
	uint32_t differ = 0;

	for (uint32_t i = 0; i < n; i++)
		differ |= v[i] ^ v[0];
	return put_known(to, v, n, differ);
}

/* Packs a[i] - b[i], and stores them in `low`; *fit becomes false if one has more than 31 bits. */
static uint8_t *put_differences(uint8_t *restrict to, const int64_t *restrict a,
	const int64_t *restrict b, uint32_t n, uint32_t *restrict low, bool *fit)
{
	uint64_t first = (uint64_t)a[0] - (uint64_t)b[0], bits = 0, differ = 0;
	uint8_t width;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t one = (uint64_t)a[i] - (uint64_t)b[i];

		bits |= one;
		differ |= one ^ first;
		low[i] = (uint32_t)one;
	}
	if (bits <= INT32_MAX)
		return put_known(to, low, n, (uint32_t)differ);
	*fit = false;
	to = put_first(to, first, differ, &width);
	PUT_ANY(width, (uint64_t)a[i] - (uint64_t)b[i])
	return to + n * width;
}

/* The launch of a call is its start: then it is the same array. */
static uint8_t *put_launches(uint8_t *to, const int64_t *start, const int64_t *launch, uint32_t n)
{
	uint32_t low[GROUP];
	uint8_t none;
	bool fit;

	return start == launch ? put_first(to, 0, 0, &none)
			       : put_differences(to, start, launch, n, low, &fit);
}

size_t gt_event_pack(const struct gt_event_columns *rows, uint32_t n, uint8_t *to,
	struct gt_digest_builder *digest)
{
	const uint8_t *begin = to;

	for (uint32_t from = 0, m; from < n; from += m) {
		const int64_t *start = rows->start + from, *end = rows->end + from;
		uint32_t since[GROUP], took[GROUP]; /* since: ns from each start to the next one */
		bool fit = true;

		m = n - from < GROUP ? n - from : GROUP;
		memcpy(to, start, sizeof(*start));
		to += sizeof(*start);
		if (m > 1)
			to = put_differences(to, start + 1, start, m - 1, since, &fit);
		to = put_differences(to, end, start, m, took, &fit);
		to = put_launches(to, start, rows->launch + from, m);
		to = put_column(to, rows->type + from, m);
		to = put_column(to, rows->by + from, m);
		if (digest)
			gt_digest_add(digest, rows, from, m, fit ? since : NULL, took);
	}
	return (size_t)(to - begin);
}

#define GET(type)                                                                                  \
	for (uint32_t i = 0; i < n; i++) {                                                         \
		type one;                                                                          \
		memcpy(&one, from + i * sizeof(one), sizeof(one));                                 \
		v[i] = first ^ one;                                                                \
	}

static const uint8_t *get_column(const uint8_t *from, uint64_t *v, uint32_t n)
{
	uint8_t width = from[sizeof(uint64_t)];
	uint64_t first;

	memcpy(&first, from, sizeof(first));
	from += sizeof(first) + 1;
	if (width == 1)
		GET(uint8_t)
	else if (width == 2)
		GET(uint16_t)
	else if (width == 4)
		GET(uint32_t)
	else if (width == 8)
		GET(uint64_t)
	else
		for (uint32_t i = 0; i < n; i++)
			v[i] = first;
	return from + n * width;
}

/* Unpacks the columns of a group. One loop for each column, so that the compiler vectorizes it. */
static const uint8_t *get_group(
	const uint8_t *from, uint32_t n, struct gt_event_columns *rows, uint32_t at)
{
	int64_t *start = rows->start + at, *end = rows->end + at, *launch = rows->launch + at;
	uint64_t v[GROUP];

	if (n > 1)
		from = get_column(from, v, n - 1);
	for (uint32_t i = 1; i < n; i++)
		start[i] = (int64_t)((uint64_t)start[i - 1] + v[i - 1]);
	from = get_column(from, v, n);
	for (uint32_t i = 0; i < n; i++)
		end[i] = (int64_t)((uint64_t)start[i] + v[i]);
	from = get_column(from, v, n);
	for (uint32_t i = 0; i < n; i++)
		launch[i] = (int64_t)((uint64_t)start[i] - v[i]);
	from = get_column(from, v, n);
	for (uint32_t i = 0; i < n; i++)
		rows->type[at + i] = (uint32_t)v[i];
	from = get_column(from, v, n);
	for (uint32_t i = 0; i < n; i++)
		rows->by[at + i] = (uint32_t)v[i];
	return from;
}

void gt_event_unpack(const uint8_t *from, uint32_t n, struct gt_event_columns *rows)
{
	for (uint32_t at = 0, m; at < n; at += m) {
		m = n - at < GROUP ? n - at : GROUP;
		memcpy(&rows->start[at], from, sizeof(rows->start[at]));
		from = get_group(from + sizeof(rows->start[at]), m, rows, at);
	}
}
