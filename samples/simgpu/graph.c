/* Graphs: built node by node, or captured from streams. graph_exec.c launches them.
 *
 * A node contains the operation it stands for. A capturing stream has a set of capture
 * dependencies: the nodes that its next node depends on. Events carry such sets from stream to
 * stream. */
#define _GNU_SOURCE
#include "samples/simgpu/sim_graph.h"
#include "samples/simgpu/observe.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GLOBAL, THREAD_LOCAL, RELAXED }; /* modes of a capture, and of a thread */
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

void sim_graph_free(struct sim_graph *g)
{
	for (size_t i = 0; i < g->n; i++)
		node_free(g->nodes[i]);
	free(g->nodes);
	sim_drop(g);
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

/* Adds a node to g for *op. Takes over op->staged, also on failure. */
static int add_node(struct sim_graph *g, struct sim_node *const *deps, size_t n,
	const struct sim_op *op, struct sim_node **out)
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
	node->id = g->id << 32 | g->nodes_made++;
	g->nodes[g->n++] = node;
	*out = node;
	SIM_OBSERVE(SIM_NODE_CREATED, .ctx = sim_current, .graph = g, .node = node,
		.node_type = op->node_type);
	return CUDA_SUCCESS;
}

static bool copy_op(struct sim_op *to, const struct sim_op *from)
{
	size_t size = !from->staged           ? 0
		: from->run == sim_kernel_run ? from->launch.func->params_size
					      : from->copy.width;

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

/* Sorts the nodes so that each follows its dependencies; false if there is a cycle. Placed nodes
 * are `marked`. */
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

/* A copy of a graph, as graph or as instance. Each node of the copy points to its original. */
int sim_graph_copy(struct sim_graph *from, enum sim_kind kind, struct sim_graph **out)
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
		rc = copy_op(&op, &from->nodes[i]->op) ? add_node(g, NULL, 0, &op, &n)
						       : CUDA_ERROR_OUT_OF_MEMORY;
		for (size_t d = 0; !rc && d < from->nodes[i]->deps_n; d++)
			rc = add_deps(n, &g->nodes[from->nodes[i]->deps[d]->index], 1);
		if (rc)
			break;
		n->original = from->nodes[i];
		/* same number within the graph as its original */
		n->id = g->id << 32 | (uint32_t)n->original->id;
		g->nodes_made = from->nodes_made;
		SIM_OBSERVE(SIM_NODE_CLONED, .ctx = sim_current, .graph = g, .original_graph = from,
			.node = n, .original_node = n->original, .node_type = op.node_type);
	}
	if (rc)
		sim_graph_free(g);
	else
		*out = g;
	return rc;
}

/* The longest path, in simulated ns: op.end of each node is its end after the graph's start. Within
 * a graph a kernel follows another without a launch between them. */
uint64_t sim_longest_path(struct sim_graph *g)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < g->n; i++) {
		struct sim_node *n = g->nodes[i];
		uint64_t start = 0;

		for (size_t d = 0; d < n->deps_n; d++)
			if (n->deps[d]->op.end > start)
				start = n->deps[d]->op.end;
		n->op.start = start;
		n->op.end = start + n->op.cost -
			(n->op.run == sim_kernel_run ? SIM_LAUNCH_NS - 200 : 0);
		if (n->op.end > longest)
			longest = n->op.end;
	}
	return longest;
}

/* Capture. */
static void set_capture_dep(struct sim_stream *s, struct sim_node *n)
{
	s->capture_deps.v[0] = n;
	s->capture_deps.n = 1;
}

int sim_capture(struct sim_stream *s, const struct sim_op *op)
{
	struct sim_node *n;
	int rc = s->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;

	if (rc)
		free(op->staged);
	else if (!(rc = add_node(s->capture, s->capture_deps.v, s->capture_deps.n, op, &n)))
		set_capture_dep(s, n);
	return rc;
}

