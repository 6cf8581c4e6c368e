/* Groups of rows, each a column after the other: its first value, how many bytes the others take that differ from it in their lowest bits
 * only, and these bits. So what is large or far from others costs its own group only. */
#include "analyze/link_pack.h"

#include <string.h>

#define GROUP 256u

struct group { uint64_t since[GROUP], ns[GROUP], ago[GROUP], what[GROUP]; };	/* since: the start before; what: by and type */

#define PUT(type) \
	for (uint32_t i = 0; i < n; i++) { \
		type one = (type)(v[i] ^ first); \
		memcpy(to + i * sizeof(one), &one, sizeof(one)); \
	}

static uint8_t *put_column(uint8_t *to, const uint64_t *v, uint32_t n)
{
	uint64_t first = v[0], differ = 0;
	uint8_t width;

	for (uint32_t i = 0; i < n; i++)
		differ |= v[i] ^ first;
	width = !differ ? 0 : differ <= UINT8_MAX ? 1 : differ <= UINT16_MAX ? 2 : differ <= UINT32_MAX ? 4 : 8;
	memcpy(to, &first, sizeof(first));
	to[sizeof(first)] = width;
	to += sizeof(first) + 1;
	if (width == 1)
		PUT(uint8_t)
	else if (width == 2)
		PUT(uint16_t)
	else if (width == 4)
		PUT(uint32_t)
	else if (width == 8)
		PUT(uint64_t)
	return to + n * width;
}

#define GET(type) \
	for (uint32_t i = 0; i < n; i++) { \
		type one; \
		memcpy(&one, from + i * sizeof(one), sizeof(one)); \
		v[i] = first ^ one; \
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

size_t gt_link_pack(const uint8_t *records, uint32_t n, uint8_t *to)
{
	const uint8_t *begin = to;
	uint64_t before = 0;
	struct group g;

	for (uint32_t m; n; n -= m, records += m * GT_LINK_BYTES) {
		m = n < GROUP ? n : GROUP;
		for (uint32_t i = 0; i < m; i++) {
			struct gt_link one;

			memcpy(&one, records + i * GT_LINK_BYTES, GT_LINK_BYTES);
			g.since[i] = (uint64_t)one.start - before;
			g.ns[i] = (uint64_t)one.end - (uint64_t)one.start;
			g.ago[i] = (uint64_t)one.start - (uint64_t)one.launch;
			g.what[i] = (uint64_t)one.by << 32 | one.type;
			before = (uint64_t)one.start;
		}
		memcpy(to, &g.since[0], sizeof(g.since[0]));	/* may be from afar */
		to += sizeof(g.since[0]);
		g.since[0] = m > 1 ? g.since[1] : 0;
		to = put_column(to, g.since, m);
		to = put_column(to, g.ns, m);
		to = put_column(to, g.ago, m);
		to = put_column(to, g.what, m);
	}
	return (size_t)(to - begin);
}

void gt_link_unpack(const uint8_t *from, uint32_t n, uint8_t *records)
{
	uint64_t start = 0, first;
	struct group g;

	for (uint32_t m; n; n -= m, records += m * GT_LINK_BYTES) {
		m = n < GROUP ? n : GROUP;
		memcpy(&first, from, sizeof(first));
		from = get_column(from + sizeof(first), g.since, m);
		from = get_column(from, g.ns, m);
		from = get_column(from, g.ago, m);
		from = get_column(from, g.what, m);
		g.since[0] = first;
		for (uint32_t i = 0; i < m; i++) {
			struct gt_link one = { .type = (uint32_t)g.what[i], .by = (uint32_t)(g.what[i] >> 32) };

			start += g.since[i];
			one.start = (int64_t)start;
			one.end = (int64_t)(start + g.ns[i]);
			one.launch = (int64_t)(start - g.ago[i]);
			memcpy(records + i * GT_LINK_BYTES, &one, GT_LINK_BYTES);
		}
	}
}
