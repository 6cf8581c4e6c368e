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

void gt_merge_sort(uint32_t *rows, uint32_t *spare, uint32_t n,
	bool (*before)(const void *arg, uint32_t a, uint32_t b), const void *arg)
{
	uint32_t half = n / 2, i = 0, j = half;

	if (n <= FEW) {
		sort_few(rows, n, before, arg);
		return;
	}
	gt_merge_sort(rows, spare, half, before, arg);
	gt_merge_sort(rows + half, spare, n - half, before, arg);
	if (!before(arg, rows[half], rows[half - 1]))
		return;
	for (uint32_t k = 0; k < n; k++)
		spare[k] = j >= n || (i < half && !before(arg, rows[j], rows[i])) ? rows[i++]
										  : rows[j++];
	memcpy(rows, spare, n * sizeof(*rows));
}
