/* Driver calls that count as made inside calls of the CUDA runtime. The real runtime reports its
 * calls to CUPTI through an undocumented interface of the driver. The simulated driver has
 * functions for it (simgpu/hooks.h). On a real driver these programs make only the driver calls. */
#ifndef CUDART_H
#define CUDART_H
#include "samples/cu.h"

enum { /* CUPTI_RUNTIME_TRACE_CBID_* */
	CUDA_MEMCPY_ASYNC = 41,
	CUDA_MEMSET_ASYNC = 51,
	CUDA_STREAM_SYNCHRONIZE = 131,
	CUDA_EVENT_SYNCHRONIZE = 137,
	CUDA_STREAM_WAIT_EVENT = 147,
	CUDA_DEVICE_SYNCHRONIZE = 165,
	CUDA_LAUNCH_KERNEL = 211,
	CUDA_GRAPH_LAUNCH = 311,
};
static void (*cudart_begin)(unsigned cbid);
static void (*cudart_end)(int rc);

static inline void cudart_open(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	*(void **)&cudart_begin = lib ? dlsym(lib, "sim_runtime_begin") : NULL;
	*(void **)&cudart_end = lib ? dlsym(lib, "sim_runtime_end") : NULL;
}

/* The driver calls up to the end of the block belong to one runtime call. */
#define CUDART(cbid)                                                                               \
	for (int cudart_ = (cudart_begin ? cudart_begin(cbid) : (void)0, 1); cudart_;              \
		cudart_ = (cudart_end ? cudart_end(0) : (void)0, 0))
#endif
