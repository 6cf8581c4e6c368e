/* Cells lie on a grid, and moments do not. But any stretch of time is a few dozen cells of different widths put together, narrow ones at its
 * ends and wide ones in its middle, and for each of them there is a strip: so the middle of an hour is known from a summary, and only
 * blocks at the ends are opened. */
#include <stdlib.h>
#include <string.h>

#include "viewer/deadline.h"
#include "viewer/measure.h"

struct piece { int64_t cell; unsigned shift; };
struct gt_measure {
	struct gt_strips *strips;
	struct gt_strip_of *of;
	struct gt_measured (*sums)[GT_SUMMARY_DEPTHS];	/* by strip */
	size_t n;
	struct piece pieces[2 * 64];
	unsigned npieces, done;
	bool begun;			/* the strips are at work on the next piece */
};

/* The widest cell that begins at `from`, lies within `to` and is no wider than allowed. */
static unsigned widest_at(int64_t from, int64_t to, unsigned widest)
{
	unsigned shift = 0;

	while (shift < widest && !(from & (int64_t)((2ull << shift) - 1)) && to - from >= (int64_t)(2ull << shift))
		shift++;
	return shift;
}

/* Cells as wide as the archive's widest may be many in a row only when someone measures far outside of the trace. */
static void cut(struct gt_measure *m, const struct gt_archive *a, int64_t from, int64_t to)
{
	int64_t low, high;

	gt_archive_extent(a, &low, &high);
	from = from < low - 1 ? low - 1 : from;
	to = to > high + 1 ? high + 1 : to;
	while (from < to && m->npieces < sizeof(m->pieces) / sizeof(m->pieces[0])) {
		unsigned shift = widest_at(from, to, gt_archive_widest(a));

		m->pieces[m->npieces++] = (struct piece){ from >> shift, shift };
		from += (int64_t)(1ull << shift);
	}
}

struct gt_measure *gt_measure_new(struct gt_archive *a, const struct gt_strip_of *of, size_t n, int64_t one, int64_t other, struct gt_err *err)
{
	struct gt_measure *m = calloc(1, sizeof(*m));

	if (m) {
		m->strips = gt_strips_new(a);
		m->of = malloc((n + 1) * sizeof(*m->of));
		m->sums = calloc(n + 1, sizeof(*m->sums));
	}
	if (!m || !m->strips || !m->of || !m->sums) {
		gt_measure_free(m);
		gt_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	memcpy(m->of, of, n * sizeof(*of));
	m->n = n;
	cut(m, a, one < other ? one : other, one < other ? other : one);
	return m;
}

void gt_measure_free(struct gt_measure *m)
{
	if (!m)
		return;
	gt_strips_free(m->strips);
	free(m->of);
	free(m->sums);
	free(m);
}

static void take_piece(struct gt_measure *m)
{
	for (size_t i = 0; i < m->n; i++)
		for (unsigned d = 0; d < GT_SUMMARY_DEPTHS; d++) {
			struct gt_measured *to = &m->sums[i][d];
			struct gt_cell_sums cell;

			gt_strips_cells(m->strips, i, d, &cell);
			to->busy += cell.busy;
			to->count += cell.count;
			to->bytes += cell.bytes;
			to->longest = cell.longest > to->longest ? cell.longest : to->longest;
			to->rough |= cell.sureness == GT_CELL_ROUGH;
			to->holes |= cell.sureness == GT_CELL_HOLE;
		}
}

int gt_measure_step(struct gt_measure *m, uint64_t us, struct gt_err *err)
{
	uint64_t deadline = gt_deadline(us);
	int code = 0;

	while (!code && m->done < m->npieces && !gt_is_over(deadline)) {
		struct gt_window w = { m->pieces[m->done].cell, m->pieces[m->done].shift, 1 };

		if (!m->begun)
			code = gt_strips_want(m->strips, &w, m->of, m->n, err);
		m->begun = true;
		if (!code)
			code = gt_strips_step(m->strips, us, err);
		if (code > 0)
			return 1;
		if (!code) {
			take_piece(m);
			m->done++;
			m->begun = false;
		}
	}
	return code ? code : m->done < m->npieces;
}

struct gt_measured gt_measure_of(const struct gt_measure *m, size_t i, unsigned depth) { return m->sums[i][depth]; }
