/* Lane cells are aligned to a grid, but a range may start and end anywhere. So the range is cut
 * into a few dozen cells of different widths, narrow ones at its ends and wide ones in its middle.
 * Summaries give the wide cells, and only the blocks at the ends are read. The range is also cut at
 * the start of each unfinished call. */
#include <stdlib.h>

#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "viewer/util/deadline.h"
#include "viewer/cells/measure.h"
#include "viewer/cells/unfinished_calls.h"

struct piece {
	int64_t cell;
	unsigned shift;
};
struct gt_measure {
	struct gt_lane_cells *strips;
	struct gt_strip_key of;
	struct gt_measured sums[GT_SUMMARY_DEPTHS];
	struct piece *pieces;
	size_t npieces, pieces_cap, done;
	bool begun; /* the cells of the next piece are requested */
};

/* The widest cell that begins at `from`, lies within `to` and is no wider than allowed. */
static unsigned widest_at(int64_t from, int64_t to, unsigned widest)
{
	unsigned shift = 0;

	while (shift < widest && !(from & (int64_t)((2ull << shift) - 1)) &&
		to - from >= (int64_t)(2ull << shift))
		shift++;
	return shift;
}

/* cut_all() limits the range to the trace, so the number of pieces is small. */
static int cut(struct gt_measure *m, const struct gt_archive *a, int64_t from, int64_t to)
{
	while (from < to) {
		unsigned shift = widest_at(from, to, gt_archive_widest_cell(a));

		if (gt_grow(&m->pieces, &m->pieces_cap, m->npieces + 1, sizeof(*m->pieces)))
			return -ENOMEM;
		m->pieces[m->npieces++] = (struct piece){ from >> shift, shift };
		from += (int64_t)(1ull << shift);
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return GT_COMPARE(*x, *y);
}

/* A piece starts at each start of an unfinished call, so the call covers a piece completely or not
 * at all. */
static int cut_all(struct gt_measure *m, const struct gt_archive *a, int64_t from, int64_t to)
{
	int64_t low, high, at[GT_SUMMARY_DEPTHS + 1];
	size_t n = 0;
	int rc = 0;

	gt_archive_extent(a, &low, &high);
	from = from < low - 1 ? low - 1 : from;
	to = to > high + 1 ? high + 1 : to;
	for (unsigned d = 0; d < GT_SUMMARY_DEPTHS; d++)
		n += gt_unfinished_calls_first_start(a, &m->of, d, &at[n]) && at[n] > from &&
			at[n] < to;
	qsort(at, n, sizeof(*at), by_time);
	at[n++] = to;
	for (size_t i = 0; !rc && i < n; from = at[i++])
		rc = cut(m, a, from, at[i]);
	return rc;
}

struct gt_measure *gt_measure_new(struct gt_archive *a, const struct gt_strip_key *of, int64_t one,
	int64_t other, struct gt_err *err)
{
	struct gt_measure *m = calloc(1, sizeof(*m));
	int rc = -ENOMEM;

	if (m && (m->strips = gt_lane_cells_new(a))) {
		m->of = *of;
		rc = cut_all(m, a, one < other ? one : other, one < other ? other : one);
	}
	if (!rc)
		return m;
	gt_measure_free(m);
	gt_err_set(err, rc, "out of memory");
	return NULL;
}

void gt_measure_free(struct gt_measure *m)
{
	if (!m)
		return;
	gt_lane_cells_free(m->strips);
	free(m->pieces);
	free(m);
}

static void take_piece(struct gt_measure *m)
{
	for (unsigned d = 0; d < GT_SUMMARY_DEPTHS; d++) {
		struct gt_measured *to = &m->sums[d];
		struct gt_cell_sums cell;

		gt_lane_cells_get(m->strips, 0, d, &cell);
		to->busy += cell.busy;
		to->count += cell.count;
		to->bytes += cell.bytes;
		to->longest = cell.longest > to->longest ? cell.longest : to->longest;
		to->rough |= cell.sureness == GT_CELL_ROUGH;
		to->holes |= cell.sureness == GT_CELL_DAMAGED;
	}
}

int gt_measure_step(struct gt_measure *m, uint64_t us, struct gt_err *err)
{
	uint64_t deadline = gt_deadline(us);
	int code = 0;

	while (!code && m->done < m->npieces && !gt_deadline_is_over(deadline)) {
		struct gt_cell_window w =
			gt_aligned_window(m->pieces[m->done].cell, m->pieces[m->done].shift, 1);

		if (!m->begun)
			code = gt_lane_cells_request(m->strips, &w, &m->of, 1, err);
		m->begun = true;
		if (code >= 0)
			code = gt_lane_cells_step(m->strips, us, err);
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

struct gt_measured gt_measure_of(const struct gt_measure *m, unsigned depth)
{
	return m->sums[depth];
}
