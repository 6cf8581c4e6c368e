/* CUPTI's numbers of graph nodes. CUPTI's record of a graph's work has the number of its node. So
 * when a call, explicit or captured, has created a node, this file gets the node's number from
 * CUPTI and writes it to the ring before the record of the call. The same is done when a graph is
 * cloned or instantiated, as the copy's numbers differ.
 *
 * A launch outside captures does none of this. During a capture no call that makes GPU work takes
 * the fast path. */
#include "collect/guest/cupti/guest_cupti_activity.h"

#include <stdlib.h>
#include "collect/guest/core/guest_args.h"
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_fast_path.h"
#include "collect/guest/core/guest_hooks.h"
#include "collect/guest/cupti/cupti_layout.h"
#include "collect/guest/events/guest_event_timing.h"

#define PER_THREAD_STREAM 2 /* CU_STREAM_PER_THREAD */
/* errors of a capture that has ended */
enum { CAPTURE_INVALIDATED = 901, CAPTURE_UNJOINED = 904 };

uint32_t gt_captures_active;

/* ---- CUPTI's numbers ---- */

/* CUPTI stays loaded once the guest uses it, so the address stays valid. */
static void *cupti(void **cache, const char *name)
{
	void *f = __atomic_load_n(cache, __ATOMIC_ACQUIRE);

	if (!f && (f = gt_find_in_library(GT_CUPTI_LIBRARY, name)))
		__atomic_store_n(cache, f, __ATOMIC_RELEASE);
	return f;
}

static bool node_number(uint64_t node, uint64_t *number)
{
	static void *cache;
	int (*ask)(uint64_t, uint64_t *) = cupti(&cache, "cuptiGetGraphNodeId");

	return ask && node && !ask(node, number);
}

static bool graph_number(uint64_t graph, bool instance, uint32_t *number)
{
	static void *of_graph, *of_instance;
	int (*ask)(uint64_t, uint32_t *) = NULL;

	if (instance)
		ask = cupti(&of_instance, "cuptiGetGraphExecId");
	if (!ask)
		ask = cupti(&of_graph, "cuptiGetGraphId");
	return ask && graph && !ask(graph, number);
}

/* ---- events ---- */

static void put_node(struct gt_tcb *t, uint64_t node, uint64_t start)
{
	GT_GUEST_CODE;
	struct gt_ev_node e;

	if (node_number(node, &e.node) &&
		!gt_ring_put_event(t, GT_EV_NODE, start, start, &e, sizeof(e)))
		gt_ring_count_drop(t, start, start);
}

/* The call that this thread is in, if it is recorded and has this role. */
static struct gt_ring_open *running_call(struct gt_tcb *t, enum gt_api_role role)
{
	uint32_t depth = t->depth & 255;
	struct gt_ring_open *o = t->ring && depth ? &t->ring->open[depth - 1] : NULL;

	return o && o->id < gt_api_count && gt_api[o->id].role == role ? o : NULL;
}

/* cuGraphAdd...Node(CUgraphNode *node, CUgraph, ...) */
void gt_after_node(int32_t ret, const uint64_t *params, const void *caller)
{
	const uint64_t *node = (const uint64_t *)params[0];
	struct gt_ring_open *o;

	(void)caller;
	if (ret || !node || gt_inside || !gt_gpu_is_used() ||
		!(o = running_call(gt_self, GT_API_GRAPH_NODE)))
		return;
	put_node(gt_self, *node, o->start);
}

/* params: CUgraph *new or CUgraphExec *new, CUgraph old, ... */
static void put_graph(int32_t ret, const uint64_t *params, enum gt_api_role role)
{
	const uint64_t *new = (const uint64_t *)params[0], old = params[1];
	struct gt_ring_open *o;
	struct gt_ev_graph e;

	if (ret || !new || gt_inside || !gt_gpu_is_used() || !(o = running_call(gt_self, role)))
		return;
	GT_GUEST_CODE;
	e.handle = *new;
	if (graph_number(e.handle, role == GT_API_GRAPH_INSTANCE, &e.new) &&
		graph_number(old, false, &e.old) &&
		!gt_ring_put_event(gt_self, GT_EV_GRAPH, o->start, o->start, &e, sizeof(e)))
		gt_ring_count_drop(gt_self, o->start, o->start);
}

void gt_after_clone(int32_t ret, const uint64_t *params, const void *caller)
{
	(void)caller;
	put_graph(ret, params, GT_API_GRAPH_CLONE);
}

void gt_after_instantiate(int32_t ret, const uint64_t *params, const void *caller)
{
	(void)caller;
	put_graph(ret, params, GT_API_GRAPH_INSTANCE);
}

/* ---- captures ---- */

void gt_after_begin_capture(int32_t ret, const uint64_t *params, const void *caller)
{
	(void)params, (void)caller;
	gt_events_capture_began();
	if (ret || !gt_gpu_is_used() ||
		__atomic_fetch_add(&gt_captures_active, 1, __ATOMIC_ACQ_REL))
		return;
	for (uint32_t id = 0; id < gt_api_count; id++)
		if (gt_api_makes_work(gt_api[id].op))
			gt_fast_path_disable(id);
}

void gt_after_end_capture(int32_t ret, const uint64_t *params, const void *caller)
{
	uint32_t n = __atomic_load_n(&gt_captures_active, __ATOMIC_ACQUIRE);

	(void)params, (void)caller;
	if (ret && ret != CAPTURE_INVALIDATED && ret != CAPTURE_UNJOINED)
		return;
	while (n &&
		!__atomic_compare_exchange_n(
			&gt_captures_active, &n, n - 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
}

/* Directly after a captured call, the stream's capture dependency is the node of that call. */
static bool newest_node(uint64_t stream, uint64_t *node)
{
	static struct gt_driver_function three, two;
	int32_t (*ask3)(uint64_t, int32_t *, uint64_t *, uint64_t *, const uint64_t **,
		const void **, size_t *) =
		gt_driver_function_address(&three, "cuStreamGetCaptureInfo_v3");
	int32_t (*ask2)(uint64_t, int32_t *, uint64_t *, uint64_t *, const uint64_t **, size_t *) =
		NULL;
	const uint64_t *nodes = NULL;
	const void *edges = NULL;
	uint64_t id, graph;
	int32_t status = 0;
	size_t n = 0;

	if (!ask3)
		ask2 = gt_driver_function_address(&two, "cuStreamGetCaptureInfo_v2");
	if (ask3 ? ask3(stream, &status, &id, &graph, &nodes, &edges, &n)
		 : !ask2 || ask2(stream, &status, &id, &graph, &nodes, &n))
		return false;
	if (status != 1 || n != 1 || !nodes)
		return false;
	*node = nodes[0];
	return true;
}

void gt_put_captured_node(const struct gt_call *c, uint64_t stream)
{
	uint64_t node;

	if (!gt_api_makes_work(gt_api[c->id].op) || !gt_gpu_is_used())
		return;
	GT_GUEST_CODE;
	if (newest_node(
		    !stream && gt_api_per_thread(gt_api[c->id].name) ? PER_THREAD_STREAM : stream,
		    &node))
		put_node(c->t, node, c->start);
}
