#include "formats/base/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

uint64_t gt_hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15ULL;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ULL;
	return x ^ x >> 32;
}

uint64_t gt_hash(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint64_t h = len, word;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		h = gt_hash_u64(h ^ word);
	}
	if (!len)
		return h;
	word = 0;
	memcpy(&word, p, len);
	return gt_hash_u64(h ^ word);
}

static bool is_any(const void *arg, uint32_t value, const void *key, size_t len) { return true; }

uint32_t gt_map_first(const struct gt_map *m, uint64_t hash)
{
	return gt_map_get(m, hash, is_any, NULL, NULL, 0);
}

static void place(struct gt_map *m, uint32_t hash, uint32_t stored)
{
	uint32_t i = hash & m->mask;

	while (m->slots[i].value)
		i = (i + 1) & m->mask;
	m->slots[i] = (struct gt_map_slot){ hash, stored };
}

static int widen(struct gt_map *m)
{
	uint32_t n = m->slots ? (m->mask + 1) * 2 : 64;
	struct gt_map bigger = {
		.slots = calloc(n, sizeof(*m->slots)), .used = m->used, .mask = n - 1
	};

	if (!bigger.slots)
		return -ENOMEM;
	for (uint32_t i = 0; m->slots && i <= m->mask; i++)
		if (m->slots[i].value)
			place(&bigger, m->slots[i].hash, m->slots[i].value);
	free(m->slots);
	*m = bigger;
	return 0;
}

int gt_map_add(struct gt_map *m, uint64_t hash, uint32_t value)
{
	if ((!m->slots || m->used >= (m->mask + 1) / 4 * 3) && widen(m))
		return -ENOMEM;
	place(m, (uint32_t)hash, value + 1);
	m->used++;
	return 0;
}

void gt_map_set(struct gt_map *m, uint64_t hash, uint32_t value, uint32_t to)
{
	for (uint32_t i = (uint32_t)hash & m->mask; m->slots && m->slots[i].value;
		i = (i + 1) & m->mask)
		if (m->slots[i].hash == (uint32_t)hash && m->slots[i].value == value + 1) {
			m->slots[i].value = to + 1;
			return;
		}
}

/* Backward-shift deletion: later slots of the probe sequence move back, but not before their home.
 */
void gt_map_remove(struct gt_map *m, uint64_t hash, uint32_t value)
{
	uint32_t i = (uint32_t)hash & m->mask, k;

	while (m->slots && m->slots[i].value &&
		!(m->slots[i].hash == (uint32_t)hash && m->slots[i].value == value + 1))
		i = (i + 1) & m->mask;
	if (!m->slots || !m->slots[i].value)
		return;
	m->used--;
	for (k = i;; i = k) {
		m->slots[i].value = 0;
		do {
			k = (k + 1) & m->mask;
			if (!m->slots[k].value)
				return;
		} while (((k - m->slots[k].hash) & m->mask) < ((k - i) & m->mask));
		m->slots[i] = m->slots[k];
	}
}

uint32_t gt_map_add_item(struct gt_map *m, void *items, size_t *n, size_t *cap, size_t item_size,
	const void *item, size_t key_size)
{
	if (*n >= UINT32_MAX - 1 || gt_grow(items, cap, *n + 1, item_size) ||
		gt_map_add(m, gt_hash(item, key_size), (uint32_t)*n))
		return UINT32_MAX;
	memcpy(*(char **)items + *n * item_size, item, item_size);
	return (uint32_t)(*n)++;
}

void gt_map_remove_item(
	struct gt_map *m, void *items, size_t *n, size_t item_size, uint32_t i, size_t key_size)
{
	uint32_t last = (uint32_t)-- * n;
	char *to = (char *)items + i * item_size, *from = (char *)items + last * item_size;

	gt_map_remove(m, gt_hash(to, key_size), i);
	if (i == last)
		return;
	gt_map_set(m, gt_hash(from, key_size), last, i);
	memcpy(to, from, item_size);
}

void gt_map_clear(struct gt_map *m)
{
	if (m->slots)
		memset(m->slots, 0, (m->mask + 1ul) * sizeof(*m->slots));
	m->used = 0;
}

void gt_map_release(struct gt_map *m)
{
	free(m->slots);
	memset(m, 0, sizeof(*m));
}
