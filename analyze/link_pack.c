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

static inline uint8_t *put_column(uint8_t *to, const uint64_t *v, uint32_t n)
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

/* Each column by itself, so that the compiler sees what many rows have in common. */
static void fill(struct group *g, const struct gt_link_cols *rows, uint32_t from, uint32_t n)
{
	const int64_t *start = rows->start + from, *end = rows->end + from, *launch = rows->launch + from;
	const uint32_t *type = rows->type + from, *by = rows->by + from;

	g->since[0] = n > 1 ? (uint64_t)start[1] - (uint64_t)start[0] : 0;	/* its own may be from afar, and stands alone */
	for (uint32_t i = 1; i < n; i++)
		g->since[i] = (uint64_t)start[i] - (uint64_t)start[i - 1];
	for (uint32_t i = 0; i < n; i++)
		g->ns[i] = (uint64_t)end[i] - (uint64_t)start[i];
	for (uint32_t i = 0; i < n; i++)
		g->ago[i] = (uint64_t)start[i] - (uint64_t)launch[i];
	for (uint32_t i = 0; i < n; i++)
		g->what[i] = (uint64_t)by[i] << 32 | type[i];
}

size_t gt_link_pack(const struct gt_link_cols *rows, uint32_t n, uint8_t *to)
{
	const uint8_t *begin = to;
	struct group g;

	for (uint32_t from = 0, m; from < n; from += m) {
		m = n - from < GROUP ? n - from : GROUP;
		fill(&g, rows, from, m);
		memcpy(to, &rows->start[from], sizeof(rows->start[from]));
		to += sizeof(rows->start[from]);
		to = put_column(to, g.since, m);
		to = put_column(to, g.ns, m);
		to = put_column(to, g.ago, m);
		to = put_column(to, g.what, m);
	}
	return (size_t)(to - begin);
}

static void take(const struct group *g, struct gt_link_cols *rows, uint32_t from, uint32_t n)
{
	int64_t *start = rows->start + from, *end = rows->end + from, *launch = rows->launch + from;
	uint32_t *type = rows->type + from, *by = rows->by + from;

	for (uint32_t i = 1; i < n; i++)
		start[i] = (int64_t)((uint64_t)start[i - 1] + g->since[i]);
	for (uint32_t i = 0; i < n; i++)
		end[i] = (int64_t)((uint64_t)start[i] + g->ns[i]);
	for (uint32_t i = 0; i < n; i++)
		launch[i] = (int64_t)((uint64_t)start[i] - g->ago[i]);
	for (uint32_t i = 0; i < n; i++) {
		type[i] = (uint32_t)g->what[i];
		by[i] = (uint32_t)(g->what[i] >> 32);
	}
}

void gt_link_unpack(const uint8_t *from, uint32_t n, struct gt_link_cols *rows)
{
	struct group g;

	for (uint32_t at = 0, m; at < n; at += m) {
		m = n - at < GROUP ? n - at : GROUP;
		memcpy(&rows->start[at], from, sizeof(rows->start[at]));
		from = get_column(from + sizeof(rows->start[at]), g.since, m);
		from = get_column(from, g.ns, m);
		from = get_column(from, g.ago, m);
		from = get_column(from, g.what, m);
		take(&g, rows, at, m);
	}
}
