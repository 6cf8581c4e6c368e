#include "formats/base/order.h"

#include <string.h>

void gt_order(uint32_t *rows, uint32_t *spare, uint32_t n, bool (*before)(const void *arg, uint32_t a, uint32_t b), const void *arg)
{
	uint32_t half = n / 2, i = 0, j = half;

	if (n < 2)
		return;
	gt_order(rows, spare, half, before, arg);
	gt_order(rows + half, spare, n - half, before, arg);
	if (!before(arg, rows[half], rows[half - 1]))
		return;
	for (uint32_t k = 0; k < n; k++)
		spare[k] = j >= n || (i < half && !before(arg, rows[j], rows[i])) ? rows[i++] : rows[j++];
	memcpy(rows, spare, n * sizeof(*rows));
}
