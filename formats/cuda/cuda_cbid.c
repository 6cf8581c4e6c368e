/* Names of functions by CUPTI's callback ids. */
#include "formats/cuda/cuda_api.h"
#include "formats/cuda/cuda_api_cbid.h"
#include "formats/cuda/cuda_runtime_cbid.h"

static const char *name_at(const char *const *names, size_t n, uint32_t cbid)
{
	return cbid < n ? names[cbid] : NULL;
}

const char *gt_cuda_driver_name(uint32_t cbid)
{
	static const char *const names[] = {
#define X(cbid, name) [cbid] = #name,
		GT_CBIDS(X)
#undef X
	};

	return name_at(names, sizeof(names) / sizeof(*names), cbid);
}

const char *gt_cuda_runtime_name(uint32_t cbid)
{
	static const char *const names[] = {
#define X(cbid, name, version) [cbid] = #name,
		GT_RUNTIME_CBIDS(X)
#undef X
	};

	return name_at(names, sizeof(names) / sizeof(*names), cbid);
}
