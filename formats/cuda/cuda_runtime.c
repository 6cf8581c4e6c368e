#include "formats/cuda/cuda_api.h"
#include "formats/cuda/cuda_runtime_cbid.h"

const char *gt_cuda_runtime_name(uint32_t cbid)
{
	static const char *const names[] = {
#define X(cbid, name, version) [cbid] = #name,
		GT_RUNTIME_CBIDS(X)
#undef X
	};

	return cbid < sizeof(names) / sizeof(*names) ? names[cbid] : NULL;
}
