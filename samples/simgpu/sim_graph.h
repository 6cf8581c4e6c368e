/* Shared by graph.c and graph_exec.c: a graph, and an instance of one, which is a copy. */
#ifndef SIM_GRAPH_H
#define SIM_GRAPH_H
#include "samples/simgpu/sim.h"

/* GRAPH_NS: time of a launch before its first node */
enum { HOST_NODE = 3, EMPTY_NODE = 5, MAX_INNER_STREAMS = 16, GRAPH_NS = 1000 };

struct sim_node {
	struct sim_obj obj;
	struct sim_graph *graph;
	struct sim_node **deps;
	size_t deps_n, index; /* index: in its graph */
	/* the node it was copied from; during a copy, the node of the copy */
	struct sim_node *original;
	struct sim_op op;
	void **params; /* pointers into op.launch.params, for cuGraphKernelNodeGetParams */
	bool marked;
	uint64_t id;
};
struct sim_graph {
	struct sim_obj obj;
	struct sim_node **nodes;
	size_t n;
	int refs; /* of an instance: its handle and its launches */
	uint64_t cost;
	bool invalid; /* a capture that a forbidden call has invalidated */
	uint64_t id, nodes_made;
	/* of an instance: its inner streams, created on demand; 0: the launch's own */
	uint32_t inner_streams[MAX_INNER_STREAMS];
};

void sim_graph_free(struct sim_graph *g);
/* A copy of a graph, as graph or as instance. Each node of the copy points to its original. */
int sim_graph_copy(struct sim_graph *from, enum sim_kind kind, struct sim_graph **out);
/* The longest path, in simulated ns: op.end of each node is its end after the graph's start. */
uint64_t sim_longest_path(struct sim_graph *g);
int sim_set_kernel(struct sim_node *n, const struct cu_kernel_node *p);
#endif
