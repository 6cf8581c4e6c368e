#include "formats/base/merge_sort.h"

#include <string.h>

#define FEW 8u /* up to this many rows are sorted by insertion */

typedef bool row_before(const void *arg, uint32_t a, uint32_t b);

static void sort_few(uint32_t *rows, uint32_t n, row_before *before, const void *arg)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t row = rows[i], at = i;

		for (; at && before(arg, row, rows[at - 1]); at--)
			rows[at] = rows[at - 1];
		rows[at] = row;
	}
}

/* The number of sorted rows that stay before `row`. The search begins at the last one: in rows that
 * are nearly in order, few come after it. */
static uint32_t find_place(
	const uint32_t *rows, uint32_t n, uint32_t row, row_before *before, const void *arg)
{
	uint32_t step = 1, from = 0, to = n;

	while (step <= to && before(arg, row, rows[to - step])) {
		to -= step;
		step *= 2;
	}
	from = step <= to ? to - step + 1 : 0;
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (before(arg, row, rows[middle]))
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

void gt_merge_sort(uint32_t *rows, uint32_t *spare, uint32_t n,
	bool (*before)(const void *arg, uint32_t a, uint32_t b), const void *arg)
{
	uint32_t half = n / 2, j = half, to, left = 0, moved;

	if (n <= FEW) {
		sort_few(rows, n, before, arg);
		return;
	}
	gt_merge_sort(rows, spare, half, before, arg);
	gt_merge_sort(rows + half, spare, n - half, before, arg);
	to = find_place(rows, half, rows[half], before, arg);
	moved = half - to;
	memcpy(spare, rows + to, moved * sizeof(*rows));
	/* the rest of the right half is in its place */
	while (left < moved)
		rows[to++] = j < n && before(arg, rows[j], spare[left]) ? rows[j++] : spare[left++];
}