int sim_capture_record(struct sim_stream *s, struct sim_event *e)
{
	if (s->capture->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	e->capture = s->capture;
	e->capture_deps = s->capture_deps;
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
		return CUDA_ERROR_CAPTURED_EVENT; /* its capture has ended */
	if (!s->capture) {                        /* the stream joins the event's capture */
		s->capture = e->capture;
		s->capture_deps = e->capture_deps;
		return CUDA_SUCCESS;
	}
	if (s->capture != e->capture)
		return 902; /* would merge two captures */
	for (unsigned i = 0; i < e->capture_deps.n; i++) {
		if (s->capture_deps.n == SIM_MAX_CAPTURE_DEPS)
			return CUDA_ERROR_NOT_SUPPORTED;
		s->capture_deps.v[s->capture_deps.n++] = e->capture_deps.v[i];
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
	s->mode = (int)mode;
	s->capturer = gettid();
	s->capture_deps.n = 0;
	return sim_leave(s->capture ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

/* True if every node of the capture is an ancestor of the dependencies of s. Nodes of a capture
 * come after their dependencies. */
static bool is_joined(const struct sim_stream *s)
{
	struct sim_graph *g = s->capture;

	for (size_t i = 0; i < g->n; i++)
		g->nodes[i]->marked = false;
	for (unsigned i = 0; i < s->capture_deps.n; i++)
		s->capture_deps.v[i]->marked = true;
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
		return sim_leave(s->capture ? CUDA_ERROR_STREAM_CAPTURE_UNMATCHED
					    : CUDA_ERROR_ILLEGAL_STATE);
	g = s->capture;
	rc = g->invalid        ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
		: is_joined(s) ? CUDA_SUCCESS
			       : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	s->origin = false;
	for (struct sim_stream *t = sim_streams(); t; t = t->next)
		if (t->capture == g)
			t->capture = NULL, t->capture_deps.n = 0;
	if (rc)
		sim_graph_free(g);
	else
		*out = g;
	return sim_leave(rc);
}

void sim_capture_invalidate(struct sim_stream *s) { s->capture->invalid = true; }

int sim_capture_unsafe(const char *function)
{
	if (capture_mode == RELAXED)
		return CUDA_SUCCESS;
	for (struct sim_stream *t = sim_streams(); t; t = t->next) {
		bool mine = t->capturer == gettid();

		if (!t->capture || !t->origin || t->mode == RELAXED ||
			(!mine && (t->mode == THREAD_LOCAL || capture_mode == THREAD_LOCAL)))
			continue;
		sim_capture_invalidate(t);
		sim_report_misuse(function, "invalidates a capture");
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	return CUDA_SUCCESS;
}

static int capture_info(CUstream h, int *status, uint64_t *id, CUgraph *graph,
	const CUgraphNode **deps, const void **edges, size_t *n)
{
	struct sim_stream *s;
	int rc;
	ENTER(ctx);

	if ((rc = sim_stream_get(ctx, h, &s)) || !status)
		return sim_leave(rc ? rc : CUDA_ERROR_INVALID_VALUE);
	for (struct sim_stream *t = sim_streams(); t && s == ctx->legacy; t = t->next)
		if (t->capture && t->ctx == ctx && !(t->flags & 1))
			/* that capture stays valid */
			return sim_leave(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	*status = !s->capture ? 0 : s->capture->invalid ? 2 : 1;
	if (id && s->capture)
		*id = s->capture->id;
	if (graph && s->capture)
		*graph = s->capture;
	if (deps && s->capture)
		*deps = s->capture_deps.v;
	if (edges)
		*edges = NULL;
	if (n && s->capture)
		*n = s->capture_deps.n;
	return sim_leave(CUDA_SUCCESS);
}

BOTH(cuStreamBeginCapture_v2, _ptsz, (CUstream s, unsigned mode), begin_capture(OR_NONE(s), mode))
BOTH(cuStreamEndCapture, _ptsz, (CUstream s, CUgraph *g), end_capture(OR_NONE(s), g))
BOTH(cuStreamIsCapturing, _ptsz, (CUstream s, int *status),
	capture_info(OR_NONE(s), status, NULL, NULL, NULL, NULL, NULL))
BOTH(cuStreamGetCaptureInfo, _ptsz, (CUstream s, int *status, uint64_t *id),
	capture_info(OR_NONE(s), status, id, NULL, NULL, NULL, NULL))
BOTH(cuStreamGetCaptureInfo_v2, _ptsz,
	(CUstream s, int *status, uint64_t *id, CUgraph *g, const CUgraphNode **deps, size_t *n),
	capture_info(OR_NONE(s), status, id, g, deps, NULL, n))
BOTH(cuStreamGetCaptureInfo_v3, _ptsz,
	(CUstream s, int *status, uint64_t *id, CUgraph *g, const CUgraphNode **deps,
		const void **edges, size_t *n),
	capture_info(OR_NONE(s), status, id, g, deps, edges, n))

CUresult cuThreadExchangeStreamCaptureMode(int *mode)
{
	int old = capture_mode;

	if (!mode || *mode < 0 || *mode > 2)
		return CUDA_ERROR_INVALID_VALUE;
	capture_mode = *mode; /* see sim_capture_unsafe */
	*mode = old;
	return CUDA_SUCCESS;
}

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
	sim_graph_free(g);
	return sim_leave(CUDA_SUCCESS);
}

CUresult cuGraphClone(CUgraph *out, CUgraph g)
{
	if (!out || !sim_is(g, SIM_GRAPH))
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	return sim_leave(sim_graph_copy(g, SIM_GRAPH, out));
}

static int add(CUgraphNode *out, struct sim_graph *g, const CUgraphNode *deps, size_t n, int rc,
	const struct sim_op *op)
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

	return p ? sim_launch_op(f, p->grid, p->block, p->shared, p->params, p->extra, op)
		 : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
	const struct cu_kernel_node *p)
{
	struct sim_op op = { 0 };
	int rc;
	ENTER(ctx);

	rc = kernel_op(p, &op);
	return sim_leave(add(out, g, deps, n, rc, &op));
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
	const struct cu_3d *p, CUcontext in)
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

CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
	const struct cu_memset_node *p, CUcontext in)
{
	struct sim_op op = { 0 };
	int rc;
	ENTER(ctx);

	rc = CUDA_ERROR_INVALID_VALUE;
	if (p && p->width && p->height && sim_is(in, SIM_CTX))
		rc = sim_set_op(p->dst, p->pitch, p->value, p->element, p->width, p->height, &op);
	return sim_leave(add(out, g, deps, n, rc, &op));
}

CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n,
	const struct cu_host_node *p)
{
	struct sim_op op = { .run = sim_host_run, .node_type = HOST_NODE };
	ENTER(ctx);

	if (p)
		op.host.fn = p->fn, op.host.arg = p->arg;
	return sim_leave(
		add(out, g, deps, n, p && p->fn ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE, &op));
}

CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph g, const CUgraphNode *deps, size_t n)
{
	ENTER(ctx);

	return sim_leave(
		add(out, g, deps, n, CUDA_SUCCESS, &(struct sim_op){ .node_type = EMPTY_NODE }));
}

static int add_edges(struct sim_graph *g, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	int rc = sim_is(g, SIM_GRAPH) && (!n || (from && to)) ? CUDA_SUCCESS
							      : CUDA_ERROR_INVALID_VALUE;

	for (size_t i = 0; i < n && !rc; i++)
		rc = !is_node_of(from[i], g) || !is_node_of(to[i], g) || from[i] == to[i]
			? CUDA_ERROR_INVALID_VALUE
			: add_deps(to[i], &from[i], 1);
	return rc;
}

CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n)
{
	ENTER(ctx);

	return sim_leave(add_edges(g, from, to, n));
}

