/* Launches, copies and sets without a record: they failed on the GPU, or their records were lost.
 * Each has a row at its call, so that an analysis can list them. The header counts them as
 * launches without a record. */
#include "collect/correlate/gpu_correlate_internal.h"

#include <stdlib.h>
#include "formats/base/buf.h"

#define ROWS_MAX 65536u /* rows of a recording; further calls are counted only */

void gt_gpu_missing_add(struct gt_correlator *g, const struct gt_gpu_call *c)
{
	g->totals.without_record++;
	if (g->missing.n + g->missing.written < ROWS_MAX &&
		!gt_grow(&g->missing.calls, &g->missing.cap, g->missing.n + 1,
			sizeof(*g->missing.calls)))
		g->missing.calls[g->missing.n++] = *c;
}

int gt_gpu_missing_write(struct gt_correlator *g, struct gt_err *err)
{
	int code = 0;

	for (size_t i = 0; !code && i < g->missing.n; i++) {
		const struct gt_gpu_call *c = &g->missing.calls[i];

		code = gt_gpu_put_missing(&g->types, c->track, c->start, c->name, c->kernel, err);
	}
	g->missing.written += g->missing.n;
	g->missing.n = 0;
	return code;
}
