/* The sort of row numbers: in order, stable, for rows in any order. */
#include <stdlib.h>
#include "formats/base/merge_sort.h"
#include "tests/unit/t.h"

#define MOST 600u

static bool before(const void *arg, uint32_t a, uint32_t b)
{
	const uint32_t *keys = arg;

	return keys[a] < keys[b];
}

static uint32_t key_of(uint32_t i, uint32_t n, unsigned how)
{
	switch (how) {
	case 0: return i;
	case 1: return n - i;
	case 2: return i * 2654435761u >> 8;
	case 3: return i * 2654435761u >> 30; /* many rows are equal */
	case 4: return i ^ 3;                 /* nearly in order */
	case 5: return i == n - 1 ? 0 : i;    /* the last row comes first */
	case 6: return i ? i : n;             /* the first row comes last */
	default: return i % 2 ? i : i + 40;
	}
}

static bool sorts(uint32_t n, unsigned how)
{
	static uint32_t keys[MOST], rows[MOST], spare[MOST];
	bool seen[MOST] = { false }, ok = true;

	for (uint32_t i = 0; i < n; i++) {
		keys[i] = key_of(i, n, how);
		rows[i] = i;
	}
	gt_merge_sort(rows, spare, n, before, keys);
	for (uint32_t i = 0; i < n; i++) {
		ok &= rows[i] < n && !seen[rows[i]];
		seen[rows[i]] = true;
		if (i && keys[rows[i - 1]] == keys[rows[i]])
			ok &= rows[i - 1] < rows[i];
		else if (i)
			ok &= keys[rows[i - 1]] < keys[rows[i]];
	}
	return ok;
}

static void rows_in_any_order_are_sorted(void)
{
	for (unsigned how = 0; how < 8; how++)
		for (uint32_t n = 0; n <= MOST; n += n < 70 ? 1 : 53)
			CHECK(sorts(n, how));
}

T_MAIN(T(rows_in_any_order_are_sorted))
