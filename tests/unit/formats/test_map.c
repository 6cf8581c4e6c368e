/* Updates to the values of a map after a key was added. */
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

T_MAIN(T(a_value_is_replaced), T(the_first_of_a_hash), T(cleared_is_empty_and_can_be_filled))
