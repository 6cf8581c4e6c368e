/* Graphs: built node by node or captured from streams, then instantiated and launched as one operation of a stream.
 *
 * A node holds the operation it stands for. An instance is a copy of the graph in an order that respects its edges; its cost
 * is that of its longest path, and at its end the operations take effect in order. A capturing stream remembers its tips: the
 * nodes the next one must follow; events carry tips from stream to stream. */
#include "samples/simgpu/sim.h"
#include "samples/simgpu/observe.h"

#include <stdlib.h>
#include <string.h>

#define ENTER(ctx) struct sim_ctx *ctx; do { int rc_ = sim_enter(&ctx); if (rc_) return rc_; } while (0)
enum { HOST_NODE = 3, EMPTY_NODE = 5, MAX_LANES = 16, GRAPH_NS = 1000 };	/* GRAPH_NS: of a launch, before its first node */

struct sim_node {
	struct sim_obj obj;
	struct sim_graph *graph;
	struct sim_node **deps;
	size_t deps_n, index;		/* index: in its graph */
	struct sim_node *twin;		/* in the graph it was copied from, or while copying in the copy */
	struct sim_op op;
	void **params;			/* pointers into op.launch.params, for who asks */
	bool marked;
	uint64_t id;
};
struct sim_graph {
	struct sim_obj obj;
	struct sim_node **nodes;
	size_t n;
	int refs;			/* of an instance: its handle and its launches */
	uint64_t cost;
	bool invalid;			/* a capture that something forbidden has spoiled */
	uint64_t id, nodes_made;
	uint32_t lanes[MAX_LANES];	/* of an instance: the streams inside it, made as they are needed; 0 the launch's own */
};
static uint64_t graph_ids;
static __thread int capture_mode;

static struct sim_graph *graph_new(enum sim_kind kind)
{
	struct sim_graph *g = sim_new(kind, sizeof(*g));

	if (g) {
		g->refs = 1;
		g->id = ++graph_ids;
	}
	return g;
}

static void node_free(struct sim_node *n)
{
	free(n->op.staged);
	free(n->params);
	free(n->deps);
	sim_drop(n);
}

static void graph_free(struct sim_graph *g)
{
	for (size_t i = 0; i < g->n; i++)
		node_free(g->nodes[i]);
	free(g->nodes);
	sim_drop(g);
}

void sim_exec_put(struct sim_graph *exec)
{
	if (exec && !--exec->refs) {
		exec->obj.kind = SIM_EXEC;
		graph_free(exec);
	}
}

static int add_deps(struct sim_node *node, struct sim_node *const *deps, size_t n)
{
	struct sim_node **v = n ? realloc(node->deps, (node->deps_n + n) * sizeof(*v)) : node->deps;

	if (n && !v)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->deps = v;
	for (size_t i = 0; i < n; i++)
		v[node->deps_n++] = deps[i];
	return CUDA_SUCCESS;
}

static bool is_node_of(const struct sim_node *n, const struct sim_graph *g)
{
	return sim_is(n, SIM_NODE) && n->graph == g;
}

/* A new node of g that stands for *op and owns op->staged, also when it fails. */
static int add_node(struct sim_graph *g, struct sim_node *const *deps, size_t n, const struct sim_op *op, struct sim_node **out)
{
	struct sim_node **v, *node = NULL;
	int rc = CUDA_SUCCESS;

	for (size_t i = 0; i < n && !rc; i++)
		rc = is_node_of(deps[i], g) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	if (!rc && (v = realloc(g->nodes, (g->n + 1) * sizeof(*v)))) {
		g->nodes = v;
		node = sim_new(SIM_NODE, sizeof(*node));
	}
	if (!rc && !node)
		rc = CUDA_ERROR_OUT_OF_MEMORY;
	if (rc) {
		free(op->staged);
		return rc;
	}
	node->op = *op;
	node->graph = g;
	node->index = g->n;
	if ((rc = add_deps(node, deps, n))) {
		node_free(node);
		return rc;
	}
	node->id = g->id << 32 | ++g->nodes_made;
	g->nodes[g->n++] = node;
	*out = node;
	SIM_OBSERVE(SIM_NODE_CREATED, .ctx = sim_current, .graph = g, .node = node, .node_type = op->node_type);
	return CUDA_SUCCESS;
}

