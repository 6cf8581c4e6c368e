/* Instances of graphs, and their launches, each of which is one operation of a stream. An instance
 * is a copy of the graph, sorted by its edges. Its cost is the cost of its longest path. The
 * effects of its operations happen at its end, in order. */
#include "samples/simgpu/sim_graph.h"
#include "samples/simgpu/observe.h"

#include <stdlib.h>

void sim_exec_put(struct sim_graph *exec)
{
	if (exec && !--exec->refs) {
		exec->obj.kind = SIM_EXEC;
		sim_graph_free(exec);
	}
}

static int instantiate(CUgraphExec *out, struct sim_graph *g)
{
	int rc = out && sim_is(g, SIM_GRAPH) ? sim_graph_copy(g, SIM_EXEC, out)
					     : CUDA_ERROR_INVALID_VALUE;

	if (rc)
		return rc;
	(*out)->cost = sim_longest_path(*out);
	SIM_OBSERVE(SIM_EXEC_CREATED, .ctx = sim_current, .graph = g, .exec = *out);
	return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
	ENTER(ctx);

	return sim_leave(flags & ~15ull ? CUDA_ERROR_INVALID_VALUE : instantiate(out, g));
}

struct instantiate {
	uint64_t flags;
	CUstream upload;
	CUgraphNode error_node;
	int result;
};
static int instantiate_with(CUgraphExec *out, struct sim_graph *g, struct instantiate *p)
{
	ENTER(ctx);

	if (!p || p->flags & ~15ull)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	p->error_node = NULL;
	p->result = 0;
	return sim_leave(instantiate(out, g));
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	ENTER(ctx);

	if (!sim_is(exec, SIM_EXEC))
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	exec->obj.kind = SIM_FREE;
	sim_exec_put(exec);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuGraphExecGetFlags(CUgraphExec exec, uint64_t *flags)
{
	if (!flags || !sim_is(exec, SIM_EXEC))
		return CUDA_ERROR_INVALID_VALUE;
	*flags = 0;
	return CUDA_SUCCESS;
}

/* Waits for the running launches of an instance, because they use the data that a change would
 * replace. */
static bool wait_until_idle(struct sim_graph *exec, struct sim_ctx *ctx)
{
	if (exec->refs > 1)
		sim_wait_ctx(ctx);
	return exec->refs == 1;
}

CUresult cuGraphExecKernelNodeSetParams_v2(
	CUgraphExec exec, CUgraphNode original, const struct cu_kernel_node *p)
{
	struct sim_node *n = NULL;
	ENTER(ctx);

	for (size_t i = 0; sim_is(exec, SIM_EXEC) && i < exec->n && !n; i++)
		if (exec->nodes[i]->original == original)
			n = exec->nodes[i];
	return sim_leave(
		n && wait_until_idle(exec, ctx) ? sim_set_kernel(n, p) : CUDA_ERROR_INVALID_VALUE);
}

struct update_result {
	int result;
	CUgraphNode node, from;
};
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph g, struct update_result *result)
{
	struct sim_graph *fresh, swap;
	bool same;
	int rc;
	ENTER(ctx);

	if (!result || !sim_is(exec, SIM_EXEC) || !sim_is(g, SIM_GRAPH))
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	if ((rc = instantiate(&fresh, g)))
		return sim_leave(rc);
	if (!wait_until_idle(exec, ctx)) {
		sim_graph_free(fresh);
		return sim_leave(910);
	}
	same = fresh->n == exec->n;
	for (size_t i = 0; same && i < fresh->n; i++)
		same = fresh->nodes[i]->op.node_type == exec->nodes[i]->op.node_type &&
			fresh->nodes[i]->deps_n == exec->nodes[i]->deps_n;
	/* 2: the topology has changed */
	*result = (struct update_result){ .result = same ? 0 : 2 };
	if (same) {
		swap = *exec;
		exec->nodes = fresh->nodes;
		exec->cost = fresh->cost;
		fresh->nodes = swap.nodes;
		for (size_t i = 0; i < exec->n; i++)
			exec->nodes[i]->graph = exec,
			exec->nodes[i]->id = exec->id << 32 | (uint32_t)exec->nodes[i]->id;
	}
	sim_graph_free(fresh);
	return sim_leave(same ? CUDA_SUCCESS : 910);
}

/* Runs the nodes of a launch in order. op->gen is the index of the next node; op->staged is the
 * launch's copy of the nodes. */
