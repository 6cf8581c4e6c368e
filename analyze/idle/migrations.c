#include "analyze/idle/migrations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

bool gt_is_migration(const struct gt_type *type)
{
	return type->layer == GT_LAYER_GPU && type->category == GT_CAT_MEMORY;
}

/* Index of the first span that ends after `at`. */
static size_t find(const struct gt_migrations *m, int64_t at)
{
	return GT_LOWER_BOUND(i, 0, m->n, m->list[i].to <= at);
}

/* Removes the spans [from, to). */
static void remove_spans(struct gt_migrations *m, size_t from, size_t to)
{
	if (from < to)
		memmove(m->list + from, m->list + to, (m->n - to) * sizeof(*m->list));
	m->n -= to - from;
}

int gt_migrations_add(struct gt_migrations *m, int64_t from, int64_t to, int64_t needed)
{
	size_t i, next; /* the spans that it overlaps: [i, next) */

	if (from >= to)
		return 0;
	if (m->n == m->cap) /* removes them when the list would grow: each is moved rarely */
		remove_spans(m, 0, find(m, needed));
	if (m->n == GT_MIGRATIONS_MAX)
		return 0;
	if (gt_grow(&m->list, &m->cap, m->n + 1, sizeof(*m->list)))
		return -ENOMEM;
	next = i = find(m, from);
	while (next < m->n && m->list[next].from < to)
		next++;
	if (next == i) {
		memmove(m->list + i + 1, m->list + i, (m->n - i) * sizeof(*m->list));
		m->list[i] = (struct gt_migration){ from, to };
		m->n++;
		return 0;
	}
	m->list[i].from = from < m->list[i].from ? from : m->list[i].from;
	m->list[i].to = to > m->list[next - 1].to ? to : m->list[next - 1].to;
	remove_spans(m, i + 1, next);
	return 0;
}

uint64_t gt_migrations_ns(const struct gt_migrations *m, int64_t from, int64_t to)
{
	uint64_t ns = 0;

	for (size_t i = m ? find(m, from) : 0; m && i < m->n && m->list[i].from < to; i++) {
		int64_t start = m->list[i].from > from ? m->list[i].from : from,
			end = m->list[i].to < to ? m->list[i].to : to;

		ns += (uint64_t)(end - start);
	}
	return ns;
}

void gt_migrations_free(struct gt_migrations *m)
{
	if (m)
		free(m->list);
	free(m);
}
