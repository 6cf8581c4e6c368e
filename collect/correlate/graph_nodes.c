/* Finds the call that created a node of a graph. CUPTI's record of GPU work of a graph launch has
 * the number of its node. The guest queries CUPTI for the number when a call creates a node or is
 * captured as one. An instance or a clone of a graph has its own number, in the upper half of the
 * numbers of its nodes; the lower half is the node's number in the original graph. So the node is
 * searched in this graph, then in the graph that it was made from, and so on.
 *
 * Numbers are never reused. If a program creates graphs without end, the tables are cleared when
 * they are full, and work of earlier nodes has no creating call. */
#include "collect/correlate/gpu_correlate_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

#define NODES_MAX (1u << 17)
#define COPIES_MAX (1u << 16)
#define GENERATIONS 16 /* depth of copies of copies */

int gt_gpu_node_created(struct gt_gpu_process **p, uint32_t track, uint64_t node,
	const struct gt_gpu_cause *by, const struct gt_nccl_calls *nccl)
{
	struct gt_gpu_nodes *n = gt_gpu_process_at(p, track) ? &(*p)->nodes : NULL;
	const struct gt_gpu_created_node new = { node, *by,
		nccl ? *nccl : (struct gt_nccl_calls){ 0, 0 } };

	if (!n)
		return -ENOMEM;
	if (n->ncreated == NODES_MAX) {
		gt_map_release(&n->by_node);
		n->ncreated = 0;
	}
	return gt_map_add_item(&n->by_node, &n->created, &n->ncreated, &n->created_cap, sizeof(new),
		       &new, sizeof(node)) == UINT32_MAX
		? -ENOMEM
		: 0;
}

static bool same_handle(const void *arg, uint32_t value, const void *key, size_t len)
{
	return ((const struct gt_gpu_nodes *)arg)->copies[value].handle == *(const uint64_t *)key;
}

/* The newest copy with this handle; its member `earlier` leads to older ones. */
static uint32_t newest_of(const struct gt_gpu_nodes *n, uint64_t handle)
{
	return handle ? gt_map_get(&n->by_handle, gt_hash_u64(handle), same_handle, n, &handle,
				sizeof(handle))
		      : GT_NONE;
}

int gt_gpu_graph_cloned(struct gt_gpu_process **p, uint32_t track, uint32_t graph, uint32_t from,
	uint64_t handle, int64_t when)
{
	struct gt_gpu_nodes *n = gt_gpu_process_at(p, track) ? &(*p)->nodes : NULL;
	struct gt_gpu_graph_copy new = { graph, from, handle, when, GT_NONE };
	uint32_t at;

	if (!n)
		return -ENOMEM;
	if (n->ncopies == COPIES_MAX) {
		gt_map_release(&n->by_graph);
		gt_map_release(&n->by_handle);
		n->ncopies = 0;
	}
	new.earlier = newest_of(n, handle);
	at = gt_map_add_item(&n->by_graph, &n->copies, &n->ncopies, &n->copies_cap, sizeof(new),
		&new, sizeof(graph));
	if (at == UINT32_MAX)
		return -ENOMEM;
	if (new.earlier != GT_NONE)
		gt_map_set(&n->by_handle, gt_hash_u64(handle), new.earlier, at);
	else if (handle && gt_map_add(&n->by_handle, gt_hash_u64(handle), at))
		return -ENOMEM;
	return 0;
}

uint32_t gt_gpu_instance_number(const struct gt_gpu_nodes *n, uint64_t handle, int64_t when)
{
	uint32_t i = newest_of(n, handle);

	while (i != GT_NONE && n->copies[i].when > when)
		i = n->copies[i].earlier;
	return i != GT_NONE ? n->copies[i].graph : 0;
}

void gt_gpu_node_find(const struct gt_gpu_nodes *n, uint64_t node, struct gt_gpu_cause *by,
	struct gt_nccl_calls *nccl)
{
	uint32_t i, graph;

	for (unsigned k = 0; n->ncreated && k < GENERATIONS; k++) {
		i = gt_map_find_item(
			&n->by_node, n->created, sizeof(*n->created), &node, sizeof(node));
		if (i != UINT32_MAX) {
			*by = n->created[i].by;
			*nccl = n->created[i].nccl;
			return;
		}
		graph = (uint32_t)(node >> 32);
		i = gt_map_find_item(
			&n->by_graph, n->copies, sizeof(*n->copies), &graph, sizeof(graph));
		if (i == UINT32_MAX)
			return;
		node = (uint64_t)n->copies[i].from << 32 | (uint32_t)node;
	}
}

void gt_gpu_nodes_release(struct gt_gpu_nodes *n)
{
	gt_map_release(&n->by_node);
	gt_map_release(&n->by_graph);
	gt_map_release(&n->by_handle);
	free(n->created);
	free(n->copies);
}

/* ---- captures ---- */

/* Finds launches that ran nothing because they were captured into a graph: launches without GPU
 * work between the beginning and the end of a capture of their process, by any thread. They are
 * looked up late, because calls of other threads may be read after the end of the capture. */
/* captures that are remembered, the last ones */
#define SPANS_MAX 1024u

void gt_gpu_capture_begin(struct gt_gpu_captures *s, const struct gt_gpu_call *c)
{
	if (s->n == SPANS_MAX)
		memmove(s->spans, s->spans + 1, --s->n * sizeof(*s->spans));
	if (!gt_grow(&s->spans, &s->cap, s->n + 1, sizeof(*s->spans)))
		s->spans[s->n++] = (struct gt_gpu_capture_span){ c->stream, c->start, INT64_MAX };
}

/* Ends the capture of this stream; if arguments are not recorded, the last one that runs. */
void gt_gpu_capture_end(struct gt_gpu_captures *s, const struct gt_gpu_call *c)
{
	for (size_t i = s->n; i-- > 0;)
		if (s->spans[i].to == INT64_MAX &&
			(!c->has_stream || s->spans[i].stream == c->stream)) {
			s->spans[i].to = c->end;
			return;
		}
}

bool gt_gpu_is_captured(const struct gt_gpu_captures *s, const struct gt_gpu_call *c)
{
	for (size_t i = s->n; i-- > 0;)
		if (c->start >= s->spans[i].from && c->end <= s->spans[i].to)
			return true;
	return false;
}

bool gt_gpu_is_capturing(const struct gt_gpu_captures *s)
{
	for (size_t i = s->n; i-- > 0;)
		if (s->spans[i].to == INT64_MAX)
			return true;
	return false;
}
