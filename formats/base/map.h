/* An open-addressing hash table from bytes or 64-bit keys to a 32-bit value. The table does not
 * store keys: the caller has them in an array, and its callback says whether entry `value` has the
 * key that is looked up. So strings, schemas, stacks and tracks share this code. A zero-initialised
 * map is empty and valid. */
#ifndef GT_MAP_H
#define GT_MAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct gt_map {
	/* value is stored plus one; 0 is a free slot */
	struct gt_map_slot {
		uint32_t hash, value;
	} * slots;
	uint32_t used, mask;
};
typedef bool gt_map_same(const void *arg, uint32_t value, const void *key, size_t len);

uint64_t gt_hash(const void *bytes, size_t len); /* stable within a run; not for files */
uint64_t gt_hash_u64(uint64_t x);

/* The value stored for this key, or UINT32_MAX. Inline, so that the compiler inlines `same`. */
static inline uint32_t gt_map_get(const struct gt_map *m, uint64_t hash, gt_map_same *same,
	const void *arg, const void *key, size_t len)
{
	if (!m->slots)
		return UINT32_MAX;
	for (uint32_t i = (uint32_t)hash & m->mask; m->slots[i].value; i = (i + 1) & m->mask)
		if (m->slots[i].hash == (uint32_t)hash &&
			same(arg, m->slots[i].value - 1, key, len))
			return m->slots[i].value - 1;
	return UINT32_MAX;
}
/* Prefetches the slot of this hash, for one of many look-ups. */
static inline void gt_map_fetch(const struct gt_map *m, uint64_t hash)
{
	if (m->slots)
		__builtin_prefetch(&m->slots[(uint32_t)hash & m->mask]);
}
/* The first value stored for this hash, or UINT32_MAX. Its key may be another one. */
uint32_t gt_map_first(const struct gt_map *m, uint64_t hash);
/* Adds a key known to be absent. value < UINT32_MAX. 0 or -ENOMEM. */
int gt_map_add(struct gt_map *m, uint64_t hash, uint32_t value);
/* Replaces the value of the entry with this hash and value. */
void gt_map_set(struct gt_map *m, uint64_t hash, uint32_t value, uint32_t to);
/* Removes the key of this hash and value, if it is there. */
void gt_map_remove(struct gt_map *m, uint64_t hash, uint32_t value);

/* An array of items with a map, where the key of an item is its first key_size bytes (without
 * padding: all bytes count). The index of the item with this key, or UINT32_MAX. */
static inline uint32_t gt_map_find_item(const struct gt_map *m, const void *items, size_t item_size,
	const void *key, size_t key_size)
{
	uint32_t hash = (uint32_t)gt_hash(key, key_size), value;

	for (uint32_t i = hash & m->mask; m->slots && (value = m->slots[i].value);
		i = (i + 1) & m->mask)
		if (m->slots[i].hash == hash &&
			!memcmp((const char *)items + (value - 1) * item_size, key, key_size))
			return value - 1;
	return UINT32_MAX;
}
/* Appends a copy of an item whose key is new. Its index, or UINT32_MAX: no memory. items: pointer
 * to the array, as in gt_grow(); *n: its length. */
uint32_t gt_map_add_item(struct gt_map *m, void *items, size_t *n, size_t *cap, size_t item_size,
	const void *item, size_t key_size);
/* Removes item i; the last item takes its place. */
void gt_map_remove_item(
	struct gt_map *m, void *items, size_t *n, size_t item_size, uint32_t i, size_t key_size);

void gt_map_clear(struct gt_map *m); /* empties it and keeps its memory */
void gt_map_release(struct gt_map *m);
#endif
