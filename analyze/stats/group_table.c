#include "analyze/stats/group_table.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

#define KEY_MOST 72

uint32_t gt_group_table_find(struct gt_group_table *g, const void *key, struct gt_err *err)
{
	unsigned char rest[KEY_MOST];
	uint32_t i = gt_map_find_item(&g->map, g->list, g->size, key, g->key);

	if (i != GT_GROUP_TABLE_NONE)
		return i;
	if (g->n > g->most)
		return g->most; /* the last group holds the rest */
	if (g->n == g->most)
		key = memset(rest, 0xff, g->key);
	if (gt_grow(&g->list, &g->cap, g->n + 1, g->size) ||
		gt_map_add(&g->map, gt_hash(key, g->key), (uint32_t)g->n))
		return gt_err_set(err, -ENOMEM, "out of memory (groups of rows)"),
		       GT_GROUP_TABLE_NONE;
	memset(gt_group_table_at(g, g->n), 0, g->size);
	memcpy(gt_group_table_at(g, g->n), key, g->key);
	return (uint32_t)g->n++;
}

bool gt_group_table_is_rest(const struct gt_group_table *g, const void *group)
{
	unsigned char rest[KEY_MOST];

	return g->n > g->most && !memcmp(group, memset(rest, 0xff, g->key), g->key);
}

void gt_group_table_sort(struct gt_group_table *g, int (*compare)(const void *a, const void *b))
{
	gt_sort(g->list, g->n, g->size, compare);
}

void gt_group_table_release(struct gt_group_table *g)
{
	free(g->list);
	gt_map_release(&g->map);
	*g = (struct gt_group_table){ .list = NULL };
}
