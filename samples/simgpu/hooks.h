/* Interface between the simulated driver and an observer. Its only user is the simulated
 * libcupti.so.13, which finds sim_cupti_attach in the driver by name.
 *
 * Without an observer, an entry point costs one more comparison (calls.c), and so does a submitted
 * operation; no hook is called. Times are CLOCK_MONOTONIC ns of the simulated timeline: simulated
 * time divided by its speed. */
#ifndef SIM_HOOKS_H
#define SIM_HOOKS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_HOOKS_VERSION 4
#define SIM_MAX_CALL_WORDS 14

struct sim_work;
/* A driver call on this thread, from enter to exit. A call made inside another, or from a hook, is
 * not reported. */
struct sim_call {
	unsigned entry; /* index into sim_driver.symbols */
	int rc;         /* set at exit */
	/* the current context at the begin; at exit, the current one at the end */
	const void *ctx;
	uint32_t ctx_id;
	/* its arguments, one per word, and the words after them */
	uint64_t words[SIM_MAX_CALL_WORDS];
	void *own; /* for the observer */
};

enum sim_work_kind { SIM_WORK_KERNEL = 1, SIM_WORK_COPY, SIM_WORK_PEER, SIM_WORK_SET };
struct sim_work { /* one operation submitted to a device */
	enum sim_work_kind kind;
	uint32_t device, context, stream;
	uint32_t graph; /* ids of the graph instance and of the node; 0 outside graphs */
	uint64_t node;
	const char *name; /* of a kernel; borrowed for the call */
	unsigned grid[3], block[3], shared;
	bool cooperative, async;
	/* numbers of CUpti_ActivityMemcpyKind and -MemoryKind; of a set: dst */
	uint8_t copy, src, dst;
	uint32_t value;
	uint64_t bytes;
	uint32_t src_device, src_context, dst_device, dst_context;
};
/* CUPTI's numbers */
enum sim_wait { SIM_WAIT_EVENT = 1, SIM_WAIT_STREAM_EVENT, SIM_WAIT_STREAM, SIM_WAIT_CONTEXT };
enum sim_resource {
	SIM_CONTEXT_CREATED = 1,
	SIM_CONTEXT_ENDS,
	SIM_STREAM_CREATED,
	SIM_STREAM_ENDS,
	SIM_NODE_CREATED = 13,
	SIM_EXEC_CREATED = 18,
	SIM_NODE_CLONED = 20
};
/* an object created or destroyed; members that do not apply are NULL */
struct sim_resource_event {
	enum sim_resource what;
	const void *ctx, *stream, *graph, *original_graph, *node, *original_node, *exec;
	int node_type;
};

/* CUPTI's numbers */
enum sim_um_kind { SIM_UM_HTOD = 1, SIM_UM_DTOH, SIM_UM_CPU_FAULT, SIM_UM_GPU_FAULT };
#define SIM_UM_HOST UINT32_MAX /* in place of a device */
struct sim_um_event {          /* managed memory: a migration or a fault */
	enum sim_um_kind kind;
	/* value: bytes, a number of faults, or the address of an instruction */
	uint64_t start, end, value, address;
	uint32_t from, to, why;
};

/* enter and exit are called on the caller's thread without the driver's lock and may call the
 * driver. The others are called under the lock and may not. call is NULL if the work comes from no
 * call. The pointer that submitted returns is passed to done. */
struct sim_hooks {
	bool (*enter)(struct sim_call *call); /* false: no further hook for this call */
	void (*exit)(struct sim_call *call);
	void *(*submitted)(struct sim_call *call, const struct sim_work *w);
	void (*done)(void *work, uint64_t start, uint64_t end);
	void (*waits)(struct sim_call *call, enum sim_wait what, uint32_t context, uint32_t stream,
		uint32_t event, uint64_t sync);
	void (*resource)(struct sim_call *call, const struct sim_resource_event *t);
	void (*um_event)(struct sim_call *call, const struct sim_um_event *m);
	/* A call of the runtime begins or ends on this thread; cbid and rc: see below. */
	void (*runtime)(bool begins, unsigned cbid, int rc);
};
/* Functions that the driver offers to the observer. Each returns false for an invalid handle. */
struct sim_driver {
	const char *const *symbols; /* of the entry points */
	size_t symbols_n;
	/* NULL: the current one */
	bool (*context)(const void *ctx, uint32_t *id, uint32_t *device);
	bool (*stream)(const void *ctx, const void *stream, bool per_thread, uint32_t *id);
	bool (*graph)(const void *graph, bool exec, uint32_t *id);
	bool (*node)(const void *node, uint64_t *id);
	/* its name, valid while its module is loaded; or NULL */
	const char *(*function)(const void *function);
	const uint64_t *contexts; /* number of contexts created so far */
};

/* hooks must stay valid until the process ends: running work is reported even after
 * sim_cupti_detach. Returns NULL for another version. If hooks is NULL, the call attaches nothing
 * and only returns the driver's functions. */
const struct sim_driver *sim_cupti_attach(int version, const struct sim_hooks *hooks);
void sim_cupti_detach(void);

/* There is no simulated runtime (libcudart). Driver calls between these two functions count as made
 * inside a runtime call with this number (CUPTI_RUNTIME_TRACE_CBID_*). See samples/cudart.h. */
void sim_runtime_begin(unsigned cbid);
void sim_runtime_end(int rc);
#endif
