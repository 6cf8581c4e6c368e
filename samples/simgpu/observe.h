/* What the driver's sources say to observe.c, which tells the observer. All under the lock. */
#ifndef SIM_OBSERVE_H
#define SIM_OBSERVE_H
#include "samples/simgpu/hooks.h"
#include "samples/simgpu/sim.h"

extern uint8_t sim_watched __attribute__((visibility("hidden")));
extern const struct sim_hooks *sim_hooks __attribute__((visibility("hidden")));	/* of the last observer, also when it left */
struct sim_call *sim_call_now(void);		/* the call this thread is in, or NULL when it is not told */

void sim_observe_submitted(struct sim_op *op);	/* op has its stream; a node of a launch carries its own ids */
void sim_observe_done(struct sim_op *op);	/* at op->start and op->end */
void sim_observe_wait(enum sim_wait what, const struct sim_ctx *ctx, const struct sim_stream *s, const struct sim_event *e);
void sim_observe_thing(const struct sim_thing *t);
#define SIM_OBSERVE(...) do { if (sim_watched) sim_observe_thing(&(struct sim_thing){ __VA_ARGS__ }); } while (0)
bool sim_graph_id(const void *graph, bool exec, uint32_t *id);
bool sim_node_id(const void *node, uint64_t *id);
#endif
