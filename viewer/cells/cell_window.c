#include "viewer/cells/cell_window.h"

struct gt_cell_window gt_aligned_window(int64_t first, unsigned shift, unsigned cells)
{
	return (struct gt_cell_window){ .from = (int64_t)((uint64_t)first << shift),
		.to = (int64_t)((uint64_t)(first + cells) << shift),
		.shift = shift,
		.cells = cells };
}

bool gt_window_is_aligned(const struct gt_cell_window *w)
{
	return (uint64_t)w->to - (uint64_t)w->from == (uint64_t)w->cells << w->shift &&
		!((uint64_t)w->from & ((1ull << w->shift) - 1));
}

/* floor(a * b / c); c is positive */
static int64_t scale(int64_t a, uint64_t b, uint64_t c)
{
	__int128 product = (__int128)a * (__int128)b, q = product / (__int128)c;

	q -= product % (__int128)c < 0;
	return q > INT64_MAX ? INT64_MAX : q < INT64_MIN ? INT64_MIN : (int64_t)q;
}

static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

int64_t gt_cell_start(const struct gt_cell_window *w, int64_t cell)
{
	uint64_t span = (uint64_t)w->to - (uint64_t)w->from, half = 1ull << w->shift >> 1;
	int64_t t;

	if (gt_window_is_aligned(w))
		return (int64_t)((uint64_t)w->from + ((uint64_t)cell << w->shift));
	if (cell == 0 || cell == (int64_t)w->cells)
		return cell ? w->to : w->from;
	t = add(w->from, scale(cell, span, w->cells));
	if (!w->shift || t > INT64_MAX - (int64_t)half)
		return t;
	t = (int64_t)(((uint64_t)t + half) & ~((1ull << w->shift) - 1));
	if (cell > 0 && cell < (int64_t)w->cells)
		t = t < w->from ? w->from : t > w->to ? w->to : t;
	return t;
}

int64_t gt_window_column(const struct gt_cell_window *w, int64_t t)
{
	uint64_t span = (uint64_t)w->to - (uint64_t)w->from;
	int64_t i, from_start;

	if (gt_window_is_aligned(w))
		return (t >> w->shift) - (w->from >> w->shift);
	if (__builtin_sub_overflow(t, w->from, &from_start))
		from_start = t < w->from ? INT64_MIN : INT64_MAX;
	i = scale(from_start, w->cells, span);
	if (i < -1 || i > (int64_t)w->cells)
		return i;
	while (i > 0 && t < gt_cell_start(w, i))
		i--;
	while (i < (int64_t)w->cells && t >= gt_cell_start(w, i + 1))
		i++;
	if (i >= (int64_t)w->cells && t < w->to)
		i = (int64_t)w->cells - 1;
	return t < w->from && i >= 0 ? -1 : i;
}

unsigned gt_window_log2(const struct gt_cell_window *w)
{
	uint64_t width = gt_window_cell_width(w);
	unsigned low = width > 1 ? 63u ^ (unsigned)__builtin_clzll(width) : 0;

	/* sqrt(2) = 1.414 */
	return width > (1ull << low) + (1ull << low) * 13 / 32 ? low + 1 : low;
}

bool gt_window_consists_of(const struct gt_cell_window *w, const struct gt_cell_window *fine)
{
	if (gt_same_window(w, fine))
		return true;
	if (!fine->cells || !w->cells)
		return false;
	if (gt_window_is_aligned(w) && gt_window_is_aligned(fine))
		return w->shift >= fine->shift;
	for (unsigned i = 0; i <= w->cells; i++) {
		int64_t t = gt_cell_start(w, i);

		if (t > fine->from && t < fine->to &&
			gt_cell_start(fine, gt_window_column(fine, t)) != t)
			return false;
	}
	return true;
}
