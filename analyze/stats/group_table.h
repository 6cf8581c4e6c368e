/* Counts rows by a key of a few numbers. Each key has a group, which begins with the key. After
 * `most` groups all further keys share one group, the rest, whose key is all ones. So sums stay
 * correct and memory stays bounded. */
#ifndef GT_GROUP_TABLE_H
#define GT_GROUP_TABLE_H
#include "formats/base/err.h"
#include "formats/base/map.h"

struct gt_group_table {
	unsigned char *list;      /* n groups of `size` bytes */
	size_t n, cap, size, key; /* key: length in bytes, without padding */
	uint32_t most;
	struct gt_map map;
};
static inline void gt_group_table_init(
	struct gt_group_table *g, size_t size, size_t key, uint32_t most)
{
	*g = (struct gt_group_table){ .size = size, .key = key, .most = most };
}
/* The index of the key's group, created and zeroed behind the key if needed. GT_GROUP_TABLE_NONE
 * with err filled in. */
#define GT_GROUP_TABLE_NONE UINT32_MAX
uint32_t gt_group_table_find(struct gt_group_table *g, const void *key, struct gt_err *err);
/* valid until the next gt_group_table_find */
static inline void *gt_group_table_at(const struct gt_group_table *g, size_t i)
{
	return g->list + i * g->size;
}
bool gt_group_table_is_rest(const struct gt_group_table *g, const void *group);
/* No gt_group_table_find after this. */
void gt_group_table_sort(struct gt_group_table *g, int (*compare)(const void *a, const void *b));
void gt_group_table_release(struct gt_group_table *g);
#endif
