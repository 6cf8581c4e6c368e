/* Summaries of rows that span many buckets: each bucket contains its part of the row, for every
 * order of summing. */
#define _GNU_SOURCE
#include "tests/unit/t.h"
#include "tests/unit/traces.h"

/* Calls that last for many buckets, two at each depth, of two categories; and many that end within
 * one. */
#define LONG 1000000ll
static struct {
	int64_t start, end;
	unsigned depth, category;
} longs[600];
static size_t nlongs;
static struct {
	uint64_t busy[256];
	bool wrong;
} seen_longs;

static void long_call(struct tiny *t, int64_t start, int64_t end, unsigned depth, bool alloc)
{
	tiny_call(t, t->thread[0], alloc ? t->alloc : t->get, start, end, depth, 0, 0, 0);
	longs[nlongs].start = start, longs[nlongs].end = end, longs[nlongs].depth = depth;
	longs[nlongs++].category = alloc ? GT_CAT_MEMORY : GT_CAT_QUERY;
}

static int hold_against_longs(void *arg, const struct gt_summary *s)
{
	for (uint32_t i = 0; i < s->n && !s->derived; i++) {
		const struct gt_bucket *b = &s->buckets[i];
		uint64_t busy[GT_CATEGORY_COUNT] = { 0 }, all = 0;

		for (size_t k = 0; k < nlongs; k++) {
			int64_t from = longs[k].start > b->start ? longs[k].start : b->start;
			int64_t to = longs[k].end < b->start + (int64_t)b->width
				? longs[k].end
				: b->start + (int64_t)b->width;

			busy[longs[k].category] +=
				longs[k].depth == s->depth && to > from ? (uint64_t)(to - from) : 0;
		}
		for (unsigned c = 0; c < GT_CATEGORY_COUNT; c++)
			all += busy[c], seen_longs.wrong |= busy[c] > busy[b->category];
		seen_longs.wrong |=
			b->busy != all || (all && b->share != busy[b->category] * 255 / all);
		seen_longs.busy[s->level] += b->busy;
	}
	return 0;
}

static void long_calls_are_in_all_that_they_cover(void)
{
	struct gt_err err = GT_ERR_INIT;
	int fd = temp_file(), keep = dup(fd);
	struct gt_reader *r;
	uint64_t all = 0;
	struct tiny t;

	CHECK(!tiny_open(&t, fd, true));
	for (int half = 0; half < 2; half++) {
		int64_t from = half * LONG, end = from + LONG;

		for (unsigned d = 0; d < 7; d++)
			long_call(&t, from + d * 777, end - d * 12345, d, (d + (unsigned)half) % 2);
		for (int i = 0; i < 200; i++)
			long_call(&t, from + 5000 + i * 4000, from + 5000 + i * 4000 + i, 7, i % 3);
	}
	CHECK(!gt_writer_close(t.w, &err) && (r = gt_reader_open_fd(keep, &err)));
	for (unsigned level = 0; level < 3; level++)
		CHECK(!each_summary(r, level, hold_against_longs, NULL, &err) && !seen_longs.wrong);
	for (size_t i = 0; i < nlongs; i++)
		all += (uint64_t)(longs[i].end - longs[i].start);
	/* empty buckets are not there: none is missing */
	CHECK(seen_longs.busy[0] == all && seen_longs.busy[1] == all);
	gt_reader_close(r);
}

T_MAIN(T(long_calls_are_in_all_that_they_cover))
