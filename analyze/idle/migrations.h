/* Migrations of managed memory: the spans in which a GPU moves pages of managed memory, serves its
 * page faults or is throttled, as CUPTI records them (formats/cuda/gpu_rows.h). Their union is a
 * list of disjoint spans per GPU. */
#ifndef GT_MIGRATIONS_H
#define GT_MIGRATIONS_H
#include "formats/trace/read/reader.h"

#define GT_MIGRATIONS_MAX (1u << 20) /* of a GPU in memory, 16 MiB; further ones do not count */

struct gt_migrations { /* of a GPU; zeroed: empty */
	struct gt_migration {
		int64_t from, to;
	} * list; /* sorted, disjoint */
	size_t n, cap;
};

bool gt_is_migration(const struct gt_type *type); /* of a span on the track of a device */
/* needed: spans that end before are not needed any more. 0 or negative. */
int gt_migrations_add(struct gt_migrations *m, int64_t from, int64_t to, int64_t needed);
/* ns in [from, to). m: NULL is empty. */
uint64_t gt_migrations_ns(const struct gt_migrations *m, int64_t from, int64_t to);
void gt_migrations_free(struct gt_migrations *m); /* NULL is fine */
#endif