static bool copy_op(struct sim_op *to, const struct sim_op *from)
{
	size_t size = !from->staged ? 0 : from->run == sim_kernel_run ? from->launch.func->params_size : from->copy.width;

	*to = *from;
	if (!size)
		return true;
	if (!(to->staged = malloc(size)))
		return false;
	memcpy(to->staged, from->staged, size);
	if (from->run == sim_kernel_run)
		to->launch.params = to->staged;
	else
		to->copy.src.at = to->staged;
	return true;
}

/* Every node after those it depends on; false when they go in a circle. Nodes are `marked` when placed. */
static bool in_order(struct sim_graph *g)
{
	struct sim_node *t;
	size_t placed = 0, d;
	bool moved = true;

	for (size_t i = 0; i < g->n; i++)
		g->nodes[i]->marked = false;
	while (placed < g->n && moved) {
		moved = false;
		for (size_t i = placed; i < g->n; i++) {
			for (d = 0; d < g->nodes[i]->deps_n && g->nodes[i]->deps[d]->marked; d++)
				;
			if (d < g->nodes[i]->deps_n)
				continue;
			t = g->nodes[i];
			memmove(&g->nodes[placed + 1], &g->nodes[placed], (i - placed) * sizeof(t));
			g->nodes[placed++] = t;
			t->marked = moved = true;
		}
	}
	for (size_t i = 0; i < g->n; i++)
		g->nodes[i]->index = i;
	return placed == g->n;
}

/* A copy of a graph, as graph or as instance; nodes remember their twins in the original. */
static int graph_copy(struct sim_graph *from, enum sim_kind kind, struct sim_graph **out)
{
	struct sim_graph *g;
	struct sim_node *n;
	struct sim_op op;
	int rc = CUDA_SUCCESS;

	if (!in_order(from))
		return CUDA_ERROR_INVALID_VALUE;
	if (!(g = graph_new(kind)))
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (size_t i = 0; i < from->n && !rc; i++) {
		rc = copy_op(&op, &from->nodes[i]->op) ? add_node(g, NULL, 0, &op, &n) : CUDA_ERROR_OUT_OF_MEMORY;
		for (size_t d = 0; !rc && d < from->nodes[i]->deps_n; d++)
			rc = add_deps(n, &g->nodes[from->nodes[i]->deps[d]->index], 1);
		if (rc)
			break;
		n->twin = from->nodes[i];
		SIM_OBSERVE(SIM_NODE_CLONED, .ctx = sim_current, .graph = g, .original_graph = from, .node = n,
			    .original_node = n->twin, .node_type = op.node_type);
	}
	if (rc)
		graph_free(g);
	else
		*out = g;
	return rc;
}

/* The longest path, in simulated ns: op.end of each node is its end after the graph's start. Inside a graph one kernel follows
 * another without a launch between them. */
static uint64_t longest_path(struct sim_graph *g)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < g->n; i++) {
		struct sim_node *n = g->nodes[i];
		uint64_t start = 0;

		for (size_t d = 0; d < n->deps_n; d++)
			if (n->deps[d]->op.end > start)
				start = n->deps[d]->op.end;
		n->op.start = start;
		n->op.end = start + n->op.cost - (n->op.run == sim_kernel_run ? SIM_LAUNCH_NS - 200 : 0);
		if (n->op.end > longest)
			longest = n->op.end;
	}
	return longest;
}

/* Capture. */
static void tip(struct sim_stream *s, struct sim_node *n)
{
	s->tips.v[0] = n;
	s->tips.n = 1;
}

int sim_capture(struct sim_stream *s, const struct sim_op *op)
{
	struct sim_node *n;
	int rc = s->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;

	if (rc)
		free(op->staged);
	else if (!(rc = add_node(s->capture, s->tips.v, s->tips.n, op, &n)))
		tip(s, n);
	return rc;
}

