/* Tables of recent items; import_kineto.h describes them. */
#include "formats/import/kineto/import_kineto.h"

#include <stdlib.h>

int gt_kineto_ring_init(struct gt_kineto_ring *r, size_t size, unsigned bits)
{
	*r = (struct gt_kineto_ring){ .size = size, .bits = bits };
	/* calloc: pages use no memory before the first access */
	r->items = calloc((size_t)1 << bits, size);
	r->heads = calloc((size_t)1 << bits, sizeof(*r->heads));
	return r->items && r->heads ? 0 : -ENOMEM;
}

void gt_kineto_ring_release(struct gt_kineto_ring *r)
{
	free(r->items);
	free(r->heads);
	*r = (struct gt_kineto_ring){ 0 };
}

static struct gt_kineto_link *slot(const struct gt_kineto_ring *r, uint64_t number)
{
	return (struct gt_kineto_link *)(r->items +
		(number & (((uint64_t)1 << r->bits) - 1)) * r->size);
}

void *gt_kineto_ring_at(const struct gt_kineto_ring *r, uint64_t number)
{
	return number && number <= r->n && r->n - number < (uint64_t)1 << r->bits ? slot(r, number)
										  : NULL;
}

uint64_t *gt_kineto_ring_head(const struct gt_kineto_ring *r, uint64_t key)
{
	/* most keys count up: neighbours in memory are faster than keys that are spread */
	return &r->heads[(key ^ key >> r->bits ^ key >> 2 * r->bits) &
		(((uint64_t)1 << r->bits) - 1)];
}

void *gt_kineto_ring_add(struct gt_kineto_ring *r, uint64_t key)
{
	uint64_t *head = gt_kineto_ring_head(r, key);
	struct gt_kineto_link *l = slot(r, ++r->n);

	memset(l, 0, r->size);
	l->key = key;
	l->before = *head;
	*head = r->n;
	return l;
}

void *gt_kineto_ring_find(const struct gt_kineto_ring *r, uint64_t key)
{
	struct gt_kineto_link *l = gt_kineto_ring_at(r, *gt_kineto_ring_head(r, key));

	for (unsigned steps = 0; l && l->key != key; steps++)
		l = steps < GT_KINETO_CHAIN_MAX ? gt_kineto_ring_at(r, l->before) : NULL;
	return l;
}
