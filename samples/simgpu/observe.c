/* Describes operations to an observer: the kind of each, its stream, and its times. */
#include "samples/simgpu/observe.h"

static void describe_kernel(const struct sim_launch *l, struct sim_work *w)
{
	w->kind = SIM_WORK_KERNEL;
	w->name = l->func->name;
	for (int i = 0; i < 3; i++)
		w->grid[i] = l->grid[i], w->block[i] = l->block[i];
	w->shared = l->shared;
	w->cooperative = l->cooperative;
}

/* CUpti_ActivityMemcpyKind from the kinds of memory at both ends. */
static uint8_t direction(uint8_t src, uint8_t dst)
{
	enum { HOST, DEVICE, ARRAY };
	static const uint8_t kinds[3][3] = {
		[HOST] = { 9, 1, 3 }, [DEVICE] = { 2, 8, 7 }, [ARRAY] = { 4, 6, 5 }
	};
#define SIDE(m)                                                                                    \
	((m) == SIM_AT_ARRAY                                            ? ARRAY                    \
			: (m) == SIM_AT_DEVICE || (m) == SIM_AT_MANAGED ? DEVICE                   \
									: HOST)
	return kinds[SIDE(src)][SIDE(dst)];
}

static void describe_copy(const struct sim_op *op, struct sim_work *w)
{
	const struct sim_ctx *from = op->copy.from, *to = op->copy.to;

	w->kind = SIM_WORK_COPY;
	w->src = op->copy.src_memory;
	w->dst = op->copy.dst_memory;
	w->copy = direction(w->src, w->dst);
	w->bytes = op->copy.width * op->copy.height * op->copy.depth;
	if (!from || !to || from->dev == to->dev)
		return;
	w->kind = SIM_WORK_PEER;
	w->copy = 10;
	w->src_device = from->dev;
	w->src_context = from->id;
	w->dst_device = to->dev;
	w->dst_context = to->id;
}

void sim_observe_submitted(struct sim_op *op)
{
	const struct sim_stream *s = op->stream;
	struct sim_work w = { .device = s->ctx->dev,
		.context = s->ctx->id,
		.stream = op->inner_stream ? op->inner_stream : s->number,
		.graph = op->graph_id,
		.node = op->node_id,
		.async = op->async };

	if (op->run == sim_kernel_run) {
		describe_kernel(&op->launch, &w);
	} else if (op->run && op->node_type == 1) {
		describe_copy(op, &w);
	} else if (op->run && op->node_type == 2) {
		w.kind = SIM_WORK_SET;
		w.value = op->set.value;
		w.bytes = op->set.width * op->set.height * op->set.element;
		w.dst = op->set.memory;
	}
	op->observed = w.kind ? sim_hooks->submitted(sim_current_call(), &w) : NULL;
}

void sim_observe_done(struct sim_op *op)
{
	if (op->observed)
		sim_hooks->done(op->observed, sim_real(op->start), sim_real(op->end));
	op->observed = NULL;
}

void sim_observe_wait(enum sim_wait what, const struct sim_ctx *ctx, const struct sim_stream *s,
	const struct sim_event *e)
{
	struct sim_call *call = sim_current_call();

	if (call)
		sim_hooks->waits(call, what, ctx->id, s ? s->number : UINT32_MAX,
			e ? e->id : UINT32_MAX, e ? e->recorded : 0);
}

void sim_observe_resource(const struct sim_resource_event *t)
{
	struct sim_call *call = sim_current_call();

	if (call)
		sim_hooks->resource(call, t);
}
