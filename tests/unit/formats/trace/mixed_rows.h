/* Shared by the tests of the trace format: random rows of all kinds, and lists of the rows
 * that were written and read. */
#ifndef MIXED_ROWS_H
#define MIXED_ROWS_H
#include "tests/unit/t.h"
#include "tests/unit/traces.h"

static uint64_t seed = 1;

static inline uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

struct seen {
	uint32_t track, type;
	int64_t start, end;
	int ret;
	unsigned depth, kind;
	uint64_t a, b;
};

static struct seen want[200000], got[200000];
static size_t nwant, ngot;

static inline int expect(struct tiny *t, enum gt_kind kind, uint32_t track, uint32_t type,
	int64_t start, int64_t end, unsigned depth, int ret, uint64_t a, uint64_t b)
{
	unsigned n = gt_writer_type_get(t->w, type)->nfields;

	want[nwant++] = (struct seen){ track, type, start, end, ret, depth, kind, n > 0 ? a : 0,
		n > 1 ? b : 0 };
	return tiny_row(t, kind, track, type, start, end, depth, ret, a, b);
}

static inline int collect(void *arg, unsigned worker, const struct gt_cols *c)
{
	uint32_t *nth = calloc(c->ntypes, 4), r = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t code = c->code ? c->code[i] : 0, n;
		struct seen s = { c->track, c->types[code], c->start[i], c->start[i] + c->dur[i], 0,
			c->depth ? c->depth[i] : 0, c->kind, 0, 0 };
		const uint64_t *v;

		if (r < c->nret && c->ret_row[r] == i)
			s.ret = c->ret[r++];
		if ((v = gt_cols_args(c, code, 0, &n)) && nth[code] < n)
			s.a = v[nth[code]];
		if ((v = gt_cols_args(c, code, 1, &n)) && nth[code] < n)
			s.b = v[nth[code]];
		nth[code]++;
		got[ngot++] = s;
	}
	free(nth);
	return 0;
}

/* Nested calls on several threads, return codes, arguments, GPU rows that overlap, many epochs. */
static inline int write_mixed(struct tiny *t, int rows, int64_t step)
{
	int64_t now = 1000;

	nwant = 0;
	for (int i = 0; i < rows; i++) {
		uint32_t th = t->thread[rnd() % 4 * (i % 7 == 0)];
		int64_t dur = 20 + (int64_t)(rnd() % 100);
		int bad = 0;

		if (i % 10 == 0) { /* a launch with two ioctls in it, which ended before it */
			bad |= expect(t, GT_CALL, th, t->ioctl, now + 1, now + 5, 1, 0,
				i % 20 == 0 ? 31 : 0, 0);
			bad |= expect(t, GT_CALL, th, t->ioctl, now + 5, now + dur, 1, -1, 0, 0);
			bad |= expect(t, GT_CALL, th, t->launch, now, now + dur, 0,
				i % 30 == 0 ? 700 : 0, rnd() % 3, t->source);
		} else if (i % 10 == 5) {
			bad |= expect(t, GT_CALL, th, t->alloc, now, now + dur, 0, 0,
				1 << rnd() % 30, 0x7f0000000000 + rnd() % 50 * 512);
		} else {
			bad |= expect(t, GT_CALL, th, t->get, now, now + dur, 0, 0, 0, 0);
		}
		if (i % 13 == 0)
			bad |= expect(t, GT_GPU, t->stream, t->kernel,
				now - 500 + (int64_t)(rnd() % 300), now + 400, 0, 0, 0, 0);
		if (i % 101 == 0)
			bad |= expect(t, GT_INSTANT, th, t->get, now, now, 0, 0, 0, 0);
		now += dur + (int64_t)(rnd() % 50) + step;
		if (bad ||
			(gt_writer_epoch_is_due(t->w, now) && gt_writer_epoch(t->w, now, &t->err)))
			return -1;
	}
	return 0;
}
#endif