int sim_capture_record(struct sim_stream *s, struct sim_event *e)
{
	if (s->capture->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	e->capture = s->capture;
	e->tips = s->tips;
	return CUDA_SUCCESS;
}

int sim_capture_wait(struct sim_stream *s, struct sim_event *e)
{
	struct sim_stream *t = sim_streams();

	if (!e->capture)
		return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
	while (t && (t->capture != e->capture || !t->origin))
		t = t->next;
	if (!t)
		return CUDA_ERROR_CAPTURED_EVENT;	/* of a capture that has ended */
	if (!s->capture) {	/* the stream joins the capture the event comes from */
		s->capture = e->capture;
		s->tips = e->tips;
		return CUDA_SUCCESS;
	}
	if (s->capture != e->capture)
		return 902;	/* would merge two captures */
	for (unsigned i = 0; i < e->tips.n; i++) {
		if (s->tips.n == SIM_MAX_TIPS)
			return CUDA_ERROR_NOT_SUPPORTED;
		s->tips.v[s->tips.n++] = e->tips.v[i];
	}
	return CUDA_SUCCESS;
}

static int begin_capture(CUstream h, unsigned mode)
{
	struct sim_stream *s;
	int rc;
	ENTER(ctx);

	if ((rc = sim_stream_get(ctx, h, &s)) || mode > 2)
		return sim_leave(rc ? rc : CUDA_ERROR_INVALID_VALUE);
	if (s == ctx->legacy)
		return sim_leave(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	if (s->capture)
		return sim_leave(CUDA_ERROR_ILLEGAL_STATE);
	s->capture = graph_new(SIM_GRAPH);
	s->origin = true;
	s->tips.n = 0;
	return sim_leave(s->capture ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

/* Is all that other streams captured an ancestor of what s ends in? Nodes of a capture stand after those they follow. */
static bool joined(const struct sim_stream *s)
{
	struct sim_graph *g = s->capture;

	for (size_t i = 0; i < g->n; i++)
		g->nodes[i]->marked = false;
	for (unsigned i = 0; i < s->tips.n; i++)
		s->tips.v[i]->marked = true;
	for (size_t i = g->n; i-- > 0;)
		for (size_t d = 0; g->nodes[i]->marked && d < g->nodes[i]->deps_n; d++)
			g->nodes[i]->deps[d]->marked = true;
	for (size_t i = 0; i < g->n; i++)
		if (!g->nodes[i]->marked)
			return false;
	return true;
}

static int end_capture(CUstream h, CUgraph *out)
{
	struct sim_stream *s;
	struct sim_graph *g;
	int rc;
	ENTER(ctx);

	if ((rc = sim_stream_get(ctx, h, &s)) || !out)
		return sim_leave(rc ? rc : CUDA_ERROR_INVALID_VALUE);
	*out = NULL;
	if (!s->capture || !s->origin)
		return sim_leave(s->capture ? CUDA_ERROR_STREAM_CAPTURE_UNMATCHED : CUDA_ERROR_ILLEGAL_STATE);
	g = s->capture;
	rc = g->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : joined(s) ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	s->origin = false;
	for (struct sim_stream *t = sim_streams(); t; t = t->next)
		if (t->capture == g)
			t->capture = NULL, t->tips.n = 0;
	if (rc)
		graph_free(g);
	else
		*out = g;
	return sim_leave(rc);
}

void sim_capture_spoil(struct sim_stream *s)
{
	s->capture->invalid = true;
}

static int capture_info(CUstream h, int *status, uint64_t *id, CUgraph *graph, const CUgraphNode **deps, const void **edges,
			size_t *n)
{
	struct sim_stream *s;
	int rc;
	ENTER(ctx);

	if ((rc = sim_stream_get(ctx, h, &s)) || !status)
		return sim_leave(rc ? rc : CUDA_ERROR_INVALID_VALUE);
	*status = !s->capture ? 0 : s->capture->invalid ? 2 : 1;
	if (id && s->capture)
		*id = s->capture->id;
	if (graph && s->capture)
		*graph = s->capture;
	if (deps && s->capture)
		*deps = s->tips.v;
	if (edges)
		*edges = NULL;
	if (n && s->capture)
		*n = s->tips.n;
	return sim_leave(CUDA_SUCCESS);
}

BOTH(cuStreamBeginCapture_v2, _ptsz, (CUstream s, unsigned mode), begin_capture(OR_NONE(s), mode))
BOTH(cuStreamEndCapture, _ptsz, (CUstream s, CUgraph *g), end_capture(OR_NONE(s), g))
BOTH(cuStreamIsCapturing, _ptsz, (CUstream s, int *status), capture_info(OR_NONE(s), status, NULL, NULL, NULL, NULL, NULL))
BOTH(cuStreamGetCaptureInfo, _ptsz, (CUstream s, int *status, uint64_t *id),
     capture_info(OR_NONE(s), status, id, NULL, NULL, NULL, NULL))
BOTH(cuStreamGetCaptureInfo_v2, _ptsz, (CUstream s, int *status, uint64_t *id, CUgraph *g, const CUgraphNode **deps, size_t *n),
     capture_info(OR_NONE(s), status, id, g, deps, NULL, n))
BOTH(cuStreamGetCaptureInfo_v3, _ptsz,
     (CUstream s, int *status, uint64_t *id, CUgraph *g, const CUgraphNode **deps, const void **edges, size_t *n),
     capture_info(OR_NONE(s), status, id, g, deps, edges, n))

CUresult cuThreadExchangeStreamCaptureMode(int *mode)
{
	int old = capture_mode;

	if (!mode || *mode < 0 || *mode > 2)
		return CUDA_ERROR_INVALID_VALUE;
	capture_mode = *mode;	/* kept for who asks; which calls a capture forbids does not depend on it here */
	*mode = old;
	return CUDA_SUCCESS;
}

/* Graphs built by hand. */
CUresult cuGraphCreate(CUgraph *out, unsigned flags)
{
	if (sim_ready())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!out || flags)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	*out = graph_new(SIM_GRAPH);
	return sim_leave(*out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuGraphDestroy(CUgraph g)
{
	if (!sim_is(g, SIM_GRAPH))
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	graph_free(g);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuGraphClone(CUgraph *out, CUgraph g)
{
	if (!out || !sim_is(g, SIM_GRAPH))
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	return sim_leave(graph_copy(g, SIM_GRAPH, out));
}

static int add(CUgraphNode *out, struct sim_graph *g, const CUgraphNode *deps, size_t n, int rc, const struct sim_op *op)
{
	if (!rc && (!out || !sim_is(g, SIM_GRAPH) || (n && !deps)))
		rc = CUDA_ERROR_INVALID_VALUE;
	if (rc)
		free(op->staged);
	return rc ? rc : add_node(g, deps, n, op, out);
}

static int kernel_op(const struct cu_kernel_node *p, struct sim_op *op)
{
	CUfunction f = p && p->func ? p->func : p ? p->kern : NULL;

	return p ? sim_launch_op(f, p->grid, p->block, p->shared, p->params, p->extra, op) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n, const struct cu_kernel_node *p)
{
	struct sim_op op = { 0 };
	int rc;
	ENTER(ctx);

	rc = kernel_op(p, &op);
	return sim_leave(add(out, g, deps, n, rc, &op));
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n, const struct cu_3d *p, CUcontext in)
{
	struct sim_op op = { 0 };
	bool pageable;
	int rc;
	ENTER(ctx);

	rc = CUDA_ERROR_INVALID_VALUE;
	if (p && p->width && p->height && p->depth && sim_is(in, SIM_CTX))
		rc = sim_copy_op(p, &op, &pageable);
	return sim_leave(add(out, g, deps, n, rc, &op));
}

CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n, const struct cu_memset_node *p,
			      CUcontext in)
{
	struct sim_op op = { 0 };
	int rc;
	ENTER(ctx);

	rc = CUDA_ERROR_INVALID_VALUE;
	if (p && p->width && p->height && sim_is(in, SIM_CTX))
		rc = sim_set_op(p->dst, p->pitch, p->value, p->element, p->width, p->height, &op);
	return sim_leave(add(out, g, deps, n, rc, &op));
}

CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n, const struct cu_host_node *p)
{
	struct sim_op op = { .run = sim_host_run, .node_type = HOST_NODE };
	ENTER(ctx);

	if (p)
		op.host.fn = p->fn, op.host.arg = p->arg;
	return sim_leave(add(out, g, deps, n, p && p->fn ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, &op));
}

CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n)
{
	ENTER(ctx);

	return sim_leave(add(out, g, deps, n, CUDA_SUCCESS, &(struct sim_op){ .node_type = EMPTY_NODE }));
}

static int add_edges(struct sim_graph *g, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	int rc = sim_is(g, SIM_GRAPH) && (!n || (from && to)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;

	for (size_t i = 0; i < n && !rc; i++)
		rc = !is_node_of(from[i], g) || !is_node_of(to[i], g) || from[i] == to[i] ? CUDA_ERROR_INVALID_VALUE :
		     add_deps(to[i], &from[i], 1);
	return rc;
}

CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	ENTER(ctx);

	return sim_leave(add_edges(g, from, to, n));
}

CUresult cuGraphAddDependencies_v2(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, const void *data, size_t n)
{
	return data ? CUDA_ERROR_NOT_SUPPORTED : cuGraphAddDependencies(g, from, to, n);
}

/* As the API counts: without a place for them *n becomes how many there are, else how many were written. */
static int list_nodes(struct sim_graph *g, CUgraphNode *out, size_t *n, bool roots)
{
	size_t have = 0, room = out && n ? *n : 0;

	if (!n || !sim_is(g, SIM_GRAPH))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < g->n; i++) {
		if (roots && g->nodes[i]->deps_n)
			continue;
		if (have < room)
			out[have] = g->nodes[i];
		have++;
	}
	for (size_t i = have; i < room; i++)
		out[i] = NULL;
	*n = out && room < have ? room : have;
	return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph g, CUgraphNode *out, size_t *n)
{
	ENTER(ctx);

	return sim_leave(list_nodes(g, out, n, false));
}

CUresult cuGraphGetRootNodes(CUgraph g, CUgraphNode *out, size_t *n)
{
	ENTER(ctx);

	return sim_leave(list_nodes(g, out, n, true));
}

static int list_edges(struct sim_graph *g, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
	size_t have = 0, room = from && to && n ? *n : 0;

	if (!n || !sim_is(g, SIM_GRAPH))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < g->n; i++)
		for (size_t d = 0; d < g->nodes[i]->deps_n; d++, have++)
			if (have < room) {
				from[have] = g->nodes[i]->deps[d];
				to[have] = g->nodes[i];
			}
	*n = room && room < have ? room : have;
	return CUDA_SUCCESS;
}

CUresult cuGraphGetEdges(CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n)
{
	ENTER(ctx);

	return sim_leave(list_edges(g, from, to, n));
}

CUresult cuGraphGetEdges_v2(CUgraph g, CUgraphNode *from, CUgraphNode *to, void *data, size_t *n)
{
	if (data && n && from)
		memset(data, 0, 8 * *n);	/* CUgraphEdgeData: plain edges */
	return cuGraphGetEdges(g, from, to, n);
}

CUresult cuGraphNodeGetType(CUgraphNode n, int *type)
{
	ENTER(ctx);

	if (!sim_is(n, SIM_NODE) || !type)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	*type = n->op.node_type;
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode n, struct cu_kernel_node *p)
{
	const struct sim_launch *l;
	ENTER(ctx);

	if (!sim_is(n, SIM_NODE) || !p || n->op.run != sim_kernel_run)
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	l = &n->op.launch;
	if (!n->params && l->params && (n->params = calloc(l->func->params_n, sizeof(void *))))
		for (unsigned i = 0; i < l->func->params_n; i++)
			n->params[i] = (char *)l->params + l->func->params[i].offset;
	*p = (struct cu_kernel_node){ .func = l->func, .grid = { l->grid[0], l->grid[1], l->grid[2] },
				      .block = { l->block[0], l->block[1], l->block[2] }, .shared = l->shared,
				      .params = n->params };
	return sim_leave(CUDA_SUCCESS);
}

static int set_kernel(struct sim_node *n, const struct cu_kernel_node *p)
{
	struct sim_op op = { 0 };
	int rc = !n || n->op.run != sim_kernel_run ? CUDA_ERROR_INVALID_VALUE : kernel_op(p, &op);

	if (!rc) {
		free(n->op.staged);
		free(n->params);
		n->params = NULL;
		n->op = op;
		n->graph->cost = longest_path(n->graph);
	}
	return rc;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode n, const struct cu_kernel_node *p)
{
	ENTER(ctx);

	return sim_leave(set_kernel(sim_is(n, SIM_NODE) ? n : NULL, p));
}

CUresult cuGraphDestroyNode(CUgraphNode n)
{
	struct sim_graph *g;
	ENTER(ctx);

	if (!sim_is(n, SIM_NODE) || !sim_is(n->graph, SIM_GRAPH))
		return sim_leave(CUDA_ERROR_INVALID_VALUE);
	g = n->graph;
	for (size_t i = 0; i < g->n; i++)
		for (size_t d = 0; d < g->nodes[i]->deps_n; d++)
			if (g->nodes[i]->deps[d] == n)
				g->nodes[i]->deps[d--] = g->nodes[i]->deps[--g->nodes[i]->deps_n];
	memmove(&g->nodes[n->index], &g->nodes[n->index + 1], (--g->n - n->index) * sizeof(n));
	for (size_t i = n->index; i < g->n; i++)
		g->nodes[i]->index = i;
	node_free(n);
	return sim_leave(CUDA_SUCCESS);
}

/* Instances. */
static int instantiate(CUgraphExec *out, struct sim_graph *g)
{
	int rc = out && sim_is(g, SIM_GRAPH) ? graph_copy(g, SIM_EXEC, out) : CUDA_ERROR_INVALID_VALUE;

	if (rc)
		return rc;
	(*out)->cost = longest_path(*out);
	SIM_OBSERVE(SIM_EXEC_CREATED, .ctx = sim_current, .graph = g, .exec = *out);
	return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
	ENTER(ctx);

	return sim_leave(flags & ~15ull ? CUDA_ERROR_INVALID_VALUE : instantiate(out, g));
}

struct instantiate { uint64_t flags; CUstream upload; CUgraphNode error_node; int result; };
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

/* Launches of an instance still use what a change would replace: they are waited for. */
static bool idle(struct sim_graph *exec, struct sim_ctx *ctx)
{
	if (exec->refs > 1)
		sim_wait_ctx(ctx);
	return exec->refs == 1;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode twin, const struct cu_kernel_node *p)
{
	struct sim_node *n = NULL;
	ENTER(ctx);

	for (size_t i = 0; sim_is(exec, SIM_EXEC) && i < exec->n && !n; i++)
		if (exec->nodes[i]->twin == twin)
			n = exec->nodes[i];
	return sim_leave(n && idle(exec, ctx) ? set_kernel(n, p) : CUDA_ERROR_INVALID_VALUE);
}

struct update_result { int result; CUgraphNode node, from; };
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
	if (!idle(exec, ctx)) {
		graph_free(fresh);
		return sim_leave(910);
	}
	same = fresh->n == exec->n;
	for (size_t i = 0; same && i < fresh->n; i++)
		same = fresh->nodes[i]->op.node_type == exec->nodes[i]->op.node_type &&
		       fresh->nodes[i]->deps_n == exec->nodes[i]->deps_n;
	*result = (struct update_result){ .result = same ? 0 : 2 };	/* 2: the topology has changed */
	if (same) {
		swap = *exec;
		exec->nodes = fresh->nodes;
		exec->cost = fresh->cost;
		fresh->nodes = swap.nodes;
		for (size_t i = 0; i < exec->n; i++)
			exec->nodes[i]->graph = exec, exec->nodes[i]->id = fresh->nodes[i]->id;
	}
	graph_free(fresh);
	return sim_leave(same ? CUDA_SUCCESS : 910);
}

