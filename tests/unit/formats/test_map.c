/* Updates to the values of a map after a key was added. */
#include <stdlib.h>
#include "formats/base/map.h"
#include "tests/unit/t.h"

static bool same(const void *arg, uint32_t value, const void *key, size_t len)
{
	return value == *(const uint32_t *)key;
}

static uint32_t get(const struct gt_map *m, uint64_t hash, uint32_t key)
{
	return gt_map_get(m, hash, same, NULL, &key, sizeof(key));
}

/* Values 0 to 999, four of each hash. */
static struct gt_map filled(void)
{
	struct gt_map m = { 0 };
	int rc = 0;

	for (uint32_t i = 0; !rc && i < 1000; i++)
		rc = gt_map_add(&m, gt_hash_u64(i / 4), i);
	return m;
}

static void a_value_is_replaced(void)
{
	struct gt_map m = filled();

	gt_map_set(&m, gt_hash_u64(100), 402, 5000);
	CHECK(get(&m, gt_hash_u64(100), 402) == UINT32_MAX &&
		get(&m, gt_hash_u64(100), 5000) == 5000);
	for (uint32_t i = 0; i < 1000; i++)
		CHECK(i == 402 || get(&m, gt_hash_u64(i / 4), i) == i);
	gt_map_set(&m, gt_hash_u64(100), 7, 1); /* not of this hash */
	CHECK_EQ(get(&m, gt_hash_u64(1), 7), 7);
	gt_map_release(&m);
}

static void the_first_of_a_hash(void)
{
	struct gt_map m = filled(), none = { 0 };

	CHECK(gt_map_first(&m, gt_hash_u64(100)) / 4 == 100 &&
		gt_map_first(&m, gt_hash_u64(250)) == UINT32_MAX);
	CHECK_EQ(gt_map_first(&none, 1), UINT32_MAX);
	gt_map_fetch(&none, 1);
	gt_map_release(&m);
}

static void cleared_is_empty_and_can_be_filled(void)
{
	struct gt_map m = filled(), none = { 0 };

	gt_map_clear(&m);
	gt_map_clear(&none);
	for (uint32_t i = 0; i < 1000; i++)
		CHECK_EQ(get(&m, gt_hash_u64(i / 4), i), UINT32_MAX);
	CHECK(!m.used && !gt_map_add(&m, 5, 6) && get(&m, 5, 6) == 6);
	gt_map_release(&m);
}

/* Hashes collide: entries after a removed one must stay reachable, also across the table's end. */
static void removed_values_leave_the_others(void)
{
	struct gt_map m = filled(), none = { 0 };

	gt_map_remove(&none, 1, 1);
	for (uint32_t i = 0; i < 1000; i += 3)
		gt_map_remove(&m, gt_hash_u64(i / 4), i);
	gt_map_remove(&m, gt_hash_u64(0), 0); /* it is gone */
	for (uint32_t i = 0; i < 1000; i++)
		CHECK_EQ(get(&m, gt_hash_u64(i / 4), i), i % 3 ? i : UINT32_MAX);
	CHECK_EQ(m.used, 666);
	gt_map_release(&m);
	m = (struct gt_map){ 0 };
	for (uint32_t i = 0; i < 40; i++)
		CHECK(!gt_map_add(&m, 60, i)); /* wraps around at 64 */
	for (uint32_t i = 0; i < 40; i += 2)
		gt_map_remove(&m, 60, i);
	for (uint32_t i = 0; i < 40; i++)
		CHECK_EQ(get(&m, 60, i), i % 2 ? i : UINT32_MAX);
	gt_map_release(&m);
	/* two keys with one value */
	CHECK(!gt_map_add(&m, 60, 7) && !gt_map_add(&m, 61, 8) && !gt_map_add(&m, 60 + 64, 8));
	gt_map_remove(&m, 60 + 64, 8);
	CHECK_EQ(gt_map_first(&m, 61), 8);
	CHECK_EQ(gt_map_first(&m, 60 + 64), UINT32_MAX);
	gt_map_release(&m);
}

static void items_are_found_by_their_first_bytes(void)
{
	struct item {
		uint64_t key;
		uint32_t value;
	} *items = NULL, one;
	struct gt_map m = { 0 };
	size_t n = 0, cap = 0;

	one.key = 7;
	CHECK_EQ(gt_map_find_item(&m, items, sizeof(one), &one, 8), UINT32_MAX);
	for (uint32_t i = 0; i < 1000; i++) {
		one = (struct item){ i * 3, i };
		CHECK_EQ(gt_map_add_item(&m, &items, &n, &cap, sizeof(one), &one, 8), i);
	}
	for (uint64_t key = 0; key < 3000; key++)
		CHECK_EQ(gt_map_find_item(&m, items, sizeof(one), &key, 8),
			key % 3 ? UINT32_MAX : key / 3);
	CHECK(n == 1000 && items[500].value == 500);
	free(items);
	gt_map_release(&m);
}

static void an_item_is_removed(void)
{
	uint64_t *items = NULL;
	size_t n = 0, cap = 0;
	struct gt_map m = { 0 };

	for (uint64_t i = 0; i < 1000; i++)
		CHECK_EQ(gt_map_add_item(&m, &items, &n, &cap, sizeof(i), &i, sizeof(i)), i);
	for (uint32_t i = 1000; i-- > 0;)
		if (i % 3)
			gt_map_remove_item(&m, items, &n, sizeof(*items), i, sizeof(*items));
	CHECK_EQ(n, 334);
	for (uint64_t i = 0; i < 1000; i++) {
		uint32_t at = gt_map_find_item(&m, items, sizeof(i), &i, sizeof(i));

		CHECK(i % 3 ? at == UINT32_MAX : at < n && items[at] == i);
	}
	free(items);
	gt_map_release(&m);
}

T_MAIN(T(an_item_is_removed), T(a_value_is_replaced), T(the_first_of_a_hash),
	T(cleared_is_empty_and_can_be_filled), T(removed_values_leave_the_others),
	T(items_are_found_by_their_first_bytes))
