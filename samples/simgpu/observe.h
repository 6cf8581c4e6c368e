/* Functions by which the driver's sources report to the observer. All are called under the lock. */
#ifndef SIM_OBSERVE_H
#define SIM_OBSERVE_H
#include "samples/simgpu/hooks.h"
#include "samples/simgpu/sim.h"

extern uint8_t sim_watched __attribute__((visibility("hidden")));
/* of the last observer, even after it has detached */
extern const struct sim_hooks *sim_hooks __attribute__((visibility("hidden")));
/* the call of this thread, or NULL if it is not reported */
struct sim_call *sim_current_call(void);

/* op has its stream; a node of a graph launch has its own ids */
void sim_observe_submitted(struct sim_op *op);
void sim_observe_done(struct sim_op *op); /* at op->start and op->end */
void sim_observe_wait(enum sim_wait what, const struct sim_ctx *ctx, const struct sim_stream *s,
	const struct sim_event *e);
void sim_observe_resource(const struct sim_resource_event *t);
#define SIM_OBSERVE(...)                                                                           \
	do {                                                                                       \
		if (sim_watched)                                                                   \
			sim_observe_resource(&(struct sim_resource_event){ __VA_ARGS__ });         \
	} while (0)
bool sim_graph_id(const void *graph, bool exec, uint32_t *id);
bool sim_node_id(const void *node, uint64_t *id);
#endif
