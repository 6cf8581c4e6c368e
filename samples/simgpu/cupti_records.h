/* Layouts of CUPTI's activity records and callback data, and constants, as in CUDA 13.0.
 * cupti_layout.c compares them with the toolkit's headers if these are installed. A record of an
 * older version is a prefix of the one here (cupti_buffers.c). */
#ifndef SIM_CUPTI_RECORDS_H
#define SIM_CUPTI_RECORDS_H
#include <stddef.h>
#include <stdint.h>

enum {
	CUPTI_OK = 0,
	CUPTI_INVALID_PARAMETER = 1,
	CUPTI_INVALID_DEVICE = 2,
	CUPTI_INVALID_CONTEXT = 3,
	CUPTI_INVALID_OPERATION = 7,
	CUPTI_OUT_OF_MEMORY = 8,
	CUPTI_LIMIT_REACHED = 12,
	CUPTI_NOT_INITIALIZED = 15,
	CUPTI_QUEUE_EMPTY = 18,
	CUPTI_INVALID_STREAM = 20,
	CUPTI_INVALID_KIND = 21,
	CUPTI_NOT_SUPPORTED = 27,
	CUPTI_MULTIPLE_SUBSCRIBERS = 39,
	CUPTI_UNKNOWN = 999,
};
enum { /* CUpti_ActivityKind */
	KIND_MEMCPY = 1,
	KIND_MEMSET = 2,
	KIND_KERNEL = 3,
	KIND_DRIVER = 4,
	KIND_RUNTIME = 5,
	KIND_CONCURRENT_KERNEL = 10,
	KIND_OVERHEAD = 17,
	KIND_MEMCPY2 = 22,
	KIND_UNIFIED_MEMORY = 25,
	KIND_SYNCHRONIZATION = 38,
	KIND_EXTERNAL_CORRELATION = 39,
	KINDS = 55,
};
enum {
	DOMAIN_DRIVER = 1,
	DOMAIN_RUNTIME,
	DOMAIN_RESOURCE,
	DOMAIN_SYNCHRONIZE,
	DOMAIN_NVTX,
	DOMAIN_STATE,
	DOMAINS
};
enum { OVERHEAD_COMPILER = 1, OVERHEAD_FLUSH = 1 << 16 };

struct cupti_kernel { /* CUpti_ActivityKernel10 */
	uint32_t kind;
	uint8_t cache, shared_config;
	uint16_t registers;
	uint32_t cache_requested, cache_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3], shared_static, shared_dynamic;
	uint32_t local_thread, local_total, correlation;
	int64_t grid_id;
	const char *name;
	void *reserved0;
	uint64_t queued, submitted;
	uint8_t launch_type, carveout_requested, carveout, padding;
	uint32_t shared_executed;
	uint64_t node;
	uint32_t shared_limit, graph;
	void *window;
	uint32_t channel, channel_type, cluster[3], cluster_policy;
	uint64_t local_total_v2;
	uint32_t cluster_potential, clusters_active;
	uint8_t device_launched, padding3[7];
};
struct cupti_memcpy { /* CUpti_ActivityMemcpy6 */
	uint32_t kind;
	uint8_t copy, src, dst, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation, runtime_correlation, pad;
	void *reserved0;
	uint64_t node;
	uint32_t graph, channel, channel_type;
	uint8_t device_launched, pad2[3];
	uint64_t copies;
};
struct cupti_peer { /* CUpti_ActivityMemcpyPtoP4 */
	uint32_t kind;
	uint8_t copy, src, dst, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, src_device, src_context, dst_device, dst_context,
		correlation;
	void *reserved0;
	uint64_t node;
	uint32_t graph, channel, channel_type, pad;
};
struct cupti_memset { /* CUpti_ActivityMemset4 */
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory;
	uint32_t pad;
	void *reserved0;
	uint64_t node;
	uint32_t graph, channel, channel_type;
	uint8_t device_launched, pad2[3];
};
struct cupti_api {
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t process, thread, correlation, rc;
};
struct cupti_overhead { /* CUpti_ActivityOverhead3 */
	uint32_t kind, overhead, object, object_id[3];
	uint64_t start, end;
	uint32_t correlation, reserved0;
	void *data;
};
struct cupti_sync { /* CUpti_ActivitySynchronization2 */
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
	uint64_t event_sync;
	uint32_t rc, pad;
};
struct cupti_um { /* CUpti_ActivityUnifiedMemoryCounter3 */
	uint32_t kind, counter;
	uint64_t value, start, end, address;
	uint32_t src, dst, stream, process, flags, pad;
	uint64_t processors[5];
};
/* CUpti_ActivityUnifiedMemoryCounterConfig */
struct cupti_um_config {
	uint32_t scope, kind, device, enable;
};
struct cupti_external {
	uint32_t kind, external;
	uint64_t id;
	uint32_t correlation, reserved;
};
union cupti_record {
	uint32_t kind;
	struct cupti_kernel kernel;
	struct cupti_memcpy copy;
	struct cupti_peer peer;
	struct cupti_memset set;
	struct cupti_api api;
	struct cupti_overhead overhead;
	struct cupti_sync sync;
	struct cupti_um um;
	struct cupti_external external;
};

struct cupti_call { /* CUpti_CallbackData */
	uint32_t site;
	const char *function;
	const void *params;
	void *rc;
	const char *symbol;
	const void *ctx;
	uint32_t ctx_id;
	uint64_t *data;
	uint32_t correlation;
};
struct cupti_resource {
	const void *ctx, *handle;
	void *descriptor;
};                   /* CUpti_ResourceData */
struct cupti_graph { /* CUpti_GraphData */
	const void *graph, *original_graph, *node, *original_node;
	int node_type;
	const void *dependency, *exec;
};
struct cupti_synced {
	const void *ctx, *stream;
}; /* CUpti_SynchronizeData */

typedef void (*cupti_requested)(uint8_t **buffer, size_t *size, size_t *records);
typedef void (*cupti_completed)(
	void *ctx, uint32_t stream, uint8_t *buffer, size_t size, size_t used);
typedef void (*cupti_callback)(void *user, unsigned domain, uint32_t cbid, const void *data);
typedef uint64_t (*cupti_clock)(void);
#endif
