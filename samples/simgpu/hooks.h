/* How an observer watches the simulated driver: what the simulated libcuda.so.1 tells, and to whom. Its only user is the
 * simulated libcupti.so.13, which finds sim_cupti_attach in the driver by name.
 *
 * While nobody is attached an entry point costs one comparison more (calls.c), a submitted operation one, and nothing is told.
 * Times are CLOCK_MONOTONIC ns of the simulated timeline: simulated time divided by its speed. */
#ifndef SIM_HOOKS_H
#define SIM_HOOKS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_HOOKS_VERSION 4
#define SIM_MAX_CALL_WORDS 14

struct sim_work;
/* A driver call under way on this thread, from enter to exit. One made inside another, or from a hook, is not told. */
struct sim_call {
	unsigned entry;			/* index into sim_driver.symbols */
	int rc;				/* at exit */
	const void *ctx;		/* current when it began; at exit, when it ended */
	uint32_t ctx_id;
	uint64_t words[SIM_MAX_CALL_WORDS];	/* its arguments, one a word, and what lies behind them */
	void *own;			/* the observer's */
};

enum sim_work_kind { SIM_WORK_KERNEL = 1, SIM_WORK_COPY, SIM_WORK_PEER, SIM_WORK_SET };
struct sim_work {			/* a piece of work handed to a device */
	enum sim_work_kind kind;
	uint32_t device, context, stream;
	uint32_t graph;			/* the instance's id and the node's; 0 when it was launched by itself */
	uint64_t node;
	const char *name;		/* of a kernel; borrowed for the call */
	unsigned grid[3], block[3], shared;
	bool cooperative, async;
	uint8_t copy, src, dst;		/* numbers of CUpti_ActivityMemcpyKind and -MemoryKind; of a set: dst */
	uint32_t value;
	uint64_t bytes;
	uint32_t src_device, src_context, dst_device, dst_context;
};
enum sim_wait { SIM_WAIT_EVENT = 1, SIM_WAIT_STREAM_EVENT, SIM_WAIT_STREAM, SIM_WAIT_CONTEXT };	/* CUPTI's numbers */
enum sim_resource { SIM_CONTEXT_CREATED = 1, SIM_CONTEXT_ENDS, SIM_STREAM_CREATED, SIM_STREAM_ENDS,
		    SIM_NODE_CREATED = 13, SIM_EXEC_CREATED = 18, SIM_NODE_CLONED = 20 };
struct sim_thing {			/* something made or gone; what does not apply is NULL */
	enum sim_resource what;
	const void *ctx, *stream, *graph, *original_graph, *node, *original_node, *exec;
	int node_type;
};

enum sim_moved_kind { SIM_MOVED_HTOD = 1, SIM_MOVED_DTOH, SIM_MOVED_CPU_FAULT, SIM_MOVED_GPU_FAULT };	/* CUPTI's numbers */
#define SIM_MOVED_HOST UINT32_MAX	/* in place of a device */
struct sim_moved {			/* managed memory: a migration, or a fault */
	enum sim_moved_kind kind;
	uint64_t start, end, value, address;	/* value: bytes; faults; an instruction */
	uint32_t from, to, why;
};

/* enter and exit are called on the caller's thread without the driver's lock and may call the driver; the others hold the lock
 * and may not. call is NULL where work comes from no call. What submitted returns comes back to done. */
struct sim_hooks {
	bool (*enter)(struct sim_call *call);		/* false: nothing more of this call is told */
	void (*exit)(struct sim_call *call);
	void *(*submitted)(struct sim_call *call, const struct sim_work *w);
	void (*done)(void *work, uint64_t start, uint64_t end);
	void (*waits)(struct sim_call *call, enum sim_wait what, uint32_t context, uint32_t stream, uint32_t event, uint64_t sync);
	void (*resource)(struct sim_call *call, const struct sim_thing *t);
	void (*moved)(struct sim_call *call, const struct sim_moved *m);
	/* A call of the runtime begins or ends on this thread; cbid and rc: see below. */
	void (*runtime)(bool begins, unsigned cbid, int rc);
};
/* What the driver offers in return. Each returns false for what is no live handle. */
struct sim_driver {
	const char *const *symbols;	/* of the entry points */
	size_t symbols_n;
	bool (*context)(const void *ctx, uint32_t *id, uint32_t *device);		/* NULL: the current one */
	bool (*stream)(const void *ctx, const void *stream, bool per_thread, uint32_t *id);
	bool (*graph)(const void *graph, bool exec, uint32_t *id);
	bool (*node)(const void *node, uint64_t *id);
	const char *(*function)(const void *function);		/* its name, as long as its module lives; NULL */
	const uint64_t *contexts;	/* how many were ever made */
};

/* hooks must live as long as the process: work under way is told also after sim_cupti_detach. NULL is returned for another version;
 * without hooks it only answers. */
const struct sim_driver *sim_cupti_attach(int version, const struct sim_hooks *hooks);
void sim_cupti_detach(void);

/* There is no simulated runtime (libcudart). A program that makes its driver calls between these two makes them as from within a call
 * of the runtime, which CUPTI knows by this number (CUPTI_RUNTIME_TRACE_CBID_*). samples/cudart.h. */
void sim_runtime_begin(unsigned cbid);
void sim_runtime_end(int rc);
#endif
