/* Finds the launch of a graph that ran work in the bodies of its conditional nodes (while, if,
 * switch).
 *
 * CUPTI's records of such work have correlation id 0. They name the instance of the graph, not its
 * launch. An instance runs one launch at a time, and its launches run in the order of their calls.
 * So time identifies the launch: its call has begun, it has not ended, and all earlier launches
 * have ended. A launch has ended before
 *
 *   - the first work of a later launch of the instance (the instance's own nodes have correlation
 * ids),
 *   - work that a later call launched into the same stream,
 *   - the end of a call that waited for the stream or the context,
 *
 * and it begins after the work that an earlier call launched into its stream. If several launches
 * remain, the work is joined to one of them as GT_JOIN_ORDER: to the first, unless other launches
 * show that this node runs before the nodes that have correlation ids. */
#include "collect/correlate/gpu_correlate_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

/* launches that are remembered per process; if there are more, the older half is removed */
#define LAUNCHES_MAX 32768u
#define LOOK_BACK 512   /* launches searched for one piece of work */
#define NODES_MAX 1024u /* nodes whose place in the graph is remembered */

/* ---- the launches of a process, in order of time ---- */

/* The index of the first launch whose call began later. */
static size_t first_after(const struct gt_gpu_bodies *b, int64_t when)
{
	size_t from = 0, to = b->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (b->launches[mid].call.start <= when)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static struct gt_gpu_graph_launch *launch_at(struct gt_gpu_bodies *b, const struct gt_gpu_call *c)
{
	for (size_t i = first_after(b, c->start); i-- > 0 && b->launches[i].call.start == c->start;)
		if (b->launches[i].call.tid == c->tid)
			return &b->launches[i];
	return NULL;
}

int gt_gpu_bodies_add_launch(struct gt_gpu_bodies *b, const struct gt_gpu_call *c)
{
	size_t at;

	if (b->n == LAUNCHES_MAX) {
		b->n /= 2;
		memcpy(b->launches, b->launches + b->n, b->n * sizeof(*b->launches));
	}
	if (gt_grow(&b->launches, &b->cap, b->n + 1, sizeof(*b->launches)))
		return -ENOMEM;
	at = first_after(b, c->start);
	memmove(b->launches + at + 1, b->launches + at, (b->n++ - at) * sizeof(*b->launches));
	b->launches[at] = (struct gt_gpu_graph_launch){ .call = *c, .before = INT64_MAX };
	return 0;
}

void gt_gpu_bodies_set_correlation(
	struct gt_gpu_bodies *b, const struct gt_gpu_call *c, uint32_t correlation)
{
	struct gt_gpu_graph_launch *l = launch_at(b, c);

	if (l)
		l->correlation = correlation;
}

/* ---- when a launch ran ---- */

static bool is_same_stream(const struct gt_gpu_call *a, const struct gt_gpu_call *b)
{
	return a->has_stream && b->has_stream && a->stream == b->stream &&
		(a->stream ||
			(a->per_thread == b->per_thread && (!a->per_thread || a->tid == b->tid)));
}

static void limit_end(struct gt_gpu_graph_launch *l, int64_t when)
{
	l->before = when < l->before ? when : l->before;
}

void gt_gpu_bodies_add_wait(struct gt_gpu_bodies *b, const struct gt_gpu_call *c, bool one_context)
{
	size_t i = first_after(b, c->start), looked = 0;

	if (c->wait != GT_GPU_WAIT_STREAM && (c->wait != GT_GPU_WAIT_CONTEXT || !one_context))
		return;
	for (; i-- > 0 && looked++ < LOOK_BACK && b->launches[i].before > c->end;)
		if (b->launches[i].call.end <= c->start &&
			(c->wait == GT_GPU_WAIT_CONTEXT || is_same_stream(&b->launches[i].call, c)))
			limit_end(&b->launches[i], c->end);
}

void gt_gpu_bodies_add_work(
	struct gt_gpu_bodies *b, const struct gt_gpu_call *c, const struct gt_gpu_work *w)
{
	size_t at = first_after(b, c->start);
	struct gt_gpu_graph_launch *own = launch_at(b, c),
				   *next = at < b->n ? &b->launches[at] : NULL,
				   *previous = own ? (own > b->launches ? own - 1 : NULL)
		: at                               ? &b->launches[at - 1]
						   : NULL;

	if (own) {
		own->graph = w->graph;
		own->first = !own->first || w->start < own->first ? w->start : own->first;
		own->last = w->end > own->last ? w->end : own->last;
	}
	if (previous && previous->call.end <= c->start && is_same_stream(&previous->call, c))
		limit_end(previous, w->start);
	if (next && c->end <= next->call.start && is_same_stream(&next->call, c) &&
		w->end > next->after)
		next->after = w->end;
}

/* ---- the launch of a piece of work ---- */

/* May this launch be of that instance? The instance's number is known from its creation or from
 * work. */
static bool is_of_instance(struct gt_gpu_process *p, struct gt_gpu_graph_launch *l, uint32_t graph)
{
	if (!l->graph && l->call.graph)
		l->graph = gt_gpu_instance_number(&p->nodes, l->call.graph, l->call.start);
	return !l->graph || l->graph == graph;
}

/* The launches that may have run what began at `start`: how many, and the first two. */
static size_t find_candidates(struct gt_gpu_process *p, uint32_t graph, int64_t start,
	struct gt_gpu_graph_launch *first[2])
{
	struct gt_gpu_bodies *b = &p->bodies;
	size_t n = 0, looked = 0;

	for (size_t i = first_after(b, start); i-- > 0 && looked++ < LOOK_BACK;) {
		struct gt_gpu_graph_launch *l = &b->launches[i];

		if (!is_of_instance(p, l, graph) || l->after > start)
			continue;
		if (l->before <= start)
			break; /* it and all earlier launches had ended */
		if (l->last > start)
			n = 0; /* it had not ended, so later ones had not begun */
		first[1] = n ? first[0] : NULL;
		first[0] = l;
		n++;
		if (l->first && l->first <= start)
			break; /* it had begun, so all earlier ones had ended */
	}
	return n;
}

static struct gt_gpu_body_node *find_node(struct gt_gpu_bodies *b, uint64_t node, bool make)
{
	for (size_t i = 0; i < b->nnodes; i++)
		if (b->nodes[i].node == node)
			return &b->nodes[i];
	if (!make || b->nnodes == NODES_MAX ||
		gt_grow(&b->nodes, &b->nodes_cap, b->nnodes + 1, sizeof(*b->nodes)))
		return NULL;
	b->nodes[b->nnodes] = (struct gt_gpu_body_node){ .node = node };
	return &b->nodes[b->nnodes++];
}

/* For work that is surely of this launch: notes whether its node runs before or after the nodes
 * that have correlation ids. */
static void note_node_place(
	struct gt_gpu_bodies *b, const struct gt_gpu_graph_launch *l, const struct gt_gpu_work *w)
{
	struct gt_gpu_body_node *n = l->first && (w->end <= l->first || w->start >= l->last)
		? find_node(b, w->node, true)
		: NULL;

	if (n && w->end <= l->first)
		n->leads = true;
	else if (n)
		n->trails = true;
}

static struct gt_gpu_graph_launch *pick_launch(
	struct gt_gpu_bodies *b, struct gt_gpu_graph_launch *const first[2], uint64_t node)
{
	const struct gt_gpu_body_node *n = find_node(b, node, false);

	return first[0]->last && n && n->leads && !n->trails ? first[1] : first[0];
}

/* Is it certain although records are missing? The launch is known to have run before and after
 * that time, or to have ended after it. */
static bool is_certain(const struct gt_gpu_graph_launch *l, int64_t start)
{
	return l->before != INT64_MAX || (l->first && l->first <= start && l->last > start);
}

bool gt_gpu_bodies_find(struct gt_gpu_process *p, const struct gt_gpu_work *w, bool late,
	const struct gt_gpu_graph_launch **found, enum gt_join *how)
{
	struct gt_gpu_graph_launch *first[2] = { NULL, NULL };
	size_t n = find_candidates(p, w->graph, w->start, first);

	*found = NULL;
	if (!late && !(n == 1 && is_certain(first[0], w->start)))
		return false;
	*how = n == 1 ? GT_JOIN_CORRELATION : GT_JOIN_ORDER;
	if (n == 1)
		note_node_place(&p->bodies, first[0], w);
	*found = n > 1 ? pick_launch(&p->bodies, first, w->node) : first[0];
	return true;
}

void gt_gpu_bodies_release(struct gt_gpu_bodies *b)
{
	free(b->launches);
	free(b->nodes);
}
