/* Compares cupti_records.h and cupti_cbids.h with the toolkit's headers, if the compiler finds
 * them. Contains no code. */
#include "samples/simgpu/cupti_cbids.h"
#include "samples/simgpu/cupti_records.h"

#define SIZE(mine, size) _Static_assert(sizeof(struct mine) == size, #mine)
SIZE(cupti_kernel, 216);
SIZE(cupti_memcpy, 96);
SIZE(cupti_peer, 96);
SIZE(cupti_memset, 88);
SIZE(cupti_api, 40);
SIZE(cupti_overhead, 56);
SIZE(cupti_um, 104);
SIZE(cupti_um_config, 16);
SIZE(cupti_sync, 56);
SIZE(cupti_external, 24);
SIZE(cupti_call, 72);
SIZE(cupti_graph, 56);

#if __has_include(<cuda.h>) && __has_include(<cupti.h>)
#include <cupti.h>
#if CUPTI_API_VERSION >= 130000 && CUPTI_API_VERSION < 130100
#define SAME(mine, m, theirs, t)                                                                   \
	_Static_assert(offsetof(struct mine, m) == offsetof(theirs, t), #theirs "." #t)
#define SIZES(mine, theirs) _Static_assert(sizeof(struct mine) == sizeof(theirs), #theirs)
#define K(m, t) SAME(cupti_kernel, m, CUpti_ActivityKernel10, t)
SIZES(cupti_kernel, CUpti_ActivityKernel10);
K(registers, registersPerThread);
K(start, start);
K(end, end);
K(device, deviceId);
K(context, contextId);
K(stream, streamId);
K(grid, gridX);
K(block, blockX);
K(shared_static, staticSharedMemory);
K(shared_dynamic, dynamicSharedMemory);
K(correlation, correlationId);
K(grid_id, gridId);
K(name, name);
K(queued, queued);
K(launch_type, launchType);
K(node, graphNodeId);
K(graph, graphId);
K(channel, channelID);
K(cluster, clusterX);
K(local_total_v2, localMemoryTotal_v2);
K(device_launched, isDeviceLaunched);
#define C(m, t) SAME(cupti_memcpy, m, CUpti_ActivityMemcpy6, t)
SIZES(cupti_memcpy, CUpti_ActivityMemcpy6);
C(copy, copyKind);
C(src, srcKind);
C(dst, dstKind);
C(flags, flags);
C(bytes, bytes);
C(start, start);
C(end, end);
C(device, deviceId);
C(context, contextId);
C(stream, streamId);
C(correlation, correlationId);
C(node, graphNodeId);
C(graph, graphId);
C(copies, copyCount);
#define P(m, t) SAME(cupti_peer, m, CUpti_ActivityMemcpyPtoP4, t)
SIZES(cupti_peer, CUpti_ActivityMemcpyPtoP4);
P(bytes, bytes);
P(start, start);
P(device, deviceId);
P(src_device, srcDeviceId);
P(dst_context, dstContextId);
P(correlation, correlationId);
P(node, graphNodeId);
P(graph, graphId);
#define S(m, t) SAME(cupti_memset, m, CUpti_ActivityMemset4, t)
SIZES(cupti_memset, CUpti_ActivityMemset4);
S(value, value);
S(bytes, bytes);
S(start, start);
S(device, deviceId);
S(stream, streamId);
S(correlation, correlationId);
S(flags, flags);
S(memory, memoryKind);
S(node, graphNodeId);
S(graph, graphId);
SIZES(cupti_api, CUpti_ActivityAPI);
SAME(cupti_api, cbid, CUpti_ActivityAPI, cbid);
SAME(cupti_api, rc, CUpti_ActivityAPI, returnValue);
SAME(cupti_api, correlation, CUpti_ActivityAPI, correlationId);
SAME(cupti_api, thread, CUpti_ActivityAPI, threadId);
SIZES(cupti_overhead, CUpti_ActivityOverhead3);
SAME(cupti_overhead, object_id, CUpti_ActivityOverhead3, objectId);
SAME(cupti_overhead, start, CUpti_ActivityOverhead3, start);
SAME(cupti_overhead, data, CUpti_ActivityOverhead3, overheadData);
#define Y(m, t) SAME(cupti_sync, m, CUpti_ActivitySynchronization2, t)
SIZES(cupti_sync, CUpti_ActivitySynchronization2);
Y(type, type);
Y(start, start);
Y(correlation, correlationId);
Y(context, contextId);
Y(stream, streamId);
Y(event, cudaEventId);
Y(event_sync, cudaEventSyncId);
Y(rc, returnValue);
SIZES(cupti_external, CUpti_ActivityExternalCorrelation);
SAME(cupti_external, id, CUpti_ActivityExternalCorrelation, externalId);
#define U(m, t) SAME(cupti_um, m, CUpti_ActivityUnifiedMemoryCounter3, t)
SIZES(cupti_um, CUpti_ActivityUnifiedMemoryCounter3);
U(counter, counterKind);
U(value, value);
U(start, start);
U(end, end);
U(address, address);
U(src, srcId);
U(dst, dstId);
U(process, processId);
U(flags, flags);
U(processors, processors);
SIZES(cupti_um_config, CUpti_ActivityUnifiedMemoryCounterConfig);
SAME(cupti_um_config, kind, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
SAME(cupti_um_config, enable, CUpti_ActivityUnifiedMemoryCounterConfig, enable);
#define D(m, t) SAME(cupti_call, m, CUpti_CallbackData, t)
SIZES(cupti_call, CUpti_CallbackData);
D(function, functionName);
D(params, functionParams);
D(rc, functionReturnValue);
D(symbol, symbolName);
D(ctx, context);
D(ctx_id, contextUid);
D(data, correlationData);
D(correlation, correlationId);
SIZES(cupti_graph, CUpti_GraphData);
SAME(cupti_graph, node_type, CUpti_GraphData, nodeType);
SAME(cupti_graph, exec, CUpti_GraphData, graphExec);
SIZES(cupti_resource, CUpti_ResourceData);
SAME(cupti_resource, descriptor, CUpti_ResourceData, resourceDescriptor);

#define NUMBER(mine, theirs) _Static_assert((int)(mine) == (int)(theirs), #theirs)
NUMBER(CUPTI_INVALID_OPERATION, CUPTI_ERROR_INVALID_OPERATION);
NUMBER(CUPTI_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
NUMBER(CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
NUMBER(CUPTI_QUEUE_EMPTY, CUPTI_ERROR_QUEUE_EMPTY);
NUMBER(CUPTI_INVALID_STREAM, CUPTI_ERROR_INVALID_STREAM);
NUMBER(CUPTI_INVALID_KIND, CUPTI_ERROR_INVALID_KIND);
NUMBER(CUPTI_INVALID_CONTEXT, CUPTI_ERROR_INVALID_CONTEXT);
NUMBER(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
NUMBER(CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
NUMBER(CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
NUMBER(KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
NUMBER(KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
NUMBER(KIND_UNIFIED_MEMORY, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
NUMBER(KIND_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
NUMBER(KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
NUMBER(KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
NUMBER(KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
NUMBER(DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
NUMBER(OVERHEAD_FLUSH, CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH);
NUMBER(DOMAINS, CUPTI_CB_DOMAIN_SIZE);
#define X(name, cbid) NUMBER(cbid, CUPTI_DRIVER_TRACE_CBID_##name);
SIM_CBIDS(X)
NUMBER(SIM_CBIDS_END, CUPTI_DRIVER_TRACE_CBID_SIZE);
NUMBER(SIM_RUNTIME_CBIDS_END, CUPTI_RUNTIME_TRACE_CBID_SIZE);
#endif
#endif
