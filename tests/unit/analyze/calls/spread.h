/* Computes the statistics in Nsight's columns over many values a second time, for tests of the
 * reports that have these columns. */
#ifndef SPREAD_H
#define SPREAD_H
#include <math.h>
#include "tests/unit/reports.h"

#define VALUES 4000
struct values {
	int64_t v[VALUES];
	int n;
};
struct stats {
	const char *name;
	int64_t total, med, min, max, stddev;
	int n;
};

static inline void add_value(struct values *v, int64_t value) { v->v[v->n++] = value; }

static inline struct stats stats_of(const char *name, struct values *v)
{
	struct stats s = { .name = name, .n = v->n, .stddev = -1 };
	long double squares = 0, mean;

	qsort(v->v, (size_t)v->n, sizeof(*v->v), by_value);
	for (int i = 0; i < v->n; i++)
		s.total += v->v[i];
	mean = v->n ? (long double)s.total / v->n : 0;
	for (int i = 0; i < v->n; i++)
		squares += ((long double)v->v[i] - mean) * ((long double)v->v[i] - mean);
	if (v->n) {
		s.med = v->v[(v->n - 1) / 2]; /* half of them are not above it */
		s.min = v->v[0];
		s.max = v->v[v->n - 1];
	}
	if (v->n > 1)
		s.stddev = llroundl(sqrtl(squares / (v->n - 1)));
	return s;
}

static inline bool near(double have, int64_t want)
{
	return fabs(have - (double)want) <= (want < 128 ? 0 : (double)want * 0.01);
}

/* Columns such as "avg_ns", behind a prefix. */
static inline bool spread_is(
	const json_t *row, const char *prefix, const char *unit, const struct stats *s)
{
	static const char *const what[] = { "avg", "med", "min", "max", "stddev" };
	const int64_t want[] = { s->n ? s->total / s->n : 0, s->med, s->min, s->max, s->stddev };
	bool fine = true;

	for (int i = 0; i < 5; i++) {
		char key[40];

		snprintf(key, sizeof(key), "%s%s_%s", prefix, what[i], unit);
		if (!s->n || (i == 4 && s->n < 2))
			fine &= absent(row, key);
		else if (i == 1)
			fine &= near(num(row, key), want[i]);
		else
			/* half a ns may be rounded either way */
			fine &= fabs(num(row, key) - (double)want[i]) <= (i == 4);
	}
	return fine;
}
#endif
