/* Shared by the tests of idle time: launches and migrations of a program, and parts of its budget.
 */
#ifndef IDLE_PROGRAMS_H
#define IDLE_PROGRAMS_H
#include "tests/unit/gpus.h"
#include "tests/unit/reports.h"

static inline double part(const json_t *j, const char *key)
{
	const json_t *r = row_named(j, "budget", "key", key);

	return r ? num(r, "total_ns") : 0;
}

static inline void launched(struct gpus *g, int device, int stream, int64_t call, int64_t ns,
	int64_t start, int64_t end)
{
	struct gt_gpu_work w = gpus_work(g->stream[device][stream], start, end);

	gpus_launched(g, &w, 0, call, ns, GT_JOIN_CORRELATION);
	gpus_kernel(g, 0, &w);
}

static inline void migrate(struct gpus *g, enum gt_gpu_managed_kind kind, int64_t from, int64_t to)
{
	struct gt_gpu_work w = { .track = g->device[0], .start = from, .end = to };
	struct gt_gpu_managed m = { .kind = kind, .value = 4096, .from = GT_GPU_HOST, .to = 0 };

	CHECK(!gt_gpu_put_managed(&g->types, &w, &m, &g->err));
}

static inline double shares(const json_t *j)
{
	double sum = 0;

	for (size_t i = 0; i < rows(j, "budget"); i++)
		if (num(row(j, "budget", i), "level") == 0 &&
			!is(row(j, "budget", i), "key", "all"))
			sum += num(row(j, "budget", i), "total_ns");
	return sum;
}
#endif
