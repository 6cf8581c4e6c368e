/* A hash table (open addressing) that stores each value of a group and field once.
 *
 * An estimate would need less memory, but a user could not tell whether 1,000 of 1,000 is off by
 * one. So counts are exact up to a memory limit. Beyond it no group has a figure: the values
 * that came too late depend on the order of rows, and an incomplete count is useless. */
#include "analyze/query/query_distinct.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/map.h"

static struct gt_distinct_value *place_of(
	const struct gt_distinct *d, const struct gt_distinct_value *v)
{
	uint64_t who = (uint64_t)v->group << 16 | (uint64_t)v->field << 8 | v->kind;
	uint32_t at = (uint32_t)(gt_hash_u64(v->value ^ who * 0x9e3779b97f4a7c15u) >> 16) & d->mask;

	while (d->slots[at].kind &&
		(d->slots[at].value != v->value || d->slots[at].group != v->group ||
			d->slots[at].field != v->field || d->slots[at].kind != v->kind))
		at = (at + 1) & d->mask;
	return &d->slots[at];
}

/* Grows the table for one more value: a quarter of the slots stays free. */
static int grow_slots(struct gt_distinct *d)
{
	uint32_t n = d->slots ? d->mask + 1 : 0, more = n ? n * 2 : 1024;
	struct gt_distinct old = *d;

	if (d->used < n / 4 * 3)
		return 0;
	d->slots = calloc(more, sizeof(*d->slots));
	if (!d->slots) {
		*d = old;
		return -ENOMEM;
	}
	d->mask = more - 1;
	for (uint32_t i = 0; i < n; i++)
		if (old.slots[i].kind)
			*place_of(d, &old.slots[i]) = old.slots[i];
	free(old.slots);
	return 0;
}

int gt_distinct_add(struct gt_distinct *d, const struct gt_distinct_value *v)
{
	struct gt_distinct_value *at = d->slots && !d->full ? place_of(d, v) : NULL;

	if (d->full || (at && at->kind))
		return 0;
	if (d->used == GT_DISTINCT_MOST) {
		d->full = true;
		return 0;
	}
	if (grow_slots(d))
		return -ENOMEM;
	*place_of(d, v) = *v;
	d->used++;
	return 1;
}

struct gt_distinct_value gt_distinct_whole(int64_t v)
{
	return (struct gt_distinct_value){ .value = (uint64_t)v,
		.kind = v < 0 ? GT_DISTINCT_BELOW : GT_DISTINCT_NUMBER };
}

struct gt_distinct_value gt_distinct_real(double v)
{
	struct gt_distinct_value d = { .kind = GT_DISTINCT_REAL };

	if (v >= -0x1p63 && v < 0x1p63 && (double)(int64_t)v == v)
		return gt_distinct_whole((int64_t)v);
	if (v >= 0x1p63 && v < 0x1p64)
		return (struct gt_distinct_value){ .value = (uint64_t)v,
			.kind = GT_DISTINCT_NUMBER };
	memcpy(&d.value, &v, sizeof(v));
	return d;
}

void gt_distinct_release(struct gt_distinct *d)
{
	free(d->slots);
	memset(d, 0, sizeof(*d));
}
