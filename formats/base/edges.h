/* Consecutive intervals of about the same length, and the interval of a value. */
#ifndef GT_EDGES_H
#define GT_EDGES_H
#include <stddef.h>
#include <stdint.h>

/* Interval i is [at[i], at[i + 1]). */
struct gt_edges {
	const int64_t *at; /* n + 1, ascending; borrowed */
	size_t n;
	double per_unit; /* intervals per unit */
};

static inline struct gt_edges gt_edges_of(const int64_t *at, size_t n)
{
	double length = n ? (double)((uint64_t)at[n] - (uint64_t)at[0]) : 0;

	return (struct gt_edges){ at, n, length > 0 ? (double)n / length : 0 };
}

/* The interval of a value; -1: it is before the first; n: behind the last. */
static inline int64_t gt_edges_find(const struct gt_edges *e, int64_t value)
{
	size_t i;

	if (!e->n || value >= e->at[e->n])
		return (int64_t)e->n;
	if (value < e->at[0])
		return -1;
	i = (size_t)((double)((uint64_t)value - (uint64_t)e->at[0]) * e->per_unit);
	i = i < e->n ? i : e->n - 1;
	while (value < e->at[i])
		i--;
	while (value >= e->at[i + 1])
		i++;
	return (int64_t)i;
}
#endif
