#include "formats/trace/read/live_allocations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/map.h"
#include "formats/trace/record.h"

static uint32_t home(const struct gt_live *l, uint32_t place, uint8_t space, uint64_t addr)
{
	return (uint32_t)gt_hash_u64(addr ^ (uint64_t)place << 40 ^ (uint64_t)space << 61) &
		l->mask;
}

/* The index of its slot, or of the free slot for it. The table is never full. */
static uint32_t find(const struct gt_live *l, uint32_t place, uint8_t space, uint64_t addr)
{
	uint32_t i = home(l, place, space, addr);

	for (; l->slots[i].used; i = (i + 1) & l->mask)
		if (l->slots[i].addr == addr && l->slots[i].place == place &&
			l->slots[i].space == space)
			break;
	return i;
}

static int widen(struct gt_live *l)
{
	uint32_t n = l->slots ? (l->mask + 1) * 2 : 256;
	struct gt_live wide = {
		.slots = calloc(n, sizeof(*wide.slots)), .mask = n - 1, .used = l->used
	};

	if (!wide.slots)
		return -ENOMEM;
	for (uint32_t i = 0; l->slots && i <= l->mask; i++)
		if (l->slots[i].used)
			wide.slots[find(&wide, l->slots[i].place, l->slots[i].space,
				l->slots[i].addr)] = l->slots[i];
	free(l->slots);
	*l = wide;
	return 0;
}

static int put(struct gt_live *l, const struct gt_live_item *item, struct gt_live_item *old)
{
	uint32_t i;
	bool there;

	if ((!l->slots || l->used >= (l->mask + 1) / 4 * 3) && l->used < GT_LIVE_MAX && widen(l))
		return -ENOMEM;
	i = find(l, item->place, item->space, item->addr);
	there = l->slots[i].used;
	if (!there && l->used >= GT_LIVE_MAX)
		return -ENOSPC;
	*old = l->slots[i];
	l->slots[i] = *item;
	l->slots[i].used = true;
	l->used += !there;
	return !there;
}

/* Frees slot i: later slots of its probe sequence move back (backward-shift deletion). */
static void close_hole(struct gt_live *l, uint32_t i)
{
	for (uint32_t k = (i + 1) & l->mask; l->slots[k].used; k = (k + 1) & l->mask) {
		uint32_t h = home(l, l->slots[k].place, l->slots[k].space, l->slots[k].addr);

		if (((k - h) & l->mask) < ((k - i) & l->mask))
			continue;
		l->slots[i] = l->slots[k];
		i = k;
	}
	l->slots[i].used = false;
}

/* The item, or NULL. */
static struct gt_live_item *look_up(struct gt_live *l, uint32_t place, uint8_t space, uint64_t addr)
{
	uint32_t i = l->slots ? find(l, place, space, addr) : 0;

	return l->slots && l->slots[i].used ? &l->slots[i] : NULL;
}

static void take(struct gt_live *l, struct gt_live_item *item, struct gt_live_item *old)
{
	*old = *item;
	l->used--;
	close_hole(l, (uint32_t)(item - l->slots));
}

/* ---- calls ---- */

/* spaces; `bytes` of a mapping is its handle */
enum { ADDRESSES, ARRAYS, PHYSICAL, MAPPINGS };

static uint8_t space_of(unsigned kind)
{
	return kind == GT_MEM_ARRAY ? ARRAYS : kind == GT_MEM_PHYSICAL ? PHYSICAL : ADDRESSES;
}

static bool is_foreign(const struct gt_live_item *item)
{
	return item->space == PHYSICAL && item->kind == GT_MEM_UNKNOWN;
}

int gt_live_alloc(struct gt_live *l, const struct gt_live_item *item, struct gt_live_item *old)
{
	struct gt_live_item new = *item;
	int code;

	new.space = space_of(item->kind);
	new.refs = 1;
	new.maps = 0;
	code = put(l, &new, old);
	return code == 0 && is_foreign(old) ? 1 : code; /* the old item was not counted */
}

enum gt_live_freed gt_live_free(
	struct gt_live *l, uint32_t place, unsigned kind, uint64_t addr, struct gt_live_item *old)
{
	struct gt_live_item *item = look_up(l, place, space_of(kind), addr);

	if (!item || !item->refs)
		return GT_LIVE_UNKNOWN;
	if (--item->refs)
		return GT_LIVE_REFERENCED;
	if (item->maps)
		return GT_LIVE_MAPPED;
	take(l, item, old);
	return is_foreign(old) ? GT_LIVE_FOREIGN : GT_LIVE_FREED;
}

int gt_live_retain(struct gt_live *l, uint32_t place, uint64_t handle, bool imported)
{
	struct gt_live_item *item = look_up(l, place, PHYSICAL, handle), old;
	int code;

	if (item) {
		item->refs += item->refs < UINT16_MAX;
		return 0;
	}
	code = put(l,
		&(struct gt_live_item){ .addr = handle,
			.place = place,
			.space = PHYSICAL,
			.refs = imported ? 1 : 2 },
		&old);
	return code < 0 ? code : 0;
}

int gt_live_map(struct gt_live *l, uint32_t place, uint64_t addr, uint64_t handle)
{
	struct gt_live_item *item = look_up(l, place, PHYSICAL, handle), old;
	int code;

	if (!item || is_foreign(item) || item->maps == UINT16_MAX)
		return 0;
	code = put(l,
		&(struct gt_live_item){
			.addr = addr, .bytes = handle, .place = place, .space = MAPPINGS },
		&old);
	if (code < 0)
		return code;
	item = code ? NULL : look_up(l, place, PHYSICAL, old.bytes);
	if (item && item->maps)
		item->maps--; /* the trace lacks the unmap of the old mapping */
	look_up(l, place, PHYSICAL, handle)->maps++;
	return 0;
}

int gt_live_unmap(
	struct gt_live *l, uint32_t place, uint64_t *addr, uint64_t end, struct gt_live_item *old)
{
	struct gt_live_item *mapping, *item, ended;

	while (*addr < end && (mapping = look_up(l, place, MAPPINGS, *addr))) {
		take(l, mapping, &ended);
		item = look_up(l, place, PHYSICAL, ended.bytes);
		if (!item || !item->bytes)
			return 0;
		*addr = item->bytes > end - *addr ? end : *addr + item->bytes;
		item->maps -= item->maps > 0;
		if (!item->refs && !item->maps) {
			take(l, item, old);
			return 1;
		}
	}
	return 0;
}

void gt_live_release(struct gt_live *l)
{
	free(l->slots);
	memset(l, 0, sizeof(*l));
}
