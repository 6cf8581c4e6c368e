/* The offsets of the fields of CUPTI's records are correct, and the numbers equal those of the
 * toolkit's headers, if these are installed. A wrong offset or number does not compile. */
#include "collect/guest/cupti/cupti_layout.h"
#include "formats/cuda/cuda_api_cbid.h"
#include "formats/cuda/cuda_runtime_cbid.h"
#include "samples/simgpu/cupti_records.h"
#include "tests/unit/t.h"

#define AT(ours, record, field)                                                                    \
	_Static_assert((ours) == offsetof(struct record, field), #record "." #field)
AT(GT_K_REGISTERS, cupti_kernel, registers);
AT(GT_K_START, cupti_kernel, start);
AT(GT_K_END, cupti_kernel, end);
AT(GT_K_DEVICE, cupti_kernel, device);
AT(GT_K_CONTEXT, cupti_kernel, context);
AT(GT_K_STREAM, cupti_kernel, stream);
AT(GT_K_GRID, cupti_kernel, grid);
AT(GT_K_BLOCK, cupti_kernel, block);
AT(GT_K_SHARED, cupti_kernel, shared_static);
AT(GT_K_SHARED + 4, cupti_kernel, shared_dynamic);
AT(GT_K_CORRELATION, cupti_kernel, correlation);
AT(GT_K_NAME, cupti_kernel, name);
AT(GT_K_NODE, cupti_kernel, node);
AT(GT_K_GRAPH, cupti_kernel, graph);
AT(GT_C_KINDS, cupti_memcpy, copy);
AT(GT_C_KINDS + 1, cupti_memcpy, src);
AT(GT_C_KINDS + 2, cupti_memcpy, dst);
AT(GT_C_KINDS + 3, cupti_memcpy, flags);
AT(GT_C_BYTES, cupti_memcpy, bytes);
AT(GT_C_START, cupti_memcpy, start);
AT(GT_C_END, cupti_memcpy, end);
AT(GT_C_DEVICE, cupti_memcpy, device);
AT(GT_C_CONTEXT, cupti_memcpy, context);
AT(GT_C_STREAM, cupti_memcpy, stream);
AT(GT_C_CORRELATION, cupti_memcpy, correlation);
AT(GT_C_NODE, cupti_memcpy, node);
AT(GT_C_GRAPH, cupti_memcpy, graph);
AT(GT_C_KINDS, cupti_peer, copy);
AT(GT_C_BYTES, cupti_peer, bytes);
AT(GT_C_START, cupti_peer, start);
AT(GT_C_END, cupti_peer, end);
AT(GT_C_DEVICE, cupti_peer, device);
AT(GT_C_CONTEXT, cupti_peer, context);
AT(GT_C_STREAM, cupti_peer, stream);
AT(GT_P_SOURCE, cupti_peer, src_device);
AT(GT_P_DESTINATION, cupti_peer, dst_device);
AT(GT_P_CORRELATION, cupti_peer, correlation);
AT(GT_P_NODE, cupti_peer, node);
AT(GT_P_GRAPH, cupti_peer, graph);
AT(GT_S_VALUE, cupti_memset, value);
AT(GT_C_BYTES, cupti_memset, bytes);
AT(GT_C_START, cupti_memset, start);
AT(GT_C_END, cupti_memset, end);
AT(GT_C_DEVICE, cupti_memset, device);
AT(GT_C_CONTEXT, cupti_memset, context);
AT(GT_C_STREAM, cupti_memset, stream);
AT(GT_C_CORRELATION, cupti_memset, correlation);
AT(GT_S_FLAGS, cupti_memset, flags);
AT(GT_S_FLAGS + 2, cupti_memset, memory);
AT(GT_C_NODE, cupti_memset, node);
AT(GT_C_GRAPH, cupti_memset, graph);
AT(GT_A_CBID, cupti_api, cbid);
AT(GT_A_START, cupti_api, start);
AT(GT_A_END, cupti_api, end);
AT(GT_A_THREAD, cupti_api, thread);
AT(GT_A_CORRELATION, cupti_api, correlation);
AT(GT_A_RETURNED, cupti_api, rc);
AT(GT_U_COUNTER, cupti_um, counter);
AT(GT_U_VALUE, cupti_um, value);
AT(GT_U_START, cupti_um, start);
AT(GT_U_END, cupti_um, end);
AT(GT_U_ADDRESS, cupti_um, address);
AT(GT_U_FROM, cupti_um, src);
AT(GT_U_TO, cupti_um, dst);
AT(GT_U_FLAGS, cupti_um, flags);
AT(GT_O_OVERHEAD, cupti_overhead, overhead);
AT(GT_O_OBJECT, cupti_overhead, object);
AT(GT_O_PROCESS, cupti_overhead, object_id);
AT(GT_O_START, cupti_overhead, start);
AT(GT_O_END, cupti_overhead, end);
AT(GT_O_DATA, cupti_overhead, data);
_Static_assert(sizeof(struct gt_cupti_counter) == sizeof(struct cupti_um_config),
	"a counter's configuration");

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
SAME(GT_CUPTI_MEMCPY, KIND_MEMCPY);
SAME(GT_CUPTI_MEMSET, KIND_MEMSET);
SAME(GT_CUPTI_DRIVER, KIND_DRIVER);
SAME(GT_CUPTI_RUNTIME, KIND_RUNTIME);
SAME(GT_CUPTI_MANAGED, KIND_UNIFIED_MEMORY);
SAME(GT_CUPTI_OVERHEAD, KIND_OVERHEAD);
SAME(GT_CUPTI_NOT_SUPPORTED, CUPTI_NOT_SUPPORTED);
SAME(GT_CUPTI_KERNEL, KIND_CONCURRENT_KERNEL);
SAME(GT_CUPTI_MEMCPY_PEER, KIND_MEMCPY2);

#if __has_include(<cuda.h>) && __has_include(<cupti.h>)
#include <cupti.h>
#if CUPTI_API_VERSION >= 130000 /* earlier ones lack some */
#define X(cbid, name) SAME(cbid, CUPTI_DRIVER_TRACE_CBID_##name);
GT_CBIDS(X)
#undef X
#define X(cbid, name, version) SAME(cbid, CUPTI_RUNTIME_TRACE_CBID_##name##_v##version);
GT_RUNTIME_CBIDS(X)
#endif
#endif

static void they_lie_where_we_look(void) { CHECK_EQ(GT_K_NAME % sizeof(void *), 0); }

T_MAIN(T(they_lie_where_we_look))
