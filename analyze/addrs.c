#include "analyze/addrs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/map.h"

static uint32_t home(const struct gt_addrs *a, uint32_t place, uint8_t space, uint64_t addr)
{
	return (uint32_t)gt_hash_u64(addr ^ (uint64_t)place << 40 ^ (uint64_t)space << 61) & a->mask;
}

/* Where it is, or the free slot where it would be. The table is never full. */
static uint32_t find(const struct gt_addrs *a, uint32_t place, uint8_t space, uint64_t addr)
{
	uint32_t i = home(a, place, space, addr);

	for (; a->slots[i].used; i = (i + 1) & a->mask)
		if (a->slots[i].addr == addr && a->slots[i].place == place && a->slots[i].space == space)
			break;
	return i;
}

static int widen(struct gt_addrs *a)
{
	uint32_t n = a->slots ? (a->mask + 1) * 2 : 256;
	struct gt_addrs wide = { .slots = calloc(n, sizeof(*wide.slots)), .mask = n - 1, .used = a->used };

	if (!wide.slots)
		return -ENOMEM;
	for (uint32_t i = 0; a->slots && i <= a->mask; i++)
		if (a->slots[i].used)
			wide.slots[find(&wide, a->slots[i].place, a->slots[i].space, a->slots[i].addr)] = a->slots[i];
	free(a->slots);
	*a = wide;
	return 0;
}

int gt_addrs_put(struct gt_addrs *a, const struct gt_addr *entry, struct gt_addr *old)
{
	uint32_t i;
	bool there;

	if ((!a->slots || a->used >= (a->mask + 1) / 4 * 3) && a->used < GT_ADDRS_MAX && widen(a))
		return -ENOMEM;
	i = find(a, entry->place, entry->space, entry->addr);
	there = a->slots[i].used;
	if (!there && a->used >= GT_ADDRS_MAX)
		return -ENOSPC;
	*old = a->slots[i];
	a->slots[i] = *entry;
	a->slots[i].used = true;
	a->used += !there;
	return !there;
}

/* Closes the hole at i: whoever stands behind it and would be found sooner there moves up. */
static void close_hole(struct gt_addrs *a, uint32_t i)
{
	for (uint32_t k = (i + 1) & a->mask; a->slots[k].used; k = (k + 1) & a->mask) {
		uint32_t h = home(a, a->slots[k].place, a->slots[k].space, a->slots[k].addr);

		if (((k - h) & a->mask) < ((k - i) & a->mask))
			continue;
		a->slots[i] = a->slots[k];
		i = k;
	}
	a->slots[i].used = false;
}

bool gt_addrs_take(struct gt_addrs *a, uint32_t place, uint8_t space, uint64_t addr, struct gt_addr *old)
{
	uint32_t i;

	if (!a->slots)
		return false;
	i = find(a, place, space, addr);
	if (!a->slots[i].used)
		return false;
	*old = a->slots[i];
	a->used--;
	close_hole(a, i);
	return true;
}

void gt_addrs_release(struct gt_addrs *a)
{
	free(a->slots);
	memset(a, 0, sizeof(*a));
}