/* Runs the nodes of a launch one after another; op->gen is the next, op->staged this launch's copy of them. */
static bool graph_run(struct sim_op *op)
{
	struct sim_op *ops = op->staged;

	for (; op->gen < op->exec->n; op->gen++) {
		struct sim_op *node = &ops[op->gen];
		uint64_t end = node->end, over = op->end - op->start - op->cost;	/* what was needed beyond its cost so far */

		node->stream = op->stream;
		if (!node->started)
			node->started = true, node->start += over;
		if (node->run && !node->run(node))
			return false;
		node->end = end + over;
	}
	return true;
}

/* The stream inside a launch that runs a node: the first that is free by then, so that what overlaps is in different ones. */
static uint32_t lane_of(struct sim_graph *exec, const struct sim_op *node, uint64_t *busy)
{
	unsigned i = 0;

	while (i < MAX_LANES - 1 && busy[i] > node->start)
		i++;
	busy[i] = node->end;
	if (i && !exec->lanes[i])
		exec->lanes[i] = sim_stream_id();
	return exec->lanes[i];
}

void sim_graph_observe(struct sim_op *launch)
{
	struct sim_graph *exec = launch->exec;
	struct sim_op *ops = launch->staged;
	uint64_t busy[MAX_LANES] = { 0 };

	for (size_t i = 0; i < exec->n; i++) {
		if (!ops[i].run)
			continue;
		ops[i].stream = launch->stream;
		ops[i].graph_id = exec->id;
		ops[i].node_id = exec->nodes[i]->id;
		ops[i].lane = lane_of(exec, &ops[i], busy);
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
	return sim_leave(rc ? rc : sim_is(exec, SIM_EXEC) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

BOTH(cuGraphInstantiateWithParams, _ptsz, (CUgraphExec *out, CUgraph g, struct instantiate *p), instantiate_with(out, g, p))
BOTH(cuGraphLaunch, _ptsz, (CUgraphExec exec, CUstream s), launch(exec, OR_NONE(s)))
BOTH(cuGraphUpload, _ptsz, (CUgraphExec exec, CUstream s), upload(exec, OR_NONE(s)))
