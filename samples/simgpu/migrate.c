/* Migrations of managed memory. The simulator does not know what memory a kernel uses. So it
 * assumes that every kernel uses all managed memory, and that the host does after each wait for a
 * stream or a context. A prefetch moves only its range. The bytes stay in place and no time passes;
 * only an observer sees the faults and migrations. */
#include "samples/simgpu/observe.h"

enum { COHERENCE = 2, USER = 1, WRITE = 2 }; /* causes of migrations; kinds of access */

static void report(enum sim_um_kind kind, const struct sim_range *r, uint64_t value, uint64_t size,
	uint32_t from, uint32_t to, uint32_t why)
{
	struct sim_call *call = sim_current_call();
	int64_t now = sim_now();
	struct sim_um_event m = { .kind = kind,
		.start = sim_real(now),
		.end = sim_real(now + 1000 + size / 40),
		.value = value,
		.address = r->addr,
		.from = from,
		.to = to,
		.why = why };

	if (call)
		sim_hooks->um_event(call, &m);
}

static void to_device(struct sim_range *r, int dev, uint32_t why)
{
	if (r->on_device)
		return;
	if (why == COHERENCE)
		report(SIM_UM_GPU_FAULT, r, 1, 0, dev, 0, WRITE);
	report(SIM_UM_HTOD, r, r->size, r->size, SIM_UM_HOST, dev, why);
	r->on_device = true;
}

static void to_host(struct sim_range *r, int dev, uint32_t why)
{
	if (!r->on_device)
		return;
	if (why == COHERENCE)
		report(SIM_UM_CPU_FAULT, r, 0x401000, 0, 0, 0, WRITE);
	report(SIM_UM_DTOH, r, r->size, r->size, dev, SIM_UM_HOST, why);
	r->on_device = false;
}

void sim_migrate_all(const struct sim_ctx *ctx, bool device)
{
	for (struct sim_range *r = sim_range_next(NULL); r && sim_watched; r = sim_range_next(r)) {
		if (r->mem != SIM_MANAGED)
			continue;
		if (device)
			to_device(r, ctx->dev, COHERENCE);
		else
			to_host(r, ctx->dev, COHERENCE);
	}
}

void sim_migrate(const struct sim_ctx *ctx, CUdeviceptr at, int dev)
{
	struct sim_range *r = sim_watched ? sim_range_at(at) : NULL;

	if (r && dev >= 0)
		to_device(r, dev, USER);
	else if (r)
		to_host(r, ctx->dev, USER);
}