CUresult cuGraphAddDependencies_v2(
	CUgraph g, const CUgraphNode *from, const CUgraphNode *to, const void *data, size_t n)
{
	return data ? CUDA_ERROR_NOT_SUPPORTED : cuGraphAddDependencies(g, from, to, n);
}

/* Follows the API: if out is NULL, *n becomes the number of nodes, otherwise the number written. */
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
		memset(data, 0, 8 * *n); /* CUgraphEdgeData: plain edges */
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
	*p = (struct cu_kernel_node){ .func = l->func,
		.grid = { l->grid[0], l->grid[1], l->grid[2] },
		.block = { l->block[0], l->block[1], l->block[2] },
		.shared = l->shared,
		.params = n->params };
	return sim_leave(CUDA_SUCCESS);
}

int sim_set_kernel(struct sim_node *n, const struct cu_kernel_node *p)
{
	struct sim_op op = { 0 };
	int rc = !n || n->op.run != sim_kernel_run ? CUDA_ERROR_INVALID_VALUE : kernel_op(p, &op);

	if (!rc) {
		free(n->op.staged);
		free(n->params);
		n->params = NULL;
		n->op = op;
		n->graph->cost = sim_longest_path(n->graph);
	}
	return rc;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode n, const struct cu_kernel_node *p)
{
	ENTER(ctx);

	return sim_leave(sim_set_kernel(sim_is(n, SIM_NODE) ? n : NULL, p));
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