static bool graph_run(struct sim_op *op)
{
	struct sim_op *ops = op->staged;

	for (; op->gen < op->exec->n; op->gen++) {
		struct sim_op *node = &ops[op->gen];
		/* time that the launch has taken beyond its cost so far */
		uint64_t end = node->end, over = op->end - op->start - op->cost;

		node->stream = op->stream;
		if (!node->started)
			node->started = true, node->start += over;
		if (node->run && !node->run(node))
			return false;
		node->end = end + over;
	}
	return true;
}

/* Returns the inner stream for a node of a launch: the first one that is free at its start, so that
 * overlapping nodes run in different streams. */
static uint32_t pick_inner_stream(struct sim_graph *exec, const struct sim_op *node, uint64_t *busy)
{
	unsigned i = 0;

	while (i < MAX_INNER_STREAMS - 1 && busy[i] > node->start)
		i++;
	busy[i] = node->end;
	if (i && !exec->inner_streams[i])
		exec->inner_streams[i] = sim_stream_number(node->stream->ctx);
	return exec->inner_streams[i];
}

void sim_graph_observe(struct sim_op *launch)
{
	struct sim_graph *exec = launch->exec;
	struct sim_op *ops = launch->staged;
	uint64_t busy[MAX_INNER_STREAMS] = { 0 };

	for (size_t i = 0; i < exec->n; i++) {
		if (!ops[i].run)
			continue;
		ops[i].stream = launch->stream;
		ops[i].graph_id = exec->id;
		ops[i].node_id = exec->nodes[i]->id;
		ops[i].inner_stream = pick_inner_stream(exec, &ops[i], busy);
		ops[i].async = true;
		sim_observe_submitted(&ops[i]);
	}
}

void sim_graph_observe_done(struct sim_op *launch)
{
	struct sim_op *ops = launch->staged;

	for (size_t i = 0; i < launch->exec->n; i++) {
		if (!ops[i].observed)
			continue;
		ops[i].start += launch->start + GRAPH_NS;
		ops[i].end += launch->start + GRAPH_NS;
		sim_observe_done(&ops[i]);
	}
}

bool sim_graph_id(const void *graph, bool exec, uint32_t *id)
{
	bool live = sim_is(graph, exec ? SIM_EXEC : SIM_GRAPH);

	if (live)
		*id = ((const struct sim_graph *)graph)->id;
	return live;
}

bool sim_node_id(const void *node, uint64_t *id)
{
	bool live = sim_is(node, SIM_NODE);

	if (live)
		*id = ((const struct sim_node *)node)->id;
	return live;
}

static int launch(CUgraphExec exec, CUstream h)
{
	struct sim_op op = { .run = graph_run, .engine = SIM_COMPUTE, .node_type = 4 }, *ops;
	struct sim_stream *s;
	int rc;
	ENTER(ctx);

	if ((rc = sim_stream_get(ctx, h, &s)) || !sim_is(exec, SIM_EXEC))
		return sim_leave(rc ? rc : CUDA_ERROR_INVALID_VALUE);
	if (s->capture)
		return sim_leave(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	if (!(ops = malloc((exec->n + 1) * sizeof(*ops))))
		return sim_leave(CUDA_ERROR_OUT_OF_MEMORY);
	for (size_t i = 0; i < exec->n; i++)
		ops[i] = exec->nodes[i]->op;
	op.staged = ops;
	op.exec = exec;
	op.cost = GRAPH_NS + exec->cost;
	exec->refs++;
	if ((rc = sim_submit(s, &op)))
		sim_exec_put(exec);
	return sim_leave(rc);
}

static int upload(CUgraphExec exec, CUstream h)
{
	struct sim_stream *s;
	int rc;
	ENTER(ctx);

	rc = sim_stream_get(ctx, h, &s);
	return sim_leave(rc                      ? rc
			: sim_is(exec, SIM_EXEC) ? CUDA_SUCCESS
						 : CUDA_ERROR_INVALID_VALUE);
}

BOTH(cuGraphInstantiateWithParams, _ptsz, (CUgraphExec * out, CUgraph g, struct instantiate *p),
	instantiate_with(out, g, p))
BOTH(cuGraphLaunch, _ptsz, (CUgraphExec exec, CUstream s), launch(exec, OR_NONE(s)))
BOTH(cuGraphUpload, _ptsz, (CUgraphExec exec, CUstream s), upload(exec, OR_NONE(s)))
